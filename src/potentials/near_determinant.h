// The nearest matrix with a given determinant, for matrices that nearly have it: without a decomposition. For numbers
// and for packs of them: see kernel.h.
#if defined(VERVE_NEAR_DETERMINANT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_NEAR_DETERMINANT_H
#undef VERVE_NEAR_DETERMINANT_H
#else
#define VERVE_NEAR_DETERMINANT_H
#endif

#include "potentials/kernel.h"

VERVE_NAMESPACE_BEGIN

/// D with det(F + D) = c and |D| least, for F of size about 1 and det = det F (PD Eq. 24). True in the lanes where it
/// was found; in the others D means nothing.
///
/// With T = F + D the Lagrangian is stationary where D = lambda cof T. T has the U and V of F, and what has them is x F
/// + y cof F + z F F^T F: three numbers in place of nine. Products of such matrices are reduced to the three by the
/// invariants i1 = |F|^2, i2 = |cof F|^2 and det (Cayley and Hamilton); nothing is divided by differences of singular
/// values, so equal ones do no harm. Newton's iteration for (x, y, z) and lambda, from its first step:
///   (1 - lambda L) step = lambda cof T - D + mu cof T,   cof T : step = c - det T,   L = d cof / dT.
template <class T>
MaskOf<T> near_determinant(const Mat3T<T>& F, const T& det, const T& c, Mat3T<T>& D) {
  constexpr bool wide = sizeof(typename LaneOf<T>::Type) == sizeof(double);
  const T enough = T(wide ? 2e-9 : 5e-5);  // what is left after another step is about the square
  const Mat3T<T> cof = cofactor(F);
  const T i1 = squared_norm(F), i2 = squared_norm(cof), d = det, d2 = d + d;
  const T k = i1 * i1 - i2, j2 = k - i2, d3 = d2 + d, di1 = d * i1;
  const T j3 = i1 * (j2 - i2) + d3 * d;  // |F F^T F|^2; j2 = F : F F^T F
  const auto gram = [&](const Vec3T<T>& v) {
    return Vec3T<T>{T(i1 * v.x + d3 * v.y + j2 * v.z), T(d3 * v.x + i2 * v.y + di1 * v.z),
                    T(j2 * v.x + di1 * v.y + j3 * v.z)};
  };

  const T gap = c - d;
  T lambda = gap / i2;
  Vec3T<T> t{T(0), lambda, T(0)};
  MaskOf<T> done = T(0) > T(1);
  constexpr int blind = 1, most = 5;
  for (int step = 0; step < most; ++step) {
    const T x = t.x, y = t.y, z = t.z, yx = i1 * y, zx = i1 * z, dz = d * z, dy = d * y;
    // L of D
    Mat3T<T> L{{Vec3T<T>{T(yx - dz), T(x + x + zx), T(-y)}, Vec3T<T>{T(dy + dy + i1 * x + k * z), T(-dz), T(-x - zx)},
                Vec3T<T>{T(k * y - d * x - T(2) * di1 * z), T(T(2) * i2 * z + i1 * x - dy), T(dz + dz - yx)}}};
    const Vec3T<T> own = (L.col[0] * x + L.col[1] * y + L.col[2] * z) * T(0.5);  // cof D
    const Vec3T<T> linear{T(yx - dz), T(x + x + zx), T(-y)};                     // L of F, times D
    const Vec3T<T> C = Vec3T<T>{T(0), T(1), T(0)} + linear + own;                // cof T
    const Vec3T<T> off = C * lambda - t;
    const Vec3T<T> of_own = gram(own);
    const T change = (d3 * x + i2 * y + di1 * z) + of_own.x + dot(of_own, t) * T(1.0 / 3);
    const T left = gap - change;
    if (step >= blind) done = (abs(left) + abs(off.x) + abs(off.y) + abs(off.z)) <= enough * min(c, T(1));

    L.col[0].y = L.col[0].y + T(2);
    L.col[1].x = L.col[1].x + i1, L.col[1].z = L.col[1].z - T(1);
    L.col[2].x = L.col[2].x - d, L.col[2].y = L.col[2].y + i1;
    Mat3T<T> M{{L.col[0] * T(-lambda), L.col[1] * T(-lambda), L.col[2] * T(-lambda)}};
    M.col[0].x = M.col[0].x + T(1), M.col[1].y = M.col[1].y + T(1), M.col[2].z = M.col[2].z + T(1);
    const Mat3T<T> adjoint = cofactor(M);
    const T scale = T(1) / dot(M.col[0], adjoint.col[0]);
    const auto solve = [&](const Vec3T<T>& v) {
      return Vec3T<T>{T(dot(adjoint.col[0], v) * scale), T(dot(adjoint.col[1], v) * scale),
                      T(dot(adjoint.col[2], v) * scale)};
    };
    const Vec3T<T> by_off = solve(off), by_mu = solve(C), gC = gram(C);
    const T mu = (left - dot(gC, by_off)) / dot(gC, by_mu);
    t = t + by_off + by_mu * mu;
    lambda = lambda + mu;
    if (step >= blind && all(done)) break;
  }

  // F F^T F column by column
  const Vec3T<T>&f0 = F.col[0], &f1 = F.col[1], &f2 = F.col[2];
  const T s01 = dot(f0, f1) * t.z, s02 = dot(f0, f2) * t.z, s12 = dot(f1, f2) * t.z;
  const T s00 = dot(f0, f0) * t.z + t.x, s11 = dot(f1, f1) * t.z + t.x, s22 = dot(f2, f2) * t.z + t.x;
  D.col[0] = cof.col[0] * t.y + f0 * s00 + f1 * s01 + f2 * s02;
  D.col[1] = cof.col[1] * t.y + f0 * s01 + f1 * s11 + f2 * s12;
  D.col[2] = cof.col[2] * t.y + f0 * s02 + f1 * s12 + f2 * s22;
  // The last singular value is at least 2 det / i1. Where no value moves by more than half of that, all stay above half
  // of theirs, and such a point is the nearest unless c < det / 2 (determinant.h).
  return done & (d > T(0)) & (T(2) * c >= d) & (squared_norm(D) * T(i1 * i1) <= d * d);
}

VERVE_NAMESPACE_END

#endif
