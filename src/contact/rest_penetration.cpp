#include "contact/rest_penetration.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

/// Energy that a contact would have more than the last step left it.
double added(const Penetration& p) {
  const double now = std::max(0.0, p.depth - p.rest);
  return 0.5 * p.stiffness * std::max(0.0, now * now - p.pressed * p.pressed);
}

}  // namespace

void limit_new_energy(std::span<Penetration> contacts, double budget) {
  double sum = 0;
  for (const Penetration& p : contacts) sum += added(p);
  if (!(sum > budget)) return;
  const double share = std::max(0.0, budget) / sum;
  for (Penetration& p : contacts) {
    const double more = added(p);
    if (!(more > 0)) continue;
    p.rest = std::max(0.0, p.depth - std::sqrt(p.pressed * p.pressed + share * 2 * more / p.stiffness));
  }
}

}  // namespace verve
