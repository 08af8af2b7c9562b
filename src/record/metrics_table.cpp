#include "record/metrics_table.h"

#include <cmath>
#include <cstdio>

namespace verve {

namespace {

using Row = MetricsRow;

struct Column {
  const char* name;
  double (*value)(const Row& row);  // null: the name of the body
  bool whole = false;               // a number without digits behind the point
};

#define VERVE_NUMBER(name, expression) \
  { name, [](const Row& row) { return double(expression); } }

// The only list of the columns. Their order is part of the format.
constexpr Column columns[] = {
    {"frame", [](const Row& row) { return double(row.frame); }, true},
    VERVE_NUMBER("time", row.time),
    {"body", nullptr},
    VERVE_NUMBER("px", row.measures.momentum.x),
    VERVE_NUMBER("py", row.measures.momentum.y),
    VERVE_NUMBER("pz", row.measures.momentum.z),
    VERVE_NUMBER("lx", row.measures.angular_momentum.x),
    VERVE_NUMBER("ly", row.measures.angular_momentum.y),
    VERVE_NUMBER("lz", row.measures.angular_momentum.z),
    VERVE_NUMBER("kinetic", row.measures.kinetic),
    VERVE_NUMBER("elastic", row.measures.elastic),
    VERVE_NUMBER("contact", row.measures.contact),
    VERVE_NUMBER("external", row.measures.external),
    VERVE_NUMBER("total", row.measures.total),
    VERVE_NUMBER("target_total", row.measures.target_total),
    VERVE_NUMBER("booked_loss", row.measures.booked_loss),
    VERVE_NUMBER("multiplier", row.measures.multiplier),
    {"iterations", [](const Row& row) { return double(row.measures.iterations); }, true},
    VERVE_NUMBER("error_p", row.measures.error_p),
    VERVE_NUMBER("error_l", row.measures.error_l),
    VERVE_NUMBER("error_h", row.measures.error_h),
    VERVE_NUMBER("com_x", row.measures.center.x),
    VERVE_NUMBER("com_y", row.measures.center.y),
    VERVE_NUMBER("com_z", row.measures.center.z),
    VERVE_NUMBER("step_ms", row.step_ms),
    VERVE_NUMBER("heat", row.measures.heat),
    VERVE_NUMBER("work", row.measures.work),
};

#undef VERVE_NUMBER

}  // namespace

void append_metrics_row(std::string& out, const MetricsRow& row, std::string_view prefix) {
  out += prefix;
  bool first = true;
  for (const Column& column : columns) {
    if (!first) out += ',';
    if (!column.value) {
      out += csv_field(row.body);
    } else if (column.whole) {
      out += std::to_string(long(column.value(row)));
    } else {
      append_number(out, column.value(row));
    }
    first = false;
  }
  out += '\n';
}

void append_number(std::string& out, double value, int digits) {
  if (std::isnan(value)) {
    out += "nan";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else {
    char buffer[40];
    const int length = std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    for (int i = 0; i < length; ++i) {
      const char c = buffer[i];
      const bool part_of_number = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
      out += part_of_number ? c : '.';  // the one other character is the locale's decimal point
    }
  }
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string metrics_header() {
  std::string out;
  for (const Column& column : columns) {
    if (!out.empty()) out += ',';
    out += column.name;
  }
  return out;
}

namespace {

/// Calls visit(row) for each body and for `all`.
template <class Visit>
void each_row(const Simulation& simulation, const StepReport& report, Visit&& visit) {
  const int frame = simulation.frame();
  const double time = simulation.time();
  for (int body = 0; body < simulation.bodies(); ++body) {
    const Measures measures = simulation.measure(body);
    visit(Row{frame, time, simulation.body_name(body), measures, report.milliseconds});
  }
  Measures all = simulation.measure();
  all.iterations = report.iterations;
  all.multiplier = report.multiplier;
  all.error_p = report.error_p, all.error_l = report.error_l, all.error_h = report.error_h;
  visit(Row{frame, time, "all", all, report.milliseconds});
}

}  // namespace

void append_metrics_rows(std::string& out, const Simulation& simulation, const StepReport& report,
                         std::string_view prefix) {
  each_row(simulation, report, [&](const Row& row) { append_metrics_row(out, row, prefix); });
}

std::vector<std::string> metrics_columns() {
  std::vector<std::string> out;
  for (const Column& column : columns) out.emplace_back(column.name);
  return out;
}

void append_metrics_values(std::vector<double>& out, const Simulation& simulation, const StepReport& report) {
  int body = 0;
  each_row(simulation, report, [&](const Row& row) {
    for (const Column& column : columns) out.push_back(column.value ? column.value(row) : double(body));
    ++body;
  });
}

}  // namespace verve
