#pragma once

#include <cstdio>
#include <string>

#include "verve/diagnostics.h"

namespace verve {

/// What does not hold of one thing, each once.
class Findings {
 public:
  Findings(Diagnostics& out, std::string of) : out_(out), of_(std::move(of)) {}

  void expect(bool good, const std::string& claim) {
    if (!good) report(claim, "it does not");
  }
  /// The value is not above the limit; not a number is.
  void below(double value, double limit, const std::string& claim) {
    if (value <= limit) return;
    char text[80];
    std::snprintf(text, sizeof text, "found %.3g, expected at most %.3g", value, limit);
    report(claim, text);
  }

 private:
  void report(const std::string& claim, const std::string& what) {
    for (const Diagnostic& item : out_.items())
      if (item.where == of_ + ": " + claim) return;
    out_.error(of_ + ": " + claim, what);
  }
  Diagnostics& out_;
  std::string of_;
};

}  // namespace verve
