// Strain limits of triangles along a direction and across it.
#if !defined(VERVE_TRI_LIMIT_AXES_H) || defined(VERVE_PACKS)
#define VERVE_TRI_LIMIT_AXES_H

#include "potentials/limits.h"
#include "potentials/svd32.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = k A |F - T|^2, T nearest to F with |T d| and |T c| in intervals of their own, d the direction in the rest plane
/// and c at right angles to it (PD Sec. 5.1 names reference frames for anisotropic limits). In the axes d, c these are
/// the two columns of F, and each is clamped by itself. Shear is free.
struct TriLimitAxes {
  static constexpr const char* name = "tri_limit_axes";
  static constexpr const char* help = "stretch of triangles limited along a direction and across it (PD Sec. 5.1)";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1000;
    verve::Vec3 direction{1, 0, 0};  // as parameters.h has it, whatever is read here
    double min_along = 0.9, max_along = 1.1, min_across = 0.9, max_across = 1.1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "beyond the limits, as mu of tri_strain"),
              field("direction", &Params::direction, "", "at rest, laid into the plane of each triangle"),
              field("min_along", &Params::min_along, "", "least stretch along it"),
              field("max_along", &Params::max_along, "", "greatest stretch along it"),
              field("min_across", &Params::min_across, "", "least stretch across it"),
              field("max_across", &Params::max_across, "", "greatest stretch across it")};
    }
    std::string check() const { return fault_of_axes(*this); }
  };

  template <class T>
  struct Element {
    T weight;
    TriangleOperator<T> inverse_rest;
    T least_along, most_along, least_across, most_across;
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    return {2 * p.stiffness * triangle_area(rest),
            triangle_operator(rest, {p.direction.x, p.direction.y, p.direction.z}),
            p.min_along,
            p.max_along,
            p.min_across,
            p.max_across};
  }

  template <class T>
  static Columns<T, 2> project(const Element<T>& e, const Columns<T, 2>& F) {
    return {with_length<T>(F[0], e.least_along, e.most_along), with_length<T>(F[1], e.least_across, e.most_across)};
  }
};

VERVE_KERNEL_END(TriLimitAxes)
#endif
