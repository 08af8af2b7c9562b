#include "geometry/vtk_cells.h"

namespace verve {

std::string VtkCells::add(long long type, std::span<const long long> points, std::size_t vertices) {
  for (const long long p : points)
    if (p < 0 || std::size_t(p) >= vertices)
      return "found point number " + std::to_string(p) + ", expected 0 to " + std::to_string((long long)(vertices) - 1);
  const auto needs = [&](std::size_t n) {
    return points.size() >= n ? std::string()
                              : "found " + std::to_string(points.size()) + " points in a cell of type " +
                                    std::to_string(type) + ", expected " + std::to_string(n);
  };
  const auto polygon = [&](std::initializer_list<std::size_t> corners) {
    for (const std::size_t c : corners) polygons_.corner(int(points[c]));
    polygons_.end_polygon();
  };
  std::string fault;
  switch (type) {
    case 3: case 21:
      if ((fault = needs(2)).empty()) edges_.push_back({int(points[0]), int(points[1])});
      return fault;
    case 4:
      for (std::size_t i = 1; i < points.size(); ++i) edges_.push_back({int(points[i - 1]), int(points[i])});
      return needs(2);
    case 5: case 22:
      if ((fault = needs(3)).empty()) polygon({0, 1, 2});
      return fault;
    case 6:
      for (std::size_t i = 0; i + 2 < points.size(); ++i) i % 2 ? polygon({i + 1, i, i + 2}) : polygon({i, i + 1, i + 2});
      return needs(3);
    case 7:
      if (points.size() > PolygonReader::most_corners) return "found a polygon of too many corners";
      if (!(fault = needs(3)).empty()) return fault;
      for (const long long p : points) polygons_.corner(int(p));
      polygons_.end_polygon();
      return "";
    case 8:
      if ((fault = needs(4)).empty()) polygon({0, 1, 3, 2});
      return fault;
    case 9: case 23:
      if ((fault = needs(4)).empty()) polygon({0, 1, 2, 3});
      return fault;
    case 10: case 24:
      if ((fault = needs(4)).empty())
        tetrahedra_.push_back({int(points[0]), int(points[1]), int(points[2]), int(points[3])});
      return fault;
    default: ++unused_; return "";
  }
}

void VtkCells::finish(Mesh& mesh, const std::string& where, Diagnostics& out) {
  mesh.tetrahedra = std::move(tetrahedra_), mesh.edges = std::move(edges_);
  polygons_.finish(mesh);
  if (unused_ > 0)
    out.note(where, std::to_string(unused_) + " cells that are no lines, polygons or tetrahedra are not used");
}

}  // namespace verve
