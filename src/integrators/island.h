// An island: bodies that exchange momentum and therefore keep P, L and H together. Owns its matrix and all work
// vectors; a step works on the island's own copy of the motion and touches nothing else.
#pragma once

#include <memory>
#include <vector>

#include "base/parallel.h"
#include "contact/contacts.h"
#include "integrators/body_turns.h"
#include "integrators/collider_frame.h"
#include "integrators/consistent_mass.h"
#include "integrators/contact_solve.h"
#include "integrators/elastic_energy.h"
#include "integrators/held_motion.h"
#include "integrators/loss_direction.h"
#include "integrators/minimizers/secant_pairs.h"
#include "integrators/rest_shape.h"
#include "integrators/row_passes.h"
#include "integrators/settings.h"
#include "integrators/solver_parts.h"
#include "integrators/state.h"
#include "integrators/step_outcome.h"
#include "integrators/step_problem.h"
#include "integrators/work.h"
#include "model/model.h"

namespace verve {

class Island {
 public:
  Island(const Model& model, const Matter& matter, std::vector<int> bodies, const std::vector<int>& active_anchors);
  /// Of islands that touch each other: they keep their factors, and their bodies their order.
  Island(const Model& model, const Matter& matter, std::vector<Island*> parts, std::vector<int> bodies,
         const std::vector<int>& active_anchors);
  Island(const Island&) = delete;  // its matrix refers to it
  Island& operator=(const Island&) = delete;
  /// Anchors to the world turned on or off; links between bodies stay as they are.
  void set_anchors(const std::vector<int>& active_anchors);

  const std::vector<int>& bodies() const { return bodies_; }
  int rows() const { return rows_; }
  int offset(int local_body) const { return offsets_[local_body]; }
  const Body& body(int local_body) const { return model_.bodies[bodies_[local_body]]; }
  const Potentials& potentials(int local_body) const { return matter_.bodies[bodies_[local_body]].potentials; }
  const RestShape& rest() const { return rest_; }
  const std::vector<int>& offsets() const { return offsets_; }
  bool anchored() const { return anchored_; }
  /// Some potential may need shorter steps than the matrix says.
  bool searches() const { return searches_; }
  std::vector<AnchorTerm>& anchor_terms() { return anchors_; }
  std::vector<int> active_anchors() const;

  /// Some body has a consistent mass matrix.
  bool consistent() const { return !consistent_.empty(); }
  const ConsistentMass& consistent_mass() const { return consistent_; }
  /// Accelerations of forces that differ from vertex to vertex, where they are not the force over the mass of each.
  void balance_forces() {
    if (consistent() && !forcing.uniform) consistent_.divide_forces(forcing);
  }

  /// What may touch in the coming step; the caller fills it in.
  Contacts contacts;
  bool has_sheets() const;
  /// All bodies are made of tetrahedra.
  bool is_solid() const;
  const std::vector<Island*>& parts() const { return parts_; }
  /// What slides, slides: takes the work of friction out of W, into the losses of each body.
  void apply_slip(std::vector<double>& losses);
  /// Ends a conserving step: its momenta and its energy, however it ended (correct_energy.cpp). Call it before anything
  /// else is done with the island.
  void correct_energy(const StepPlan& plan, const Demand& demand, StepOutcome& outcome);
  /// Work of colliders in the last step, per body.
  const std::vector<double>& collider_works() const { return colliders_.works(); }
  /// Of what touched at the last evaluation, per body.
  const std::vector<double>& contact_energies() const { return contact_energy_; }

  Motion motion;  // the caller loads it before a step and takes it after
  Forcing forcing;
  std::unique_ptr<Projection> projection;  // made when first needed

