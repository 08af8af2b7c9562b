// Forces by the caller's own rule, in every step.
#pragma once

#include <functional>
#include <span>

#include "verve/ids.h"
#include "verve/vec.h"

namespace verve {

/// A body where a step begins: per vertex, in the order of its mesh.
struct FieldSample {
  BodyId body;
  double time = 0, step = 0;  ///< at the end of the step, and its length [s]
  std::span<const Vec3> positions, velocities;
  std::span<const double> masses;
  std::span<Vec3> forces;  ///< to be added to [N]; constant during the step
};

/// Called for one body after another, by the thread that steps. An exception ends the step, which then has not happened.
using ForceField = std::function<void(const FieldSample& sample)>;

}  // namespace verve
