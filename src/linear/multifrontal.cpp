#include "linear/multifrontal.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace verve {

namespace {

size_t square(int n) { return size_t(n) * n; }

}  // namespace

void Multifrontal::analyze(const SymmetricMatrix& pattern, const Symbolic& symbolic) {
  const int n = symbolic.size, count = int(symbolic.nodes.size());
  std::vector<int> position(n), node_of(n);
  for (int k = 0; k < n; ++k) position[symbolic.order[k]] = k;
  for (int s = 0; s < count; ++s) std::fill_n(node_of.begin() + symbolic.nodes[s].first, symbolic.nodes[s].width, s);

  // entries by supernode
  const auto for_entries = [&](auto&& f) {
    for (int c = 0; c < n; ++c) {
      for (int k = pattern.start[c]; k < pattern.start[c + 1]; ++k) {
        const int a = position[c], b = position[pattern.row[k]];
        f(k, std::max(a, b), std::min(a, b));
      }
    }
  };
  entry_start_.assign(count + 1, 0);
  for_entries([&](int, int, int j) { ++entry_start_[node_of[j] + 1]; });
  std::partial_sum(entry_start_.begin(), entry_start_.end(), entry_start_.begin());
  entry_.resize(pattern.row.size());
  entry_slot_.resize(pattern.row.size());
  std::vector<int> next(entry_start_.begin(), entry_start_.end() - 1);
  for_entries([&](int k, int i, int j) {
    const Supernode& node = symbolic.nodes[node_of[j]];
    const int* rows = &symbolic.row[node.row_start];
    const int local = int(std::lower_bound(rows, rows + node.rows, i) - rows);
    const int place = next[node_of[j]]++;
    entry_[place] = k;
    entry_slot_[place] = local + (j - node.first) * node.rows;
  });

  // memory: the largest front and the deepest stack, met by going through the motions
  size_t columns = 0, top = 0, peak = 0;
  int most_rows = 0, widest = 0;
  waiting_.clear();
  size_t most_waiting = 0;
  for (int s = 0; s < count; ++s) {
    const Supernode& node = symbolic.nodes[s];
    columns = std::max(columns, size_t(node.rows) * node.width);
    most_rows = std::max(most_rows, node.rows);
    widest = std::max(widest, node.width);
    peak = std::max(peak, top + square(node.below()));
    while (!waiting_.empty() && symbolic.nodes[waiting_.back().node].parent == s) {
      top = waiting_.back().offset;
      waiting_.pop_back();
    }
    waiting_.push_back({s, top});
    most_waiting = std::max(most_waiting, waiting_.size());
    top += square(node.below());
  }
  waiting_.clear();
  waiting_.reserve(most_waiting);
  stack_base_ = widest;  // trailing_ points up to a front's width before its update matrix
  columns_.resize(columns);
  stack_.resize(stack_base_ + peak);
  trailing_.resize(most_rows);
  local_.resize(n);
  scratch_.reserve(most_rows);
}

void Multifrontal::assemble(const SymmetricMatrix& matrix, const Symbolic& symbolic, const double* scale, int s,
                            double* update) {
  const Supernode& node = symbolic.nodes[s];
  const int* rows = &symbolic.row[node.row_start];
  const int below = node.below();
  double* front = columns_.data();
  std::fill_n(front, size_t(node.rows) * node.width, 0.0);
  for (int j = 0; j < below; ++j) std::fill_n(update + size_t(j) * below + j, below - j, 0.0);
  for (int k = 0; k < node.rows; ++k) local_[rows[k]] = k;
  for (int e = entry_start_[s]; e < entry_start_[s + 1]; ++e) {
    const int slot = entry_slot_[e], j = slot / node.rows, i = slot - j * node.rows;
    front[slot] += matrix.value[entry_[e]] * scale[rows[i]] * scale[node.first + j];
  }
}

/// Extend-add.
void Multifrontal::add_child(const Symbolic& symbolic, const Update& child, const Supernode& node, double* update) {
  const Supernode& c = symbolic.nodes[child.node];
  const int* rows = &symbolic.row[c.row_start + c.width];
  const int size = c.below(), below = node.below();
  const double* from = stack_.data() + child.offset;
  for (int j = 0; j < size; ++j, from += size) {
    const int column = local_[rows[j]];
    double* to = column < node.width ? columns_.data() + size_t(column) * node.rows
                                     : update + size_t(column - node.width) * below - node.width;
    for (int i = j; i < size; ++i) to[local_[rows[i]]] += from[i];
  }
}

bool Multifrontal::factorize(const SymmetricMatrix& matrix, const Symbolic& symbolic, const double* scale,
                             PanelSink& sink) {
  waiting_.clear();
  size_t top = stack_base_;
  for (int s = 0; s < int(symbolic.nodes.size()); ++s) {
    const Supernode& node = symbolic.nodes[s];
    const int below = node.below();
    double* update = stack_.data() + top;
    assemble(matrix, symbolic, scale, s, update);
    while (!waiting_.empty() && symbolic.nodes[waiting_.back().node].parent == s) {
      add_child(symbolic, waiting_.back(), node, update);
      top = waiting_.back().offset;
      waiting_.pop_back();
    }
    for (int offset = 0; offset < node.width; offset += widest_panel) {
      const int width = std::min(widest_panel, node.width - offset), next = offset + width;
      double* panel = columns_.data() + size_t(offset) * node.rows + offset;
      for (int j = next; j < node.width; ++j) trailing_[j - next] = columns_.data() + size_t(j) * node.rows + next;
      for (int j = 0; j < below; ++j)
        trailing_[node.width - next + j] = update + size_t(j) * below - (node.width - next);
      if (!eliminate_panel(panel, node.rows, node.rows - offset, width, trailing_.data(), scratch_)) return false;
      if (!sink.store(s, offset, width, panel, node.rows)) return false;
    }
    // the children's places are free: move down
    std::memmove(stack_.data() + top, update, square(below) * sizeof(double));
    waiting_.push_back({s, top});
    top += square(below);
  }
  return true;
}

size_t Multifrontal::memory() const {
  return (columns_.size() + stack_.size() + scratch_.packed_rows.size()) * sizeof(double) +
         (entry_.size() + entry_slot_.size() + local_.size()) * sizeof(int);
}

}  // namespace verve
