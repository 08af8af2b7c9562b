// Contact as part of a run: same bits, the way back, who can and who is refused, several bodies at once.
#include <doctest/doctest.h>

#include <cmath>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Two balls that meet above a floor and a block, with friction and restitution.
Scene pile() {
  Scene scene = grounded({ball_body(0.6, 6, 1e5, {-0.5, 0.8, 0}, "a"), ball_body(0.6, 6, 1e5, {0.5, 0.9, 0.1}, "b")},
                         {floor_plane(0.4)});
  scene.bodies[0].initial.velocity = {1.5, 0, 0}, scene.bodies[1].initial.velocity = {-1.5, 0, 0};
  for (BodySpec& body : scene.bodies) body.friction = 0.4, body.restitution = 0.6;
  scene.contact.emplace();
  return scene;
}

std::uint64_t hash_after(Simulation& sim, int frames) {
  for (int frame = 0; frame < frames; ++frame) REQUIRE(sim.step());
  return sim.state_hash();
}

std::string complaint(const Scene& scene) {
  const Expected<Simulation> made = Simulation::create(scene, {.threads = 1});
  return made ? "" : made.diagnostics().text();
}

}  // namespace

TEST_CASE("contacts have the same bits on any number of threads, and after a reset") {
  Simulation one = make(pile(), 1);
  const std::uint64_t hash = hash_after(one, 25);
  CHECK(one.measure().booked_loss > 0);
  for (const int threads : {2, 3}) {
    CAPTURE(threads);
    Simulation sim = make(pile(), threads);
    CHECK(hash_after(sim, 25) == hash);
  }
  one.reset();
  CHECK(one.measure().booked_loss == 0);
  CHECK(hash_after(one, 25) == hash);
}

TEST_CASE("energy never grows where bodies touch with friction and restitution") {
  Simulation sim = make(pile());
  const double start = kept_energy(sim.measure());
  double before = sim.measure().total;
  for (int frame = 0; frame < 60; ++frame) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    CHECK(std::abs(kept_energy(m) - start) <= 1e-4 * start);
    CHECK(m.total <= before + 1e-4 * start);
    before = std::min(before, m.total);
  }
}

TEST_CASE("a body on an anchor that touches a collider keeps H") {
  BodySpec bar =
      generated_body("bar", {{"length", {1}}, {"height", {0.2}}, {"width", {0.2}}, {"cells", {8, 2, 2}}}, strain(2e5));
  bar.place.translate = {0, 0.35, 0};
  ColliderSpec ball;
  ball.name = "ball", ball.shape = "sphere", ball.radius = 0.2, ball.position = Vec3{0.3, 0, 0};
  Scene scene = grounded({bar}, {ball});
  AnchorSpec wall;
  wall.body = "bar", wall.vertices.box = {{Vec3{-0.51, -1, -1}, Vec3{-0.49, 1, 1}}}, wall.stiffness = 3e5;
  scene.anchors.push_back(wall);
  Simulation sim = make(scene);
  const double start = sim.measure().total;
  bool touched = false;
  for (int frame = 0; frame < 60; ++frame) {
    REQUIRE(sim.step());
    touched |= sim.measure().contact > 0;
    CHECK(std::abs(sim.measure().total - start) <= 1e-4 * start);
  }
  CHECK(touched);
}

