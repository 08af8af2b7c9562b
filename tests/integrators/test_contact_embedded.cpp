// Surfaces that bodies carry touch colliders themselves: what is seen neither sinks in nor hovers.
#include <doctest/doctest.h>

#include "integrators/contact_scenes.h"
#include "verve/material.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr double size = 0.5;

/// A ball of fine triangles in a cage of coarse cells.
Scene caged_ball(double cell, double frequency, const std::string& material, double friction,
                 const ColliderSpec& floor) {
  BodySpec body;
  body.name = "ball";
  body.mesh.generator = "cage", body.mesh.parameters = {{"cell", {cell}}};
  body.embed.emplace().generator = "ball";
  body.embed->parameters = {{"size", {size}}, {"frequency", {frequency}}};
  set_material(body, material);
  body.mass = 60, body.friction = friction, body.restitution = 0.3;
  body.place.translate = {0.03, 0.4, 0.01};
  Scene scene = grounded({body}, {floor});
  scene.step = 1.0 / 60, scene.solver.tolerance = 1e-4;
  return scene;
}

double lowest_seen(const Simulation& sim) {
  double low = 10;
  for (const Vec3& p : sim.embedded_positions(0)) low = std::min(low, p.y);
  return low;
}

}  // namespace

TEST_CASE("a surface that a coarse cage carries comes to rest on the floor by its own lowest vertex") {
  for (const double friction : {0.0, 0.5})
    for (const double cell : {0.17, 0.11}) {
      CAPTURE(friction);
      CAPTURE(cell);
      Simulation sim = make(caged_ball(cell, 8, "gummy", friction, floor_plane(friction)));
      REQUIRE(lowest(sim) < lowest_seen(sim) - 0.002);  // the cage reaches farther down
      const double start = kept_energy(sim.measure());
      double deepest = 0;
      for (int frame = 0; frame < 180; ++frame) {
        REQUIRE(sim.step());
        deepest = std::max(deepest, -lowest_seen(sim));
        CHECK(kept_energy(sim.measure()) <= start * (1 + 1e-4));
      }
      MESSAGE("lowest seen ", lowest_seen(sim), " m, of the cage ", lowest(sim), " m; at worst ", -deepest);
      CHECK(std::abs(lowest_seen(sim)) <= 0.02 * size);
      CHECK(deepest <= 0.02 * size);
      CHECK(lowest(sim) < 0);  // the cage does not touch
    }
}

TEST_CASE("a carried surface that slides is stopped by friction, and goes on without") {
  for (const double friction : {0.0, 0.5}) {
    CAPTURE(friction);
    Scene scene = caged_ball(0.17, 6, "rubber", friction, floor_plane(friction));
    scene.bodies[0].embed->generator = "box";
    scene.bodies[0].embed->parameters = {{"size", {size, 0.3, size}}, {"cells", {4, 2, 4}}};
    scene.bodies[0].place.translate = {0, 0.15, 0}, scene.bodies[0].initial.velocity = {1, 0, 0};
    scene.bodies[0].dials = {}, scene.bodies[0].restitution = 0;
    Simulation sim = make(scene);
    for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
    const double speed = sim.measure().momentum.x / sim.measure().mass, way = sim.measure().center.x;
    MESSAGE("friction ", friction, ": ", speed, " m/s after ", way, " m");
    if (friction == 0) CHECK(speed == doctest::Approx(1).epsilon(1e-6));
    // v^2 / (2 mu g) on the way to rest
    if (friction > 0) CHECK(std::abs(speed) <= 0.01);
    if (friction > 0) CHECK(way == doctest::Approx(1 / (2 * friction * earth)).epsilon(0.1));
  }
}

TEST_CASE("a carried surface has the same bits on any number of threads, and from a snapshot") {
  const Scene scene = caged_ball(0.17, 6, "gummy", 0.5, floor_plane(0.5));
  const auto hash_after = [&](int threads, int restore_at) {
    Simulation sim = make(scene, threads);
    for (int frame = 0; frame < 40; ++frame) {
      if (frame == restore_at) {
        const Snapshot snapshot = sim.save();
        Simulation other = make(scene, threads);
        REQUIRE(!other.restore(snapshot).has_errors());
        sim = std::move(other);
      }
      REQUIRE(sim.step());
    }
    return sim.state_hash();
  };
  const std::uint64_t hash = hash_after(1, -1);
  CHECK(hash_after(3, -1) == hash);
  CHECK(hash_after(1, 25) == hash);
}
