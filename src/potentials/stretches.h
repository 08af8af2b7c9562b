// Isotropic energies by their stretches: Psi(z) = psi(s), z = sum of s_i u_i v_i^T. Second derivatives (Newton's
// method) and proximal points (ADMM) then follow from the kernel's own gradient at diag(s), written once for all of
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "linear/small.h"
#include "potentials/kernel.h"
#include "potentials/polar.h"
#include "potentials/svd32.h"

namespace verve {

struct Spring;
struct EdgeStrain;
struct EdgeLimit;
struct RodBending;
struct TriStrain;
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

/// Kernels whose Psi depends on the stretches alone; where it has them, with d2 psi/ds2 in closed form. A kernel that
/// is not listed has no Hessian: Newton's method takes its weights, ADMM its gradient.
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
template <>
struct StretchEnergy<Spring> : DistanceToIsometries {};
template <>
struct StretchEnergy<EdgeStrain> : DistanceToIsometries {};
template <>
struct StretchEnergy<RodBending> : DistanceToIsometries {};
template <>
struct StretchEnergy<TriStrain> : DistanceToIsometries {};
template <>
struct StretchEnergy<TetStrain> : DistanceToIsometries {};

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
  static Mat3 hessian(const auto& e, const Vec3& s) {
    const double half = 0.5 * e.lambda * (dot(s, s) - 3);
    return outer(s, s) * e.lambda +
           Mat3::diagonal({e.mu * (3 * s.x * s.x - 1) + half, e.mu * (3 * s.y * s.y - 1) + half,
                           e.mu * (3 * s.z * s.z - 1) + half});
  }
};
template <>
struct StretchEnergy<NeoHookean> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s) {
    constexpr double J0 = 0.2, log_J0 = -1.609437912434100375;  // where neo_hookean.h goes over
    const double J = s.x * s.y * s.z, at_J0 = e.mu + e.lambda * (1 - log_J0);
    double slope, bend;
    if (J >= J0) {
      slope = (e.lambda * std::log(J) - e.mu) / J;
      bend = (e.lambda - e.lambda * std::log(J) + e.mu) / (J * J);
    } else {
      const double d = 1 - J / J0;
      slope = (e.lambda * log_J0 - e.mu) / J0 - at_J0 * d / (J0 * (1 + d));
      bend = at_J0 / (J0 * J0 * (1 + d) * (1 + d));
    }
    return volume_hessian(s, slope, bend) + Mat3::identity() * e.mu;
  }
};
template <>
struct StretchEnergy<StableNeoHookean> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3& s) {
    const double size = dot(s, s) + 1, slope = e.lambda * (s.x * s.y * s.z - 1) - 0.75 * e.mu;
    return volume_hessian(s, slope, e.lambda) + outer(s, s) * (2 * e.mu / (size * size)) +
           Mat3::identity() * (e.mu - e.mu / size);
  }
};
template <>
struct StretchEnergy<Corotated> : IsotropicEnergy {
  static Mat3 hessian(const auto& e, const Vec3&) {
    return outer(Vec3{1, 1, 1}, Vec3{1, 1, 1}) * e.lambda + Mat3::identity() * (2 * e.mu);
  }
};

/// Of z with R columns. u is a full frame; the last stretch of an inverted tetrahedron is negative, with u and v
/// rotations (Irving et al. 2004). v[i][r]: entry of column r in the i-th direction at rest.
template <int R>
struct Stretches {
  Vec3 s{};
  Vec3 u[3];
  double v[R][R];

  explicit Stretches(const Columns<double, R>& z) {
    if constexpr (R == 1) {
      s.x = norm(z[0]);
      u[0] = s.x > 0 ? z[0] / s.x : Vec3{1, 0, 0};
      u[1] = any_perpendicular<double>(u[0]);
      u[2] = cross(u[0], u[1]);
      v[0][0] = 1;
    } else if constexpr (R == 2) {
      const Svd32<double> svd = svd32<double>(z);
      s.x = svd.s0, s.y = svd.s1;
      u[0] = svd.u0, u[1] = svd.u1, u[2] = cross(svd.u0, svd.u1);
      v[0][0] = svd.cs, v[0][1] = svd.sn, v[1][0] = -svd.sn, v[1][1] = svd.cs;
    } else {
      Mat3 U, V;
      rotation_svd(Mat3{{z[0], z[1], z[2]}}, U, s, V);
      for (int i = 0; i < 3; ++i) {
        u[i] = U.col[i];
        for (int r = 0; r < 3; ++r) v[i][r] = V.col[i][r];
      }
    }
  }

