#include <algorithm>
#include <numeric>

#include "linear/sparse.h"

namespace verve {

void SymmetricAssembly::begin_pattern(int size) {
  recording_ = true;
  entries_.clear();
  matrix_ = {};
  matrix_.size = size;
}

void SymmetricAssembly::finish_pattern() {
  std::vector<int> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Entry &p = entries_[a], &q = entries_[b];
    return p.column != q.column ? p.column < q.column : p.row < q.row;
  });
  slot_.resize(entries_.size());
  matrix_.start.assign(matrix_.size + 1, 0);
  const Entry* last = nullptr;
  for (const int k : order) {
    const Entry& e = entries_[k];
    if (!last || last->row != e.row || last->column != e.column) {
      matrix_.row.push_back(e.row);
      matrix_.value.push_back(0);
      ++matrix_.start[e.column + 1];
      last = &e;
    }
    slot_[k] = int(matrix_.row.size()) - 1;
  }
  for (int c = 0; c < matrix_.size; ++c) matrix_.start[c + 1] += matrix_.start[c];
  // in the order of emission, as in every later pass: the same bits
  for (size_t k = 0; k < entries_.size(); ++k) matrix_.value[slot_[k]] += entries_[k].value;
  entries_ = {};
  recording_ = false;
}

void SymmetricAssembly::begin_values() {
  next_ = 0;
  std::fill(matrix_.value.begin(), matrix_.value.end(), 0.0);
}

}  // namespace verve
