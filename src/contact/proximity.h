// Distances between a point and a triangle and between two segments, with and without sign.
#pragma once

#include <cmath>

#include "geometry/point_triangle.h"
#include "verve/vec.h"

namespace verve {

/// A signed distance, negative inside, and its gradient: the outward unit normal.
struct Touch {
  double distance;
  Vec3 normal;
};

// The gradient of the distance d between the nearest points with respect to the four points, with n = offset / d:
//   point p and triangle a b c      (n, -w_a n, -w_b n, -w_c n)
//   segments p0 p1 and q0 q1        ((1-s) n, s n, -(1-t) n, -t n)
// because moving the nearest points along the features changes d in second order only.

enum class SegmentPart : unsigned char { start, inside, end };

struct SegmentSegment {
  double s, t;  ///< nearest points p0 + s (p1 - p0) and q0 + t (q1 - q0)
  double squared_distance;
  SegmentPart on_p, on_q;
  Vec3 offset;  ///< from the point of q to the point of p
};

/// For any segments, points included. Parallel segments that face each other touch in the middle of where they do.
SegmentSegment segment_segment(const Vec3& p0, const Vec3& p1, const Vec3& q0, const Vec3& q1);

/// The distance with the sign of the side that `outward` points to: the pseudonormal of the part where the nearest
/// point lies (surface.h). An offset shorter than `least` has no direction of its own and takes that of the
/// pseudonormal.
Touch signed_distance(const Vec3& offset, double squared_distance, const Vec3& outward, double least = 0);

/// Of edge p from edge q: negative once they have passed through each other, as told by the outward normals of both.
Touch signed_distance(const SegmentSegment& nearest, const Vec3& along_p, const Vec3& along_q, const Vec3& outward_p,
                      const Vec3& outward_q, double least = 0);

/// For vectors so short or so long that their squares have no digits.
Vec3 scaled_direction(const Vec3& v, const Vec3& otherwise);
/// `v` over its length; `otherwise` when it has none.
inline Vec3 direction(const Vec3& v, const Vec3& otherwise) {
  const double squared = dot(v, v);
  if (squared > 1e-280 && squared < 1e280) return v / std::sqrt(squared);
  return scaled_direction(v, otherwise);
}

}  // namespace verve