  /// The matrix of the global step, of this island alone: parts have their own.
  SystemMatrix& matrix() { return matrix_; }
  const SystemMatrix& matrix() const { return matrix_; }
  /// Weights or stiffnesses changed.
  void matrix_changed() { matrix_.weights_changed(), evaluated_ = false; }
  /// Stiffnesses of anchors to the world changed, or elements are gone.
  void anchors_changed() { matrix_.terms_changed(), evaluated_ = false; }
  void elements_removed() { anchors_changed(); }
  /// SystemMatrix::set_planes.
  void set_planes(const std::vector<LowRankTerm>& terms) {
    if (matrix_.set_planes(terms)) evaluated_ = false;
  }
  /// W at motion.x is no longer what it was: anchors moved, or another x was loaded.
  void energy_changed() { evaluated_ = false; }
  /// What it knows of earlier frames, as it was when the frame began but for what steps have changed since.
  IslandMemory memory;
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
  bool is_evaluated() const { return evaluated_; }
  /// W and its gradient at motion.x, as the batches are now.
  void evaluate_motion();
  /// W and its gradient anywhere.
  double evaluate(const std::vector<Vec4>& x, std::vector<Vec4>& gradient);
  /// Calls visit(potential, row of its first vertex).
  template <class Visit>
  void each_potential(Visit&& visit) const {
    for (size_t k = 0; k < bodies_.size(); ++k)
      for (const auto& potential : potentials(int(k))) visit(*potential, offsets_[k]);
  }
  /// H of a body as the motion is, with the W of the last evaluation, in the units of metrics.csv.
  double body_total(int local_body) const;
  double total_mass() const { return total_mass_; }
  /// 1/2 v^T M v.
  double kinetic(const std::vector<Vec4>& v, const Vec3& drift = {}) const;
  /// x = A^-1 b with the factor of this step; B^-1 b where bodies turn by themselves (body_turns.h).
  void solve(const std::vector<Vec4>& b, std::vector<Vec4>& x) const {
    factor_.solve(b.data(), x.data());
    work_.entries += entries_;
    if (!turns_.empty()) turns_.add_to(b, x);
    right_hand_sides_ += 3;
  }
  /// The same as a value.
  ContactSolve::Solve solver() const {
    return [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) { solve(b, x); };
  }
  /// Counts changes of weights, stiffnesses and anchors.
  long version() const { return matrix_.version(); }
  /// Elastic energy of each body at the last evaluation; links count half for each end.
  const std::vector<double>& body_energies() const { return elastic_energy_.of_bodies(); }
  /// Of W at the last evaluation what is least at rest: without contacts and prestress.
  double energy_of_deformation() const;

  /// What a plan of the coming step has to know of the island.
  StepInput step_input(double h, const Settings& settings) const;
  /// A step as planned: of an island that may touch something under constraints contact_step.cpp, else
  /// island_stages.cpp.
  StepOutcome step(double h, const Settings& settings, const Demand& demand, const StepPlan& plan);
  StepOutcome step(double h, const Settings& settings, const Demand& demand) {
    return step(h, settings, demand, plan_step(step_input(h, settings)));
  }
  /// Estimate of what an iteration with contacts takes, in Work::milliseconds.
  double contact_cost() const;
  /// Likewise without contacts, as in the last step.
  double iteration_cost() const;

  /// Brings a free island down to `wanted` (in the units of metrics.csv) before a step. False when its shape cannot
  /// relax that far; the motion is then as it was.
  bool lower_energy(double wanted, double h, const Settings& settings);

  /// Nothing moves but as a whole: kinetic energy about the centre of mass and W are below what the tolerance resolves.
  /// An integrator that takes the elastic force at x_n explicitly would blow round-off up to that level; backward Euler
  /// smothers it.
  bool at_rest(double h, double tolerance) const;

  /// It touches something and hardly moves: what it is deformed by is its weight, and no vibration.
  bool rests(double tolerance) const;

  /// How the last step was taken.
  const StepPlan& plan() const { return plan_; }
  /// The problem of the last step, and grad g at the x it accepted.
  const BaseStep& base() const { return base_; }
  const Quantities& target() const { return problem_.target; }  // of the last step, h as in its objective
  const std::vector<Vec4>& objective_gradient() const { return gg_; }

  /// Of all steps so far.
  Work work() const;
  void add_work(const Work& more) { work_ += more; }
  /// What the last step solved with; empty before the first.
  std::string solver_description() const { return factor_.description(); }
  long factor_nonzeros() const { return factor_.nonzeros(); }  // of the last step
  long right_hand_sides() const { return right_hand_sides_; }  // scalar solves so far
  /// The factors of this island as they were.
  void restore_factors(const std::vector<FactorRecord>& records, const Settings& settings);

 private:
  static constexpr int row_grain = 256;  // rows per chunk of the light passes

  using Factor = SystemMatrix::Factor;
  using Start = StepStart;
  using Problem = StepProblem;
  struct HeldPair {  // products of a pair with grad c_q and lin, see SecantPairs::Overlap
    Vec6 s_q, y_q;
    double s_lin, y_lin;
  };

  struct LossSums {  // products of the column of the loss, once per step
    double l_e = 0, lin_e = 0, l_Ml = 0;
    Vec3 p_e, spin_e, p_l, lever_l, p_lin, lever_lin;
    LossSums& operator+=(const LossSums& o) {
      l_e += o.l_e, lin_e += o.lin_e, l_Ml += o.l_Ml;
      p_e += o.p_e, spin_e += o.spin_e, p_l += o.p_l, lever_l += o.lever_l, p_lin += o.p_lin, lever_lin += o.lever_lin;
      return *this;
    }
  };

