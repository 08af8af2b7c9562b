// Turning H down at once (Eq. 23). A soft body cannot give back within one step what it has stored in its deformation:
// to move there it would need more kinetic energy than it loses. So, as the dials of P and L are pushes, this dial acts
// on the state before the step: velocities about the rigid motion shrink by the share that is left, and the shape
// relaxes until the sum is right. P, L and the centre of mass stay.
#include <cmath>

#include "base/ranks.h"
#include "integrators/step_solver.h"
#include "integrators/rigid_impulse.h"

namespace verve {

namespace {

constexpr int most_relaxations = 300, bisections = 60;

}  // namespace

bool StepSolver::lower_energy(double wanted, double h, const Settings& settings) {
  const double hh = settings.integrator->effective_step(h);
  const Factor* slot = island_.matrix().factor_for(hh, settings.factor_kind());
  const GlobalSolver* factor = slot ? &slot->solver : nullptr;
  if (!factor || anchored()) return false;
  if (!island_.is_evaluated()) island_.evaluate_motion();

  // the motion about the rigid one, kept in Ag_; velocities of a trial in lin_
  const RigidImpulse whole{forcing.mass.data(), motion.x.data(),      motion.v.data(), motion.p.data(), rows_,
                           total_mass_,         &consistent_.coupling};
  const Vec3 momentum = whole.momentum(), spin = whole.spin();
  const auto velocities = [&](std::vector<Vec4>& x, double share, std::vector<Vec4>& v) {
    for (int i = 0; i < rows_; ++i) v[i] = Ag_[i] * share;
    RigidImpulse trial{forcing.mass.data(), x.data(), v.data(), Akr_.data(), rows_, total_mass_, &consistent_.coupling};
    trial.set_momentum(momentum);
    trial.set_spin(spin);
  };
  const auto energy_of = [&](const std::vector<Vec4>& x, const std::vector<Vec4>& v, double potential) {
    double sum = once(potential + kinetic(v));
    for (int i = 0; i < rows_; ++i) sum -= dot(forcing.force[i], x[i]);
    return sum_over_ranks(sum);
  };
  const double now = energy_of(motion.x, motion.v, motion.energy);
  for (Vec4& v : Ag_) v = {};
  velocities(motion.x, 0, lin_);
  const double rigid = energy_of(motion.x, lin_, 0);
  if (!(wanted > rigid && wanted < now)) return false;
  for (int i = 0; i < rows_; ++i) Ag_[i] = motion.v[i] - lin_[i];
  const double share = std::sqrt((wanted - rigid) / (now - rigid));

  // x -= A^-1 grad W lowers W every time (A bounds its Hessian) and leaves the centre of mass alone
  const auto trial_energy = [&](std::vector<Vec4>& x) {
    const double potential = island_.evaluate(x, gg_);
    velocities(x, share, lin_);
    return energy_of(x, lin_, potential);
  };
  x_ = end_ = motion.x;
  double before = now, trial = trial_energy(x_);
  for (int k = 0; trial > wanted; ++k) {
    if (k == most_relaxations || (k > 0 && !(trial < before))) return false;  // as low as the shape can go
    before = trial;
    end_ = x_;
    factor->solve(gg_.data(), Alin_.data());
    for (int i = 0; i < rows_; ++i) x_[i] -= Alin_[i];
    trial = trial_energy(x_);
  }
  // between the last two
  last_Ag_ = x_;
  double high = 0, low = 1;
  for (int k = 0; k < bisections; ++k) {
    const double middle = 0.5 * (high + low);
    for (int i = 0; i < rows_; ++i) x_[i] = end_[i] + (last_Ag_[i] - end_[i]) * middle;
    (trial_energy(x_) > wanted ? high : low) = middle;
  }
  motion.x = x_;
  motion.v = lin_;
  motion.history = false;
  island_.evaluate_motion();
  return true;
}

}  // namespace verve
