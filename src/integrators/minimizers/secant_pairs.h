// L-BFGS over a first inverse H0 that is applied elsewhere (Liu, Bouaziz, Kavan 2017: H0 = A^-1 of Projective
// Dynamics).
#pragma once

#include <vector>

#include "verve/vec.h"

namespace verve {

/// Steps s and the changes y of the gradient along them, with H0 y. As H0 is linear and was applied to both gradients,
/// H0 y costs no solve: B^-1 v - H0 v lies in the span of s and H0 y, and its coefficients follow from dot products.
class SecantPairs {
 public:
  static constexpr int most = 20;
  /// s_i.v and (H0 y_i).v
  struct Overlap {
    double s[most], y[most];
  };
  /// B^-1 v = H0 v + sum of s[i] s_i + y[i] H0 y_i
  struct Combination {
    double s[most], y[most];
  };

  void resize(int rows, int window);
  void clear() { count_ = 0, visited_ = false; }
  /// The next iterate. True when it gave a pair; a pair without positive curvature is left out. `dropped` tells
  /// whether the oldest pair had to go.
  bool visit(const std::vector<Vec4>& x, const std::vector<Vec4>& gradient, const std::vector<Vec4>& H0_gradient,
             bool& dropped);
  int count() const { return count_; }
  const std::vector<Vec4>& s(int i) const { return s_[i]; }
  const std::vector<Vec4>& H0_y(int i) const { return Hy_[i]; }

  Overlap overlap(const std::vector<Vec4>& v) const;
  Combination apply(const Overlap& v) const;
  /// w.(B^-1 - H0) v
  double product(const Overlap& w, const Combination& v) const;
  /// Adds the combination times `factor`.
  void add(const Combination& c, double factor, std::vector<Vec4>& out) const;

 private:
  int window_ = 5, count_ = 0;  // the oldest pair is the first
  bool visited_ = false;
  std::vector<std::vector<Vec4>> s_, y_, Hy_;
  std::vector<Vec4> x_, gradient_, Hgradient_;  // of the last visit
  double sy_[most][most], yHy_[most][most];     // s_i.y_j, y_i.H0 y_j
};

}  // namespace verve
