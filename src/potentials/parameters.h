// The parameters of a potential, written once as a table of members.
#pragma once

#include <cmath>
#include <limits>

#include "potentials/potential.h"

namespace verve {

/// Stands for a parameter that was not given.
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();
inline bool given(double value) { return !std::isnan(value); }

template <class Params>
struct Field {
  ParameterInfo info;
  double Params::*member;
};

/// A number >= minimum with a default; a default of `not_given` makes it optional.
template <class Params>
Field<Params> field(std::string name, double Params::*member, std::string unit, std::string help, double minimum = 0,
                    double maximum = std::numeric_limits<double>::infinity(), bool exclusive_maximum = false) {
  ParameterInfo info;
  info.name = std::move(name), info.unit = std::move(unit), info.help = std::move(help);
  info.minimum = minimum, info.maximum = maximum, info.exclusive_maximum = exclusive_maximum;
  const double standard = Params{}.*member;
  info.default_value = {given(standard) ? standard : 0};
  info.optional = !given(standard);
  return {std::move(info), member};
}

/// The table, built once: reading parameters into a struct allocates nothing.
template <class Params>
const std::vector<Field<Params>>& table_of() {
  static const std::vector<Field<Params>> table = Params::fields();
  return table;
}

template <class Params>
std::vector<ParameterInfo> parameter_infos() {
  std::vector<ParameterInfo> out;
  for (const Field<Params>& f : table_of<Params>()) out.push_back(f.info);
  return out;
}

template <class Params>
Params read_parameters(const ParameterValues& values) {
  Params out;
  for (const Field<Params>& f : table_of<Params>())
    if (const auto it = values.find(f.info.name); it != values.end()) out.*f.member = it->second;
  return out;
}

}  // namespace verve
