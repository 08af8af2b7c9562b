// Anchors and forces as methods with a step of their own see them.
#pragma once

#include <array>
#include <vector>

#include "integrators/island.h"

namespace verve {

/// Hard anchors to the world prescribe where a vertex is at the end of the step (the mass modification of Baraff and
/// Witkin 1998, Sec. 5.1, in all three directions: 1/m = 0), hard links make two vertices one. Vertices without mass
/// stay where they are.
class HeldVertices {
 public:
  /// The anchors as they are for the coming step.
  void read(Island& island);

  bool held(int row) const { return held_[row]; }
  const std::vector<char>& flags() const { return held_; }
  const Vec4& point(int row) const { return point_[row]; }
  /// 1/m, and 0 for held vertices.
  const std::vector<double>& inverse_mass() const { return inverse_mass_; }
  const std::vector<std::array<int, 2>>& joined() const { return joined_; }
  /// A row that two hard anchors want in two places; -1: none.
  int torn() const { return torn_; }

  /// Takes held vertices to their points, and joined ones together: to the mean of both by mass, in x and v.
  void place(const Island& island, double h, const std::vector<Vec4>& before, std::vector<Vec4>& x,
             std::vector<Vec4>& v) const;

 private:
  std::vector<char> held_;
  std::vector<Vec4> point_;
  std::vector<double> inverse_mass_;
  std::vector<std::array<int, 2>> joined_;
  int torn_ = -1;
};

/// Gradient of W without hard anchors and hard links, which are held and not pulled.
void soft_gradient(Island& island, const std::vector<Vec4>& x, std::vector<Vec4>& gradient);

/// The longest stable step 2/omega [s] of explicit methods: omega^2 is the largest eigenvalue of M^-1 A, with the
/// weights A = sum w G^T G of all elements and soft anchors, which for bounded potentials are never less than the
/// Hessian. By power iteration; infinite where nothing pulls.
double longest_explicit_step(Island& island);

}  // namespace verve
