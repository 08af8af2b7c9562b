// Friction where edges cross edges, and on corners, edges and round shapes of colliders that come between vertices.
#include <doctest/doctest.h>

#include <cmath>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr double mu = 0.4;

BodySpec bar(const Vec3& size, const Vec3& cells, double stiffness, const std::string& name) {
  BodySpec body = generated_body("box", {{"size", {size.x, size.y, size.z}}, {"cells", {cells.x, cells.y, cells.z}}},
                                 strain(stiffness));
  body.name = name, body.friction = mu;
  return body;
}

/// Two metres long, with nothing but edges and two large faces below; its underside at y = 0.
BodySpec upper_bar() {
  BodySpec body = bar({2, 0.2, 0.4}, {1, 1, 1}, 1e6, "bar");
  body.place.translate = {0, 0.1, 0};
  return body;
}

ColliderSpec small_collider(const std::string& shape, const Vec3& at, const Vec3& turned) {
  ColliderSpec c;
  c.name = shape, c.shape = shape, c.position = at, c.rotation = turned, c.friction = mu;
  return c;
}

/// What the bar rests on, with nothing above y = 0: two edges along z, the same as capsules, four corners, four balls.
std::vector<ColliderSpec> supports(const std::string& kind) {
  constexpr double side = 0.2, radius = 0.05;
  std::vector<ColliderSpec> out;
  for (const double x : {-0.4, 0.4}) {
    if (kind == "edges") {
      out.push_back(small_collider("box", {x, -side / std::sqrt(2.0), 0}, {0, 0, 45}));
      out.back().size = {side, side, 12};
    } else if (kind == "capsules") {
      out.push_back(small_collider("capsule", {x, -radius, 0}, {90, 0, 0}));
      out.back().radius = radius, out.back().length = 12;
    }
    for (const double z : {-0.11, 0.09}) {
      if (kind == "corners") {  // a diagonal looks up
        const double turn = std::acos(1 / std::sqrt(3.0)) * 180 / 3.14159265358979 / std::sqrt(2.0);
        out.push_back(small_collider("box", {x + 0.1 * z, -side * std::sqrt(0.75), z}, {-turn, 0, turn}));
        out.back().size = {side, side, side};
      } else if (kind == "balls") {
        out.push_back(small_collider("sphere", {x + 0.1 * z, -radius, z}, {}));
        out.back().radius = radius;
      }
    }
  }
  for (size_t i = 0; i < out.size(); ++i) out[i].name += " " + std::to_string(i);
  return out;
}

/// Two rails with an edge up, anchored, in place of colliders.
void add_rails(Scene& scene) {
  for (const double x : {-0.4, 0.4}) {
    BodySpec rail = bar({0.2, 0.2, 4}, {1, 1, 2}, 1e6, x < 0 ? "left" : "right");
    rail.place.rotate = {0, 0, 45}, rail.place.translate = {x, -0.1 * std::sqrt(2.0), 0};
    AnchorSpec anchor;
    anchor.name = anchor.body = rail.name, anchor.vertices.all = true, anchor.stiffness = 1e6;
    scene.bodies.push_back(rail), scene.anchors.push_back(anchor);
  }
  scene.contact.emplace();
}

/// Gravity leans along an axis by `ratio` times the angle of friction.
Scene leaning(const std::string& kind, double ratio, int axis, double half_life) {
  Scene scene = grounded({upper_bar()}, supports(kind));
  if (kind == "bodies") add_rails(scene);
  const double angle = std::atan(ratio * mu);
  scene.gravity = {0, -earth * std::cos(angle), 0};
  scene.gravity[axis] = earth * std::sin(angle);
  if (half_life > 0) scene.bodies[0].dials.half_life = half_life;
  return scene;
}

const std::vector<std::string> kinds = {"edges", "capsules", "corners", "balls", "bodies"};

}  // namespace

TEST_CASE("a bar on edges, corners and small balls stays below the angle of friction (P16)") {
  for (const std::string& kind : kinds)
    for (const int axis : {0, 2}) {
      CAPTURE(kind);
      CAPTURE(axis);
      Simulation sim = make(leaning(kind, 0.95, axis, 0.03));
      for (int frame = 0; frame < 40; ++frame) REQUIRE(sim.step());
      const Vec3 start = sim.measure(0).center;
      double booked = sim.measure().booked_loss;
      for (int frame = 0; frame < 40; ++frame) {
        REQUIRE(sim.step());
        CHECK(sim.measure().booked_loss >= booked - 1e-12);
        booked = sim.measure().booked_loss;
      }
      const double slid = std::abs(sim.measure(0).center[axis] - start[axis]);
      MESSAGE(kind, " along ", axis, ": slid ", slid);
      // without friction 6 m in that time; anchored rails are still swinging by as much
      CHECK(slid <= 1e-5);
    }
}

