// The end of a conserving step: its momenta, then its energy, in closed form (energy_correction.h). No step gains,
// however it was cut short.
#include <algorithm>
#include <cmath>

#include "base/ranks.h"
#include "integrators/energy_correction.h"
#include "integrators/step_solver.h"

namespace verve {

namespace {

/// Of E_ref: what may be missing or left of H where the solve has looked for it, whatever the tolerance [1].
constexpr double most_slack = 1e-3;
/// Of E_ref: more that a solve which did not converge has not found is owed; the motion would have it elsewhere than it
/// belongs [1].
constexpr double little = 0.01;
/// Evaluations on the way back: the pose is known to 1/64 of the way, the rest of the energy is kinetic or owed [1].
constexpr int most_trials = 6;
/// Scaled residuals of P and L that round-off leaves [1].
constexpr double most_momentum_error = 1e-13;
/// Of the kinetic energy: what less is missing of H is not known to be [1].
constexpr double round_off = 1e-12;
/// Factor on the velocities relative to the held motion, in one step [1]: at turning points nearly nothing moves, and
/// what is missing would throw it about. With contacts a step that has brought a body to a stop is the rule (hard balls
/// of 1e6 to 1e9 Pa, decision 003).
constexpr double most_growth = 1.5, most_growth_with_contacts = 3;

}  // namespace

/// Those of the last step: all of a free island's, those about a pivot, those that no contact resists, or none.
HeldMomenta StepSolver::held_momenta() const {
  HeldMomenta out;
  if (!problem_.momenta) return out;
  out.count = problem_.kept.count, out.basis = problem_.kept.basis;
  if (problem_.pivots) {
    out.pivot = problem_.pivot;
  } else {  // the basis is of P and L/R
    for (int k = 0; k < out.count; ++k)
      for (int i = 3; i < 6; ++i) out.basis[k][i] *= start_.radius > 0 ? 1 / start_.radius : 0;
  }
  return out;
}

RigidMotion StepSolver::held_motion_now() const {
  return verve::held_motion(masses(), held_momenta(), motion.x.data(), motion.v.data());
}

/// Changes of velocity, and of the rate that goes with it.
void StepSolver::add_velocities(const std::vector<Vec4>& dv) {
  for (int i = 0; i < rows_; ++i) {
    motion.v[i] += dv[i];
    if (motion.history) motion.p[i] += dv[i];
  }
}

void StepSolver::correct_energy(const StepPlan& plan, const Demand& demand, StepOutcome& out) {
  if (plan.correction == EnergyCorrection::none) return;
  const bool impact = plan.correction == EnergyCorrection::restore_parts;
  const bool sought = !impact && plan.correction != EnergyCorrection::restore;
  if (sought) return_momenta(out);
  const double residual = out.residual.h, kinetic_before = colliders_.moves() ? kinetic(motion.v) : 0;
  colliders_.enter(motion.x, motion.v);
  const double owed = demand.set_energy ? 0 : demand.debt.h;
  const double now = out.target_total + out.residual.h;
  // (what an impact takes from the rigid motion comes back: restitution takes its part where the bodies part)
  double level = energy_level(out.target_total, out.residual.h, owed, impact ? 1 : plan.returned);
  // what a dial asks a step to lose at once, a solve that looks for it may not be able to
  if (sought && demand.lowers() && level < now) level = std::min(now, std::max(out.target_total, out.before));
  const double slack = sought ? std::min(problem_.tolerance, most_slack) * out.e_ref : 0;
  if (now > level + slack) {
    take_energy(level + (colliders_.moves() ? kinetic(motion.v) - kinetic_before : 0), out);  // as seen from the frame
    out.rose = out.target_total + out.residual.h > out.before + slack;
  } else if (now < level - slack) {
    const bool found = out.status == StepOutcome::Status::converged || out.error_h <= little;
    const bool gives = plan.correction == EnergyCorrection::after_solve ? found && !out.after_failure : !sought;
    if (plan.correction == EnergyCorrection::along_loss) {
      restore_along_loss(level - now, slack, out);
    } else if (gives) {
      impact ? restore_parts(level - now, out) : give_energy(level - now, slack, sought, out);
    }
  }
  if (colliders_.moves()) {
    const double work = colliders_.leave(masses(), contacts, island_.offsets(), motion.x, motion.v);
    out.target_total += work, out.residual.h = residual + kinetic(motion.v) - kinetic_before - work;
  }
  if (impact && demand.keep < 1 && !demand.set_energy) damp_vibration(demand.keep, out);
  out.error_h = std::abs(out.residual.h) / out.e_ref;
}

/// What a step that ended early has left of P and L goes by a rigid change of velocity, and x to where P leads its centre
/// of mass: elsewhere L about any fixed point would be another.
void StepSolver::return_momenta(StepOutcome& out) {
  if (!problem_.momenta || problem_.pivots || anchored()) return;
  if (std::max(out.error_p, out.error_l) <= most_momentum_error) return;
  const RigidMotion change =
      rigid_motion(masses(), held_momenta(), motion.x.data(), out.residual.p * -1.0, out.residual.l * -1.0);
  const double before = kinetic(motion.v);
  const Vec4 shift(change.velocity * base_.hh);
  double work = 0;
  for (int i = 0; i < rows_; ++i) lin_[i] = change.at(motion.x[i]), work += dot(forcing.force[i], shift);
  work = sum_over_ranks(work);
  for (Vec4& x : motion.x) x += shift;
  add_velocities(lin_);
  out.residual = {{}, {}, out.residual.h + kinetic(motion.v) - before - work};
  out.error_p = out.error_l = 0, out.error_h = std::abs(out.residual.h) / out.e_ref;
}

/// Down to `level`, from the motion relative to the held one; where that has less the pose goes back first. (A step with
/// contacts has gone back already, as far as it has gained by itself: bound_contact_step. Its pose need not pay for
/// earlier ones.) What is to be left is taken from the level, not from what there is: a solve that was cut short may have
/// any number of digits too much.
void StepSolver::take_energy(double level, StepOutcome& out) {
  RigidMotion held = held_motion_now();
  double rest = without_relative_motion(held);
  if (rest > level && contacts.empty()) rest = go_back(level, out.length, held);
  const double relative = relative_motion(masses(), held, motion.x.data(), motion.v.data(), lin_.data());
  const double left = scale_relative_to(masses(), lin_.data(), relative, std::max(0.0, level - rest));
  out.residual.h = rest + left - out.target_total;
  // in the air the rates are those of another motion (t_pipe: 25 iterations at most where they begin anew, else 33)
  motion.history = motion.history && !contacts.empty();
  add_velocities(lin_);
}

/// H of the held motion and the pose alone, in the units of metrics.csv.
double StepSolver::without_relative_motion(const RigidMotion& held) const {
  double sum = once(held.kinetic + motion.energy);
  for (int i = 0; i < rows_; ++i) sum -= dot(forcing.force[i], motion.x[i]);
  return sum_over_ranks(sum);
}

/// To the motion relative to the held one as it is, and what that would have to grow too much for the way that forces
/// drive the island from here: at a turning point of a vibration elastic ones, and where contacts have brought it to a
/// stop theirs.
void StepSolver::give_energy(double missing, double slack, bool elastic, StepOutcome& out) {
  // of a body that flies without moving in itself, H is round-off of its flight
  if (elastic && !(missing > round_off * kinetic(motion.v))) return;
  const RigidMotion held = held_motion_now();
  const double relative = relative_motion(masses(), held, motion.x.data(), motion.v.data(), lin_.data());
  double given = scale_relative(masses(), lin_.data(), relative, missing,
                                elastic ? most_growth : most_growth_with_contacts);
  if (given < missing - slack && (elastic || contacts.touching())) {
    divide_forces(elastic_, push_);
    for (int i = 0; i < rows_; ++i) gg_[i] = elastic ? motion.gradient[i] * -1.0 : push_[i];
    solve(gg_, Ag_);
    leave_held_momenta(Ag_, end_);
    given += push_along(masses(), motion.v.data(), lin_.data(), end_.data(), missing - given);
  }
  add_velocities(lin_);
  out.residual.h += given;
}

/// In an impact H comes back to what the step has lost it from. What forces have changed by in it, dF, is what
/// a step of BDF2 does not resolve; with d = A^-1 dF it loses 1/2 dF.d of that: 1/2 |d|^2_M/hh^2 of motion, and the
/// potential of waves that are too short for the step. The rigid part of that motion, of each body, is what a contact
/// has taken within the step: it goes along the push of the contacts (a hard ball bounces off), for restitution to take
/// its part where they part. The rest of it are waves in the bodies, and goes along A^-1 of the elastic forces' part of
/// dF, which moves no centre of mass: of these the square of the restitution comes back. What is too short for the step
/// would come back as long waves, and throw a soft body higher than it came from: it is booked, but where nothing may be
/// lost. docs/decisions/012
void StepSolver::restore_parts(double missing, StepOutcome& out) {
  divide_forces(elastic_, push_);
  for (int i = 0; i < rows_; ++i) gg_[i] = elastic_[i] - elastic_before_[i] + (push_[i] - push_before_[i]);
  solve(gg_, Ag_);
  double lost = 0;
  for (int i = 0; i < rows_; ++i) lost += 0.5 * dot(gg_[i], Ag_[i]);
  const double square = base_.hh * base_.hh;
  const double moving = lost > 0 ? std::min(1.0, kinetic(Ag_) / (square * lost)) : 0;
  const double rigid = lost > 0 ? std::min(moving, project_rigid(Ag_) / (square * lost)) : 0;

  std::fill(lin_.begin(), lin_.end(), Vec4());
  double given = 0;
  const auto give_along = [&](double energy) {  // end_, in the sense in which it takes the lesser change
    const double along =
        mass_product(masses(), motion.v.data(), end_.data()) + mass_product(masses(), lin_.data(), end_.data());
    for (int i = 0; along < 0 && i < rows_; ++i) end_[i] = end_[i] * -1.0;
    given += push_along(masses(), motion.v.data(), lin_.data(), end_.data(), energy);
  };
  for (int i = 0; i < rows_; ++i) Ag_[i] = forcing.mass[i] > 0 ? push_[i] * (1 / forcing.mass[i]) : Vec4();
  project_rigid(Ag_);
  leave_held_momenta(Ag_, end_);
  give_along(rigid * missing);
  for (int i = 0; i < rows_; ++i) gg_[i] = elastic_[i] - elastic_before_[i];
  solve(gg_, Ag_);
  leave_held_momenta(Ag_, end_);
  const double rest = missing - given;
  give_along(plan_.returned < 1 ? plan_.returned * std::min(rest, (moving - rigid) * missing) : rest);
  add_velocities(lin_);
  out.residual.h += given;
}

/// H of a searched step comes back along e, what it has lost (step_loss.cpp), as velocities: v <- v + mu e/hh, in the
/// sense in which it takes the lesser change, |mu| <= most_mu. What is left goes as where a solve has missed it.
void StepSolver::restore_along_loss(double missing, double slack, StepOutcome& out) {
  leave_held_momenta(Alin_, end_);
  double along = mass_product(masses(), motion.v.data(), end_.data()) / base_.hh;
  const double scale = (along < 0 ? -1 : 1) / base_.hh;
  for (int i = 0; i < rows_; ++i) end_[i] = end_[i] * scale, lin_[i] = {};
  along = std::abs(along);
  const double most = most_mu * (along + most_mu * kinetic(end_));
  const double given = push_along(masses(), motion.v.data(), lin_.data(), end_.data(), std::min(missing, most));
  add_velocities(lin_);
  out.residual.h += given;
  if (missing - given > slack) give_energy(missing - given, slack, true, out);
}

/// What the half-life takes in an impact goes from the motion of each body about its rigid one, as it does in the air:
/// of a body that falls or bounces it would be taken from its flight.
void StepSolver::damp_vibration(double keep, StepOutcome& out) {
  const double before = kinetic(motion.v);
  lin_ = motion.v;
  project_rigid(lin_);
  for (int i = 0; i < rows_; ++i) lin_[i] = (motion.v[i] - lin_[i]) * (keep - 1);
  add_velocities(lin_);
  out.target_total -= before - kinetic(motion.v);
}

/// Elastic forces, those of anchors with them, and the push of contacts, without their friction, at the x of the last
/// evaluation.
void StepSolver::divide_forces(std::vector<Vec4>& elastic, std::vector<Vec4>& push) const {
  elastic.resize(rows_), push.assign(rows_, Vec4());
  for (int i = 0; i < rows_; ++i) elastic[i] = motion.gradient[i] * -1.0;
  for (const ContactRow& row : contacts.rows())
    for (int i = 0; i < row.count; ++i) {
      const Vec4 force(row.slope(i) * std::clamp(row.force, row.low, row.high));
      elastic[row.rows[i]] -= force;
      if (!row.friction) push[row.rows[i]] += force;
    }
}

/// v -> of each body the rigid motion with its momenta. Returns the kinetic energy of these.
double StepSolver::project_rigid(std::vector<Vec4>& v) const {
  double energy = 0;
  HeldMomenta all;
  all.count = 6;
  for (size_t k = 0; k < island_.bodies().size(); ++k) {
    const Body& body = island_.body(int(k));
    const int first = island_.offsets()[k];
    const Masses masses{body.mass.data(), body.count, body.total_mass, &body.coupling};
    const RigidMotion rigid = verve::held_motion(masses, all, motion.x.data() + first, v.data() + first);
    for (int i = first; i < first + body.count; ++i) v[i] = rigid.at(motion.x[i]);
    energy += rigid.kinetic;
  }
  return energy;
}

/// d without what would change the held momenta.
void StepSolver::leave_held_momenta(const std::vector<Vec4>& d, std::vector<Vec4>& out) const {
  const RigidMotion held = verve::held_motion(masses(), held_momenta(), motion.x.data(), d.data());
  relative_motion(masses(), held, motion.x.data(), d.data(), out.data());
}

/// To a pose between x_n, carried along by the held motion, and x, at which that motion and the potential have no more
/// than `most`; with the velocities as they are, but for the momenta. The carried x_n has the potential of x_n. Returns
/// what they have there.
double StepSolver::go_back(double most, double h, RigidMotion& held) {
  const Vec3 momentum = held.momentum, spin = held.spin;
  std::vector<Vec4>& start = problem_.direct ? x_ : rest_pose_;  // x_n
  if (problem_.momenta) {
    Vec3 from = problem_.pivots ? problem_.pivot : Vec3{};
    if (!problem_.pivots) {
      for (int i = 0; i < rows_; ++i) from += start[i].xyz() * (forcing.mass[i] / total_mass_);
      from = sum_over_ranks(from);
    }
    const Mat3 rotation = carried_turn(masses(), held_momenta(), start.data(), held, h);
    for (Vec4& x : start) x = Vec4(held.center + rotation * (x.xyz() - from));
  }
  end_ = motion.x;
  double low = 0, high = 1, at = 1, rest = 0;
  const auto go_to = [&](double t) {
    at = t;
    for (int i = 0; i < rows_; ++i) motion.x[i] = start[i] + (end_[i] - start[i]) * t;
    island_.evaluate_motion();
    held = rigid_motion(masses(), held_momenta(), motion.x.data(), momentum, spin);
    rest = without_relative_motion(held);
    return rest <= most;
  };
  for (int n = 0; n < most_trials; ++n) {
    const double middle = 0.5 * (low + high);
    (go_to(middle) ? low : high) = middle;
  }
  if (at != low) go_to(low);
  // what this pose makes of the velocities' momenta, put right
  const RigidMotion has = held_motion_now();
  const RigidMotion more =
      rigid_motion(masses(), held_momenta(), motion.x.data(), momentum - has.momentum, spin - has.spin);
  for (int i = 0; i < rows_; ++i) motion.v[i] += more.at(motion.x[i]);
  return rest;
}

/// Eq. 24 of a step along the loss: what the half-life takes goes from all of the motion about the rigid one alike, as
/// damping in proportion to the mass does. Where that is less, the island has come to its least energy.
void StepSolver::damp(StepOutcome& out) {
  if (!(problem_.damped > 0)) return;
  out.target_total -= problem_.damped, out.residual.h += problem_.damped;
  if (out.residual.h > 0) {
    const double relative =
        relative_motion(masses(), held_motion_now(), motion.x.data(), motion.v.data(), lin_.data());
    out.residual.h += scale_relative(masses(), lin_.data(), relative, -out.residual.h, 1);
    for (int i = 0; i < rows_; ++i) motion.v[i] += lin_[i], motion.p[i] += lin_[i];
    // At a turning point of its vibration the next step takes what this one could not. Where more than one step is
    // behind, the island is at its least energy, and that is not owed.
    out.stationary = out.residual.h > problem_.damping;
  }
  out.error_h = std::abs(out.residual.h) / out.e_ref;
}

}  // namespace verve
