// What every method must do, whatever it holds: a new line in method_infos() is covered at once.
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

TEST_CASE(
    "the spin of a held body grows by the torque of an off-centre force, with the sign of x cross f (Inventory E1)") {
  for (const MethodInfo& method : methods_for_solids()) {
    if (!conserves(method)) continue;
    CAPTURE(method.name);
    Scene scene = scene_of(box_body(3, 1e5), method.name);
    ForceSpec force;
    force.body = "box";
    force.vertices.nearest = Vec3{0.5, 0.5, 0.5};
    force.force = {0, 0, 60};
    scene.forces.push_back(force);
    Simulation sim = make(scene);
    int corner = 0;
    const std::vector<Vec3> rest = sim.mesh(0).vertices;
    for (size_t i = 0; i < rest.size(); ++i)
      if (norm(rest[i] - Vec3{0.5, 0.5, 0.5}) < norm(rest[corner] - Vec3{0.5, 0.5, 0.5})) corner = int(i);
    Vec3 expected{}, torque{};
    for (int frame = 0; frame < 30; ++frame) {
      const Vec3 before = cross(sim.positions()[corner] - sim.measure().center, force.force);
      REQUIRE(sim.step());
      torque = cross(sim.positions()[corner] - sim.measure().center, force.force);
      expected += (before + torque) * (0.5 * scene.step);
    }
    // the arm moves within a frame: first order in the targets, so a percent of the whole
    CHECK(norm(sim.measure().spin - expected) <= 0.03 * norm(expected));
  }
}

TEST_CASE("a force that differs from vertex to vertex is met as well in float as in double") {
  // the same number of iterations, but for what rounding decides
  double iterations[2] = {};
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    Scene scene = cube_scene("cpd", 3e3);
    scene.solver.tolerance = 1e-4;
    scene.solver.precision = precision;
    scene.gravity = {0, -1, 0};
    ForceSpec force;
    force.body = "box";
    force.vertices.nearest = Vec3{0.5, 0.5, 0.5};
    force.force = {100, 50, -20};
    scene.forces.push_back(force);
    Simulation sim = make(scene);
    for (int frame = 0; frame < 100; ++frame) {
      const StepReport r = sim.step();
      REQUIRE(r);
      CHECK(r.error_h <= 1e-4);
      iterations[int(precision)] += r.iterations;
    }
  }
  MESSAGE("iterations ", iterations[0], " and ", iterations[1]);
  CHECK(iterations[1] <= 1.1 * iterations[0] + 5);
}

TEST_CASE("what a frame that holds nothing lost of H is the change of the total energy") {
  for (const MethodInfo& method : methods_for_solids()) {
    if (!method.dynamic || method.conservation != "none" || blows_up(method)) continue;
    CAPTURE(method.name);
    Scene scene = cube_scene(method.name);
    scene.gravity = {0, -1, 0};
    scene.solver.substeps = method.stable ? method.substeps : 8;
    Simulation sim = make(scene);
    for (int frame = 0; frame < 5; ++frame) {
      const double before = sim.measure().total;
      REQUIRE(sim.step());
      // of the last sub-step: the aim of one is the total before it
      if (scene.solver.substeps == 1 && method.integrator != "trbdf2")
        CHECK(sim.measure().target_total == doctest::Approx(before).epsilon(1e-9));
    }
  }
}

TEST_CASE("a run restarted from positions and velocities goes on and keeps the conserved values") {
  for (const MethodInfo& method : methods_for_solids()) {
    if (blows_up(method)) continue;
    CAPTURE(method.name);
    Simulation first = make(cube_scene(method.name));
    for (int frame = 0; frame < 25; ++frame) REQUIRE(first.step());
    const Measures m0 = first.measure();
    Simulation second = make(cube_scene(method.name));
    second.set_state(first.positions(), first.velocities());
    second.set_time(first.time(), first.frame());
    CHECK(second.frame() == 25);
    CHECK(second.state_hash() == first.state_hash());
    const Measures copied = second.measure();
    CHECK(copied.total == doctest::Approx(m0.total).epsilon(1e-12));
    for (int frame = 0; frame < 50; ++frame) REQUIRE(second.step());
    REQUIRE(finite(second));
    CHECK(second.frame() == 75);
    CHECK(second.time() == doctest::Approx(2.5));
    const Measures m = second.measure();
    CHECK(norm(m.momentum - m0.momentum) <= 1e-12 * std::sqrt(2 * m0.mass * m0.total));
    if (!conserves(method)) continue;
    // of the ledger of the first run at most one residual of 1e-6 is missing
    CHECK(std::abs(m.total - m0.total) <= 3e-6 * m0.total);
    CHECK(norm(m.spin - m0.spin) <= 1e-12 * norm(m0.spin));
  }
}

