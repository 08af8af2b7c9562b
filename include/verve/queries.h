// Answers to where something is: rays, nearest points.
#pragma once

#include <array>

#include "verve/ids.h"
#include "verve/vec.h"

namespace verve {

/// A point of the surface of a body, carried by three of its vertices as they are numbered in its mesh.
struct SurfacePoint {
  BodyId body;
  std::array<int, 3> vertices{{-1, -1, -1}};  ///< of a triangle of the surface; of a rope the third is the second again
  std::array<double, 3> weights{};
  int tetrahedron = -1;  ///< of Simulation::mesh(body), behind the triangle; -1: a sheet or a rope
  Vec3 point;
  Vec3 normal;          ///< outward of a solid, of a sheet towards where it was asked from; unit
  double distance = 0;  ///< from where it was asked [m]
};

struct RayHit : SurfacePoint {
  ColliderId collider;  ///< in place of a body
};

}  // namespace verve
