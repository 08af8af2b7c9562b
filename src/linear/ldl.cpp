#include "linear/ldl.h"

#include <algorithm>
#include <cmath>

namespace verve {

void Ldl::analyze(const SymmetricMatrix& pattern, const std::vector<int>& order) {
  const int n = pattern.size;
  order_ = order;
  std::vector<int> position(n), count(n + 1, 0);
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  const auto each = [&](auto&& visit) {  // entries below the diagonal, as (row, column) of the permuted matrix
    for (int c = 0; c < n; ++c)
      for (int e = pattern.start[c]; e < pattern.start[c + 1]; ++e) {
        const int a = position[pattern.row[e]], b = position[c];
        visit(std::max(a, b), std::min(a, b), e);
      }
  };
  diagonal_slot_.assign(n, -1);
  each([&](int r, int c, int slot) {
    if (r == c)
      diagonal_slot_[r] = slot;
    else
      ++count[r + 1];
  });
  for (int k = 0; k < n; ++k) count[k + 1] += count[k];
  entry_start_ = count;
  entry_column_.resize(count[n]), entry_slot_.resize(count[n]);
  each([&](int r, int c, int slot) {
    if (r == c) return;
    entry_column_[count[r]] = c;
    entry_slot_[count[r]++] = slot;
  });

  parent_.assign(n, -1), flag_.assign(n, -1), filled_.assign(n, 0);
  for (int k = 0; k < n; ++k) {
    flag_[k] = k;
    for (int e = entry_start_[k]; e < entry_start_[k + 1]; ++e)
      for (int i = entry_column_[e]; flag_[i] != k; i = parent_[i]) {
        if (parent_[i] < 0) parent_[i] = k;
        ++filled_[i];
        flag_[i] = k;
      }
  }
  start_.assign(n + 1, 0);
  for (int k = 0; k < n; ++k) start_[k + 1] = start_[k] + filled_[k];
  run_.assign(n, 1);
  for (int k = n - 2; k >= 0; --k)
    if (parent_[k] == k + 1 && filled_[k] == filled_[k + 1] + 1) run_[k] = run_[k + 1] + 1;
  row_.assign(start_[n], 0), value_.assign(start_[n], 0.0);
  inverse_.assign(n, 0.0), work_.assign(n, 0.0), path_.assign(n, 0);
  dependent_.clear();
  dependent_.reserve(n);
}

bool Ldl::factorize(const SymmetricMatrix& matrix, double cutoff) {
  const int n = int(order_.size());
  dependent_.clear();
  std::fill(flag_.begin(), flag_.end(), -1);
  std::fill(work_.begin(), work_.end(), 0.0);
  std::fill(filled_.begin(), filled_.end(), 0);
  double* y = work_.data();
  for (int k = 0; k < n; ++k) {
    int top = n;
    flag_[k] = k;
    for (int e = entry_start_[k]; e < entry_start_[k + 1]; ++e) {
      int i = entry_column_[e], length = 0;
      y[i] += matrix.value[entry_slot_[e]];
      for (; flag_[i] != k; i = parent_[i]) path_[length++] = i, flag_[i] = k;
      while (length > 0) path_[--top] = path_[--length];
    }
    double pivot = diagonal_slot_[k] < 0 ? 0 : matrix.value[diagonal_slot_[k]], size = std::abs(pivot);
    const auto append = [&](int i, double yi) {
      const int end = start_[i] + filled_[i]++;
      const double l = yi * inverse_[i];
      y[i] = 0;
      pivot -= l * yi, size += std::abs(l * yi);
      row_[end] = k, value_[end] = l;
    };
    while (top < n) {
      const int i = path_[top];
      const double y0 = y[i];
      const double* v0 = value_.data() + start_[i];
      if (run_[i] >= 4 && top + 3 < n && path_[top + 3] == i + 3) {
        // four columns with the same rows below them: one look at each row, in the same order of operations
        const double *v1 = value_.data() + start_[i + 1], *v2 = value_.data() + start_[i + 2],
                     *v3 = value_.data() + start_[i + 3];
        const double y1 = y[i + 1] - v0[0] * y0, y2 = y[i + 2] - v0[1] * y0 - v1[0] * y1,
                     y3 = y[i + 3] - v0[2] * y0 - v1[1] * y1 - v2[0] * y2;
        v0 += 3, v1 += 2, v2 += 1;
        const int* row = row_.data() + start_[i + 3];
        for (int e = 0; e < filled_[i + 3]; ++e)
          y[row[e]] = y[row[e]] - v0[e] * y0 - v1[e] * y1 - v2[e] * y2 - v3[e] * y3;
        append(i, y0), append(i + 1, y1), append(i + 2, y2), append(i + 3, y3);
        top += 4;
        continue;
      }
      const int* row = row_.data() + start_[i];
      for (int e = 0; e < filled_[i]; ++e) y[row[e]] -= v0[e] * y0;
      append(i, y0);
      ++top;
    }
    if (!std::isfinite(pivot)) return false;
    const bool zero = std::abs(pivot) <= cutoff * size;
    if (zero) dependent_.push_back(order_[k]);
    inverse_[k] = zero ? 0 : 1 / pivot;
  }
  return true;
}

void Ldl::solve(double* b) const {
  const int n = int(order_.size());
  double* y = work_.data();
  for (int k = 0; k < n; ++k) y[k] = b[order_[k]];
  for (int k = 0; k < n; ++k)
    for (int e = start_[k]; e < start_[k + 1]; ++e) y[row_[e]] -= value_[e] * y[k];
  for (int k = 0; k < n; ++k) y[k] *= inverse_[k];
  for (int k = n - 1; k >= 0; --k)
    for (int e = start_[k]; e < start_[k + 1]; ++e) y[k] -= value_[e] * y[row_[e]];
  for (int k = 0; k < n; ++k) b[order_[k]] = y[k];
}

}  // namespace verve
