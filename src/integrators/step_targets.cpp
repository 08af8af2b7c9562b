// What a step is asked for: its targets and the scales of its residuals, and when it has got there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrators/step_solver.h"

namespace verve {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();


}  // namespace

/// What is asked for, as far as that is known before a look at the state.
void StepSolver::choose(double h, const Settings& settings) {
  Problem p;
  p.held = settings.conservation != Conservation::none && plan_.holds;
  p.published = p.held && settings.conservation == Conservation::published;
  p.momenta = p.held && !anchored();
  p.touches = !contacts.empty();
  p.grounded = contacts.grounded();
  p.whole = p.touches && p.momenta && !p.published && !consistent();
  // (Debris swings about many points at once: a turn of all of it stretches what holds together, of which B would know
  // nothing.)
  p.swings = p.held && !p.published && anchored() && !p.touches && !island_.torn();
  // (L-BFGS multiplies the columns of L in the metric of A)
  p.of_rest =
      island_.bodies().size() == 1 && (p.swings || (p.momenta && !p.touches && !p.published && !consistent() && !pairs_));
  p.tolerance = settings.tolerance;
  // constant forces do work inside H(x) = 1/2|v|^2 + W - beta f.v; the paper leaves that to its targets (Eq. 12)
  p.beta = p.published ? 0 : base_.hh - base_.kappa * h;
  problem_ = p;
}

/// Targets, K and the scales of the residuals (docs/cpd.md).
void StepSolver::pose(double h, const Demand& demand) {
  const Start& s = start_;
  Problem& p = problem_;
  // Eq. 12 with its signs corrected, and exact for constant forces; H(x) = total + f.x_n + offset
  const double kick = (1 - base_.kappa) * h;
  p.offset = p.published ? h * s.force_v : s.force_drift - 0.5 * base_.kappa * base_.kappa * h * h * s.force_a;
  p.target.p = s.momentum + s.force * kick + demand.debt.p;
  p.target.l = s.spin + s.torque * kick + demand.debt.l;
  if (p.pivots) p.target.l += cross(s.center_n - p.pivot, s.momentum);
  p.target.h = demand.set_energy && p.held ? demand.energy + s.force_x + p.offset
                                           : s.kinetic + start_energy() + p.offset + demand.debt.h;

  // K: the least energy that these momenta allow (Eq. 13, about the centre of mass)
  const bool carried = anchored() || p.grounded;  // by the world
  const Vec3 rigid_v = p.target.p / total_mass_, rigid_w = s.inertia_inverse * p.target.l;
  const double translation = 0.5 * dot(p.target.p, p.target.p) / total_mass_;
  if (p.momenta && p.kept.all()) {
    const double force_v = dot(s.force, rigid_v) + dot(rigid_w, s.torque_b);
    p.rigid = translation + 0.5 * dot(p.target.l, rigid_w) - p.beta * force_v;
  }
  // Eq. 24; an anchored island has no K to fall to: it loses by its motion (beside colliders that move that relative
  // to them), at the same mean rate. (In an impact by that of each body about its rigid one, after the step:
  // damp_vibration.)
  const bool impact = plan_.correction == EnergyCorrection::restore_parts && !demand.set_energy;
  if (p.held && p.direct && !impact) {
    const double moves = p.momenta && p.kept.all() ? p.target.h - p.rigid
                                                   : 2 * colliders_.kinetic(masses(), motion.x, motion.v, s.kinetic);
    const double share = (1 - demand.keep) * moves;
    if (!p.published && !p.touches && !demand.set_energy && demand.keep < 1) {
      // what is asked to go, or has been asked before, goes from all of its motion after the step (StepSolver::damp)
      p.damping = share, p.damped = share + std::max(0.0, -demand.debt.h);
      p.target.h += std::max(0.0, -demand.debt.h);
    } else {
      p.target.h -= share;
    }
  }

  // Energy scale: free of units, no absolute tolerance anywhere.
  const bool euler = base_.kappa != 0 || p.published || !p.held;
  double inner = start_energy() + (euler ? s.kinetic_u : s.kinetic);  // W + kinetic energy about the centre of mass
  if (p.statics) inner = motion.energy + 1e-2 * s.force_size * s.radius;
  if (!carried && !p.statics)
    inner += 0.5 * total_mass_ * dot(rigid_v, rigid_v) - dot(euler ? s.u : s.momentum, rigid_v);
  const double outer_h = carried ? 0 : translation - p.beta * dot(s.force, rigid_v);
  p.present = std::max({p.momenta && p.kept.all() ? p.rigid - outer_h : 0, inner,
                        1e-16 * total_mass_ * s.radius * s.radius / (base_.hh * base_.hh), 1e-300});
  // a free island: the round-off of its translation; an anchored one at a turning point, all energy in the forces'
  // potential: a hundredth of what moves it against them by its own size
  p.present = std::max(p.present, carried ? 1e-2 * s.force_size * s.radius : 1e-9 * translation);
  // its energy passes through zero while its forces do not
  p.present = std::max(p.present, 1e-2 * island_.elastic_energy().scale_of_prestress());
  // what is owed is no measure of what there is
  p.e_ref = std::max(p.present, std::abs(p.target.h - (demand.set_energy ? 0 : demand.debt.h) - outer_h));
  p.scale_p = std::sqrt(2 * total_mass_ * p.e_ref);
}

/// Float kernels cannot resolve strains below about 1e-3.
Precision StepSolver::kernel_precision(Precision wanted) {
  if (wanted == Precision::float64) return wanted;
  return problem_.e_ref < 1e-6 * island_.elastic_energy().reference(island_.matrix().weights_version()) ? Precision::float64 : wanted;
}

/// Residuals within the tolerance, or sunk into the round-off of positions and sums.
bool StepSolver::residuals_met(const Quantities& c, const StepOutcome& so_far) const {
  const Problem& p = problem_;
  const RowSums& s = sums_.rows;
  const double speed = std::sqrt(2 * s.kinetic / total_mass_);
  const double noise_v = 4 * epsilon * (norm(start_.center) + start_.radius) / base_.hh + 64 * epsilon * speed;
  const double noise_p = total_mass_ * noise_v;
  const double noise_h = noise_p * speed + 64 * epsilon * (s.kinetic + sums_.energy + std::abs(p.beta * s.force_v));
  if (p.momenta) {
    const double enough = std::max(p.tolerance * p.scale_p, noise_p);
    if (norm(c.p) > enough || norm(c.l) > enough * (start_.radius + norm(start_.center - start_.about))) return false;
  }
  return std::abs(c.h) <= std::max(p.tolerance * p.e_ref, noise_h) || ((p.touches || p.plain) && p.releases_energy) ||
         ((so_far.at_bound || so_far.stationary) && so_far.step_length < 1e-3);
}

}  // namespace verve
