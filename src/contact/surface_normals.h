// Normals of one surface at one x, each made when it is first asked for.
#pragma once

#include "contact/surface.h"
#include "contact/ties.h"

namespace verve {

/// Outward for the skin of a solid. A face is asked for by every pair of features that may touch there.
class SurfaceNormals {
 public:
  void bind(const Surface& surface, const Vec4* x);
  const Vec3& of_face(int face);
  const Vec3& of_edge(int edge);
  const Vec3& of_vertex(int vertex);
  const Vec3& of(int face, TrianglePart part);
  struct Cone {          // of directions in which something may lie on an edge of a solid, at right angles to it
    Vec3 first, second;  // normals of its two faces
    double both;         // first.second
    /// Whether n, of length `size`, is between the two, or `slack` (of a cosine) beyond.
    bool contains(const Vec3& n, double size, double slack) const {
      const double least = (both - slack) * size, along = dot(n, first), beside = dot(n, second);
      // one branch: which of these fails is anyone's guess
      return bool(int(along + beside > tie * size) & int(along >= least) & int(beside >= least));
    }
  };
  /// Null: the edge is not convex, and nothing may.
  const Cone* cone_of_edge(int edge);
  bool looks_towards(int edge, const Vec3& n, double slack) {
    const Cone* const cone = cone_of_edge(edge);
    return cone && cone->contains(n, 1, slack);
  }

 private:
  void find_cone(int edge);

  const Surface* surface_ = nullptr;
  const Vec4* x_ = nullptr;
  std::vector<Vec3> faces_, edges_, vertices_;
  std::vector<Cone> cones_;
  std::vector<char> has_face_, has_edge_, has_vertex_;
  std::vector<signed char> has_cone_;  // by edge; -1: it has none
};

}  // namespace verve
