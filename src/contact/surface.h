// The surface of a body as contact sees it: vertices, edges and faces, and who is whose neighbour.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/point_triangle.h"
#include "verve/mesh.h"
#include "verve/vec.h"

namespace verve {

/// A list of numbers for each of many things, in one array.
struct Lists {
  std::vector<int> first;  ///< one more than there are things
  std::vector<int> items;
  std::span<const int> operator[](int i) const { return {items.data() + first[i], items.data() + first[i + 1]}; }
  bool contains(int i, int item) const;  ///< by bisection: the list is sorted
};

/// Vertices are named by their rows in the body's state, which stay what they are when elements are removed. Features
/// (vertices, edges, faces) are named by their places in the lists below.
struct Surface {
  int rows = 0;                           ///< of the whole body
  std::vector<int> vertices;              ///< rows, ascending
  std::vector<std::array<int, 2>> edges;  ///< rows, lower first, sorted
  std::vector<std::array<int, 3>> faces;  ///< rows; the skin of the solid first, normals outward
  int solid_faces = 0;                    ///< so many of the faces have an inside; those after them have two outsides

  std::vector<int> vertex_of_row;              ///< -1 for a row that is not on the surface
  std::vector<std::array<int, 3>> face_edges;  ///< ab, bc, ca
  Lists faces_of_vertex, edges_of_vertex, faces_of_edge;

  /// Pairs of this surface with itself that are never reported, besides those that share a vertex: faces per vertex,
  /// and edges per edge, of which the second is the greater. No lists: none.
  Lists never_faces, never_edges;

  /// What was made by the functions below has a number of its own, and another one after each change: what was found
  /// out about its features may be kept. 0: made by hand.
  std::uint64_t version = 0;

  bool is_corner(int row, int face) const {
    const auto& f = faces[face];
    return f[0] == row || f[1] == row || f[2] == row;
  }
  bool share_corner(int edge, int other) const {
    const auto &a = edges[edge], &b = edges[other];
    return a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1];
  }
};

/// From elements over `rows` vertices; after some have been removed, from those that are left. Edges stand for ropes:
/// one with both ends on tetrahedra or triangles is a spring inside of these and has no surface of its own. With
/// `loose_vertices`, rows that no element uses are vertices of the surface too.
Surface make_surface(int rows, std::vector<std::array<int, 4>> tetrahedra, std::vector<std::array<int, 3>> triangles,
                     std::span<const std::array<int, 2>> edges, bool loose_vertices = false);
Surface make_surface(const Mesh& mesh, bool loose_vertices = false);

/// A number that no surface has had.
std::uint64_t new_surface_version();

/// Whether a corner of the face is at most `rings` edges away from the vertex; 0: the vertex is a corner.
bool within_rings(const Surface& surface, int vertex, int face, int rings);
/// Adds to the pairs that are never reported those within so many rings: vertices and faces as above, edges with ends
/// that are at most `rings` edges apart.
void never_within_rings(Surface& surface, int rings);
/// Adds those that are nearer than `distance` in the rest shape (positions by row): with a thickness above the length
/// of edges, neighbours would repel each other for ever.
void never_near_at_rest(Surface& surface, std::span<const Vec3> rest, double distance);

// --- normals, outward for the skin of a solid ---

/// Unit; 0 for a face without area.
Vec3 face_normal(const Surface& surface, const Vec4* x, int face);
/// Sum over the faces at an edge, or at a vertex with their angles there as weights, not of unit length: the sign of
/// its product with the offset of a point nearest to that edge or vertex tells inside from outside (Baerentzen and
/// Aanaes 2005, "Signed distance computation using the angle weighted pseudonormal").
Vec3 edge_normal(const Surface& surface, const Vec4* x, int edge);
Vec3 vertex_normal(const Surface& surface, const Vec4* x, int vertex);
/// Of the part of a face where a nearest point lies.
Vec3 pseudo_normal(const Surface& surface, const Vec4* x, int face, TrianglePart part);

}  // namespace verve
