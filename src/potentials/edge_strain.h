// Strain of edges, weighted by their length.
#if !defined(VERVE_EDGE_STRAIN_H) || defined(VERVE_PACKS)
#define VERVE_EDGE_STRAIN_H

#include "potentials/kernel.h"
#include "potentials/svd32.h"

VERVE_KERNEL_BEGIN

/// E = k l/2 (|e|/l - 1)^2, e = x1 - x0 (PD Sec. 5.1, "curves"); z = e / l, PD weight w = k l. A spring of stiffness
/// k / l: a line cut into more edges stays as stiff as a whole. Also the distance energy of Teschner et al. 2004.
struct EdgeStrain {
  static constexpr const char* name = "edge_strain";
  static constexpr const char* help = "strain of edges, weighted by length (PD Sec. 5.1)";
  using Elements = Edges;
  static constexpr int vertices = 2, rows = 1;

  struct Params {
    double stiffness = 100;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N", "force at twice the length: Young's modulus times section")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight, inverse_length;
    constexpr T coefficient(int, int) const { return inverse_length; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 2>& rest) {
    const double length = norm(rest[1] - rest[0]);
    return {p.stiffness * length, 1 / length};
  }

  template <class T>
  static Columns<T, 1> project(const Element<T>&, const Columns<T, 1>& z) {
    return {with_length<T>(z[0], T(1), T(1))};
  }

  /// C = |z| - 1.
  static constexpr int constraints = 1;
  template <class T>
  static T stiffness(const Element<T>& e, int) {
    return e.weight;
  }
  template <class T>
  static T constraint(const Element<T>&, int, const Columns<T, 1>& z, Columns<T, 1>& gradient) {
    const T n = norm(z[0]);
    gradient[0] = unit_or_axis<T>(z[0], n);
    return n - T(1);
  }
};

VERVE_KERNEL_END(EdgeStrain)
#endif
