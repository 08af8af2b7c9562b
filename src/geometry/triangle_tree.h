// A tree over triangles that share no vertex numbers: how often they go around a point, and how far it is from them.
#pragma once

#include <vector>

#include "geometry/box.h"

namespace verve {

class TriangleTree {
 public:
  using Triangle = std::array<Vec3, 3>;
  explicit TriangleTree(std::vector<Triangle> triangles);

  const std::vector<Triangle>& triangles() const { return triangles_; }  ///< in the order of the tree
  const Box& box() const { return nodes_[0].box; }
  /// The generalised winding number: the sum of the solid angles over 4 pi (Jacobson, Kavan, Sorkine-Hornung, "Robust
  /// inside-outside segmentation using generalized winding numbers", 2013). What is far is taken for a dipole (Barill,
  /// Dickson, Schmidt, Levin, Jacobson, "Fast winding numbers for soups and clouds", 2018).
  double winding(const Vec3& p) const;
  /// To the nearest triangle, or infinity if it is further than `most`.
  double distance(const Vec3& p, double most = INFINITY) const;
  /// function(a, b) for every two triangles, a < b, whose boxes overlap.
  template <class F>
  void for_each_pair(const F& function) const {
    pairs(0, 0, function);
  }

 private:
  struct Node {
    Box box;
    Vec3 centre, normal;  // of the area, and the sum of the areas along their normals
    double radius = 0;
    int first = 0, last = 0, right = 0;  // triangles; the left child follows its parent; right 0: a leaf
  };
  int build(int first, int last);
  static Box box_of(const Triangle& t) {
    Box box;
    for (const Vec3& p : t) box.add(p);
    return box;
  }
  template <class F>
  void pairs(int a, int b, const F& function) const {
    const Node &m = nodes_[a], &n = nodes_[b];
    if (!m.box.overlaps(n.box)) return;
    if (!m.right && !n.right) {
      for (int i = m.first; i < m.last; ++i)
        for (int j = a == b ? i + 1 : n.first; j < n.last; ++j)
          if (box_of(triangles_[i]).overlaps(box_of(triangles_[j]))) function(i, j);
    } else if (a == b) {
      pairs(a + 1, a + 1, function), pairs(m.right, m.right, function), pairs(a + 1, m.right, function);
    } else if (!n.right || (m.right && m.last - m.first >= n.last - n.first)) {
      pairs(a + 1, b, function), pairs(m.right, b, function);
    } else {
      pairs(a, b + 1, function), pairs(a, n.right, function);
    }
  }

  std::vector<Triangle> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace verve
