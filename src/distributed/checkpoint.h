// The state of all ranks in one file, from which any number of ranks goes on.
#pragma once

#include <filesystem>

#include "distributed/outputs.h"

namespace verve {

/// Written beside its place and then moved there: a file is whole or as it was.
void write_checkpoint(const std::filesystem::path& path, const World& world, const VertexOrder& order,
                      const MpiRanks& ranks);

/// The world goes on from there. Throws where the file is none of this scene.
void read_checkpoint(const std::filesystem::path& path, World& world, const VertexOrder& order, const MpiRanks& ranks);

}  // namespace verve
