// What the potentials with a lower and an upper bound have in common.
#pragma once

#include <sstream>

#include "potentials/parameters.h"

namespace verve {

/// Empty when 0 <= least <= most.
inline std::string fault_of_bounds(const char* least_name, double least, const char* most_name, double most) {
  if (least <= most) return {};
  std::ostringstream text;
  text << "found " << least_name << " = " << least << " above " << most_name << " = " << most << ", expected "
       << least_name << " <= " << most_name;
  return text.str();
}

/// Of the potentials that limit along a direction and across it.
template <class Params>
std::string fault_of_axes(const Params& p) {
  std::string out = fault_of_bounds("min_along", p.min_along, "max_along", p.max_along);
  const auto add = [&](const std::string& fault) {
    if (!fault.empty()) out += (out.empty() ? "" : "; ") + fault;
  };
  add(fault_of_bounds("min_across", p.min_across, "max_across", p.max_across));
  const auto& d = p.direction;
  if (!(d.x * d.x + d.y * d.y + d.z * d.z > 0))
    add("found a direction of no length, expected one that points somewhere");
  return out;
}

}  // namespace verve
