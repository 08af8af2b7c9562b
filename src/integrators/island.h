// An island: bodies that exchange momentum and therefore keep P, L and H together. What they are, where they are, and
// their energy there; how they get on from there is the solver's (step_solver.h). A step works on the island's own copy
// of the motion and touches nothing else.
#pragma once

#include <memory>
#include <vector>

#include "contact/contacts.h"
#include "integrators/consistent_mass.h"
#include "integrators/elastic_energy.h"
#include "integrators/held_motion.h"
#include "integrators/integrator.h"
#include "integrators/plan.h"
#include "integrators/rest_shape.h"
#include "integrators/settings.h"
#include "integrators/state.h"
#include "integrators/step_outcome.h"
#include "integrators/system_matrix.h"
#include "integrators/work.h"
#include "model/model.h"

namespace verve {

class OwnStepper;
class StepSolver;

class Island {
 public:
  Island(const Model& model, const Matter& matter, std::vector<int> bodies, const std::vector<int>& active_anchors);
  /// Of islands that touch each other: they keep their factors, and their bodies their order.
  Island(const Model& model, const Matter& matter, std::vector<Island*> parts, std::vector<int> bodies,
         const std::vector<int>& active_anchors);
  Island(const Island&) = delete;  // its matrix refers to it
  Island& operator=(const Island&) = delete;
  ~Island();
  /// Anchors to the world turned on or off; links between bodies stay as they are.
  void set_anchors(const std::vector<int>& active_anchors);

  // What it is.

  const std::vector<int>& bodies() const { return bodies_; }
  int rows() const { return rows_; }
  int offset(int local_body) const { return offsets_[local_body]; }
  const Body& body(int local_body) const { return model_.bodies[bodies_[local_body]]; }
  const Potentials& potentials(int local_body) const { return matter_.bodies[bodies_[local_body]].potentials; }
  /// Calls visit(potential, row of its first vertex).
  template <class Visit>
  void each_potential(Visit&& visit) const {
    for (size_t k = 0; k < bodies_.size(); ++k)
      for (const auto& potential : potentials(int(k))) visit(*potential, offsets_[k]);
  }
  const RestShape& rest() const { return rest_; }
  /// Where a vertex near the middle is, how it moves and is accelerated: sums about it lose nothing far from the origin.
  struct Middle {
    Vec3 x, v, a;
  };
  Middle middle() const;
  const std::vector<int>& offsets() const { return offsets_; }
  const std::vector<Island*>& parts() const { return parts_; }
  double total_mass() const { return total_mass_; }
  Masses masses() const {
    return {forcing.mass.data(), rows_, total_mass_, consistent() ? &consistent_.coupling : nullptr};
  }
  /// Some body has a consistent mass matrix.
  bool consistent() const { return !consistent_.empty(); }
  const ConsistentMass& consistent_mass() const { return consistent_; }
  ConsistentMass& consistent_mass() { return consistent_; }
  bool anchored() const { return anchored_; }
  std::vector<AnchorTerm>& anchor_terms() { return anchors_; }
  const std::vector<AnchorTerm>& anchor_terms() const { return anchors_; }
  std::vector<int> active_anchors() const;
  bool has_sheets() const;
  /// All bodies are made of tetrahedra.
  bool is_solid() const;
  /// Some potential may need shorter steps than the matrix says.
  bool searches() const { return searches_; }
  /// Some element has gone.
  bool torn() const { return torn_; }

  // Where it is, and what acts on it.

  Motion motion;  // the caller loads it before a step and takes it after
  Forcing forcing;
  /// What may touch in the coming step; the caller fills it in.
  Contacts contacts;
  /// What it knows of earlier frames, as it was when the frame began but for what steps have changed since.
  IslandMemory memory;
  std::unique_ptr<Projection> projection;  // made when first needed

  /// Accelerations of forces that differ from vertex to vertex, where they are not the force over the mass of each.
  void balance_forces() {
    if (consistent() && !forcing.uniform) consistent_.divide_forces(forcing);
  }
  /// 1/2 v^T M v.
  double kinetic(const std::vector<Vec4>& v, const Vec3& drift = {}) const;
  /// H of a body as the motion is, with the W of the last evaluation, in the units of metrics.csv.
  double body_total(int local_body) const;
  /// Nothing moves but as a whole: kinetic energy about the centre of mass and W are below what the tolerance resolves.
  /// An integrator that takes the elastic force at x_n explicitly would blow round-off up to that level; backward Euler
  /// smothers it.
  bool at_rest(double h, double tolerance) const;
  /// It touches something and hardly moves: what it is deformed by is its weight, and no vibration.
  bool rests(double tolerance) const;

  // W. Its gradient at motion.x is in the motion.

