// A step by a method with a step of its own (own_step.h), and what it has lost.
#pragma once

#include <memory>

#include "integrators/own_step.h"
#include "integrators/step_outcome.h"

namespace verve {

class OwnStepper {
 public:
  /// What it has lost is measured against what it should have, though nothing was asked for.
  StepOutcome step(Island& island, double h, const Settings& settings);

 private:
  std::unique_ptr<OwnStep> own_step_;
  const OwnStepEntry* entry_ = nullptr;  // of it
};

}  // namespace verve
