// A^-1 between the vertices of one factor that touch something, as a dense matrix that grows with them.
#pragma once

#include <span>
#include <vector>

#include "integrators/inverse_columns.h"
#include "linear/row_kernel.h"

namespace verve {

/// In float: it steers iterations that look at the true forces. Where few vertices of a body touch it is several times
/// cheaper to multiply by than a solve with the factor.
class InversePatch {
 public:
  void clear() { rows_.clear(); }
  int size() const { return int(rows_.size()); }
  /// Rows of the factor, which are not among its vertices yet.
  void add(std::span<const int> rows, InverseColumns& columns);
  /// Those of another, at these places.
  void select(const InversePatch& all, std::span<const int> places);
  float entry(int i, int j) const { return matrix_[place(i, j)]; }
  /// Rows [dense_panel panel, + dense_panel) of a column; 0, or another number, beyond the last.
  const float* column(int panel, int j) const { return matrix_.data() + place(panel * dense_panel, j); }
  /// Of the three arrays, one after the other, that multiply takes and gives.
  int stride() const { return stride_; }
  /// out = A^-1 f for x, y and z
  void multiply(const float* f, float* out) const;

 private:
  size_t place(int i, int j) const { return (size_t(i / dense_panel) * stride_ + j) * dense_panel + i % dense_panel; }

  std::vector<int> rows_;
  int stride_ = 0;
  std::vector<float> matrix_;
};

}  // namespace verve
