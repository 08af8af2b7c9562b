// z by its stretches and their directions. For numbers and for packs of them: see kernel.h.
#if defined(VERVE_STRETCH_FRAME_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_STRETCH_FRAME_H
#undef VERVE_STRETCH_FRAME_H
#else
#define VERVE_STRETCH_FRAME_H
#endif

#include "potentials/polar.h"
#include "potentials/svd32.h"

VERVE_NAMESPACE_BEGIN

/// z = sum of s_i u_i v_i^T, z of R columns. u is a full frame; the last stretch of an inverted tetrahedron is
/// negative, with u and v rotations (Irving et al. 2004). v[i][r]: entry of column r in the i-th direction at rest.
template <class T, int R>
struct Stretches {
  Vec3T<T> s;
  Vec3T<T> u[3];
  T v[R][R];

  /// `start`: see rotation_svd.
  explicit Stretches(const Columns<T, R>& z, const Mat3T<T>* start = nullptr) {
    static_cast<void>(start);
    if constexpr (R == 1) {
      s = {norm(z[0]), T(0), T(0)};
      u[0] = unit_or_axis<T>(z[0], s.x);
      u[1] = any_perpendicular<T>(u[0]);
      u[2] = cross(u[0], u[1]);
      v[0][0] = T(1);
    } else if constexpr (R == 2) {
      const Svd32<T> svd = svd32<T>(z);
      s = {svd.s0, svd.s1, T(0)};
      u[0] = svd.u0, u[1] = svd.u1, u[2] = cross(svd.u0, svd.u1);
      v[0][0] = svd.cs, v[0][1] = svd.sn, v[1][0] = -svd.sn, v[1][1] = svd.cs;
    } else {
      Mat3T<T> U, V;
      rotation_svd(Mat3T<T>{{z[0], z[1], z[2]}}, U, s, V, start);
      for (int i = 0; i < 3; ++i) {
        u[i] = U.col[i];
        for (int r = 0; r < 3; ++r) v[i][r] = V.col[i][r];
      }
    }
  }

  Columns<T, R> compose(const Vec3T<T>& stretches) const {
    return collect<R>([&](auto r) {
      Vec3T<T> z = u[0] * T(stretches[0] * v[0][r]);
      for (int i = 1; i < R; ++i) z = add_scaled(z, u[i], T(stretches[i] * v[i][r]));
      return z;
    });
  }
};

VERVE_NAMESPACE_END

#endif
