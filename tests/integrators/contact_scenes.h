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

inline double kept_energy(const Measures& m) { return m.total + m.booked_loss; }

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
