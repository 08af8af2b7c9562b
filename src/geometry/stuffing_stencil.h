// How isosurface stuffing fills one tetrahedron of the BCC lattice.
// Labelle and Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", SIGGRAPH 2007.
#pragma once

#include <array>
#include <vector>

namespace verve {

/// The paper's parameters for dihedral angles between 10.7 and 164.8 degrees: a lattice vertex moves to a cut point
/// closer than this fraction of a long (axis-aligned) or short (diagonal) lattice edge.
constexpr double warp_long = 0.24999, warp_short = 0.41189;

/// One lattice tetrahedron. Vertices 0 and 1 are joined by a long edge, and so are 2 and 3; the other four edges are
/// short. Lattice coordinates are in half spacings. Positively oriented.
struct LatticeTet {
  std::array<std::array<int, 3>, 4> at;
  std::array<int, 4> sign;  ///< +1 inside, 0 on the surface, -1 outside; after warping
};

/// The result's vertices: 0 … 3 are the lattice tetrahedron's, 4 + e the cut point on its edge e.
constexpr int stencil_edge[4][4] = {{-1, 0, 1, 2}, {0, -1, 3, 4}, {1, 3, -1, 5}, {2, 4, 5, -1}};
constexpr int stencil_edge_ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/// Appends the inside part of the tetrahedron, at most three tetrahedra, positively oriented. Neighbours cut their
/// common face alike.
void fill_stencil(const LatticeTet& tet, std::vector<std::array<int, 4>>& out);

}  // namespace verve