TEST_CASE("a pair that is told not to touch passes, one by name has its own friction") {
  Scene scene = pile();
  scene.gravity = {};
  scene.colliders.clear();
  ContactPairSpec pair;
  pair.a = "b", pair.b = "a", pair.touch = false;
  scene.contact->pairs = {pair};
  Simulation sim = make(scene);
  for (int frame = 0; frame < 30; ++frame) REQUIRE(sim.step());
  CHECK(sim.measure(0).momentum.x / sim.measure(0).mass == doctest::Approx(1.5));
  CHECK(sim.measure().contact == 0);

  // a block at 2 m/s comes to rest within v^2 / (2 mu g), or never
  const auto way = [](std::optional<double> friction) {
    BodySpec box = box_body(2, 1e6);
    box.place.translate = {0, 0.5, 0}, box.initial.velocity = {2, 0, 0};
    Scene scene = grounded({box}, {floor_plane()});
    ContactPairSpec pair;
    pair.a = "box", pair.b = "floor", pair.friction = friction;
    scene.contact.emplace().pairs = {pair};
    Simulation sim = make(scene);
    for (int frame = 0; frame < 45; ++frame) REQUIRE(sim.step());
    return sim.measure().center.x;
  };
  CHECK(way({}) == doctest::Approx(3).epsilon(1e-6));
  CHECK(way(0.4) == doctest::Approx(4 / (2 * 0.4 * earth)).epsilon(0.05));
}

TEST_CASE("methods that let bodies pass through are refused, all others hold a ball up") {
  const Scene scene = grounded({ball_body(0.6, 4, 1e5, {0, 0.6, 0})}, {floor_plane()});
  int held = 0, refused = 0;
  std::vector<MethodInfo> methods = method_infos();
  for (const char* name : {"pd+momentum", "pd+energy_only", "pd+energy_budget", "pd+blend"})
    methods.push_back(*find_method(name));
  for (const MethodInfo& method : methods) {
    CAPTURE(method.name);
    Scene with = scene;
    with.solver.method = method.name;
    if (!method.stable) with.solver.substeps = 8;
    if (!sees_contact(method.axes())) {
      const std::string text = complaint(with);
      CAPTURE(text);
      CHECK(text.find("solver.method: found \"" + method.name + "\" with colliders") != std::string::npos);
      CHECK(text.find("expected one of cpd, ") != std::string::npos);
      ++refused;
      continue;
    }
    if (blows_up(method)) continue;
    if (!drives_solids(method))  // hard lengths cost a factor of all of them in each turn
      with.bodies[0] = ball_body(0.6, 2, 1e5, {0, 0.6, 0}), with.bodies[0].potentials = {springs(1e5)};
    Simulation sim = make(with);
    for (int frame = 0; frame < 30; ++frame) {
      REQUIRE(sim.step());
      REQUIRE(sim.measure().center.y > 0.1);  // free fall leads to -4.3
    }
    ++held;
  }
  CHECK(held >= 10);
  CHECK(refused >= 10);
  // an axis by itself counts as much as a name
  Scene mixed = scene;
  mixed.solver.conservation = "momentum", mixed.solver.method = "pd";
  CHECK(complaint(mixed).find("\"pd\" and conservation \"momentum\"") != std::string::npos);
}

TEST_CASE("contact that makes no sense is refused with the place, what was found and what is expected") {
  struct Fault {
    const char* where;
    const char* expected;
    void (*make)(Scene&);
  };
  const Fault faults[] = {
      {"colliders[0].shape", "plane", [](Scene& s) { s.colliders[0].shape = "plain"; }},
      {"colliders[0].normal", "expected a direction", [](Scene& s) { s.colliders[0].normal = {}; }},
      {"colliders[0].radius", "expected", [](Scene& s) { s.colliders[0].radius = -1; }},
      {"colliders[0].friction", "expected", [](Scene& s) { s.colliders[0].friction = -0.1; }},
      {"colliders[0].restitution", "expected", [](Scene& s) { s.colliders[0].restitution = 1.1; }},
      {"colliders[0].name", "expected a name that no body or collider has",
       [](Scene& s) { s.colliders[0].name = "a"; }},
      {"colliders[0].mesh", "expected a closed surface", [](Scene& s) { s.colliders[0].shape = "mesh"; }},
      {"bodies[1].friction", "expected", [](Scene& s) { s.bodies[1].friction = -1; }},
      {"bodies[1].thickness", "expected", [](Scene& s) { s.bodies[1].thickness = -1; }},
      {"contact.stiffness", "expected", [](Scene& s) { s.contact->stiffness = 0; }},
      {"contact.pairs[0].b", "floor",
       [](Scene& s) {
         ContactPairSpec pair;
         pair.a = "a", pair.b = "flor";
         s.contact->pairs = {pair};
       }},
      {"colliders[0].mesh", "expected",
       [](Scene& s) {
         Mesh open;
         open.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
         open.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}};  // without the fourth
         s.colliders[0].shape = "mesh", s.colliders[0].mesh.emplace().mesh = std::make_shared<const Mesh>(open);
         s.colliders[0].mesh->repair = MeshRepair::refuse;  // else it is filled, with a note
       }},
  };
  for (const Fault& fault : faults) {
    Scene scene = pile();
    fault.make(scene);
    const std::string text = complaint(scene);
    CAPTURE(fault.where);
    CAPTURE(text);
    CHECK(text.find(fault.where) != std::string::npos);
    CHECK(text.find("found") != std::string::npos);
    CHECK(text.find(fault.expected) != std::string::npos);
  }
}

