#include "linear/multifrontal.h"

#include <algorithm>
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
  entry_row_.resize(pattern.row.size()), entry_column_.resize(pattern.row.size());
  std::vector<int> next(entry_start_.begin(), entry_start_.end() - 1);
  for_entries([&](int k, int i, int j) {
    const Supernode& node = symbolic.nodes[node_of[j]];
    const int* rows = &symbolic.row[node.row_start];
    const int local = int(std::lower_bound(rows, rows + node.rows, i) - rows);
    const int place = next[node_of[j]]++;
    entry_[place] = k;
    entry_row_[place] = local, entry_column_[place] = j - node.first;
  });

  side_.assign(count, 0);
  for (int s = count - 1; s >= 0; --s)
    if (const int parent = symbolic.nodes[s].parent; parent >= 0) side_[s] = !side_[parent];

  // memory: the largest front and the deepest stacks, met by going through the motions
  size_t columns = 0, top[2] = {0, 0}, peak[2] = {0, 0}, most_waiting[2] = {0, 0};
  int most_rows = 0, widest = 0;
  for (std::vector<Update>& waiting : waiting_) waiting.clear();
  for (int s = 0; s < count; ++s) {
    const Supernode& node = symbolic.nodes[s];
    columns = std::max(columns, size_t(node.rows) * node.width);
    most_rows = std::max(most_rows, node.rows);
    widest = std::max(widest, node.width);
    const int side = side_[s], other = !side;
    while (!waiting_[other].empty() && symbolic.nodes[waiting_[other].back().node].parent == s) {
      top[other] = waiting_[other].back().offset;
      waiting_[other].pop_back();
    }
    waiting_[side].push_back({s, top[side]});
    most_waiting[side] = std::max(most_waiting[side], waiting_[side].size());
    top[side] += square(node.below());
    peak[side] = std::max(peak[side], top[side]);
  }
  stack_base_ = widest;  // trailing_ points up to a front's width before its update matrix
  for (int side = 0; side < 2; ++side) {
    waiting_[side].clear();
    waiting_[side].reserve(most_waiting[side]);
    stack_[side].resize(stack_base_ + peak[side]);
  }
  columns_.resize(columns);
  trailing_.resize(most_rows);
  runs_.reserve(most_rows);
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
    const int i = entry_row_[e], j = entry_column_[e];
    front[i + size_t(j) * node.rows] += matrix.value[entry_[e]] * scale[rows[i]] * scale[node.first + j];
  }
}

/// Extend-add.
void Multifrontal::add_child(const Symbolic& symbolic, const Update& child, const Supernode& node, double* update) {
  const Supernode& c = symbolic.nodes[child.node];
  const int* rows = &symbolic.row[c.row_start + c.width];
  const int size = c.below(), below = node.below();
  runs_.clear();
  for (int i = 0; i < size; ++i) {
    const int place = local_[rows[i]];
    if (runs_.empty() || place != runs_.back().place + (i - runs_.back().begin)) runs_.push_back({i, i, place});
    runs_.back().end = i + 1;
  }
  const double* from = stack_[side_[child.node]].data() + child.offset;
  for (const Run& columns : runs_) {
    for (int j = columns.begin; j < columns.end; ++j, from += size) {
      const int column = columns.place + (j - columns.begin);
      double* to = column < node.width ? columns_.data() + size_t(column) * node.rows
                                       : update + size_t(column - node.width) * below - node.width;
      for (const Run* run = &columns; run != runs_.data() + runs_.size(); ++run) {
        const int begin = std::max(j, run->begin), count = run->end - begin;
        double* sum = to + run->place + (begin - run->begin);
        for (int i = 0; i < count; ++i) sum[i] += from[begin + i];
      }
    }
  }
}

bool Multifrontal::factorize(const SymmetricMatrix& matrix, const Symbolic& symbolic, const double* scale,
                             PanelSink& sink) {
  size_t top[2] = {stack_base_, stack_base_};
  for (std::vector<Update>& waiting : waiting_) waiting.clear();
  for (int s = 0; s < int(symbolic.nodes.size()); ++s) {
    const Supernode& node = symbolic.nodes[s];
    const int below = node.below(), side = side_[s], other = !side;
    double* update = stack_[side].data() + top[side];
    assemble(matrix, symbolic, scale, s, update);
    std::vector<Update>& children = waiting_[other];
    while (!children.empty() && symbolic.nodes[children.back().node].parent == s) {
      add_child(symbolic, children.back(), node, update);
      top[other] = children.back().offset;
      children.pop_back();
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
    waiting_[side].push_back({s, top[side]});
    top[side] += square(below);
  }
  return true;
}

size_t Multifrontal::memory() const {
  return (columns_.size() + stack_[0].size() + stack_[1].size() + scratch_.packed_rows.size()) * sizeof(double) +
         (entry_.size() + entry_row_.size() + entry_column_.size() + local_.size()) * sizeof(int);
}

}  // namespace verve
