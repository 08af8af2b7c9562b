// A half-space.
#include <cmath>
#include <stdexcept>

#include "base/text.h"
#include "contact/shape_formula.h"
#include "contact/shape_registry.h"

namespace verve {

namespace {

struct Plane {
  Vec3 normal;
  double offset;
  Touch at(const Vec3& x) const { return {dot(normal, x) - offset, normal}; }
  Box bounds() const {
    Box box = Box::everything();
    for (int k = 0; k < 3; ++k) {  // bounded on one side when it looks along an axis
      if (normal[k] == 1) box.high[k] = offset;
      if (normal[k] == -1) box.low[k] = -offset;
    }
    return box;
  }
  ShapeFeatures features() const { return {}; }
  std::optional<Vec3> flat_normal() const { return normal; }
  ShapeTriangles tessellate(double reach) const {
    const Vec3 across = cross(normal, std::abs(normal.z) < 0.9 ? Vec3{0, 0, 1} : Vec3{1, 0, 0});
    const Vec3 middle = normal * offset, x = across / norm(across) * reach, y = cross(normal, x);
    return {{middle - x - y, middle + x - y, middle + x + y, middle + y - x}, {{0, 1, 2}, {0, 2, 3}}};
  }
};

}  // namespace

std::unique_ptr<Shape> make_plane(const Vec3& normal, double offset) {
  const Vec3 n = direction(normal, {});
  if (!std::isfinite(offset) || !(dot(n, n) > 0.5))  // a unit vector, or none
    throw std::invalid_argument("plane: found normal (" + format_number(normal.x) + ", " + format_number(normal.y) +
                                ", " + format_number(normal.z) + ") and offset " + format_number(offset) +
                                ", expected a vector other than 0 and a length [m]");
  return shape_of(Plane{n, offset});
}

ShapeEntry plane_entry() {
  return {{"plane", "all that is below a plane through its position", {{"normal", "towards where things may be"}}},
          [](const ColliderSpec& spec, const Mesh*) { return make_plane(spec.normal, 0); }};
}

}  // namespace verve
