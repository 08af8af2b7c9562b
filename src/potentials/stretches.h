// Isotropic energies by their stretches: Psi(z) = psi(s), z = sum of s_i u_i v_i^T. Second derivatives (Newton's
// method) and proximal points (ADMM) then follow from the kernel's own gradient at diag(s), written once for all of
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "linear/small.h"
#include "potentials/curvature_block.h"
#include "potentials/kernel.h"
#include "potentials/stretch_frame.h"

namespace verve {

struct Spring;
struct EdgeStrain;
struct EdgeLimit;
struct RodBending;
struct TriStrain;
struct TriCorotated;
struct TriLimit;
struct TriArea;
struct AreaSpring;
struct TetStrain;
struct TetLimit;
struct TetVolume;
struct VolumeSpring;
struct Stvk;
struct NeoHookean;
struct StableNeoHookean;
struct Corotated;

/// Kernels whose Psi depends on the stretches alone; where it has them, with d psi/ds and d2 psi/ds2 in closed form. A
/// kernel that is not listed has no Hessian: Newton's method takes its weights, ADMM its gradient.
template <class Kernel>
struct StretchEnergy {
  static constexpr bool isotropic = false;
};
struct IsotropicEnergy {
  static constexpr bool isotropic = true;
};
template <>
struct StretchEnergy<EdgeLimit> : IsotropicEnergy {};
template <>
struct StretchEnergy<TriLimit> : IsotropicEnergy {};
template <>
struct StretchEnergy<TriArea> : IsotropicEnergy {};
template <>
struct StretchEnergy<AreaSpring> : IsotropicEnergy {};
template <>
struct StretchEnergy<TetLimit> : IsotropicEnergy {};
template <>
struct StretchEnergy<TetVolume> : IsotropicEnergy {};

/// psi = w/2 sum (s_i - l)^2.
struct DistanceToIsometries : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3&) { return Mat3::identity() * e.weight; }
};
/// l = 1.
struct DistanceToRotations : DistanceToIsometries {
  static Mat3 hessian(const auto& e, const Vec3& s, Vec3& slope) {
    slope = (s - Vec3{1, 1, 1}) * e.weight;
    return Mat3::identity() * e.weight;
  }
};
template <>
struct StretchEnergy<Spring> : DistanceToIsometries {};
template <>
struct StretchEnergy<EdgeStrain> : DistanceToIsometries {};
template <>
struct StretchEnergy<RodBending> : DistanceToIsometries {};
template <>
struct StretchEnergy<TriStrain> : DistanceToIsometries {};
template <>
struct StretchEnergy<TetStrain> : DistanceToRotations {};

template <>
struct StretchEnergy<TriCorotated> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s, Vec3& slope) {
    const double trace = e.lambda * (s.x + s.y - 2);
    slope = {2 * e.mu * (s.x - 1) + trace, 2 * e.mu * (s.y - 1) + trace, 0};
    return outer(Vec3{1, 1, 0}, Vec3{1, 1, 0}) * e.lambda + Mat3::identity() * (2 * e.mu);
  }
};

