// Damping of methods that hold nothing: METHOD+damping (docs/after_the_step.md; inventory P17, N27).
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

const std::vector<std::string> bases{"pd", "pd_alpha", "newton", "vbd", "xpbd", "verlet", "linearized_euler"};

Scene stretched(const std::string& method, double damping) {
  Scene scene = scene_of(box_body(3, 1e4), method);
  if (method.rfind("verlet", 0) == 0) scene.solver.substeps = 8;
  scene.bodies[0].initial.stretch = {1, 1.3, 1};
  scene.bodies[0].initial.velocity = {1, 2, 3};
  scene.bodies[0].initial.angular_velocity = {0.3, 1, 0.2};
  scene.bodies[0].dials.damping = Track<double>(damping);
  return scene;
}

}  // namespace

TEST_CASE("damping takes nothing from P and L, of any base") {
  for (const std::string& base : bases) {
    CAPTURE(base);
    Simulation sim = make(stretched(base + "+damping", 5)), plain = make(stretched(base, 5));
    REQUIRE((sim.step() && plain.step()));
    // after one step from the same state the filter alone is between the two (verlet takes eight)
    const Measures a = sim.measure(), b = plain.measure();
    CHECK(norm(a.momentum - b.momentum) <= 1e-10 * norm(b.momentum));
    CHECK(norm(a.spin - b.spin) <= 1e-10 * norm(b.spin));
    CHECK(a.kinetic < b.kinetic);
    if (sim.scene().solver.substeps != 8)
      CHECK(a.elastic == doctest::Approx(b.elastic).epsilon(1e-12));  // x is left alone
  }
}

TEST_CASE("a rigid motion is not damped") {
  for (const std::string method : {"pd", "verlet"}) {
    CAPTURE(method);
    // without forces inside, one step is the motion itself; the filter sees velocities that are rigid to round-off
    Scene scene = stretched(method + "+damping", 20);
    scene.bodies[0].initial.stretch = {1, 1, 1};
    Scene plain = scene;
    plain.solver.method = method;
    scene.step = plain.step = 1e-9;  // so short that nothing has turned out of shape
    Simulation a = make(scene), b = make(plain);
    REQUIRE((a.step() && b.step()));
    double off = 0;
    for (int i = 0; i < a.vertices(); ++i) off = std::max(off, norm(a.velocities()[i] - b.velocities()[i]));
    CHECK(off <= 1e-10 * norm(b.velocities()[0]));
  }
}

TEST_CASE("vibrations decay with their half-life, and energy never rises") {
  // verlet in short steps loses nothing by itself: what is left is what damping says. v' = -gamma v takes gamma H a
  // second on average over a period, which the span of several periods sees.
  const double half_life = 0.5;
  Scene scene = scene_of(box_body(2, 1e4), "verlet+damping");
  scene.step = 1.0 / 480, scene.solver.substeps = 1;
  scene.bodies[0].initial.stretch = {1, 1.1, 1};
  scene.bodies[0].dials.half_life = Track<double>(half_life);
  Simulation sim = make(scene);
  const double start = sim.measure().total;
  double highest = start;
  for (int frame = 0; frame < 480; ++frame) {
    REQUIRE(sim.step());
    // within a step verlet's energy swings by (omega h)^2 / 8 of what vibrates
    CHECK(sim.measure().total <= highest * (1 + 2e-3));
    highest = std::min(highest, sim.measure().total);
  }
  CHECK(sim.measure().total / start == doctest::Approx(0.25).epsilon(0.1));

  // and as it stands in the scene for any other base: more damping leaves less, step by step
  for (const std::string& base : bases) {
    CAPTURE(base);
    double last = 1e300;
    for (const double damping : {0.0, 2.0, 8.0}) {
      Simulation run = make(stretched(base + "+damping", damping));
      for (int frame = 0; frame < 10; ++frame) REQUIRE(run.step());
      const double relative = run.measure().total;
      CHECK(relative < last);
      last = relative;
    }
  }
}

TEST_CASE("each body of an island keeps its own rigid motion, and contact is seen") {
  Scene scene = stretched("pd+damping", 5);
  scene.bodies.push_back(box_body(2, 1e4, "other"));
  scene.bodies[1].place.translate = {0, -1.2, 0}, scene.bodies[1].dials.damping = Track<double>(5);
  scene.contact.emplace();
  Simulation sim = make(scene);
  const Vec3 before = sim.measure().momentum;
  for (int frame = 0; frame < 20; ++frame) REQUIRE(sim.step());
  CHECK(norm(sim.measure().momentum - before) <= 1e-9 * norm(before));
}
