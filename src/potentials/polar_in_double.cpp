#include "potentials/polar_in_double.h"

#include "potentials/polar.h"

namespace verve {

void nearest_rotation_in_double(const float* F, float* R, int stride) {
  // In double FOAM is off by eps / zeta^2 = 2e-12 there, far below what a float resolves.
  constexpr double least_zeta = 0.01;
  Mat3 f;
  for (int k = 0; k < 9; ++k) f.col[k / 3][k % 3] = F[k * stride];
  const Foam<double> foam(f, least_zeta);
  const Mat3 r = foam.reliable ? rotation_of(foam, f) : nearest_rotation_svd(f);
  for (int k = 0; k < 9; ++k) R[k * stride] = float(r.col[k / 3][k % 3]);
}

}  // namespace verve
