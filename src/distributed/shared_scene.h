// A scene of which every rank has its share of each body.
#pragma once

#include "distributed/petsc_rows.h"
#include "integrators/world.h"

namespace verve {

/// What of a scene only one process can simulate, each at its place. It has passed check_scene.
Diagnostics unshared_parts(const Scene& scene);

/// The world of this rank: its rows of each body, with sums and exchanges over all ranks (set_ranks). None: with the
/// reasons, the same on all ranks.
Expected<std::unique_ptr<World>> make_shared_world(const Scene& scene, const MpiRanks& ranks, int threads = 1);

}  // namespace verve
