// Ties of the look-up. Symmetric bodies have them everywhere: a vertex above a vertex, edges that cross exactly, faces
// in one plane, the middle of a box. Equal there means equal to round-off, and a comparison would go one way here and
// the other way after the same motion. So nearly equal counts as equal, and of equals the first counts: the place where
// round-off decides is moved from where such bodies are to one beside it, where nothing is but by chance.
#pragma once

#include <array>

#include "geometry/point_triangle.h"
#include "verve/vec.h"

namespace verve {

/// Of a length (an edge of a body, the size of a collider) or of a cosine. Round-off is 1e-16 of the coordinates, 1e-12
/// of edges of a millimetre ten metres away from the origin; a depth of this part of an edge has no force to speak of.
constexpr double tie = 1e-9;

/// -1 or 1; nearly 0 counts as above.
inline double sign_of(double a, double slack) { return a < -slack ? -1 : 1; }

/// The place in a triangle that weights mean: that of a corner or an edge as near to it as this.
inline TrianglePart part_at(const std::array<double, 3>& weights) {
  int some = 0, which = 0;  // of the corners, and the sum of their numbers
  for (int i = 0; i < 3; ++i)
    if (weights[i] > tie) ++some, which += i;
  if (some == 3) return TrianglePart::face;
  if (some == 1) return TrianglePart(which);
  return which == 1 ? TrianglePart::edge_ab : which == 3 ? TrianglePart::edge_bc : TrianglePart::edge_ca;
}

}  // namespace verve
