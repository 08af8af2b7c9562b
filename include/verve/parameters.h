// Named numeric parameters of generators and potentials: described once, read by the scene
// loader, the schema, the documentation, Python and the tests.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "verve/diagnostics.h"

namespace verve {

struct ParameterInfo {
  std::string name;
  std::string unit;                   ///< "m", "Pa", "" (a pure number)
  std::string help;                   ///< one phrase
  std::vector<double> default_value;  ///< its size is the parameter's size: 1 (number) … 3 (vector)
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool exclusive_minimum = false;  ///< value > minimum rather than >=
  bool exclusive_maximum = false;
  bool integer = false;
  bool optional = false;  ///< no default: left out unless given
  bool list = false;      ///< any number of values, one per element
};

using Parameters = std::map<std::string, std::vector<double>>;

/// Checks names, sizes, finiteness and ranges; `where` prefixes each place.
void check_parameters(const Parameters& given, const std::vector<ParameterInfo>& known, const std::string& where,
                      Diagnostics& out);
/// "a number > 0 [N/m]", "3 whole numbers >= 1"
std::string describe_expected(const ParameterInfo& info);

}  // namespace verve
