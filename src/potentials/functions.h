// Potentials whose elements are functions of a program: given with a body (custom, formula), or registered by a name
// (plugins.cpp), so that other values of their parameters make other functions.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "potentials/potential.h"
#include "verve/formula.h"

namespace verve {

struct LawSource {
  std::string name;
  std::string stiffness;          // the parameter that weighs an element by its size,
  double standard_stiffness = 0;  // and where it is not given
  std::function<ConstitutiveLaw(const ParameterValues&)> renew;  // empty: the law stays
};
bool is_law(const ConstitutiveLaw* law);
std::unique_ptr<Potential> make_law_potential(const PotentialInput& in, const LawSource& source,
                                              const std::shared_ptr<const ConstitutiveLaw>& law,
                                              const std::string& where, Diagnostics& out);

struct FormulaSource {
  std::string name;
  std::function<double(const ParameterValues&)> stiffness;  // of each vertex towards its place [N/m]
  std::function<Formula(const ParameterValues&)> renew;
};
std::unique_ptr<Potential> make_formula_potential(const PotentialInput& in, const FormulaSource& source,
                                                  const std::string& where, Diagnostics& out);

/// potential_registry(), to be added to.
std::vector<PotentialEntry>& editable_potential_registry();

}  // namespace verve
