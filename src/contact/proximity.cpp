#include "contact/proximity.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

// Square of the sine of the angle below which segments count as parallel. The cross product is good to 1e-16 of the
// lengths, so that at this angle the parameters still have six digits.
constexpr double parallel = 1e-20;

SegmentPart part_of(double t) { return t <= 0 ? SegmentPart::start : t >= 1 ? SegmentPart::end : SegmentPart::inside; }

}  // namespace

Vec3 scaled_direction(const Vec3& v, const Vec3& otherwise) {
  const double size = std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
  if (!(size > 0) || !std::isfinite(size)) return otherwise;
  const Vec3 u = v / size;
  return u / norm(u);
}

// When the nearest points of the lines lie inside both segments they are the answer; else one of the four ends is
// nearest to the other segment, whichever gives the least (the region argument of Lumelsky 1985, without its branches).
SegmentSegment segment_segment(const Vec3& p0, const Vec3& p1, const Vec3& q0, const Vec3& q1) {
  const Vec3 p = p1 - p0, q = q1 - q0, r = p0 - q0;
  const Vec3 n = cross(p, q);
  const double nn = dot(n, n), pp = dot(p, p), qq = dot(q, q);
  if (nn > parallel * pp * qq) {
    const double s = dot(cross(q, r), n) / nn, t = dot(cross(p, r), n) / nn;
    if (s > 0 && s < 1 && t > 0 && t < 1) {
      const double height = dot(r, n) / nn;
      return {s, t, height * height * nn, SegmentPart::inside, SegmentPart::inside, n * height};
    }
  }
  SegmentSegment best{0, 0, INFINITY, SegmentPart::start, SegmentPart::start, r};
  const auto consider = [&](double s, double t) {
    const Vec3 offset = r + p * s - q * t;
    const double squared = dot(offset, offset);
    if (squared < best.squared_distance) best = {s, t, squared, part_of(s), part_of(t), offset};
  };
  if (nn <= parallel * pp * qq && pp > 0 && qq > 0) {
    // ends of q along p; where the two face each other, the middle of that
    const double from = -dot(r, p) / pp, to = from + dot(q, p) / pp;
    const double low = std::max(0.0, std::min(from, to)), high = std::min(1.0, std::max(from, to));
    if (low < high) {
      const double s = 0.5 * (low + high);
      consider(s, nearest_on_segment(r + p * s, q));
      return best;
    }
  }
  consider(0, nearest_on_segment(r, q));
  consider(1, nearest_on_segment(r + p, q));
  consider(nearest_on_segment(-r, p), 0);
  consider(nearest_on_segment(q - r, p), 1);
  if (!(best.squared_distance < INFINITY)) best.squared_distance = dot(r, r);  // not finite: let it be seen
  return best;
}

Touch signed_distance(const Vec3& offset, double squared_distance, const Vec3& outward, double least) {
  const double distance = std::sqrt(squared_distance), side = dot(offset, outward);
  if (!(distance > least)) return {side < 0 ? -distance : distance, direction(outward, {0, 1, 0})};
  const Vec3 n = direction(offset, direction(outward, {0, 1, 0}));
  return side < 0 ? Touch{-distance, -n} : Touch{distance, n};
}

Touch signed_distance(const SegmentSegment& nearest, const Vec3& along_p, const Vec3& along_q, const Vec3& outward_p,
                      const Vec3& outward_q, double least) {
  const Vec3 apart = outward_q - outward_p;  // p lies on the outer side of q, and q on that of p
  if (nearest.squared_distance > least * least) return signed_distance(nearest.offset, nearest.squared_distance, apart);
  Vec3 n = direction(cross(along_p, along_q), direction(apart, {0, 1, 0}));
  if (dot(n, apart) < 0) n = -n;
  const double side = dot(nearest.offset, n);
  return {side < 0 ? -std::sqrt(nearest.squared_distance) : std::sqrt(nearest.squared_distance), n};
}

}  // namespace verve
