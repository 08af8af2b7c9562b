// Bending of sheets by the angles between neighbouring triangles.
#if !defined(VERVE_HINGE_BENDING_H) || defined(VERVE_PACKS)
#define VERVE_HINGE_BENDING_H

#include "potentials/kernel.h"

VERVE_KERNEL_BEGIN

/// E = W (1 - cos(theta - theta0)), W = w |e|^2 / (A1 + A2): discrete shells (Grinspun et al. 2003) with
/// 2 (1 - cos) in place of the square of the angle, which is the same for small ones, needs no arc function and is
/// smooth all the way round. theta is signed, so a dent is not mistaken for a bump.
///
/// With unit normals u1, u2 the cosine is u1.u2 and the sine e.(u1 x u2)/|e|. A triangle that collapses below
/// `thin` of its area has no normal to speak of: there u = n / m(|n|) with m = (thin^2 + n^2) / (2 thin), which meets
/// |n| with the same slope, so u shrinks to zero, E stays between 0 and 2 W, and the gradient is exact and finite.
struct HingeBending {
  static constexpr const char* name = "hinge_bending";
  static constexpr const char* help = "bending by the angles between triangles (Grinspun et al. 2003)";
  using Elements = Hinges;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool slack = true;
  /// The angle turns faster where triangles are squeezed, and a bent hinge has curvature in other directions than its
  /// own: no constant matrix bounds that.
  static constexpr bool bounded = false;

  struct Params {
    double stiffness = 0.01;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N m", "bending stiffness: energy per area w/2 kappa^2")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight;
    T scale;                    // 1 / |e|
    T cosine, sine;             // of the angle at rest
    T thin_left, thin_right;    // in units of |e|^2
    T left0, left1, left2;      // how the left triangle turns about the edge [1/m], by v0, v1, v2
    T right0, right1, right3;   // and the right one, by v0, v1, v3
    T bend_share, swing_share;  // of the metric
    constexpr T coefficient(int row, int i) const { return row == i ? scale : T(0); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Vec3 e = rest[1] - rest[0], a = rest[2] - rest[0], b = rest[3] - rest[0];
    const Vec3 n1 = cross(e, a), n2 = cross(b, e);
    const double l2 = dot(e, e), l = norm(e), s1 = norm(n1), s2 = norm(n2);
    Element<double> out;
    out.weight = p.stiffness * l2 / (0.5 * (s1 + s2));
    out.scale = 1 / l;
    const double c = dot(n1, n2) / (s1 * s2), s = dot(e, cross(n1, n2)) / (l * s1 * s2),
                 unit = std::sqrt(c * c + s * s);
    out.cosine = c / unit, out.sine = s / unit;
    out.thin_left = 0.05 * s1 / l2, out.thin_right = 0.05 * s2 / l2;
    const double t1 = dot(a, e) / l2, t2 = dot(b, e) / l2, h1 = s1 / l, h2 = s2 / l;
    out.left0 = (t1 - 1) / h1, out.left1 = -t1 / h1, out.left2 = 1 / h1;
    out.right0 = (t2 - 1) / h2, out.right1 = -t2 / h2, out.right3 = 1 / h2;
    // half of the angle at rest
    const double half_c = std::sqrt(0.5 * (1 + std::fmax(out.cosine, -1.0))),
                 half_s = std::sqrt(std::fmax(0.5 * (1 - out.cosine), 0.0));
    out.bend_share = half_c * (half_c + half_s), out.swing_share = half_s * (half_c + half_s);
    return out;
  }

  /// The change of the angle at rest is n1.a + n2.b for the turns a, b of the two triangles; its square is the Hessian.
  /// With n1 = n2 that is |a + b|^2 at most: the stencil of Bergou et al. 2006, "A quadratic bending model for
  /// inextensible surfaces". Otherwise, with alpha half of the angle, (cos(alpha) |a + b| + sin(alpha) |a - b|)^2 at
  /// most, and 2 sin cos |a + b| |a - b| <= sin cos (|a + b|^2 + |a - b|^2).
  static double metric(const Element<double>& e, int i, int j) {
    const double left[4] = {e.left0, e.left1, e.left2, 0}, right[4] = {e.right0, e.right1, 0, e.right3};
    return e.bend_share * (left[i] + right[i]) * (left[j] + right[j]) +
           e.swing_share * (left[i] - right[i]) * (left[j] - right[j]);
  }

  /// One triangle's normal made as long as 1.
  template <class T>
  struct Normal {
    Vec3T<T> unit;
    T inverse_m, inverse_slope;  // 1/m, and m'/|n|
    T missing;                   // 1 - |unit|^2, exactly 0 for a triangle that is not thin

