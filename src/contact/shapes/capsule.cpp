// A ball that is drawn along a segment of y.
#include "contact/shape_formula.h"
#include "contact/shape_registry.h"

namespace verve {

namespace {

struct Capsule {
  double radius, half_length;
  Touch at(const Vec3& x) const {
    const double along = x.y > half_length ? half_length : x.y < -half_length ? -half_length : x.y;
    const Vec3 off{x.x, x.y - along, x.z};
    return {norm(off) - radius, direction_beyond(off, tie * radius, {1, 0, 0})};
  }
  Box bounds() const { return box_of({radius, half_length + radius, radius}); }
  ShapeFeatures features() const {
    return {{{0, -half_length, 0}, {0, half_length, 0}}, {Vec3{}, Vec3{}}, {{0, 1}}, {{Vec3{}, Vec3{}}}, radius};
  }
  ShapeTriangles tessellate(double) const { return tessellate_capsule(radius, 2 * half_length); }
};

}  // namespace

std::unique_ptr<Shape> make_capsule(double radius, double half_length) {
  return shape_of(
      Capsule{checked_size(radius, "capsule", "radius"), checked_size(half_length, "capsule", "half length")});
}

ShapeEntry capsule_entry() {
  return {{"capsule", "a rod along y with round ends", {{"radius", ""}, {"length", "without its round ends"}}},
          [](const ColliderSpec& spec, const Mesh*) { return make_capsule(spec.radius, 0.5 * spec.length); }};
}

}  // namespace verve
