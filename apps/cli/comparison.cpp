#include "comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "commands.h"
#include "flags.h"
#include "terminal.h"

namespace verve::cli {

namespace {

std::string cell(const char* format, double value) {
  if (!std::isfinite(value)) return "–";
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// One row of the table: its head, and its entry for a run. Rows in which nobody has anything are left out.
struct Row {
  std::string head;
  std::function<std::string(const Contestant&, const RunSummary&)> value;
};

using Kind = Kept RunSummary::*;

/// "energy from 0 s to 10 s", and why there is no share of it where there is none: of one scene, the same for all.
std::string over(const char* name, const Kept& kept) {
  if (kept.span.empty()) return std::string(name) + ": " + kept.text;
  return std::string(name) + " " + kept.span + (std::isfinite(kept.share) ? "" : ": none to keep");
}

/// What was kept, in full.
Row kept_row(const char* name, Kind kind, const RunSummary& first) {
  const Kept& kept = first.*kind;
  return {std::string(name) + (kept.span.empty() ? "" : " " + kept.span),
          [kind](const Contestant&, const RunSummary& s) { return (s.*kind).text; }};
}
/// Shares and departures alone: narrow enough for many methods side by side.
void add_narrow_rows(const char* name, Kind kind, const RunSummary& first, std::vector<Row>& rows) {
  rows.push_back({over(name, first.*kind), [kind](const Contestant&, const RunSummary& s) {
                    const double share = (s.*kind).share;
                    return cell(std::abs(share) < 10 ? "%.1f %%" : "%.2g %%", 100 * share);
                  }});
  rows.push_back({std::string(name) + ", largest departure",
                  [kind](const Contestant&, const RunSummary& s) { return cell("%.1e", (s.*kind).departure); }});
}

Row number_row(const char* name, const char* format, std::function<double(const RunSummary&)> value) {
  return {name, [=](const Contestant&, const RunSummary& s) { return cell(format, value(s)); }};
}

std::vector<Row> rows_of(const RunSummary& first, bool narrow) {
  std::vector<Row> rows;
  for (const auto& [name, kind] :
       {std::pair{"energy", Kind(&RunSummary::energy)}, std::pair{"|P|", Kind(&RunSummary::momentum)},
        std::pair{"|L|", Kind(&RunSummary::spin)}}) {
    if (narrow)
      add_narrow_rows(name, kind, first, rows);
    else
      rows.push_back(kept_row(name, kind, first));
  }
  rows.push_back(number_row("elastic oscillation, last third", narrow ? "%.2g %%" : "%.2g %% of energy",
                            [](const RunSummary& s) { return 100 * s.elastic_oscillation; }));
  rows.push_back(number_row("roughness, last third", "%.3g", [](const RunSummary& s) { return s.quality.roughness; }));
  rows.push_back(
      number_row("constraint error, mean", "%.3g", [](const RunSummary& s) { return s.quality.constraint_error; }));
  rows.push_back(
      number_row("distance to reference, mean", "%.3g", [](const RunSummary& s) { return s.quality.distance; }));
  rows.push_back(
      number_row("slow distance, mean", "%.3g", [](const RunSummary& s) { return s.quality.slow_distance; }));
  rows.push_back(number_row("distance to reference, end", "%.3g", [](const RunSummary& s) { return s.last_distance; }));
  if (narrow)
    rows.push_back({"iteration cap", [](const Contestant& c, const RunSummary&) {
                      return std::to_string(iteration_cap(c.scene.solver));
                    }});
  rows.push_back(number_row("iterations per frame", "%.1f", [](const RunSummary& s) { return s.mean_iterations; }));
  rows.push_back({"time per frame",
                  [](const Contestant&, const RunSummary& s) { return format_duration(s.mean_milliseconds * 1e-3); }});
  if (narrow)
    rows.push_back({"status", [](const Contestant& c, const RunSummary&) {
                      return c.status == "done" ? "done" : c.status.substr(0, c.status.find_first_of(": "));
                    }});
  return rows;
}

std::vector<const ReportRun*> runs_of(const std::vector<Contestant>& contestants) {
  std::vector<const ReportRun*> runs;
  for (const Contestant& c : contestants)
    if (c.run) runs.push_back(&*c.run);
  return runs;
}

}  // namespace

std::vector<std::string> methods_for(const Scene& scene) {
  std::string conserving = "cpd";
  for (const MethodInfo& m : method_infos())
    if (m.name == scene.solver.method && m.conservation == "cpd") conserving = m.name;
  return {conserving, "pd"};
}

SolverSpec solver_by_name(const SolverSpec& solver, const std::string& method) {
  const SolverSpec defaults;
  SolverSpec out = solver;
  out.method = method;
  out.integrator = out.minimizer = out.conservation = "";
  out.direction = defaults.direction, out.acceleration = defaults.acceleration;
  out.rho = defaults.rho;
  out.iterations = defaults.iterations, out.budget = defaults.budget;
  return out;
}

int iteration_cap(const SolverSpec& solver) {
  const MethodInfo* info = find_method(solver.method);
  return solver.iterations.value_or(info ? info->iterations : 0);
}

bool prepare(Contestant& contestant, int threads, Diagnostics& problems) {
  Expected<Simulation> created = Simulation::create(contestant.scene, {.threads = threads});
  append_new(problems, created.diagnostics());
  if (created) contestant.simulation = std::move(*created);
  return bool(created);
}

int run(Contestant& contestant, bool quiet, const QualityOf& quality, const AfterFrame& after_frame) {
  Simulation& simulation = *contestant.simulation;
  const int frames = contestant.scene.frames;
  const auto measured = [&] { return quality ? quality(simulation) : FrameQuality{}; };
  const FrameQuality first = measured();
  contestant.run.emplace(contestant.label, simulation, frames, 600, first);
  if (contestant.reference) contestant.run->mark_as_reference();
  if (after_frame) after_frame(simulation, {}, first);
  const std::string label = contestant.scene.name + " (" + contestant.label + ")";
  contestant.result = run_frames(simulation, frames, label, quiet, [&](const StepReport& step) {
    const FrameQuality now = measured();
    contestant.run->frame(simulation, step, now);
    if (after_frame) after_frame(simulation, step, now);
  });
  const RunResult& result = contestant.result;
  if (!result.failure) contestant.run->mark_as_failed();
  if (!result.failure)
    contestant.status = "failed in frame " + std::to_string(result.frames + 1) + ": " +
                        std::string(to_string(result.failure.status)) +
                        (result.failure.message.empty() ? "" : ", " + result.failure.message);
  else if (result.signal)
    contestant.status = "interrupted after frame " + std::to_string(result.frames);
  else
    contestant.status = "done";
  contestant.simulation.reset();  // its factors are large
  return explain(result, frames, label);
}

void print_comparison(const std::vector<Contestant>& contestants, bool narrow) {
  const std::vector<const ReportRun*> runs = runs_of(contestants);
  std::vector<std::vector<std::string>> table{{"what each kept"}};
  if (!runs.empty()) {
    std::vector<std::pair<const Contestant*, RunSummary>> columns;
    for (const Contestant& c : contestants) {
      if (!c.run) continue;
      columns.emplace_back(&c, c.run->summary(runs));
      table[0].push_back(c.label);
    }
    const auto complete = std::find_if(columns.begin(), columns.end(),
                                       [](const auto& column) { return column.first->result.complete(); });
    for (const Row& row : rows_of((complete == columns.end() ? columns.front() : *complete).second, narrow)) {
      std::vector<std::string> cells{row.head};
      for (const auto& [contestant, summary] : columns) cells.push_back(row.value(*contestant, summary));
      if (row.head.find(": ") != std::string::npos ||  // tells why there is nothing
          std::any_of(cells.begin() + 1, cells.end(), [](const std::string& text) { return text != "–"; }))
        table.push_back(std::move(cells));
    }
    print_wide_table(table);
  }
  for (const Contestant& c : contestants)
    if (c.status != "done" && narrow)
      for (const std::string& line : wrap(c.label + ": " + c.status, terminal_width()))
        std::printf("%s\n", line.c_str());
}

Expected<bool> write_comparison(const std::filesystem::path& file, const std::string& title,
                                const std::string& description, const std::vector<Contestant>& contestants) {
  std::vector<AbsentRun> absent;
  for (const Contestant& c : contestants)
    if (!c.run) absent.push_back({c.label, c.status});
  return write_report(file, title, description, runs_of(contestants), absent);
}

}  // namespace verve::cli
