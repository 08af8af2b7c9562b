// A step of an island: on which base, in how many stages, and what it does where its time was too short.
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrators/step_solver.h"

namespace verve {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Steps in the air that do not look for H once one was cut short far from it.
constexpr int plain_stay = 8;

}  // namespace

void StepSolver::begin(const StepPlan& plan) {
  plan_ = plan;
  colliders_.begin(island_.bodies().size());
}

StepOutcome StepSolver::step(double h, const Settings& settings, const Demand& demand) {
  prepare_minimizer(settings);
  StepOutcome out = settings.conserves() && !contacts.empty() ? contact_step(h, settings, demand)
                                                              : take_stages(h, settings, demand);
  if (!settings.conserves() && out.moved()) colliders_.add_plain_work(contacts);
  out.after_failure = plan_.after_failure;
  return out;
}

StepOutcome StepSolver::take_stages(double h, const Settings& settings, const Demand& demand) {
  double& limit = plan_.time_limit;
  const bool limited = limit < infinity && settings.conservation == Conservation::cpd;
  if (memory.plain_steps > 0) --memory.plain_steps;
  const bool plain = limited && memory.plain_steps > 0 && contacts.empty();
  const Integrator& integrator = settings.base(plain ? Base::fallback : plan_.base);
  StepOutcome out;
  Demand asked = demand;
  asked.keep = std::pow(demand.keep, 1.0 / integrator.stages());
  const bool staged = limited || (integrator.stages() > 1 && !contacts.empty());
  if (staged) step_start_ = motion;
  bool whole = false;  // taken at once
  const double until = limit < infinity ? island_.work().milliseconds() + limit : infinity;
  const auto share_out = [&](int stages) {
    if (until < infinity) limit = std::max(0.0, until - island_.work().milliseconds()) / stages;
  };
  for (int stage = 0; stage < integrator.stages() && !whole; ++stage) {
    base_.stage = stage;
    StepOutcome before = out;
    share_out(integrator.stages() - stage);
    const double factors = work_.factors;
    out = take_stage(h * integrator.share(stage), settings, asked, integrator, plain || plan_.plain);
    // What flies on a base that needs more than it was given: backward Euler may end anywhere. (But not for want of the
    // time that a factor took: that would be another one.)
    const double missed = work_.factors > factors ? out.residual.h / out.e_ref : out.error_h;
    if (limited && !plain && !plan_.plain && contacts.empty() && out.cut && missed > most_astray) {
      memory.plain_steps = plain_stay;
      before.iterations += out.iterations, before.timings += out.timings;
      if (staged) motion = step_start_, asked = demand;
      whole = true;
      share_out(1);
      out = take_stage(h, settings, asked, settings.base(Base::fallback), true);
    }
    out.iterations += before.iterations;
    out.timings += before.timings;
    out.cut = out.cut || (memory.plain_steps > 0 && limited && contacts.empty());
    if (out.status == StepOutcome::Status::not_finite || out.status == StepOutcome::Status::not_factorizable) break;
    asked.debt = {out.residual.p * -1.0, out.residual.l * -1.0, -out.residual.h};
  }
  return out;
}

/// How far off P and L are, and where the step does not end at its minimum H, although nothing was asked for.
/// `h_before` is the total energy at t_n, `debt` what earlier stages of the step have left over.
void StepSolver::measure_losses(double h_before, const Quantities& debt, StepOutcome& out) {
  const Problem& p = problem_;
  if (!p.direct) {
    double now = once(motion.energy + kinetic(motion.v));
    for (int i = 0; i < rows_; ++i) now -= dot(forcing.force[i], motion.x[i]);
    now = sum_over_ranks(now);
    out.residual.h = now - h_before;
    out.error_h = std::abs(out.residual.h) / p.e_ref;
  }
  if (anchored() || p.grounded) return;
  Vec3 momentum{}, center{}, l{};
  for (int i = 0; i < rows_; ++i)
    momentum += motion.v[i].xyz() * forcing.mass[i], center += motion.x[i].xyz() * forcing.mass[i];
  momentum = sum_over_ranks(momentum), center = sum_over_ranks(center) / total_mass_;
  for (int i = 0; i < rows_; ++i) l += cross(motion.x[i].xyz() - center, motion.v[i].xyz()) * forcing.mass[i];
  l = sum_over_ranks(l);
  if (consistent()) l += consistent_.coupling.spin(motion.x.data(), motion.v.data());
  out.residual.p = momentum - (start_.momentum + start_.force * out.length + debt.p);
  out.residual.l = l - (start_.spin + start_.torque * out.length + debt.l);
  out.error_p = norm(out.residual.p) / p.scale_p;
  out.error_l = start_.radius > 0 ? norm(out.residual.l) / (start_.radius * p.scale_p) : 0;
}

}  // namespace verve
