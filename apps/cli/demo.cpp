// verve demo: one scene by CPD and by plain PD from the same start, a table of what each kept, one report of both.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "commands.h"
#include "flags.h"
#include "run.h"
#include "terminal.h"
#include "verve/record.h"
#include "verve/registry.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::cli {

namespace {

/// The conserving method that the scene was made for, `cpd` where it names none, beside plain PD.
std::vector<std::string> methods_for(const Scene& scene) {
  std::string conserving = "cpd";
  for (const MethodInfo& m : method_infos())
    if (m.name == scene.solver.method && m.conservation == "cpd") conserving = m.name;
  return {conserving, "pd"};
}

void print_comparison(const std::vector<std::string>& methods, const std::vector<const ReportRun*>& runs) {
  std::vector<std::vector<std::string>> rows{
      {"what each kept"},       {"energy"},        {"|P|"}, {"|L|"}, {"elastic oscillation, last third"},
      {"iterations per frame"}, {"time per frame"}};
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunSummary summary = runs[i]->summary(runs);
    char oscillation[32], iterations[32];
    std::snprintf(oscillation, sizeof oscillation, "%.2g %% of energy", 100 * summary.elastic_oscillation);
    std::snprintf(iterations, sizeof iterations, "%.1f", summary.mean_iterations);
    const Kept* kept[] = {&summary.energy, &summary.momentum, &summary.spin};
    for (int k = 0; k < 3; ++k) {
      if (i == 0 && !kept[k]->span.empty()) rows[k + 1][0] += " " + kept[k]->span;  // of one scene: the same for all
      rows[k + 1].push_back(kept[k]->text);
    }
    rows[0].push_back(methods[i]);
    rows[4].push_back(oscillation);
    rows[5].push_back(iterations);
    rows[6].push_back(format_duration(summary.mean_milliseconds * 1e-3));
  }
  print_table(rows);
}

}  // namespace

int demo(const DemoOptions& options, Diagnostics problems) {
  std::vector<Override> overrides;
  if (read_count("--frames", options.frames, problems)) overrides.emplace_back("frames", options.frames);
  const std::optional<int> threads = read_count("--threads", options.threads, problems);

  std::vector<Simulation> simulations;
  const Expected<Scene> scene = read_scene(options.scene, overrides);
  append_new(problems, scene.diagnostics());
  const std::vector<std::string> methods = scene ? methods_for(*scene) : std::vector<std::string>{};
  for (const std::string& method : methods) {
    Scene variant = *scene;
    const SolverSpec defaults;
    // the two methods as they are known by name: what the scene says about single axes would blur them
    variant.solver.method = method;
    variant.solver.integrator = variant.solver.minimizer = variant.solver.conservation = "";
    variant.solver.rho = defaults.rho;
    variant.solver.iterations = defaults.iterations;
    Expected<Simulation> created = Simulation::create(variant, {.threads = threads.value_or(0)});
    append_new(problems, created.diagnostics());
    if (created) simulations.push_back(std::move(*created));
  }
  if (problems.has_errors() || simulations.empty()) return refuse(problems, "nothing was written");
  const std::filesystem::path out = options.out.empty() ? "runs/demo" : options.out;
  if (!prepare_directory(out.string(), problems)) return refuse(problems, "nothing was written");
  report(problems);

  const int frames = scene->frames;
  if (!options.quiet) {
    for (const std::string& line : wrap(scene->name + ": " + scene->description, terminal_width()))
      std::printf("%s\n", line.c_str());
    std::printf("%s\n\n", describe(simulations[0]).c_str());
  }

  std::vector<ReportRun> curves;
  curves.reserve(methods.size());
  int exit_code = exit_done;
  for (size_t i = 0; i < methods.size() && exit_code == exit_done; ++i) {
    Simulation& simulation = simulations[i];
    ReportRun& curve = curves.emplace_back(methods[i], simulation, frames);
    const std::string label = scene->name + " (" + methods[i] + ")";
    const RunResult result = run_frames(simulation, frames, label, options.quiet,
                                        [&](const StepReport& step) { curve.frame(simulation, step); });
    exit_code = explain(result, frames, label);
  }

  std::vector<const ReportRun*> runs;
  for (const ReportRun& curve : curves) runs.push_back(&curve);
  const std::filesystem::path page = out / "report.html";
  const Expected<bool> written = write_report(page, scene->name + ": CPD beside PD", scene->description, runs);
  report(written.diagnostics());
  if (!written) return exit_failed;
  if (!options.quiet) {
    if (exit_code == exit_done) print_comparison(methods, runs);
    std::printf("\n%s\n", page.string().c_str());
  }
  return exit_code;
}

}  // namespace verve::cli
