// The parameters of isotropic elastic materials.
#pragma once

#include "potentials/parameters.h"

namespace verve {

/// Two constants of small strain: Young's modulus and Poisson's ratio, or the moduli of Lame.
struct LameParams {
  double young = not_given, poisson = not_given, mu = not_given, lambda = not_given;

  static std::vector<Field<LameParams>> fields() {
    return {field("young", &LameParams::young, "Pa", "Young's modulus; 2.6e4 when nothing is given"),
            field("poisson", &LameParams::poisson, "", "Poisson's ratio; 0.3 when not given", 0, 0.5, true),
            field("mu", &LameParams::mu, "Pa", "shear modulus, with lambda in place of young and poisson"),
            field("lambda", &LameParams::lambda, "Pa", "first parameter of Lame, with mu")};
  }
  std::string check() const {
    if ((given(mu) || given(lambda)) && (given(young) || given(poisson)))
      return "found mu or lambda beside young or poisson, expected either mu with lambda or young with poisson";
    if (given(mu) != given(lambda)) return "found only one of mu and lambda, expected both or neither";
    return {};
  }

  struct Moduli {
    double mu, lambda;
  };
  Moduli moduli() const {
    if (given(mu)) return {mu, lambda};
    const double e = given(young) ? young : 2.6e4, nu = given(poisson) ? poisson : 0.3;
    return {e / (2 * (1 + nu)), e * (nu / ((1 + nu) * (1 - 2 * nu)))};
  }
};

/// The same of a sheet in its plane, times its thickness. Nothing holds its thickness, so that lambda is that of plane
/// stress, E nu / (1 - nu^2): a strip that is pulled narrows by nu.
struct PlaneStressParams : LameParams {
  static std::vector<Field<PlaneStressParams>> fields() {
    using P = PlaneStressParams;
    return {field<P>("young", &P::young, "N/m", "Young's modulus times thickness; 200 when nothing is given"),
            field<P>("poisson", &P::poisson, "", "Poisson's ratio; 0.3 when not given", 0, 0.5, true),
            field<P>("mu", &P::mu, "N/m", "shear modulus times thickness, with lambda in place of young and poisson"),
            field<P>("lambda", &P::lambda, "N/m", "parameter of Lame in plane stress times thickness, with mu")};
  }
  Moduli moduli() const {
    if (given(mu)) return {mu, lambda};
    const double e = given(young) ? young : 200, nu = given(poisson) ? poisson : 0.3;
    return {e / (2 * (1 + nu)), e * (nu / (1 - nu * nu))};
  }
};

}  // namespace verve
