// Wind on sheets and solids (Inventory P19).
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// A square of 1 m in the xz plane, 0.2 kg, lying across the wind that comes from below.
Scene sheet(const std::string& method, const Vec3& air, double drag = 1.2, double stiffness = 200) {
  BodySpec body = generated_body("cloth", {{"columns", {9}}, {"rows", {9}}}, springs(stiffness));
  body.mass = 0.2;
  Scene scene = scene_of(body, method);
  scene.winds.push_back({"breeze", "cloth", air, drag, true});
  return scene;
}

Vec3 first_impulse(const Scene& scene) {
  Simulation sim = make(scene);
  const Vec3 before = sim.measure().momentum;
  REQUIRE(sim.step());
  return sim.measure().momentum - before;
}

Simulation flag(const std::string& method, double wind, int threads = 1) {
  Scene scene = sheet(method, {wind, 0.1 * wind, 0.3 * wind});
  scene.gravity = {0, -9.81, 0};
  scene.bodies[0].place.rotate = {-90, 0, 0};  // upright
  scene.anchors.emplace_back();
  scene.anchors.back().name = "pole", scene.anchors.back().body = "cloth";
  scene.anchors[0].vertices.box = {{Vec3{-0.51, -1, -1}, Vec3{-0.49, 1, 1}}};
  return make(scene, threads);
}

}  // namespace

TEST_CASE("wind pushes a sheet by drag times area times speed times the normal component of its velocity") {
  const double h = 1.0 / 30;
  for (const std::string method : {"pd", "cpd"}) {
    CAPTURE(method);
    // f = drag A |w| (w.n) n; the sheet is flat and still, so the force is that of the first instant
    for (const Vec3 air : {Vec3{0, 2, 0}, Vec3{0, -2, 0}, Vec3{1, 1, 0}, Vec3{3, 0.1, -1}}) {
      const Vec3 dp = first_impulse(sheet(method, air));
      const double expected = h * 1.2 * norm(air) * air.y;
      CHECK(dp.y == doctest::Approx(expected).epsilon(1e-9));
      CHECK(std::abs(dp.x) + std::abs(dp.z) <= 1e-12 * std::abs(expected));
    }
    // twice the area
    Scene large = sheet(method, {0, 1, 0});
    large.bodies[0].mesh.parameters["width"] = {2};
    CHECK(first_impulse(large).y == doctest::Approx(2 * h * 1.2).epsilon(1e-9));
    // edge-on
    CHECK(norm(first_impulse(sheet(method, {20, 0, 5}))) <= 1e-15);
    // only the relative velocity counts
    Scene along = sheet(method, {0, 3, 0});
    along.bodies[0].initial.velocity = {0, 3, 0};
    CHECK(norm(first_impulse(along)) <= 1e-13);
    Scene falling = sheet(method, {0, 0, 0});
    falling.bodies[0].initial.velocity = {0, -2, 0};
    CHECK(first_impulse(falling).y == doctest::Approx(h * 1.2 * 4).epsilon(1e-9));
  }
}

TEST_CASE("a solid feels wind on its skin, and one that turns is slowed by still air") {
  Scene scene = scene_of(box_body(3, 1e5));
  scene.winds.push_back({"", "box", Vec3{2, 0, 0}, 1.2, true});
  // two faces of 1 m^2 across the wind
  CHECK(first_impulse(scene).x == doctest::Approx(2 * 1.2 * 4 / 30).epsilon(1e-9));
  scene.winds[0].velocity = Vec3{0, 0, 0};
  scene.winds[0].drag = 500;
  scene.bodies[0].initial.angular_velocity = {0, 2, 0};
  Simulation sim = make(scene);
  double last = norm(sim.measure().spin);
  for (int i = 0; i < 60; ++i) {
    REQUIRE(sim.step());
    const double now = norm(sim.measure().spin);
    CHECK(now < last);
    last = now;
  }
}

TEST_CASE("a sheet set free in the wind ends up with its velocity, and falling reaches its terminal speed") {
  for (const std::string method : {"pd", "cpd"}) {
    CAPTURE(method);
    Simulation drifting = make(sheet(method, {0, 4, 0}));
    double last = 0;
    for (int i = 0; i < 600; ++i) {
      REQUIRE(drifting.step());
      const double now = drifting.measure().momentum.y / 0.2;
      CHECK(now > last);
      CHECK(now < 4);
      last = now;
    }
    CHECK(last > 3.9);  // dv/dt = (drag A/m) (4 - v)^2: 4 - v = 1/(6 t + 1/4)
    Scene scene = sheet(method, {0, 0, 0});
    scene.gravity = {0, -9.81, 0};
    Simulation falling = make(scene);
    for (int i = 0; i < 200; ++i) REQUIRE(falling.step());
    CHECK(falling.measure().momentum.y / 0.2 == doctest::Approx(-std::sqrt(0.2 * 9.81 / 1.2)).epsilon(1e-3));
  }
}

