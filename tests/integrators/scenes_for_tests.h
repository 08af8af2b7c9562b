// Small scenes and the measurements that several tests share.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "verve/registry.h"
#include "verve/simulation.h"

namespace verve::test {

inline double sq(double a) { return a * a; }

inline Simulation make(const Scene& scene, int threads = 1) {
  Expected<Simulation> made = Simulation::create(scene, {.threads = threads});
  if (!made) throw std::runtime_error(made.diagnostics().text());
  return std::move(*made);
}

inline PotentialSpec strain(double mu) { return {"tet_strain", {{"mu", Track<double>(mu)}}}; }
inline PotentialSpec springs(double stiffness) { return {"spring", {{"stiffness", Track<double>(stiffness)}}}; }

/// A solid box of unit size, 1000 kg, cut into cells^3 cubes.
inline BodySpec box_body(int cells, double mu, const std::string& name = "box") {
  BodySpec body;
  body.name = name;
  body.mesh.generator = "box";
  const double n = cells;
  body.mesh.parameters = {{"size", {1, 1, 1}}, {"cells", {n, n, n}}};
  body.potentials.push_back(strain(mu));
  return body;
}

inline BodySpec generated_body(const std::string& generator, const Parameters& parameters, PotentialSpec potential) {
  BodySpec body;
  body.name = generator;
  body.mesh.generator = generator;
  body.mesh.parameters = parameters;
  body.potentials.push_back(std::move(potential));
  return body;
}

inline BodySpec mesh_body(Mesh mesh, std::vector<PotentialSpec> potentials, const std::string& name = "body") {
  BodySpec body;
  body.name = name;
  body.mesh.mesh = std::make_shared<const Mesh>(std::move(mesh));
  body.potentials = std::move(potentials);
  return body;
}

inline Scene scene_of(BodySpec body, const std::string& method = "cpd") {
  Scene scene;
  scene.solver.method = method;
  // those that are stable below a limit only are made for short steps
  if (const MethodInfo* info = find_method(method); info && !info->stable) scene.solver.substeps = 8;
  scene.bodies.push_back(std::move(body));
  return scene;
}

/// The scene of the CPD paper's first experiment on a coarse mesh: stretched by half and spun, then released.
inline Scene cube_scene(const std::string& method = "cpd", double mu = 1e4) {
  Scene scene = scene_of(box_body(4, mu), method);
  scene.bodies[0].initial.stretch = {1, 1.5, 1};
  scene.bodies[0].initial.angular_velocity = Vec3{0.3, 2, 0.2} * std::sqrt(mu / 1e4);
  return scene;
}

inline const MethodInfo& method_info(const std::string& name) {
  for (const MethodInfo& m : method_infos())
    if (m.name == name) return m;
  throw std::runtime_error("no method " + name);
}
inline bool conserves(const MethodInfo& m) { return m.conservation == "cpd"; }

/// Explicit Euler blows up whatever moves, round-off included, at any step: nothing that lasts can be asked of it.
inline bool blows_up(const MethodInfo& m) { return m.integrator == "explicit_euler"; }

/// Methods that can drive the strain of tetrahedra. The others have tests of their own.
inline const std::vector<MethodInfo>& methods_for_solids() {
  static const std::vector<MethodInfo> methods = [] {
    std::vector<MethodInfo> out;
    for (const MethodInfo& m : method_infos())
      if (Simulation::create(scene_of(box_body(1, 1e4), m.name), {.threads = 1})) out.push_back(m);
    return out;
  }();
  return methods;
}
inline bool drives_solids(const MethodInfo& method) {
  for (const MethodInfo& m : methods_for_solids())
    if (m.name == method.name) return true;
  return false;
}

/// Methods that hold nothing and have velocities: what a projection after the step can follow.
inline std::vector<std::string> bases_of_projections() {
  std::vector<std::string> out;
  for (const MethodInfo& m : methods_for_solids())
    if (m.conservation == "none" && m.dynamic && m.stable) out.push_back(m.name);
  return out;
}

inline bool finite(const Simulation& sim) {
  for (const auto& values : {sim.positions(), sim.velocities()})
    for (const Vec3& v : values)
      if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) return false;
  return true;
}

