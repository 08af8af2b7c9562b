// A box along its axes.
#include <algorithm>
#include <cmath>

#include "contact/shape_formula.h"
#include "contact/shape_registry.h"

namespace verve {

namespace {

struct Cuboid {
  Vec3 half;
  double slack = tie * std::max({half.x, half.y, half.z});
  Touch at(const Vec3& x) const {
    const Vec3 q{std::abs(x.x) - half.x, std::abs(x.y) - half.y, std::abs(x.z) - half.z};
    const double outmost = std::max({q.x, q.y, q.z});
    const int axis = q.x >= outmost - slack ? 0 : q.y >= outmost - slack ? 1 : 2;
    Vec3 face{};
    face[axis] = sign_of(x[axis], slack);
    if (!(outmost > 0)) return {outmost, face};
    const Vec3 beyond{std::copysign(std::max(q.x, 0.0), x.x), std::copysign(std::max(q.y, 0.0), x.y),
                      std::copysign(std::max(q.z, 0.0), x.z)};
    return {norm(beyond), outmost > slack ? direction(beyond, face) : face};
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
  ShapeTriangles tessellate(double) const {
    ShapeTriangles out;
    for (int v = 0; v < 8; ++v)
      out.points.push_back({v & 1 ? half.x : -half.x, v & 2 ? half.y : -half.y, v & 4 ? half.z : -half.z});
    for (const auto& [a, b, c, d] : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4},
                                     std::array{2, 6, 7, 3}, std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}}) {
      out.triangles.push_back({a, b, c});
      out.triangles.push_back({a, c, d});
    }
    return out;
  }
};

}  // namespace

std::unique_ptr<Shape> make_box(const Vec3& half_extents) {
  for (int k = 0; k < 3; ++k) checked_size(half_extents[k], "box", "half extents");
  return shape_of(Cuboid{half_extents});
}

ShapeEntry box_entry() {
  return {{"box", "a box", {{"size", "along its axes"}}},
          [](const ColliderSpec& spec, const Mesh*) { return make_box(spec.size * 0.5); }};
}

}  // namespace verve
