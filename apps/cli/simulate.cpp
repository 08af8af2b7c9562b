// verve simulate: a scene to metrics.csv, positions.npy, scene.json and report.html, and to snapshots to go on from.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "commands.h"
#include "drop.h"
#include "flags.h"
#include "run.h"
#include "terminal.h"
#include "verve/record.h"
#include "verve/registry.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::cli {

namespace {

void print_summary(const Measures& start, const Measures& end, const RunResult& result, int first_torn) {
  print_table(
      {{"", "start", "end"},
       {"energy [J]", format_value(start.total), format_value(end.total)},
       {"|P| [kg m/s]", format_value(norm(start.momentum)), format_value(norm(end.momentum))},
       {"|L| [kg m²/s]", format_value(norm(start.angular_momentum)), format_value(norm(end.angular_momentum))}});
  std::printf("worst energy error %.2g, %.1f iterations and %s per frame\n", result.worst_error_h, result.iterations,
              format_duration(result.milliseconds * 1e-3).c_str());
  if (end.torn > 0)
    std::printf("%s torn, the first in frame %d\n", count(end.torn, "element", "elements").c_str(), first_torn);
}

/// The simulation as the snapshot left it, with frames still to come.
void resume(const std::string& file, Simulation& simulation, Diagnostics& problems) {
  const Expected<Snapshot> snapshot = read_snapshot(file);
  append_new(problems, snapshot.diagnostics());
  if (!snapshot) return;
  if (snapshot->frame() >= simulation.scene().frames)
    problems.error("--resume", "found frame " + std::to_string(snapshot->frame()) + " in " + file +
                                   ", expected one before the last frame, " +
                                   std::to_string(simulation.scene().frames) + ": see --frames");
  const Diagnostics other = simulation.restore(*snapshot);
  for (const Diagnostic& d : other.items()) problems.error(file, d.what);
}

/// Snapshots in the folder of a run.
class SnapshotWriter {
 public:
  SnapshotWriter(const std::filesystem::path& run, std::optional<int> every)
      : folder_(run / "snapshots"), every_(every.value_or(0)) {}

  /// Makes the folder, without snapshots of an earlier run in it, which would not belong to the files beside them.
  void open(Diagnostics& problems) {
    std::error_code failed;
    if (every_ > 0) std::filesystem::create_directories(folder_, failed);
    if (failed) problems.error(folder_.string(), "cannot be made: " + failed.message());
    for (const auto& old : std::filesystem::directory_iterator(folder_, failed))
      if (old.path().extension() == ".verve") std::filesystem::remove(old.path(), failed);
  }
  void frame(const Simulation& simulation) {
    if (every_ == 0 || simulation.frame() % every_ != 0) return;
    std::string name = std::to_string(simulation.frame());
    name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
    const Diagnostics problems = write_snapshot(folder_ / (name + ".verve"), simulation.save());
    if (problems.has_errors()) throw std::runtime_error(problems.text());
  }

 private:
  std::filesystem::path folder_;
  int every_;
};

}  // namespace

