// Normals of one surface at one x, each made when it is first asked for.
#pragma once

#include "contact/surface.h"

namespace verve {

/// Outward for the skin of a solid. A face is asked for by every pair of features that may touch there.
class SurfaceNormals {
 public:
  void bind(const Surface& surface, const Vec4* x);
  const Vec3& of_face(int face);
  const Vec3& of_edge(int edge);
  const Vec3& of_vertex(int vertex);
  const Vec3& of(int face, TrianglePart part);
  /// Whether something may lie on this edge of a solid in the direction n, at right angles to it: the edge is convex
  /// and n between the normals of its two faces, or `slack` (of a cosine) beyond.
  bool looks_towards(int edge, const Vec3& n, double slack);

 private:
  void find_cone(int edge);

  const Surface* surface_ = nullptr;
  const Vec4* x_ = nullptr;
  std::vector<Vec3> faces_, edges_, vertices_;
  struct Cone {  // of directions in which something may lie on an edge
    Vec3 first, second;
    double both;
  };
  std::vector<Cone> cones_;
  std::vector<char> has_face_, has_edge_, has_vertex_;
  std::vector<signed char> has_cone_;  // by edge; -1: it has none
};

}  // namespace verve
