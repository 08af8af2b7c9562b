// The folder of a run, read back; and which of its frames are wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verve/convert.h"
#include "verve/simulation.h"

namespace verve::cli {

struct RecordedRun {
  Simulation simulation;  ///< of its scene.json, in the initial state
  RecordedPositions positions;
  std::vector<TornElement> torn;
  std::optional<RecordedForces> forces;  ///< none: nothing can touch, or an older program made the run

  /// Of each body, gone by this frame; empty when nothing is.
  std::vector<RemovedElements> removed(int frame) const;
};

/// `folder` as verve simulate leaves it, finished or interrupted. Nothing, with every problem reported, when it is not
/// one or its files do not belong together.
std::optional<RecordedRun> open_run(const std::string& folder, Diagnostics& problems);

struct FrameRange {
  int first = 0, last = 0, step = 1;
  int count() const { return last < first ? 0 : (last - first) / step + 1; }
};
/// "7", "A:B", "A:B:STEP", any of them left out; B is included. All of 0 … frames - 1 for an empty text.
std::optional<FrameRange> read_frames(const std::string& text, int frames, Diagnostics& problems);
/// Several of these with commas between, in the order given.
std::optional<std::vector<int>> read_frame_list(const std::string& text, int frames, Diagnostics& problems);

}  // namespace verve::cli
