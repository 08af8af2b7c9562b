// Normals for the light on a surface that moves.
#pragma once

#include "verve/mesh.h"

namespace verve {

/// Corners of faces that meet in a place share a normal where the surface is smooth there: as its file said, or, where
/// that says nothing, where they meet at less than 45 degrees. Vertices at one place count as one, as along the seams
/// of a texture. Made anew from the faces for every frame.
class ShadingNormals {
 public:
  explicit ShadingNormals(const Mesh& mesh);
  /// Which normal: of each corner of the look's polygons, or of each of the three of the triangles of surface(mesh).
  const std::vector<int>& of_corner() const { return normal_; }
  /// Where the vertices are at `x`; of length 1.
  std::vector<Vec3> at(const std::vector<Vec3>& x) const;

 private:
  void group_by_file(const SurfaceLook& look, const std::vector<int>& place);
  void group_by_angle(const std::vector<Vec3>& x, const std::vector<int>& place);
  Vec3 area(const std::vector<Vec3>& x, int face) const;

  std::vector<int> first_{0}, vertex_;  // of faces: their corners
  std::vector<int> normal_;             // of corners
  int count_ = 0;
};

}  // namespace verve
