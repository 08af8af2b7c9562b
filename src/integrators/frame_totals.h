// What the sub-steps of an island's frame amount to, for the report of the frame and the ledger of each body.
#pragma once

#include <string>

#include "integrators/island.h"

namespace verve {

struct FrameTotals {
  int iterations = 0, most_iterations = 0, substeps = 0;
  double loss = 0;             // of all sub-steps
  bool unresolved = false;     // some sub-step, see StepOutcome
  double p = 0, l = 0, h = 0;  // scaled residuals, the largest

  void add_work(const StepOutcome& outcome);
  void add_errors(const StepOutcome& outcome);
  void write(const Island& island, const StepOutcome& last, std::vector<BodyLedger>& ledgers, StepReport& report) const;
};

/// Why a frame failed: in the island of the body with this name.
void explain_failure(const std::string& body, const StepOutcome& outcome, StepReport& report);

}  // namespace verve
