#include "integrators/inverse_patch.h"

namespace verve {

void InversePatch::add(std::span<const int> rows, InverseColumns& columns) {
  columns.make(rows);
  size_t known = rows_.size();
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  const size_t n = rows_.size();
  if (int(n) > stride_ || known == 0) {
    // room for some more, or each that comes would copy all; whatever is read beyond them must be a number
    stride_ = int((n + n / 4) / dense_panel + 1) * dense_panel;
    matrix_.assign(size_t(stride_) * stride_, 0.f);
    known = 0;
  }
  for (size_t j = 0; j < n; ++j) {
    const float* const column = columns.of(rows_[j]);
    for (size_t i = j < known ? known : 0; i < n; ++i) matrix_[place(int(i), int(j))] = column[rows_[i]];
  }
}

void InversePatch::select(const InversePatch& all, std::span<const int> places) {
  rows_.clear();
  for (const int place : places) rows_.push_back(all.rows_[place]);
  const int n = size();
  stride_ = (n / dense_panel + 1) * dense_panel;
  matrix_.resize(size_t(stride_) * stride_);
  for (int panel = 0; panel * dense_panel < n; ++panel)
    for (int j = 0; j < n; ++j) {
      float* const out = matrix_.data() + place(panel * dense_panel, j);
      // symmetric: down a column of the other one
      for (int i = 0; i < dense_panel; ++i) {
        const int row = panel * dense_panel + i;
        out[i] = row < n ? all.entry(places[row], places[j]) : 0.f;
      }
    }
}

void InversePatch::multiply(const float* f, float* out) const {
  multiply_dense(matrix_.data(), stride_, size(), f, out);
}

}  // namespace verve
