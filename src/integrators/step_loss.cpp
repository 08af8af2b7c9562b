// The iteration of a step that holds P, L and H and corrects H along what its base has lost (loss_direction.h): free
// and anchored islands that touch nothing. docs/cpd.md, "Along the loss".
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/finite.h"
#include "base/parallel.h"
#include "integrators/step_solver.h"
#include "base/stopwatch.h"
#include "integrators/turn.h"

namespace verve {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Length of a plain step in the norm of A, over sqrt(E_ref): below this the velocity is known well enough for what the
/// base loses.
constexpr double finds_loss = 0.1;
/// Likewise of a plain step that is yet to be taken: short steps then need no iteration more than with the gradient.
constexpr double finds_loss_at_once = 0.003;  // t_pipe: with 0.01 15.6 iterations (max 55), with this 14.0 (27)
/// Of the tolerance.
constexpr double holds_itself = 0.1;
/// Lengths of steps towards H that may be accelerated, and so short that the next one may be.
constexpr double accelerates = 0.1, may_accelerate = 0.17, slow_rate = 0.6;
/// Likewise: a correction so short moves nothing that shows, whatever its direction. In short steps, which lose hardly
/// anything, it is what the tolerance leaves of the step before that must be paid.
constexpr double harmless = 1e-3;
/// Of E_ref: a step that misses H by more than this, mu at its bound, counts as one at its bound.
constexpr double most_owed = 0.1;
/// A step that holds what it should need not come to rest as well as before after so many iterations: where elements
/// are turned inside out it never does.
constexpr int settles_after = 24;
constexpr double settled = 3;  // times the length that counts as rest
constexpr int least_iterations = 2;

Vec3 wide(const Float4& a) { return {a.x, a.y, a.z}; }

Vec6 stack(const Vec3& p, const Vec3& l) { return {p.x, p.y, p.z, l.x, l.y, l.z}; }

/// Mean rotation over a step that turns by theta: the integral of R(s theta) over s from 0 to 1.
Mat3 mean_rotation(const Vec3& theta) {
  const Turn turn(theta);
  const double angle2 = dot(theta, theta);
  const double third = angle2 > 1e-12 ? (1 - turn.sine) / angle2 : 1.0 / 6;
  return Mat3::identity() + turn.w * turn.cosine + turn.w2 * third;
}

}  // namespace

/// A decision before the step: where it is not so, H is corrected along its gradient. Steps that a line search must
/// shorten have no fixed column; energy that a dial asks for belongs to all of the motion; and backward Euler loses it
/// from all of the motion, so that its loss is no direction of its own. Of a solid that swings, and holds H alone, the
/// swing itself is part of the loss (pendulum: 0.030 from fine steps along the loss, 0.022 along the gradient).
bool StepSolver::follows_loss(const Settings& settings, const Demand& demand, const Integrator& integrator,
                          bool plain) const {
  const Problem& p = problem_;
  return settings.direction == EnergyDirection::loss && p.held && p.direct && !p.published && !p.touches &&
         !p.releases_energy && !plain && !pairs_ && !island_.searches() && integrator.takes_elastic() && !demand.set_energy &&
         !(p.swings && island_.is_solid());
}

/// A row of l, see below.
Vec4 StepSolver::loss_of(int i, double h, const Mat3& rotation) const {
  const double m = forcing.mass[i], inverse = 1 / base_.hh;
  if (!(m > 0)) return {};
  const Vec4 dv = (x_[i] - base_.xb[i]) * inverse - motion.v[i];
  Vec4 l = (forcing.force[i] * h - Vec4(rotation * motion.gradient[i].xyz()) * h - dv * m) * inverse;
  if (consistent()) l -= (coupled_velocity(i) - consistent_.coupling.row(motion.v.data(), i)) * inverse;
  return l;
}

