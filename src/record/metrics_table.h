// The rows of metrics.csv; other tables put columns of their own in front.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verve/simulation.h"

namespace verve {

/// "frame,time,body,...,step_ms", without a line end.
std::string metrics_header();
/// Appends one line per body and one for `all`, each beginning with `prefix` (its fields already quoted, comma
/// included) and ending with a line feed.
void append_metrics_rows(std::string& out, const Simulation& simulation, const StepReport& report,
                         std::string_view prefix = {});
/// A body in a frame.
struct MetricsRow {
  int frame;
  double time;
  std::string_view body;
  const Measures& measures;
  double step_ms;
};
void append_metrics_row(std::string& out, const MetricsRow& row, std::string_view prefix = {});
/// The same as numbers: the names of the columns, and a row of them per body and one for `all`, in whose column `body`
/// is its number, of `all` that of bodies.
std::vector<std::string> metrics_columns();
void append_metrics_values(std::vector<double>& out, const Simulation& simulation, const StepReport& report);

/// A field as RFC 4180 wants it: quoted only when it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);
/// 17 significant digits, which give back the same double; "nan", "inf", "-inf". A point whatever the locale.
void append_number(std::string& out, double value, int digits = 17);

}  // namespace verve
