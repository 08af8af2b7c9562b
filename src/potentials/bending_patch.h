// Bending at one vertex of a sheet, from all of its neighbours: see bending.cpp.
#if !defined(VERVE_BENDING_PATCH_H) || defined(VERVE_PACKS)
#define VERVE_BENDING_PATCH_H

#include "potentials/kernel.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// Psi = w/2 |z - R z0|^2, the best rotation R, for up to three rows z of second derivatives.
struct BendingPatch {
  static constexpr bool patch = true, first_counts = false;

  template <class T>
  struct Element {
    T weight;
    T shape;              // of z0: 0 nothing, 1 vectors along one line, 2 any
    Vec3T<T> line;        // the direction of that line
    Vec3T<T> z0, z1, z2;  // at rest
  };
  template <class T>
  struct Corner {
    T a0, a1, a2;  // column of A
  };
  template <class T>
  struct Sum {
    Vec3T<T> z0{T(0), T(0), T(0)}, z1{T(0), T(0), T(0)}, z2{T(0), T(0), T(0)};
  };

  template <class T>
  static void add(Sum<T>& s, const Corner<T>& c, const Vec3T<T>& d) {
    s.z0 = add_scaled(s.z0, d, c.a0), s.z1 = add_scaled(s.z1, d, c.a1), s.z2 = add_scaled(s.z2, d, c.a2);
  }

  /// Nearest R z0 (PD Eq. 20, 28). For one vector R z0 is z |z0| / |z|, and for several along one line likewise; only
  /// the sign of the curvature relative to itself is kept, not to the sides of the sheet.
  template <class T>
  static Columns<T, 3> project(const Element<T>& e, const Vec3T<T>& z0, const Vec3T<T>& z1, const Vec3T<T>& z2) {
    const Vec3T<T> zero{T(0), T(0), T(0)};
    Columns<T, 3> p{zero, zero, zero};
    if (!any(e.shape > T(0.5))) return p;
    const T a0 = dot(e.z0, e.line), a1 = dot(e.z1, e.line), a2 = dot(e.z2, e.line);
    const Vec3T<T> sum = add_scaled(add_scaled(z0 * a0, z1, a1), z2, a2);
    const T size = norm(sum);
    const MaskOf<T> point = !(size > T(0));  // any direction will do
    const Vec3T<T> m = select<T>(point, e.line, sum / select(point, T(1), size));
    p = {m * a0, m * a1, m * a2};
    const MaskOf<T> general = e.shape > T(1.5);
    if (any(general)) {
      // mostly close to a line, where a formula for the rotation has no digits left
      const Mat3T<T> f = outer(z0, e.z0) + outer(z1, e.z1) + outer(z2, e.z2);
      const Mat3T<T> R = nearest_rotation_svd(f);
      p = {select<T>(general, R * e.z0, p[0]), select<T>(general, R * e.z1, p[1]), select<T>(general, R * e.z2, p[2])};
    }
    return p;
  }

  template <class T>
  static T solve(const Element<T>& e, Sum<T>& s) {
    const Columns<T, 3> p = project<T>(e, s.z0, s.z1, s.z2);
    const Vec3T<T> d0 = s.z0 - p[0], d1 = s.z1 - p[1], d2 = s.z2 - p[2];
    s.z0 = d0 * e.weight, s.z1 = d1 * e.weight, s.z2 = d2 * e.weight;
    return T(0.5) * e.weight * (dot(d0, d0) + dot(d1, d1) + dot(d2, d2));
  }

  template <class T>
  static T pull(const Element<T>&, const Sum<T>& s, const Corner<T>& c, const Vec3T<T>&, Vec3T<T>& g) {
    g = add_scaled(add_scaled(s.z0 * c.a0, s.z1, c.a1), s.z2, c.a2);
    return T(0);
  }
};

VERVE_KERNEL_END(BendingPatch)
#endif
