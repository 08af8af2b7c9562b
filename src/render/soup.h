// What is drawn, as triangles whose corners know all that shading needs.
#pragma once

#include <array>
#include <vector>

#include "render/picture.h"

namespace verve::render {

using Vec3f = Vec3T<float>;

inline Vec3 unit(const Vec3& a, const Vec3& otherwise = {0, 1, 0}) {
  const double n = norm(a);
  return n > 0 ? a / n : otherwise;
}
inline Vec3f narrow(const Vec3& a) { return {float(a.x), float(a.y), float(a.z)}; }
inline Vec3 wide(const Vec3f& a) { return {a.x, a.y, a.z}; }

struct Material {
  Color color;
  bool by_value = false, two_sided = false;
};

struct Soup {
  std::vector<Vec3> points;
  std::vector<Vec3f> normals;
  std::vector<float> values;
  std::vector<Color> ambient, ambient_behind;  ///< light of sky and ground on either side, before the surface's colour
  std::vector<std::array<int, 3>> triangles;
  std::vector<int> material;  ///< of each triangle
  std::vector<Material> materials;
};

/// All surfaces and curves of a view. With `longest` above 0, edges are halved until none is longer, so that what is
/// known at corners only can vary over large faces.
Soup make_soup(const View& view, double longest);

}  // namespace verve::render
