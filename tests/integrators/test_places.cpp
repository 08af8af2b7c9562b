// Bodies and colliders that come, go and are moved by calls while a simulation runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "integrators/places.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<Vec3> of_body(const Simulation& sim, BodyId body) {
  std::vector<Vec3> out(sim.mesh(body).vertices.size());
  sim.read_positions(body, &out[0].x);
  return out;
}

bool same(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Vec3& p, const Vec3& q) { return p.x == q.x && p.y == q.y && p.z == q.z; });
}

}  // namespace

TEST_CASE("a body that joins moves as one that was there from the start, and moves nobody else") {
  for (const char* method : {"cpd", "pd", "newton", "xpbd", "symplectic_euler"}) {
    CAPTURE(method);
    const auto with_method = [&](Scene scene) {
      scene.solver.method = method;
      if (!find_method(method)->stable) scene.solver.substeps = 40;
      return scene;
    };
    BodySpec late = small_box("late", {4, 2, 0});
    late.initial.stretch = {1, 1.2, 1}, late.initial.angular_velocity = {0, 0, 5};
    Scene scene = with_method(on_a_floor());
    if (std::string(method) == "xpbd" || std::string(method) == "symplectic_euler") scene.contact.reset(), scene.colliders.clear();
    Simulation without = make(scene), sim = make(scene);
    for (int f = 0; f < 10; ++f) without.step(), sim.step();
    const BodyId id = add(sim, late);
    CHECK(sim.bodies() == 3);
    CHECK(sim.body_name(id) == "late");
    CHECK(sim.find_body("late") == id);
    Scene alone = scene;
    alone.bodies = {late};
    Simulation lone = make(alone);
    for (int f = 0; f < 20; ++f) {
      REQUIRE(without.step());
      REQUIRE(sim.step());
      REQUIRE(lone.step());
      CHECK(same(of_body(sim, 0), of_body(without, 0)));
      CHECK(same(of_body(sim, 1), of_body(without, 1)));
      CHECK(same(of_body(sim, id), of_body(lone, 0)));
    }
  }
}

TEST_CASE("a body that goes leaves the others as if it had never been there, and its id is refused") {
  Scene scene = on_a_floor();
  Simulation without = make(scene);
  scene.bodies.insert(scene.bodies.begin() + 1, small_box("guest", {-3, 3, 0}));
  Simulation sim = make(scene);
  for (int f = 0; f < 8; ++f) without.step(), sim.step();
  const BodyId guest = sim.find_body("guest");
  sim.remove_body(guest);
  CHECK(!sim.has_body(guest));
  CHECK(sim.vertices() == without.vertices());
  CHECK(sim.find_body("guest") == -1);
  CHECK_THROWS_WITH_AS(sim.set_energy(guest, 1), "set_energy: found body 1, which has been removed", std::invalid_argument);
  for (int f = 0; f < 20; ++f) {
    sim.step(), without.step();
    CHECK(sim.state_hash() == without.state_hash());
  }
  // another one in its place
  const BodyId next = add(sim, small_box("next", {-3, 3, 0}));
  CHECK(next.number() == guest.number());
  CHECK(!(next == guest));
  CHECK_THROWS_WITH_AS(sim.measure(guest),
                       "measure: found body 1, which has been removed; its number is that of another one now",
                       std::invalid_argument);
  CHECK(sim.measure(next).mass > 0);
  CHECK(sim.step());
}

TEST_CASE("who was touched or linked by a body that goes moves on, with its energy in the books") {
  Scene scene = on_a_floor();
  scene.bodies[1].place.translate = {0, 0.55, 0};  // onto the other
  AnchorSpec link;
  link.name = "link", link.body = "a", link.to_body = "c", link.vertices.all = true, link.stiffness = 50;
  scene.bodies.push_back(small_box("c", {0.3, 0.3, 0}));
  scene.anchors.push_back(link);
  Simulation sim = make(scene);
  for (int f = 0; f < 40; ++f) REQUIRE(sim.step());
  for (const char* name : {"a", "c"}) {
    sim.remove_body(sim.find_body(name));
    const auto books = [&] {
      const Measures m = sim.measure();
      return m.total + m.booked_loss - m.work + m.owed;
    };
    const double before = books();
    for (int f = 0; f < 60; ++f) {
      REQUIRE(sim.step());
      for (const Vec3& x : sim.positions()) CHECK(x.y > -0.02);
    }
    CHECK(books() == doctest::Approx(before).epsilon(1e-3));
  }
  const std::vector<Vec3> x = of_body(sim, 1);
  for (const Vec3& p : x) CHECK(p.y < 0.25);  // it has fallen to the floor
}

