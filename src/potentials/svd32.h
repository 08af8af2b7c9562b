// 3x2 matrices, the deformation gradients of triangles: their singular values and their nearest isometry. For numbers
// and for packs of them: see kernel.h.
#if defined(VERVE_SVD32_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_SVD32_H
#undef VERVE_SVD32_H
#else
#define VERVE_SVD32_H
#endif

#include "potentials/polar.h"

VERVE_NAMESPACE_BEGIN

/// v with its length clamped to [least, most]; v itself, to the bit, where it is inside. Any direction will do at 0.
template <class T>
Vec3T<T> with_length(const Vec3T<T>& v, const T& least, const T& most) {
  const T n = norm(v), wanted = min(max(n, least), most);
  const MaskOf<T> inside = (n >= least) & (n <= most), point = n <= T(0);
  const T s = select(inside, T(1), T(wanted / select(point, T(1), n)));
  return {select(point, wanted, T(v.x * s)), v.y * s, v.z * s};
}

/// A unit vector at right angles to the unit vector u.
template <class T>
Vec3T<T> any_perpendicular(const Vec3T<T>& u) {
  const MaskOf<T> steep = abs(u.x) < T(0.6);
  const Vec3T<T> c = cross(u, Vec3T<T>{select(steep, T(1), T(0)), select(steep, T(0), T(1)), T(0)});
  return c / norm(c);
}

/// F = [u0 u1] diag(s0, s1) V^T with V = [v0 v1] a rotation of the plane and orthonormal u; s0 >= s1 >= 0.
template <class T>
struct Svd32 {
  Vec3T<T> u0, u1;
  T s0, s1;
  T cs, sn;  // v0 = (cs, sn), v1 = (-sn, cs)

  /// [u0 u1] diag(d0, d1) V^T
  Columns<T, 2> compose(const T& d0, const T& d1) const {
    const Vec3T<T> a = u0 * d0, b = u1 * d1;
    return {add_scaled(a * cs, b, T(-sn)), add_scaled(a * sn, b, cs)};
  }
};

/// The two columns are turned in their plane until they are at right angles (one-sided Jacobi; a second turn wipes out
/// what round-off left of the first). An F that is zero or not finite gives the identity and zeros.
template <class T>
Svd32<T> svd32(const Columns<T, 2>& F) {
  const T eps = T(Limits<T>::epsilon());
  T largest = T(0);
  for (const Vec3T<T>& c : F) largest = max(max(largest, abs(c.x)), max(abs(c.y), abs(c.z)));
  const T sum = (F[0].x + F[0].y + F[0].z) + (F[1].x + F[1].y + F[1].z);  // shows what a comparison does not: NaN
  const MaskOf<T> usable = (largest > T(0)) & (abs(sum) <= T(6) * largest) & (largest < T(Limits<T>::infinity()));
  const Vec3T<T> ex{T(1), T(0), T(0)}, ey{T(0), T(1), T(0)};
  Vec3T<T> p = select<T>(usable, F[0] / largest, ex), q = select<T>(usable, F[1] / largest, ey);
  T cs = T(1), sn = T(0);
  for (int turn = 0; turn < 3; ++turn) {
    const T a = dot(p, p), b = dot(q, q), c = dot(p, q);
    const MaskOf<T> skew = abs(c) > T(0.25) * eps * sqrt(a * b);
    if (!any(skew)) break;
    const T theta = (b - a) / (T(2) * select(skew, c, T(1)));
    const T tangent = T(1) / (abs(theta) + sqrt(theta * theta + T(1)));
    const T t = select(skew, select(theta < T(0), T(-tangent), tangent), T(0));
    const T k = T(1) / sqrt(t * t + T(1)), h = t * k;
    const Vec3T<T> r = p;
    p = add_scaled(r * k, q, T(-h));
    q = add_scaled(r * h, q, k);
    // v0 and v1 turn along: [v0 v1] <- [v0 v1] [k h; -h k]
    const T old = cs;
    cs = old * k + sn * h;
    sn = sn * k - old * h;
  }
  // longest first: [p q] <- [q -p], by another quarter of a turn
  T m = norm(p), n = norm(q);
  const MaskOf<T> swap = m < n;
  const Vec3T<T> shorter = select<T>(swap, -p, q);
  p = select<T>(swap, q, p);
  const T old = cs;
  cs = select(swap, T(-sn), cs), sn = select(swap, old, sn);
  const T longest = max(m, n);
  n = min(m, n), m = longest;

  Svd32<T> out;
  out.u0 = p / m;
  // a second column lost in round-off has no direction of its own
  const MaskOf<T> line = n <= T(4) * eps * m;
  Vec3T<T> u = select<T>(line, any_perpendicular<T>(out.u0), shorter / select(line, T(1), n));
  for (int twice = 0; twice < 2; ++twice) {
    u = add_scaled(u, out.u0, T(-dot(out.u0, u)));
    u = u / norm(u);
  }
  out.u1 = u;
  out.s0 = select(usable, T(m * largest), T(0)), out.s1 = select(usable, T(n * largest), T(0));
  out.cs = cs, out.sn = sn;
  return out;
}

