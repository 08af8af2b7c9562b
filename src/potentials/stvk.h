// St. Venant-Kirchhoff material.
#if !defined(VERVE_STVK_H) || defined(VERVE_PACKS)
#define VERVE_STVK_H

#include "potentials/hyperelastic.h"

VERVE_KERNEL_BEGIN

/// Psi = mu |E|^2 + lambda/2 tr^2 E, E = (F^T F - 1)/2. Does not tell F from its mirror image, and gives way when
/// pressed below 1/sqrt(3) of its length.
struct Stvk : HyperelasticTet {
  static constexpr const char* name = "stvk";
  static constexpr const char* help = "St. Venant-Kirchhoff material";

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& P) {
    const GreenStrain<T> g(F);
    // P = F (2 mu E + lambda tr E)
    const T pressure = T(0.5) * e.lambda * g.trace;
    const T xx = e.mu * g.xx + pressure, yy = e.mu * g.yy + pressure, zz = e.mu * g.zz + pressure;
    const T xy = e.mu * g.xy, yz = e.mu * g.yz, zx = e.mu * g.zx;
    P[0] = add_scaled(add_scaled(F[0] * xx, F[1], xy), F[2], zx);
    P[1] = add_scaled(add_scaled(F[0] * xy, F[1], yy), F[2], yz);
    P[2] = add_scaled(add_scaled(F[0] * zx, F[1], yz), F[2], zz);
    return T(0.25) * T(e.mu * g.size2 + pressure * g.trace);
  }
};

VERVE_KERNEL_END(Stvk)
#endif
