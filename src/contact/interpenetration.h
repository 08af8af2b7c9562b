// How deep bodies are inside each other, for tests and measurements: by volumes, and not by what contact sees.
#pragma once

#include <span>
#include <vector>

#include "contact/surface.h"
#include "verve/mesh.h"

namespace verve {

/// Solids, by their tetrahedra. Sheets and ropes have no inside: their points count, what is in them does not.
class Interpenetration {
 public:
  /// Meshes at rest; `first`: where the vertices of each begin in positions.
  Interpenetration(std::span<const Mesh* const> meshes, std::span<const int> first);

  struct Deepest {
    double depth = 0;  ///< distance to the surface of the body that it is in [m]
    double share = 0;  ///< of the width of the thinner of the two bodies
    int body = -1, other = -1;
  };
  enum class Points { vertices, all };
  /// The greatest share over the points of a body (vertices of its surface; `all`: the middles of edges and faces there
  /// too) that are in a tetrahedron of another body.
  Deepest deepest(std::span<const Vec3> positions, Points which = Points::all);

  /// Least distance at rest of two parallel planes that hold the body between them, one of them along a face.
  double width(int body) const { return bodies_[body].width; }

 private:
  struct Body {
    int first = 0;
    Surface surface;
    std::vector<std::array<int, 4>> tetrahedra;
    double width = 0;
    Vec3 low, high;  // now
  };
  double depth_in(const Body& body, std::span<const Vec3> positions, const Vec3& p) const;

  std::vector<Body> bodies_;
  std::vector<Vec3> points_;
};

}  // namespace verve