  /// u_i v_j^T, times a factor added to `out`.
  void add(int i, int j, double factor, Columns<double, R>& out) const {
    for (int r = 0; r < R; ++r) out[r] += u[i] * (factor * v[j][r]);
  }
  Columns<double, R> compose(const Vec3& stretches) const {
    Columns<double, R> out{};
    for (int i = 0; i < R; ++i) add(i, i, stretches[i], out);
    return out;
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

/// d2 psi/ds2: in closed form, or by central differences of the slope, whose error is about 1e-10 of it (step
/// eps^(1/3)) and where psi has a kink, as limits have, the mean of the two sides.
template <class Kernel>
Mat3 stretch_hessian(const typename Kernel::template Element<double>& e, const Vec3& s) {
  if constexpr (requires { StretchEnergy<Kernel>::hessian(e, s); }) {
    return StretchEnergy<Kernel>::hessian(e, s);
  } else {
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

/// d2 Psi/dz2 = sum of value m m^T over 3 R matrices m of unit size: changes of the stretches, turns and shears of two
/// directions against each other (Stomakhin et al. 2012; Smith et al. 2019), and turns out of the
/// element's plane or line. With `definite` negative values count as 0: the nearest semi-definite matrix.
template <class Kernel>
struct HessianModes {
  static constexpr int R = Kernel::rows, count = 3 * R;
  double value[count];
  Columns<double, R> mode[count];

  HessianModes(const typename Kernel::template Element<double>& e, const Columns<double, R>& z, bool definite) {
    const Stretches<R> at(z);
    const Vec3& s = at.s;
    Vec3 slope;
    stretch_energy<Kernel>(e, s, slope);
    const Mat3 second = stretch_hessian<Kernel>(e, s);
    const double size = std::max({std::abs(s.x), std::abs(s.y), std::abs(s.z)});
    int n = 0;
    const auto next = [&](double c) -> Columns<double, R>& {
      value[n] = definite && !(c > 0) ? 0 : c;
      mode[n] = {};
      return mode[n++];
    };

    Mat3 axes;
    const Vec3 curvature = symmetric_eigen(second, axes);
    for (int k = 0, kept = 0; k < 3 && kept < R; ++k) {
      // those of a smaller matrix are the ones within its rows; the rest of `second` is zero
      double inside = 0;
      for (int i = 0; i < R; ++i) inside += axes(i, k) * axes(i, k);
      if (inside < 0.5) continue;
      Columns<double, R>& m = next(curvature[k]);
      for (int i = 0; i < R; ++i) at.add(i, i, axes(i, k), m);
      ++kept;
    }
    // Where two stretches meet, the quotients go over into derivatives; 1e-5 apart both are good to 1e-10.
    const double near = 1e-5 * size, half = std::sqrt(0.5);
    for (int i = 0; i < R; ++i) {
      for (int j = i + 1; j < R; ++j) {
        const double sum = s[i] + s[j], gap = s[i] - s[j], mean = 0.5 * (second(i, i) + second(j, j));
        Columns<double, R>& turn = next(std::abs(sum) > near ? (slope[i] + slope[j]) / sum : mean + second(i, j));
        at.add(i, j, half, turn), at.add(j, i, -half, turn);
        Columns<double, R>& shear = next(std::abs(gap) > near ? (slope[i] - slope[j]) / gap : mean - second(i, j));
        at.add(i, j, half, shear), at.add(j, i, half, shear);
      }
      for (int k = R; k < 3; ++k) at.add(k, i, 1, next(s[i] > 1e-12 * size ? slope[i] / s[i] : second(i, i)));
    }
  }
};

/// argmin Psi(z) + w/2 |z - q|^2 by its stretches: U and V are those of q (von Neumann). Newton's method from the
/// stretches of q, negative curvature turned positive, each step halved until it descends.
template <class Kernel>
Columns<double, Kernel::rows> proximal(const typename Kernel::template Element<double>& e,
                                       const Columns<double, Kernel::rows>& q) {
  constexpr int R = Kernel::rows;
  const Stretches<R> at(q);
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
    Vec3 c = symmetric_eigen(stretch_hessian<Kernel>(e, s) + Mat3::identity() * w, axes);
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
