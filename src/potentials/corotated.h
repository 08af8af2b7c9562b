// Corotated linear material.
#if !defined(VERVE_COROTATED_H) || defined(VERVE_PACKS)
#define VERVE_COROTATED_H

#include "potentials/hyperelastic.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// Psi = mu |F - R|^2 + lambda/2 tr^2(R^T F - 1), R the rotation nearest to F. As tr(R^T F) is the largest over all
/// rotations, its derivative is R.
///
/// Curvature: 2 mu, 2 mu + 3 lambda along R, and 2 mu + 2 (lambda (s1 + s2 + s3 - 3) - 2 mu) / (si + sj) for the turns
/// of two axes with stretches si, sj; that last one has no bound where a pair is pressed flat and the third is long.
struct Corotated : HyperelasticTet {
  static constexpr const char* name = "corotated";
  static constexpr const char* help = "linear material in the frame of the nearest rotation";

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& P) {
    const Mat3T<T> R = nearest_rotation(Mat3T<T>{F});
    Columns<T, 3> strain;
    T trace = T(0), distance2 = T(0);
    unroll<3>([&](auto i) {
      strain[i] = F[i] - R.col[i];
      trace = trace + dot(R.col[i], strain[i]);
      distance2 = distance2 + dot(strain[i], strain[i]);
    });
    const T pressure = e.lambda * trace, twice = T(2) * e.mu;
    unroll<3>([&](auto i) { P[i] = add_scaled(strain[i] * twice, R.col[i], pressure); });
    return e.mu * distance2 + T(0.5) * T(pressure * trace);
  }

  /// From tr(R^T F) without R, where neither cancellation nor the way to it stands against that; otherwise by R.
  template <class T>
  static T energy(const Element<T>& e, const Columns<T, 3>& F) {
    const Foam<T> foam(Mat3T<T>{F});
    const T distance2 = foam.size2 - T(2) * foam.lambda + T(3), trace = foam.lambda - T(3);
    // 1e-4 of the terms leaves 12 of 16 digits
    if (all(foam.reliable & (distance2 > T(1e-4) * (foam.size2 + T(3)))))
      return e.mu * distance2 + T(0.5) * e.lambda * T(trace * trace);
    Columns<T, 3> unused;
    return energy_gradient(e, F, unused);
  }
};

VERVE_KERNEL_END(Corotated)
#endif
