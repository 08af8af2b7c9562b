// Green's strain of triangles, stretch apart from shear.
#if !defined(VERVE_TRI_GREEN_STRAIN_H) || defined(VERVE_PACKS)
#define VERVE_TRI_GREEN_STRAIN_H

#include "potentials/green_entries.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = A/2 [k_stretch (C_00^2 + C_11^2) + k_shear C_01^2] with the entries of S = F^T F in a frame of the rest plane:
/// Mueller, Chentanez, Kim, Macklin 2014, "Strain Based Dynamics", their constraints as an energy. C_ii = (S_ii - 1)/2
/// and C_01 = S_01, or, normalized, |F_i| - 1 and the cosine of the angle between the axes. k_stretch = 2 mu and
/// k_shear = mu is, for small strain, tri_strain.
struct TriGreenStrain {
  static constexpr const char* name = "tri_green_strain";
  static constexpr const char* help =
      "stretch and shear of triangles, each with its own stiffness (Mueller et al. 2014)";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;
  /// Of fourth order in F, and where normalized the angle turns faster the shorter an axis is.
  static constexpr bool bounded = false;

  struct Params {
    double stretch = 200, shear = 100;
    verve::Vec3 direction{1, 0, 0};  // as parameters.h has it, whatever is read here
    double normalized = 1;
    static std::vector<Field<Params>> fields() {
      return {
          field("stretch", &Params::stretch, "N/m", "stiffness along both axes: 2 mu"),
          field("shear", &Params::shear, "N/m", "stiffness against a change of the angle between them: mu"),
          field("direction", &Params::direction, "", "of the first axis at rest, laid into the plane"),
          field("normalized", &Params::normalized, "", "1: lengths and angles, 0: entries of F^T F as they are", 0, 1)};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight, stretch, shear, normalized;
    TriangleOperator<T> inverse_rest;
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  /// At rest the curvature is k_stretch along the axes and 2 k_shear for the symmetric shear.
  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    const double area = triangle_area(rest);
    return {area * std::max(p.stretch, 2 * p.shear), area * p.stretch, area * p.shear, p.normalized,
            triangle_operator(rest, {p.direction.x, p.direction.y, p.direction.z})};
  }

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 2>& F, Columns<T, 2>& gradient) {
    return green_energy<T, 2>(e.stretch, e.shear, e.normalized, F, gradient);
  }

  /// C_00, C_11, C_01.
  static constexpr int constraints = 3;
  template <class T>
  static T stiffness(const Element<T>& e, int which) {
    return which < 2 ? e.stretch : e.shear;
  }
  template <class T>
  static T constraint(const Element<T>& e, int which, const Columns<T, 2>& F, Columns<T, 2>& gradient) {
    return green_entry<T, 2>(which, F, e.normalized, gradient);
  }
  template <class T>
  static T full_step(const Element<T>& e, int which, const T& C) {
    return which < 2 ? C : select(e.normalized > T(0.5), angle_step<T>(C), C);
  }
};

VERVE_KERNEL_END(TriGreenStrain)
#endif
