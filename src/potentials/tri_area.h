// Bounds on the area of triangles.
#if !defined(VERVE_TRI_AREA_H) || defined(VERVE_PACKS)
#define VERVE_TRI_AREA_H

#include "potentials/determinant.h"
#include "potentials/limits.h"
#include "potentials/svd32.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = k A |F - T|^2, T nearest to F among the matrices that stretch areas by a factor in [min, max] (PD Eq. 24-26). PD
/// weight w = 2 k A.
struct TriArea {
  static constexpr const char* name = "tri_area";
  static constexpr const char* help = "area of triangles kept between two bounds (PD Eq. 24-26)";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1000, min = 1, max = 1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "beyond the bounds, as mu of tri_strain"),
              field("min", &Params::min, "", "least area / area at rest", 1e-3),
              field("max", &Params::max, "", "greatest area / area at rest", 1e-3)};
    }
    std::string check() const { return fault_of_bounds("min", min, "max", max); }
  };

  template <class T>
  struct Element {
    T weight;
    TriangleOperator<T> inverse_rest;
    T least, most, least_root, most_root;  // square roots
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    return {2 * p.stiffness * triangle_area(rest),
            triangle_operator(rest),
            p.min,
            p.max,
            std::sqrt(p.min),
            std::sqrt(p.max)};
  }

  template <class T>
  static Columns<T, 2> project(const Element<T>& e, const Columns<T, 2>& F) {
    const T area = norm(cross(F[0], F[1]));
    if (all((area >= e.least) & (area <= e.most))) return F;
    const Svd32<T> svd = svd32<T>(F);
    const T product = svd.s0 * svd.s1;
    const MaskOf<T> small = product < e.least, inside = (product >= e.least) & (product <= e.most);
    const T c = select(small, e.least, e.most), root = select(small, e.least_root, e.most_root);
    const DeterminantProblem<T, 1> problem({svd.s0}, svd.s1);
    const T t = solve_determinant(problem, product, c, root);
    const Columns<T, 2> change = svd.compose(problem.other(t, 0) - svd.s0, t - svd.s1);
    return {select<T>(inside, F[0], F[0] + change[0]), select<T>(inside, F[1], F[1] + change[1])};
  }
};

VERVE_KERNEL_END(TriArea)
#endif
