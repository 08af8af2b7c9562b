#include "figures/truth/tables.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace verve::figures {

namespace {

std::string number(double value) {
  if (!std::isfinite(value)) return "";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

/// A table whose cells know whether they are text: CSV and JSON are made of the same.
struct Field {
  std::string name, value;
  bool text = false;
};
using Fields = std::vector<Field>;

Field text(const char* name, const std::string& value) { return {name, value, true}; }
Field value(const char* name, double v) { return {name, number(v), false}; }

std::string csv_text(const std::string& value) {
  if (value.find_first_of(",\"\n") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? "\"\"" : c == '\n' ? " " : std::string(1, c);
  return out + "\"";
}

std::string csv_of(const std::vector<Fields>& rows, const Fields& head) {
  std::string out;
  for (size_t i = 0; i < head.size(); ++i) out += (i ? "," : "") + head[i].name;
  out += "\n";
  for (const Fields& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      out += (i ? "," : "") + (row[i].text ? csv_text(row[i].value) : row[i].value);
    out += "\n";
  }
  return out;
}

std::string quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    char buffer[8];
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c), out += buffer;
    else
      out += c;
  }
  return out + "\"";
}

std::string json_of(const std::vector<Fields>& rows) {
  std::string out = "[";
  for (size_t r = 0; r < rows.size(); ++r) {
    out += r ? ",\n  {" : "\n  {";
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const Field& f = rows[r][i];
      out += (i ? "," : "") + quoted(f.name) + ":" + (f.text ? quoted(f.value) : f.value.empty() ? "null" : f.value);
    }
    out += "}";
  }
  return out + "\n]";
}

Fields fields(const TruthCase& c, const TruthRun& r) {
  const bool good = r.good();
  const auto measured = [&](const char* name, double v) { return value(name, good ? v : std::nan("")); };
  return {text("scene", c.scene.name),
          text("kind", c.scene.kind),
          text("set", to_string(c.scene.set)),
          value("step", c.step),
          text("method", r.method),
          text("substeps", r.substeps == 0 ? "auto" : std::to_string(r.substeps)),
          value("iteration_cap", r.iterations),
          value("default", r.own),
          value("ms", r.milliseconds),
          value("iterations", r.mean_iterations),
          value("most_iterations", r.most_iterations),
          measured("distance", r.distance),
          measured("slow_distance", r.slow_distance),
          measured("judged_distance", c.judged(r)),
          measured("amplitude", r.slow.amplitude),
          measured("phase", r.slow.phase),
          measured("energy_error", r.energy_error),
          measured("energy_change", r.energy),
          measured("heat", r.heat),
          measured("booked_loss", r.booked),
          measured("roughness", r.roughness),
          measured("jitter", r.jitter),
          text("status", good ? "done" : r.failure)};
}

Fields fields(const TruthCase& c) {
  const auto none = c.refused.find("truth");
  return {text("scene", c.scene.name),
          text("kind", c.scene.kind),
          text("set", to_string(c.scene.set)),
          text("base", c.scene.base),
          text("settings", as_flags(c.scene)),
          value("step", c.step),
          value("frames", c.scene.frames),
          value("vertices", c.vertices),
          value("elements", c.elements),
          value("tolerance", c.tolerance),
          value("truth_steps", c.truth_steps),
          value("truth_error", c.truth_error),
          value("truth_energy_error", c.truth_energy),
          value("fast_share", c.fast),
          text("judged_by", c.judged_slow() ? "slow_distance" : "distance"),
          value("period", c.period),
          value("amplitude_kept", c.kept),
          text("status", none != c.refused.end() ? none->second
                         : c.known()             ? "done"
                                                 : "truth not known")};
}

Fields fields(const BarRow& b) {
  return {text("material", b.material),
          text("held", b.held),
          text("precision", b.precision),
          text("method", b.method),
          value("tip_error", b.tip_error),
          value("truth_error", b.truth_error),
          value("amplitude", b.slow.amplitude),
          value("phase", b.slow.phase),
          value("period", b.period),
          value("iterations", b.mean_iterations),
          value("ms", b.milliseconds),
          text("status", b.failure.empty() ? "done" : b.failure)};
}

std::vector<Fields> runs_of(const std::vector<TruthCase>& cases) {
  std::vector<Fields> out;
  for (const TruthCase& c : cases)
    for (const TruthRun& r : c.runs) out.push_back(fields(c, r));
  return out;
}
template <class T>
std::vector<Fields> rows_of(const std::vector<T>& all) {
  std::vector<Fields> out;
  for (const T& one : all) out.push_back(fields(one));
  return out;
}

std::vector<Fields> profile_rows(const std::vector<TruthCase>& ours, const std::vector<TruthCase>& random,
                                 const StudyOptions& options) {
  std::vector<Fields> out;
  for (const std::vector<TruthCase>* cases : {&ours, &random}) {
    if (cases->empty()) continue;
    const std::vector<const TruthCase*> scenes = decided(*cases);
    for (const double b : options.budgets)
      for (const std::string& m : options.methods)
        for (const double tau : {1.0, 1.05, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0})
          out.push_back(
              {text("set", cases == &random ? "random" : "ours"), value("budget", b), text("method", m),
               value("tau", tau), value("share", share_within(scenes, options.methods, m, b, tau)),
               value("share_of_best", share_solved(scenes, options.methods, m, b, options.budgets.back(), tau))});
  }
  return out;
}

std::vector<TruthCase> joined(std::vector<TruthCase> a, const std::vector<TruthCase>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

std::string runs_csv(const std::vector<TruthCase>& cases) { return csv_of(runs_of(cases), fields({}, TruthRun{})); }

std::string scenes_csv(const std::vector<TruthCase>& cases) { return csv_of(rows_of(cases), fields(TruthCase{})); }

std::string profiles_csv(const std::vector<TruthCase>& ours, const std::vector<TruthCase>& random,
                         const StudyOptions& options) {
  const Fields head{text("set", ""), value("budget", 0), text("method", ""),
                    value("tau", 0), value("share", 0),  value("share_of_best", 0)};
  return csv_of(profile_rows(ours, random, options), head);
}

std::string bars_csv(const std::vector<BarRow>& bars) { return csv_of(rows_of(bars), fields(BarRow{})); }

std::string study_json(const std::vector<TruthCase>& ours, const std::vector<TruthCase>& random,
                       const std::vector<BarRow>& bars, const StudyOptions& options, const std::string& method,
                       const std::vector<std::pair<std::string, Check>>& checks) {
  std::vector<Fields> lines;
  for (const auto& [section, c] : checks)
    lines.push_back({text("section", section),
                     text("what", c.what),
                     text("measured", c.measured),
                     text("bound", c.bound),
                     {"passed", c.passed ? "true" : "false", false}});
  std::string budgets;
  for (const double b : options.budgets) budgets += (budgets.empty() ? "" : ",") + number(b);
  const std::vector<TruthCase> all = joined(ours, random);
  return "{\"method\":" + quoted(method) + ",\n\"budgets\":[" + budgets + "],\n\"checks\":" + json_of(lines) +
         ",\n\"scenes\":" + json_of(rows_of(all)) + ",\n\"runs\":" + json_of(runs_of(all)) +
         ",\n\"bars\":" + json_of(rows_of(bars)) + ",\n\"profiles\":" + json_of(profile_rows(ours, random, options)) +
         "}\n";
}

}  // namespace verve::figures
