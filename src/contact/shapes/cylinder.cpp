// A rod along y with flat ends.
#include <algorithm>
#include <cmath>

#include "contact/shape_formula.h"
#include "contact/shape_registry.h"

namespace verve {

namespace {

struct Cylinder {
  double radius, half_length;
  double slack = tie * std::max(radius, half_length);
  Touch at(const Vec3& x) const {
    const double from_axis = std::sqrt(x.x * x.x + x.z * x.z);
    const double side = from_axis - radius, end = std::abs(x.y) - half_length;
    const Vec3 out = direction_beyond({x.x, 0, x.z}, slack, {1, 0, 0}), up{0, sign_of(x.y, slack), 0};
    if (!(side > 0)) return {std::max(side, end), side >= end - slack ? out : up};
    if (!(end > 0)) return {side, out};
    const double distance = std::sqrt(side * side + end * end);
    return {distance, direction_beyond(out * side + up * end, slack, out)};
  }
  Box bounds() const { return box_of({radius, half_length, radius}); }
  ShapeFeatures features() const {
    ShapeFeatures out;
    for (const double end : {1.0, -1.0}) add_rim(radius, end * half_length, {1, 0}, end, out);
    return out;
  }
  ShapeTriangles tessellate(double) const {
    return lathe({{0, -half_length}, {radius, -half_length}, {radius, half_length}, {0, half_length}});
  }
};

}  // namespace

std::unique_ptr<Shape> make_cylinder(double radius, double half_length) {
  return shape_of(
      Cylinder{checked_size(radius, "cylinder", "radius"), checked_size(half_length, "cylinder", "half length")});
}

ShapeEntry cylinder_entry() {
  return {{"cylinder", "a rod along y with flat ends", {{"radius", ""}, {"length", "along y"}}},
          [](const ColliderSpec& spec, const Mesh*) { return make_cylinder(spec.radius, 0.5 * spec.length); }};
}

}  // namespace verve
