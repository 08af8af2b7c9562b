#include "geometry/point_triangle.h"

namespace verve {

namespace {

// Below this square of the sine of the angle at a, the normal has lost most of its digits, and the triangle differs
// from its edges by less than 1e-12 of its length.
constexpr double flat = 1e-24;

}  // namespace

double nearest_on_segment(const Vec3& ap, const Vec3& ab) {
  const double along = dot(ap, ab), length2 = dot(ab, ab);
  if (!(along > 0)) return 0;
  return along < length2 ? along / length2 : 1;
}

// The weights of the foot of the perpendicular are ratios of areas along the normal (Ericson, "Real-Time Collision
// Detection" (2005), Sec. 3.4), each from a cross product of its own: the products of dot products of his Sec. 5.1.5
// cancel for slivers. When the foot lies outside, the nearest point is on an edge that the foot lies beyond.
PointTriangle point_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, bc = c - b, ca = a - c, ap = p - a, bp = p - b, cp = p - c;
  const Vec3 n = cross(ab, -ca);
  const double nn = dot(n, n);
  const double wa = dot(cross(bc, bp), n), wb = dot(cross(ca, cp), n), wc = dot(cross(ab, ap), n);
  const bool has_area = nn > flat * dot(ab, ab) * dot(ca, ca);
  if (has_area && wa >= 0 && wb >= 0 && wc >= 0) {
    const double sum = wa + wb + wc, height = dot(ap, n) / nn;
    return {{wa / sum, wb / sum, wc / sum}, height * height * nn, TrianglePart::face, n * height};
  }
  PointTriangle best{{1, 0, 0}, dot(ap, ap), TrianglePart::corner_a, ap};
  const auto try_edge = [&](int i, const Vec3& from, const Vec3& edge) {
    const int j = (i + 1) % 3;
    const double t = nearest_on_segment(from, edge);
    const Vec3 offset = from - edge * t;
    const double squared = dot(offset, offset);
    if (!(squared < best.squared_distance)) return;
    best.weights = {0, 0, 0};
    best.weights[i] = 1 - t, best.weights[j] = t;
    best.squared_distance = squared, best.offset = offset;
    best.part = t <= 0 ? TrianglePart(i) : t >= 1 ? TrianglePart(j) : TrianglePart(3 + i);
  };
  if (!has_area || !(wc >= 0)) try_edge(0, ap, ab);
  if (!has_area || !(wa >= 0)) try_edge(1, bp, bc);
  if (!has_area || !(wb >= 0)) try_edge(2, cp, ca);
  return best;
}

}  // namespace verve