/// l = (h (f - J grad W(x_n)) - M (v - v_n))/hh, what the base takes for the impulse of the step at its beginning less
/// what it made of it: of slow modes 1/2 (omega h)^2 v, of stiff ones all that is lost or rings. J is the mean rotation
/// of the step: a body that turns as a whole, in equilibrium with its rotation, loses nothing. e = A^-1 l goes into the
/// column of lin, l into that of the levers' right-hand side, which the step is done with.
void StepSolver::find_loss(double h, StepProducts& step) {
  const double inverse = 1 / base_.hh;
  const Mat3 rotation = mean_rotation((start_.inertia_inverse * start_.spin) * h);
  parallel_for(rows_, row_grain, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      const Vec4 l = loss_of(i, h, rotation);
      if (narrow_) {
        kr_narrow_[i] = {float(l.x), float(l.y), float(l.z), 0};
      } else {
        kr_[i] = l;
      }
    }
  });
  if (narrow_) {
    factor_.solve(kr_narrow_.data(), Alin_narrow_.data());
  } else {
    factor_.solve(kr_.data(), Alin_.data());
  }
  right_hand_sides_ += 3, work_.entries += entries_, work_.vertices += 2.0 * rows_;

  const bool levers = problem_.momenta || problem_.swings;
  const Vec3 off = problem_.of_rest || problem_.swings ? Vec3{} : start_.about - start_.origin;
  const std::vector<Vec4>& wide_lever = problem_.swings ? arm_ : Akr_;
  LossSums sum = sum_over_ranks(ordered_sum<LossSums>(rows_, row_grain, loss_parts_, [&](int begin, int end) {
    LossSums s;
    for (int i = begin; i < end; ++i) {
      const double m = forcing.mass[i];
      if (!(m > 0)) continue;
      const Vec3 l = narrow_ ? wide(kr_narrow_[i]) : kr_[i].xyz(), e = narrow_ ? wide(Alin_narrow_[i]) : Alin_[i].xyz();
      const Vec3 lin = narrow_ ? wide(lin_narrow_[i]) : lin_[i].xyz();
      s.l_e += dot(l, e), s.lin_e += dot(lin, e), s.l_Ml += dot(l, l) / m;
      if (!levers) continue;
      const Vec3 lever = (narrow_ ? wide(lever_narrow_[i]) : wide_lever[i].xyz()) - off;
      s.p_l += l, s.p_lin += lin, s.lever_l += cross(lever, l), s.lever_lin += cross(lever, lin);
      s.p_e += e * m, s.spin_e += cross(base_.xb[i].xyz() - start_.about, e) * m;
      if (consistent()) s.spin_e += cross(consistent_.Dr[i].xyz(), e);
    }
    return s;
  }));
  step.lin_lin = sum.l_e;
  loss_.error = std::sqrt(std::max(0.0, sum.l_e) / problem_.e_ref);
  loss_.column = {};
  loss_.column.h_e = sum.lin_e, loss_.column.small = harmless * std::sqrt(problem_.e_ref);
  loss_.column.share = loss_.resolves ? resolved_share(sum.l_e, sum.l_Ml, base_.hh) : 1;
  if (problem_.swings) {  // as swing_.lin is for lin
    loss_.swing_lin = swing_.lin;
    swing_.lin = sum.lever_l;
    const Vec3 turn = swing_.inverse * swing_.lin;
    step.lin_lin += dot(swing_.lin, turn), loss_.column.h_e += dot(loss_.swing_lin, turn);
  }
  if (problem_.momenta) {
    step.q_lin = stack(sum.p_e * inverse, sum.spin_e * inverse);
    const Vec6 y_l = stack(sum.p_l * base_.hh, sum.lever_l * base_.hh);
    loss_.column.y_lin = stack(sum.p_lin * base_.hh, sum.lever_lin * base_.hh);
    for (int i = 0; i < 6; ++i) loss_.column.y_apart[i] = y_l[i] - step.q_lin[i];
  }
  loss_.found = true;
}

/// Likewise of a searched step that has ended, without its products. Returns the error of the step.
double StepSolver::find_searched_loss(double h) {
  const Mat3 rotation = mean_rotation((start_.inertia_inverse * start_.spin) * h);
  for (int i = 0; i < rows_; ++i) kr_[i] = loss_of(i, h, rotation);
  solve(kr_, Alin_);
  return std::sqrt(std::max(0.0, dot(kr_, Alin_)) / problem_.e_ref);
}

/// A step begins where the motion leads, or at x_n carried along by the held momenta, whichever has less of g: where
/// forces are too stiff for the step, their acceleration at x_n leads far away from anything that the iterations come
/// back from in time (a rope of 9.8 kN: they ended above H, and it did not move). (find_rest is at least W(x_n). What is
/// held about a pivot is carried round that, which find_rest does not know.) Whether it is the latter.
bool StepSolver::begin_lower(double h, Precision kernel) {
  if (problem_.pivots) return false;
  const double here = merit(0, 0);
  if (here <= motion.energy || here <= find_rest(h)) return false;
  x_before_ = rest_pose_;
  shorten_step(0);
  sums_.energy = add_gradient(x_, gg_, kernel);
  return true;
}

