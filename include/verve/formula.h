// A geometric constraint given by a formula (PD Sec. 6, "More constraints").
#pragma once

#include <functional>

#include "verve/vec.h"

namespace verve {

/// C(q) = 0 for a group of vertices q[0] ... q[count - 1]. Verve finds the nearest q that fulfils it by sequential
/// quadratic programming, so C should be smooth near its zeros; it is given q relative to the mean of the group, and
/// must not depend on where the group is.
struct Formula {
  int values = 1;  ///< how many numbers C has
  /// Fills c[0] ... c[values - 1] and gradient[k * count + i] = dc[k] / dq[i]. Called from several threads at once.
  std::function<void(const Vec3* q, int count, double* c, Vec3* gradient)> evaluate;
};

}  // namespace verve
