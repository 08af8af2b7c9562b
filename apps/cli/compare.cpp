// verve compare: a scene by several methods from the same start, and by a fine-step run that stands for the truth.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "calibrate.h"
#include "commands.h"
#include "comparison.h"
#include "figures/reference_solver.h"
#include "flags.h"
#include "interrupt.h"
#include "record/metrics_table.h"
#include "record/output_file.h"
#include "terminal.h"
#include "verve/scene_file.h"

namespace verve::cli {

namespace fs = std::filesystem;

namespace {

constexpr int most_factor = 64;  // of solver.substeps
constexpr const char* reference_label = "reference";

/// "pd" or "pd:20", the latter with at most 20 iterations per step.
struct Wanted {
  std::string label, method;
  std::optional<int> cap;
};

std::vector<Wanted> read_methods(const std::string& text, Diagnostics& problems) {
  std::vector<Wanted> wanted;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Wanted next{text.substr(begin, end - begin), "", std::nullopt};
    begin = end + 1;
    next.method = next.label.substr(0, next.label.find(':'));
    if (next.method.size() < next.label.size()) {
      const std::string cap = next.label.substr(next.method.size() + 1);
      if (cap.empty())
        problems.error("--methods", "found \"" + next.label + "\", expected a number of iterations after the colon");
      next.cap = read_count("--methods: " + next.label, cap, problems);
    }
    if (read_method("--methods", next.method, problems) &&
        std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& w) { return w.label == next.label; }))
      problems.error("--methods", "found \"" + next.label + "\" twice, expected each once");
    wanted.push_back(std::move(next));
  }
  return wanted;
}

/// Sub-steps of the reference; 0 without one.
int read_reference(const std::string& text, Diagnostics& problems) {
  if (text.empty()) return figures::reference_steps;
  if (text == "none") return 0;
  Diagnostics unread;
  const std::optional<int> factor = read_count("--reference", text, unread);
  if (!factor || *factor < 2 || *factor > most_factor)
    problems.error("--reference",
                   "found " + text + ", expected none or a whole number from 2 to " + std::to_string(most_factor));
  return factor.value_or(0);
}

/// What --methods says cannot be said again by --set.
void refuse_axes(const std::vector<Override>& overrides, Diagnostics& problems) {
  for (const auto& [path, value] : overrides)
    for (const char* axis : {"solver.method", "solver.integrator", "solver.minimizer", "solver.conservation"})
      if (path == axis)
        problems.error("--set", "found " + path + "=" + value + ", expected a key that all methods share; --methods " +
                                    "says which they are");
}

bool iterates(const SolverSpec& solver) {
  const MethodInfo* info = find_method(solver.method);
  return info && info->iterations > 1;
}

/// Positions of every frame of the reference, on disk: large scenes have gigabytes of them.
class Trajectory {
 public:
  explicit Trajectory(int vertices) : vertices_(size_t(vertices)), file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw std::runtime_error("no temporary file for the reference: " + last_system_error());
  }
  void add(const std::vector<Vec3>& positions) {
    if (std::fseek(file_.get(), 0, SEEK_END) != 0 ||
        std::fwrite(positions.data(), sizeof(Vec3), vertices_, file_.get()) != vertices_)
      throw std::runtime_error("the temporary file for the reference cannot be written: " + last_system_error());
    ++frames_;
  }
  /// Null where the reference has not come to.
  const std::vector<Vec3>* at(int frame) {
    if (frame >= frames_) return nullptr;
    buffer_.resize(vertices_);
    if (fseeko(file_.get(), off_t(frame) * off_t(vertices_ * sizeof(Vec3)), SEEK_SET) != 0 ||
        std::fread(buffer_.data(), sizeof(Vec3), vertices_, file_.get()) != vertices_)
      throw std::runtime_error("the temporary file for the reference cannot be read: " + last_system_error());
    return &buffer_;
  }

 private:
  size_t vertices_;
  int frames_ = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<Vec3> buffer_;
};

