// Stable Neo-Hookean material.
#if !defined(VERVE_STABLE_NEO_HOOKEAN_H) || defined(VERVE_PACKS)
#define VERVE_STABLE_NEO_HOOKEAN_H

#include "potentials/hyperelastic.h"
#include "potentials/logarithm.h"

VERVE_KERNEL_BEGIN

/// Psi = mu/2 (|F|^2 - 3) - mu/2 log((|F|^2 + 1)/4) + lambda/2 ((J - alpha)^2 - (1 - alpha)^2), alpha = 1 + 3/4
/// mu/lambda: Smith, de Goes, Kim 2018, "Stable Neo-Hookean Flesh Simulation", Eq. 14, shifted to zero at rest. mu and
/// lambda are 4/3 mu and lambda + 5/6 mu of small strain, so that those see the material that was asked for.
struct StableNeoHookean : HyperelasticTet {
  static constexpr const char* name = "stable_neo_hookean";
  static constexpr const char* help = "Neo-Hookean material, smooth through inversion (Smith et al. 2018)";

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    Element<double> e = HyperelasticTet::bind(p, rest);
    e.lambda += e.mu * (5.0 / 6);
    e.mu *= 4.0 / 3;
    return e;
  }

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& P) {
    const GreenStrain<T> g(F);
    const VolumeChange<T> volume(F, g);
    // J - 1 = (J^2 - 1)/(J + 1), and |F|^2 - 3 - 2 (J - 1) without its first order, which cancels
    const T growth = select(volume.near, T(T(g.trace + volume.higher) / T(volume.J + T(1))), T(volume.J - T(1)));
    const T shape = select(volume.near, T(growth * growth - volume.higher), T(g.trace - T(2) * growth));
    const T f = e.lambda * growth - T(0.75) * e.mu;  // lambda (J - alpha)
    const T s = e.mu - e.mu / T(g.trace + T(4));
    for (int i = 0; i < 3; ++i) P[i] = add_scaled(F[i] * s, volume.cofactor.col[i], f);
    const Log1p<T> log(T(T(0.25) * g.trace));
    return T(0.5) * T(e.mu * T(log.excess + T(0.75) * shape) + e.lambda * T(growth * growth));
  }
};

VERVE_KERNEL_END(StableNeoHookean)
#endif
