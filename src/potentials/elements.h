// Which elements of a mesh a potential acts on.
#pragma once

#include "verve/mesh.h"

namespace verve {

struct Edges {
  static constexpr const char* name = "edges";
  static auto of(const Mesh& mesh) { return unique_edges(mesh); }
};
struct Triangles {
  static constexpr const char* name = "triangles";
  static const auto& of(const Mesh& mesh) { return mesh.triangles; }
};
struct Tetrahedra {
  static constexpr const char* name = "tetrahedra";
  static const auto& of(const Mesh& mesh) { return mesh.tetrahedra; }
};

/// Pairs of triangles with a common edge: its two vertices, then the two across.
struct Hinges {
  static constexpr const char* name = "hinges";
  static std::vector<std::array<int, 4>> of(const Mesh& mesh);
  /// Bending needs a manifold sheet: at most two triangles at an edge, wound alike.
  static std::string fault(const Mesh& mesh);
};

/// Where two edges of a rope meet: the vertex between them, then the other two. Edges that a mesh lists as such, not
/// those of its triangles and tetrahedra. Where ropes branch, every pair of edges is a joint.
struct Joints {
  static constexpr const char* name = "joints";
  static std::vector<std::array<int, 3>> of(const Mesh& mesh);
};

}  // namespace verve
