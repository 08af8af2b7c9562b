// The rows of metrics.csv; other tables put columns of their own in front.
#pragma once

#include <string>
#include <string_view>

#include "verve/simulation.h"

namespace verve {

/// "frame,time,body,...,step_ms", without a line end.
std::string metrics_header();
/// Appends one line per body and one for `all`, each beginning with `prefix` (its fields already quoted, comma
/// included) and ending with a line feed.
void append_metrics_rows(std::string& out, const Simulation& simulation, const StepReport& report,
                         std::string_view prefix = {});

/// A field as RFC 4180 wants it: quoted only when it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);
/// 17 significant digits, which give back the same double; "nan", "inf", "-inf". A point whatever the locale.
void append_number(std::string& out, double value, int digits = 17);

}  // namespace verve
