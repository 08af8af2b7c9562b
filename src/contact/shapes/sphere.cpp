// A ball.
#include "contact/shape_formula.h"
#include "contact/shape_registry.h"

namespace verve {

namespace {

struct Sphere {
  double radius;
  Touch at(const Vec3& x) const { return {norm(x) - radius, direction_beyond(x, tie * radius, {0, 1, 0})}; }
  Box bounds() const { return box_of({radius, radius, radius}); }
  ShapeTriangles tessellate(double) const { return tessellate_capsule(radius, 0); }
  ShapeFeatures features() const { return {{Vec3{}}, {Vec3{}}, {}, {}, radius}; }
};

}  // namespace

std::unique_ptr<Shape> make_sphere(double radius) { return shape_of(Sphere{checked_size(radius, "sphere", "radius")}); }

ShapeEntry sphere_entry() {
  return {{"sphere", "a ball", {{"radius", ""}}},
          [](const ColliderSpec& spec, const Mesh*) { return make_sphere(spec.radius); }};
}

}  // namespace verve
