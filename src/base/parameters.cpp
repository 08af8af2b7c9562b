#include "verve/parameters.h"

#include <cmath>

#include "base/text.h"

namespace verve {

std::string describe_expected(const ParameterInfo& info) {
  const size_t n = info.default_value.size();
  std::string noun = info.integer ? "whole number" : "number";
  std::string out = info.list ? "a list of " + noun + "s" : n <= 1 ? "a " + noun : std::to_string(n) + " " + noun + "s";
  if (std::isfinite(info.minimum)) out += (info.exclusive_minimum ? " > " : " >= ") + format_number(info.minimum);
  if (std::isfinite(info.maximum)) {
    out += std::isfinite(info.minimum) ? " and" : "";
    out += (info.exclusive_maximum ? " < " : " <= ") + format_number(info.maximum);
  }
  if (!info.unit.empty()) out += " [" + info.unit + "]";
  return out;
}

void check_parameters(const Parameters& given, const std::vector<ParameterInfo>& known, const std::string& where,
                      Diagnostics& out) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : known) names.push_back(info.name);
  for (const auto& [name, values] : given) {
    const std::string place = where.empty() ? name : where + "." + name;
    const ParameterInfo* info = nullptr;
    for (const ParameterInfo& candidate : known)
      if (candidate.name == name) info = &candidate;
    if (!info) {
      out.error(place, "unknown key, " + expected_one_of(name, names));
      continue;
    }
    bool good = info->list || values.size() == std::max<size_t>(1, info->default_value.size());
    for (const double v : values) {
      good = good && std::isfinite(v);
      good = good && (info->exclusive_minimum ? v > info->minimum : v >= info->minimum);
      good = good && (info->exclusive_maximum ? v < info->maximum : v <= info->maximum);
      good = good && (!info->integer || v == std::floor(v));
    }
    if (!good) out.error(place, "found " + format_numbers(values) + ", expected " + describe_expected(*info));
  }
}

}  // namespace verve
