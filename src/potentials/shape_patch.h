// Groups that keep their shape, or their shape up to size: see shape_matching.cpp.
#if !defined(VERVE_SHAPE_PATCH_H) || defined(VERVE_PACKS)
#define VERVE_SHAPE_PATCH_H

#include "potentials/kernel.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// Psi = w/2 (sum m_i |y_i - A q_i|^2 + (1 - beta) |(A - s R) q_i|^2), y_i = x_i - c, with the best linear map A; s = 1,
/// or the best size. Shares m add up to 1, and so do m |q|^2: then numbers have the size of 1 whatever the units, and
/// float has room for them.
struct ShapePatch {
  static constexpr bool patch = true, first_counts = true;

  template <class T>
  struct Element {
    T weight;                         // w times the sum of shares
    T length;                         // root of the mean of |q|^2; 0: of any size
    T linear;                         // beta
    Mat3T<T> moment, inverse_moment;  // of sum m q q^T; needed for beta > 0
  };
  template <class T>
  struct Corner {
    T share;
    Vec3T<T> rest;
  };
  template <class T>
  struct Sum {
    Vec3T<T> mean{T(0), T(0), T(0)};
    // sum m y q^T; after solve the map from rest to goals
    Mat3T<T> map{{Vec3T<T>{T(0), T(0), T(0)}, Vec3T<T>{T(0), T(0), T(0)}, Vec3T<T>{T(0), T(0), T(0)}}};
  };

  template <class T>
  static void add(Sum<T>& s, const Corner<T>& c, const Vec3T<T>& d) {
    const Vec3T<T> md = d * c.share;
    s.mean = s.mean + md;
    s.map = {{add_scaled(s.map.col[0], md, c.rest.x), add_scaled(s.map.col[1], md, c.rest.y),
              add_scaled(s.map.col[2], md, c.rest.z)}};
  }

  /// The rotation with the least sum m |y - R q|^2 is the one nearest to sum m y q^T (Müller Eq. 7), at any scale: it
  /// is brought to that of a rotation. s = tr(R^T sum m y q^T) (Umeyama 1991).
  template <class T>
  static T solve(const Element<T>& e, Sum<T>& s) {
    const T size = sqrt(squared_norm(s.map));
    const MaskOf<T> extended = size > T(0);
    const T scale = select(extended, T(T(1.7320508075688772) / select(extended, size, T(1))), T(0));
    const Mat3T<T> R = nearest_rotation<T>(s.map * scale);
    const T best = dot(R.col[0], s.map.col[0]) + dot(R.col[1], s.map.col[1]) + dot(R.col[2], s.map.col[2]);
    const Mat3T<T> turn = R * select(e.length > T(0), e.length, best);
    if (!any(e.linear > T(0))) {
      s.map = turn;
      return T(0);
    }
    // Goals (beta A + (1 - beta) R) q. y - A q is at right angles to all linear images of q, so the energy is that of
    // the distance to the goals and beta (1 - beta) |(A - R) q|^2.
    const Mat3T<T> off = s.map * e.inverse_moment - turn, spread = off * e.moment;
    s.map = turn + off * e.linear;
    const T stretched =
        dot(off.col[0], spread.col[0]) + dot(off.col[1], spread.col[1]) + dot(off.col[2], spread.col[2]);
    return T(0.5) * e.weight * (e.linear * (T(1) - e.linear)) * stretched;
  }

  template <class T>
  static T pull(const Element<T>& e, const Sum<T>& s, const Corner<T>& c, const Vec3T<T>& d, Vec3T<T>& g) {
    const Vec3T<T> off = d - s.mean - s.map * c.rest;
    const T share = e.weight * c.share;
    g = off * share;
    return T(0.5) * share * dot(off, off);
  }
};

VERVE_KERNEL_END(ShapePatch)
#endif
