// A body in its rest pose stays there.
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"
#include "verve/scene_file.h"

using namespace verve;
using namespace verve::test;

namespace {

/// The bodies of a scene as they are at rest, with nothing that moves them. Gas is let out: an inflated rest shape is
/// not in equilibrium.
Scene at_rest(Scene scene) {
  scene.gravity = {};
  scene.forces.clear(), scene.pushes.clear(), scene.winds.clear();
  for (BodySpec& body : scene.bodies) {
    body.initial = {}, body.dials = {};
    std::erase_if(body.potentials, [](const PotentialSpec& p) {
      for (const PotentialInfo& info : potential_infos())
        if (info.name == p.type) return info.prestressed;
      return false;
    });
    for (PotentialSpec& p : body.potentials)
      for (auto& [name, track] : p.parameters) track = Track<double>(*track.keys.front().value);
  }
  for (AnchorSpec& anchor : scene.anchors) anchor.to_point.reset(), anchor.path = {};
  for (ColliderSpec& collider : scene.colliders) collider.position = Vec3(*collider.position.keys.front().value);
  // sweeps are not cut short at rest: two show what twenty would
  if (find_method(scene.solver.method)->minimizer == "own") scene.solver.iterations = 2;
  return scene;
}

}  // namespace

TEST_CASE("the rest pose of every scene stays at rest, of the smaller ones for 1000 frames") {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    SUBCASE(builtin.name.c_str()) {
      const Scene scene = at_rest(read_scene(builtin.name).value());
      Simulation simulation = make(scene);
      const std::vector<Vec3> before = simulation.positions();
      double size = 0;
      for (const Vec3& x : before) size = std::max(size, norm(x - before[0]));
      // the rate decides: larger scenes show in fewer frames whether it is that of round-off
      const int frames = simulation.vertices() > 10000 ? 100 : simulation.vertices() > 600 ? 250 : 1000;
      for (int frame = 0; frame < frames; ++frame) REQUIRE(simulation.step());
      double moved = 0, speed = 0;
      for (const Vec3& v : simulation.velocities()) speed = std::max(speed, norm(v));
      const std::vector<Vec3> after = simulation.positions();
      for (size_t v = 0; v < after.size(); ++v) moved = std::max(moved, norm(after[v] - before[v]));
      // positions carry round-off of 1e-16 of their size, and a frame repeats that about 100 times
      CHECK(moved <= 1e-14 * frames * size);
      CHECK(speed * scene.step <= 1e-12 * size);
    }
  }
}
