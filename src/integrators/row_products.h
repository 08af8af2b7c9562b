// Sums over rows of contact.
#pragma once

#include <vector>

namespace verve {

/// a.b, in the order of the rows.
inline double row_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace verve
