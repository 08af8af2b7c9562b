#include "bench/subject.h"

#include <stdexcept>

#include "base/hash.h"
#include "base/parallel.h"

namespace verve::bench {

Settings fixed_iterations(const std::string& method, Precision precision, int iterations) {
  SolverSpec spec;
  spec.method = method;
  spec.precision = precision;
  spec.iterations = iterations;
  spec.tolerance = 0;
  spec.substeps = 1;
  return resolve(spec);
}

Subject::Subject(Scene scene, int warm_up) : scene_(std::move(scene)) {
  Expected<CompiledScene> made = compile(scene_);
  if (!made) throw std::runtime_error(made.diagnostics().text());
  compiled_ = std::move(*made);
  std::vector<int> active;
  for (size_t a = 0; a < scene_.anchors.size(); ++a)
    if (scene_.anchors[a].active.at(0).value_or(false)) active.push_back(int(a));
  island_ = std::make_unique<Island>(model_, matter_, std::vector<int>{0}, active);
  Motion& m = island_->motion;
  m.x = model_.initial_x, m.v = model_.initial_v;
  island_->forcing.uniform = true, island_->forcing.common = scene_.gravity;
  for (int r = 0; r < island_->rows(); ++r) {
    island_->forcing.force[r] = Vec4(scene_.gravity * island_->forcing.mass[r]);
    island_->forcing.acceleration[r] = Vec4(island_->forcing.mass[r] > 0 ? scene_.gravity : Vec3{});
  }
  for (AnchorTerm& term : island_->anchor_terms()) {
    term.world.stiffness = scene_.anchors[term.anchor].stiffness.at(0).value();
    for (size_t i = 0; i < term.world.vertices.size(); ++i) term.world.points[i] = m.x[term.world.vertices[i]];
  }
  island_->evaluate_motion();
  kept_ = m;
  if (warm_up > 0) {
    const Settings settings = fixed_iterations("cpd", Precision::float32, 10);
    for (int i = 0; i < warm_up; ++i) {
      if (step(settings, 0).status == StepOutcome::Status::not_finite)
        throw std::runtime_error(scene_.name + ": the warm-up diverged");
      kept_ = m;
    }
    // the float factor's round-off is no part of the state that everything starts from
    island_->energy_changed();
    island_->evaluate_motion();
    kept_ = m;
  }
}

StepOutcome Subject::step(const Settings& settings, int threads) {
  set_threads(threads);
  island_->motion = kept_;
  StepOutcome outcome = island_->step(scene_.step, settings, {});
  if (outcome.status == StepOutcome::Status::not_factorizable)
    throw std::runtime_error(scene_.name + ": the matrix is not positive definite");
  return outcome;
}

std::uint64_t Subject::hash() const {
  BitHash hash;
  for (const int r : model_.bodies[0].row_of_vertex)
    for (const Vec4& a : {island_->motion.x[r], island_->motion.v[r]}) hash.add(a.x), hash.add(a.y), hash.add(a.z);
  return hash.value();
}

std::vector<Vec3> Subject::positions() const {
  std::vector<Vec3> out;
  for (const int r : model_.bodies[0].row_of_vertex) out.push_back(island_->motion.x[r].xyz());
  return out;
}

int Subject::elements() const {
  int sum = 0;
  for (const auto& potential : matter_.bodies[0].potentials) sum += potential->elements();
  return sum;
}

SymmetricAssembly Subject::assemble() const {
  SymmetricAssembly out;
  const double h = scene_.step;
  out.begin_pattern(island_->rows());
  for (int r = 0; r < island_->rows(); ++r) {
    const double m = island_->forcing.mass[r];
    out.add(r, r, m > 0 ? m / (h * h) : 1);
  }
  for (const auto& potential : matter_.bodies[0].potentials) potential->add_weights(out, 0, 1);
  out.finish_pattern();
  for (const AnchorTerm& term : island_->anchor_terms()) term.world.add_weights(out);
  return out;
}

PdProblem Subject::problem() const {
  const Body& body = model_.bodies[0];
  const double h = scene_.step;
  const std::vector<Vec3>& rest = body.mesh.vertices;
  PdProblem out;
  out.h = h;
  for (const int r : body.row_of_vertex) {
    out.mass.push_back(body.mass[r]);
    out.y.push_back((kept_.x[r] + kept_.v[r] * h + island_->forcing.acceleration[r] * (h * h)).xyz());
  }
  const Potentials& potentials = matter_.bodies[0].potentials;
  for (size_t k = 0; k < potentials.size(); ++k) {
    const std::string_view type = potentials[k]->name();
    if (type == "tet_strain") {
      const double mu = body.parameters[k].at("mu");
      for (const auto& t : body.mesh.tetrahedra) {
        const Mat3 edges{{rest[t[1]] - rest[t[0]], rest[t[2]] - rest[t[0]], rest[t[3]] - rest[t[0]]}};
        out.tets.push_back({t, inverse(edges), 2 * mu * det(edges) / 6});
      }
    } else if (type == "spring") {
      const double stiffness = body.parameters[k].at("stiffness");
      for (const auto& e : unique_edges(body.mesh))
        out.springs.push_back({e, norm(rest[e[1]] - rest[e[0]]), stiffness});
    } else {
      throw std::runtime_error("no baseline for potential " + std::string(type));
    }
  }
  for (const AnchorTerm& term : island_->anchor_terms())
    for (size_t i = 0; i < term.world.vertices.size(); ++i)
      out.pins.push_back(
          {body.vertex_of_row[term.world.vertices[i]], term.world.points[i].xyz(), term.world.stiffness});
  return out;
}

}  // namespace verve::bench
