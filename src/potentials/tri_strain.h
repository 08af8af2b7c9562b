// Strain of triangles.
#if !defined(VERVE_TRI_STRAIN_H) || defined(VERVE_PACKS)
#define VERVE_TRI_STRAIN_H

#include "potentials/shear.h"
#include "potentials/svd32.h"
#include "potentials/triangle_frame.h"

VERVE_KERNEL_BEGIN

/// E = mu A |F - T|^2, F the 3x2 deformation gradient in the rest plane, T the nearest matrix with orthonormal columns
/// (PD Eq. 15-16); PD weight w = 2 mu A. Bending costs nothing, nor does folding over.
struct TriStrain {
  static constexpr const char* name = "tri_strain";
  static constexpr const char* help = "strain of triangles (PD Eq. 15-16)";
  using Elements = Triangles;
  static constexpr int vertices = 3, rows = 2;

  struct Params {
    double mu = not_given, young = not_given, poisson = not_given;
    static std::vector<Field<Params>> fields() {
      return {field("mu", &Params::mu, "N/m", "shear modulus times thickness; 100 when nothing is given"),
              field("young", &Params::young, "N/m", "Young's modulus times thickness in place of mu: twice that"),
              field("poisson", &Params::poisson, "", "Poisson's ratio: 0, or tri_corotated", 0, 0.5, true)};
    }
    std::string check() const { return Shear{mu, young, poisson}.fault("tri_corotated"); }
    double shear_modulus() const { return Shear{mu, young, poisson}.modulus(100); }
  };

  template <class T>
  struct Element {
    T weight;
    TriangleOperator<T> inverse_rest;
    constexpr T coefficient(int row, int i) const { return inverse_rest.coefficient(row, i); }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    return {2 * p.shear_modulus() * triangle_area(rest), triangle_operator(rest)};
  }

  template <class T>
  static Columns<T, 2> project(const Element<T>&, const Columns<T, 2>& F) {
    return nearest_isometry<T>(F);
  }

  /// w/2 |F - T|^2 = w/2 (|F|^2 - 2 (s0 + s1) + 2) without T, where the terms do not cancel.
  template <class T>
  static T energy(const Element<T>& e, const Columns<T, 2>& F) {
    const Polar32<T> polar(F);
    const T distance2 = polar.size2 - T(2) * polar.sum + T(2);
    // 1e-4 of the terms leaves 12 of 16 digits
    if (all(polar.reliable & (distance2 > T(1e-4) * (polar.size2 + T(2))))) return T(0.5) * e.weight * distance2;
    Columns<T, 2> unused;
    return distance_energy<T>(e, F, project(e, F), unused);
  }
};

VERVE_KERNEL_END(TriStrain)
#endif
