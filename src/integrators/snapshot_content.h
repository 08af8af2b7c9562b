#pragma once

#include <string>
#include <vector>

#include "integrators/state.h"
#include "verve/snapshot.h"

namespace verve {

/// A state as bytes for the same version of Verve, and back; false: these make none.
std::vector<unsigned char> state_bytes(const State& state);
bool read_state(const std::vector<unsigned char>& bytes, State& out);

struct Snapshot::Content {
  /// What the state belongs to, a line each, to be compared with that of the simulation which is to take it on.
  std::vector<std::string> layout;
  State state;
};

/// The checksum that bytes of a snapshot should have, after a change of them: for tests of what is behind it.
void seal_snapshot(std::vector<unsigned char>& bytes);

}  // namespace verve
