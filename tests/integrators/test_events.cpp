// What happens at a moment: anchors that are activated, forces that switch, keys on the turn of a frame, dials out of
// reach.
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("an anchor that is activated far from the origin costs what it costs at the origin") {
  const auto iterations_at = [](double x) {
    BodySpec body = box_body(3, 1e4);
    body.place.translate = {x, 0, 0};
    body.initial.stretch = {1, 1.2, 1};
    Scene scene = scene_of(body);
    AnchorSpec anchor;
    anchor.body = "box";
    anchor.vertices.indices = {0};
    anchor.active = {};
    anchor.active.keys = {{0.5, true}};
    scene.anchors.push_back(anchor);
    Simulation sim = make(scene);
    int sum = 0;
    for (int frame = 0; frame < 40; ++frame) {
      const StepReport report = sim.step();
      REQUIRE(report);
      if (frame >= 15) sum += report.iterations;
    }
    return sum;
  };
  // round-off of positions at 1000 m may move single iterations, not double them
  CHECK(iterations_at(1000) == doctest::Approx(iterations_at(0)).epsilon(0.1));
}

TEST_CASE("a force that switches on and off leaves the centre of mass on the exact path") {
  Scene scene = scene_of(box_body(2, 1e4));
  ForceSpec force;
  force.body = "box";
  force.vertices.all = true;
  force.force = {500, 0, 0};
  force.active = {};
  force.active.keys = {{0.5, true}, {1.0, false}};
  scene.forces.push_back(force);
  Simulation sim = make(scene);
  const Measures start = sim.measure();
  const double a = 500 / start.mass;
  for (int frame = 1; frame <= 60; ++frame) {
    REQUIRE(sim.step());
    const double on = std::clamp(sim.time() - 0.5, 0.0, 0.5), after = std::max(0.0, sim.time() - 1.0);
    const double expected = 0.5 * a * on * on + a * on * after;
    CAPTURE(frame);
    // round-off of positions and of some dozen sums
    CHECK(std::abs(sim.measure().center.x - start.center.x - expected) <= 1e-13);
  }
}

TEST_CASE("a key acts in the frame that ends on it, also where n h falls short of it in binary") {
  Scene scene = scene_of(box_body(1, 1e4));
  REQUIRE(111 * scene.step < 3.7);  // 111/30 s
  scene.bodies[0].initial.stretch = {1, 1.2, 1};
  scene.bodies[0].dials.momentum.keys = {{3.7, Vec3{50, 0, 0}}};
  Simulation sim = make(scene);
  for (int frame = 0; frame < 110; ++frame) REQUIRE(sim.step());
  CHECK(norm(sim.measure().momentum) <= 1e-9);
  REQUIRE(sim.step());
  CHECK(sim.measure().momentum.x == doctest::Approx(50));
}

TEST_CASE("an energy far below K settles at the least energy however low it is") {
  for (const double wanted : {-1e3, -1e6, -1e9}) {
    CAPTURE(wanted);
    BodySpec body = box_body(3, 1e4);
    body.initial.stretch = {1, 1.1, 1};
    body.initial.angular_velocity = {0, 1.2, 0};
    body.dials.energy = wanted;
    Scene scene = scene_of(body);
    scene.solver.tolerance = 1e-4;
    Simulation sim = make(scene);
    const Measures start = sim.measure();
    for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
    const Measures end = sim.measure();
    CHECK(end.total < start.total);
    CHECK(end.elastic <= 0.05 * end.kinetic);  // stretched by its rotation only
    CHECK(norm(end.spin - start.spin) <= 1e-4 * norm(start.spin));
  }
}

TEST_CASE("energy asked of a body at rest is not kept back for the next tap") {
  Simulation sim = make(scene_of(box_body(2, 1e4)));
  sim.set_energy(0, 100);
  for (int frame = 0; frame < 10; ++frame) REQUIRE(sim.step());
  sim.add_impulse(0, {0.01, 0, 0}, sim.measure(0).center);
  for (int frame = 0; frame < 10; ++frame) REQUIRE(sim.step());
  CHECK(sim.measure().total < 1e-3);
}

TEST_CASE("more threads than can be started are refused with a message") {
  const Expected<Simulation> made = Simulation::create(scene_of(box_body(1, 1e4)), {.threads = 100000});
  REQUIRE_FALSE(made);
  CHECK(made.diagnostics().text().find("100000") != std::string::npos);
}

TEST_CASE("an anchor that comes and goes costs no factorisation and moves the body as a new factor would") {
  Scene scene = scene_of(box_body(8, 1e4));
  scene.bodies[0].initial.stretch = {1, 1.1, 1};  // at rest the first steps would be of backward Euler
  scene.gravity = {0, -9.81, 0};
  scene.solver.substeps = 1;
  scene.solver.tolerance = 1e-9;
  AnchorSpec pin;
  pin.name = "pin", pin.body = scene.bodies[0].name;
  pin.vertices.nearest = Vec3{0.5, 0.5, 0.5};
  pin.to_point = Vec3{0.5, 0.5, 0.5};
  pin.stiffness = 1e4;
  pin.active = false;
  scene.anchors.push_back(pin);
  Simulation following = make(scene), anew = make(scene);
  for (int frame = 0; frame < 5; ++frame) REQUIRE(following.step());
  const std::vector<Vec3> x = following.positions(), v = following.velocities();
  anew.set_anchor(0, true);
  REQUIRE(anew.step());  // its first factor has the anchor in it
  for (Simulation* sim : {&following, &anew}) {
    sim->set_anchor(0, true);
    sim->set_state(x, v);
    for (int frame = 0; frame < 4; ++frame) REQUIRE(sim->step());
    CHECK(sim->anchor_active(0));
    CHECK(sim->factorizations() == 1);
  }
  double off = 0;
  const std::vector<Vec3> a = following.positions(), b = anew.positions();
  for (size_t i = 0; i < a.size(); ++i) off = std::max(off, norm(a[i] - b[i]));
  MESSAGE("apart by ", off);
  CHECK(off <= 1e-7);  // of a body of size 1: the tolerance, four times
  // released again, it holds P and L as before
  following.set_anchor(0, false);
  REQUIRE(following.step());
  const Measures m = following.measure();
  for (int frame = 0; frame < 10; ++frame) REQUIRE(following.step());
  CHECK(norm(following.measure().spin - m.spin) <= 1e-11 * norm(m.spin));
}

TEST_CASE("every solver of the global step holds P, L and H") {
  for (const GlobalSolve solver :
       {GlobalSolve::automatic, GlobalSolve::direct, GlobalSolve::half, GlobalSolve::multigrid}) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      CAPTURE(choice_name(solver));
      CAPTURE(int(precision));
      Scene scene = cube_scene("cpd");
      scene.solver.global = solver;
      scene.solver.precision = precision;
      scene.solver.tolerance = 1e-4;
      Simulation sim = make(scene);
      CHECK(sim.global_solver(0).empty());
      const Measures m0 = sim.measure();
      for (int frame = 0; frame < 60; ++frame) {
        REQUIRE(sim.step());
        const Measures m = sim.measure();
        CHECK(std::abs(m.total - m0.total) <= 1e-4 * m0.total);
        CHECK(norm(m.spin - m0.spin) <= 1e-4 * norm(m0.spin));
        CHECK(norm(m.momentum - m0.momentum) <= 1e-4 * std::sqrt(2 * m0.mass * m0.total));
      }
      CHECK(sim.global_solver(0).find(solver == GlobalSolve::multigrid ? "multigrid" : "direct") == 0);
    }
  }
}
