#include "integrators/energy_correction.h"

#include <algorithm>
#include <cmath>

namespace verve {

double energy_level(double target, double residual, double owed, double returned) {
  return target + (1 - returned) * std::min(0.0, residual + owed);
}

double scale_relative(const Masses& masses, Vec4* relative, double energy, double change, double most_growth) {
  const double wanted = std::max(0.0, energy + change);
  const double s = energy > 0 ? std::min(most_growth, std::sqrt(wanted / energy)) : 1;
  for (int i = 0; i < masses.count; ++i) relative[i] = relative[i] * (s - 1);
  // exact where nothing limits it: a remainder of round-off is no reason for a push
  return s < most_growth && energy > 0 ? std::max(change, -energy) : (s * s - 1) * energy;
}

double scale_relative_to(const Masses& masses, Vec4* relative, double energy, double wanted) {
  const double left = std::min(energy, wanted), s = energy > 0 ? std::sqrt(left / energy) : 1;
  for (int i = 0; i < masses.count; ++i) relative[i] = relative[i] * (s - 1);
  return left;
}

double push_along(const Masses& masses, const Vec4* v, Vec4* dv, const Vec4* d, double missing) {
  const double size = kinetic_energy(masses, d);
  if (!(size > 0) || !(missing > 0)) return 0;
  const double along = mass_product(masses, v, d) + mass_product(masses, dv, d);
  // of size mu^2 + along mu = missing, the root without cancellation
  const double root = std::sqrt(along * along + 4 * size * missing);
  const double mu = along > 0 ? 2 * missing / (root + along) : (root - along) / (2 * size);
  for (int i = 0; i < masses.count; ++i) dv[i] += d[i] * mu;
  return missing;
}

}  // namespace verve
