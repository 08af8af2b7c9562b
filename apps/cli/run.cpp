#include "run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/new_file.h"
#include "commands.h"
#include "interrupt.h"
#include "terminal.h"
#include "verve/registry.h"

namespace verve::cli {

std::string describe(const Simulation& simulation) {
  return count(simulation.vertices(), "vertex", "vertices") + ", " +
         count(simulation.elements(), "element", "elements") + ", " +
         count(simulation.scene().frames, "frame", "frames") + " of " + format_duration(simulation.scene().step);
}

namespace {

/// Of E_ref, and for how long [s]: what a viewer takes for another motion, and longer than an impact.
constexpr double off_target = 0.05, off_long = 1;

/// Methods that hold nothing are not off.
bool holds_energy(const SolverSpec& solver) {
  const std::optional<MethodAxes> axes = axes_of(solver);
  return axes && find_conservation_info(axes->conservation)->holds_energy;
}

}  // namespace

void EnergyWatch::add(int frame, double step, double error_h) {
  if (!(error_h > off_target)) {
    seconds_ = worst_now_ = 0;
    return;
  }
  if (seconds_ == 0) from_ = frame;
  seconds_ += step, worst_now_ = std::max(worst_now_, error_h);
  if (seconds_ > longest_) longest_ = seconds_, first_ = from_, last_ = frame, worst_ = worst_now_;
}

std::string EnergyWatch::words() const {
  if (!(longest_ > off_long)) return "";
  char text[200];
  std::snprintf(
      text, sizeof text,
      "the energy was off its target by more than 5 %% for %.3g s, frames %d to %d, by %.2g %% at worst; more "
      "iterations, a larger budget or shorter steps would hold it",
      longest_, first_, last_, 100 * worst_);
  return text;
}

RunResult run_frames(Simulation& simulation, int frames, const std::string& label, bool quiet,
                     const std::function<void(const StepReport&)>& after_frame) {
  RunResult result;
  InterruptGuard interrupt;
  Progress progress(label, frames, quiet);
  while (result.frames < frames && !(result.signal = InterruptGuard::signal())) {
    StepReport report = simulation.step();
    if (!report) {
      result.failure = std::move(report);
      break;
    }
    after_frame(report);
    ++result.frames;
    result.iterations += (report.iterations - result.iterations) / result.frames;
    result.milliseconds += (report.milliseconds - result.milliseconds) / result.frames;
    result.worst_error_h = std::max(result.worst_error_h, report.error_h);
    if (holds_energy(simulation.scene().solver))
      result.energy.add(simulation.frame(), simulation.scene().step, report.error_h);
    progress.update(result.frames);
  }
  return result;
}

int explain(const RunResult& result, int frames, const std::string& label) {
  const Style style = style_of(stderr);
  if (!result.failure) {
    std::fprintf(stderr, "%sverve: %s: frame %d failed: %s%s%s%s\n", style.red, label.c_str(), result.frames + 1,
                 std::string(to_string(result.failure.status)).c_str(), result.failure.message.empty() ? "" : ": ",
                 result.failure.message.c_str(), style.reset);
    return exit_failed;
  }
  if (result.signal) {
    std::fprintf(stderr, "verve: %s: interrupted after %d of %d frames\n", label.c_str(), result.frames, frames);
    return 128 + result.signal;
  }
  return exit_done;
}

bool write_text(const std::string& file, const std::string& text, Diagnostics& problems) {
  const std::string error = write_whole_file(file, text);
  if (!error.empty()) problems.error(file, "cannot be written: " + error);
  return error.empty();
}

bool prepare_directory(const std::string& directory, Diagnostics& problems) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    problems.error(directory, "cannot be created: " + error.message());
    return false;
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    problems.error(directory, std::string("cannot be written to: ") + std::strerror(errno));
    return false;
  }
  return true;
}

bool claim_directory(const std::string& directory, FolderLock& lock, Diagnostics& problems) {
  if (!prepare_directory(directory, problems)) return false;
  const std::string other = lock.take(directory);
  if (!other.empty()) problems.error(directory, other);
  return other.empty();
}

std::string directory_name(const Scene& scene, const std::string& source) {
  return file_name(scene.name == "untitled" ? std::filesystem::path(source).stem().string() : scene.name);
}

}  // namespace verve::cli
