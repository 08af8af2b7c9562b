#include "integrators/plan.h"

#include <algorithm>
#include <cmath>

namespace verve {

using namespace planning;

namespace {

/// The least power of two with `phase` over it at most `per_step`.
int substeps_for(double phase, double per_step) {
  int n = 1;
  while (n < most_for_vibration && phase / n > per_step) n *= 2;
  return n;
}

/// Averages over frames, and the phase of the deformation that they say.
double average(const PlanInput& in, SubstepControl& control) {
  if (!in.deformation) return 0;
  control.energy = forgetting * control.energy + in.deformation->energy;
  control.distance = forgetting * control.distance + in.deformation->distance;
  return control.distance > 0 ? in.h * std::sqrt(control.energy / control.distance) : 0;
}

int affordable(const PlanInput& in, int iterations) {
  const double each = std::max(in.detection_cost + iterations * in.iteration_cost, 1e-9);
  return int(std::min(in.time_left / each, double(most_substeps)));
}

int free_substeps(const PlanInput& in, double phase, SubstepControl& control) {
  const double per_step = in.searched ? searched_phase : free_phase;
  const int last = in.control.last;
  int by_phase = substeps_for(phase, per_step);
  if (by_phase < last && phase > hysteresis * per_step * last / 2) by_phase = std::min(last, most_for_vibration);
  const auto by = [&](double measured, double most, double easy) {
    return measured >= most ? 2 * last : measured >= easy ? last : last / 2;
  };
  const int by_solves = by(in.control.iterations, in.solid ? hard_for_solids : hard_solve, easy_solve);
  const bool by_error = in.searched ? phase > 0 : !in.solid;
  const int by_loss = by_error ? by(in.control.loss, most_loss, ease * most_loss) : 1;
  const int by_start = !in.solid && in.control.unresolved ? 2 * last : 1;
  int n = std::max({by_phase, by_solves, by_loss, by_start, 1});
  control.easy = n < last ? in.control.easy + 1 : 0;
  if (!in.solid && n < last && control.easy < easy_frames) n = last;
  int most = 1;
  while (2 * most <= affordable(in, worthwhile)) most *= 2;
  return std::min(n, most);
}

int contact_substeps(const PlanInput& in, double phase) {
  const int passing = std::max(1, in.passing);
  const int n = std::max({passing, substeps_for(in.impact_phase, contact_phase), substeps_for(phase, contact_phase),
                          substeps_for(in.crushing, most_crushing)});
  if (!std::isfinite(in.time_left)) return n;
  return std::clamp(affordable(in, worthwhile + preparation), (passing + passing_reserve - 1) / passing_reserve, n);
}

}  // namespace

bool plans_by_phase(const PlanInput& in) {
  if (in.fixed_substeps > 0) return false;
  return !in.contacts || !(in.sheets || in.settling);
}

Plan plan_frame(const PlanInput& in) {
  Plan plan;
  plan.control = in.control;
  if (in.fixed_substeps > 0) {
    // what is fixed is meant, but methods that hold nothing have no other way to say that one is enough
    plan.substeps = in.contacts && !in.conserves ? std::max(in.fixed_substeps, in.passing) : in.fixed_substeps;
    return plan;
  }
  const double phase = average(in, plan.control);
  plan.substeps = in.contacts ? contact_substeps(in, phase) : free_substeps(in, phase, plan.control);
  plan.control.last = plan.substeps;
  if (in.contacts) plan.control.easy = 0;
  return plan;
}

StepPlan plan_step(const StepInput& in) {
  StepPlan plan;
  plan.mode = in.driven ? Mode::driven : in.contacts ? Mode::contact : in.anchored ? Mode::anchored : Mode::free;
  const ModeRow& row = row_of(plan.mode);
  plan.base = row.base, plan.holds = row.momenta, plan.after_failure = in.after_failure;
  plan.substeps = in.substeps, plan.time_limit = in.time_limit;
  const bool in_the_air = plan.mode == Mode::free || plan.mode == Mode::anchored;
  if (in_the_air && !in.solid) plan.base = Base::sheets;
  if (!in.conserves) return plan;
  plan.correction = plan.mode == Mode::contact && in.impact ? EnergyCorrection::restore_parts : row.correction;
  plan.returned = in.contacts ? in.restitution * in.restitution : 1;
  // Rates of other members would lead a step of BDF2 astray, and L with it; vibrations of what settles are left to decay;
  // and at rest an integrator that takes the elastic force at x_n would blow round-off up to the tolerance.
  const bool falls_back = plan.mode == Mode::contact ? in.other_members || in.settling || !in.plain_contact_base
                                                     : in_the_air && in.at_rest;
  if (falls_back || in.after_failure) plan.base = Base::fallback;
  if (in_the_air && (in.beside_contact || in.after_failure)) plan.correction = EnergyCorrection::bound;
  if (in_the_air && in.searched) {
    plan.plain = true;
    plan.iterations = plain_iterations(in.substeps);
    if (plan.correction == EnergyCorrection::after_solve) plan.correction = EnergyCorrection::along_loss;
    // forces that would lead further than all of the energy could are not to be taken from x_n, nor rates gone on with
    if (plan.base != Base::fallback && in.explicit_share > most_explicit)
      plan.base = in.explicit_share_of_contact_base > most_explicit ? Base::fallback : Base::contact;
  }
  return plan;
}

}  // namespace verve
