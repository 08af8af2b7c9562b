// The rotation nearest to a 3x3 matrix.
#pragma once

#include <cmath>
#include <limits>

#include "verve/vec.h"

namespace verve {

/// F = U diag(sigma) V^T with U, V rotations; sigma.x >= sigma.y >= |sigma.z|, and sigma.z < 0 when det F < 0.
/// One-sided Jacobi: accurate for flat, inverted and badly scaled F alike. Cold.
void rotation_svd(const Mat3& F, Mat3& U, Vec3& sigma, Mat3& V);
/// Nearest rotation by that decomposition. Cold: the way out where nearest_rotation is ill-conditioned.
Mat3 nearest_rotation_svd(const Mat3& F);

/// R in SO(3) with the largest tr(R^T F), which minimises |F - R|, by FOAM (Markley 1993, "Attitude determination using
/// vector observations: a fast optimal matrix algorithm"): lambda = tr(R^T F) is the largest root of
///   (l^2 - |F|^2)^2 - 8 l det F - 4 |cof F|^2 = 0,
/// and R is rational in it. No stored state, no iteration on the rotation itself.
template <class T>
Mat3T<T> nearest_rotation(const Mat3T<T>& F) {
  using std::abs;
  using std::sqrt;
  // Scale to |F| = sqrt(3), the norm of a rotation: the thresholds below then hold for any size of F.
  const T size2 = squared_norm(F);
  const T tiny = std::numeric_limits<T>::min() * T(1e8);
  if (size2 > tiny && size2 < T(1) / tiny) [[likely]] {
    const T scale = sqrt(T(3) / size2);
    const Mat3T<T> B = F * scale;
    const Mat3T<T> cof = cofactor(B);
    const T d = dot(B.col[0], cof.col[0]);  // det B
    const T c2 = squared_norm(cof);
    // All four roots are real (sums of signed singular values), so Halley's iteration falls monotonically from the
    // upper bound sqrt(3)|B| = 3 onto the largest, at third order: a last step below `enough` leaves round-off only.
    const T enough = sizeof(T) == sizeof(double) ? T(1e-6) : T(1e-3);
    constexpr T least_zeta = T(0.1);  // R is off by about eps / zeta^2
    T l = T(3);
    for (int k = 0; k < 12; ++k) {
      const T q = l * l - T(3);
      const T p = q * q - T(8) * l * d - T(4) * c2;
      const T slope = T(4) * l * q - T(8) * d;
      // The slope is 8 zeta and falls along with l: once small it stays so, and dividing by it only makes noise.
      if (!(slope > T(8) * least_zeta)) break;
      const T half_curvature = T(6) * l * l - T(6);
      const T dl = p * slope / (slope * slope - p * half_curvature);
      l = l - dl;
      if (!(abs(dl) > enough)) break;
    }
    const T kappa = T(0.5) * (l * l - T(3));
    const T zeta = kappa * l - d;  // (s1+s2)(s2+s3)(s3+s1): small when the nearest rotation is nearly not unique
    if (zeta > least_zeta) [[likely]] {
      const T inv = T(1) / zeta;
      const T a = (kappa + T(3)) * inv, b = l * inv;
      const Mat3T<T> BtB = transpose(B) * B;
      return B * a + cof * b - (B * BtB) * inv;
    }
  }
  const Mat3 wide{{{{double(F.col[0].x), double(F.col[0].y), double(F.col[0].z)},
                    {double(F.col[1].x), double(F.col[1].y), double(F.col[1].z)},
                    {double(F.col[2].x), double(F.col[2].y), double(F.col[2].z)}}}};
  const Mat3 R = nearest_rotation_svd(wide);
  Mat3T<T> out;
  for (int c = 0; c < 3; ++c) out.col[c] = {T(R.col[c].x), T(R.col[c].y), T(R.col[c].z)};
  return out;
}

}  // namespace verve
