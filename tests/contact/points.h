// Points and meshes for the tests of contact.
#pragma once

#include <doctest/doctest.h>

#include "base/random.h"
#include "verve/mesh.h"

namespace verve::test {

inline Vec3 random_point(std::uint64_t seed, std::uint64_t index, double size = 1) {
  return Vec3{random_signed(seed, 3 * index), random_signed(seed, 3 * index + 1), random_signed(seed, 3 * index + 2)} *
         size;
}
inline std::vector<Vec4> rows_of(const std::vector<Vec3>& points) { return {points.begin(), points.end()}; }

/// Some rotation, by Rodrigues' formula.
inline Mat3 random_rotation(std::uint64_t seed) {
  const Vec3 axis = random_point(seed, 0), u = axis / norm(axis);
  const double angle = 3 * random_signed(seed, 99), c = std::cos(angle), s = std::sin(angle);
  const Mat3 k{{Vec3{0, u.z, -u.y}, Vec3{-u.z, 0, u.x}, Vec3{u.y, -u.x, 0}}};
  return Mat3::identity() + k * s + k * k * (1 - c);
}

/// A cuboid of twelve triangles, normals outward.
inline Mesh cuboid(const Vec3& half) {
  Mesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back({i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z});
  mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  return mesh;
}

}  // namespace verve::test
