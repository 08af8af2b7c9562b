#include "integrators/loss_direction.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

/// Multipliers of the momenta that bring c_q to zero.
Vec6 held(const StepProducts& s, const IterationProducts& k, const Quantities& c) {
  return s.s_qq_inverse * Vec6{c.p.x - k.q_gg[0], c.p.y - k.q_gg[1], c.p.z - k.q_gg[2],
                               c.l.x - k.q_gg[3], c.l.y - k.q_gg[4], c.l.z - k.q_gg[5]};
}

}  // namespace

Direction plain_direction(const StepProducts& s, const IterationProducts& k, const Quantities& c) {
  Direction d;
  if (s.momenta) d.lambda_q = held(s, k, c);
  d.norm2 = squared_length(s, k, d);
  return d;
}

LossStep loss_step(const StepProducts& s, const IterationProducts& k, const LossColumn& loss, const Quantities& c,
                   double now, double target, double mu) {
  LossStep out;
  Direction& d = out.direction;
  d = plain_direction(s, k, c);
  Vec6 turns{};  // e - Y turns leaves the momenta alone
  double ahead = now - (k.gg_gg + k.h_Ag) - dot(s.relief.p, c.p) - dot(s.relief.l, c.l);
  double curvature = s.lin_lin;
  out.slope = loss.h_e;
  if (s.momenta) {
    turns = s.s_qq_inverse * s.q_lin;
    Vec6 y_h;  // Y^T grad H; A^-1 gg is mu e - Y lambda_q but for a step that vanishes
    for (int i = 0; i < 6; ++i) y_h[i] = k.q_gg[i] + loss.y_lin[i] + mu * loss.y_apart[i];
    ahead -= dot(y_h, d.lambda_q);
    out.slope -= dot(loss.y_lin, turns);
    curvature -= dot(s.q_lin, turns);
  }
  out.plain = ahead + 0.5 * d.norm2;
  out.heat = (1 - loss.share) * std::max(0.0, target - out.plain);
  // 1/2 curvature mu^2 + slope mu = missing, by the root that is nearest to the plain step
  const double missing = target - out.heat - out.plain, side = out.slope < 0 ? -1 : 1;
  const double square = out.slope * out.slope + 2 * curvature * missing;
  const double sum = std::abs(out.slope) + std::sqrt(std::max(0.0, square));
  const double free = !(curvature > 0) ? 0
                      : !(square > 0)  ? -out.slope / curvature  // the least that there is along e
                      : sum > 0        ? side * 2 * missing / sum
                                       : 0;
  const double most = curvature > 0 ? std::max(most_mu, loss.small / std::sqrt(curvature)) : most_mu;
  out.mu = std::clamp(free, -most, most);
  out.at_bound = !(curvature > 0) || !(square > 0) || out.mu != free;
  out.reached = out.plain + out.mu * (out.slope + 0.5 * curvature * out.mu);
  d.lambda = -out.mu;  // as a multiplier of grad H would be: below 0 it adds energy
  d.l = -out.mu;
  for (int i = 0; i < 6; ++i) d.lambda_q[i] += out.mu * turns[i];
  d.norm2 = squared_length(s, k, d);
  return out;
}

double resolved_share(double l_e, double l_Ml, double hh) {
  return l_Ml > 0 ? std::clamp(l_e / (hh * hh * l_Ml), 0.0, 1.0) : 1;
}

}  // namespace verve
