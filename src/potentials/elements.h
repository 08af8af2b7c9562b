// Which elements of a mesh a potential acts on.
#pragma once

#include "verve/mesh.h"

namespace verve {

struct Edges {
  static constexpr const char* name = "edges";
  static auto of(const Mesh& mesh) { return unique_edges(mesh); }
};
struct Tetrahedra {
  static constexpr const char* name = "tetrahedra";
  static const auto& of(const Mesh& mesh) { return mesh.tetrahedra; }
};

}  // namespace verve
