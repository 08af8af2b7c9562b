// L-BFGS inside a conserving step (docs/minimisers.md): the same constraints with B^-1 in the place of A^-1.
#include "integrators/island.h"

namespace verve {

/// Overlaps of the newest pair with what stays the same during a step: grad c_P = m e_a/hh, grad c_L = e_a x (m r)/hh
/// and lin.
Island::HeldPair Island::overlaps_of_pair(int pair) const {
  const auto of = [&](const std::vector<Vec4>& v, Vec6& q, double& lin) {
    Vec3 p{}, l{};
    for (int i = 0; problem_.momenta && i < rows_; ++i) {
      const Vec3 d = v[i].xyz();
      Vec3 lever = (base_.xb[i].xyz() - start_.about) * forcing.mass[i];
      if (consistent()) lever += consistent_.Dr[i].xyz();
      p += d * forcing.mass[i];
      l += cross(lever, d);
    }
    p = p / base_.hh, l = l / base_.hh;
    q = {p.x, p.y, p.z, l.x, l.y, l.z};
    lin = dot(v, lin_);
  };
  HeldPair out;
  of(pairs_->s(pair), out.s_q, out.s_lin);
  of(pairs_->H0_y(pair), out.y_q, out.y_lin);
  return out;
}

/// Takes in the iterate x_ with gg and A^-1 gg, and turns the products under H0 into those under B^-1.
void Island::take_in_pairs(StepProducts& step, IterationProducts& iteration) {
  // H0 gg, with the swing of an anchored island
  if (problem_.swings) {
    const Vec3 turn = swing_.inverse * swing_.gg;
    const RowColumn lever = column(arm_, lever_narrow_);
    for (int i = 0; i < rows_; ++i) {
      H0g_[i] = Ag_[i];
      if (!(forcing.mass[i] > 0)) continue;
      const Vec3 r = lever.narrow ? Vec3{lever.narrow[i].x, lever.narrow[i].y, lever.narrow[i].z} : arm_[i].xyz();
      H0g_[i] += Vec4(cross(turn, r));
    }
  }
  bool dropped = false;
  const bool added = pairs_->visit(x_, gg_, problem_.swings ? H0g_ : Ag_, dropped);
  if (dropped)
    for (int i = 1; i < SecantPairs::most; ++i) held_pairs_[i - 1] = held_pairs_[i];
  const int n = pairs_->count();
  if (added) held_pairs_[n - 1] = overlaps_of_pair(n - 1);
  if (n == 0) return;

  SecantPairs::Overlap v[8];  // P, L, lin, gg
  const int first = problem_.momenta ? 0 : 6;
  for (int i = 0; i < n; ++i) {
    const HeldPair& p = held_pairs_[i];
    for (int a = first; a < 6; ++a) v[a].s[i] = p.s_q[a], v[a].y[i] = p.y_q[a];
    v[6].s[i] = p.s_lin, v[6].y[i] = p.y_lin;
  }
  v[7] = pairs_->overlap(gg_);
  for (int a = first; a < 8; ++a) combination_[a] = pairs_->apply(v[a]);
  const auto more = [&](int a, int b) { return pairs_->product(v[a], combination_[b]); };
  for (int a = first; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) step.s_qq[a][b] += more(a, b);
    step.q_lin[a] += more(a, 6);
    iteration.q_gg[a] += more(a, 7);
  }
  step.lin_lin += more(6, 6);
  iteration.lin_gg += more(6, 7);
  iteration.gg_gg += more(7, 7);
  if (!problem_.momenta) return;
  step.s_qq_inverse = pseudo_inverse(step.s_qq, 1e-10);
  step = problem_.kept.products(step, start_.radius);
}

/// What B^-1 has beyond H0 of the whole step, into Ag, which `move` takes (1 + lambda)/scale times.
void Island::add_pairs(const Direction& d) {
  const int n = pairs_->count();
  if (n == 0) return;
  SecantPairs::Combination sum{};
  const auto add = [&](int a, double factor) {
    for (int i = 0; i < n; ++i) sum.s[i] += factor * combination_[a].s[i], sum.y[i] += factor * combination_[a].y[i];
  };
  for (int a = 0; problem_.momenta && a < 6; ++a) add(a, d.lambda_q[a]);
  add(6, d.lambda);
  add(7, 1 + d.lambda);
  pairs_->add(sum, 1 / (1 + d.lambda), Ag_);
}

}  // namespace verve
