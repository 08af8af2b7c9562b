#include "bench/run.h"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "bench/cases.h"

namespace verve::bench {

namespace {

constexpr long most_tets_when_quick = 110'000;

const std::vector<std::string> iteration_groups{"local",     "global",   "pd_iteration", "cpd_iteration",
                                                "cpd_setup", "refactor", "sweep"};
const std::vector<std::string> growth_groups{"growth_iteration", "growth_factor"};

bool any_wanted(const std::vector<std::string>& wanted, const std::vector<std::string>& offered) {
  return wanted.empty() || std::any_of(offered.begin(), offered.end(), [&](const std::string& group) {
           return std::find(wanted.begin(), wanted.end(), group) != wanted.end();
         });
}

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
}

std::vector<std::string> growth_names() {
  std::vector<std::string> out;
  for (const GrowthBox& box : growth_boxes()) out.push_back(box.name);
  return out;
}

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double thread_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

std::vector<int> thread_counts(int most) {
  std::vector<int> out;
  for (int n = 1; n < most; n *= 2) out.push_back(n);
  out.push_back(most);
  return out;
}

std::vector<std::string> all_groups() {
  std::vector<std::string> out = iteration_groups;
  add(out, {"frame"});
  add(out, growth_groups);
  add(out, {"woodbury", "kernel", "pairs", "tearing", "world", "contact", "budget", "minimisers"});
  return out;
}

std::vector<std::string> all_names() {
  std::vector<std::string> out = iteration_case_names();
  add(out, table_scene_names());
  add(out, growth_names());
  add(out, kernel_names());
  add(out, pair_case_names(false));
  add(out, tearing_case_names());
  add(out, world_case_names());
  add(out, contact_case_names());
  add(out, minimiser_case_names());
  return out;
}

std::vector<Item> items_of(const Options& options) {
  std::vector<Item> out;
  const auto collect = [&](Item::Kind kind, const std::vector<std::string>& groups,
                           const std::vector<std::string>& names) {
    if (!any_wanted(options.groups, groups)) return;
    for (const std::string& name : names)
      if (any_wanted(options.names, {name})) out.push_back({kind, name});
  };
  collect(Item::Kind::iterations, iteration_groups, iteration_case_names());
  collect(Item::Kind::frames, {"frame"}, table_scene_names());
  std::vector<std::string> boxes;
  for (const GrowthBox& box : growth_boxes())
    if (!options.quick || box.tets() <= most_tets_when_quick) boxes.push_back(box.name);
  collect(Item::Kind::growth, growth_groups, boxes);
  collect(Item::Kind::changes, {"woodbury"}, {"hippo", "bear"});
  collect(Item::Kind::kernel, {"kernel"}, kernel_names());
  collect(Item::Kind::pairs, {"pairs"}, pair_case_names(options.quick));
  collect(Item::Kind::tearing, {"tearing"}, tearing_case_names());
  collect(Item::Kind::world, {"world"}, world_case_names());
  // `bin` alone takes half a minute, `pile` several
  std::vector<std::string> touching = contact_case_names();
  if (options.quick && options.names.empty()) std::erase(touching, "bin"), std::erase(touching, "pile");
  collect(Item::Kind::contact, {"contact"}, touching);
  collect(Item::Kind::budget, {"budget"}, touching);
  // of methods rather than of speed, and slow: only when asked for
  if (!options.groups.empty()) collect(Item::Kind::minimisers, {"minimisers"}, minimiser_case_names());
  return out;
}

void Pace::begin_rounds(double seconds, int fewest, int most) {
  end_ = now() + seconds, round_ = 0, fewest_ = fewest, most_ = most;
}

bool Pace::next_round() {
  if (ask()) return false;
  const bool more = round_ < fewest_ || (round_ < most_ && now() < end_);
  ++round_;
  return more;
}

Results run(const Options& options, Observer& observer) {
  Results out;
  const std::vector<Item> items = items_of(options);
  for (size_t i = 0; i < items.size(); ++i) {
    Pace pace(observer, int(i) + 1, int(items.size()));
    const std::string& name = items[i].name;
    pace.say(name);
    if (pace.ask()) break;
    switch (items[i].kind) {
      case Item::Kind::iterations: {
        CaseResult result = measure_iterations(name, options, pace);
        if (!pace.stopped()) out.cases.push_back(std::move(result));
        break;
      }
      case Item::Kind::frames: {
        FrameResult result = measure_frames(name, options, pace);
        if (!pace.stopped()) out.frames.push_back(std::move(result));
        break;
      }
      case Item::Kind::growth: {
        GrowthResult result = measure_growth(name, options, pace);
        if (!pace.stopped()) out.growth.push_back(std::move(result));
        break;
      }
      case Item::Kind::changes: {
        const std::vector<ChangesResult> result = measure_changes(name, options, pace);
        if (!pace.stopped()) out.changes.insert(out.changes.end(), result.begin(), result.end());
        break;
      }
      case Item::Kind::kernel: {
        const std::vector<KernelResult> result = measure_kernel(name, options, pace);
        if (!pace.stopped()) out.kernels.insert(out.kernels.end(), result.begin(), result.end());
        break;
      }
      case Item::Kind::pairs: {
        const std::vector<PairsResult> result = measure_pairs(name, options, pace);
        if (!pace.stopped()) out.pairs.insert(out.pairs.end(), result.begin(), result.end());
        break;
      }
      case Item::Kind::tearing: {
        TearingResult result = measure_tearing(name, options, pace);
        if (!pace.stopped()) out.tearing.push_back(std::move(result));
        break;
      }
      case Item::Kind::world: {
        WorldResult result = measure_world(name, options, pace);
        if (!pace.stopped()) out.worlds.push_back(std::move(result));
        break;
      }
      case Item::Kind::contact: {
        ContactResult result = measure_contact(name, false, options, pace);
        if (!pace.stopped()) out.contacts.push_back(std::move(result));
        break;
      }
      case Item::Kind::budget: {
        ContactResult result = measure_contact(name, true, options, pace);
        if (!pace.stopped()) out.budgets.push_back(std::move(result));
        break;
      }
      case Item::Kind::minimisers: {
        const std::vector<MinimiserResult> result = measure_minimisers(name, options, pace);
        if (!pace.stopped()) out.minimisers.insert(out.minimisers.end(), result.begin(), result.end());
        break;
      }
    }
    if (pace.stopped()) break;
  }
  return out;
}

}  // namespace verve::bench
