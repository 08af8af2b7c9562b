// The point of a triangle that is nearest to a given one.
#pragma once

#include <array>

#include "verve/vec.h"

namespace verve {

enum class TrianglePart : unsigned char { corner_a, corner_b, corner_c, edge_ab, edge_bc, edge_ca, face };

struct PointTriangle {
  std::array<double, 3> weights;  ///< of a, b, c in the nearest point: none below 0, of sum 1
  double squared_distance;
  TrianglePart part;  ///< where the nearest point lies
  Vec3 offset;        ///< from the nearest point to p
};

/// For any triangle: one without area is its edges, or its corner. Of equally near points on several edges of such a
/// one, that of the first of ab, bc, ca.
PointTriangle point_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

/// Parameter in [0, 1] of the point of the segment that is nearest to p = a + ap; 0 for a segment without length.
double nearest_on_segment(const Vec3& ap, const Vec3& ab);

}  // namespace verve
