// Polygons of mesh files: cut into triangles, and kept as they were for the way out.
#pragma once

#include <map>

#include "verve/mesh.h"

namespace verve {

/// Appends the triangles of a plane (or nearly plane) polygon, concave or not, as places in `corners`: n - 2 of them,
/// by ear clipping (Meisters 1975), from its first corner on, so that a convex one becomes a fan.
void triangulate(const std::vector<Vec3>& corners, std::vector<std::array<int, 3>>& out);

/// Gathers the faces of a surface and what a file says of their looks.
class PolygonReader {
 public:
  static constexpr std::size_t most_corners = 20000;  ///< of a polygon: its triangulation takes quadratic time

  int material(const std::string& name, std::array<double, 4> color = {0.8, 0.8, 0.8, 1});
  int uv(double u, double v) { return look_.uvs.push_back({u, v}), int(look_.uvs.size()) - 1; }
  int uvs() const { return int(look_.uvs.size()); }
  void color(int material, std::array<double, 4> color) { look_.materials[material].color = color; }
  const std::vector<SurfaceLook::Material>& materials() const { return look_.materials; }

  /// A number for this direction, the same for all that are hardly apart.
  int normal(const Vec3& n);
  /// Of the next vertex. Colours are kept where every vertex has one.
  void vertex_color(const std::array<double, 4>& color) { look_.colors.push_back(color); }

  /// A polygon corner by corner. Normals are kept where every corner has one.
  void corner(int vertex, int uv = -1, int normal = -1);
  void end_polygon(int material = -1);
  std::size_t corners() const { return look_.vertex.size() - std::size_t(look_.first.back()); }  ///< since the last end
  void drop_corners();

  /// Appends the triangles once all vertices are there and all corners within them. The look is kept where it says
  /// more than the triangles do.
  void finish(Mesh& mesh);

 private:
  SurfaceLook look_;
  std::map<std::array<int, 3>, int> normals_;
  bool polygons_ = false, uvs_ = false, materials_ = false, all_normals_ = true;
};

}  // namespace verve
