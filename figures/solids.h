// Scenes that are nobody's demo: boxes and sheets made for one measurement.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "verve/scene.h"

namespace verve::figures {

inline PotentialSpec potential(const std::string& type, std::map<std::string, double> values) {
  PotentialSpec out;
  out.type = type;
  for (const auto& [name, value] : values) out.parameters[name] = Track<double>(value);
  return out;
}

inline BodySpec generated(const std::string& generator, const Parameters& parameters,
                          std::vector<PotentialSpec> potentials) {
  BodySpec out;
  out.name = generator;
  out.mesh.generator = generator;
  out.mesh.parameters = parameters;
  out.potentials = std::move(potentials);
  return out;
}

/// A solid unit cube of cells^3 cells, 1000 kg.
inline BodySpec box(int cells, double mu) {
  const double n = cells;
  return generated("box", {{"size", {1, 1, 1}}, {"cells", {n, n, n}}}, {potential("tet_strain", {{"mu", mu}})});
}

inline Scene scene_with(BodySpec body, const std::string& method) {
  Scene out;
  out.name = body.name;
  out.solver.method = method;
  out.bodies.push_back(std::move(body));
  return out;
}

inline AnchorSpec hold(const std::string& body, const Vec3& lower, const Vec3& upper, double stiffness,
                       Track<Vec3> path = {}) {
  AnchorSpec out;
  out.body = body, out.stiffness = Track<double>(stiffness), out.path = std::move(path);
  out.vertices.box = std::array<Vec3, 2>{lower, upper};
  return out;
}

/// The cube of Fig. 2 on 4^3 cells, stretched by half and spun.
inline Scene small_cube(const std::string& method, double mu = 1e4) {
  Scene out = scene_with(box(4, mu), method);
  out.bodies[0].initial.stretch = {1, 1.5, 1};
  out.bodies[0].initial.angular_velocity = Vec3{0.3, 2, 0.2} * std::sqrt(mu / 1e4);
  return out;
}

}  // namespace verve::figures