  /// Adds the gradient of W and returns W.
  double add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient, Precision precision);
  StepOutcome take_own_step(double h, const Settings& settings);
  StepOutcome take_stages(double h, const Settings& settings, const Demand& demand);
  StepOutcome take_stage(double h, const Settings& settings, const Demand& demand, const Integrator& integrator,
                         bool plain);
  StepOutcome contact_step(double h, const Settings& settings, const Demand& demand);
  void carry_stencils();
  double start_energy() const { return motion.energy - contacts.lift(); }
  ColliderFrame::StepEnd step_end(double h) const { return {contacts, offsets_, x_, gg_, h, base_.hh}; }
  bool find_speeds(double h);
  double largest_change() const;
  double follow_pressure(Contacts::Follow follow, const Demand& demand, StepOutcome& out);
  void bound_contact_step(double h, Precision kernel);
  void finish_contact_step(const Integrator& integrator, double h, const Demand& demand, StepOutcome& out);
  bool follows_loss(const Settings& settings, const Demand& demand, const Integrator& integrator, bool plain) const;
  void find_loss(double h, StepProducts& step);
  bool begin_lower(double h, Precision kernel);
  void iterate_loss(double h, const Settings& settings, Precision kernel, StepOutcome& out);
  void damp(StepOutcome& outcome);
  Masses masses() const;
  HeldMomenta held_momenta() const;
  RigidMotion held_motion_now() const;
  void add_velocities(const std::vector<Vec4>& dv);
  void return_momenta(StepOutcome& outcome);
  void take_energy(double level, StepOutcome& outcome);
  double without_relative_motion(const RigidMotion& held) const;
  void give_energy(double missing, double slack, bool elastic, StepOutcome& outcome);
  void restore_parts(double missing, StepOutcome& outcome);
  void divide_forces(std::vector<Vec4>& elastic, std::vector<Vec4>& push) const;
  double project_rigid(std::vector<Vec4>& v) const;
  void leave_held_momenta(const std::vector<Vec4>& d, std::vector<Vec4>& out) const;
  double go_back(double most, double h, RigidMotion& held);
  void iterate_indirect(double h, const Settings& settings, const Demand& demand, Precision kernel, StepOutcome& out);
  void measure_losses(double h_before, const Quantities& debt, StepOutcome& out);
  bool find_factor(double hh, const Settings& settings);
  MatrixTerms matrix_terms() const;
  void hold_free_momenta();
  void begin_contacts();
  void take_in_contacts(StepProducts& step, IterationProducts& iteration);
  void add_contacts(const Direction& d);
  void rest_on_contacts();
  Quantities held_part(const Quantities& c) const {
    return problem_.kept.all() ? c : problem_.kept.part(c, start_.radius);
  }
  void choose(double h, const Settings& settings);
  void find_pivot();
  void look_at_start(const Integrator& integrator, double h);
  void sum_forces(Start& start) const;
  void pose(double h, const Demand& demand);
  Precision kernel_precision(Precision wanted);
  RowArrays arrays();
  /// A pass that leaves a new x in each row, with the inertial part of gg = M(v - u)/hh + grad W (Eq. 9), and sums up
  /// P, L, kinetic energy and the power of the constant forces there.
  template <class Rows>
  void pass(Rows&& rows) {
    sums_.rows = ordered_sum<RowSums>(rows_, row_grain, sum_parts_, rows);
    work_.vertices += rows_;
    if (consistent()) sums_.rows += consistent_.after_pass(arrays());
    if (forcing.uniform) sums_.rows.force_v = dot(forcing.common, sums_.rows.p);
  }
  /// Iterations after which a step that is asked to lose energy and does not is left to lose what it will.
  int patience() const { return searches_ ? 30 : 15; }
  bool residuals_met(const Quantities& c, const StepOutcome& so_far) const;
  void solve_gradient();
  IterationProducts products();
  Vec4 coupled_velocity(int row) const { return consistent_.velocity(x_.data(), base_.hh, row); }
  double merit(double c_h, double lambda);
  double find_rest(double h);
  void carry_as_whole(double h, std::vector<Vec4>& pose);
  Quantities momenta_off(const std::vector<Vec4>& pose) const;
  void correct_momenta(std::vector<Vec4>& pose);
  RigidMotion rigid_motion_of(const Quantities& momenta) const;
  void shorten_step(double factor);
  double merit_at_start(double h, double h_target);
  void move(const Direction& d, double beta);
  double extrapolation(const StepProducts& step, const IterationProducts& products, const Direction& d) const;
  /// Makes what the method needs beside the projective step, once.
  void prepare_minimizer(const Settings& settings);
  bool solve_plain(double& length2);
  void accelerate();
  void undo_acceleration();
  HeldPair overlaps_of_pair(int pair) const;
  void take_in_pairs(StepProducts& step, IterationProducts& iteration);
  void add_pairs(const Direction& d);
  bool has_levers() const { return (problem_.momenta || problem_.swings) && !problem_.of_rest; }
  RowColumn column(const std::vector<Vec4>& wide, const std::vector<Float4>& narrow) const {
    return narrow_ ? RowColumn{nullptr, narrow.data()} : RowColumn{wide.data(), nullptr};
  }
  void solve_columns();
  void solve_rest(Factor& factor, double hh);
  bool fits_rest(const Mat3& second) const;
  void find_turns();
  void start_iterate(double h);
  StepProducts column_products();

