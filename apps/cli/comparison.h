// Runs of one scene by several methods from the same start: what each was, how it ended, and one table of all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run.h"
#include "verve/record.h"
#include "verve/registry.h"
#include "verve/simulation.h"

namespace verve::cli {

/// One method of a comparison and what became of it.
struct Contestant {
  std::string label;  ///< "cpd"
  Scene scene;        ///< with the solver that it is to run by
  bool reference = false;

  std::optional<Simulation> simulation;  ///< until it has run; none: refused
  std::optional<ReportRun> run;          ///< none: refused, or not its turn yet
  RunResult result;
  std::string status = "not run";  ///< "done", or why not: "failed in frame 3: …", "refused: …"
};

/// The solver of a scene by a method as it is known by name: what the scene says about single axes would blur it.
SolverSpec solver_by_name(const SolverSpec& solver, const std::string& method);
/// The conserving method that the scene was made for, `cpd` where it names none, beside plain PD.
std::vector<std::string> methods_for(const Scene& scene);
/// Iterations per step that `solver` allows.
int iteration_cap(const SolverSpec& solver);

/// Builds the simulation; what prevents it goes to `problems`.
bool prepare(Contestant& contestant, int threads, Diagnostics& problems);

using QualityOf = std::function<FrameQuality(const Simulation&)>;
using AfterFrame = std::function<void(const Simulation&, const StepReport&, const FrameQuality&)>;
/// Runs all frames, to a failure or to a signal, and writes down how it ended. `after_frame` sees frame 0 too. Gives
/// the exit code of this run.
int run(Contestant& contestant, bool quiet, const QualityOf& quality = {}, const AfterFrame& after_frame = {});

/// Everyone who ran beside each other. Narrow: shares without the values, with the iterations allowed and how each run
/// ended, and below it why some are missing.
void print_comparison(const std::vector<Contestant>& contestants, bool narrow);
/// write_report() of everyone.
Expected<bool> write_comparison(const std::filesystem::path& file, const std::string& title,
                                const std::string& description, const std::vector<Contestant>& contestants);

}  // namespace verve::cli