/// compare.csv, quality.csv and reference.csv, which grow with the runs.
class Tables {
 public:
  bool open(const fs::path& out, bool reference, Diagnostics& problems) {
    std::error_code ignored;
    const std::string metrics = "method," + metrics_header() + "\n";
    const bool good = create(compare_, out / "compare.csv", metrics, problems) &&
                      create(quality_, out / "quality.csv",
                             "method,frame,time,roughness,constraint_error,distance,slow_distance\n", problems) &&
                      (!reference || create(reference_, out / "reference.csv", metrics, problems));
    if (!good)
      for (const fs::path& file : made_) fs::remove(file, ignored);
    return good;
  }
  void frame(const Contestant& contestant, const Simulation& simulation, const StepReport& step,
             const FrameQuality& quality) {
    const std::string prefix = csv_field(contestant.label) + ",";
    rows_.clear();
    append_metrics_rows(rows_, simulation, step, prefix);
    write(contestant.reference ? reference_ : compare_, contestant.reference ? "reference.csv" : "compare.csv");
    rows_ = prefix + std::to_string(simulation.frame());
    const double distance = contestant.reference ? 0 : quality.distance;
    const double slow = contestant.reference ? 0 : quality.slow_distance;
    for (const double value : {simulation.time(), quality.roughness, quality.constraint_error, distance, slow})
      rows_ += ',', append_number(rows_, value);
    rows_ += '\n';
    write(quality_, "quality.csv");
  }

 private:
  bool create(GrowingFile& file, const fs::path& path, const std::string& head, Diagnostics& problems) {
    const std::string error = file.create(path, head);
    if (error.empty())
      made_.push_back(path);
    else
      problems.error(path.string(), "cannot be written: " + error);
    return error.empty();
  }
  void write(GrowingFile& file, const char* name) {
    if (const std::string error = file.append(rows_); !error.empty())
      throw std::runtime_error(std::string(name) + " cannot be written: " + error);
  }

  GrowingFile compare_, quality_, reference_;
  std::vector<fs::path> made_;
  std::string rows_;
};

/// Only what CPD holds says how many sub-steps a frame needs; without it there are as many as the method has.
std::string substeps_of(const SolverSpec& solver, const MethodInfo& info) {
  if (solver.substeps != 0) return std::to_string(solver.substeps);
  return axes_of(solver)->conservation == "cpd" ? "auto" : std::to_string(info.substeps);
}

/// What each method was, what it was allowed and what it took.
std::string methods_table(const std::vector<Contestant>& contestants, std::optional<double> budget) {
  std::string out =
      "method,integrator,minimizer,conservation,iteration_cap,substeps,budget_ms,frames,iterations,step_ms,status\n";
  for (const Contestant& c : contestants) {
    const SolverSpec& s = c.scene.solver;
    const MethodInfo& info = *find_method(s.method);
    out += csv_field(c.label) + "," + (s.integrator.empty() ? info.integrator : s.integrator) + "," +
           (s.minimizer.empty() ? info.minimizer : s.minimizer) + "," +
           (s.conservation.empty() ? info.conservation : s.conservation) + "," + std::to_string(iteration_cap(s)) +
           "," + substeps_of(s, info) + ",";
    if (budget && !c.reference) append_number(out, *budget, 9);
    out += "," + std::to_string(c.result.frames) + ",";
    append_number(out, c.result.iterations, 9);
    out += ",";
    append_number(out, c.result.milliseconds, 9);
    out += "," + csv_field(c.status) + "\n";
  }
  return out;
}

std::string one_line(const Diagnostics& problems) {
  std::string out;
  for (const Diagnostic& d : problems.items()) {
    if (d.severity != Severity::error) continue;
    out += (out.empty() ? "" : "; ") + (d.where.empty() ? "" : d.where + ": ") + d.what;
  }
  return out;
}

std::string short_number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

/// The command line, read.
struct Request {
  std::vector<Override> overrides;
  std::vector<Wanted> wanted;
  std::optional<int> iterations;
  std::optional<double> budget;
  int factor = 0, threads = 0;
  bool quiet = false;

  bool sets(const char* path) const {
    return std::any_of(overrides.begin(), overrides.end(), [&](const Override& o) { return o.first == path; });
  }
  std::string mode() const {
    std::string out = "Each method with its own iterations.";
    if (iterations) out = "Equal iterations: at most " + std::to_string(*iterations) + " per step.";
    if (budget) out = "Equal time: iterations chosen for " + short_number(*budget) + " ms per frame.";
    if (factor > 0)
      out += " Reference: generalised-α with " + std::to_string(factor) + " sub-steps per frame, converged.";
    return out;
  }
};

