// The constrained iteration for integrators that do not minimise over x_{n+1} itself (docs/integrators.md). The
// minimisation is over y; the step ends at x = a y + X, v = b y + V. P and L there are linear in y again,
//   L = sum m (a y + X) x (b y + V) = sum m (b X - a V) x y + const,
// and H(x, v) has the Hessian a^2 A wherever g has A, as long as b^2 hh^2 = a^2, which holds for the midpoint rule and
// nearly so for Newmark's family. So this is the iteration of step_solver.cpp on H / a^2, with a gradient of H that is
// not that of g plus a constant: W is evaluated at two places, and two gradients go through the factor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrators/step_solver.h"
#include "base/stopwatch.h"

namespace verve {

namespace {

constexpr int most_halvings = 16;

/// Sums over rows in a fixed order.
template <class Sum, class Row>
Sum over_rows(int rows, Row&& row) {
  Sum sum{};
  for (int i = 0; i < rows; ++i) row(sum, i);
  return sum;
}

}  // namespace

void StepSolver::iterate_indirect(double h, const Settings& settings, const Demand& demand, Precision kernel,
                              StepOutcome& out) {
  Stopwatch watch;
  const Problem& p = problem_;
  const double a = base_.position, b = base_.velocity, hh = base_.hh, kappa = a * a;
  const bool moves_on = a != 1;  // x_{n+1} is not y

  // H as `total` of metrics.csv counts it; K for the half-life where the centre of mass will be
  double target = p.target.h - p.offset - start_.force_x;
  const Vec3 mean_v = (start_.momentum + p.target.p) * (0.5 / total_mass_);
  const double rigid = 0.5 * dot(p.target.p, p.target.p) / total_mass_ +
                       0.5 * dot(p.target.l, start_.inertia_inverse * p.target.l) - start_.force_x -
                       h * dot(start_.force, mean_v);
  target -= (1 - demand.keep) * (p.momenta ? target - rigid : 2 * start_.kinetic);
  const double before = start_.kinetic + motion.energy - start_.force_x;
  out.target_total = target;
  out.rigid_energy = rigid;
  out.impossible = p.momenta && target < rigid;

  // levers b X - a V about the centre of mass, and what they leave of L
  struct Means {
    Vec3 x, v;
  };
  const Means mean = over_rows<Means>(rows_, [&](Means& sum, int i) {
    sum.x += base_.end_x[i].xyz() * (forcing.mass[i] / total_mass_);
    sum.v += base_.end_v[i].xyz() * (forcing.mass[i] / total_mass_);
  });
  Vec3 constant_l{};
  for (int i = 0; i < rows_; ++i) {
    const Vec4 x = base_.end_x[i] - Vec4(mean.x), v = base_.end_v[i] - Vec4(mean.v);
    arm_[i] = x * b - v * a;
    kr_[i] = arm_[i] * forcing.mass[i];
    constant_l += cross(x.xyz(), v.xyz()) * forcing.mass[i];
  }
  StepProducts step;
  step.momenta = p.momenta;
  if (p.momenta) {
    factor_.solve(kr_.data(), Akr_.data());
    right_hand_sides_ += 3;
    const Mat3 t = over_rows<Mat3>(
        rows_, [&](Mat3& sum, int i) { sum = sum + outer(Akr_[i].xyz(), kr_[i].xyz()); });
    const Mat3 turns = Mat3::identity() * (t(0, 0) + t(1, 1) + t(2, 2)) - (t + transpose(t)) * 0.5;
    for (int i = 0; i < 3; ++i) {
      step.s_qq[i][i] = total_mass_ * b * b * hh * hh;
      for (int j = 0; j < 3; ++j) step.s_qq[3 + i][3 + j] = turns(i, j);
    }
    step.s_qq_inverse = pseudo_inverse(step.s_qq, 1e-10);
  }

  for (int i = 0; i < rows_; ++i) x_[i] = base_.xb[i] + base_.u[i] * hh;
  double negligible = p.tolerance * p.present / kappa, last_merit = std::numeric_limits<double>::infinity();
  watch.book(out.timings.setup);
  for (int k = 0;; ++k) {
    struct Sums {
      Vec3 p, l;
      double kinetic = 0, inertia = 0, force_x = 0;
    };
    Sums s;
    Quantities c;          // H over kappa
    double objective = 0;  // g
    const auto look = [&] {
      std::fill(gg_.begin(), gg_.end(), Vec4());
      double energy = add_gradient(x_, gg_, kernel);
      const double energy_y = energy;
      if (moves_on) {
        for (int i = 0; i < rows_; ++i) end_[i] = x_[i] * a + base_.end_x[i];
        std::fill(end_gradient_.begin(), end_gradient_.end(), Vec4());
        energy = add_gradient(end_, end_gradient_, kernel);
      } else {
        end_gradient_ = gg_;
      }
      s = over_rows<Sums>(rows_, [&](Sums& sum, int i) {
        const double m = forcing.mass[i];
        const Vec4 v = x_[i] * b + base_.end_v[i], d = (x_[i] - base_.xb[i]) * (1 / hh) - base_.u[i];
        sum.p += v.xyz() * m;
        sum.l += cross(arm_[i].xyz(), x_[i].xyz() - start_.center) * m;
        sum.kinetic += 0.5 * m * dot(v, v);
        sum.inertia += 0.5 * m * dot(d, d);
        sum.force_x += dot(forcing.force[i], x_[i] * a + base_.end_x[i]);
        gg_[i] += d * (m / hh);
        gH_[i] = (v * (b * m) + (end_gradient_[i] - forcing.force[i]) * a) * (1 / kappa);
      });
      sums_.energy = energy, sums_.rows.kinetic = s.kinetic, sums_.rows.force_v = 0;
      c = {{}, {}, (s.kinetic + energy - s.force_x - target) / kappa};
      if (p.momenta) c.p = s.p - p.target.p, c.l = constant_l + s.l - p.target.l;
      objective = s.inertia + energy_y;
      return objective + (2 * std::abs(out.lambda) + 0.5) * std::abs(c.h);
    };
    double merit = look();
    const double noise = (kernel == Precision::float64 ? 1e-12 : 1e-6) * p.e_ref;
    for (int n = 0; island_.searches() && k > 0 && n < most_halvings && !(merit <= last_merit + noise); ++n) {
      for (int i = 0; i < rows_; ++i) x_[i] = (x_[i] + x_before_[i]) * 0.5;
      merit = look();
    }
    watch.book(out.timings.local);
    out.residual = {c.p, c.l, c.h * kappa};
    out.error_p = norm(c.p) / p.scale_p;
    out.error_l = start_.radius > 0 ? norm(c.l) / (start_.radius * p.scale_p) : 0;
    out.error_h = std::abs(out.residual.h) / p.e_ref;
    out.rose = out.residual.h + target > before + p.tolerance * p.e_ref;
    out.iterations = k;
    if (!std::isfinite(c.h) || !std::isfinite(dot(c.l, c.l)) || !std::isfinite(dot(c.p, c.p))) {
      out.status = StepOutcome::Status::not_finite;
      return;
    }
    const bool short_step = out.step_length < (p.momenta ? 1e-2 : std::min(1e-2, std::sqrt(p.tolerance)));
    const bool done = k >= 1 && short_step && residuals_met(out.residual, out);
    out.status = done ? StepOutcome::Status::converged : StepOutcome::Status::stopped;
    if (done || k >= settings.iterations) return;
    if (k >= patience() && c.h > 0 && out.lambda > 0.5) negligible = std::numeric_limits<double>::infinity();

    factor_.solve2(gg_.data(), Ag_.data(), gH_.data(), AH_.data());
    right_hand_sides_ += 6;
    watch.book(out.timings.global);
    struct Products {
      double gg = 0, gH = 0, HH = 0;
      Vec3 p_g, l_g, p_H, l_H;
    };
    const Products r = over_rows<Products>(rows_, [&](Products& sum, int i) {
      sum.gg += dot(gg_[i], Ag_[i]), sum.gH += dot(gH_[i], Ag_[i]), sum.HH += dot(gH_[i], AH_[i]);
      if (!p.momenta) return;
      sum.p_g += Ag_[i].xyz() * (b * forcing.mass[i]), sum.p_H += AH_[i].xyz() * (b * forcing.mass[i]);
      sum.l_g += cross(kr_[i].xyz(), Ag_[i].xyz()), sum.l_H += cross(kr_[i].xyz(), AH_[i].xyz());
    });
    // in the terms of lin = grad H - grad g
    IterationProducts products;
    products.gg_gg = r.gg, products.lin_gg = r.gH - r.gg;
    products.q_gg = {r.p_g.x, r.p_g.y, r.p_g.z, r.l_g.x, r.l_g.y, r.l_g.z};
    step.lin_lin = r.HH - 2 * r.gH + r.gg;
    step.q_lin = {r.p_H.x - r.p_g.x, r.p_H.y - r.p_g.y, r.p_H.z - r.p_g.z,
                  r.l_H.x - r.l_g.x, r.l_H.y - r.l_g.y, r.l_H.z - r.l_g.z};
    const Direction d = constrained_direction(step, products, c, out.lambda, negligible);
    out.take(d);
    out.at_bound = d.at_bound, out.stationary = d.stationary;
    out.step_length = std::sqrt(d.norm2 / p.e_ref);
    watch.book(out.timings.conservation);

    if (island_.searches()) {
      x_before_ = x_;
      last_merit = objective + (2 * std::abs(d.lambda) + 0.5) * std::abs(c.h);
    }
    const Vec3 shift = Vec3{d.lambda_q[0], d.lambda_q[1], d.lambda_q[2]} * (b * hh * hh);
    const Vec3 turn{d.lambda_q[3], d.lambda_q[4], d.lambda_q[5]};
    for (int i = 0; i < rows_; ++i) {
      Vec4 dx = Ag_[i] + AH_[i] * d.lambda;
      if (p.momenta && forcing.mass[i] > 0) dx += Vec4(shift + cross(turn, Akr_[i].xyz()));
      x_[i] -= dx * (1 / d.scale);
    }
    watch.book(out.timings.update);
  }
}

}  // namespace verve
