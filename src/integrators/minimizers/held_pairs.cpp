#include "integrators/minimizers/held_pairs.h"

#include "integrators/minimizers/minimizer.h"

namespace verve {

/// Overlaps of a pair with what stays the same.
HeldPairs::Products HeldPairs::of_pair(int pair, const Columns& c) const {
  const auto of = [&](const std::vector<Vec4>& v, Vec6& q, double& lin) {
    Vec3 p{}, l{};
    for (size_t i = 0; c.momenta && i < c.mass.size(); ++i) {
      const Vec3 d = v[i].xyz();
      Vec3 lever = (c.xb[i].xyz() - c.about) * c.mass[i];
      if (c.coupled) lever += c.coupled[i].xyz();
      p += d * c.mass[i];
      l += cross(lever, d);
    }
    p = p / c.hh, l = l / c.hh;
    q = {p.x, p.y, p.z, l.x, l.y, l.z};
    lin = dot(v, c.lin);
  };
  Products out;
  of(pairs_.s(pair), out.s_q, out.s_lin);
  of(pairs_.H0_y(pair), out.y_q, out.y_lin);
  return out;
}

bool HeldPairs::take_in(const Columns& columns, const std::vector<Vec4>& x, const std::vector<Vec4>& gg,
                        const std::vector<Vec4>& H0_gg, StepProducts& step, IterationProducts& iteration) {
  bool dropped = false;
  const bool added = pairs_.visit(x, gg, H0_gg, dropped);
  if (dropped)
    for (int i = 1; i < SecantPairs::most; ++i) products_[i - 1] = products_[i];
  const int n = pairs_.count();
  if (added) products_[n - 1] = of_pair(n - 1, columns);
  if (n == 0) return false;

  SecantPairs::Overlap v[8];  // P, L, lin, gg
  const int first = columns.momenta ? 0 : 6;
  for (int i = 0; i < n; ++i) {
    const Products& p = products_[i];
    for (int a = first; a < 6; ++a) v[a].s[i] = p.s_q[a], v[a].y[i] = p.y_q[a];
    v[6].s[i] = p.s_lin, v[6].y[i] = p.y_lin;
  }
  v[7] = pairs_.overlap(gg);
  for (int a = first; a < 8; ++a) combination_[a] = pairs_.apply(v[a]);
  const auto more = [&](int a, int b) { return pairs_.product(v[a], combination_[b]); };
  for (int a = first; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) step.s_qq[a][b] += more(a, b);
    step.q_lin[a] += more(a, 6);
    iteration.q_gg[a] += more(a, 7);
  }
  step.lin_lin += more(6, 6);
  iteration.lin_gg += more(6, 7);
  iteration.gg_gg += more(7, 7);
  return true;
}

void HeldPairs::add(const Direction& d, bool momenta, std::vector<Vec4>& Ag) const {
  const int n = pairs_.count();
  if (n == 0) return;
  SecantPairs::Combination sum{};
  const auto add = [&](int a, double factor) {
    for (int i = 0; i < n; ++i) sum.s[i] += factor * combination_[a].s[i], sum.y[i] += factor * combination_[a].y[i];
  };
  for (int a = 0; momenta && a < 6; ++a) add(a, d.lambda_q[a]);
  add(6, d.lambda);
  add(7, 1 + d.lambda);
  pairs_.add(sum, 1 / (1 + d.lambda), Ag);
}

}  // namespace verve
