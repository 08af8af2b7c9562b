// Bodies that come and go on a floor, for tests.
#pragma once

#include "integrators/contact_scenes.h"

namespace verve::test {

inline BodySpec small_box(const std::string& name, const Vec3& at, double mu = 1e5) {
  BodySpec body = box_body(2, mu, name);
  body.place.scale = 0.2, body.place.translate = at;
  body.friction = 0.5, body.restitution = 0.3;
  return body;
}

/// Boxes above a floor, which touch it and each other.
inline Scene on_a_floor() {
  Scene scene = scene_of(small_box("a", {0, 0.3, 0}));
  scene.bodies.push_back(small_box("b", {1, 0.5, 0}));
  scene.gravity = {0, -9.81, 0};
  scene.contact.emplace();
  ColliderSpec& floor = scene.colliders.emplace_back();
  floor.name = "floor", floor.shape = "plane", floor.friction = 0.5, floor.restitution = 0.3;
  return scene;
}

inline BodyId add(Simulation& sim, const BodySpec& spec, const Spawn& spawn = {}) {
  return sim.add_body(std::move(sim.prepare(spec).value()), spawn);
}

}  // namespace verve::test