TEST_CASE("a bar slides over edges and small balls above the angle of friction as Coulomb says, and H is kept (P16)") {
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    const double ratio = 1.5, angle = std::atan(ratio * mu),
                 expected = earth * (std::sin(angle) - mu * std::cos(angle));
    // along the edges, or along the bar before it slides off
    const bool along = kind == "edges" || kind == "capsules" || kind == "bodies";
    const int axis = along ? 2 : 0, frames = along ? 40 : 20;
    Simulation sim = make(leaning(kind, ratio, axis, 0));
    const double start = sim.measure(0).center[axis];
    double kept = 0, off = 0, booked = 0;
    for (int frame = 0; frame < frames; ++frame) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      if (frame == 4) kept = kept_energy(m);  // anchored rails owe some of it while they begin to swing
      if (frame > 4) off = std::max(off, std::abs(kept_energy(m) - kept));
      CHECK(m.booked_loss >= booked - 1e-12);
      booked = m.booked_loss;
    }
    const double time = frames / 30.0, slid = sim.measure(0).center[axis] - start;
    const double work = sim.measure(0).mass * earth * std::sin(angle) * slid;
    MESSAGE(kind, ": slid ", slid, " m, expected ", 0.5 * expected * time * time, ", H + loss off by ", off / work,
            " of the work of gravity");
    CHECK(slid == doctest::Approx(0.5 * expected * time * time).epsilon(kind == "bodies" ? 0.15 : 0.05));
    CHECK(off <= 1e-4 * work);
    CHECK(booked > 0.5 * work);  // 1 / 1.5 of it
  }
}

TEST_CASE("a bar slides over edges as far in frames of sixteen steps (P16)") {
  // Edges of its faces that came to cross one of a collider, deep in it as those before them, pressed there from
  // nothing: 1.22 m of 1.50.
  const double angle = std::atan(1.5 * mu), expected = earth * (std::sin(angle) - mu * std::cos(angle));
  for (const std::string kind : {"edges", "capsules"}) {
    CAPTURE(kind);
    Scene scene = leaning(kind, 1.5, 2, 0);
    scene.solver.substeps = 16;
    Simulation sim = make(scene);
    const double start = sim.measure(0).center.z;
    for (int frame = 0; frame < 40; ++frame) REQUIRE(sim.step());
    const double slid = sim.measure(0).center.z - start, way = 0.5 * expected * sq(40 / 30.0);
    MESSAGE(kind, ": slid ", slid, " m, expected ", way);
    CHECK(slid == doctest::Approx(way).epsilon(0.02));  // the first frame, in which it comes to lie, is a 20th of it
  }
}

TEST_CASE("bars that meet crosswise in the air lose to friction, and keep P and L, and H with what is booked (C16)") {
  for (const double off : {0.0, 0.15}) {
    CAPTURE(off);
    Scene scene;
    scene.bodies = {bar({1, 0.2, 0.2}, {1, 1, 1}, 3e5, "a"), bar({1, 0.2, 0.2}, {1, 1, 1}, 3e5, "b")};
    scene.bodies[0].place.rotate = {45, 0, 0}, scene.bodies[0].place.translate = {off, 0.3, 0};
    scene.bodies[1].place.rotate = {45, 90, 0}, scene.bodies[1].place.translate = {0, -0.3, 0.1};
    scene.bodies[0].initial.velocity = {0.6, -1.5, 0.3}, scene.bodies[0].initial.angular_velocity = {0, 1, 0};
    scene.bodies[1].initial.velocity = {0, 0.5, 0}, scene.bodies[1].initial.angular_velocity = {0, -1, 0};
    scene.contact.emplace();
    Simulation sim = make(scene);
    const Measures m0 = sim.measure();
    const double p = norm(sim.measure(0).momentum), l = norm(m0.angular_momentum);
    double booked = 0;
    for (int frame = 0; frame < 30; ++frame) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      CHECK(norm(m.momentum - m0.momentum) <= 1e-12 * p);
      CHECK(norm(m.angular_momentum - m0.angular_momentum) <= 1e-12 * l);
      CHECK(std::abs(kept_energy(m) / m0.total - 1) <= 2e-6);
      CHECK(m.booked_loss >= booked - 1e-12);
      booked = m.booked_loss;
    }
    MESSAGE("lost ", booked / m0.total, " of H");
    CHECK(booked > 0.05 * m0.total);
  }
}
