// Cholesky's factor of a dense matrix of a few hundred rows, in float.
#pragma once

#include <vector>

#include "linear/row_kernel.h"

namespace verve {

/// L L^T = A, to precondition with: what float cannot tell from singular is made a little stiffer.
class DenseCholesky {
 public:
  /// A begins as 0, and has n rows.
  void resize(int n);
  /// An entry of the lower triangle, i >= j.
  void set(int i, int j, float value) { matrix_[begin_of(i) + size_t(j) * dense_panel + i % dense_panel] = value; }
  /// False: not even then.
  bool factorize();
  int size() const { return size_; }
  /// x = A^-1 x; x has room for whole panels.
  void solve(float* x) const;

 private:
  // Panels of dense_panel rows, each by columns, from 0 to the end of its diagonal block.
  static size_t begin_of(int row) {
    const size_t panel = row / dense_panel;
    return panel * (panel + 1) / 2 * dense_panel * dense_panel;
  }
  int size_ = 0;
  std::vector<float> matrix_, factor_;  // blocks on the diagonal of the factor are inverted
};

}  // namespace verve
