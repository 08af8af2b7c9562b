// Ctrl-C, termination and a terminal that is closed: the first one asks the run to stop after the current frame, the second one ends the program.
#pragma once

namespace verve::cli {

/// A guard within another adds nothing: several runs in a row are asked to stop together.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that arrived since the outermost guard was set up, or 0.
  static int signal();
};

}  // namespace verve::cli
