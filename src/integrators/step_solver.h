// The steps of an island by minimisation: what is asked for, the loop, and the energy after it. Owns the work vectors of
// a step, allocated once; of the island it changes the motion, and what it remembers. docs/step.md, docs/cpd.md
#pragma once

#include <memory>
#include <vector>

#include "base/parallel.h"
#include "base/ranks.h"
#include "integrators/body_speeds.h"
#include "integrators/body_turns.h"
#include "integrators/collider_frame.h"
#include "integrators/contact_solve.h"
#include "integrators/held_motion.h"
#include "integrators/island.h"
#include "integrators/loss_direction.h"
#include "integrators/minimizers/held_pairs.h"
#include "integrators/row_passes.h"
#include "integrators/settings.h"
#include "integrators/solver_parts.h"
#include "integrators/step_outcome.h"
#include "integrators/step_problem.h"
#include "integrators/work.h"

namespace verve {

class StepSolver {
 public:
  explicit StepSolver(Island& island);
  StepSolver(const StepSolver&) = delete;
  StepSolver& operator=(const StepSolver&) = delete;

  /// Nothing of the last step is left. Before each, of whatever method.
  void begin(const StepPlan& plan);
  /// A step as planned: of an island that may touch something under constraints contact_step.cpp, else step_stages.cpp.
  StepOutcome step(double h, const Settings& settings, const Demand& demand);
  /// Ends a conserving step: its momenta and its energy, however it ended (correct_energy.cpp). Call it before anything
  /// else is done with the island.
  void correct_energy(const StepPlan& plan, const Demand& demand, StepOutcome& outcome);
  /// Brings a free island down to `wanted` (in the units of metrics.csv) before a step. False when its shape cannot
  /// relax that far; the motion is then as it was.
  bool lower_energy(double wanted, double h, const Settings& settings);

  /// x = A^-1 b with the factor of this step; B^-1 b where bodies turn by themselves (body_turns.h).
  void solve(const std::vector<Vec4>& b, std::vector<Vec4>& x) const {
    factor_.solve(b.data(), x.data());
    work_.entries += entries_;
    if (!turns_.empty()) turns_.add_to(b, x);
    right_hand_sides_ += 3;
  }

  // Of the last step.

  const StepPlan& plan() const { return plan_; }
  const BaseStep& base() const { return base_; }
  const Quantities& target() const { return problem_.target; }  // h as in its objective
  /// grad g at the x it accepted.
  const std::vector<Vec4>& objective_gradient() const { return gg_; }
  /// Of colliders, per body.
  const std::vector<double>& collider_works() const { return colliders_.works(); }
  /// What it solved with; empty before the first.
  std::string description() const { return factor_.description(); }
  long factor_nonzeros() const { return factor_.nonzeros(); }
  double factor_entries() const { return entries_; }
  void forget_factors() { factor_.clear(); }

  // Of all steps so far.

  Work work() const;
  long right_hand_sides() const { return right_hand_sides_; }  // scalar solves

 private:
  static constexpr int row_grain = 256;  // rows per chunk of the light passes

  using Factor = SystemMatrix::Factor;
  using Start = StepStart;
  using Problem = StepProblem;

  struct LossSums {  // products of the column of the loss, once per step
    double l_e = 0, lin_e = 0, l_Ml = 0;
    Vec3 p_e, spin_e, p_l, lever_l, p_lin, lever_lin;
    LossSums& operator+=(const LossSums& o) {
      l_e += o.l_e, lin_e += o.lin_e, l_Ml += o.l_Ml;
      p_e += o.p_e, spin_e += o.spin_e, p_l += o.p_l, lever_l += o.lever_l, p_lin += o.p_lin, lever_lin += o.lever_lin;
      return *this;
    }
  };

  // step_stages.cpp: on which base, in how many stages
  StepOutcome take_stages(double h, const Settings& settings, const Demand& demand);
  void measure_losses(double h_before, const Quantities& debt, StepOutcome& out);

  // step_targets.cpp: what is asked for
  void choose(double h, const Settings& settings);
  void pose(double h, const Demand& demand);
  Precision kernel_precision(Precision wanted);
  bool residuals_met(const Quantities& c, const StepOutcome& so_far) const;
  Quantities held_part(const Quantities& c) const {
    return problem_.kept.all() ? c : problem_.kept.part(c, start_.radius);
  }

  // step_columns.cpp: once, before the first iteration
  bool find_factor(double hh, const Settings& settings);
  void find_pivot();
  void find_rest_columns(Factor& factor, const Island& of);
  void look_at_start(const Integrator& integrator, double h);
  bool fits_rest(const Mat3& second) const;
  void sum_forces(Start& start) const;
  bool has_levers() const { return (problem_.momenta || problem_.swings) && !problem_.of_rest; }
  void solve_columns();
  void start_iterate(double h);
  StepProducts column_products();