TEST_CASE("energy is what it was at the start and what the wind has brought") {
  for (const bool held : {false, true}) {
    Scene scene = sheet("cpd", {1, 3, 0.5});
    scene.bodies[0].initial.angular_velocity = {0.5, 0, 1};
    if (held) {
      scene.gravity = {0, -9.81, 0};
      scene.anchors.emplace_back();
      scene.anchors.back().name = "edge", scene.anchors.back().body = "cloth";
      scene.anchors[0].vertices.box = {{Vec3{-0.51, -1, -1}, Vec3{-0.49, 1, 1}}};
    }
    Simulation sim = make(scene);
    const Measures start = sim.measure();
    double worst = 0, scale = start.kinetic;
    for (int i = 0; i < 150; ++i) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      scale = std::max(scale, m.kinetic + m.elastic);
      worst = std::max(worst, std::abs(m.total + m.booked_loss - start.total));
    }
    CAPTURE(held);
    CHECK(sim.measure().booked_loss < 0);  // it was blown along
    CHECK(worst <= 1e-4 * scale);          // the tolerance of 150 frames, which debts keep from adding up
  }
}

TEST_CASE("a hundred times the wind leaves a flag finite for 300 frames, and the bits the same") {
  for (const std::string method : {"pd", "cpd"}) {
    CAPTURE(method);
    Simulation sim = flag(method, 500), twin = flag(method, 500, 3);
    for (int i = 0; i < 300; ++i) {
      REQUIRE(sim.step());
      if (i < 20) REQUIRE(twin.step());
      if (i == 19) CHECK(sim.state_hash() == twin.state_hash());
    }
    CHECK(finite(sim));
    const Measures m = sim.measure();
    CHECK(m.kinetic < 0.5 * 0.2 * 4 * 550 * 550);  // no faster than twice the wind
  }
}

TEST_CASE("wind can be keyframed, switched and set from a program") {
  Scene scene = sheet("cpd", {0, 2, 0});
  scene.winds[0].active.keys = {{0, false}, {0.1, true}};
  scene.winds[0].active.interpolation = Interpolation::step;
  Simulation sim = make(scene);
  CHECK(sim.winds() == 1);
  CHECK(sim.find_wind("breeze") == 0);
  CHECK(sim.find_wind("storm") == -1);
  REQUIRE(sim.step());
  CHECK(norm(sim.measure().momentum) == 0);
  for (int i = 0; i < 10; ++i) REQUIRE(sim.step());
  CHECK(sim.measure().momentum.y > 0.01);
  sim.set_wind(0, {0, -20, 0});
  for (int i = 0; i < 20; ++i) REQUIRE(sim.step());
  CHECK(sim.measure().momentum.y < 0);
  sim.reset();
  for (int i = 0; i < 11; ++i) REQUIRE(sim.step());
  CHECK(sim.measure().momentum.y > 0.01);
  CHECK_THROWS_AS(sim.set_wind(1, {0, 0, 0}), std::invalid_argument);
  CHECK_THROWS_AS(sim.set_wind(0, {0, NAN, 0}), std::invalid_argument);
}

TEST_CASE("a wind for nobody, for a rope and under a name that is taken are refused at once") {
  Scene scene = sheet("pd", {0, 1, 0});
  scene.winds.push_back({"breeze", "clot", Vec3{0, 1, 0}, -1, true});
  const std::string text = check_scene(scene).text();
  CAPTURE(text);
  CHECK(text.find("winds[1].name: found \"breeze\" a second time") != std::string::npos);
  CHECK(text.find("winds[1].body: found \"clot\", expected one of cloth (nearest: cloth)") != std::string::npos);
  CHECK(text.find("winds[1].drag: found -1, expected a number >= 0 [kg/m^3]") != std::string::npos);
  Scene rope = scene_of(generated_body("chain", {}, springs(100)));
  rope.winds.push_back({"", "chain", Vec3{0, 1, 0}, 1, true});
  const Expected<Simulation> made = Simulation::create(rope);
  REQUIRE_FALSE(made);
  CHECK(made.diagnostics().text().find("winds[0].body: found a body without triangles or tetrahedra") !=
        std::string::npos);
}
