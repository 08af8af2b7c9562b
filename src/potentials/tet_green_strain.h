// Green's strain of tetrahedra, stretch apart from shear.
#if !defined(VERVE_TET_GREEN_STRAIN_H) || defined(VERVE_PACKS)
#define VERVE_TET_GREEN_STRAIN_H

#include "potentials/green_entries.h"

VERVE_KERNEL_BEGIN

/// E = V/2 [k_stretch sum C_ii^2 + k_shear sum C_ij^2] as tri_green_strain, with three axes. S = F^T F does not tell F
/// from its mirror image: add volume_spring where elements may turn inside out.
struct TetGreenStrain {
  static constexpr const char* name = "tet_green_strain";
  static constexpr const char* help =
      "stretch and shear of tetrahedra, each with its own stiffness (Mueller et al. 2014)";
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool bounded = false;

  struct Params {
    double stretch = 2e4, shear = 1e4;
    verve::Vec3 direction{1, 0, 0};  // as parameters.h has it, whatever is read here
    double normalized = 1;
    static std::vector<Field<Params>> fields() {
      return {
          field("stretch", &Params::stretch, "Pa", "stiffness along the axes: 2 mu"),
          field("shear", &Params::shear, "Pa", "stiffness against a change of the angles between them: mu"),
          field("direction", &Params::direction, "", "of the first axis at rest"),
          field("normalized", &Params::normalized, "", "1: lengths and angles, 0: entries of F^T F as they are", 0, 1)};
    }
    std::string check() const {
      const auto& d = direction;
      return d.x * d.x + d.y * d.y + d.z * d.z > 0
                 ? ""
                 : "found a direction of no length, expected one that points somewhere";
    }
  };

  template <class T>
  struct Element {
    T weight, stretch, shear, normalized;
    Mat3T<T> inverse_rest;  // times the axes: F [d c1 c2] = D inverse_rest
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    Vec3 d{p.direction.x, p.direction.y, p.direction.z};
    d = d / norm(d);
    Vec3 c = cross(d, std::abs(d.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
    c = c / norm(c);
    const double volume = det(edges) / 6;
    return {volume * std::max(p.stretch, 2 * p.shear), volume * p.stretch, volume * p.shear, p.normalized,
            inverse(edges) * Mat3{{d, c, cross(d, c)}}};
  }

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& gradient) {
    return green_energy<T, 3>(e.stretch, e.shear, e.normalized, F, gradient);
  }

  /// C_00, C_11, C_22, C_01, C_12, C_20.
  static constexpr int constraints = 6;
  template <class T>
  static T stiffness(const Element<T>& e, int which) {
    return which < 3 ? e.stretch : e.shear;
  }
  template <class T>
  static T constraint(const Element<T>& e, int which, const Columns<T, 3>& F, Columns<T, 3>& gradient) {
    return green_entry<T, 3>(which, F, e.normalized, gradient);
  }
  template <class T>
  static T full_step(const Element<T>& e, int which, const T& C) {
    return which < 3 ? C : select(e.normalized > T(0.5), angle_step<T>(C), C);
  }
};

VERVE_KERNEL_END(TetGreenStrain)
#endif
