// Every solid preset dropped from 2 m as a ball, a box and a bear: the floor holds it, it comes back to its shape, and
// it rises as in fine steps. What does not hold yet is listed by name: a check fails if another does not, or if a
// listed one does.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "integrators/contact_scenes.h"
#include "potentials/polar.h"
#include "verve/material.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr const char* shapes[] = {"ball", "box", "bear"};
constexpr double size = 0.5, height = 2;

/// Height of the centre at the first apex, by shape: the same scene by cpd in 256 steps per frame, at the same
/// stiffness of contact. (Balls of 1e4 to 1e6 Pa without friction and losses rise by this as by plain
/// generalised-alpha, within 1.5 %; in 64 steps a frame they do not yet.) VERVE_FINE_STEPS=256 makes the table anew, in
/// two minutes.
struct Truth {
  const char* material;
  double apex[3];
};
const Truth truths[] = {
    {"jelly", {0.825, 0.704, 0.852}}, {"rubber", {1.705, 1.046, 1.621}},
    {"gummy", {1.300, 0.919, 1.314}}, {"foam", {1.176, 1.180, 1.175}},
    {"muscle", {0.876, 0.737, 0.841}}, {"fat", {0.620, 0.655, 0.671}},
    {"sponge", {1.021, 1.020, 1.011}},
};

/// With friction, restitution and half-life of its own, on a floor of the same friction.
Scene dropped(const std::string& material, const std::string& shape) {
  BodySpec body;
  body.name = "body", body.mesh.generator = shape;
  body.mesh.parameters = {{"size", {size}}};
  if (shape == "ball") body.mesh.parameters["frequency"] = {6};
  if (shape == "box") body.mesh.parameters = {{"size", {size, size, size}}, {"cells", {4, 4, 4}}};
  if (shape == "bear") body.mesh.parameters["resolution"] = {8};
  set_material(body, material);
  Scene scene = grounded({body}, {floor_plane(body.friction)});
  scene.step = 1.0 / 60, scene.solver.tolerance = 1e-4;
  scene.bodies[0].place.translate = {0, height - lowest(make(scene)), 0};
  return scene;
}

/// Root mean square distance from the best rigid fit of the rest shape, by mass.
double distance_from_rest(const Simulation& sim) {
  const std::vector<Vec3> x = sim.positions();
  const std::vector<Vec3>& rest = sim.mesh(0).vertices;
  const std::vector<double> mass = sim.masses();
  const double total = sim.measure().mass;
  Vec3 center{}, rest_center{};
  for (size_t i = 0; i < x.size(); ++i) center += x[i] * (mass[i] / total), rest_center += rest[i] * (mass[i] / total);
  Mat3 moment{};
  for (size_t i = 0; i < x.size(); ++i)
    moment = moment + outer(x[i] - center, (rest[i] - rest_center) * (mass[i] / total));
  const Mat3 R = nearest_rotation_svd(moment);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Vec3 d = x[i] - center - R * (rest[i] - rest_center);
    sum += mass[i] / total * dot(d, d);
  }
  return std::sqrt(sum);
}

int inverted(const Simulation& sim) {
  const auto x = sim.positions();
  int count = 0;
  for (const auto& t : sim.mesh(0).tetrahedra) count += !(tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) > 0);
  return count;
}

int fine_steps() {
  const char* const steps = std::getenv("VERVE_FINE_STEPS");
  return steps ? std::atoi(steps) : 0;
}

/// What the first three seconds of a drop show.
struct Drop {
  double depth = 0;     // of the deepest vertex under the floor, in sizes
  int inverted = 0;     // most elements inside out at once, from 1 s after the impact on
  double apex = 0;      // first height at which the centre turns [m]
  double distance = 0;  // from the rest shape three half-lives after the impact, in sizes
  double at_end = 0;    // likewise after 3 s
};