/// f(J), J = s0 s1 s2: f'' grad J grad J^T + f' d2J.
inline Mat3 volume_hessian(const Vec3& s, double slope, double bend) {
  const Vec3 g{s.y * s.z, s.x * s.z, s.x * s.y};
  Mat3 out = outer(g, g) * bend;
  const double xy = slope * s.z, yz = slope * s.x, zx = slope * s.y;
  out(0, 1) += xy, out(1, 0) += xy, out(1, 2) += yz, out(2, 1) += yz, out(0, 2) += zx, out(2, 0) += zx;
  return out;
}
template <>
struct StretchEnergy<VolumeSpring> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s) {
    return volume_hessian(s, e.size * (s.x * s.y * s.z - 1), e.size);
  }
};
template <>
struct StretchEnergy<Stvk> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s, Vec3& slope) {
    const double half = 0.5 * e.lambda * (dot(s, s) - 3);
    for (int i = 0; i < 3; ++i) slope[i] = s[i] * (e.mu * (s[i] * s[i] - 1) + half);
    return outer(s, s) * e.lambda +
           Mat3::diagonal({e.mu * (3 * s.x * s.x - 1) + half, e.mu * (3 * s.y * s.y - 1) + half,
                           e.mu * (3 * s.z * s.z - 1) + half});
  }
};
template <>
struct StretchEnergy<NeoHookean> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s, Vec3& slope) {
    constexpr double J0 = 0.2, log_J0 = -1.609437912434100375;  // where neo_hookean.h goes over
    const double J = s.x * s.y * s.z, at_J0 = e.mu + e.lambda * (1 - log_J0);
    double f, bend;
    if (J >= J0) {
      const double inverse = 1 / J;
      f = (e.lambda * std::log(J) - e.mu) * inverse;
      bend = (e.lambda * inverse - f) * inverse;
    } else {
      const double d = 1 - J / J0;
      f = (e.lambda * log_J0 - e.mu) / J0 - at_J0 * d / (J0 * (1 + d));
      bend = at_J0 / (J0 * J0 * (1 + d) * (1 + d));
    }
    slope = s * e.mu + Vec3{s.y * s.z, s.x * s.z, s.x * s.y} * f;
    return volume_hessian(s, f, bend) + Mat3::identity() * e.mu;
  }
};
template <>
struct StretchEnergy<StableNeoHookean> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s, Vec3& slope) {
    const double size = dot(s, s) + 1, f = e.lambda * (s.x * s.y * s.z - 1) - 0.75 * e.mu;
    slope = s * (e.mu - e.mu / size) + Vec3{s.y * s.z, s.x * s.z, s.x * s.y} * f;
    return volume_hessian(s, f, e.lambda) + outer(s, s) * (2 * e.mu / (size * size)) +
           Mat3::identity() * (e.mu - e.mu / size);
  }
};
template <>
struct StretchEnergy<Corotated> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s, Vec3& slope) {
    const double trace = e.lambda * (s.x + s.y + s.z - 3);
    for (int i = 0; i < 3; ++i) slope[i] = 2 * e.mu * (s[i] - 1) + trace;
    return outer(Vec3{1, 1, 1}, Vec3{1, 1, 1}) * e.lambda + Mat3::identity() * (2 * e.mu);
  }
};

/// psi and its slope: those of the kernel at diag(s).
template <class Kernel>
double stretch_energy(const typename Kernel::template Element<double>& e, const Vec3& s, Vec3& slope) {
  constexpr int R = Kernel::rows;
  Columns<double, R> z{}, g{};
  for (int i = 0; i < R; ++i) z[i][i] = s[i];
  const double energy = energy_and_gradient<Kernel, double>(e, z, g);
  slope = {};
  for (int i = 0; i < R; ++i) slope[i] = g[i][i];
  return energy;
}

/// d psi/ds and d2 psi/ds2: in closed form, or the latter by central differences of the slope, whose error is about
/// 1e-10 of it (step eps^(1/3)) and where psi has a kink, as limits have, the mean of the two sides.
template <class Kernel>
Mat3 stretch_hessian(const typename Kernel::template Element<double>& e, const Vec3& s, Vec3& slope) {
  if constexpr (requires { StretchEnergy<Kernel>::hessian(e, s, slope); }) {
    return StretchEnergy<Kernel>::hessian(e, s, slope);
  } else if constexpr (requires { StretchEnergy<Kernel>::hessian(e, s); }) {
    stretch_energy<Kernel>(e, s, slope);
    return StretchEnergy<Kernel>::hessian(e, s);
  } else {
    stretch_energy<Kernel>(e, s, slope);
    const double size = std::max({std::abs(s.x), std::abs(s.y), std::abs(s.z)});
    const double d = 6e-6 * (size > 0 ? size : 1);
    Mat3 out{};
    for (int j = 0; j < Kernel::rows; ++j) {
      Vec3 up = s, down = s, above, below;
      up[j] += d, down[j] -= d;
      stretch_energy<Kernel>(e, up, above), stretch_energy<Kernel>(e, down, below);
      out.col[j] = (above - below) / (up[j] - down[j]);
    }
    return (out + transpose(out)) * 0.5;
  }
}

