// Islands at rest: which fall asleep, and which begin a frame as they began the last ones.
#pragma once

#include <cstdint>
#include <optional>

#include "contact/pair_table.h"
#include "integrators/island.h"
#include "integrators/state.h"

namespace verve {

/// Whether it was left alone in the last frame.
bool was_skipped(const Island& island);

/// A view, as Ledger is; what it changes are counts in the state and in the memory of the island.
class Sleeping {
 public:
  Sleeping(const Scene& scene, const Model& model, const Settings& settings, const PairTable& pairs, State& state)
      : scene_(scene), model_(model), settings_(settings), pairs_(pairs), state_(state) {}

  /// At the end of a frame: it has been slow for long enough, on things that take energy.
  bool falls_asleep(const Island& island);
  /// At the start of a frame, once: it begins as the last frames began, and these left it so. `steady_forces`: no force
  /// from outside changes.
  bool begins_unchanged(Island& island, bool steady_forces) const;

 private:
  bool is_slow(const Island& island) const;
  bool is_steady(const Island& island) const;
  std::optional<std::uint64_t> start_hash(const Island& island) const;

  const Scene& scene_;
  const Model& model_;
  const Settings& settings_;
  const PairTable& pairs_;
  State& state_;
};

}  // namespace verve
