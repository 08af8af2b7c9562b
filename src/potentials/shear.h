// The parameters of strain without a term of volume: a shear modulus, or Young's modulus in its place.
#pragma once

#include "base/text.h"
#include "potentials/parameters.h"

namespace verve {

/// mu |F - R|^2 has the stress 2 mu (strain): Young's modulus 2 mu and Poisson's ratio 0. No choice of mu gives it
/// another ratio.
struct Shear {
  double mu, young, poisson;

  /// `able`: the potential over the same elements that has a Poisson's ratio.
  std::string fault(const char* able) const {
    if (given(mu) && (given(young) || given(poisson)))
      return "found mu and young or poisson, expected either mu or young";
    if (given(poisson) && poisson != 0)
      return "found poisson " + format_number(poisson) +
             ", expected 0: mu |F - R|^2 alone does not narrow what is pulled; \"" + able +
             "\" takes young with poisson";
    if (given(poisson) && !given(young)) return "found poisson without young, expected young beside it";
    return {};
  }
  double modulus(double standard) const { return given(mu) ? mu : given(young) ? young / 2 : standard; }
};

}  // namespace verve
