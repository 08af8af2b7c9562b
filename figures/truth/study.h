// Scenes by methods by equal time, each run measured beside a fine-step one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "figures/reference.h"
#include "figures/truth/scenes.h"

namespace verve::figures {

inline constexpr int distance_frames = 90;  ///< over which distances are averaged

/// A run of one scene by one method with one number of sub-steps and iterations.
struct TruthRun {
  std::string method;
  int substeps = 0;     ///< 0: automatic
  int iterations = 0;   ///< cap per step
  bool own = false;     ///< as the method is by default
  std::string failure;  ///< empty: it has run to its end

  double milliseconds = 0;  ///< mean per frame of processor time, without the first
  double mean_iterations = 0, most_iterations = 0;
  double distance = 0, slow_distance = 0;  ///< mean over the first frames (docs/compare.md)
  SlowError slow;
  /// In units of the largest kinetic + elastic energy of the truth: the largest |H + heat + booked loss - H0|, what H,
  /// heat and booked loss came to at the end. Where the scene changes H, the first is the largest scaled residual of H.
  double energy_error = 0, energy = 0, heat = 0, booked = 0;
  double roughness = 0;  ///< over that of the truth, last third
  double jitter = 0;     ///< rms of the second differences of positions in time, likewise
  bool good() const { return failure.empty(); }
};

/// A scene, its truth and all runs.
struct TruthCase {
  TruthScene scene;
  double step = 0, tolerance = 0;
  int vertices = 0, elements = 0, truth_steps = 0;
  double truth_error = 0;   ///< how far the truth is from one of half the steps: what a distance below it says is noise
  double truth_energy = 0;  ///< largest |ΔH| of the truth, in the same units as of the runs
  double fast = 0;          ///< fast_share of the truth
  double period = 0;        ///< of its slowest motion [frames]
  double kept = 0;          ///< of the amplitude of that, by the truth itself
  bool measurable = false;  ///< SlowMode::measurable()
  bool closed = true;       ///< nothing in the scene changes H: no pushes, dials, winds or changing materials
  double seconds = 0;       ///< of the processor, for truth and runs
  std::vector<TruthRun> runs;
  std::map<std::string, std::string> refused;  ///< by method, why
  Curve truth;                                 ///< the slow coordinate over time
  std::map<std::string, Curve> curves;         ///< of runs as they are by default

  /// A truth that has lost or gained more than a twentieth of its energy, or is off by half a body in other steps, is
  /// none: nothing is judged by it.
  bool known() const { return refused.count("truth") == 0 && truth_energy <= 0.05 && truth_error <= 0.5; }
  /// Where more than this of the accelerations is faster than frames show, positions are judged by what those do.
  bool judged_slow() const { return fast > 0.25; }
  double judged(const TruthRun& run) const { return judged_slow() ? run.slow_distance : run.distance; }
  /// The run that a method is by default; null: refused or failed.
  const TruthRun* own(const std::string& method) const;
  /// The run that fills a budget: the longest of those that keep to it. Null: there is none.
  const TruthRun* within(const std::string& method, double budget) const;
};

struct StudyOptions {
  std::vector<std::string> methods;
  std::vector<double> budgets{0.5, 1, 2, 4, 8, 16};  ///< ms per frame
  int frames = 0;                                    ///< at most; 0: those of the scenes
  bool budgets_only_own = false;                     ///< no other sub-steps than those that each method has by default
};

/// Methods that are stable at any step and have a motion.
std::vector<std::string> stable_methods();

/// Everything that a run is measured by.
class TruthOf {
 public:
  TruthOf(const Context& context, const TruthScene& scene, const StudyOptions& options);
  /// `result` without runs.
  const TruthCase& described() const { return case_; }
  /// A method from the cheapest of its settings to beyond the largest budget.
  std::vector<TruthRun> ladder(const Context& context, const std::string& method, std::string& refused,
                               Curve& curve) const;

 private:
  TruthRun measure(const Context& context, const Scene& scene, double most_milliseconds, Curve* curve) const;
  Scene scene_;
  const StudyOptions& options_;
  TruthCase case_;
  Film truth_;
  std::optional<SlowMode> mode_;
  std::optional<QualityMeter> meter_;
  std::vector<double> mass_;
  double energy_ = 0, roughness_ = 0, jitter_ = 0;
};

/// All of it by `workers` threads. `progress` is told how many pairs of scene and method are done. When interrupted,
/// the scenes that every method has run.
std::vector<TruthCase> study(const Context& context, const std::vector<TruthScene>& scenes, const StudyOptions& options,
                             int workers, const std::function<void(int)>& progress);

}  // namespace verve::figures