/// First the plain step with P and L held, until it is known what it loses; then H as well, along that. Leaves x_ and
/// what is summed up there.
void StepSolver::iterate_loss(double h, const Settings& settings, Precision kernel, StepOutcome& out) {
  Stopwatch watch;
  const Problem& p = problem_;
  StepProducts step = p.kept.products(column_products(), start_.radius);
  step.lin_lin = 0, step.q_lin = {}, step.lin_apart = {};
  loss_.found = false, loss_.error = 0;
  const double time_limit = plan_.time_limit, begun = time_limit < infinity ? island_.work().milliseconds() : 0;
  // P and L of a free island are exact at any length of step; an anchored one has them right only near the solution
  const double rest = p.momenta && !p.pivots ? 1e-2 : std::min(1e-2, std::sqrt(p.tolerance));
  double reached = p.target.h, mu = 0;
  double most = infinity;  // of g, where the last step was accelerated and must lower it
  for (int k = 0;; ++k) {
    sums_.energy = add_gradient(x_, gg_, kernel);
    if (most < infinity && !(merit(0, 0) <= most)) {
      undo_acceleration();
      sums_.energy = add_gradient(x_, gg_, kernel);
    }
    if (k == 0) out.unresolved = begin_lower(h, kernel);
    const RowSums& s = sums_.rows;
    const double now = s.kinetic + sums_.energy - p.beta * s.force_v;
    watch.book(out.timings.local);
    Quantities c{{}, {}, now - reached};
    if (p.momenta) c.p = s.p - p.target.p, c.l = s.l - p.target.l;
    c = held_part(c);
    out.residual = {c.p, c.l, now - (p.target.h - out.heat)};
    out.error_p = norm(c.p) / p.scale_p;
    out.error_l = start_.radius > 0 ? norm(c.l) / (start_.radius * p.scale_p) : 0;
    out.error_h = std::abs(out.residual.h) / p.e_ref;
    out.rose = now > start_.kinetic + motion.energy + p.offset + p.tolerance * p.e_ref;
    out.iterations = k;
    if (!std::isfinite(now) || !finite(s.p) || !finite(s.l)) {
      out.status = StepOutcome::Status::not_finite;
      return;
    }
    const bool short_step = out.step_length < rest * (k >= settles_after ? settled : 1);
    // what the plain step holds by itself needs no correction; but it does not come nearer by another iteration
    const bool holds = loss_.found || std::abs(c.h) < holds_itself * p.tolerance * p.e_ref;
    const bool done = k >= 1 && short_step && holds && residuals_met(c, out);
    out.status = done ? StepOutcome::Status::converged : StepOutcome::Status::stopped;
    if (time_limit < infinity && k >= least_iterations) {
      const double spent = island_.work().milliseconds() - begun;
      out.cut = spent + spent / k > time_limit;
    }
    if (done || out.cut || k >= settings.iterations) break;

    if (!loss_.found && k > 0 && out.step_length < finds_loss) {
      find_loss(h, step);
      last_.counts = false;  // its products are without e
      watch.book(out.timings.global);
    }
    solve_gradient();
    watch.book(out.timings.global);
    IterationProducts products_k = products();
    LossStep next;
    if (!loss_.found) {
      next.direction = plain_direction(step, products_k, c);
      // A rigid rotation is straight in x: one so long that it has more energy than the motion stretches the island,
      // and each would be longer than the last. A alone leads downhill from anywhere.
      const double length = std::sqrt(next.direction.norm2 / p.e_ref);
      if (p.swings && k > 0 && length > 1 && length > out.step_length) {
        swing_.inverse = {};
        products_k = products();
        next.direction = plain_direction(step, products_k, c);
      }
      if (std::sqrt(next.direction.norm2 / p.e_ref) < finds_loss_at_once) {
        find_loss(h, step);
        last_.counts = false;
        products_k = products();
        watch.book(out.timings.global);
      }
    }
    if (loss_.found) {
      next = loss_step(step, products_k, loss_.column, c, now, p.target.h, mu);
      mu = next.mu, reached = next.reached, out.heat = next.heat;
      out.at_bound = next.at_bound && std::abs(p.target.h - next.heat - reached) > most_owed * p.e_ref;
    }
    const Direction& d = next.direction;
    out.take(d);
    const double length = std::sqrt(d.norm2 / p.e_ref);
    // Without H a step lowers g: it may be accelerated at any length, and is taken back where g does not fall. With H
    // nothing tells whether it went too far, and only short steps of a slow iteration are.
    const bool lowers = !loss_.found, slow = length < accelerates && length > slow_rate * out.step_length;
    out.step_length = length;
    const double beta = k > 0 && last_.counts && (lowers || slow) ? extrapolation(step, products_k, d) : 0;
    most = lowers && beta != 0 ? merit(0, 0) : infinity;
    last_ = {lowers || length < may_accelerate, d, products_k, swing_.gg};
    watch.book(out.timings.conservation);
    move(d, beta);
    watch.book(out.timings.update);
  }
  motion.energy = sums_.energy;
  out.loss = loss_.error;
}

}  // namespace verve
