// What programs give in place of a potential by name: a geometric constraint by a formula (PD Sec. 6, "More
// constraints"), an energy by a constitutive law.
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

/// E = sum over the elements of V Psi(F) for potential "custom": F is the deformation gradient, V the volume, area or
/// length at rest. All elements of a body are handed over at once, so that a slow language may loop over arrays.
/// Psi should be least, and 0, where nothing is deformed, and the same however the body is turned.
struct ConstitutiveLaw {
  /// Elements it acts on: 3 tetrahedra, 2 triangles, 1 edges. F has as many columns.
  int dimension = 3;
  /// One of the two. Both get F, column by column, `dimension` vectors for each element, and are called by one thread
  /// at a time. They must not throw: what cannot be computed is not a number, and the step fails.
  ///
  /// Psi [J/m^3, J/m^2 or J/m] of each element, and dPsi/dF in the layout of F.
  std::function<void(int elements, const Vec3* F, double* psi, Vec3* slope)> energy;
  /// The nearest F' that costs nothing, in the layout of F: Psi = stiffness/2 |F - F'|^2.
  std::function<void(int elements, const Vec3* F, Vec3* nearest)> projection;
};

}  // namespace verve
