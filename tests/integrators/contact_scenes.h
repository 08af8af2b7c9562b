// Scenes of contact, and what their tests measure.
#pragma once

#include "integrators/scenes_for_tests.h"

namespace verve::test {

inline constexpr double earth = 9.81;

inline ColliderSpec floor_plane(double friction = 0) {
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane", floor.friction = friction;
  return floor;
}

inline BodySpec ball_body(double size, int frequency, double mu, const Vec3& at, const std::string& name = "ball") {
  BodySpec body = generated_body("ball", {{"size", {size}}, {"frequency", {double(frequency)}}}, strain(mu));
  body.name = name, body.place.translate = at;
  return body;
}

/// Under gravity, with colliders.
inline Scene grounded(std::vector<BodySpec> bodies, std::vector<ColliderSpec> colliders) {
  Scene scene;
  scene.gravity = {0, -earth, 0};
  scene.bodies = std::move(bodies), scene.colliders = std::move(colliders);
  return scene;
}

/// The built-in scene `strip` on a coarser mesh.
inline Scene strip() {
  Scene scene;
  scene.gravity = {0, -9.81, 0};
  BodySpec body;
  body.name = "strip";
  body.mesh.generator = "strip";
  body.mesh.parameters = {{"length", {2.4}}, {"height", {0.08}}, {"width", {0.3}}, {"cells", {24, 1, 3}}};
  body.place.translate = {0, 0.6, 0};
  body.potentials.push_back({"tet_strain", {{"mu", Track<double>(6e4)}}});
  body.friction = 0.3;
  scene.bodies.push_back(body);
  AnchorSpec anchor;
  anchor.body = "strip", anchor.stiffness = Track<double>(2e4);
  anchor.vertices.box = {{Vec3{-0.02, 0.5, -1}, Vec3{0.02, 0.57, 1}}};
  scene.anchors.push_back(anchor);
  ColliderSpec bar;
  bar.shape = "cylinder", bar.radius = 0.1, bar.length = 0.6;
  bar.rotation = Track<Vec3>(Vec3{90, 0, 0}), bar.position = Track<Vec3>(Vec3{0, 0.46, 0});
  scene.colliders.push_back(bar);
  scene.contact.emplace();
  scene.contact->self = true;
  scene.contact->stiffness = 8000;  // its ends meet at 5 m/s
  return scene;
}

inline double kept_energy(const Measures& m) { return m.total + m.booked_loss - m.work; }

/// Steps that are `n` times shorter, with the same stiffness of contact in N/m.
inline Scene finer(Scene scene, int n) {
  if (!scene.contact) scene.contact.emplace();
  scene.step /= n, scene.contact->stiffness /= double(n) * n;
  return scene;
}

inline double lowest(const Simulation& sim, int body = 0) {
  const std::vector<Vec3> x = sim.positions();
  const int first = sim.first_vertex(body), count = int(sim.mesh(body).vertices.size());
  double low = x[first].y;
  for (int i = 0; i < count; ++i) low = std::min(low, x[first + i].y);
  return low;
}

inline double volume(const Simulation& sim, int body = 0) {
  const std::vector<Vec3> x = sim.positions();
  const int f = sim.first_vertex(body);
  double sum = 0;
  for (const auto& t : sim.mesh(body).tetrahedra) sum += tet_volume(x[f + t[0]], x[f + t[1]], x[f + t[2]], x[f + t[3]]);
  return sum;
}

}  // namespace verve::test