  const Model& model_;
  const Matter& matter_;  // as the state has it now
  std::unique_ptr<OwnStep> own_step_;
  const OwnStepEntry* own_step_entry_ = nullptr;  // of own_step_
  std::unique_ptr<Minimizer> minimizer_;          // null: projective
  std::unique_ptr<Accelerator> accelerator_;
  std::unique_ptr<SecantPairs> pairs_;  // of a conserving step by L-BFGS
  struct Prepared {                     // what these were made for
    const MinimizerEntry* minimizer = nullptr;
    Conservation conservation = Conservation::none;
    std::optional<Acceleration> acceleration;  // none before the first
    int window = 0;
  } prepared_;
  HeldPair held_pairs_[SecantPairs::most];
  SecantPairs::Combination combination_[8];
  std::vector<Vec4> H0g_;
  std::vector<int> bodies_, offsets_;
  int rows_ = 0;
  bool anchored_ = false;
  std::vector<AnchorTerm> anchors_;
  double total_mass_ = 0;
  RestShape rest_;
  ConsistentMass consistent_;
  ElasticEnergy elastic_energy_;
  bool evaluated_ = false;  // W and its gradient are those at motion.x
  SystemMatrix matrix_;
  std::vector<Island*> parts_;
  SolverParts factor_;  // of this step: of the matrix, or those of the parts
  ContactSolve contact_;
  std::vector<double> speeds_;  // of bodies, see find_speeds
  ColliderFrame colliders_;
  std::vector<double> contact_energy_;
  std::vector<Vec4> elastic_, push_, elastic_before_, push_before_;  // forces, see restore_parts
  mutable Work work_;
  double entries_ = 0;  // of the factor of this step
  mutable long right_hand_sides_ = 0;

  // Work of a step, allocated once.
  StepPlan plan_;
  BaseStep base_;
  Motion step_start_;  // of a step in several stages, where something touches
  Start start_;
  Problem problem_;
  std::vector<Vec4> x_, gg_, Ag_, last_Ag_, lin_, Alin_, kr_, Akr_, arm_, end_;
  // in their place where right-hand sides and solutions are in float; lever: Akr or arm
  std::vector<Float4> Ag_narrow_, last_Ag_narrow_, lin_narrow_, Alin_narrow_, kr_narrow_, lever_narrow_;
  bool narrow_ = false;
  bool accelerated_ = false;
  struct Last {           // the iteration before
    bool counts = false;  // the next one may be accelerated by it
    Direction direction;
    IterationProducts products;
    Vec3 swing_gg;
  } last_;
  std::vector<Vec4> gH_, AH_, end_gradient_;  // of integrators that are not direct
  bool searches_ = false;                     // some potential may need shorter steps than the matrix says
  std::vector<Vec4> x_before_, rest_pose_;
  std::vector<double> inertia_parts_;
  Swing swing_;
  struct Loss {  // of this step, see find_loss
    bool on = false, resolves = false, found = false;
    double error = 0;  // |e|_A over sqrt(E_ref)
    LossColumn column;
    Vec3 swing_lin;  // Y^T lin, in place of which swing_.lin is Y^T l
  } loss_;
  BodyTurns turns_;
  Quantities relief_;  // V and omega: see StepProducts::relief
  Mat3 shape_;         // of the affine map from the rest shape to xb
  Mat3 shape_moment_;  // what it was found from
  std::vector<RowProducts> product_parts_;
  std::vector<LossSums> loss_parts_;
  std::vector<RowState> state_parts_;
  std::vector<RowColumns> column_parts_;
  IterateSums sums_;  // of the present iterate
  std::vector<RowSums> sum_parts_;
};

}  // namespace verve
