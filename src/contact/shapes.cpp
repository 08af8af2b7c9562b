#include "contact/shapes.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/parallel.h"
#include "base/text.h"

namespace verve {

namespace {

constexpr int grain = 1024;  // points per chunk; a point takes some nanoseconds

/// A formula `at` for one point, as a shape.
template <class Formula>
class ShapeOf final : public Shape {
 public:
  explicit ShapeOf(const Formula& formula) : formula_(formula) {}
  Touch touch(const Vec3& x) const override { return formula_.at(x); }
  void touch(const Vec4* x, int count, Touch* out) const override {
    parallel_for(count, grain, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) out[i] = formula_.at(x[i].xyz());
    });
  }
  Box bounds() const override { return formula_.bounds(); }
  ShapeFeatures features() const override { return formula_.features(); }

 private:
  Formula formula_;
};

double sign_of(double a) { return a < 0 ? -1 : 1; }

Box box_of(const Vec3& half) { return {-half, half}; }

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
};

struct Sphere {
  double radius;
  Touch at(const Vec3& x) const { return {norm(x) - radius, direction(x, {0, 1, 0})}; }
  Box bounds() const { return box_of({radius, radius, radius}); }
  ShapeFeatures features() const { return {{Vec3{}}, {Vec3{}}, {}, {}, radius}; }
};

struct Cuboid {
  Vec3 half;
  Touch at(const Vec3& x) const {
    const Vec3 q{std::abs(x.x) - half.x, std::abs(x.y) - half.y, std::abs(x.z) - half.z};
    const int axis = q.x >= q.y && q.x >= q.z ? 0 : q.y >= q.z ? 1 : 2;
    Vec3 face{};
    face[axis] = sign_of(x[axis]);
    if (!(q[axis] > 0)) return {q[axis], face};
    const Vec3 beyond{std::copysign(std::max(q.x, 0.0), x.x), std::copysign(std::max(q.y, 0.0), x.y),
                      std::copysign(std::max(q.z, 0.0), x.z)};
    return {norm(beyond), direction(beyond, face)};
  }
  Box bounds() const { return box_of(half); }
  ShapeFeatures features() const {
    ShapeFeatures out;
    for (int i = 0; i < 8; ++i) {
      const Vec3 side{i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0};
      out.points.push_back({side.x * half.x, side.y * half.y, side.z * half.z}), out.outward.push_back(side);
      for (int axis = 0; axis < 3; ++axis) {
        if (i & (1 << axis)) continue;
        std::array<Vec3, 2> sides{};
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        sides[0][u] = side[u], sides[1][v] = side[v];
        out.edges.push_back({i, i | (1 << axis)}), out.sides.push_back(sides);
      }
    }
    return out;
  }
};

struct Capsule {
  double radius, half_length;
  Touch at(const Vec3& x) const {
    const double along = x.y > half_length ? half_length : x.y < -half_length ? -half_length : x.y;
    const Vec3 off{x.x, x.y - along, x.z};
    return {norm(off) - radius, direction(off, {1, 0, 0})};
  }
  Box bounds() const { return box_of({radius, half_length + radius, radius}); }
  ShapeFeatures features() const {
    return {{{0, -half_length, 0}, {0, half_length, 0}}, {Vec3{}, Vec3{}}, {{0, 1}}, {{Vec3{}, Vec3{}}}, radius};
  }
};

struct Cylinder {
  double radius, half_length;
  Touch at(const Vec3& x) const {
    const double from_axis = std::sqrt(x.x * x.x + x.z * x.z);
    const double side = from_axis - radius, end = std::abs(x.y) - half_length;
    const Vec3 out = direction({x.x, 0, x.z}, {1, 0, 0}), up{0, sign_of(x.y), 0};
    if (!(side > 0) && !(end > 0)) return side >= end ? Touch{side, out} : Touch{end, up};
    if (!(end > 0)) return {side, out};
    if (!(side > 0)) return {end, up};
    const double distance = std::sqrt(side * side + end * end);
    return {distance, direction(out * side + up * end, out)};
  }
  Box bounds() const { return box_of({radius, half_length, radius}); }
  ShapeFeatures features() const {
    ShapeFeatures out;
    constexpr int corners = 32;
    for (int i = 0; i < 2 * corners; ++i) {
      const double angle = 2 * std::numbers::pi * (i % corners) / corners, next = angle + std::numbers::pi / corners;
      const Vec3 up{0, i < corners ? 1.0 : -1.0, 0};
      const Vec3 out_here{std::cos(angle), 0, std::sin(angle)}, out_edge{std::cos(next), 0, std::sin(next)};
      out.points.push_back(out_here * radius + up * half_length), out.outward.push_back(out_here + up);
      out.edges.push_back({i, i % corners == corners - 1 ? i - corners + 1 : i + 1});
      out.sides.push_back({out_edge, up});
    }
    return out;
  }
};

template <class Formula>
std::unique_ptr<Shape> make(const Formula& formula) {
  return std::make_unique<ShapeOf<Formula>>(formula);
}

double checked(double size, const char* shape, const char* name) {
  if (!(size > 0) || !std::isfinite(size))
    throw std::invalid_argument(std::string(shape) + ": " + name + ": found " + format_number(size) +
                                ", expected a length > 0 [m]");
  return size;
}

}  // namespace

std::unique_ptr<Shape> make_plane(const Vec3& normal, double offset) {
  const Vec3 n = direction(normal, {});
  if (!std::isfinite(offset) || !(dot(n, n) > 0.5))  // a unit vector, or none
    throw std::invalid_argument("plane: found normal (" + format_number(normal.x) + ", " + format_number(normal.y) +
                                ", " + format_number(normal.z) + ") and offset " + format_number(offset) +
                                ", expected a vector other than 0 and a length [m]");
  return make(Plane{n, offset});
}
std::unique_ptr<Shape> make_sphere(double radius) { return make(Sphere{checked(radius, "sphere", "radius")}); }
std::unique_ptr<Shape> make_box(const Vec3& half_extents) {
  for (int k = 0; k < 3; ++k) checked(half_extents[k], "box", "half extents");
  return make(Cuboid{half_extents});
}
std::unique_ptr<Shape> make_capsule(double radius, double half_length) {
  return make(Capsule{checked(radius, "capsule", "radius"), checked(half_length, "capsule", "half length")});
}
std::unique_ptr<Shape> make_cylinder(double radius, double half_length) {
  return make(Cylinder{checked(radius, "cylinder", "radius"), checked(half_length, "cylinder", "half length")});
}

void PlacedShape::touch(const Vec4* x, int count, std::vector<Vec4>& local, Touch* out) const {
  if (int(local.size()) < count) local.resize(count);
  for (int i = 0; i < count; ++i) local[i] = Vec4(pose.to_local(x[i].xyz()));
  shape->touch(local.data(), count, out);
  for (int i = 0; i < count; ++i) out[i].normal = pose.direction_to_world(out[i].normal);
}

Box PlacedShape::bounds() const {
  const Box own = shape->bounds();
  Box out;
  for (int row = 0; row < 3; ++row) {
    out.low[row] = out.high[row] = pose.position[row];
    for (int k = 0; k < 3; ++k) {
      const double r = pose.rotation(row, k);
      if (r == 0) continue;  // 0 times an unbounded side is nothing
      out.low[row] += std::min(r * own.low[k], r * own.high[k]);
      out.high[row] += std::max(r * own.low[k], r * own.high[k]);
    }
  }
  return out;
}

}  // namespace verve
