#include "integrators/held_motion.h"

namespace verve {

namespace {

/// Of the inertia, scaled: turns of less inertia are none (a straight chain about itself).
constexpr double no_inertia = 1e-10;

Vec3 center_of(const Masses& masses, const HeldMomenta& held, const Vec4* x) {
  if (held.pivot) return *held.pivot;
  Vec3 sum{};
  for (int i = 0; i < masses.count; ++i) sum += x[i].xyz() * masses.mass[i];
  return sum / masses.total;
}

Mat3 inertia_about(const Masses& masses, const Vec4* x, const Vec3& center) {
  Mat3 second{};
  for (int i = 0; i < masses.count; ++i) {
    const Vec3 r = x[i].xyz() - center;
    second = second + outer(r, r * masses.mass[i]);
  }
  if (masses.coupling && !masses.coupling->empty()) second = second + masses.coupling->second(x);
  return Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
}

RigidMotion rigid_about(const Masses& masses, const HeldMomenta& held, const Vec4* x, const Vec3& center,
                        const Vec3& momentum, const Vec3& spin) {
  RigidMotion out{momentum, spin, center, {}, {}, 0};
  if (held.count == 0) return out;
  const Mat3 inertia = inertia_about(masses, x, center);
  if (held.count == 6) {
    out.velocity = momentum / masses.total, out.turn = pseudo_inverse(inertia, no_inertia) * spin;
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
    const Vec6 y = pseudo_inverse(gram, no_inertia) * along;
    for (int k = 0; k < held.count; ++k)
      for (int i = 0; i < 6; ++i) w[i] += y[k] * held.basis[k][i];
    out.velocity = {w[0], w[1], w[2]}, out.turn = {w[3], w[4], w[5]};
  }
  out.kinetic = 0.5 * masses.total * dot(out.velocity, out.velocity) + 0.5 * dot(out.turn, inertia * out.turn);
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
  if (held.count > 0 && masses.coupling && !masses.coupling->empty()) l += masses.coupling->spin(x, v);
  return rigid_about(masses, held, x, center, p, l);
}

double relative_motion(const Masses& masses, const RigidMotion& held, const Vec4* x, const Vec4* v, Vec4* relative) {
  for (int i = 0; i < masses.count; ++i) relative[i] = v[i] - held.at(x[i]);
  return kinetic_energy(masses, relative);
}

}  // namespace verve