/// The same, out of the way of the common path.
template <class T>
VERVE_NOINLINE Columns<T, 2> nearest_isometry_svd(const Columns<T, 2>& F) {
  return svd32<T>(F).compose(T(1), T(1));
}

/// What the nearest matrix with orthonormal columns takes: |a x b| = s0 s1 and s0 + s1 for F = [a b].
template <class T>
struct Polar32 {
  static constexpr bool wide = sizeof(typename LaneOf<T>::Type) == sizeof(double);
  Vec3T<T> normal;  // a x b
  T size2, area, sum;
  MaskOf<T> reliable;

  explicit Polar32(const Columns<T, 2>& F) : normal(cross(F[0], F[1])), size2(dot(F[0], F[0]) + dot(F[1], F[1])) {
    area = norm(normal);
    sum = sqrt(size2 + T(2) * area);
    // the normal is off by eps |a||b| / area
    reliable = (area > T(wide ? 1e-3 : 0.05) * size2) & (size2 > T(1e-6)) & (size2 < T(1e6));
  }
};

/// T with orthonormal columns and the largest tr(T^T F). As in the plane, where the nearest rotation is
/// (F + cof F) / (s0 + s1): with the unit normal n, T = ([a b] + [b x n, n x a]) / (s0 + s1).
template <class T>
Columns<T, 2> nearest_isometry(const Columns<T, 2>& F) {
  const Polar32<T> polar(F);
  const T s = T(1) / polar.sum, k = s / polar.area;
  const Vec3T<T> n = polar.normal * k;
  Columns<T, 2> out{add_scaled(cross(F[1], n), F[0], s), add_scaled(cross(n, F[0]), F[1], s)};
  if (!all(polar.reliable)) [[unlikely]] {
    const Columns<T, 2> copy = F;
    const Columns<T, 2> slow = nearest_isometry_svd<T>(copy);
    out = {select<T>(polar.reliable, out[0], slow[0]), select<T>(polar.reliable, out[1], slow[1])};
  }
  return out;
}

/// F with its singular values clamped to [least, most] (PD Eq. 22-23); F itself, to the bit, where they are inside.
template <class T>
Columns<T, 2> with_stretches(const Columns<T, 2>& F, const T& least, const T& most) {
  // C = F^T F lies between least^2 and most^2 where both differences are positive definite: no need of an SVD there
  const T a = dot(F[0], F[0]), b = dot(F[1], F[1]), c = dot(F[0], F[1]), low = least * least, high = most * most;
  const T c2 = c * c;
  const MaskOf<T> inside = (a > low) & (b > low) & ((a - low) * (b - low) - c2 > T(0)) & (a < high) & (b < high) &
                           ((high - a) * (high - b) - c2 > T(0));
  if (all(inside)) return F;
  const Svd32<T> svd = svd32<T>(F);
  const Columns<T, 2> change =
      svd.compose(min(max(svd.s0, least), most) - svd.s0, min(max(svd.s1, least), most) - svd.s1);
  return {select<T>(inside, F[0], F[0] + change[0]), select<T>(inside, F[1], F[1] + change[1])};
}

VERVE_NAMESPACE_END

#endif
