// Bars of 1280 tetrahedra (E = 1 MPa, h = 1/60 s, 5 s) of three materials, free and clamped, by the method under test.
#pragma once

#include <string>
#include <vector>

#include "figures/reference.h"

namespace verve::figures {

struct BarRow {
  std::string material, held;  ///< "corotated"; "free" or "clamped"
  std::string precision;       ///< "double" or "float"
  std::string method, failure;
  double tip_error = 0;    ///< rms over the frames of the middle of the end face, over the truth's amplitude there
  double truth_error = 0;  ///< the same of a truth in half the steps
  SlowError slow;
  double period = 0;  ///< of the slowest motion [frames]
  bool measurable = false;
  double milliseconds = 0, mean_iterations = 0;
};

/// The free one is stretched by a tenth and released, the clamped one falls under its weight.
Scene bar_scene(const std::string& material, bool clamped);
/// All rows; quick: one bar for a second.
std::vector<BarRow> bar_rows(const Context& context, const std::string& method, int workers);

}  // namespace verve::figures
