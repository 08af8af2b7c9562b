// Equal time: how many iterations a method may take so that its frames last as long as asked.
#pragma once

#include <optional>
#include <string>

#include "verve/scene.h"

namespace verve::cli {

struct Calibration {
  int cap = 1;              ///< iterations per step
  double milliseconds = 0;  ///< mean per frame in the trial with that cap, its first frame left out
  std::string remark;       ///< where the budget is not what limits it
};

/// Runs the beginning of the scene with one cap after another. Nothing when a signal came in between, or when the scene
/// cannot be built.
std::optional<Calibration> calibrate(const Scene& scene, int first_cap, double budget, int threads);

}  // namespace verve::cli
