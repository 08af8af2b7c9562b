// One simulation from its first frame to its last, to a failure or to Ctrl-C.
#pragma once

#include <functional>
#include <string>

#include "base/file_name.h"
#include "base/new_file.h"
#include "verve/diagnostics.h"
#include "verve/simulation.h"

namespace verve::cli {

/// Whether H stays off its target for long.
class EnergyWatch {
 public:
  void add(int frame, double step, double error_h);
  /// One sentence, or nothing where H was never off by so much for so long.
  std::string words() const;

 private:
  int from_ = 0, first_ = 0, last_ = 0;  // frames: of the present time off, and of the longest
  double seconds_ = 0, longest_ = 0, worst_ = 0, worst_now_ = 0;
};

struct RunResult {
  int frames = 0;           ///< finished
  StepReport failure;       ///< its status is ok unless a step failed
  int signal = 0;           ///< that asked to stop
  double iterations = 0;    ///< mean over the frames
  double milliseconds = 0;  ///< mean over the frames
  double worst_error_h = 0;
  EnergyWatch energy;
  bool complete() const { return failure && signal == 0; }
};

/// "792 vertices, 2911 elements, 300 frames of 33.3 ms"
std::string describe(const Simulation& simulation);

/// Steps `frames` times; `after_frame` is called after each good one.
RunResult run_frames(Simulation& simulation, int frames, const std::string& label, bool quiet,
                     const std::function<void(const StepReport&)>& after_frame);

/// Says on stderr why a run is not complete, and gives its exit code.
int explain(const RunResult& result, int frames, const std::string& label);

/// Writes whole or not at all: beside the file first, then renamed.
bool write_text(const std::string& file, const std::string& text, Diagnostics& problems);
/// Creates `directory` and makes sure that files can be written there.
bool prepare_directory(const std::string& directory, Diagnostics& problems);
/// The same, and keeps other runs out of it.
bool claim_directory(const std::string& directory, FolderLock& lock, Diagnostics& problems);
/// The name of a directory for a scene from `source`: its own, or that of its file.
std::string directory_name(const Scene& scene, const std::string& source);

}  // namespace verve::cli