Drop drop(const Scene& scene) {
  Simulation sim = make(scene);
  Drop out;
  const double three_half_lives = 3 * *scene.bodies[0].dials.half_life.at(0);
  double hit = -1, before = sim.measure().center.y;
  bool up = false, turned = false, settled = false;
  for (int frame = 1; frame * scene.step <= 3.0001; ++frame) {
    REQUIRE(sim.step());
    const double time = frame * scene.step, y = sim.measure().center.y;
    out.depth = std::max(out.depth, -lowest(sim) / size);
    if (hit < 0 && sim.measure().contact > 0) hit = time;
    if (hit < 0) continue;
    up = up || y > before;
    turned = turned || (up && y < out.apex - 0.02 * size);
    if (up && !turned) out.apex = std::max(out.apex, y);
    before = y;
    if (turned && fine_steps()) break;
    if (time >= hit + 1) out.inverted = std::max(out.inverted, inverted(sim));
    if (!settled && time >= hit + three_half_lives) settled = true, out.distance = distance_from_rest(sim) / size;
  }
  out.at_end = distance_from_rest(sim) / size;
  return out;
}

}  // namespace

TEST_CASE(
    "every solid preset dropped from 2 m stays on the floor, comes back to its shape and rises as in fine steps") {
  // Squashed to half their height, and 5.7 and 7.6 % too low.
  const std::set<std::string> other_apex = {"muscle ball", "fat ball"};
  // Three half-lives after the first impact these are in the second, or have just come from it; the jelly sags by 2.5 %
  // when it lies.
  const std::set<std::string> other_shape = {"jelly box",   "jelly bear", "muscle box",
                                             "muscle bear", "fat ball",   "fat box"};
  int solids = 0;
  for (const MaterialInfo& m : material_infos()) solids += m.dimension == 3;
  REQUIRE(solids == int(std::size(truths)));
  double worst_apex = 0, deepest = 0;
  for (const Truth& truth : truths)
    for (int s = 0; s < 3; ++s) {
      const std::string name = std::string(truth.material) + " " + shapes[s];
      CAPTURE(name);
      if (const int n = fine_steps()) {
        MESSAGE(name, ": ", drop(finer(dropped(truth.material, shapes[s]), n)).apex, " m for ", truth.apex[s]);
        continue;
      }
      const Drop found = drop(dropped(truth.material, shapes[s]));
      const double off = found.apex / truth.apex[s] - 1;
      MESSAGE(name, ": depth ", found.depth, ", apex ", found.apex, " m (", 100 * off, " %), from rest ",
              found.distance, ", at the end ", found.at_end);
      CHECK(found.depth <= 0.02);
      CHECK(found.inverted == 0);
      CHECK((std::abs(off) > 0.05) == (other_apex.count(name) > 0));
      CHECK((found.distance > 0.05) == (other_shape.count(name) > 0));
      CHECK(found.at_end <= 0.05);
      deepest = std::max(deepest, found.depth);
      if (other_apex.count(name) == 0) worst_apex = std::max(worst_apex, std::abs(off));
    }
  MESSAGE("deepest ", deepest, "; apexes that are not listed within ", 100 * worst_apex, " %");
}

TEST_CASE("a soft ball of tet_strain falls on the floor, is squashed flat and comes back") {
  // The scene `ball` with mu = 1e4 went 0.3 m through the floor and stayed a wad.
  BodySpec ball = ball_body(0.6, 6, 1e4, {0, 2.3, 0});
  ball.dials.half_life = Track<double>(0.5);
  Simulation sim = make(grounded({ball}, {floor_plane()}));
  double depth = 0;
  for (int frame = 0; frame < 240; ++frame) {
    REQUIRE(sim.step());
    depth = std::max(depth, -lowest(sim));
  }
  MESSAGE("depth ", depth, " m, at the end ", inverted(sim), " inside out, from rest ", distance_from_rest(sim) / 0.6);
  CHECK(depth <= 0.02 * 0.6);
  CHECK(inverted(sim) == 0);
  CHECK(distance_from_rest(sim) <= 0.1 * 0.6);  // it sags by its own weight
}
