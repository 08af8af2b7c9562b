// Entries of F^T F as constraints. For numbers and for packs of them: see kernel.h.
#if defined(VERVE_GREEN_ENTRIES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_GREEN_ENTRIES_H
#undef VERVE_GREEN_ENTRIES_H
#else
#define VERVE_GREEN_ENTRIES_H
#endif

#include "potentials/kernel.h"

VERVE_NAMESPACE_BEGIN

/// Stretch along axis i, (S_ii - 1)/2, and its slope along F_i; where normalized |F_i| - 1 (Mueller et al. 2014,
/// "Strain Based Dynamics": taking the root makes a stretch of any size one step away). The same where the strain is
/// small.
template <class T>
T stretch_entry(const Vec3T<T>& F, const MaskOf<T>& normalized, Vec3T<T>& slope) {
  const T size2 = dot(F, F), size = sqrt(size2);
  slope = select<T>(normalized, unit_or_axis<T>(F, size), F);
  return select(normalized, T(size - T(1)), T(T(0.5) * T(size2 - T(1))));
}

/// Shear between two axes, S_ij = F_i.F_j; where normalized the cosine of the angle between the two, which no stretch
/// changes.
template <class T>
T shear_entry(const Vec3T<T>& a, const Vec3T<T>& b, const MaskOf<T>& normalized, Vec3T<T>& slope_a, Vec3T<T>& slope_b) {
  const T size_a = norm(a), size_b = norm(b), product = dot(a, b);
  // an axis pressed to a point has no direction: no slope
  const MaskOf<T> good = (size_a > T(0)) & (size_b > T(0));
  const T inverse_a = select(good, T(T(1) / select(good, size_a, T(1))), T(0));
  const T inverse_b = select(good, T(T(1) / select(good, size_b, T(1))), T(0));
  const Vec3T<T> u = a * inverse_a, v = b * inverse_b;
  const T cosine = dot(u, v);
  slope_a = select<T>(normalized, add_scaled(v, u, T(-cosine)) * inverse_a, b);
  slope_b = select<T>(normalized, add_scaled(u, v, T(-cosine)) * inverse_b, a);
  return select(normalized, cosine, product);
}

/// What a projection should take the cosine c of an angle for. Where two axes are all but parallel the cosine hardly
/// changes with the angle, and a step along its tangent leads anywhere; that of the angle's departure from a right one,
/// asin c = 2 atan t with t = c/(1 + s) and s = sqrt(1 - c^2), whose slope is 1/s times as steep, leads there at once.
/// To third order in c the same. atan t is t/(1 + 0.28 t^2) within 0.6 % for |t| <= 1.
template <class T>
T angle_step(const T& c) {
  const T sine = sqrt(max(T(1) - c * c, T(0))), t = c / T(T(1) + sine);
  return T(T(2) * sine * t) / T(T(1) + T(0.28) * T(t * t));
}

/// Constraint `which` of a deformation gradient: the stretches first, then the shears 01, 12, 20 (or 01 alone).
template <class T, int Rows>
T green_entry(int which, const Columns<T, Rows>& F, const T& normalized, Columns<T, Rows>& gradient) {
  const MaskOf<T> unit = normalized > T(0.5);
  unroll<Rows>([&](auto r) { gradient[r] = Vec3T<T>{T(0), T(0), T(0)}; });
  if (which < Rows) return stretch_entry<T>(F[which], unit, gradient[which]);
  const int i = which - Rows, j = (i + 1) % Rows;
  return shear_entry<T>(F[i], F[j], unit, gradient[i], gradient[j]);
}

/// Psi = sum of k_i/2 C_i^2 over all entries, k = `stretch` or `shear`.
template <class T, int Rows>
T green_energy(const T& stretch, const T& shear, const T& normalized, const Columns<T, Rows>& F,
               Columns<T, Rows>& gradient) {
  T sum = T(0);
  Columns<T, Rows> one = F, total = F;
  unroll<Rows>([&](auto r) { total[r] = Vec3T<T>{T(0), T(0), T(0)}; });
  unroll<Rows*(Rows + 1) / 2>([&](auto which) {
    const T C = green_entry<T, Rows>(which, F, normalized, one);
    const T force = (which < Rows ? stretch : shear) * C;
    sum = sum + T(0.5) * T(force * C);
    unroll<Rows>([&](auto r) { total[r] = add_scaled(total[r], one[r], force); });
  });
  gradient = total;
  return sum;
}

VERVE_NAMESPACE_END

#endif
