// Springs on the area of triangles.
#if !defined(VERVE_AREA_SPRING_H) || defined(VERVE_PACKS)
#define VERVE_AREA_SPRING_H

#include "potentials/svd32.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = k/2 A (a - 1)^2, a = area / A (Teschner et al. 2004, with k_A = k A so that finer meshes are as stiff).
struct AreaSpring {
  static constexpr const char* name = "area_spring";
  static constexpr const char* help = "springs on the area of triangles (Teschner et al. 2004)";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;
  static constexpr bool slack = true;
  /// The slope of the area grows with the edges: no weight is enough everywhere.
  static constexpr bool bounded = false;

  struct Params {
    double stiffness = 1000;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "force per length for twice the area")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight, size;
    TriangleOperator<T> inverse_rest;
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  /// At rest the greatest curvature is 2 k A, for equal stretch in both directions.
  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    const double size = p.stiffness * triangle_area(rest);
    return {2 * size, size, triangle_operator(rest)};
  }

  /// C = a - 1. With F = [p q] and the unit normal n, da = dp . (q x n) + dq . (n x p). A line has no normal of its
  /// own: any will do; a point has no slope.
  static constexpr int constraints = 1;
  template <class T>
  static T stiffness(const Element<T>& e, int) {
    return e.size;
  }
  template <class T>
  static T constraint(const Element<T>&, int, const Columns<T, 2>& F, Columns<T, 2>& gradient) {
    const Vec3T<T> normal = cross(F[0], F[1]);
    const T area = norm(normal), a = dot(F[0], F[0]), b = dot(F[1], F[1]), longer = sqrt(max(a, b));
    const MaskOf<T> line = area <= T(4) * T(Limits<T>::epsilon()) * T(longer * longer), point = longer <= T(0);
    Vec3T<T> n = normal / select(line, T(1), area);
    if (any(line)) [[unlikely]] {
      Vec3T<T> along = select<T>(a < b, F[1], F[0]) / select(point, T(1), longer);
      along.x = select(point, T(1), along.x);
      n = select<T>(line, any_perpendicular<T>(along), n);
    }
    gradient = {cross(F[1], n), cross(n, F[0])};
    return area - T(1);
  }

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 2>& F, Columns<T, 2>& gradient) {
    const T change = constraint<T>(e, 0, F, gradient), tension = e.size * change;
    gradient = {gradient[0] * tension, gradient[1] * tension};
    return T(0.5) * tension * change;
  }

  template <class T>
  static T energy(const Element<T>& e, const Columns<T, 2>& F) {
    const T change = norm(cross(F[0], F[1])) - T(1);
    return T(0.5) * e.size * T(change * change);
  }
};

VERVE_KERNEL_END(AreaSpring)
#endif
