// Neo-Hookean material.
#if !defined(VERVE_NEO_HOOKEAN_H) || defined(VERVE_PACKS)
#define VERVE_NEO_HOOKEAN_H

#include "potentials/hyperelastic.h"
#include "potentials/logarithm.h"

VERVE_KERNEL_BEGIN

/// Psi = mu/2 (|F|^2 - 3) + f(J), f = lambda/2 log^2 J - mu log J. Below J0, with d = (J0 - J) / J0,
///   f(J0) - f'(J0) J0 d + f''(J0) J0^2 (d - log(1 + d)),
/// which goes on with the same value, slope and curvature. Its slope grows towards f'(J0) - f''(J0) J0 and no further:
/// inverted elements are pushed back, but not harder than steps can follow.
struct NeoHookean : HyperelasticTet {
  static constexpr const char* name = "neo_hookean";
  static constexpr const char* help = "Neo-Hookean material, continued to inverted elements";
  static constexpr double J0 = 0.2, log_J0 = -1.609437912434100375;

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& P) {
    const GreenStrain<T> g(F);
    const VolumeChange<T> volume(F, g);
    const MaskOf<T> below = volume.J < T(J0);
    const T J = select(below, T(J0), volume.J), depth = select(below, T(T(1) - volume.J * T(1 / J0)), T(0));
    // one logarithm for all: of J^2, or below of 1 + depth
    const Log1p<T> log(select(below, depth, select(volume.near, T(g.trace + volume.higher), T(J * J - T(1)))));
    const T log_J = select(below, T(log_J0), T(T(0.5) * log.value));
    const T slope = (e.lambda * log_J - e.mu) / J;
    const T bend = (e.mu + e.lambda * T(1 - log_J0)) * select(below, T(1), T(0));  // curvature at J0 times J0^2
    const T f = slope - bend * T(depth / T(depth * T(J0) + T(J0)));
    for (int i = 0; i < 3; ++i) P[i] = add_scaled(F[i] * e.mu, volume.cofactor.col[i], f);
    // |F|^2 - 3 - 2 log J without its first order, which cancels
    const T shape = select(volume.near, T(log.excess - volume.higher), T(g.trace - T(2) * log_J));
    return T(0.5) * T(e.mu * shape + e.lambda * T(log_J * log_J)) + T(bend * log.excess - slope * T(depth * T(J0)));
  }
};

VERVE_KERNEL_END(NeoHookean)
#endif
