// Between the State and an island, which works on copies: what it takes at the start of a frame and leaves at its end.
#pragma once

#include "integrators/island.h"
#include "integrators/state.h"

namespace verve {

/// Whether other bodies moved together in the last frame: rates go on only where the same bodies go on together.
bool has_other_members(const State& state, const Island& island);
/// What an island knows of earlier frames: nothing, where other bodies moved together.
void recall(const State& state, Island& island);
/// The motion of an island as it is in the state, with W there.
void load(const State& state, Island& island);
void store(const Island& island, State& state);
/// What the next frame of an island begins with, beside its motion.
void remember(Island& island, IslandMemory& memory, State& state);

}  // namespace verve