  /// W and its gradient at motion.x, as the batches are now.
  void evaluate_motion();
  /// W and its gradient anywhere.
  double evaluate(const std::vector<Vec4>& x, std::vector<Vec4>& gradient);
  /// Adds the gradient of W and returns W.
  double add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient, Precision precision);
  /// W at motion.x is no longer what it was: anchors moved, or another x was loaded.
  void energy_changed() { evaluated_ = false; }
  bool is_evaluated() const { return evaluated_; }
  /// At the start of a frame, with motion.x and the gradient loaded: W there, of each body and as `memory` says.
  void recall_energy(int local_body, double elastic, double contact) {
    elastic_energy_.recall(local_body, elastic), contact_energy_[local_body] = contact;
  }
  void recall_energy() {
    elastic_energy_.recall_prestress(memory.prestress_energy);
    motion.energy = memory.energy, evaluated_ = memory.evaluated;
  }
  /// At its end.
  void remember_energy() {
    memory.prestress_energy = elastic_energy_.prestress();
    memory.energy = motion.energy, memory.evaluated = evaluated_;
  }

  // Of the last evaluation.

  /// Elastic energy of each body; links count half for each end.
  const std::vector<double>& body_energies() const { return elastic_energy_.of_bodies(); }
  /// Of what touched, per body.
  const std::vector<double>& contact_energies() const { return contact_energy_; }
  /// What of W is least at rest: without contacts and prestress.
  double energy_of_deformation() const;
  ElasticEnergy& elastic_energy() { return elastic_energy_; }
  const ElasticEnergy& elastic_energy() const { return elastic_energy_; }
  /// Friction at the pressure of that evaluation, at x (Contacts::follow_pressure).
  Contacts::FrictionChange follow_pressure(Contacts::Follow follow, const std::vector<Vec4>& x,
                                           std::vector<Vec4>& gradient) {
    return contacts.follow_pressure(follow, x.data(), gradient.data(), contact_energy_);
  }
  /// What slides, slides: takes the work of friction out of W, into the losses of each body.
  void apply_slip(std::vector<double>& losses);

  // The matrix of the global step, of this island alone: parts have their own.

  SystemMatrix& matrix() { return matrix_; }
  const SystemMatrix& matrix() const { return matrix_; }
  /// Counts changes of weights, stiffnesses and anchors.
  long version() const { return matrix_.version(); }
  /// Weights or stiffnesses changed.
  void matrix_changed() { matrix_.weights_changed(), evaluated_ = false; }
  /// Stiffnesses of anchors to the world changed, or elements are gone.
  void anchors_changed() { matrix_.terms_changed(), evaluated_ = false; }
  void elements_removed() { anchors_changed(), find_torn(); }
  /// SystemMatrix::set_planes.
  void set_planes(const std::vector<LowRankTerm>& terms) {
    if (matrix_.set_planes(terms)) evaluated_ = false;
  }
  /// The factors of this island as they were.
  void restore_factors(const std::vector<FactorRecord>& records, const Settings& settings);

  // Steps.

  /// What a plan of the coming step has to know of the island.
  StepInput step_input(double h, const Settings& settings) const;
  /// A step as planned, by the solver or by a method with a step of its own.
  StepOutcome step(double h, const Settings& settings, const Demand& demand, const StepPlan& plan);
  StepOutcome step(double h, const Settings& settings, const Demand& demand) {
    return step(h, settings, demand, plan_step(step_input(h, settings)));
  }
  /// StepSolver::correct_energy.
  void correct_energy(const StepPlan& plan, const Demand& demand, StepOutcome& outcome);
  StepSolver& solver() { return *solver_; }
  const StepSolver& solver() const { return *solver_; }
  /// Estimate of what an iteration with contacts takes, in Work::milliseconds.
  double contact_cost() const;
  /// Likewise without contacts, as in the last step.
  double iteration_cost() const;
  /// Of all steps so far.
  Work work() const;
  void add_work(const Work& more) { work_ += more; }

 private:
  double explicit_share(double h, const Integrator& integrator) const;
  MatrixTerms matrix_terms() const;
  void find_torn();

  const Model& model_;
  const Matter& matter_;  // as the state has it now
  std::vector<int> bodies_, offsets_;
  int rows_ = 0;
  bool anchored_ = false;
  std::vector<AnchorTerm> anchors_;
  double total_mass_ = 0;
  RestShape rest_;
  ConsistentMass consistent_;
  ElasticEnergy elastic_energy_;
  std::vector<double> contact_energy_;
  bool evaluated_ = false;  // W and its gradient are those at motion.x
  bool searches_ = false;
  bool torn_ = false;
  SystemMatrix matrix_;
  std::vector<Island*> parts_;
  std::unique_ptr<StepSolver> solver_;
  std::unique_ptr<OwnStepper> own_stepper_;
  Work work_;  // but for that of the solver and the matrix
};

}  // namespace verve
