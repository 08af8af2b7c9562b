// How the elements of a body hang together, and what goes when some of them tear (docs/tearing.md).
#pragma once

#include <span>
#include <vector>

#include "potentials/potential.h"
#include "verve/mesh.h"
#include "verve/scene.h"

namespace verve {

struct Body;

class Tearing {
 public:
  /// Of a body whose potentials are made. What cannot follow is reported at the potential.
  Tearing(const Body& body, std::span<const std::unique_ptr<Potential>> potentials, const BodySpec& spec,
          const std::string& where, Diagnostics& out);

  /// Cells: all tetrahedra, then all triangles, then all edges (unique_edges). One flag for each says whether it is
  /// gone.
  int cells() const { return first_edge() + int(edges_.size()); }
  /// One for each potential with a limit.
  int tests() const { return int(tests_.size()); }
  int potential_of(int test) const { return tests_[test].potential; }
  /// Adds the cells whose largest stretch is above `limit` and that are still there. `over`: work space.
  void find_over(int test, const Potential& potential, const Vec4* x, double limit, const std::vector<char>& gone,
                 std::vector<int>& torn, std::vector<char>& over) const;
  /// The cells and all that cannot be without them: what contains a torn edge, and edges left without any element.
  void remove(std::span<const int> torn, std::vector<char>& gone) const;
  /// Flags of the elements of a potential: gone where any of the cells that it acts on is.
  void find_elements(int potential, const std::vector<char>& gone, std::vector<char>& elements) const;

  RemovedElements removed(const std::vector<char>& gone) const;
  /// As surface(without(mesh, removed(gone))), at a fraction of its price.
  std::vector<std::array<int, 3>> surface(const std::vector<char>& gone) const;

 private:
  /// A list of cells for each of many things, one after another.
  struct CellLists {
    std::vector<int> first{0}, cells;
    std::span<const int> operator[](int i) const { return {cells.data() + first[i], cells.data() + first[i + 1]}; }
    void end() { first.push_back(int(cells.size())); }
  };
  struct Test {
    int potential;
    std::vector<std::array<double, 6>> rest;  // products of the differences at rest, lower triangle
  };
  int edge(int a, int b) const;
  int first_triangle() const { return int(tetrahedra_.size()); }
  int first_edge() const { return int(tetrahedra_.size() + triangles_.size()); }

  std::vector<std::array<int, 4>> tetrahedra_;
  std::vector<std::array<int, 3>> triangles_;
  std::vector<std::array<int, 2>> edges_;
  std::vector<int> listed_;         // per edge: its place in the mesh's own list, -1 for those that are implied
  CellLists at_edge_;               // tetrahedra and triangles around each edge
  std::vector<int> across_;         // 4 per tetrahedron: the one behind each face, -1 for none
  std::vector<CellLists> acts_on_;  // per potential: the cells of each element
  std::vector<Test> tests_;
};

}  // namespace verve
