// Strain limits of edges.
#if !defined(VERVE_EDGE_LIMIT_H) || defined(VERVE_PACKS)
#define VERVE_EDGE_LIMIT_H

#include "potentials/kernel.h"
#include "potentials/limits.h"
#include "potentials/svd32.h"

VERVE_KERNEL_BEGIN

/// E = k l/2 (s - clamp(s, min, max))^2 with s = |e| / l: PD Eq. 22-23 for edges. PD weight w = k l.
struct EdgeLimit {
  static constexpr const char* name = "edge_limit";
  static constexpr const char* help = "edges kept between two lengths (PD Eq. 22-23)";
  using Elements = Edges;
  static constexpr int vertices = 2, rows = 1;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1000, min = 0.9, max = 1.1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N", "beyond the limits, as that of edge_strain"),
              field("min", &Params::min, "", "least length / rest length"),
              field("max", &Params::max, "", "greatest length / rest length")};
    }
    std::string check() const { return fault_of_bounds("min", min, "max", max); }
  };

  template <class T>
  struct Element {
    T weight, inverse_length, least, most;
    constexpr T coefficient(int, int) const { return inverse_length; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 2>& rest) {
    const double length = norm(rest[1] - rest[0]);
    return {p.stiffness * length, 1 / length, p.min, p.max};
  }

  template <class T>
  static Columns<T, 1> project(const Element<T>& e, const Columns<T, 1>& z) {
    return {with_length<T>(z[0], e.least, e.most)};
  }
};

VERVE_KERNEL_END(EdgeLimit)
#endif
