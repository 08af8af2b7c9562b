#include "linear/block_fronts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/parallel.h"

namespace verve {

void BlockFronts::analyze(const SymmetricMatrix& pattern, const std::vector<int>& order) {
  symbolic_ = verve::analyze(pattern, order, Purpose::refactoring);
  const int count = int(symbolic_.nodes.size());
  fronts_.assign(count, {});
  most_rows_ = 0;
  size_t columns = 0, vectors = 0;
  std::vector<int> child_count(count + 1, 0);
  for (int s = 0; s < count; ++s) {
    const Supernode& node = symbolic_.nodes[s];
    Front& f = fronts_[s];
    f.first = 3 * node.first, f.width = 3 * node.width, f.rows = 3 * node.rows;
    f.ld_update = padded_rows(f.below());
    f.ld = f.width + f.ld_update;
    f.columns = columns, f.vector = vectors;
    columns += size_t(padded_rows(f.ld)) * f.width;
    vectors += padded_rows(f.rows) + float_padding;
    most_rows_ = std::max(most_rows_, f.rows);
    if (node.parent >= 0) ++child_count[node.parent];
  }
  int next = 0;
  for (int s = 0; s < count; ++s) fronts_[s].child_begin = fronts_[s].child_end = next, next += child_count[s];
  children_.resize(next);
  for (int s = 0; s < count; ++s)
    if (const int parent = symbolic_.nodes[s].parent; parent >= 0) children_[fronts_[parent].child_end++] = s;

  place_updates();
  find_runs();
  find_entries(pattern);
  columns_.resize(columns + 4 * float_padding), vectors_.resize(vectors), x_.resize(3 * size_t(symbolic_.size));
  std::fill_n(columns_.data(), columns_.size(), 0.0f);
  std::fill_n(updates_.data(), updates_.size(), 0.0f);
  std::fill_n(vectors_.data(), vectors_.size(), 0.0f);
  scale_.resize(symbolic_.size);
  scratch_.clear();
  task_middle_.clear();
  double sum = 0, done = 0;
  for (const double work : symbolic_.task_work) sum += work;
  for (const double work : symbolic_.task_work) task_middle_.push_back((done + 0.5 * work) / sum), done += work;
}

/// Update matrices wait for their parents on stacks: each task has two, and so has the top; those of nodes an even
/// number of levels below the root are on one, the others on the other, so that a front is written beside its children.
/// What a task leaves for the top stays where it is.
void BlockFronts::place_updates() {
  const int count = int(fronts_.size());
  std::vector<int> side(count, 0);
  for (int s = count - 1; s >= 0; --s)
    if (const int parent = symbolic_.nodes[s].parent; parent >= 0) side[s] = !side[parent];
  size_t base = 0;
  const auto place = [&](const std::vector<int>& nodes, int task) {
    // twice: the first time to find how high the first stack becomes
    size_t begin[2] = {base, base}, peak[2] = {base, base};
    for (int pass = 0; pass < 2; ++pass) {
      if (pass == 1) begin[1] = peak[0], peak[1] = begin[1];
      size_t top[2] = {begin[0], begin[1]};
      for (const int s : nodes) {
        Front& f = fronts_[s];
        f.update = top[side[s]];
        for (int c = f.child_begin; c < f.child_end; ++c) {
          const int child = children_[c];
          if (symbolic_.nodes[child].task == task) top[side[child]] = std::min(top[side[child]], fronts_[child].update);
        }
        top[side[s]] += size_t(f.ld_update) * f.below();
        peak[side[s]] = std::max(peak[side[s]], top[side[s]]);
      }
    }
    base = peak[1];
  };
  for (size_t t = 0; t < symbolic_.tasks.size(); ++t) place(symbolic_.tasks[t], int(t));
  place(symbolic_.top, -1);
  updates_.resize(base + float_padding);
}

void BlockFronts::find_runs() {
  runs_.clear();
  std::vector<int> local(symbolic_.size);
  for (int s = 0; s < int(fronts_.size()); ++s) {
    const Supernode& node = symbolic_.nodes[s];
    const int* rows = symbolic_.row.data() + node.row_start;
    for (int k = 0; k < node.rows; ++k) local[rows[k]] = k;
    for (int c = fronts_[s].child_begin; c < fronts_[s].child_end; ++c) {
      Front& child = fronts_[children_[c]];
      const Supernode& below = symbolic_.nodes[children_[c]];
      const int* child_rows = symbolic_.row.data() + below.row_start + below.width;
      child.run_begin = child.run_middle = int(runs_.size());
      for (int k = 0; k < below.below(); ++k) {
        const int place = local[child_rows[k]];
        const bool goes_on = int(runs_.size()) > child.run_begin && place != node.width &&
                             3 * place == runs_.back().place + (runs_.back().end - runs_.back().begin);
        if (!goes_on) runs_.push_back({3 * k, 3 * k, 3 * place});
        runs_.back().end = 3 * k + 3;
        if (place < node.width) child.run_middle = int(runs_.size());
      }
      child.run_end = int(runs_.size());
    }
  }
}

void BlockFronts::find_entries(const SymmetricMatrix& pattern) {
  const int n = symbolic_.size;
  std::vector<int> position(n), node_of(n);
  for (int k = 0; k < n; ++k) position[symbolic_.order[k]] = k;
  for (size_t s = 0; s < symbolic_.nodes.size(); ++s)
    std::fill_n(node_of.begin() + symbolic_.nodes[s].first, symbolic_.nodes[s].width, int(s));
  std::vector<std::vector<Entry>> by_node(symbolic_.nodes.size());
  for (int c = 0; c < n; ++c) {
    for (int k = pattern.start[c]; k < pattern.start[c + 1]; ++k) {
      const int a = position[pattern.row[k]], b = position[c], i = std::max(a, b), j = std::min(a, b);
      const Supernode& node = symbolic_.nodes[node_of[j]];
      const int* rows = symbolic_.row.data() + node.row_start;
      const int local = int(std::lower_bound(rows, rows + node.rows, i) - rows);
      by_node[node_of[j]].push_back({k, local, j - node.first, a < b});
    }
  }
  entries_.clear();
  for (size_t s = 0; s < by_node.size(); ++s) {
    fronts_[s].entry_begin = int(entries_.size());
    entries_.insert(entries_.end(), by_node[s].begin(), by_node[s].end());
    fronts_[s].entry_end = int(entries_.size());
  }
}

bool BlockFronts::find_scale(const BlockMatrix& m) {
  for (int v = 0; v < m.size; ++v) {
    const double* block = m.value.data() + 9 * size_t(m.start[v]);
    const double largest = std::max({block[0], block[4], block[8]});
    if (!(block[0] > 0 && block[4] > 0 && block[8] > 0) || !std::isfinite(block[0] + block[4] + block[8])) return false;
    // as ldexp(1, -((ilogb(largest) + 1) >> 1)), from the bits
    const int exponent = int(std::bit_cast<std::uint64_t>(largest) >> 52) - 1022;
    scale_[v] = std::bit_cast<double>(std::uint64_t(1023 - (exponent >> 1)) << 52);
  }
  return true;
}

void BlockFronts::load_entries(const BlockMatrix& m, const Front& f) {
  float* columns = columns_.data() + f.columns;
  const int* order = symbolic_.order.data();
  const int* rows = symbolic_.row.data() + symbolic_.nodes[&f - fronts_.data()].row_start;
  for (int e = f.entry_begin; e < f.entry_end; ++e) {
    const Entry& entry = entries_[e];
    const double* value = m.value.data() + 9 * size_t(entry.block);
    const double scale = scale_[order[rows[entry.row]]] * scale_[order[rows[entry.column]]];
    float number[9];
    for (int k = 0; k < 9; ++k) number[k] = float(value[k] * scale);
    if (entry.turned) std::swap(number[1], number[3]), std::swap(number[2], number[6]), std::swap(number[5], number[7]);
    float* to = columns + 3 * size_t(entry.column) * f.ld + 3 * entry.row;
    for (int q = 0; q < 3; ++q, to += f.ld) to[0] = number[3 * q], to[1] = number[3 * q + 1], to[2] = number[3 * q + 2];
  }
}

/// The diagonal of D^-1 has the roots of the inverse pivots.
float BlockFronts::largest_loss(const BlockMatrix& m, int s) const {
  const Front& f = fronts_[s];
  const int* order = symbolic_.order.data() + symbolic_.nodes[s].first;
  const float* root = columns_.data() + f.columns;
  float loss = 0;
  for (int j = 0; j < f.width; j += 3) {
    const int v = order[j / 3];
    const double* block = m.value.data() + 9 * size_t(m.start[v]);
    const double unit = scale_[v] * scale_[v];
    for (int a = 0; a < 3; ++a, root += f.ld + 1) loss = std::max(loss, float(block[4 * a] * unit) * *root * *root);
  }
  return loss;
}

bool BlockFronts::eliminate(const BlockMatrix& matrix, int s, int share) {
  BlockScratch& scratch = *scratch_[share];
  const BlockKernels& kernels = block_kernels();
  const Front& f = fronts_[s];
  float *columns = columns_.data() + f.columns, *update = updates_.data() + f.update;
  std::fill_n(columns, size_t(f.ld) * f.width, 0.0f);
  load_entries(matrix, f);
  for (int c = f.child_begin; c < f.child_end; ++c) {
    const Front& child = fronts_[children_[c]];
    kernels.extend_add(updates_.data() + child.update, child.ld_update, runs_.data(), child.run_begin, child.run_middle,
                       child.run_end, columns, f.ld, 0, 0);
  }
  // One panel alone writes its update matrix rather than to change zeros, and without regard to rows that are none.
  const bool fresh = f.width <= widest_panel;
  const int below = f.below();
  if (!fresh)
    for (int j = 0; j < below; ++j) std::fill_n(update + size_t(j) * f.ld_update + j, below - j, 0.0f);
  for (int offset = 0; offset < f.width; offset += widest_panel) {
    const int width = std::min(widest_panel, f.width - offset), next = offset + width;
    for (int j = next; j < f.width; ++j) scratch.trailing[j - next] = columns + size_t(j) * f.ld + next;
    for (int j = 0; j < below; ++j)
      scratch.trailing[f.width - next + j] = update + size_t(j) * f.ld_update - (f.width - next);
    if (!kernels.eliminate(columns + size_t(offset) * f.ld + offset, f.ld, f.rows - offset, width, fresh, scratch))
      return false;
  }
  loss_[share] = std::max(loss_[share], largest_loss(matrix, s));
  for (int c = f.child_begin; c < f.child_end; ++c) {
    const Front& child = fronts_[children_[c]];
    kernels.extend_add(updates_.data() + child.update, child.ld_update, runs_.data(), child.run_middle, child.run_end,
                       child.run_end, update, f.ld_update, f.width, f.width);
  }
  return true;
}

template <class F>
void BlockFronts::for_tasks(bool upward, F&& function) {
  const int tasks = int(symbolic_.tasks.size()), shares = std::min(threads(), tasks);
  const auto first_task = [&](int share) {
    int t = 0;
    while (t < tasks && task_middle_[t] * shares < share) ++t;
    return t;
  };
  parallel_tasks(shares, [&](int share) {
    const int begin = first_task(share), end = first_task(share + 1);
    for (int t = begin; t < end; ++t) {
      const std::vector<int>& nodes = symbolic_.tasks[t];
      if (upward) {
        for (const int s : nodes) function(s, share);
      } else {
        for (size_t k = nodes.size(); k-- > 0;) function(nodes[k], share);
      }
    }
  });
}

Definite BlockFronts::factorize(const BlockMatrix& matrix) {
  const size_t shares = size_t(std::max(1, std::min(threads(), int(symbolic_.tasks.size()))));
  if (scratch_.size() < shares) {
    failed_.resize(shares), loss_.resize(shares);
    while (scratch_.size() < shares) {
      scratch_.push_back(std::make_unique<BlockScratch>());
      scratch_.back()->reserve(most_rows_);
    }
  }
  if (!find_scale(matrix)) return Definite::no;
  std::fill(failed_.begin(), failed_.end(), 0);
  std::fill(loss_.begin(), loss_.end(), 0.0f);
  for_tasks(true, [&](int s, int share) {
    if (!failed_[share] && !eliminate(matrix, s, share)) failed_[share] = 1;
  });
  for (const char failed : failed_)
    if (failed) return Definite::unknown;
  for (const int s : symbolic_.top)
    if (!eliminate(matrix, s, 0)) return Definite::unknown;
  loss_[0] = *std::max_element(loss_.begin(), loss_.end());
  return Definite::yes;
}

void BlockFronts::forward(int s) {
  const BlockKernels& kernels = block_kernels();
  const Front& f = fronts_[s];
  float* x = vectors_.data() + f.vector;
  std::copy_n(x_.data() + f.first, f.width, x);
  std::fill_n(x + f.width, f.below() + float_padding, 0.0f);  // vectors are read as wholes
  for (int c = f.child_begin; c < f.child_end; ++c) {
    const Front& child = fronts_[children_[c]];
    const float* from = vectors_.data() + child.vector + child.width;
    for (int r = child.run_begin; r < child.run_end; ++r) {
      const FrontRun& run = runs_[r];
      float* to = x + run.place - run.begin;
      for (int i = run.begin; i < run.end; ++i) to[i] += from[i];
    }
  }
  const float* columns = columns_.data() + f.columns;
  for (int offset = 0; offset < f.width; offset += widest_panel)
    kernels.forward(columns + size_t(offset) * f.ld + offset, f.ld, f.rows - offset,
                    std::min(widest_panel, f.width - offset), x + offset);
}

void BlockFronts::backward(int s) {
  const BlockKernels& kernels = block_kernels();
  const Front& f = fronts_[s];
  const Supernode& node = symbolic_.nodes[s];
  const int* rows = symbolic_.row.data() + node.row_start;
  float* x = vectors_.data() + f.vector;  // its columns are those that forward has left
  for (int k = node.width; k < node.rows; ++k)
    for (int a = 0; a < 3; ++a) x[3 * k + a] = x_.data()[3 * size_t(rows[k]) + a];
  const float* columns = columns_.data() + f.columns;
  for (int offset = (f.width - 1) / widest_panel * widest_panel; offset >= 0; offset -= widest_panel)
    kernels.backward(columns + size_t(offset) * f.ld + offset, f.ld, f.rows - offset,
                     std::min(widest_panel, f.width - offset), x + offset);
  std::copy_n(x, f.width, x_.data() + f.first);
}

void BlockFronts::solve(const Vec4* b, Vec4* x) {
  const int n = symbolic_.size;
  // a power of two on the whole, so that no unit and no residual is too large or small for float
  double largest = 0;
  for (int v = 0; v < n; ++v)
    largest = std::max(largest, scale_[v] * std::max({std::abs(b[v].x), std::abs(b[v].y), std::abs(b[v].z)}));
  const double unit = largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest)) : 1;
  for (int k = 0; k < n; ++k) {
    const int v = symbolic_.order[k];
    const double s = scale_[v] / unit;
    float* to = x_.data() + 3 * size_t(k);
    to[0] = float(b[v].x * s), to[1] = float(b[v].y * s), to[2] = float(b[v].z * s);
  }
  for_tasks(true, [&](int s, int) { forward(s); });
  for (const int s : symbolic_.top) forward(s);
  for (size_t k = symbolic_.top.size(); k-- > 0;) backward(symbolic_.top[k]);
  for_tasks(false, [&](int s, int) { backward(s); });
  for (int k = 0; k < n; ++k) {
    const int v = symbolic_.order[k];
    const double s = scale_[v] * unit;
    const float* from = x_.data() + 3 * size_t(k);
    x[v] = Vec4(from[0] * s, from[1] * s, from[2] * s);
  }
}

size_t BlockFronts::memory() const {
  return (columns_.size() + updates_.size() + vectors_.size() + x_.size()) * sizeof(float) +
         entries_.size() * sizeof(Entry) + runs_.size() * sizeof(FrontRun);
}

}  // namespace verve