/// The nearest matrix without negative eigenvalues.
inline Mat3 without_negative(const Mat3& matrix) {
  Mat3 axes, out{};
  const Vec3 value = symmetric_eigen(matrix, axes);
  for (int k = 0; k < 3; ++k)
    if (value[k] > 0) out = out + outer(axes.col[k] * value[k], axes.col[k]);
  return out;
}

/// d2 Psi/dz2 at the stretches of one lane, by amounts of u_k v_l^T (Stomakhin et al. 2012; Smith et al. 2019): changes
/// of the stretches, turns and shears of two directions against each other, and turns out of the element's plane or
/// line. Each of these is a space of its own; with `definite` what is negative counts as 0: the nearest semi-definite
/// matrix.
template <class Kernel, int N>
void set_curvatures(const typename Kernel::template Element<double>& e, bool definite, int lane,
                    CurvatureBlock<Kernel::rows, N>& out) {
  constexpr int R = Kernel::rows;
  const Vec3 s{out.s[0][lane], out.s[1][lane], out.s[2][lane]};
  Vec3 slope;
  const Mat3 second = stretch_hessian<Kernel>(e, s, slope), along = definite ? without_negative(second) : second;
  const double size = std::max({std::abs(s.x), std::abs(s.y), std::abs(s.z)});
  const auto kept = [&](double c) { return definite && !(c > 0) ? 0 : c; };
  // Where two stretches meet, the quotients go over into derivatives; 1e-5 apart both are good to 1e-10.
  const double near = 1e-5 * size;
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < R; ++j) out.along[i][j][lane] = along(i, j);
    for (int j = i + 1; j < R; ++j) {
      const double sum = s[i] + s[j], gap = s[i] - s[j], mean = 0.5 * (second(i, i) + second(j, j));
      const double turn = kept(std::abs(sum) > near ? (slope[i] + slope[j]) / sum : mean + second(i, j));
      const double shear = kept(std::abs(gap) > near ? (slope[i] - slope[j]) / gap : mean - second(i, j));
      out.own[i][j][lane] = out.own[j][i][lane] = 0.5 * (shear + turn);
      out.crossed[i][j][lane] = out.crossed[j][i][lane] = 0.5 * (shear - turn);
    }
    for (int k = R; k < 3; ++k) out.own[k][i][lane] = kept(s[i] > 1e-12 * size ? slope[i] / s[i] : second(i, i));
  }
}

/// argmin Psi(z) + w/2 |z - q|^2 by its stretches: U and V are those of q (von Neumann). Newton's method from the
/// stretches of q, negative curvature turned positive, each step halved until it descends.
template <class Kernel>
Columns<double, Kernel::rows> proximal(const typename Kernel::template Element<double>& e,
                                       const Columns<double, Kernel::rows>& q) {
  constexpr int R = Kernel::rows;
  const Stretches<double, R> at(q);
  const double w = e.weight;
  Vec3 s = at.s, slope;
  const auto value = [&](const Vec3& t, Vec3& g) {
    const double energy = stretch_energy<Kernel>(e, t, g);
    g += (t - at.s) * w;
    return energy + 0.5 * w * dot(t - at.s, t - at.s);
  };
  double now = value(s, slope);
  const double enough = 1e-12 * w * (1 + norm(s));
  for (int k = 0; k < 30 && norm(slope) > enough; ++k) {
    Mat3 axes;
    Vec3 unused;
    Vec3 c = symmetric_eigen(stretch_hessian<Kernel>(e, s, unused) + Mat3::identity() * w, axes);
    const Vec3 g = transpose(axes) * slope;
    Vec3 step{};
    for (int i = 0; i < 3; ++i) step += axes.col[i] * (g[i] / std::max(std::abs(c[i]), 1e-3 * w));
    double length = 1;
    bool moved = false;
    for (int trial = 0; trial < 20 && !moved; ++trial, length *= 0.5) {
      Vec3 there;
      const Vec3 t = s - step * length;
      const double then = value(t, there);
      // near the end round-off hides that the energy falls, while the slope still tells
      moved = then < now || (then <= now + 1e-12 * (std::abs(now) + w) && norm(there) < 0.5 * norm(slope));
      if (moved) s = t, now = then, slope = there;
    }
    if (!moved) break;
  }
  return at.compose(s);
}

}  // namespace verve
