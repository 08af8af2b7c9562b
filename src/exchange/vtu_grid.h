// A file of VTK's unstructured grids, its arrays appended raw.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "verve/mesh.h"

namespace verve {

class VtuGrid {
 public:
  /// Numbers in double where `wide`.
  VtuGrid(const Mesh& mesh, bool wide);
  size_t cells() const { return cells_; }
  /// A vector at each vertex.
  void add_points(const char* name, const std::vector<Vec3>& vectors) { add_points(name, vectors, wide_); }
  void add_points(const char* name, const std::vector<Vec3>& vectors, bool wide);
  /// So many numbers of each cell.
  void add_cells(const char* name, int components, const std::vector<float>& values);
  /// What comes before and behind the arrays, and they between.
  std::string text() const;

 private:
  template <class T>
  std::string add(const char* name, const char* type, int components, const std::vector<T>& values);
  std::string vectors(const char* name, const std::vector<Vec3>& x, bool wide);

  bool wide_;
  size_t points_, cells_;
  std::string data_;  // each array after the number of its bytes
  std::string grid_, of_points_, of_cells_;
};

}  // namespace verve
