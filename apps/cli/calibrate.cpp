#include "calibrate.h"

#include <algorithm>

#include "run.h"
#include "verve/simulation.h"

namespace verve::cli {

namespace {

/// Enough for a mean, few against a run. The first frame factors the matrix and is no measure of the others.
constexpr int trial_frames = 40;
constexpr int most_iterations = 1 << 14;

struct Trial {
  int cap = 0;
  double milliseconds = 0, iterations = 0;
};

std::optional<Trial> try_cap(Scene scene, int cap, int threads) {
  scene.solver.iterations = cap;
  Expected<Simulation> simulation = Simulation::create(scene, {.threads = threads});
  if (!simulation) return std::nullopt;
  Trial trial{cap};
  int counted = 0;
  const RunResult result =
      run_frames(*simulation, std::min(scene.frames, trial_frames), "", true, [&](const StepReport& step) {
        trial.iterations += step.iterations;
        if (simulation->frame() == 1 && scene.frames > 1) return;
        trial.milliseconds += step.milliseconds;
        ++counted;
      });
  if (result.signal) return std::nullopt;
  trial.milliseconds /= std::max(1, counted);
  return trial;
}

}  // namespace

std::optional<Calibration> calibrate(const Scene& scene, int first_cap, double budget, int threads) {
  // From the method's own cap upwards or downwards, so that the search stays where the method works: far below, some
  // repeat their steps and take longer with fewer iterations.
  std::optional<Trial> low, high, now = try_cap(scene, first_cap, threads);
  if (!now) return std::nullopt;
  if (now->milliseconds <= budget) {
    low = now;
    while (!high && low->cap < most_iterations) {
      now = try_cap(scene, 2 * low->cap, threads);
      if (!now) return std::nullopt;
      if (now->iterations == low->iterations)  // the same steps: the cap is not what ends them
        return Calibration{low->cap, low->milliseconds, "converges below the budget"};
      (now->milliseconds <= budget ? low : high) = now;
    }
  } else {
    high = now;
    while (!low && high->cap > 1) {
      now = try_cap(scene, high->cap / 2, threads);
      if (!now) return std::nullopt;
      (now->milliseconds <= budget ? low : high) = now;
    }
    if (!low) return Calibration{high->cap, high->milliseconds, "above the budget with one iteration"};
  }
  while (high && high->cap - low->cap > std::max(1, low->cap / 16)) {
    now = try_cap(scene, (low->cap + high->cap) / 2, threads);
    if (!now) return std::nullopt;
    (now->milliseconds <= budget ? low : high) = now;
  }
  return Calibration{low->cap, low->milliseconds, ""};
}

}  // namespace verve::cli
