// A cone about y, its tip above.
#include <algorithm>
#include <cmath>

#include "contact/shape_formula.h"
#include "contact/shape_registry.h"

namespace verve {

namespace {

/// From the base at y = -half to the tip at y = half. In the half-plane of a point, with q its distance from the axis,
/// it is a triangle: the base, and a side that rises from (radius, -half) to (0, half).
struct Cone {
  double radius, half;
  double slant = std::sqrt(radius * radius + 4 * half * half);
  double slack = tie * slant;
  double out = 2 * half / slant, up = radius / slant;  // normal of the side; it rises along (-up, out)

  Touch at(const Vec3& x) const {
    const double q = std::sqrt(x.x * x.x + x.z * x.z);
    const Vec3 outward = direction_beyond({x.x, 0, x.z}, slack, {1, 0, 0}), down{0, -1, 0};
    const Vec3 normal = outward * out + Vec3{0, up, 0};
    const double base = -half - x.y, side = (q - radius) * out + (x.y + half) * up;
    const Vec3 from_tip{x.x, x.y - half, x.z}, tip{0, 1, 0}, at_rim = side >= base - slack ? normal : down;
    if (!(base > 0) && !(side > 0)) return {std::max(side, base), norm(from_tip) > slack ? at_rim : tip};
    const double along = (radius - q) * up + (x.y + half) * out;
    if (side > 0 && along >= slant) return {norm(from_tip), direction_beyond(from_tip, slack, tip)};
    if (side > 0 && along > 0) return {side, norm(from_tip) > slack ? normal : tip};
    if (!(q > radius)) return {base, at_rim};
    const Vec3 off = outward * (q - radius) - down * (x.y + half);
    return {norm(off), direction_beyond(off, slack, normal)};
  }
  Box bounds() const { return box_of({radius, half, radius}); }
  ShapeFeatures features() const {
    ShapeFeatures made;
    add_rim(radius, -half, {out, up}, -1, made);
    made.points.push_back({0, half, 0}), made.outward.push_back({0, 1, 0});
    return made;
  }
  ShapeTriangles tessellate(double) const { return lathe({{0, -half}, {radius, -half}, {0, half}}); }
};

}  // namespace

ShapeEntry cone_entry() {
  return {{"cone", "a cone about y, its tip above", {{"radius", "of its base"}, {"length", "from base to tip"}}},
          [](const ColliderSpec& spec, const Mesh*) {
            return shape_of(
                Cone{checked_size(spec.radius, "cone", "radius"), 0.5 * checked_size(spec.length, "cone", "length")});
          }};
}

}  // namespace verve