namespace {

/// `text`: of the scene; without one, options.scene names it.
int run(const SimulateOptions& options, const std::string* text, Diagnostics problems) {
  // everything that can be wrong with the input, before anything is written
  std::vector<Override> overrides = read_overrides(options.set, problems);
  if (read_count("--frames", options.frames, problems)) overrides.emplace_back("frames", options.frames);
  if (!options.method.empty() && read_method("--method", options.method, problems))
    overrides.emplace_back("solver.method", options.method);
  if (read_choice("--precision", options.precision, {"double", "float"}, problems))
    overrides.emplace_back("solver.precision", options.precision);
  read_choice("--record", options.record, {"float", "double"}, problems);
  const std::optional<int> threads = read_count("--threads", options.threads, problems);
  const std::optional<int> every = read_count("--snapshot-every", options.snapshot_every, problems);

  std::optional<Simulation> simulation;
  if (options.scene.empty()) {
    problems.error("SCENE", "nothing given, expected a built-in scene (verve list scenes) or a JSON file");
  } else {
    Expected<Scene> scene =
        text ? parse_scene(*text, options.scene, overrides) : read_scene(options.scene, overrides);
    append_new(problems, scene.diagnostics());
    if (scene) {
      Expected<Simulation> created = Simulation::create(*scene, {.threads = threads.value_or(0)});
      append_new(problems, created.diagnostics());
      if (created) simulation = std::move(*created);
      if (created && !options.resume.empty()) resume(options.resume, *simulation, problems);
    }
  }
  if (problems.has_errors() || !simulation) return refuse(problems, "nothing was written");

  const Scene& scene = simulation->scene();
  const int first = simulation->frame();
  std::string folder = "runs/" + directory_name(scene, options.scene);
  if (first > 0) folder += "_from_" + std::to_string(first);
  const std::filesystem::path out = options.out.empty() ? folder : options.out;
  std::error_code ignored;
  if (!options.resume.empty() &&
      std::filesystem::equivalent(std::filesystem::path(options.resume).parent_path(), out / "snapshots", ignored)) {
    problems.error("--out", "found the run that " + options.resume +
                                " is of, expected another folder: its frames 0 to " + std::to_string(first) +
                                " would be gone");
    return refuse(problems, "nothing was written");
  }
  Expected<Recorder> recorder = Recorder::open(out, *simulation, options.record == "double");
  append_new(problems, recorder.diagnostics());
  if (!recorder) return refuse(problems, "nothing was written");
  report(problems);

  // an older report in the same place would not belong to the files beside it
  std::filesystem::remove(out / "report.html", ignored);
  Diagnostics trouble;
  SnapshotWriter snapshots(out, every);
  snapshots.open(trouble);
  if (!write_text((out / "scene.json").string(), write_scene(scene), trouble) || trouble.has_errors()) {
    report(trouble);
    return exit_failed;
  }

  const std::string label = scene.name + " (" + scene.solver.method + ")";
  if (!options.quiet) std::printf("%s: %s\n", label.c_str(), describe(*simulation).c_str());

  const int frames = scene.frames - first;
  std::optional<ReportRun> curves;
  if (!options.no_report) curves.emplace(scene.solver.method, *simulation, frames);
  const Measures start = simulation->measure();
  InversionWatch inversion(*simulation);
  int first_torn = 0;
  const RunResult result = run_frames(*simulation, frames, label, options.quiet, [&](const StepReport& step) {
    recorder->frame(*simulation, step);
    if (curves) curves->frame(*simulation, step);
    inversion.frame(*simulation);
    snapshots.frame(*simulation);
    if (step.torn > 0 && first_torn == 0) first_torn = simulation->frame();
  });

  int exit_code = explain(result, frames, label);
  const std::string off = result.energy.words();
  if (!off.empty()) {
    std::fprintf(stderr, "verve: %s: %s\n", label.c_str(), off.c_str());
    if (curves) curves->note("Energy target", off);
  }
  if (const std::string folded = inversion.words(); !folded.empty()) {
    std::fprintf(stderr, "verve: %s: %s\n", label.c_str(), folded.c_str());
    if (curves) curves->note("Inside out", folded);
  }
  if (curves) {
    const Expected<bool> written = write_report(out / "report.html", scene.name, scene.description, {&*curves});
    report(written.diagnostics());
    if (!written) exit_code = std::max<int>(exit_code, exit_failed);
  }
  if (!options.quiet) {
    print_summary(start, simulation->measure(), result, first_torn);
    std::set<std::string> solvers;
    for (int b = 0; b < simulation->bodies(); ++b) {
      // those of all bodies of its island, which may be hundreds alike
      const std::string all = simulation->global_solver(b) + "; ";
      for (size_t at = 0, end; (end = all.find("; ", at)) != std::string::npos; at = end + 2)
        solvers.insert(all.substr(at, end - at));
    }
    solvers.erase("");  // methods with a step of their own have none
    for (const std::string& solver : solvers) std::printf("global step: %s\n", solver.c_str());
    std::printf("%s\n", (out / (curves ? "report.html" : "metrics.csv")).string().c_str());
  }
  return exit_code;
}

}  // namespace

int simulate_scene(const std::string& text, const std::string& origin, SimulateOptions options, Diagnostics problems) {
  options.scene = origin;
  return run(options, &text, std::move(problems));
}

int simulate(const SimulateOptions& options, Diagnostics problems) {
  if (!is_mesh_file(options.scene) || problems.has_errors()) return run(options, nullptr, std::move(problems));
  const Expected<Scene> scene = scene_of_drop({options.scene}, {});
  append_new(problems, scene.diagnostics());
  if (!scene) return refuse(problems, "nothing was written");
  return simulate_scene(write_scene(*scene), options.scene, options, std::move(problems));
}

}  // namespace verve::cli
