// What a sweep of position-based projections works on.
#pragma once

#include "verve/vec.h"

namespace verve {

/// One pass over the scalar constraints of a potential, one after another (Gauss-Seidel), each moving its own vertices:
/// dx = M^-1 (grad C)^T dlambda with dlambda of multiplier_change (relax_loop.h).
struct Relaxation {
  Vec4* x = nullptr;              // positions, with the inverse mass of the row in w; 0: nothing moves it
  const Vec4* start = nullptr;    // x_n, for damping
  double* multipliers = nullptr;  // lambda of each constraint: Potential::multipliers(), aligned to 128 bytes
  double inverse_h2 = 0;          // 1/h^2: the compliance is alpha~ = 1/(k h^2); 0: none, whatever the stiffness k
  double share = 1;               // of its change that is applied to each multiplier
  double damping = 0;             // gamma
};

}  // namespace verve