Request read_request(const CompareOptions& options, Diagnostics& problems) {
  Request out;
  out.quiet = options.quiet;
  out.overrides = read_overrides(options.set, problems);
  refuse_axes(out.overrides, problems);
  if (read_count("--frames", options.frames, problems)) out.overrides.emplace_back("frames", options.frames);
  if (read_choice("--precision", options.precision, {"double", "float"}, problems))
    out.overrides.emplace_back("solver.precision", options.precision);
  out.threads = read_count("--threads", options.threads, problems).value_or(0);
  out.iterations = read_count("--iterations", options.iterations, problems);
  out.budget = read_positive("--budget", options.budget, problems);
  out.factor = read_reference(options.reference, problems);
  out.wanted = read_methods(options.methods, problems);
  if (!options.iterations.empty() && !options.budget.empty())
    problems.error("--budget", "found beside --iterations, expected one of the two: equal time or equal iterations");
  for (const Wanted& w : out.wanted)
    if (w.cap && (out.iterations || out.budget))
      problems.error("--methods", "found \"" + w.label + "\" beside " + (out.iterations ? "--iterations" : "--budget") +
                                      ", expected the number of iterations in one place");
  if (options.scene.empty())
    problems.error("SCENE", "nothing given, expected a built-in scene (verve list scenes) or a JSON file");
  return out;
}

/// The reference first, then the methods as they were asked for.
std::vector<Contestant> contestants_for(const Request& request, const Scene& scene) {
  std::vector<Contestant> out;
  if (request.factor > 0) {
    Contestant& reference = out.emplace_back();
    reference.label = reference_label, reference.reference = true;
    reference.scene = scene;
    reference.scene.solver = figures::reference_solver(scene, request.factor);
  }
  for (const Wanted& w : request.wanted) {
    Contestant& contestant = out.emplace_back();
    contestant.label = w.label;
    contestant.scene = scene;
    SolverSpec& solver = contestant.scene.solver = solver_by_name(scene.solver, w.method);
    if (request.sets("solver.rho")) solver.rho = scene.solver.rho;
    if (request.sets("solver.direction")) solver.direction = scene.solver.direction;
    if (request.sets("solver.iterations")) solver.iterations = scene.solver.iterations;
    if (request.sets("solver.budget") && keeps_budgets(solver)) solver.budget = scene.solver.budget;
    if (w.cap) solver.iterations = w.cap;
    if (request.iterations && iterates(solver)) {
      solver.iterations = request.iterations;
      if (solver.substeps == 0) solver.substeps = 1;  // or a frame could take a multiple of the cap
    }
  }
  return out;
}

/// A method that refuses the scene does not keep the others from it. A scene that all refuse is a bad scene: false, and
/// `problems` says why.
bool prepare_all(std::vector<Contestant>& contestants, int threads, Diagnostics& problems) {
  Diagnostics refusals;
  bool any = false;
  for (Contestant& contestant : contestants) {
    Diagnostics found;
    if (prepare(contestant, threads, found)) {
      any = any || !contestant.reference;
      append_new(problems, found);
    } else {
      contestant.status = "refused: " + one_line(found);
      append_new(refusals, found);
    }
  }
  if (!any) append_new(problems, refusals);
  return any;
}

/// Equal time: finds the cap, and says what prevents it.
std::string fit_to_budget(Contestant& contestant, const Request& request) {
  const std::optional<Calibration> found =
      calibrate(contestant.scene, iteration_cap(contestant.scene.solver), *request.budget, request.threads);
  if (!found) return "";
  contestant.scene.solver.iterations = found->cap;
  Diagnostics none;  // nothing has changed but the cap
  prepare(contestant, request.threads, none);
  if (!request.quiet)
    std::printf("%s: %s per step, %s ms per frame in the trial%s%s\n", contestant.label.c_str(),
                count(found->cap, "iteration", "iterations").c_str(), short_number(found->milliseconds).c_str(),
                found->remark.empty() ? "" : "; ", found->remark.c_str());
  return found->remark;
}

