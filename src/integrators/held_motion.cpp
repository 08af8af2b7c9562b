#include "integrators/held_motion.h"

#include <algorithm>
#include <cmath>

#include "base/ranks.h"
#include "integrators/turn.h"

namespace verve {

namespace {

/// Of the inertia, by itself and scaled: combinations of held momenta with less of it are none. (A straight rope that
/// lies on a floor may turn about itself: with 1e-10 a thousandth of its weight turned it by 30 rad a step.)
constexpr double no_inertia = 1e-6;
/// Of the largest moment of inertia: what round-off leaves of a moment that is none (a straight chain about itself).
constexpr double inertia_digits = 1e-15;
/// Of an energy.
constexpr double round_off = 1e-13;

Vec3 center_of(const Masses& masses, const HeldMomenta& held, const Vec4* x) {
  if (held.pivot) return *held.pivot;
  Vec3 sum{};
  for (int i = 0; i < masses.count; ++i) sum += x[i].xyz() * masses.mass[i];
  return sum_over_ranks(sum) / masses.total;
}

Mat3 inertia_about(const Masses& masses, const Vec4* x, const Vec3& center) {
  Mat3 second{};
  for (int i = 0; i < masses.count; ++i) {
    const Vec3 r = x[i].xyz() - center;
    second = second + outer(r, r * masses.mass[i]);
  }
  second = sum_over_ranks(second);
  if (masses.coupling && !masses.coupling->empty()) second = second + masses.coupling->second(x);
  return Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
}

/// Moments of inertia and their axes. Angular momentum about an axis without inertia has a turn all the same, of more
/// energy than anything: what has a part of it there is no pose to be in (StepSolver::go_back).
struct Inertia {
  Mat3 axes;
  Vec3 moments;