TEST_CASE("a snapshot goes on bit for bit with bodies and colliders that came and went since the scene was created") {
  Simulation sim = make(on_a_floor());
  const auto step = [](Simulation& s, int n) {
    for (int f = 0; f < n; ++f) REQUIRE(s.step());
  };
  step(sim, 5);
  const BodyId c = add(sim, small_box("c", {0.05, 0.6, 0.02}));
  ColliderSpec paddle;
  paddle.name = "paddle", paddle.shape = "box", paddle.size = {0.3, 0.3, 0.3}, paddle.position = Vec3{-1, 0.2, 0};
  const ColliderId p = sim.add_collider(paddle).value();
  step(sim, 5);
  sim.remove_body(1);
  for (int f = 0; f < 6; ++f) {
    sim.move_collider(p, {{-1 + 0.1 * f, 0.2, 0}, {0, std::sin(0.05 * f), 0, std::cos(0.05 * f)}});
    step(sim, 1);
  }
  const Snapshot saved = sim.save();
  const auto run_on = [&](Simulation& s) {
    for (int f = 0; f < 25; ++f) {
      s.move_collider(p, {{-0.5 + 0.05 * f, 0.2, 0}, {}});
      REQUIRE(s.step());
    }
    return s.state_hash();
  };
  Simulation clone = sim.clone();
  const std::uint64_t end = run_on(sim);
  CHECK(run_on(clone) == end);
  Simulation fresh = make(on_a_floor());
  const Expected<Snapshot> read = Snapshot::from_bytes(saved.bytes(), "memory");
  REQUIRE(read);
  CHECK(!fresh.restore(*read).has_errors());
  CHECK(fresh.save().bytes() == saved.bytes());
  CHECK(fresh.has_body(c));
  CHECK(!fresh.has_body(1));
  CHECK(run_on(fresh) == end);
  CHECK(!sim.restore(saved).has_errors());
  CHECK(run_on(sim) == end);
  // an id that was given after the snapshot is never given again
  sim.restore(saved);
  const BodyId later = add(sim, small_box("d", {3, 1, 0}));
  sim.restore(saved);
  CHECK(!sim.has_body(later));
  const BodyId other = add(sim, small_box("e", {3, 1, 0}));
  CHECK(other.number() == later.number());
  CHECK(!(other == later));
  CHECK(!sim.has_body(later));
}

TEST_CASE("bodies are prepared by another thread while the simulation steps") {
  Simulation sim = make(on_a_floor());
  std::optional<PreparedBody> ready;
  std::thread other([&] { ready.emplace(std::move(sim.prepare(small_box("new", {3, 1, 0})).value())); });
  for (int f = 0; f < 10; ++f) REQUIRE(sim.step());
  other.join();
  const int before = sim.factorizations();
  Spawn spawn;
  spawn.place.position = {0, 1, 0}, spawn.velocity = {1, 0, 0}, spawn.name = "a";
  const BodyId id = sim.add_body(std::move(*ready), spawn);
  CHECK(sim.body_name(id) == "a 2");
  CHECK(sim.measure(id).center.y == doctest::Approx(2));
  CHECK(sim.measure(id).momentum.x == doctest::Approx(sim.measure(id).mass));
  const int added = sim.factorizations();
  CHECK(added > before);  // those of prepare
  CHECK_THROWS_AS(sim.add_body(std::move(*ready)), std::invalid_argument);
  REQUIRE(sim.step());
  CHECK(sim.factorizations() == added);  // none is made for it
  const Expected<PreparedBody> bad = sim.prepare(generated_body("no such mesh", {}, strain(1)));
  CHECK(!bad);
  CHECK(bad.diagnostics().text().find("bodies[0].mesh.generator") != std::string::npos);
}

