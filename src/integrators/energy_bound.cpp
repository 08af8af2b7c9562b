// No step gains, however it was cut short: one closed form at its end. What is above the target is taken from the
// motion about the rigid one, by a common factor; where that is not enough, the pose goes back towards x_n carried
// along rigidly, which has the potential of x_n, until it is. P and L stay as the step left them.
#include <algorithm>
#include <cmath>

#include "integrators/island.h"
#include "integrators/kicks.h"
#include "integrators/turn.h"

namespace verve {

namespace {

/// Of E_ref: what may be left above the target, whatever the tolerance.
constexpr double most_above = 1e-3;
/// Evaluations on the way back: the pose is known to 1/16 of the way, the rest of the energy is kinetic or owed.
constexpr int most_trials = 6;
/// Scaled residuals of P and L that round-off leaves.
constexpr double most_momentum_error = 1e-13;
/// Of the kinetic energy: what less is missing of H is not known to be.
constexpr double round_off = 1e-12;
/// Of the velocities about the rigid motion, in one step.
constexpr double most_growth = 1.5;

}  // namespace

/// The rigid motion that has the momenta which are held: all of a free island's, those about a pivot, none of an island
/// with other anchors.
struct Island::RigidMotion {
  Vec3 momentum, spin;  // of which the spin about the centre of mass, or the pivot
  Vec3 center, velocity, turn;
  double kinetic = 0;
  Vec4 at(const Vec4& x) const { return Vec4(velocity + cross(turn, x.xyz() - center)); }
};

Island::RigidMotion Island::rigid_motion(std::vector<Vec4>& x, const Vec3& momentum, const Vec3& spin) {
  RigidMotion out{momentum, spin, {}, {}, {}, 0};
  if (problem_.pivots) {
    out.center = problem_.pivot;
    Mat3 second{};
    for (int i = 0; i < rows_; ++i) {
      const Vec3 r = x[i].xyz() - out.center;
      second = second + outer(r, r * forcing.mass[i]);
    }
    const Mat3 inertia = Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
    if (problem_.kept == 1) {
      const Vec3 axis{problem_.basis[0][3], problem_.basis[0][4], problem_.basis[0][5]};
      const double about = dot(axis, inertia * axis);
      out.turn = about > 0 ? axis * (dot(axis, spin) / about) : Vec3{};
    } else {
      out.turn = pseudo_inverse(inertia, 1e-10) * spin;
    }
    out.kinetic = 0.5 * dot(out.turn, inertia * out.turn);
  } else if (!anchored_) {
    const Kick kick{forcing.mass.data(), x.data(), nullptr, nullptr, rows_, total_mass_, &consistent_.coupling};
    out.center = kick.center(), out.velocity = momentum / total_mass_;
    out.turn = pseudo_inverse(kick.inertia(), 1e-10) * spin;
    out.kinetic = 0.5 * dot(momentum, out.velocity) + 0.5 * dot(spin, out.turn);
  }
  return out;
}

/// That of the momenta which the motion has.
Island::RigidMotion Island::rigid_motion_now() {
  Vec3 momentum{}, spin{};
  if (problem_.pivots) {
    for (int i = 0; i < rows_; ++i)
      spin += cross(motion.x[i].xyz() - problem_.pivot, motion.v[i].xyz()) * forcing.mass[i];
  } else if (!anchored_) {
    const Kick kick{forcing.mass.data(), motion.x.data(),      motion.v.data(), motion.p.data(), rows_,
                    total_mass_,         &consistent_.coupling};
    momentum = kick.momentum(), spin = kick.spin();
  }
  return rigid_motion(motion.x, momentum, spin);
}

/// Velocities about a rigid motion, into lin_, and their kinetic energy.
double Island::inner_motion(const RigidMotion& about) {
  for (int i = 0; i < rows_; ++i) lin_[i] = motion.v[i] - about.at(motion.x[i]);
  return kinetic(lin_);
}

double Island::kinetic(const std::vector<Vec4>& v) const {
  double sum = 0;
  for (int i = 0; i < rows_; ++i) sum += 0.5 * forcing.mass[i] * dot(v[i], v[i]);
  return consistent() ? sum + consistent_.coupling.kinetic(v.data()) : sum;
}

/// Eq. 24 of a step along the loss: what the half-life takes goes from all of the motion about the rigid one alike, as
/// damping in proportion to the mass does. Where that is less, the island has come to its least energy.
void Island::damp(StepOutcome& out) {
  if (!(problem_.damped > 0)) return;
  out.target_total -= problem_.damped, out.residual.h += problem_.damped;
  if (out.residual.h > 0) {
    const double moving = inner_motion(rigid_motion_now()), taken = std::min(out.residual.h, moving);
    const double change = moving > 0 ? std::sqrt(1 - taken / moving) - 1 : 0;
    for (int i = 0; i < rows_; ++i) motion.v[i] += lin_[i] * change, motion.p[i] += lin_[i] * change;
    out.residual.h -= taken;
    // At a turning point of its vibration the next step takes what this one could not. Where more than one step is
    // behind, the island is at its least energy, and that is not owed.
    out.stationary = out.residual.h > problem_.damping;
  }
  out.error_h = std::abs(out.residual.h) / out.e_ref;
}

/// What a step that ended early has left of P and L goes by a rigid change of velocity.
void Island::return_momenta(StepOutcome& out) {
  if (!problem_.momenta || problem_.pivots || anchored_) return;
  if (std::max(out.error_p, out.error_l) <= most_momentum_error) return;
  const RigidMotion change = rigid_motion(motion.x, out.residual.p * -1.0, out.residual.l * -1.0);
  const double before = kinetic(motion.v);
  for (int i = 0; i < rows_; ++i) {
    const Vec4 v = change.at(motion.x[i]);
    motion.v[i] += v;
    if (motion.history) motion.p[i] += v;
  }
  out.residual = {{}, {}, out.residual.h + kinetic(motion.v) - before};
  out.error_p = out.error_l = 0, out.error_h = std::abs(out.residual.h) / out.e_ref;
}

void Island::bound_energy(const Demand& demand, StepOutcome& out) {
  const Problem& p = problem_;
  const double slack = std::min(p.tolerance, most_above) * out.e_ref;
  const double target = out.target_total, now = target + out.residual.h;
  // what a dial asks a step to lose at once it may not be able to
  const double most = demand.lowers() ? std::max(target, out.before) : target;
  if (!(now > most + slack)) return;

  RigidMotion rigid = rigid_motion_now();
  double moving = inner_motion(rigid), rest = now - moving;  // rest: energy without the motion about the rigid one
  if (!(rest <= most)) rest = go_back(most, out.length, rigid), moving = inner_motion(rigid);
  const double kept = std::clamp(most - rest, 0.0, moving);
  const double scale = moving > 0 ? std::sqrt(kept / moving) : 0;
  for (int i = 0; i < rows_; ++i) motion.v[i] = rigid.at(motion.x[i]) + lin_[i] * scale;
  motion.history = false;  // rates of another motion
  out.residual.h = rest + kept - target;
  out.rose = rest + kept > out.before + slack;
  out.error_h = std::abs(out.residual.h) / out.e_ref;
}

/// At a turning point of a vibration grad H has nothing to correct along, and what a base step has lost there stays
/// missing. The velocities can take it, in closed form: the motion about the rigid one by a common factor; what that
/// would have to grow too much for goes the way that the elastic forces drive the island from there.
void Island::return_energy(StepOutcome& out) {
  // of a body that flies without moving in itself, H is round-off of its flight
  const double missing = -out.residual.h;
  const double slack = std::max(std::min(problem_.tolerance, most_above) * out.e_ref, round_off * kinetic(motion.v));
  if (!(missing > slack)) return;
  const double moving = inner_motion(rigid_motion_now());
  const double s = moving > 0 ? std::min(most_growth, std::sqrt(1 + missing / moving)) : 1;
  double given = (s * s - 1) * moving;
  for (Vec4& v : lin_) v = v * (s - 1);
  if (given < missing - slack) {
    for (int i = 0; i < rows_; ++i) gg_[i] = motion.gradient[i] * -1.0;
    solve(gg_, Ag_);
    motion.v.swap(Ag_);
    end_ = lin_;
    const double size = inner_motion(rigid_motion_now());
    motion.v.swap(Ag_);
    const auto with = [&](double of_lin) {
      for (int i = 0; i < rows_; ++i) Ag_[i] = motion.v[i] + end_[i] + lin_[i] * of_lin;
      return kinetic(Ag_);
    };
    const double along = 0.5 * (with(1) - with(-1));  // v^T M d
    if (size > 0) {
      const double mu = (std::sqrt(along * along + 4 * size * (missing - given)) - along) / (2 * size);
      for (int i = 0; i < rows_; ++i) end_[i] += lin_[i] * mu;
      given = missing;
    }
    lin_.swap(end_);
  }
  for (int i = 0; i < rows_; ++i) {
    motion.v[i] += lin_[i];
    if (motion.history) motion.p[i] += lin_[i];
  }
  out.residual.h += given;
  out.error_h = std::abs(out.residual.h) / out.e_ref;
}

/// To a pose between x_n, carried along by the rigid motion, and x, at which that motion and the potential have no more
/// than `most`; with the velocities as they are, but for the momenta. Returns what they have there.
double Island::go_back(double most, double h, RigidMotion& rigid) {
  const Problem& p = problem_;
  std::vector<Vec4>& start = p.direct ? x_ : rest_pose_;  // x_n
  const Vec3 momentum = rigid.momentum, spin = rigid.spin;
  if (p.pivots || !anchored_) {
    Vec3 from = p.pivots ? p.pivot : Vec3{};
    for (int i = 0; !p.pivots && i < rows_; ++i) from += start[i].xyz() * (forcing.mass[i] / total_mass_);
    const Mat3 rotation = Turn(rigid.turn * h).matrix();
    for (Vec4& x : start) x = Vec4(rigid.center + rotation * (x.xyz() - from));
  }
  end_ = motion.x;
  double low = 0, high = 1, at = 1, rest = 0;
  const auto go_to = [&](double t) {
    at = t;
    for (int i = 0; i < rows_; ++i) motion.x[i] = start[i] + (end_[i] - start[i]) * t;
    evaluate_motion();
    rigid = rigid_motion(motion.x, momentum, spin);
    rest = rigid.kinetic + motion.energy;
    for (int i = 0; i < rows_; ++i) rest -= dot(forcing.force[i], motion.x[i]);
    return rest <= most;
  };
  for (int n = 0; n < most_trials; ++n) {
    const double middle = 0.5 * (low + high);
    (go_to(middle) ? low : high) = middle;
  }
  if (at != low) go_to(low);
  // what this pose makes of the velocities' momenta, put right
  const RigidMotion has = rigid_motion_now();
  for (int i = 0; i < rows_; ++i) motion.v[i] += rigid.at(motion.x[i]) - has.at(motion.x[i]);
  return rest;
}

}  // namespace verve
