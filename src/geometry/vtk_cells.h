// Cells of VTK's unstructured grids, by their type. Schroeder et al., "VTK File Formats", 2006.
#pragma once

#include <span>

#include "geometry/polygons.h"

namespace verve {

class VtkCells {
 public:
  /// Empty, or what is wrong with the cell. Of second-order cells the corners are used.
  std::string add(long long type, std::span<const long long> points, std::size_t vertices);
  void finish(Mesh& mesh, const std::string& where, Diagnostics& out);

 private:
  std::vector<std::array<int, 4>> tetrahedra_;
  std::vector<std::array<int, 2>> edges_;
  PolygonReader polygons_;
  long long unused_ = 0;
};

}  // namespace verve
