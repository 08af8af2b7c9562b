// Numbers as text, the same in every message.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace verve {

inline std::string format_number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

/// Four significant digits, for tables that people read.
inline std::string format_value(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

inline std::string format_numbers(const std::vector<double>& values) {
  if (values.size() == 1) return format_number(values[0]);
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + format_number(values[i]);
  return out + "]";
}

}  // namespace verve
