#include "integrators/island.h"

#include <algorithm>
#include <cmath>

#include "base/ranks.h"
#include "integrators/own_stepper.h"
#include "integrators/step_solver.h"

namespace verve {

namespace {

constexpr double least_energy = 1e-300;  // to divide by

}  // namespace

Island::Island(const Model& model, const Matter& matter, std::vector<int> bodies,
               const std::vector<int>& active_anchors)
    : model_(model),
      matter_(matter),
      bodies_(std::move(bodies)),
      rest_(model, bodies_),
      elastic_energy_(model, matter, bodies_, anchors_),
      matrix_(matrix_terms()) {
  for (const int b : bodies_) {
    offsets_.push_back(rows_);
    rows_ += model.bodies[b].count;
    total_mass_ += model.bodies[b].total_mass;
  }
  set_anchors(active_anchors);
  motion.resize(rows_);
  forcing.mass.resize(rows_), forcing.inverse_mass.resize(rows_);
  forcing.force.resize(rows_), forcing.acceleration.resize(rows_);
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const Body& body = model.bodies[bodies_[k]];
    for (int r = 0; r < body.count; ++r) {
      forcing.mass[offsets_[k] + r] = body.mass[r];
      forcing.inverse_mass[offsets_[k] + r] = body.mass[r] > 0 ? 1 / body.mass[r] : 0;
    }
  }
  for (const int b : bodies_) consistent_.append(model.bodies[b]);
  if (consistent()) motion.elastic.resize(rows_);
  searches_ = !elastic_energy_.is_bounded();
  find_torn();
  contact_energy_.resize(bodies_.size());
  solver_ = std::make_unique<StepSolver>(*this), own_stepper_ = std::make_unique<OwnStepper>();
}

Island::Island(const Model& model, const Matter& matter, std::vector<Island*> parts, std::vector<int> bodies,
               const std::vector<int>& active_anchors)
    : Island(model, matter, std::move(bodies), active_anchors) {
  parts_ = std::move(parts);
}

Island::~Island() = default;

void Island::find_torn() {
  torn_ = false;
  for (const int b : bodies_)
    for (const auto& potential : matter_.bodies[b].potentials) {
      const std::vector<char>& gone = potential->removed();
      torn_ |= std::find(gone.begin(), gone.end(), 1) != gone.end();
    }
}

MatrixTerms Island::matrix_terms() const {
  MatrixTerms terms{&forcing.mass, &consistent_.coupling, {}, &anchors_};
  int first = 0;
  for (const int b : bodies_) {
    const Body& body = model_.bodies[b];
    terms.bodies.push_back({&matter_.bodies[b].potentials, first, body.tearing != nullptr, body.shared.get()});
    first += model_.bodies[b].count;
  }
  return terms;
}

void Island::set_anchors(const std::vector<int>& active_anchors) {
  anchors_.clear();
  anchored_ = false;
  const auto row = [&](int body, int local) {
    const auto it = std::find(bodies_.begin(), bodies_.end(), body);
    return offsets_[it - bodies_.begin()] + local;
  };
  for (const int a : active_anchors) {
    const Anchor& anchor = matter_.anchors[a];
    AnchorTerm& term = anchors_.emplace_back();
    term.anchor = a;
    term.to_world = anchor.other < 0;
    for (size_t i = 0; i < anchor.rows.size(); ++i) {
      if (term.to_world) {
        term.world.vertices.push_back(row(anchor.body, anchor.rows[i]));
      } else {
        term.links.pairs.push_back({row(anchor.body, anchor.rows[i]), row(anchor.other, anchor.other_rows[i])});
      }
    }
    term.world.points.resize(term.world.vertices.size());
    anchored_ |= term.to_world;
  }
  anchors_changed();
}

double Island::evaluate(const std::vector<Vec4>& x, std::vector<Vec4>& gradient) {
  std::fill(gradient.begin(), gradient.end(), Vec4());
  return add_gradient(x, gradient, Precision::float64);
}

double Island::add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient, Precision precision) {
  double total = elastic_energy_.add_gradient(x.data(), gradient.data(), precision);
  work_.calls += double(bodies_.size()), work_.elements += elastic_energy_.elements();
  work_.places += double(contacts.on_shapes.size() + contacts.faces.size() + contacts.on_edges.size());
  std::fill(contact_energy_.begin(), contact_energy_.end(), 0.0);
  if (!contacts.empty()) total += contacts.add_gradient(x.data(), gradient.data(), contact_energy_);
  return total;
}

double Island::body_total(int k) const {
  const Body& body = model_.bodies[bodies_[k]];
  const Vec4 *x = motion.x.data() + offsets_[k], *v = motion.v.data() + offsets_[k];
  const Vec4* force = forcing.conservative().data() + offsets_[k];
  double sum = once(body_energies()[k] + contact_energy_[k] + body.coupling.kinetic(v));
  for (int r = 0; r < body.count; ++r) sum += 0.5 * body.mass[r] * dot(v[r], v[r]) - dot(force[r], x[r]);
  return sum_over_ranks(sum);
}

Island::Middle Island::middle() const {
  const int row = rest_.middle;
  if (row < 0) return of_rank(false, Middle{});
  return of_rank(true, Middle{motion.x[row].xyz(), motion.v[row].xyz(), forcing.acceleration[row].xyz()});
}

void Island::evaluate_motion() {
  motion.energy = evaluate(motion.x, motion.gradient);
  evaluated_ = true;
}