    Normal(const Vec3T<T>& n, const T& thin) {
      const T size2 = dot(n, n), size = sqrt(size2);
      const MaskOf<T> fat = size > thin;
      inverse_slope = T(1) / select(fat, size, thin);
      const T m = T(0.5) * (thin * thin + size2) / thin;
      inverse_m = T(1) / select(fat, size, m);
      unit = n * inverse_m;
      const T ratio = size * inverse_m;
      missing = select(fat, T(0), T((T(1) - ratio) * (T(1) + ratio)));
    }
  };

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& z, Columns<T, 3>& g) {
    const Vec3T<T> n1 = cross(z[0], z[1]), n2 = cross(z[2], z[0]);
    const Normal<T> left(n1, e.thin_left), right(n2, e.thin_right);
    const T length = norm(z[0]);
    const Vec3T<T> axis = z[0] / select(length > T(0), length, T(1));

    // 1 - cos(theta - theta0) = 1/2 |u2 - R u1|^2 with R the turn by theta0 about the edge: nothing cancels at rest
    const Vec3T<T> d = right.unit - add_scaled(left.unit * e.cosine, cross(axis, left.unit), e.sine);
    const T energy = T(0.5) * e.weight * (dot(d, d) + (left.missing + right.missing));

    // q = cos(theta - theta0) = (cos0 n1.n2 + sin0 S) / (m1 m2),  S = e.(n1 x n2)/|e| = -|e| det
    const Vec3T<T> across = cross(z[1], z[2]);
    const T det = dot(z[0], across);
    const T k = left.inverse_m * right.inverse_m;
    const T q = e.cosine * dot(left.unit, right.unit) - e.sine * (length * det * k);
    const T wk = e.weight * k, wc = wk * e.cosine, ws = wk * e.sine, wq = e.weight * q;
    const T q1 = wq * (left.inverse_m * left.inverse_slope), q2 = wq * (right.inverse_m * right.inverse_slope);
    // with respect to the normals
    const Vec3T<T> g1 = add_scaled(n1 * q1, n2, T(-wc)), g2 = add_scaled(n2 * q2, n1, T(-wc));
    const T wl = ws * length;
    g[0] = cross(z[1], g1) + cross(g2, z[2]) + add_scaled(across * wl, axis, T(ws * det));
    g[1] = add_scaled(cross(g1, z[0]), cross(z[2], z[0]), wl);
    g[2] = add_scaled(cross(z[0], g2), cross(z[0], z[1]), wl);
    return energy;
  }

  /// C = 2 sin((theta - theta0) / 2), signed: k/2 C^2 is the energy. Its gradient comes from that of the energy, and
  /// near zero, where both vanish, from that of the angle: |e| n1/|n1|^2 for the left vertex and so on, with
  /// d(sin theta)/db = |e| n2/|n2|^2 at theta = 0 for the right one.
  static constexpr int constraints = 1;
  template <class T>
  static T stiffness(const Element<T>& e, int) {
    return e.weight;
  }
  template <class T>
  static T constraint(const Element<T>& e, int, const Columns<T, 3>& z, Columns<T, 3>& g) {
    const T energy = energy_gradient<T>(e, z, g), twice = T(2) * energy, ratio = twice / e.weight;
    const Vec3T<T> n1 = cross(z[0], z[1]), n2 = cross(z[2], z[0]);
    const T length = norm(z[0]), det = dot(z[0], cross(z[1], z[2])), c = dot(n1, n2);
    const T s = -(length * det);  // |n1| |n2| times the sine; c times the cosine
    const T side = s * e.cosine - c * e.sine;
    const T size = sqrt(max(ratio, T(0))), C = select(side < T(0), T(-size), size);
    const T small = T(1e-5);
    const MaskOf<T> straight = (size <= small) & (e.weight > T(0));
    const T scale = T(1) / select(straight, T(1), T(e.weight * C));
    unroll<3>([&](auto r) { g[r] = g[r] * scale; });
    if (any(straight)) [[unlikely]] {
      const T s1 = dot(n1, n1), s2 = dot(n2, n2), l2 = length * length;
      const T one = select(s1 > T(0), s1, T(1)), two = select(s2 > T(0), s2, T(1)), l = select(l2 > T(0), length, T(1));
      const Vec3T<T> left = n1 * T(-length / one), right = n2 * T(-length / two);
      const T p = dot(z[1], z[0]) / T(l * l), q = dot(z[2], z[0]) / T(l * l);
      g[0] = select<T>(straight, -(left * p + right * q), g[0]);
      g[1] = select<T>(straight, left, g[1]);
      g[2] = select<T>(straight, right, g[2]);
    }
    return C;
  }
};

VERVE_KERNEL_END(HingeBending)
#endif
