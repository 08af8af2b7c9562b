#include "checks.h"

#include <cstdio>

#include "terminal.h"

namespace verve::cli {

void print_checks(const figures::Figure& figure, const figures::Result& result) {
  const Style style = style_of(stdout);
  std::printf("%s%s%s  %s (%s)\n", style.bold, figure.name, style.reset, figure.title,
              format_duration(result.seconds).c_str());
  for (const figures::Check& c : result.checks)
    std::printf("  %s%s%s  %s: %s (%s%s%s)\n", c.passed ? style.green : style.red, c.passed ? "pass" : "FAIL",
                style.reset, c.what.c_str(), c.measured.c_str(), c.bound.c_str(), c.source.empty() ? "" : "; ",
                c.source.c_str());
  std::fflush(stdout);
}

}  // namespace verve::cli
