// The rest frame of a triangle, in which its deformation gradient is a 3x2 matrix. Read per set of instructions: see
// kernel.h.
#if defined(VERVE_TRIANGLE_FRAME_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_TRIANGLE_FRAME_H
#undef VERVE_TRIANGLE_FRAME_H
#else
#define VERVE_TRIANGLE_FRAME_H
#endif

#include "potentials/kernel.h"

VERVE_NAMESPACE_BEGIN

/// Inverse of the rest edges [x1 - x0, x2 - x0] written in two axes of the rest plane: F = D inverse (PD Eq. 16).
template <class T>
struct TriangleOperator {
  T entry[4];
  constexpr T coefficient(int row, int i) const { return entry[2 * row + i]; }
};

/// With the first axis along `direction` as far as it lies in the plane; along the first edge where it does not.
inline TriangleOperator<double> triangle_operator(const std::array<Vec3, 3>& rest, const Vec3& direction) {
  const Vec3 e = rest[1] - rest[0], f = rest[2] - rest[0], normal = cross(e, f);
  const Vec3 n = normal / norm(normal);
  Vec3 u = add_scaled(direction, n, -dot(direction, n));
  if (!(norm(u) > 1e-6 * norm(direction))) u = e;
  u = u / norm(u);
  const Vec3 v = cross(n, u);
  const double a = dot(e, u), b = dot(e, v), c = dot(f, u), d = dot(f, v), s = 1 / (a * d - b * c);
  return {{d * s, -b * s, -c * s, a * s}};
}
inline TriangleOperator<double> triangle_operator(const std::array<Vec3, 3>& rest) {
  return triangle_operator(rest, rest[1] - rest[0]);
}
inline double triangle_area(const std::array<Vec3, 3>& rest) {
  return 0.5 * norm(cross(rest[1] - rest[0], rest[2] - rest[0]));
}

VERVE_NAMESPACE_END

#endif
