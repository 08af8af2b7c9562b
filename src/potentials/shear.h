// The parameters of strain: a shear modulus, or Young's modulus and Poisson's ratio in its place.
#pragma once

#include "potentials/parameters.h"

namespace verve {

struct Shear {
  double mu, young, poisson;

  std::string fault() const {
    if (given(mu) && (given(young) || given(poisson)))
      return "found mu and young or poisson, expected either mu or young with poisson";
    if (given(young) != given(poisson)) return "found only one of young and poisson, expected both or neither";
    return {};
  }
  double modulus(double standard) const {
    return given(mu) ? mu : given(young) ? young / (2 * (1 + poisson)) : standard;
  }
};

}  // namespace verve
