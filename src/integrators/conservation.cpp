#include "integrators/conservation.h"

#include <algorithm>

namespace verve {

namespace {

Vec6 stack(const Vec3& a, const Vec3& b, double scale) {
  return {scale * a.x, scale * a.y, scale * a.z, scale * b.x, scale * b.y, scale * b.z};
}

Vec6 minus(const Vec6& a, const Vec6& b, double scale = 1) {
  Vec6 out;
  for (int i = 0; i < 6; ++i) out[i] = a[i] - scale * b[i];
  return out;
}

/// Fills in what follows from lambda, lambda_q and scale.
void finish(const StepProducts& s, const IterationProducts& k, Direction& d) {
  d.g = (1 + d.lambda) / d.scale, d.l = d.lambda / d.scale;
  d.norm2 = squared_length(s, k, d);
}

/// Schur elimination shared by both variants: S_HH may carry an extra diagonal term (alpha).
struct Elimination {
  Vec6 s_qh{}, s_hq_inverse{};  // S_qH and S_Hq S_qq^+
  double h_gg, s_hh, sigma;     // of A^-1 gg alone, and with A^-1 lin

  /// `scale` = 1 + lambda of the iteration before. What columns Y do to H, Y^T grad H, is s_qh + E A^-1 grad H with E =
  /// (A Y - grad c_q)^T. E Y = 0, so that of the step itself, s dx = -((1 + lambda) A^-1 gg + lambda A^-1 lin + Y
  /// lambda_q), E A^-1 gg = -lambda/(1 + lambda) E A^-1 lin but for E dx, which vanishes with the step.
  Elimination(const StepProducts& s, const IterationProducts& k, double extra, double scale = 1) {
    h_gg = k.touches ? k.h_gg : k.gg_gg + k.lin_gg;
    s_hh = h_gg + (k.touches ? k.h_lin : k.lin_gg + s.lin_lin) + extra;
    sigma = s_hh;
    if (!s.momenta) return;
    for (int i = 0; i < 6; ++i) s_qh[i] = k.q_gg[i] + s.q_lin[i];
    s_hq_inverse = s.s_qq_inverse * (k.touches ? k.h_q : minus(s_qh, s.lin_apart, -1 / scale));
    sigma -= dot(s_qh, s_hq_inverse);
  }
  // grad H in the span of the momenta leaves nothing to correct H with: rest, pure translation or spin.
  bool solvable() const { return sigma > 1e-11 * s_hh; }
};

}  // namespace

double squared_length(const StepProducts& s, const IterationProducts& k, const Direction& d) {
  const double q = 1 / d.scale;
  double sum = d.g * d.g * k.gg_gg + 2 * d.g * d.l * k.lin_gg + d.l * d.l * s.lin_lin;
  if (s.momenta)
    sum += 2 * q * (d.g * dot(d.lambda_q, k.q_gg) + d.l * dot(d.lambda_q, s.q_lin)) +
           q * q * dot(d.lambda_q, s.s_qq * d.lambda_q);
  return std::max(0.0, sum);
}

double overlap(const StepProducts& s, const IterationProducts& k, const Direction& d, const IterationProducts& k0,
               const Direction& d0) {
  const double q = 1 / d.scale, q0 = 1 / d0.scale;
  double sum = d.g * d0.g * k.gg_last + d.g * d0.l * k.lin_gg + d.l * d0.g * k0.lin_gg + d.l * d0.l * s.lin_lin;
  if (s.momenta) {
    sum += q0 * (d.g * dot(d0.lambda_q, k.q_gg) + d.l * dot(d0.lambda_q, s.q_lin));
    sum += q * (d0.g * dot(d.lambda_q, k0.q_gg) + d0.l * dot(d.lambda_q, s.q_lin));
    sum += q * q0 * dot(d.lambda_q, s.s_qq * d0.lambda_q);
  }
  return sum;
}

Direction constrained_direction(const StepProducts& s, const IterationProducts& k, const Quantities& c, double lambda,
                                double negligible) {
  Direction d;
  const Elimination e(s, k, 0, 1 + lambda);
  d.stationary = !e.solvable() || (1 + lambda_max) * e.sigma < negligible;
  d.scale = d.stationary ? 1 : 1 + lambda;
  const double c_h = c.h - dot(s.relief.p, c.p) - dot(s.relief.l, c.l);
  Vec6 rhs_q = minus(stack(c.p, c.l, d.scale), k.q_gg);
  if (!d.stationary) d.lambda = (d.scale * c_h - e.h_gg - (s.momenta ? dot(e.s_hq_inverse, rhs_q) : 0)) / e.sigma;
  d.free_lambda = d.lambda, d.sigma = e.sigma;
  if (!(d.lambda >= lambda_min && d.lambda <= lambda_max)) {
    d.lambda = d.lambda > 0 ? lambda_max : lambda_min;
    d.at_bound = true;
    d.scale = 1 + d.lambda;
    rhs_q = minus(stack(c.p, c.l, d.scale), k.q_gg);
  }
  if (s.momenta) d.lambda_q = s.s_qq_inverse * minus(rhs_q, e.s_qh, d.lambda);
  finish(s, k, d);
  return d;
}

Direction published_direction(const StepProducts& s, const IterationProducts& k, const Quantities& c, double gap,
                              double epsilon, double& alpha) {
  Direction d;
  const Elimination e(s, k, gap * gap / epsilon);
  const Vec6 rhs_q = minus(stack(c.p, c.l, 1), k.q_gg);
  if (e.solvable()) d.lambda = (c.h - e.h_gg - gap * alpha - (s.momenta ? dot(e.s_hq_inverse, rhs_q) : 0)) / e.sigma;
  if (s.momenta) d.lambda_q = s.s_qq_inverse * minus(rhs_q, e.s_qh, d.lambda);
  alpha = -gap * d.lambda / epsilon;
  finish(s, k, d);
  return d;
}

}  // namespace verve