/// Lumped masses as the conventions define them (rho V/4, rho A/3, rho l/2), in the order of the mesh.
inline std::vector<double> vertex_masses(const Simulation& sim, int body) {
  const Mesh& mesh = sim.mesh(body);
  std::vector<double> mass(mesh.vertices.size(), 0.0);
  const auto& x = mesh.vertices;
  double sum = 0;
  const auto share = [&](const auto& element, double size) {
    for (const int v : element) mass[v] += size / double(element.size());
    sum += size;
  };
  if (!mesh.tetrahedra.empty()) {
    for (const auto& t : mesh.tetrahedra) share(t, tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]));
  } else if (!mesh.triangles.empty()) {
    for (const auto& t : mesh.triangles) share(t, 0.5 * norm(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]])));
  } else {
    for (const auto& e : mesh.edges) share(e, norm(x[e[1]] - x[e[0]]));
  }
  const double total = sim.measure(body).mass;
  for (double& m : mass) m *= total / sum;
  return mass;
}

/// Solves a symmetric 3x3 system by Cramer's rule.
inline Vec3 solve3(const Mat3& a, const Vec3& b) { return inverse(a) * b; }

/// K: the least energy that the momenta of the present shape allow, P^2/2m + 1/2 L.I^-1 L about the centre of mass
/// (CPD Eq. 13, Inventory E4).
inline double least_energy(const Simulation& sim, int body) {
  const std::vector<double> mass = vertex_masses(sim, body);
  const std::vector<Vec3> x = sim.positions();
  const int first = sim.first_vertex(body);
  const Measures m = sim.measure(body);
  Mat3 second{};
  for (size_t i = 0; i < mass.size(); ++i) {
    const Vec3 r = x[first + i] - m.center;
    second = second + outer(r, r * mass[i]);
  }
  const Mat3 inertia = Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
  return 0.5 * dot(m.momentum, m.momentum) / m.mass + 0.5 * dot(m.spin, solve3(inertia, m.spin));
}

/// Radius of gyration of the present shape.
inline double gyration(const Simulation& sim, int body) {
  const std::vector<double> mass = vertex_masses(sim, body);
  const std::vector<Vec3> x = sim.positions();
  const Measures m = sim.measure(body);
  double sum = 0;
  for (size_t i = 0; i < mass.size(); ++i) {
    const Vec3 r = x[sim.first_vertex(body) + i] - m.center;
    sum += mass[i] * dot(r, r);
  }
  return std::sqrt(sum / m.mass);
}

inline double mean(const std::vector<double>& a, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += a[i];
  return sum / double(end - begin);
}
inline double mean(const std::vector<double>& a) { return mean(a, 0, a.size()); }
inline double deviation(const std::vector<double>& a, size_t begin, size_t end) {
  const double m = mean(a, begin, end);
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += sq(a[i] - m);
  return std::sqrt(sum / double(end - begin));
}
inline double largest(const std::vector<double>& a) { return *std::max_element(a.begin(), a.end()); }

/// What a closed run did, frame by frame, relative to its start: H0 for energies, sqrt(2 m H0) and R sqrt(2 m H0) for
/// momenta, so that a body at rest has a scale as well.
struct Run {
  std::vector<double> energy_error, momentum_error, spin_error, elastic, kinetic, iterations, substeps;
  double start_total = 0, start_spin = 0;
};

inline Run run(Simulation& sim, int frames) {
  Run out;
  const Measures m0 = sim.measure();
  const double scale_p = std::sqrt(2 * m0.mass * std::abs(m0.total));
  const double scale_l = scale_p * gyration(sim, 0);
  out.start_total = m0.total, out.start_spin = norm(m0.spin);
  for (int i = 0; i < frames; ++i) {
    const StepReport r = sim.step();
    if (!r) throw std::runtime_error("frame " + std::to_string(i) + ": " + r.message);
    const Measures m = sim.measure();
    out.energy_error.push_back(std::abs(m.total - m0.total) / std::abs(m0.total));
    out.momentum_error.push_back(norm(m.momentum - m0.momentum) / scale_p);
    out.spin_error.push_back(norm(m.spin - m0.spin) / scale_l);
    out.elastic.push_back(m.elastic / m0.total);
    out.kinetic.push_back(m.kinetic / m0.total);
    out.iterations.push_back(r.iterations);
    out.substeps.push_back(r.substeps);
  }
  return out;
}

}  // namespace verve::test
