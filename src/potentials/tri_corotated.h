// Corotated linear material of sheets.
#if !defined(VERVE_TRI_COROTATED_H) || defined(VERVE_PACKS)
#define VERVE_TRI_COROTATED_H

#include "potentials/lame.h"
#include "potentials/svd32.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = A [mu |F - T|^2 + lambda/2 tr^2(T^T F - 1)], F the 3x2 deformation gradient in the rest plane, T the nearest
/// matrix with orthonormal columns: tri_strain with a Poisson's ratio, in plane stress. As tr(T^T F) is the largest
/// over all T, its derivative is T.
///
/// At rest the curvature is 2 mu for the changes of shape and 2 mu + 2 lambda for the change of size; the weight is the
/// middle of the two, as for hyperelastic tetrahedra (hyperelastic.h). A side pressed short beside a long one curves
/// out of the plane with lambda (s0 + s1 - 2) / s1: no bound.
struct TriCorotated {
  static constexpr const char* name = "tri_corotated";
  static constexpr const char* help = "strain of triangles with a Poisson's ratio: linear plane stress, corotated";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;
  static constexpr bool bounded = false;
  using Params = PlaneStressParams;

  template <class T>
  struct Element {
    T weight, mu, lambda;  // times the area
    TriangleOperator<T> inverse_rest;
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    const double area = triangle_area(rest);
    const LameParams::Moduli m = p.moduli();
    return {area * (2 * m.mu + m.lambda), area * m.mu, area * m.lambda, triangle_operator(rest)};
  }

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 2>& F, Columns<T, 2>& P) {
    const Columns<T, 2> isometry = nearest_isometry<T>(F);
    const Vec3T<T> a = F[0] - isometry[0], b = F[1] - isometry[1];
    const T trace = dot(isometry[0], a) + dot(isometry[1], b), distance2 = dot(a, a) + dot(b, b);
    const T tension = e.lambda * trace, twice = T(2) * e.mu;
    P[0] = add_scaled(a * twice, isometry[0], tension);
    P[1] = add_scaled(b * twice, isometry[1], tension);
    return e.mu * distance2 + T(0.5) * T(tension * trace);
  }

  /// From s0 + s1 without T, where the terms do not cancel.
  template <class T>
  static T energy(const Element<T>& e, const Columns<T, 2>& F) {
    const Polar32<T> polar(F);
    const T distance2 = polar.size2 - T(2) * polar.sum + T(2), trace = polar.sum - T(2);
    // 1e-4 of the terms leaves 12 of 16 digits
    if (all(polar.reliable & (distance2 > T(1e-4) * (polar.size2 + T(2)))))
      return e.mu * distance2 + T(0.5) * e.lambda * T(trace * trace);
    Columns<T, 2> unused = F;
    return energy_gradient(e, F, unused);
  }
};

VERVE_KERNEL_END(TriCorotated)
#endif
