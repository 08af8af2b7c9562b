// A step that ends with more energy than there was is drawn back towards one that cannot.
#include <cmath>

#include "integrators/island.h"
#include "integrators/turn.h"

namespace verve {

namespace {

/// Evaluations in which the end of a step that gained is looked for.
constexpr int most_cuts = 40;
/// Without time for more: it ends with less than it might have, and owes that.
constexpr int few_cuts = 5;
/// Of what is above the motion of the whole.
constexpr double near_motion = 0.1;

Vec3 vec3(const Vec4& a) { return {a.x, a.y, a.z}; }

}  // namespace

/// Where the island would be at the end of the step if it moved as a whole, by the momenta that are held and no faster:
/// W is that of x_n, and no motion of these momenta has less kinetic energy. What touches the world stays at x_n but
/// for what slides off freely. P and L, linear in x, are right there, L by a hair of shear (of the third order of the
/// turn).
void Island::carry_as_whole(double h, std::vector<Vec4>& pose) {
  pose = motion.x;
  if (!problem_.momenta) return;
  Mat3 second{};
  for (int i = 0; i < rows_; ++i) {
    const Vec3 r = vec3(base_.xb[i]) - start_.about;
    second = second + outer(r, r * forcing.mass[i]);
  }
  const Mat3 inertia = Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
  StepProducts s;
  s.momenta = true;
  for (int a = 0; a < 3; ++a) {
    s.s_qq[a][a] = total_mass_;
    for (int b = 0; b < 3; ++b) s.s_qq[3 + a][3 + b] = inertia(a, b);
  }
  s.s_qq_inverse = pseudo_inverse(s.s_qq, 1e-10);
  const Mat6 inverse = with_kept(s).s_qq_inverse;
  // the motion of the whole, among those that change what is held, that has these momenta
  const auto whole = [&](Quantities c) {
    if (problem_.kept < 6) c = kept_part(c);
    return inverse * Vec6{c.p.x, c.p.y, c.p.z, c.l.x, c.l.y, c.l.z};
  };
  const Vec6 w = whole({problem_.target.p, problem_.target.l, 0});
  const Vec3 drift = Vec3{w[0], w[1], w[2]} * base_.hh, c = start_.center_n;
  const Mat3 turn = Turn(Vec3{w[3], w[4], w[5]} * h).matrix();
  // a free centre of mass goes where P leads it from xb
  const Vec3 to = problem_.grounded ? c + drift : start_.center + drift;
  for (Vec4& x : pose) x = Vec4(to + turn * (vec3(x) - c));
  Quantities off{problem_.target.p * -1.0, problem_.target.l * -1.0, 0};
  for (int i = 0; i < rows_; ++i) {
    const Vec3 r = vec3(base_.xb[i]) - start_.about, mv = vec3(pose[i] - base_.xb[i]) * (forcing.mass[i] / base_.hh);
    off.p += mv, off.l += cross(r, mv);
  }
  const Vec6 more = whole(off);
  const Vec3 shift = Vec3{more[0], more[1], more[2]} * base_.hh, shear = Vec3{more[3], more[4], more[5]} * base_.hh;
  for (int i = 0; i < rows_; ++i) pose[i] -= Vec4(shift + cross(shear, vec3(base_.xb[i]) - start_.about));
}

/// A step may end before it has converged: at a kink of what touches, at a bound of the multiplier, at a cap. Between
/// its end and that of a motion of the whole, which has no more of H than there was, lies one with H as it may be at
/// `most`; P and L, linear in x, hold on all of the line. (Of 150 hard boxes, balls and tetrahedra on colliders 19
/// gained 1e-4 of their energy or more, and one 2600 times as much.) It may be below that by up to `near`. Leaves x,
/// what is summed up there, and gg.
bool Island::draw_back(double h, double most, double slack, double near, Precision kernel) {
  if (consistent() || problem_.pivots || problem_.statics) return false;
  carry_as_whole(h, rest_pose_);
  end_ = x_;
  double last = 1;  // where x is
  const auto too_much = [&] { return sums_.rows.kinetic + sums_.energy - problem_.beta * sums_.rows.force_v - most; };
  const auto go_to = [&](double t) {
    last = t;
    for (int i = 0; i < rows_; ++i) x_[i] = rest_pose_[i] + (end_[i] - rest_pose_[i]) * t;
    const RowArrays rows = arrays();
    pass([&](int begin, int end) { return arrive(rows, begin, end); });
    sums_.energy = add_gradient(x_, gg_, kernel);
    return too_much();
  };
  double low = 0, high = 1, at_high = too_much(), at_low = go_to(0);
  if (!(at_low <= slack) && problem_.momenta && problem_.touches && near == 0) {
    // bodies that are crushed into each other may press elsewhere once they have turned: without a turn, then, and L
    // owed
    const Vec3 way =
        problem_.grounded ? Vec3{} : start_.center + problem_.target.p * (base_.hh / total_mass_) - start_.center_n;
    for (int i = 0; i < rows_; ++i) rest_pose_[i] = motion.x[i] + Vec4(way);
    at_low = go_to(0);
  }
  if (!(at_low <= slack)) {  // the lesser of the two, of which shed() takes what it can
    if (!(at_low < at_high) && std::isfinite(at_high)) go_to(1);
    return true;
  }
  // regula falsi that halves the weight of an end that stays (the Illinois rule)
  const int cuts = near > 0 ? few_cuts : most_cuts;
  // near to H is not near to it where the motion is less than that
  const double enough = std::max(0.5 * slack, std::min(near, near_motion * -at_low));
  double left = at_low;
  int stayed = 0;
  for (int n = 0; n < cuts && left < -enough; ++n) {
    double t = std::isfinite(at_high) ? low - at_low * (high - low) / (at_high - at_low) : 0.5 * (low + high);
    if (!(t > low && t < high) || n > most_cuts / 2) t = 0.5 * (low + high);
    const double now = go_to(t);
    if (now <= 0) {
      low = t, at_low = left = now;
      if (stayed == -1) at_high *= 0.5;
      stayed = -1;
    } else {
      high = t, at_high = now;
      if (stayed == 1) at_low *= 0.5;
      stayed = 1;
    }
  }
  if (last != low) go_to(low);
  return true;
}

}  // namespace verve
