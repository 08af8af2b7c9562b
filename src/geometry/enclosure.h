// What a surface encloses, however broken it is: open, cut through itself, doubled, in pieces, with triangles that look
// either way.
#pragma once

#include <memory>

#include "geometry/triangle_tree.h"
#include "verve/mesh.h"

namespace verve {

class Enclosure {
 public:
  /// `cell`: holes narrower than this are closed where nothing but the distance from the surface is to be trusted [m].
  Enclosure(const Mesh& surface, double cell);

  /// < 0 inside, > 0 outside; its size is the distance from the surface away from holes.
  double operator()(const Vec3& p) const;
  const TriangleTree& tree() const { return *tree_; }
  /// Winding number above which a point is inside: half of what most of the surface goes around. 0 where triangles
  /// contradict each other so much that cells reached from outside decide.
  double level() const { return level_; }
  bool encloses_nothing() const { return nothing_; }

 private:
  void find_level();
  void flood(double cell);

  std::unique_ptr<TriangleTree> tree_;
  double level_ = 0;
  bool nothing_ = false;
  // where level_ is 0: points of a grid, 1 outside and -1 inside
  int points_[3] = {};
  double spacing_ = 0;
  Vec3 origin_;
  std::vector<signed char> side_;
};

}  // namespace verve