  // step_solver.cpp: one problem from its beginning to its end, and what all iterations are made of
  struct Stage {  // of a step
    double h;
    const Settings& settings;
    const Demand& demand;
    const Integrator& integrator;
    bool plain;                            // without H: for want of time
    HeldPairs* pairs = nullptr;            // what of it this step takes
    bool searches = false;                 // for the length of each of its steps
    Precision kernel = Precision::float64;
    double begun = 0, prepared = 0;        // of Island::work, with a time limit: where it and its iterations begin
    double h_before = 0;                   // H there, in the units of the solve
  };
  StepOutcome begin_stage(Stage& stage);
  StepOutcome take_stage(double h, const Settings& settings, const Demand& demand, const Integrator& integrator,
                         bool plain);
  /// Makes what the method needs beside the projective step, once.
  void prepare_minimizer(const Settings& settings);
  RowArrays arrays();
  /// A pass that leaves a new x in each row, with the inertial part of gg = M(v - u)/hh + grad W (Eq. 9), and sums up
  /// P, L, kinetic energy and the power of the constant forces there.
  template <class Rows>
  void pass(Rows&& rows) {
    sums_.rows = sum_over_ranks(ordered_sum<RowSums>(rows_, row_grain, sum_parts_, rows));
    work_.vertices += rows_;
    if (consistent()) sums_.rows += consistent_.after_pass(arrays());
    if (forcing.uniform) sums_.rows.force_v = dot(forcing.common, sums_.rows.p);
  }
  double add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient, Precision precision) {
    return island_.add_gradient(x, gradient, precision);
  }
  /// Iterations after which a step that is asked to lose energy and does not is left to lose what it will.
  int patience() const { return island_.searches() ? 30 : 15; }
  void solve_gradient();
  IterationProducts products();
  Vec4 coupled_velocity(int row) const { return consistent_.velocity(x_.data(), base_.hh, row); }
  double merit(double c_h, double lambda);
  double merit_at_start(double h, double h_target);
  double find_rest(double h);
  void shorten_step(double factor);
  void move(const Direction& d, double beta);
  double extrapolation(const StepProducts& step, const IterationProducts& products, const Direction& d) const;
  bool solve_plain(double& length2);
  void accelerate();
  void undo_acceleration();
  void take_in_pairs(HeldPairs& pairs, StepProducts& step, IterationProducts& iteration);
  void find_gradient();
  RowColumn column(const std::vector<Vec4>& wide, const std::vector<Float4>& narrow) const {
    return narrow_ ? RowColumn{nullptr, narrow.data()} : RowColumn{wide.data(), nullptr};
  }

  // step_gradient.cpp: without H, or with H along its gradient
  bool iterate_gradient(Stage& stage, StepProducts step_products, StepOutcome& out);

  // step_loss.cpp: along the loss
  bool follows_loss(const Settings& settings, const Demand& demand, const Integrator& integrator, bool plain) const;
  void find_loss(double h, StepProducts& step);
  double find_searched_loss(double h);
  Vec4 loss_of(int row, double h, const Mat3& rotation) const;
  bool begin_lower(double h, Precision kernel);
  void iterate_loss(double h, const Settings& settings, Precision kernel, StepOutcome& out);

  // step_indirect.cpp: integrators that do not minimise over x_{n+1}
  void iterate_indirect(double h, const Settings& settings, const Demand& demand, Precision kernel, StepOutcome& out);

  // contact_step.cpp, step_contacts.cpp: with contacts
  StepOutcome contact_step(double h, const Settings& settings, const Demand& demand);
  double start_energy() const { return motion.energy - contacts.lift(); }
  void hold_free_momenta();
  void begin_contacts();
  void find_turns();
  void rest_on_contacts();
  void carry_stencils();
  void take_in_contacts(StepProducts& step, IterationProducts& iteration);
  void add_contacts(const Direction& d);
  ContactRows contact_rows() const { return {contacts.rows(), contacts.near_rows()}; }
  ContactSolve::Solve solver() const {
    return [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) { solve(b, x); };
  }
  double follow_pressure(Contacts::Follow follow, const Demand& demand, StepOutcome& out);
  void bound_contact_step(double h, Precision kernel);
  void finish_contact_step(const Integrator& integrator, double h, const Demand& demand, StepOutcome& out);
  ColliderFrame::StepEnd step_end(double h) const {
    return {contacts, island_.offsets(), x_, gg_, h, base_.hh, kept_way_};
  }

