#include "linear/block_assembly.h"

#include <algorithm>
#include <numeric>

namespace verve {

void BlockAssembly::begin_pattern(int vertices) {
  recording_ = true;
  pairs_.clear();
  matrix_ = {};
  matrix_.size = 3 * vertices;
  for (int v = 0; v < vertices; ++v) pairs_.push_back({v, v});  // every diagonal block, wherever it is added first
}

void BlockAssembly::finish_pattern() {
  std::vector<int> order(pairs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Pair &p = pairs_[a], &q = pairs_[b];
    return p.column != q.column ? p.column < q.column : p.row < q.row;
  });
  const int vertices = matrix_.size / 3;
  std::vector<int> rank(pairs_.size());
  matrix_.start.assign(matrix_.size + 1, 0);
  std::vector<int> rows;  // of the column at hand
  for (size_t k = 0; k < order.size();) {
    const int column = pairs_[order[k]].column;
    rows.clear();
    for (; k < order.size() && pairs_[order[k]].column == column; ++k) {
      if (rows.empty() || rows.back() != pairs_[order[k]].row) rows.push_back(pairs_[order[k]].row);
      rank[order[k]] = int(rows.size()) - 1;
    }
    for (int q = 0; q < 3; ++q) {
      for (size_t r = 0; r < rows.size(); ++r)
        for (int p = r == 0 ? q : 0; p < 3; ++p) matrix_.row.push_back(3 * rows[r] + p);
      matrix_.start[3 * column + q + 1] = int(matrix_.row.size());
    }
  }
  matrix_.value.assign(matrix_.row.size(), 0.0);
  rank_.assign(rank.begin() + vertices, rank.end());
  pairs_ = {};
  recording_ = false;
}

void BlockAssembly::begin_values() {
  next_ = 0;
  std::fill(matrix_.value.begin(), matrix_.value.end(), 0.0);
}

void BlockAssembly::add(int i, int j, const Mat3& block) {
  const bool upper = i < j;
  const int column = upper ? i : j;
  if (recording_) {
    pairs_.push_back({upper ? j : i, column});
    return;
  }
  const int rank = rank_[next_++];
  for (int q = 0; q < 3; ++q) {
    double* value = matrix_.value.data() + matrix_.start[3 * column + q];
    if (rank == 0) {
      for (int p = q; p < 3; ++p) value[p - q] += block(p, q);
    } else {
      value += (3 - q) + 3 * (rank - 1);
      for (int p = 0; p < 3; ++p) value[p] += upper ? block(q, p) : block(p, q);
    }
  }
}

void BlockAssembly::add(int i, int j, double v) { add(i, j, Mat3::identity() * v); }

}  // namespace verve
