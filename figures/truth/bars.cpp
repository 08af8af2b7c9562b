#include "figures/truth/bars.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "figures/solids.h"
#include "figures/truth/tasks.h"

namespace verve::figures {

namespace {

constexpr double length = 1, thick = 0.25;
/// The stretched bar pulsates once in four frames, 79 times in all: that its truth is right to a hundredth of the
/// amplitude at the end takes 2000 steps of the explicit method per period, measured by half as many (`truth_error`).
constexpr int truth_steps = 512;

Vec3 tip_of(const Mesh& mesh, const std::vector<Vec3>& x) {
  size_t best = 0;
  for (size_t i = 0; i < mesh.vertices.size(); ++i)
    if (norm(mesh.vertices[i] - Vec3{0.5 * length, 0, 0}) < norm(mesh.vertices[best] - Vec3{0.5 * length, 0, 0}))
      best = i;
  return x[best];
}

double tip_difference(const Mesh& mesh, const Film& a, const Film& b) {
  double sum = 0, most = 0;
  Vec3 mean{};
  for (const auto& pose : b.poses) mean += tip_of(mesh, pose) / double(b.poses.size());
  for (size_t f = 0; f < a.poses.size(); ++f) {
    const Vec3 d = tip_of(mesh, a.poses[f]) - tip_of(mesh, b.poses[f]), off = tip_of(mesh, b.poses[f]) - mean;
    sum += dot(d, d), most = std::max(most, norm(off));
  }
  return std::sqrt(sum / double(a.poses.size())) / most;
}

}  // namespace

Scene bar_scene(const std::string& material, bool clamped) {
  PotentialSpec elastic = potential(material, {{"young", 1e6}, {"poisson", 0.3}});
  Scene out = scene_with(
      generated("bar", {{"length", {length}}, {"height", {thick}}, {"width", {thick}}, {"cells", {16, 4, 4}}},
                {elastic}),
      "cpd");
  out.name = material + (clamped ? ", clamped" : ", free");
  out.step = 1.0 / 60, out.frames = 300;
  if (clamped) {
    out.gravity = {0, -9.81, 0};
    const double end = -0.5 * length;
    out.anchors.push_back(hold("bar", {end - 0.01, -1, -1}, {end + 0.01, 1, 1}, 3e5));
  } else {
    out.bodies[0].initial.stretch = {1.02, 1, 1};
  }
  return out;
}

std::vector<BarRow> bar_rows(const Context& context, const std::string& method, int workers) {
  struct Bar {
    const char* material;
    bool clamped;
  };
  std::vector<Bar> bars;
  for (const char* material : {"corotated", "stvk", "stable_neo_hookean"})
    for (const bool clamped : {false, true}) bars.push_back({material, clamped});
  if (context.quick) bars = {{"corotated", true}};
  std::vector<std::vector<BarRow>> rows(bars.size());
  for_each_task(bars.size(), workers, [&](size_t i) {
    Scene scene = bar_scene(bars[i].material, bars[i].clamped);
    if (context.quick) scene.frames = 60;
    const Simulation start = simulation(scene);
    const int steps = context.quick ? truth_steps / 4 : truth_steps;
    const Film truth = reference_film(context, scene, steps, {.keep_poses = true}, true);
    const Film half = reference_film(context, scene, steps / 2, {.keep_poses = true}, true);
    if (const std::string failure = truth.failure + half.failure; !failure.empty()) {
      BarRow& row = rows[i].emplace_back();
      row.material = bars[i].material, row.held = bars[i].clamped ? "clamped" : "free";
      row.method = method, row.failure = "fine steps: " + failure;
      return;
    }
    const SlowMode mode(start, truth.poses);
    for (const bool single : {false, true}) {
      BarRow row;
      row.material = bars[i].material, row.held = bars[i].clamped ? "clamped" : "free";
      row.precision = single ? "float" : "double", row.method = method;
      Scene s = by_method(scene, method);
      s.solver.tolerance = 1e-4;  // the setting for real time
      s.solver.precision = single ? Precision::float32 : Precision::float64;
      const Film f = film(context, s, {.keep_poses = true});
      row.failure = f.failure;
      row.period = mode.period(), row.measurable = mode.measurable();
      row.milliseconds = f.mean_milliseconds(), row.mean_iterations = f.mean_iterations();
      if (f.failure.empty()) {
        row.tip_error = tip_difference(start.mesh(0), f, truth);
        row.truth_error = tip_difference(start.mesh(0), half, truth);
        row.slow = mode.error(mode.coordinate(f.poses));
      }
      rows[i].push_back(std::move(row));
    }
  });
  std::vector<BarRow> out;
  for (auto& r : rows) out.insert(out.end(), r.begin(), r.end());
  return out;
}

}  // namespace verve::figures
