#include "linear/block_assembly.h"

#include <algorithm>
#include <numeric>

namespace verve {

SymmetricMatrix BlockMatrix::pattern() const { return {size, start, row, std::vector<double>(row.size(), 0.0)}; }

void expand(const BlockMatrix& matrix, SymmetricMatrix& out) {
  // columns of the same vertex follow each other, the second and the third without what is above the diagonal
  const int blocks = int(matrix.row.size());
  out.size = 3 * matrix.size;
  out.start.resize(out.size + 1);
  out.row.resize(9 * size_t(blocks) - 3 * size_t(matrix.size));
  out.value.resize(out.row.size());
  int next = 0;
  out.start[0] = 0;
  for (int c = 0; c < matrix.size; ++c) {
    for (int q = 0; q < 3; ++q) {
      for (int k = matrix.start[c]; k < matrix.start[c + 1]; ++k)
        for (int p = k == matrix.start[c] ? q : 0; p < 3; ++p, ++next)
          out.row[next] = 3 * matrix.row[k] + p, out.value[next] = matrix.value[9 * size_t(k) + 3 * q + p];
      out.start[3 * c + q + 1] = next;
    }
  }
}

void BlockAssembly::begin_pattern(int vertices) {
  recording_ = true;
  forget_values();
  pairs_.clear();
  matrix_ = {};
  matrix_.size = vertices;
  for (int v = 0; v < vertices; ++v)
    pairs_.push_back({v, v, false});  // every diagonal block, wherever it is added first
}

void BlockAssembly::finish_pattern() {
  std::vector<int> order(pairs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Pair &p = pairs_[a], &q = pairs_[b];
    return p.column != q.column ? p.column < q.column : p.row < q.row;
  });
  std::vector<int> block(pairs_.size());
  matrix_.start.assign(matrix_.size + 1, 0);
  for (size_t k = 0; k < order.size(); ++k) {
    const Pair& p = pairs_[order[k]];
    const bool same = k > 0 && pairs_[order[k - 1]].column == p.column && pairs_[order[k - 1]].row == p.row;
    if (!same) matrix_.row.push_back(p.row);
    block[order[k]] = int(matrix_.row.size()) - 1;
    matrix_.start[p.column + 1] = int(matrix_.row.size());
  }
  matrix_.value.assign(9 * matrix_.row.size() + 3, 0.0);
  places_.clear();
  for (size_t k = matrix_.size; k < pairs_.size(); ++k) places_.push_back({9 * block[k], pairs_[k].turned});
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
    pairs_.push_back({std::max(i, j), std::min(i, j), i < j});
    return;
  }
  const Place& place = places_[next_++];
  double* to = matrix_.value.data() + place.first;
  for (int q = 0; q < 3; ++q)
    for (int p = 0; p < 3; ++p) to[3 * q + p] += place.turned ? block(q, p) : block(p, q);
}

void BlockAssembly::add(int i, int j, double v) { add(i, j, Mat3::identity() * v); }

void BlockAssembly::add_elements(const double* value, int stride, int elements, int pairs) {
  double* matrix = matrix_.value.data();
  const Place* place = places_.data() + next_;
  next_ += size_t(elements) * pairs;
  for (int e = 0; e < elements; ++e) {
    const double* from = value + e;
    for (int p = 0; p < pairs; ++p, ++place, from += 9 * size_t(stride)) {
      double* to = matrix + place->first;
      const size_t s = stride;
      // the middle row and column apart, the turned block has its numbers 1 and 3, 2 and 6, 5 and 7 exchanged
      const size_t a = place->turned ? 3 : 1, b = place->turned ? 6 : 2, c = place->turned ? 7 : 5;
      to[0] += from[0], to[1] += from[a * s], to[2] += from[b * s];
      to[3] += from[(4 - a) * s], to[4] += from[4 * s], to[5] += from[c * s];
      to[6] += from[(8 - b) * s], to[7] += from[(12 - c) * s], to[8] += from[8 * s];
    }
  }
}

}  // namespace verve
