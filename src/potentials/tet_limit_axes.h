// Strain limits of tetrahedra along a direction and across it.
#if !defined(VERVE_TET_LIMIT_AXES_H) || defined(VERVE_PACKS)
#define VERVE_TET_LIMIT_AXES_H

#include "potentials/limits.h"
#include "potentials/svd32.h"

VERVE_KERNEL_BEGIN

/// E = k V |F - T|^2, T nearest to F with |T d| in one interval and the singular values of T on the plane at right
/// angles to d in another. In axes with d first these are the first column of F and the other two, each clamped by
/// itself. Shear against d is free, and a mirror image counts as much as the element: combine it with tet_strain.
struct TetLimitAxes {
  static constexpr const char* name = "tet_limit_axes";
  static constexpr const char* help = "stretch of tetrahedra limited along a direction and across it (PD Sec. 5.1)";
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1e5;
    verve::Vec3 direction{1, 0, 0};  // as parameters.h has it, whatever is read here
    double min_along = 0.9, max_along = 1.1, min_across = 0.9, max_across = 1.1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "Pa", "beyond the limits, as mu of tet_strain"),
              field("direction", &Params::direction, "", "at rest"),
              field("min_along", &Params::min_along, "", "least stretch along it"),
              field("max_along", &Params::max_along, "", "greatest stretch along it"),
              field("min_across", &Params::min_across, "", "least stretch in any direction across it"),
              field("max_across", &Params::max_across, "", "greatest stretch in any direction across it")};
    }
    std::string check() const { return fault_of_axes(*this); }
  };

  template <class T>
  struct Element {
    T weight;
    Mat3T<T> inverse_rest;  // times the axes: F [d c1 c2] = D inverse_rest
    T least_along, most_along, least_across, most_across;
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    Vec3 d{p.direction.x, p.direction.y, p.direction.z};
    d = d / norm(d);
    Vec3 c = cross(d, std::abs(d.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
    c = c / norm(c);
    return {2 * p.stiffness * det(edges) / 6,
            inverse(edges) * Mat3{{d, c, cross(d, c)}},
            p.min_along,
            p.max_along,
            p.min_across,
            p.max_across};
  }

  template <class T>
  static Columns<T, 3> project(const Element<T>& e, const Columns<T, 3>& F) {
    const Columns<T, 2> across = with_stretches<T>({F[1], F[2]}, e.least_across, e.most_across);
    return {with_length<T>(F[0], e.least_along, e.most_along), across[0], across[1]};
  }
};

VERVE_KERNEL_END(TetLimitAxes)
#endif
