// One island on its own, with the model it belongs to.
#pragma once

#include <doctest/doctest.h>

#include <memory>

#include "base/random.h"
#include "integrators/step_solver.h"
#include "integrators/world.h"
#include "scenes_for_tests.h"

namespace verve::test {

/// Iterations then end at the cap or at round-off only.
inline constexpr double never = 0;
inline constexpr double frame = 1.0 / 30;

inline Settings settings_for(const std::string& method, int iterations, double tolerance = never) {
  SolverSpec spec;
  spec.method = method;
  Settings out = resolve(spec);
  out.iterations = iterations;
  out.tolerance = tolerance;
  return out;
}

struct Rig {
  Scene scene;
  CompiledScene compiled;
  const Model& model = compiled.model;
  Matter& matter = compiled.matter;
  std::unique_ptr<Island> island;

  explicit Rig(Mesh mesh, std::vector<PotentialSpec> potentials, std::vector<AnchorSpec> anchors = {}) {
    BodySpec body;
    body.name = "body";
    body.mesh.mesh = std::make_shared<const Mesh>(std::move(mesh));
    body.potentials = std::move(potentials);
    scene.bodies.push_back(body);
    scene.anchors = std::move(anchors);
    Expected<CompiledScene> made = compile(scene);
    REQUIRE_MESSAGE(made.has_value(), made.diagnostics().text());
    compiled = std::move(*made);
    std::vector<int> active;
    for (size_t a = 0; a < matter.anchors.size(); ++a) active.push_back(int(a));
    island = std::make_unique<Island>(model, matter, std::vector<int>{0}, active);
    island->motion.x = model.initial_x;
    for (auto& term : island->anchor_terms()) {
      term.world.stiffness = scene.anchors[term.anchor].stiffness.at(0).value();
      for (size_t i = 0; i < term.world.vertices.size(); ++i)
        term.world.points[i] = model.initial_x[term.world.vertices[i]];
    }
  }

  int rows() const { return island->rows(); }
  double mass(int row) const { return island->forcing.mass[row]; }
  double total_mass() const { return model.bodies[0].total_mass; }

  /// Each vertex of the rest shape moved by up to `noise`, with velocities up to `speed` [m/s].
  void shake(double noise, double speed, std::uint64_t seed) {
    Motion& m = island->motion;
    for (int r = 0; r < rows(); ++r) {
      m.x[r] = model.bodies[0].rest[r] + Vec4(random_in_ball(seed, r) * noise);
      m.v[r] = Vec4(random_in_ball(seed + 1000, r) * speed);
    }
    loaded();
  }
  /// Random constant forces up to `size` times the weight of each vertex.
  void push(double size, std::uint64_t seed) {
    for (int r = 0; r < rows(); ++r) {
      island->forcing.acceleration[r] = Vec4(random_in_ball(seed, r) * (9.81 * size) + Vec3{0, -9.81 * size, 0});
      island->forcing.force[r] = island->forcing.acceleration[r] * mass(r);
    }
  }
  void loaded() {
    island->motion.history = false;
    island->energy_changed();
    island->evaluate_motion();
  }

  StepOutcome step(const Settings& settings, double h = frame, const Demand& demand = {}) {
    if (!island->is_evaluated()) island->evaluate_motion();
    return island->step(h, settings, demand);
  }
  /// The same from a motion kept before.
  StepOutcome step_from(const Motion& start, const Settings& settings, double h = frame, const Demand& demand = {}) {
    island->motion = start;
    return island->step(h, settings, demand);
  }

  double energy(const std::vector<Vec4>& x, std::vector<Vec4>* gradient = nullptr) {
    std::vector<Vec4> g(x.size());
    double sum = 0;
    for (const auto& p : matter.bodies[0].potentials) sum += p->add_gradient(x.data(), g.data(), Precision::float64);
    for (const auto& term : island->anchor_terms()) sum += term.world.add_gradient(x.data(), g.data());
    if (gradient) *gradient = g;
    return sum;
  }

  double kinetic(const std::vector<Vec4>& v) const {
    double sum = 0;
    for (int r = 0; r < rows(); ++r) sum += 0.5 * mass(r) * dot(v[r], v[r]);
    return sum;
  }
  Vec3 momentum(const std::vector<Vec4>& v) const {
    Vec3 sum{};
    for (int r = 0; r < rows(); ++r) sum += v[r].xyz() * mass(r);
    return sum;
  }
  Vec3 center(const std::vector<Vec4>& x) const { return momentum(x) / total_mass(); }
  Vec3 spin(const std::vector<Vec4>& x, const std::vector<Vec4>& v) const {
    const Vec3 c = center(x);
    Vec3 sum{};
    for (int r = 0; r < rows(); ++r) sum += cross(x[r].xyz() - c, v[r].xyz()) * mass(r);
    return sum;
  }
};

inline Mesh generated(const std::string& generator, const Parameters& parameters = {}) {
  Expected<Mesh> mesh = generate_mesh(generator, parameters);
  REQUIRE_MESSAGE(mesh.has_value(), mesh.diagnostics().text());
  return std::move(*mesh);
}

inline Mesh two_tets() {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0.1}, {0, 1, 0}, {0.1, 0, 1}, {0.9, 1, 1.1}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  for (auto& t : mesh.tetrahedra) {
    const auto& x = mesh.vertices;
    if (tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) < 0) std::swap(t[2], t[3]);
  }
  return mesh;
}
inline Mesh small_box(double cells = 1) {
  return generated("box", {{"size", {1, 1.2, 0.8}}, {"cells", {cells, cells, cells}}});
}

}  // namespace verve::test
