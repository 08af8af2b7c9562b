#include "linear/block_assembly.h"

#include <algorithm>
#include <numeric>

namespace verve {

void BlockAssembly::begin_pattern(int vertices) {
  recording_ = true;
  forget_values();
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
  places_.clear();
  for (size_t k = vertices; k < pairs_.size(); ++k) {
    const int* start = &matrix_.start[3 * pairs_[k].column];
    places_.push_back({start[0] + 3 * rank[k], start[1] - start[0]});
  }
  pairs_ = {};
  recording_ = false;
}

void BlockAssembly::begin_values() {
  next_ = kept_next_;
  if (kept_.empty()) {
    std::fill(matrix_.value.begin(), matrix_.value.end(), 0.0);
  } else {
    std::copy(kept_.begin(), kept_.end(), matrix_.value.begin());
  }
}

void BlockAssembly::keep_values() { kept_ = matrix_.value, kept_next_ = next_; }

void BlockAssembly::add(int i, int j, const Mat3& block) {
  if (recording_) {
    pairs_.push_back({std::max(i, j), std::min(i, j)});
    return;
  }
  const Place& place = places_[next_++];
  double* first = matrix_.value.data() + place.first;
  double *second = first + place.column_size - 1, *third = second + place.column_size - 2;
  const auto add_columns = [&](const Vec3& a, const Vec3& b, const Vec3& c) {
    first[0] += a.x, first[1] += a.y, first[2] += a.z;
    second[0] += b.x, second[1] += b.y, second[2] += b.z;
    third[0] += c.x, third[1] += c.y, third[2] += c.z;
  };
  if (i == j) {
    first[0] += block(0, 0), first[1] += block(1, 0), first[2] += block(2, 0);
    second[1] += block(1, 1), second[2] += block(2, 1);
    third[2] += block(2, 2);
  } else if (i > j) {
    add_columns(block.col[0], block.col[1], block.col[2]);
  } else {
    const Mat3 t = transpose(block);
    add_columns(t.col[0], t.col[1], t.col[2]);
  }
}

void BlockAssembly::add(int i, int j, double v) { add(i, j, Mat3::identity() * v); }

}  // namespace verve
