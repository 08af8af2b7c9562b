// Corotated strain of tetrahedra.
#if !defined(VERVE_TET_STRAIN_H) || defined(VERVE_PACKS)
#define VERVE_TET_STRAIN_H

#include "potentials/kernel.h"
#include "potentials/polar.h"
#include "potentials/shear.h"

VERVE_KERNEL_BEGIN

/// E = mu V |F - R|^2, R the rotation nearest to F (PD Eq. 15-16, CPD Sec. 3); PD weight w = 2 mu V.
struct TetStrain {
  static constexpr const char* name = "tet_strain";
  static constexpr const char* help = "corotated strain of tetrahedra (PD Eq. 15-16)";
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool long_chain = true;

  struct Params {
    double mu = not_given, young = not_given, poisson = not_given;
    static std::vector<Field<Params>> fields() {
      return {field("mu", &Params::mu, "Pa", "shear modulus; 1e4 when nothing is given"),
              field("young", &Params::young, "Pa", "Young's modulus in place of mu, which is half of it"),
              field("poisson", &Params::poisson, "", "Poisson's ratio: 0, or corotated", 0, 0.5, true)};
    }
    std::string check() const { return Shear{mu, young, poisson}.fault("corotated"); }
    double shear_modulus() const { return Shear{mu, young, poisson}.modulus(1e4); }
  };

  template <class T>
  struct Element {
    T weight;
    Mat3T<T> inverse_rest;  // of the edge matrix: F = D inverse_rest
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    const double volume = det(edges) / 6;
    return {2 * p.shear_modulus() * volume, inverse(edges)};
  }

  template <class T>
  static Columns<T, 3> project(const Element<T>&, const Columns<T, 3>& F) {
    return nearest_rotation(Mat3T<T>{F}).col;
  }

  /// w/2 |F - R|^2 = w/2 (|F|^2 - 2 lambda + 3) without R. Where the strain is small the terms cancel, and where lambda
  /// is not to be trusted it must not be used: then by way of R.
  template <class T>
  static T energy(const Element<T>& e, const Columns<T, 3>& F) {
    const Foam<T> foam(Mat3T<T>{F});
    const T distance2 = foam.size2 - T(2) * foam.lambda + T(3);
    // 1e-4 of the terms leaves 12 of 16 digits
    if (all(foam.reliable & (distance2 > T(1e-4) * (foam.size2 + T(3))))) return T(0.5) * e.weight * distance2;
    Columns<T, 3> unused = F;
    return distance_energy<T>(e, F, project(e, F), unused);
  }
};

VERVE_KERNEL_END(TetStrain)
#endif