  // step_carry.cpp: carried along rigidly
  void carry_as_whole(double h, std::vector<Vec4>& pose);
  Quantities momenta_off(const std::vector<Vec4>& pose) const;
  void correct_momenta(std::vector<Vec4>& pose);
  RigidMotion rigid_motion_of(const Quantities& momenta) const;

  // correct_energy.cpp
  void damp(StepOutcome& outcome);
  HeldMomenta held_momenta() const;
  RigidMotion held_motion_now() const;
  void add_velocities(const std::vector<Vec4>& dv);
  void return_momenta(StepOutcome& outcome);
  void take_energy(double level, StepOutcome& outcome);
  double without_relative_motion(const RigidMotion& held) const;
  void give_energy(double missing, double slack, bool elastic, StepOutcome& outcome);
  void restore_parts(double missing, StepOutcome& outcome);
  void restore_along_loss(double missing, double slack, StepOutcome& outcome);
  void damp_vibration(double keep, StepOutcome& outcome);
  void divide_forces(std::vector<Vec4>& elastic, std::vector<Vec4>& push) const;
  double project_rigid(std::vector<Vec4>& v) const;
  void leave_held_momenta(const std::vector<Vec4>& d, std::vector<Vec4>& out) const;
  double go_back(double most, double h, RigidMotion& held);

  // The island, by the names that formulas use.
  Island& island_;
  Motion& motion;
  const Forcing& forcing;
  Contacts& contacts;
  IslandMemory& memory;
  ConsistentMass& consistent_;
  const int rows_;
  const double total_mass_;
  bool consistent() const { return !consistent_.empty(); }
  bool anchored() const { return island_.anchored(); }
  Masses masses() const { return island_.masses(); }
  double kinetic(const std::vector<Vec4>& v) const { return island_.kinetic(v); }

  // The method.
  std::unique_ptr<Minimizer> minimizer_;  // null: projective
  std::unique_ptr<Accelerator> accelerator_;
  std::unique_ptr<HeldPairs> pairs_;  // of a conserving step by L-BFGS
  struct Prepared {                   // what these were made for
    const MinimizerEntry* minimizer = nullptr;
    Conservation conservation = Conservation::none;
    std::optional<Acceleration> acceleration;  // none before the first
    int window = 0;
  } prepared_;

  // The problem of this step.
  StepPlan plan_;
  BaseStep base_;
  Start start_;
  Problem problem_;
  Motion step_start_;  // of a step in several stages, where something touches

  // What it is solved with.
  SolverParts factor_;  // of the matrix, or those of the parts
  double entries_ = 0;  // of these
  BodyTurns turns_;
  ContactSolve contact_;
  ColliderFrame colliders_;
  double kept_way_ = 1;  // ColliderFrame::StepEnd::kept
  BodySpeeds speeds_;

  // The columns of its constraints.
  std::vector<Vec4> lin_, Alin_, kr_, Akr_, arm_;
  // in their place where right-hand sides and solutions are in float; lever: Akr or arm
  std::vector<Float4> lin_narrow_, Alin_narrow_, kr_narrow_, lever_narrow_;
  bool narrow_ = false;
  Swing swing_;
  Quantities relief_;  // V and omega: see StepProducts::relief
  Mat3 shape_;         // of the affine map from the rest shape to xb
  Mat3 shape_moment_;  // what it was found from
  struct Loss {        // of this step, see find_loss
    bool on = false, resolves = false, found = false;
    double error = 0;  // |e|_A over sqrt(E_ref)
    LossColumn column;
    Vec3 swing_lin;  // Y^T lin, in place of which swing_.lin is Y^T l
  } loss_;

  // The iterate.
  std::vector<Vec4> x_, gg_, Ag_, last_Ag_, end_, x_before_, rest_pose_;
  std::vector<Float4> Ag_narrow_, last_Ag_narrow_;
  std::vector<Vec4> gH_, AH_, end_gradient_;  // of integrators that are not direct
  IterateSums sums_;
  bool accelerated_ = false;
  struct Last {           // the iteration before
    bool counts = false;  // the next one may be accelerated by it
    Direction direction;
    IterationProducts products;
    Vec3 swing_gg;
  } last_;
  std::vector<Vec4> elastic_, push_, elastic_before_, push_before_;  // forces, see restore_parts

  // Sums by chunks of rows.
  std::vector<double> inertia_parts_;
  std::vector<RowProducts> product_parts_;
  std::vector<LossSums> loss_parts_;
  std::vector<RowState> state_parts_;
  std::vector<RowColumns> column_parts_;
  std::vector<RowSums> sum_parts_;

  mutable Work work_;
  mutable long right_hand_sides_ = 0;
};

}  // namespace verve
