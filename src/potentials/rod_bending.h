// Bending of ropes and rods.
#if !defined(VERVE_ROD_BENDING_H) || defined(VERVE_PACKS)
#define VERVE_ROD_BENDING_H

#include "potentials/kernel.h"

VERVE_KERNEL_BEGIN

/// E = B / 2l |z - p|^2,  z = (x2 - x1)/l2 - (x1 - x0)/l1 at a vertex x1 between two edges, l = (l1 + l2)/2: the change
/// of the tangent, z/l the curvature vector of a line that keeps its lengths. p is z made as long as at rest, the same
/// normalisation as for sheets (PD Eq. 28), so a straight rod has p = 0. Twist costs nothing.
struct RodBending {
  static constexpr const char* name = "rod_bending";
  static constexpr const char* help =
      "bending of ropes and rods at the vertices between two edges (PD Eq. 28 on lines)";
  using Elements = Joints;
  static constexpr int vertices = 3, rows = 1;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 0.01;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N m^2", "bending stiffness E I: energy per length B/2 kappa^2")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight;
    T before, after;  // 1 / lengths of the edges
    T turn;           // |z| at rest
    constexpr T coefficient(int, int i) const { return i == 0 ? before : after; }
  };

  /// The middle comes first.
  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    const Vec3 a = rest[1] - rest[0], b = rest[2] - rest[0];
    const double la = norm(a), lb = norm(b), turn = norm(a / la + b / lb);
    return {p.stiffness / (0.5 * (la + lb)), 1 / la, 1 / lb, turn > 1e-12 ? turn : 0};  // less is round-off
  }

  template <class T>
  static Columns<T, 1> project(const Element<T>& e, const Columns<T, 1>& z) {
    const T n = norm(z[0]);
    const MaskOf<T> point = n <= T(0);  // any direction will do at z = 0
    const T s = e.turn / select(point, T(1), n);
    return {Vec3T<T>{select(point, e.turn, T(z[0].x * s)), z[0].y * s, z[0].z * s}};
  }
};

VERVE_KERNEL_END(RodBending)
#endif
