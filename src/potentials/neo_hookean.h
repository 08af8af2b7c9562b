// Neo-Hookean material.
#if !defined(VERVE_NEO_HOOKEAN_H) || defined(VERVE_PACKS)
#define VERVE_NEO_HOOKEAN_H

#include "potentials/hyperelastic.h"
#include "potentials/logarithm.h"

VERVE_KERNEL_BEGIN

/// Psi = mu/2 (|F|^2 - 3) + f(J), f = lambda/2 log^2 J - mu log J; below J0 the parabola that goes on from f with the
/// same value, slope and curvature. There f falls towards J0 ever more steeply the further J is away, also from below
/// zero.
struct NeoHookean : HyperelasticTet {
  static constexpr const char* name = "neo_hookean";
  static constexpr const char* help = "Neo-Hookean material, continued to inverted elements";
  static constexpr double J0 = 0.1, log_J0 = -2.302585092994045684;

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& P) {
    const GreenStrain<T> g(F);
    const VolumeChange<T> volume(F, g);
    const MaskOf<T> below = volume.J < T(J0);
    const T J = select(below, T(J0), volume.J), depth = select(below, T(volume.J - T(J0)), T(0));
    const Log1p<T> log2(select(volume.near, T(g.trace + volume.higher), T(J * J - T(1))));  // of J^2
    const T log_J = T(0.5) * log2.value;
    const T slope = (e.lambda * log_J - e.mu) / J;
    const T curvature = (e.mu + e.lambda * T(1 - log_J0)) * T(1 / (J0 * J0));
    const T on = curvature * depth;
    const T f = slope + on;
    for (int i = 0; i < 3; ++i) P[i] = add_scaled(F[i] * e.mu, volume.cofactor.col[i], f);
    // |F|^2 - 3 - 2 log J without its first order, which cancels
    const T shape = select(volume.near, T(log2.excess - volume.higher), T(g.trace - log2.value));
    return T(0.5) * T(e.mu * shape + e.lambda * T(log_J * log_J)) + depth * T(slope + T(0.5) * on);
  }
};

VERVE_KERNEL_END(NeoHookean)
#endif