TEST_CASE("a step gives the same bits on 1, 2, 3 and 16 threads") {
  // 8525 vertices and 32640 tetrahedra: more than eight chunks of 1024 rows and of 256 elements, so every loop is
  // shared. A bar, whose factor is made in a tenth of the time; the default method on a cube too, whose fronts are
  // large.
  Scene scene = scene_of(box_body(20, 1e4));
  scene.bodies[0].initial.stretch = {1, 1.3, 1};
  scene.bodies[0].initial.angular_velocity = {0.3, 2, 0.2};
  for (const MethodInfo& method : methods_for_solids()) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      if (precision == Precision::float32 && method.name != "cpd") continue;
      CAPTURE(method.name);
      scene.solver.method = method.name;
      scene.solver.precision = precision;
      // a factor of 3 rows per vertex takes 27 times as long: still eight chunks of 256 rows, and many of elements
      const bool large = method.minimizer != "newton", cube = method.name == "cpd";
      scene.bodies[0].mesh.parameters["size"] = cube ? std::vector<double>{1, 1, 1} : std::vector<double>{8, 0.4, 0.4};
      scene.bodies[0].mesh.parameters["cells"] = cube    ? std::vector<double>{20, 20, 20}
                                                 : large ? std::vector<double>{340, 4, 4}
                                                         : std::vector<double>{84, 4, 4};
      scene.solver.iterations = large ? 4 : 2;
      scene.solver.substeps = 1;
      std::uint64_t reference = 0;
      for (const int threads : {1, 2, 3, 16}) {
        CAPTURE(threads);
        Simulation sim = make(scene, threads);
        REQUIRE(sim.vertices() >= 8 * (large ? 1024 : 256));
        for (int frame = 0; frame < 2; ++frame) REQUIRE(sim.step());
        if (threads == 1) reference = sim.state_hash();
        CHECK(sim.state_hash() == reference);
      }
    }
  }
}

TEST_CASE("a failing frame takes back links, anchors and forces that changed in it") {
  Scene scene = scene_of(box_body(2, 2e4));
  scene.bodies.push_back(scene.bodies[0]);
  scene.bodies[0].name = "one", scene.bodies[1].name = "two";
  scene.bodies[1].place.translate = {1.5, 0, 0};
  scene.gravity = {0, -9.81, 0};
  AnchorSpec link;
  link.name = "link", link.body = "one", link.to_body = "two";
  link.vertices.nearest = Vec3{0.5, 0.5, 0.5};
  link.stiffness = 1e4;
  link.active = false;
  AnchorSpec pin;
  pin.name = "pin", pin.body = "two";
  pin.vertices.nearest = Vec3{2, 0.5, 0.5};
  pin.stiffness.keys = {{0, 1e4}, {0.35, 1e4}, {0.36, 1.2e4}};  // stiffer in the frame that fails
  scene.anchors = {link, pin};
  scene.solver.substeps = 2;  // left to themselves, new islands would find their own number
  Simulation sim = make(scene), twin = make(scene);
  for (int frame = 0; frame < 10; ++frame) REQUIRE((sim.step() && twin.step()));
  const std::vector<Vec3> x = sim.positions(), v = sim.velocities();
  sim.set_anchor(0, true);
  sim.add_impulse(0, {1e200, 0, 0}, {});
  const std::uint64_t before = sim.state_hash();
  const Measures m = sim.measure();
  REQUIRE(!sim.step());
  CHECK(sim.state_hash() == before);
  CHECK(sim.measure().external == m.external);
  CHECK(!sim.anchor_active(0));
  sim.set_anchor(0, false);
  twin.set_anchor(0, false);
  sim.set_state(x, v);
  twin.set_state(x, v);
  CHECK(sim.measure().elastic == twin.measure().elastic);
  for (int frame = 0; frame < 5; ++frame) REQUIRE((sim.step() && twin.step()));
  // new islands have new factors, where the twin's followed the anchor: the same but for rounding and the tolerance
  double off = 0;
  const std::vector<Vec3> a = sim.positions(), b = twin.positions();
  for (size_t i = 0; i < a.size(); ++i) off = std::max(off, norm(a[i] - b[i]));
  MESSAGE("apart by ", off);
  CHECK(off <= 1e-4);
}

