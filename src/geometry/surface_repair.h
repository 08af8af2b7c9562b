// A surface made fit to enclose something: corners at the same place are one vertex, triangles are there once, and
// neighbours look the same way.
#pragma once

#include "verve/mesh.h"

namespace verve {

struct WeldedSurface {
  std::vector<Vec3> vertices;
  std::vector<std::array<int, 3>> triangles;  ///< oriented alike within each patch
  std::vector<int> patch;                     ///< of each triangle: joined by edges that belong to two triangles
  int patches = 0, parts = 0;                 ///< parts: joined by vertices
  int doubled = 0, degenerate = 0;            ///< triangles that were left out
  int turned = 0;                             ///< triangles that look the other way than most of their patch did
  int open_edges = 0, branching_edges = 0;    ///< of one triangle; of three and more
};

/// Places closer than `tolerance` of the diagonal of the surface's box are one.
WeldedSurface weld(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles,
                   double tolerance = 1e-6);

/// Pairs of triangles without a common vertex that cut each other.
int count_self_intersections(const WeldedSurface& surface);

}  // namespace verve