TEST_CASE("a collider that is moved by calls does what one on a path of keyframes does") {
  Scene scene = on_a_floor();
  scene.bodies.resize(1);
  scene.bodies[0].place.translate = {0, 0.1, 0};
  ColliderSpec pusher;
  pusher.name = "pusher", pusher.shape = "box", pusher.size = {0.2, 0.4, 0.4}, pusher.position = Vec3{-0.5, 0.2, 0};
  Scene keyed = scene;
  keyed.colliders.push_back(pusher);
  keyed.colliders[1].position.keys = {{0, Vec3{-0.5, 0.2, 0}}, {1, Vec3{0.5, 0.2, 0}}};
  scene.colliders.push_back(pusher);
  Simulation by_keys = make(keyed), by_calls = make(scene);
  const ColliderId id = by_calls.find_collider("pusher");
  // tracks are read a hair late (World::clock), at which the calls have to aim for the same path to the last digits
  const auto at = [](int frame) { return Placing{{-0.5 + (frame + 1e-10) / 30.0, 0.2, 0}, {}}; };
  by_calls.place_collider(id, at(0));
  const auto step_both = [&] {
    REQUIRE(by_keys.step());
    REQUIRE(by_calls.step());
  };
  for (int f = 1; f <= 30; ++f) {
    by_calls.move_collider(id, f < 30 ? at(f) : Placing{{0.5, 0.2, 0}, {}});
    step_both();
  }
  // paths that differ by their last digits make steps that agree to the tolerance of these
  const Measures a = by_keys.measure(), b = by_calls.measure();
  CHECK(a.work > 0);
  // (a step with contacts stops at a thousandth of its change, or where the frame's iterations are used up)
  CHECK(b.work == doctest::Approx(a.work).epsilon(1e-4));
  CHECK(norm(a.center - b.center) < 1e-4);
  for (int f = 0; f < 10; ++f) step_both();
  CHECK(by_calls.measure().work == b.work);  // it rests, and so does its work
  CHECK(by_calls.measure().center.x > 0.6);
  CHECK(by_calls.collider_placing(id).position.x == doctest::Approx(0.5));
}

TEST_CASE("a collider that is added, switched off or removed is felt from the next step on, and its id is refused") {
  Scene scene = on_a_floor();
  scene.bodies.resize(1), scene.colliders.clear();
  Simulation sim = make(scene);
  ColliderSpec floor;
  floor.name = "net", floor.shape = "plane", floor.friction = 0.5, floor.restitution = 0;
  const ColliderId net = sim.add_collider(floor).value();
  for (int f = 0; f < 60; ++f) REQUIRE(sim.step());
  CHECK(sim.measure().center.y == doctest::Approx(0.1).epsilon(0.05));
  sim.set_collider(net, false);
  for (int f = 0; f < 5; ++f) REQUIRE(sim.step());
  CHECK(sim.measure().center.y < 0.05);
  sim.remove_collider(net);
  CHECK(!sim.has_collider(net));
  CHECK_THROWS_AS(sim.move_collider(net, {}), std::invalid_argument);
  floor.name = "lower", floor.position = Vec3{0, -1, 0};
  const ColliderId lower = sim.add_collider(floor).value();
  for (int f = 0; f < 90; ++f) REQUIRE(sim.step());
  CHECK(sim.measure().center.y == doctest::Approx(-0.9).epsilon(0.05));
  CHECK(sim.has_collider(lower));
  const Expected<ColliderId> twice = sim.add_collider(floor);
  CHECK(!twice);  // the name is taken
}

TEST_CASE("between colliders that come to overlap a body is not loaded like a spring") {
  // a corner of a box between a ball and the floor, into which the ball is pushed: nothing that the corner could do would
  // bring it out of both, and what is stored there would throw it when the ball goes
  Scene scene = on_a_floor();
  scene.bodies.resize(1);
  scene.bodies[0].place.translate = {0, 0.1, 0};
  for (const double restitution : {0.0, 1.0}) {
    Simulation sim = make(scene);
    for (int f = 0; f < 20; ++f) REQUIRE(sim.step());
    ColliderSpec ball;
    ball.name = "ball", ball.shape = "sphere", ball.radius = 0.2, ball.position = Vec3{0.1, 0.21, 0.1};
    ball.restitution = restitution;
    const ColliderId id = sim.add_collider(ball).value();
    REQUIRE(sim.step());
    const Measures before = sim.measure();
    for (int f = 1; f <= 2; ++f) {
      sim.move_collider(id, {{0.1 - 0.04 * f, 0.21 - 0.03 * f, 0.1}, {}});
      REQUIRE(sim.step());
    }
    // at the speed of the ball, 1.5 m/s, the body has 9 J
    const Measures m = sim.measure();
    CHECK(m.contact < 5);
    CHECK(m.work - before.work < 150);
    sim.remove_collider(id);
    for (int f = 0; f < 10; ++f) {
      REQUIRE(sim.step());
      for (const Vec3& v : sim.velocities()) CHECK(norm(v) < 15);
    }
    const Measures after = sim.measure();
    CHECK(after.total + after.booked_loss - after.work + after.owed ==
          doctest::Approx(before.total + before.booked_loss - before.work + before.owed).epsilon(1e-4).scale(after.work + 1));
  }
}