bool Island::is_solid() const {
  return std::all_of(bodies_.begin(), bodies_.end(),
                     [this](int b) { return any_rank(!model_.bodies[b].mesh.tetrahedra.empty()); });
}

double Island::energy_of_deformation() const {
  double energy = motion.energy - elastic_energy_.prestress();
  for (const double contact : contact_energy_) energy -= contact;
  return energy;
}

std::vector<int> Island::active_anchors() const {
  std::vector<int> out;
  for (const AnchorTerm& term : anchors_) out.push_back(term.anchor);
  return out;
}

void Island::restore_factors(const std::vector<FactorRecord>& records, const Settings& settings) {
  solver_->forget_factors();
  matrix_.restore(bodies_[0], records, settings.factor_kind());
}

double Island::contact_cost() const {
  const double places = double(contacts.on_shapes.size() + contacts.on_faces.size() + contacts.on_edges.size());
  const Work each{.calls = double(bodies_.size()), .elements = elastic_energy_.elements(), .vertices = 12.0 * rows_,
                  .entries = 2 * solver_->factor_entries(), .places = 2 * places};
  return each.milliseconds();
}

double Island::iteration_cost() const {
  const Work free{.calls = double(bodies_.size()), .elements = elastic_energy_.elements(), .vertices = 3.0 * rows_};
  return memory.iteration_cost > 0 ? memory.iteration_cost : free.milliseconds();
}

Work Island::work() const {
  Work out = work_;
  out += matrix_.work();
  out += solver_->work();
  return out;
}

bool Island::has_sheets() const {
  for (const int b : bodies_)
    if (matter_.bodies[b].surface.solid_faces < int(matter_.bodies[b].surface.faces.size())) return true;
  return false;
}

double Island::kinetic(const std::vector<Vec4>& v, const Vec3& drift) const {
  return kinetic_energy(forcing.mass.data(), rows_, consistent_.coupling, v.data(), drift);
}

bool Island::at_rest(double h, double tolerance) const {
  // a look at the last step settles it for whatever moves
  const double radius = memory.radius;
  const double size = std::max(1e-16 * total_mass_ * radius * radius / (h * h), 1e-9 * memory.kinetic);
  const double energy = motion.energy - elastic_energy_.prestress();
  if (radius > 0 && energy > 1e3 * tolerance * size) return false;
  Vec3 momentum{}, center{};
  for (int i = 0; i < rows_; ++i) {
    momentum += motion.v[i].xyz() * forcing.mass[i];
    center += motion.x[i].xyz() * forcing.mass[i];
  }
  const Vec3 v = sum_over_ranks(momentum) / total_mass_;
  center = sum_over_ranks(center) / total_mass_;
  double second = 0;
  for (int i = 0; i < rows_; ++i) {
    const Vec3 r = motion.x[i].xyz() - center;
    second += forcing.mass[i] * dot(r, r);
  }
  second = sum_over_ranks(second);
  return energy + kinetic(motion.v, v) <
         tolerance * std::max(1e-16 * second / (h * h), 1e-9 * 0.5 * total_mass_ * dot(v, v));
}

bool Island::rests(double tolerance) const {
  if (!contacts.touching()) return false;
  return kinetic(motion.v) < tolerance * motion.energy;
}

void Island::apply_slip(std::vector<double>& losses) {
  losses.assign(bodies_.size(), 0.0);
  if (contacts.friction_anchors.empty()) return;
  contacts.apply_slip(motion.x.data(), losses);
  if (contacts.constraints) return;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    contact_energy_[k] -= losses[k], motion.energy -= losses[k];
    losses[k] += contacts.start_loss(int(k));
  }
}

/// What a step would make of the forces at x_n and of its rates, over what there is: W and the motion about the whole.
double Island::explicit_share(double h, const Integrator& integrator) const {
  const double taken = integrator.explicit_energy(motion, forcing, h, !anchored_);
  if (!(taken > 0)) return 0;
  Vec3 momentum{};
  for (int i = 0; i < rows_ && !anchored_; ++i) momentum += motion.v[i].xyz() * forcing.mass[i];
  return taken / std::max(energy_of_deformation() + kinetic(motion.v, momentum / total_mass_), least_energy);
}

StepInput Island::step_input(double h, const Settings& settings) const {
  StepInput in;
  in.conserves = settings.conserves();
  in.anchored = anchored_, in.searched = searches_, in.solid = is_solid(), in.contacts = !contacts.empty();
  if (!in.conserves) return in;
  if (in.contacts) {
    const Integrator& base = settings.base(Base::contact);
    in.plain_contact_base = base.is_direct() && base.stages() == 1;
    in.restitution = memory.restitution;
  } else {
    in.at_rest = at_rest(h, settings.tolerance);
    if (searches_) in.explicit_share = explicit_share(h, settings.base(in.solid ? Base::method : Base::sheets));
    if (searches_) in.explicit_share_of_contact_base = explicit_share(h, settings.base(Base::contact));
  }
  return in;
}

StepOutcome Island::step(double h, const Settings& settings, const Demand& demand, const StepPlan& plan) {
  solver_->begin(plan);
  return settings.own_step ? own_stepper_->step(*this, h, settings) : solver_->step(h, settings, demand);
}

void Island::correct_energy(const StepPlan& plan, const Demand& demand, StepOutcome& outcome) {
  solver_->correct_energy(plan, demand, outcome);
}

}  // namespace verve
