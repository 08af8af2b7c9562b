// The repulsion spring of the CPD paper, with its normal outward from the obstacle (docs/contact_methods.md).
#pragma once

namespace verve {

/// E = 1/3 k d^3 where d > 0, else 0 (Kee et al. 2021, Eq. 22); the force is minus dE/ds = k d^2, d = thickness - s.
struct Repulsion {
  double energy, force;
};
inline Repulsion repulsion(double stiffness, double depth) {
  if (!(depth > 0)) return {0, 0};
  const double force = stiffness * depth * depth;
  return {force * depth / 3, force};
}

}  // namespace verve
