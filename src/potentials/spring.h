// Springs along edges.
#if !defined(VERVE_SPRING_H) || defined(VERVE_PACKS)
#define VERVE_SPRING_H

#include "potentials/kernel.h"

VERVE_KERNEL_BEGIN

/// E = k/2 (|z| - l)^2, z = x1 - x0; also the minimum over |p| = l of k/2 |z - p|^2.
/// Liu et al. 2013, "Fast Simulation of Mass-Spring Systems".
struct Spring {
  static constexpr const char* name = "spring";
  static constexpr const char* help = "springs along the edges (Liu et al. 2013)";
  using Elements = Edges;
  static constexpr int vertices = 2, rows = 1;

  struct Params {
    double stiffness = 100;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "stiffness of each spring")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight, length;
    constexpr T coefficient(int, int) const { return T(1); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 2>& rest) {
    return {p.stiffness, norm(rest[1] - rest[0])};
  }

  template <class T>
  static Columns<T, 1> project(const Element<T>& e, const Columns<T, 1>& z) {
    const T n = norm(z[0]);
    // any direction will do at z = 0
    const MaskOf<T> point = n <= T(0);
    const T s = e.length / select(point, T(1), n);
    return {Vec3T<T>{select(point, e.length, T(z[0].x * s)), z[0].y * s, z[0].z * s}};
  }

  /// C = |z| - l (PBD Sec. 3.3).
  static constexpr int constraints = 1;
  template <class T>
  static T stiffness(const Element<T>& e, int) {
    return e.weight;
  }
  template <class T>
  static T constraint(const Element<T>& e, int, const Columns<T, 1>& z, Columns<T, 1>& gradient) {
    const T n = norm(z[0]);
    gradient[0] = unit_or_axis<T>(z[0], n);
    return n - e.length;
  }
};

VERVE_KERNEL_END(Spring)
#endif
