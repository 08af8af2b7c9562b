// Runs the benchmark. Verve and the baselines take turns within each case, so that a busy machine is busy for all.
#pragma once

#include <string>
#include <vector>

#include "bench/results.h"

namespace verve::bench {

struct Options {
  bool quick = false;
  std::vector<int> threads{1, 2};
  std::vector<std::string> groups, names;  ///< empty: all
  std::vector<std::string> minimisers;     ///< likewise, of the group of that name
};
/// 1, 2, 4, ... and `most`.
std::vector<int> thread_counts(int most);

std::vector<std::string> all_groups();
std::vector<std::string> all_names();

/// What a run is made of: one item per case, scene or box, in order. Empty when the selection contradicts itself.
struct Item {
  enum class Kind { iterations, frames, growth, changes, kernel, pairs, tearing, world, contact, budget, minimisers } kind;
  std::string name;
};
std::vector<Item> items_of(const Options& options);

/// Told what is going on; asked, between measurements, whether to stop.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void working(const std::string& what, int item, int items) = 0;
  virtual bool stop() = 0;
};

/// Everything measured, up to the last finished item when the observer stops it. Throws std::runtime_error when a scene
/// fails, which is a fault of the program and not of its input.
Results run(const Options& options, Observer& observer);

// --- the kinds of items ---
class Pace;
CaseResult measure_iterations(const std::string& name, const Options& options, Pace& pace);
FrameResult measure_frames(const std::string& name, const Options& options, Pace& pace);
GrowthResult measure_growth(const std::string& name, const Options& options, Pace& pace);
std::vector<ChangesResult> measure_changes(const std::string& name, const Options& options, Pace& pace);
std::vector<std::string> kernel_names();
std::vector<KernelResult> measure_kernel(const std::string& name, const Options& options, Pace& pace);
std::vector<std::string> pair_case_names(bool quick);
std::vector<PairsResult> measure_pairs(const std::string& name, const Options& options, Pace& pace);
std::vector<std::string> world_case_names();
WorldResult measure_world(const std::string& name, const Options& options, Pace& pace);
std::vector<std::string> tearing_case_names();
TearingResult measure_tearing(const std::string& name, const Options& options, Pace& pace);
std::vector<std::string> contact_case_names();
/// `limited`: each frame within a budget, which is the mean of what they take without one.
ContactResult measure_contact(const std::string& name, bool limited, const Options& options, Pace& pace);
std::vector<std::string> minimiser_case_names();
std::vector<MinimiserResult> measure_minimisers(const std::string& name, const Options& options, Pace& pace);
/// The same of any scene with one body.
std::vector<MinimiserResult> measure_minimisers(const std::string& name, Scene scene, const Options& options,
                                                Pace& pace);

/// Says how long to go on with an item.
class Pace {
 public:
  Pace(Observer& observer, int item, int items) : observer_(observer), item_(item), items_(items) {}
  void say(const std::string& what) { observer_.working(what, item_, items_); }
  /// For `seconds`, yet at least `fewest` and at most `most` rounds.
  void begin_rounds(double seconds, int fewest, int most);
  bool next_round();
  bool stopped() const { return stopped_; }
  bool ask() { return stopped_ = stopped_ || observer_.stop(); }

 private:
  Observer& observer_;
  int item_, items_;
  double end_ = 0;
  int round_ = 0, fewest_ = 0, most_ = 0;
  bool stopped_ = false;
};

/// Seconds since some moment: by the clock, and spent by this thread alone.
double now();
double thread_time();

}  // namespace verve::bench