  explicit Inertia(const Mat3& inertia) {
    moments = symmetric_eigen(inertia, axes);
    const double least = inertia_digits * std::max({moments.x, moments.y, moments.z});
    for (int k = 0; k < 3; ++k) moments[k] = std::max(moments[k], least);
  }
  /// Axis by axis: of a chain that is nearly straight the entries of an inverse matrix would have no digits left for
  /// the turns across it.
  Vec3 turn_of(const Vec3& spin) const {
    Vec3 out{};
    for (int k = 0; k < 3; ++k)
      if (moments[k] > 0) out += axes.col[k] * (dot(axes.col[k], spin) / moments[k]);
    return out;
  }
};

RigidMotion rigid_about(const Masses& masses, const HeldMomenta& held, const Vec4* x, const Vec3& center,
                        const Vec3& momentum, const Vec3& spin) {
  RigidMotion out{momentum, spin, center, {}, {}, 0};
  if (held.count == 0) return out;
  const Mat3 inertia = inertia_about(masses, x, center);
  if (held.count == 6) {
    out.velocity = momentum / masses.total, out.turn = Inertia(inertia).turn_of(spin);
    out.kinetic = 0.5 * dot(momentum, out.velocity) + 0.5 * dot(spin, out.turn);
  } else {
    // w = B (B^T M B)^+ B^T (P, L)
    Mat6 mass{}, gram{};
    for (int a = 0; a < 3; ++a) {
      mass[a][a] = masses.total;
      for (int b = 0; b < 3; ++b) mass[3 + a][3 + b] = inertia(a, b);
    }
    const Vec6 momenta = {momentum.x, momentum.y, momentum.z, spin.x, spin.y, spin.z};
    Vec6 along{}, w{};
    for (int k = 0; k < held.count; ++k) {
      along[k] = dot(held.basis[k], momenta);
      for (int m = 0; m < held.count; ++m) gram[k][m] = dot(held.basis[k], mass * held.basis[m]);
    }
    // What has no inertia by itself is no motion: the pseudo-inverse, which knows of ratios only, would turn a straight
    // chain about itself by the round-off of its spin over that of its moment.
    double largest = 0;
    for (int k = 0; k < held.count; ++k) largest = std::max(largest, gram[k][k]);
    for (int k = 0; k < held.count; ++k)
      for (int m = 0; m < held.count && gram[k][k] < no_inertia * largest; ++m)
        if (m != k) gram[k][m] = gram[m][k] = 0;
    for (int k = 0; k < held.count; ++k)
      if (gram[k][k] < no_inertia * largest) gram[k][k] = along[k] = 0;
    const Vec6 y = pseudo_inverse(gram, no_inertia) * along;
    for (int k = 0; k < held.count; ++k)
      for (int i = 0; i < 6; ++i) w[i] += y[k] * held.basis[k][i];
    out.velocity = {w[0], w[1], w[2]}, out.turn = {w[3], w[4], w[5]};
    out.kinetic = 0.5 * masses.total * dot(out.velocity, out.velocity) + 0.5 * dot(out.turn, inertia * out.turn);
  }
  return out;
}

}  // namespace

double kinetic_energy(const Masses& masses, const Vec4* v) {
  static const MassCoupling lumped;
  return kinetic_energy(masses.mass, masses.count, masses.coupling ? *masses.coupling : lumped, v);
}

double mass_product(const Masses& masses, const Vec4* a, const Vec4* b) {
  double sum = 0;
  for (int i = 0; i < masses.count; ++i) sum += masses.mass[i] * dot(a[i], b[i]);
  sum = sum_over_ranks(sum);
  if (masses.coupling && !masses.coupling->empty())
    for (int i = 0; i < masses.count; ++i) sum += dot(a[i], masses.coupling->row(b, i));
  return sum;
}

RigidMotion rigid_motion(const Masses& masses, const HeldMomenta& held, const Vec4* x, const Vec3& momentum,
                         const Vec3& spin) {
  return rigid_about(masses, held, x, center_of(masses, held, x), momentum, spin);
}

RigidMotion held_motion(const Masses& masses, const HeldMomenta& held, const Vec4* x, const Vec4* v) {
  const Vec3 center = center_of(masses, held, x);
  Vec3 p{}, l{};
  for (int i = 0; i < masses.count && held.count > 0; ++i) {
    const Vec3 mv = v[i].xyz() * masses.mass[i];
    p += mv, l += cross(x[i].xyz() - center, mv);
  }
  p = sum_over_ranks(p), l = sum_over_ranks(l);
  if (held.count > 0 && masses.coupling && !masses.coupling->empty()) l += masses.coupling->spin(x, v);
  return rigid_about(masses, held, x, center, p, l);
}

/// Seen from the body the spin goes from l, where the turn begins, to Q^T l, Q the turn by `held`. If it has more energy
/// there, then the nearest of these counts that has not: down the slope of the energy, between l and Q^T l where the
/// energy is that of l again, and l itself, for which the body turns about its spin.
Mat3 carried_turn(const Masses& masses, const HeldMomenta& momenta, const Vec4* x, const RigidMotion& held, double h) {
  const Mat3 turn = Turn(held.turn * h).matrix();
  const Vec3 l = held.spin, ahead = transpose(turn) * l;
  const Inertia inertia(inertia_about(masses, x, center_of(masses, momenta, x)));
  const auto energy = [&](const Vec3& a, const Vec3& b) { return dot(a, inertia.turn_of(b)); };
  const double most = energy(l, l) * (1 + round_off), size = norm(l);
  if (!(size > 0) || energy(ahead, ahead) <= most) return turn;
  // the direction at right angles to a in which b is, as long as they are
  const auto across = [&](const Vec3& a, const Vec3& b) {
    const Vec3 n = b - a * (dot(a, b) / (size * size));
    return n * (norm(n) > 0 ? size / norm(n) : 0);
  };
  const auto along = [&](const Vec3& a, const Vec3& n, double tangent) {
    return (a + n * tangent) / std::sqrt(1 + tangent * tangent);
  };
  // of a + n t: (E_aa - E_ll) + 2 E_an t + (E_nn - E_ll) t^2 = 0
  const Vec3 down = across(ahead, inertia.turn_of(ahead) * -1.0), back = across(l, ahead);
  const double a = energy(down, down) - energy(l, l), b = energy(ahead, down), c = energy(ahead, ahead) - energy(l, l);
  const double other = -2 * energy(l, back) / (energy(back, back) - energy(l, l));
  Vec3 to = along(ahead, down, c / (std::sqrt(std::max(0.0, b * b - a * c)) - b));
  if (!(energy(to, to) <= most)) to = other > 0 && other * dot(l, ahead) < dot(back, ahead) ? along(l, back, other) : l;
  if (!(energy(to, to) <= most)) to = l;
  const Vec3 axis = cross(to, ahead) / (size * size);
  const double sine = norm(axis), angle = std::atan2(sine, dot(to, ahead) / (size * size));
  return sine > 0 ? turn * Turn(axis * (angle / sine)).matrix() : turn;
}

double relative_motion(const Masses& masses, const RigidMotion& held, const Vec4* x, const Vec4* v, Vec4* relative) {
  for (int i = 0; i < masses.count; ++i) relative[i] = v[i] - held.at(x[i]);
  return kinetic_energy(masses, relative);
}

}  // namespace verve