/// One after another, so that each has the machine for itself. Gives the exit code of all.
int run_all(std::vector<Contestant>& contestants, const Request& request, const QualityMeter& meter, Tables& tables) {
  std::unique_ptr<Trajectory> trajectory;
  int exit_code = exit_done;
  const InterruptGuard interrupt;
  for (Contestant& contestant : contestants) {
    if (!contestant.simulation) {
      std::fprintf(stderr, "verve: %s: %s\n", contestant.label.c_str(), contestant.status.c_str());
      exit_code = std::max<int>(exit_code, exit_failed);
      continue;
    }
    std::string remark;
    if (request.budget && !contestant.reference && iterates(contestant.scene.solver))
      remark = fit_to_budget(contestant, request);
    if (InterruptGuard::signal()) break;
    if (contestant.reference) trajectory = std::make_unique<Trajectory>(contestant.simulation->vertices());
    SlowPositions slow, slow_reference;
    const auto quality = [&](const Simulation& simulation) {
      const std::vector<Vec3>* const beside =
          trajectory && !contestant.reference ? trajectory->at(simulation.frame()) : nullptr;
      FrameQuality out = meter.measure(simulation, beside);
      if (beside) out.slow_distance = meter.distance(slow.add(simulation.positions()), slow_reference.add(*beside));
      return out;
    };
    const auto after_frame = [&](const Simulation& simulation, const StepReport& step, const FrameQuality& measured) {
      if (contestant.reference) trajectory->add(simulation.positions());
      tables.frame(contestant, simulation, step, measured);
    };
    exit_code = std::max(exit_code, run(contestant, request.quiet, quality, after_frame));
    contestant.run->note("Iteration cap", std::to_string(iteration_cap(contestant.scene.solver)));
    contestant.run->note("Status", contestant.status + (remark.empty() ? "" : ", " + remark));
    if (const std::string off = contestant.result.energy.words(); !off.empty()) {
      std::fprintf(stderr, "verve: %s: %s\n", contestant.label.c_str(), off.c_str());
      contestant.run->note("Energy target", off);
    }
  }
  return InterruptGuard::signal() ? 128 + InterruptGuard::signal() : exit_code;
}

}  // namespace

int compare(const CompareOptions& options, Diagnostics problems) {
  // everything that can be wrong with the input, before anything is written
  Request request = read_request(options, problems);
  if (options.scene.empty()) return refuse(problems, "nothing was written");
  const Expected<Scene> scene = read_scene(options.scene, request.overrides);
  append_new(problems, scene.diagnostics());
  if (problems.has_errors() || !scene) return refuse(problems, "nothing was written");
  if (request.wanted.empty())
    for (const std::string& method : methods_for(*scene)) request.wanted.push_back({method, method, std::nullopt});
  std::vector<Contestant> contestants = contestants_for(request, *scene);
  if (!prepare_all(contestants, request.threads, problems)) return refuse(problems, "nothing was written");

  const fs::path out = options.out.empty() ? "runs/compare/" + directory_name(*scene, options.scene) : options.out;
  FolderLock lock;
  Tables tables;
  if (!claim_directory(out.string(), lock, problems) || !tables.open(out, request.factor > 0, problems))
    return refuse(problems, "nothing was run");
  report(problems);
  std::error_code ignored;  // what an earlier comparison left here does not belong to the files beside it
  for (const char* old : {"compare.html", "methods.csv"}) fs::remove(out / old, ignored);
  if (request.factor == 0) fs::remove(out / "reference.csv", ignored);

  Diagnostics trouble;
  if (!write_text((out / "scene.json").string(), write_scene(*scene), trouble)) {
    report(trouble);
    return exit_failed;
  }
  const Simulation& first = *std::find_if(contestants.begin(), contestants.end(), [](const Contestant& c) {
                               return c.simulation.has_value();
                             })->simulation;
  if (!options.quiet) std::printf("%s: %s\n", scene->name.c_str(), describe(first).c_str());
  int exit_code = run_all(contestants, request, QualityMeter(first), tables);

  write_text((out / "methods.csv").string(), methods_table(contestants, request.budget), trouble);
  const fs::path page = out / "compare.html";
  if (std::any_of(contestants.begin(), contestants.end(), [](const Contestant& c) { return c.run.has_value(); })) {
    std::string title = scene->name + ": ";
    for (size_t i = 0; i < request.wanted.size(); ++i) title += (i ? ", " : "") + request.wanted[i].label;
    const std::string description = scene->description + (scene->description.empty() ? "" : "\n") + request.mode();
    trouble.append(write_comparison(page, title, description, contestants).diagnostics());
  }
  report(trouble);
  if (trouble.has_errors()) exit_code = std::max<int>(exit_code, exit_failed);
  if (!options.quiet) {
    std::printf("\n");
    for (const std::string& line : wrap(request.mode(), terminal_width())) std::printf("%s\n", line.c_str());
    std::printf("\n");
    print_comparison(contestants, true);
    if (fs::exists(page, ignored)) std::printf("\n%s\n", page.string().c_str());
  }
  return exit_code;
}

}  // namespace verve::cli
