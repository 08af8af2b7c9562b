// Strain limits of triangles.
#if !defined(VERVE_TRI_LIMIT_H) || defined(VERVE_PACKS)
#define VERVE_TRI_LIMIT_H

#include "potentials/limits.h"
#include "potentials/svd32.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = k A |F - T|^2, T nearest to F among the matrices with singular values in [min, max] (PD Eq. 22-23): those of F,
/// clamped. PD weight w = 2 k A.
struct TriLimit {
  static constexpr const char* name = "tri_limit";
  static constexpr const char* help = "singular values of triangles kept between two limits (PD Eq. 22-23)";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1000, min = 0.9, max = 1.1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "beyond the limits, as mu of tri_strain"),
              field("min", &Params::min, "", "least stretch in any direction"),
              field("max", &Params::max, "", "greatest stretch in any direction")};
    }
    std::string check() const { return fault_of_bounds("min", min, "max", max); }
  };

  template <class T>
  struct Element {
    T weight;
    TriangleOperator<T> inverse_rest;
    T least, most;
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    return {2 * p.stiffness * triangle_area(rest), triangle_operator(rest), p.min, p.max};
  }

  template <class T>
  static Columns<T, 2> project(const Element<T>& e, const Columns<T, 2>& F) {
    return with_stretches<T>(F, e.least, e.most);
  }
};

VERVE_KERNEL_END(TriLimit)
#endif
