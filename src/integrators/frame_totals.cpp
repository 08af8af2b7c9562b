#include "integrators/frame_totals.h"

#include <algorithm>

namespace verve {

void FrameTotals::add_work(const StepOutcome& outcome) {
  iterations += outcome.iterations, substeps += 1;
  most_iterations = std::max(most_iterations, outcome.iterations), loss += outcome.loss;
  unresolved |= outcome.unresolved;
}

void FrameTotals::add_errors(const StepOutcome& outcome) {
  p = std::max(p, outcome.error_p), l = std::max(l, outcome.error_l), h = std::max(h, outcome.error_h);
}

void FrameTotals::write(const Island& island, const StepOutcome& last, std::vector<BodyLedger>& ledgers,
                        StepReport& report) const {
  for (const int b : island.bodies()) {
    BodyLedger& ledger = ledgers[b];
    ledger.iterations = iterations, ledger.substeps = substeps;
    ledger.error_p = p, ledger.error_l = l, ledger.error_h = h;
  }
  report.iterations = std::max(report.iterations, iterations);
  report.substeps = std::max(report.substeps, substeps);
  report.error_p = std::max(report.error_p, p);
  report.error_l = std::max(report.error_l, l);
  report.error_h = std::max(report.error_h, h);
  if (!island.contacts.empty()) return;
  report.multiplier = last.lambda, report.multiplier_p = last.lambda_p, report.multiplier_l = last.lambda_l;
}

void explain_failure(const std::string& body, const StepOutcome& outcome, StepReport& report) {
  if (outcome.status == StepOutcome::Status::not_factorizable) {
    report.status = StepStatus::not_factorizable;
    report.message = "the matrix of body \"" + body + "\" is not positive definite";
  } else if (outcome.status == StepOutcome::Status::infeasible) {
    report.status = StepStatus::infeasible;
    report.message = "body \"" + body + "\": " + outcome.message;
  } else {
    report.status = StepStatus::diverged;
    report.message = "the positions of body \"" + body + "\" are no longer finite";
    if (!outcome.message.empty()) report.message += ": " + outcome.message;
  }
}

}  // namespace verve
