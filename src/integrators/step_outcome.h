// What a step is asked for by the ledger, and what it says of itself.
#pragma once

#include <string>

#include "integrators/conservation.h"
#include "verve/simulation.h"

namespace verve {

/// Of E_ref: a step in the air that a budget cut short, and that ends so far from H, is taken again by backward Euler.
inline constexpr double most_astray = 0.05;

/// Dials and debts of an island for one step, summed over its bodies.
struct Demand {
  Quantities debt;          // what earlier steps owe
  bool set_energy = false;  // aim for `energy` (in the units of metrics.csv) whatever the ledger says
  double energy = 0;
  double keep = 1;  // share of H - K that the half-life leaves in this step
  bool lowers() const { return set_energy || keep < 1; }
};

struct StepOutcome {
  enum class Status {
    converged,
    stopped,
    missed_contact,
    not_finite,
    not_factorizable,
    infeasible
  } status = Status::converged;
  std::string message;  // what the method knows of why it failed
  int iterations = 0;
  double lambda = 0, alpha = 0;
  Vec3 lambda_p, lambda_l;
  bool at_bound = false, stationary = false;     // see Direction
  bool stalled = false;                          // no length of step was short enough, far from the solution
  double step_length = 0;                        // |dx|_A / sqrt(E_ref) of the last iteration
  double error_p = 0, error_l = 0, error_h = 0;  // scaled residuals
  double length = 0;                             // h of the step or of its last stage
  double e_ref = 0;
  double rigid_energy = 0;       // K
  double target_total = 0;       // in the units of metrics.csv
  double before = 0;             // H where the step began, likewise
  Quantities residual;           // unscaled
  double heat = 0;               // of H, what the step could not resolve and does not owe
  bool unresolved = false;  // its forces at x_n are too stiff for it to begin where they lead: StepSolver::begin_lower
  double loss = 0;               // |e|_A over sqrt(E_ref) of a step along its loss: how wrong it is where its energy is
  bool impossible = false;       // H* below K
  bool rose = false;             // H is above what it was before the step
  bool energy_released = false;  // of H, where something touches
  bool cut = false;              // it ended, or released H, for want of time
  bool after_failure = false;    // StepPlan::after_failure
  bool asleep = false;           // the motion is that before the step, and at rest (World::put_to_sleep)
  StepTimings timings;

  /// The multipliers of its last iteration.
  void take(const Direction& d) {
    lambda = d.lambda;
    lambda_p = Vec3{d.lambda_q[0], d.lambda_q[1], d.lambda_q[2]} / d.scale;
    lambda_l = Vec3{d.lambda_q[3], d.lambda_q[4], d.lambda_q[5]} / d.scale;
  }

  /// The energy is as low as the step could make it and still above its target: a spinning body, stretched by its own
  /// rotation, cannot fall to K.
  bool at_least_energy() const { return residual.h > 0 && !rose && (stationary || (at_bound && lambda > 0)); }
  bool moved() const { return status == Status::converged || status == Status::stopped; }
};

}  // namespace verve
