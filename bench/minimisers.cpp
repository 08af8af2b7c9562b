// One step of backward Euler by every minimiser: what is left of the objective against iterations and against time (PD
// Fig. 11 and 12 for PD and Newton's method).
#include <algorithm>
#include <cmath>

#include "bench/run.h"
#include "bench/subject.h"
#include "verve/scene_file.h"

namespace verve::bench {

namespace {

struct Way {
  const char *name, *method, *acceleration;
  int most;  // iterations
};
constexpr Way ways[] = {{"pd", "pd", "none", 300},          {"pd_anderson", "pd", "anderson", 300},
                        {"lbfgs", "lbfgs", "none", 300},    {"newton", "newton", "none", 20},
                        {"admm", "admm", "none", 300},      {"gauss_seidel", "gauss_seidel", "none", 600},
                        {"jacobi", "jacobi", "none", 2000}, {"jacobi_chebyshev", "jacobi", "chebyshev", 2000}};

Settings settings_of(const Way& way, int iterations) {
  SolverSpec spec;
  spec.method = way.method;
  spec.acceleration = way.acceleration;
  Settings out = resolve(spec);
  out.iterations = iterations;
  out.tolerance = 0;
  return out;
}

double objective(Subject& subject) {
  const Island& island = subject.island();
  const BaseStep& b = island.base();
  double sum = island.motion.energy;
  for (int r = 0; r < island.rows(); ++r) {
    const Vec4 d = (island.motion.x[r] - b.xb[r]) * (1 / b.hh) - b.u[r];
    sum += 0.5 * island.forcing.mass[r] * dot(d, d);
  }
  return sum;
}

}  // namespace

std::vector<std::string> minimiser_case_names() { return {"twisting_bar", "hippo"}; }

std::vector<MinimiserResult> measure_minimisers(const std::string& name, const Options& options, Pace& pace) {
  Expected<Scene> scene = read_scene(name);
  if (!scene) throw std::runtime_error(scene.diagnostics().text());
  // as it is let go, which is as hard as it gets
  Subject subject(std::move(*scene), 0);
  const Way& newton = ways[3];
  pace.say(name + ": minimum");
  subject.step(settings_of(newton, 40), 1);
  const double least = objective(subject);
  subject.step(settings_of(newton, 0), 1);
  const double most = objective(subject) - least;

  std::vector<MinimiserResult> out;
  for (const Way& way : ways) {
    MinimiserResult& result = out.emplace_back();
    result.name = name, result.method = way.name;
    result.vertices = subject.vertices(), result.elements = subject.elements();
    double iteration = 1e300;
    for (int k = 1; k <= way.most; k = std::max(k + 1, k * 5 / 4)) {
      if (pace.ask()) return out;
      pace.say(name + ": " + way.name + ", " + std::to_string(k));
      MinimiserResult::Point& point = result.points.emplace_back();
      point.iterations = k;
      subject.step(settings_of(way, k), 1);  // what is allocated or factorised once is not counted
      for (int repeat = 0; repeat < (options.quick ? 1 : 5); ++repeat) {
        const double begin = thread_time();
        subject.step(settings_of(way, k), 1);
        point.milliseconds.add(1e3 * (thread_time() - begin));
      }
      point.left = std::max(0.0, objective(subject) - least) / most;
      point.hash = subject.hash();
      iteration = std::min(iteration, point.milliseconds.least() / k);
      if (point.left <= 1e-9) break;
    }
    result.per_iteration = iteration;
  }
  return out;
}

}  // namespace verve::bench
