// A frame that threads other than the one that steps may read while the next one is computed.
#pragma once

#include <vector>

#include "verve/ids.h"
#include "verve/vec.h"

namespace verve {

struct PublishedFrame {
  struct OfBody {
    BodyId id;             ///< -1: nobody has this number
    int first_vertex = 0;  ///< of `positions`
    int vertices = 0;
  };
  int frame = 0;
  double time = 0;  ///< [s]
  std::vector<Vec3> positions, velocities;  ///< of all bodies, one after another, in the order of their meshes
  std::vector<OfBody> bodies;               ///< by number
};

}  // namespace verve