TEST_CASE("two bears that collide keep their sums, and each its own spin afterwards (C34)") {
  const auto bear = [](const std::string& name, double side) {
    BodySpec body = generated_body("bear", {{"size", {1}}, {"resolution", {9}}}, strain(3e4));
    body.name = name;
    body.place.rotate = {0, side * 90, 0}, body.initial.velocity = {side * 1.2, 0, 0};
    body.place.translate = side > 0 ? Vec3{-0.74, 0, 0} : Vec3{0.74, 0.15, 0.1};
    return body;
  };
  Scene scene;
  scene.bodies = {bear("left", 1), bear("right", -1)};
  scene.contact.emplace();
  Simulation sim = make(scene);
  const Measures m0 = sim.measure();
  const double p = norm(sim.measure(0).momentum);
  int first = 0, last = 0;
  double spin[2] = {};
  for (int frame = 1; frame <= 60; ++frame) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    if (m.contact > 0) first = first ? first : frame, last = frame;
    CHECK(norm(m.momentum - m0.momentum) <= 1e-12 * p);
    CHECK(norm(m.angular_momentum - m0.angular_momentum) <= 1e-12 * p);  // arms of the order of 1 m
    CHECK(std::abs(m.total / m0.total - 1) <= 2e-6);
    for (int b = 0; b < 2; ++b) {
      const double l = norm(sim.measure(b).spin);
      if (frame == 30) spin[b] = l;
      if (frame > 30) CHECK(std::abs(l / spin[b] - 1) <= 1e-4);
    }
  }
  MESSAGE("touch from ", first, " to ", last);
  CHECK(std::abs(first - 15) <= 3);
  CHECK(std::abs(last - 20) <= 3);
  CHECK(spin[0] > 0);
  // backward Euler: the wobble dies
  scene.solver.method = "pd";
  Simulation pd = make(scene);
  for (int frame = 0; frame < 60; ++frame) REQUIRE(pd.step());
  CHECK(pd.measure().total < 0.9 * m0.total);
  CHECK(pd.measure().elastic < 0.1 * sim.measure().elastic);
}

TEST_CASE("a bounce that begins and ends within a frame gives back what restitution says (P16)") {
  for (const double e : {0.8, 0.3}) {
    CAPTURE(e);
    // hard and small: it touches for a few sub-steps
    BodySpec ball = ball_body(0.2, 3, 1e8, {0, 0.11, 0});
    ball.restitution = e, ball.initial.velocity = {0, -4, 0};
    Scene scene;
    scene.bodies = {ball}, scene.colliders = {floor_plane()};
    scene.solver.substeps = 64;
    Simulation sim = make(scene);
    const double start = sim.measure().total;
    bool seen = false;
    double out = 0;
    for (int frame = 0; frame < 4; ++frame) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      seen |= m.contact > 0, out = m.momentum.y / m.mass;
      CHECK(std::abs(kept_energy(m) - start) <= 1e-4 * start);
    }
    MESSAGE("leaves at ", out, ", came at 4");
    CHECK(!seen);  // at the end of any frame
    CHECK(out == doctest::Approx(4 * e).epsilon(0.02));
  }
}
