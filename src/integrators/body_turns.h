// What A makes of the turns of single bodies, taken back.
#pragma once

#include <vector>

#include "verve/vec.h"

namespace verve {

/// A takes a turn of a body for a deformation, although W does not: a body that rolls, or tips over on its support,
/// gets there in small steps. As for an anchored island (StepSolver::column_products), for each body of one that touches:
///   B^-1 = A^-1 + sum Y T^-1 Y^T,   Y_a = e_a x arm,   arm = F (rest - A^-1 K rest),   T = (K Z)^T Y.
class BodyTurns {
 public:
  struct Turn {
    int first = 0, last = 0;  // rows
    Mat3 inverse;             // of T
  };

  void clear() { turns_.clear(), arms_.clear(); }
  bool empty() const { return turns_.empty(); }
  /// Bodies in the order of their rows, the next at `first`; `second` is the sum of rest_arm (K rest)^T.
  void add(int first, const std::vector<Vec4>& rest_arm, const Mat3& second, const Mat3& shape);
  /// x += Y T^-1 Y^T b
  void add_to(const std::vector<Vec4>& b, std::vector<Vec4>& x) const;

  const std::vector<Turn>& turns() const { return turns_; }
  /// By row of the island; 0 where a body has no turn of its own.
  Vec3 arm(int row) const { return row < int(arms_.size()) ? arms_[row].xyz() : Vec3{}; }

 private:
  std::vector<Turn> turns_;
  std::vector<Vec4> arms_;
};

}  // namespace verve
