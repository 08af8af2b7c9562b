#include "linear/panel_factor.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace verve {

void PanelPlan::set(const Symbolic& symbolic) {
  *this = {};
  size = symbolic.size;
  first_panel.resize(symbolic.nodes.size());
  std::vector<int> node_of(size);
  for (size_t s = 0; s < symbolic.nodes.size(); ++s)
    std::fill_n(node_of.begin() + symbolic.nodes[s].first, symbolic.nodes[s].width, int(s));

  zero_row = size;
  const int top_spill = size + 1;
  work_rows = size + 2;
  std::vector<int> place(size, -1);  // of a row of the top among the task's outside rows
  const auto add_nodes = [&](const std::vector<int>& nodes, int task, int spill) {
    const int begin = int(panels.size());
    const auto is_outside = [&](int r) { return task >= 0 && symbolic.nodes[node_of[r]].task < 0; };
    for (const int s : nodes) {
      const Supernode& node = symbolic.nodes[s];
      const size_t index = row.size();
      row.insert(row.end(), &symbolic.row[node.row_start], &symbolic.row[node.row_start] + node.rows);
      row.insert(row.end(), row_padding, zero_row);
      for (int k = 0; k < node.rows; ++k) {
        const int r = row[index + k];
        if (is_outside(r) && place[r] < 0) place[r] = work_rows++, outside_target.push_back(r);
        target.push_back(is_outside(r) ? place[r] : r);
      }
      target.insert(target.end(), row_padding, spill);
      first_panel[s] = int(panels.size());
      for (int offset = 0; offset < node.width; offset += widest_panel)
        panels.push_back(
            {node.first + offset, std::min(widest_panel, node.width - offset), node.rows - offset, index + offset, 0});
    }
    return Range{begin, int(panels.size())};
  };
  for (size_t t = 0; t < symbolic.tasks.size(); ++t) {
    // on cache lines of their own, since all tasks write at the same time
    work_rows = (work_rows + 7) / 8 * 8;
    const int spill = work_rows++;
    outside_start.push_back(outside_target.size());
    outside_target.push_back(top_spill);
    tasks.push_back(add_nodes(symbolic.tasks[t], int(t), spill));
    outside.push_back({spill, work_rows});
    for (size_t k = outside_start[t] + 1; k < outside_target.size(); ++k) place[outside_target[k]] = -1;
  }
  top = add_nodes(symbolic.top, -1, top_spill);
  double sum = 0, done = 0;
  for (const double work : symbolic.task_work) sum += work;
  for (const double work : symbolic.task_work) {
    task_middle.push_back((done + 0.5 * work) / sum);
    done += work;
  }
}

int PanelPlan::first_task(int share, int shares) const {
  int t = 0;
  while (t < int(task_middle.size()) && task_middle[t] * shares < share) ++t;
  return t;
}

template <class Stored>
int PanelFactor<Stored>::parts(const Panel& panel) {
  // a power of two, so that two, four or eight threads have the same number each
  int count = 1;
  while (2 * count <= std::min(16, tile_count<Stored>(panel)) &&
         double(panel.rows) * panel.width >= 2 * count * shared_part_values)
    count *= 2;
  return count;
}

template <class Stored>
void PanelFactor<Stored>::prepare(const PanelPlan& plan) {
  plan_ = &plan;
  panels_ = plan.panels;
  size_t values = 0, sums = 0;
  for (Panel& p : panels_) {
    p.value = values;
    for (int t = 0; t < tile_count<Stored>(p); ++t)
      values += size_t(tile_rows<Stored>(p, t)) * tile_columns<Stored>(p, t);
    values = (values + 31) / 32 * 32;  // whole cache lines
    sums = std::max(sums, parts(p) * panel_sums<Stored>(p.width, 2));
  }
  value_.resize(values);
  work_.resize(size_t(plan.work_rows) * 8);
  sums_.resize(sums);
}

template <class Stored>
bool PanelFactor<Stored>::store(int node, int offset, int width, const double* panel, int ld) {
  const Panel& p = panels_[plan_->first_panel[node] + offset / widest_panel];
  Stored* out = value_.data() + p.value;
  bool finite = true;
  for (int t = 0; t < tile_count<Stored>(p); ++t) {
    const int first = t * panel_tile<Stored>, height = tile_rows<Stored>(p, t), columns = tile_columns<Stored>(p, t);
    const int used = std::min(height, p.rows - first);
    for (int j = 0; j < columns; ++j, out += height) {
      const double* column = panel + size_t(j) * ld + first;
      for (int i = 0; i < used; ++i) {
        const double value = first + i == j ? column[i] - 1 : column[i];
        out[i] = Stored(T(value));
        if constexpr (std::is_same_v<Stored, Half>) {
          finite &= out[i].is_finite();
        } else {
          finite &= std::isfinite(out[i]);
        }
      }
      std::fill(out + used, out + height, Stored(T(0)));
    }
  }
  static_cast<void>(width);
  return finite;
}

template <class Stored>
void PanelFactor<Stored>::forward_top(const PanelKernels<Stored>& kernels, int blocks) const {
  const PanelArrays<Stored> arrays{value_.data(), plan_->target.data(), plan_->row.data()};
  T* x = work_.data();
  for (int k = plan_->top.begin; k < plan_->top.end;) {
    const Panel& p = panels_[k];
    const int count = parts(p), tiles = tile_count<Stored>(p);
    if (count == 1) {
      int end = k + 1;
      while (end < plan_->top.end && parts(panels_[end]) == 1) ++end;
      kernels.forward(arrays, &panels_[k], panels_.data() + end, x);
      k = end;
      continue;
    }
    std::copy_n(x + size_t(p.first) * 4 * blocks, size_t(4) * blocks * p.width, sums_.data());
    parallel_tasks(count, [&](int part) {
      kernels.forward_tiles(arrays, p, tiles * part / count, tiles * (part + 1) / count, sums_.data(), x);
    });
    ++k;
  }
}

template <class Stored>
void PanelFactor<Stored>::backward_top(const PanelKernels<Stored>& kernels, int blocks) const {
  const PanelArrays<Stored> arrays{value_.data(), plan_->target.data(), plan_->row.data()};
  T* x = work_.data();
  for (int k = plan_->top.end; k > plan_->top.begin;) {
    const Panel& p = panels_[k - 1];
    const int count = parts(p), tiles = tile_count<Stored>(p);
    if (count == 1) {
      int begin = k - 1;
      while (begin > plan_->top.begin && parts(panels_[begin - 1]) == 1) --begin;
      kernels.backward(arrays, &panels_[begin], panels_.data() + k, x);
      k = begin;
      continue;
    }
    parallel_tasks(count, [&](int part) {
      kernels.backward_tiles(arrays, p, tiles * part / count, tiles * (part + 1) / count, x,
                             sums_.data() + part * panel_sums<Stored>(p.width, blocks));
    });
    kernels.finish(p, sums_.data(), count, x);
    --k;
  }
}

template <class Stored>
template <class From, class To>
void PanelFactor<Stored>::solve(int blocks, const int* order, const double* scale, const From* const* b,
                                To* const* x) const {
  const PanelKernels<Stored>& kernels = panel_kernels<Stored>(blocks);
  const PanelArrays<Stored> arrays{value_.data(), plan_->target.data(), plan_->row.data()};
  const PanelPlan& plan = *plan_;
  const int stride = 4 * blocks, tasks = int(plan.tasks.size());
  // neighbouring tasks with an even share of the work go to each thread
  const auto for_tasks = [&](auto&& run) {
    const int shares = std::min(threads(), tasks);
    parallel_tasks(shares, [&](int share) {
      for (int t = plan.first_task(share, shares); t < plan.first_task(share + 1, shares); ++t) run(t);
    });
  };
  T* work = work_.data();
  const auto panel = [&](int k) { return panels_.data() + k; };
  const auto load = [&](int begin, int end) {
    if constexpr (std::is_same_v<From, Vec4>) {
      kernels.load(panel(begin), panel(end), order, scale, b, work);
    } else {
      kernels.load_narrow(panel(begin), panel(end), order, scale, b, work);
    }
  };
  const auto store = [&](int begin, int end) {
    if constexpr (std::is_same_v<To, Vec4>) {
      kernels.store(panel(begin), panel(end), order, scale, work, x);
    } else {
      kernels.store_narrow(panel(begin), panel(end), order, scale, work, x);
    }
  };

  // padding: what is read is zero, what is written is forgotten, also when it is not finite
  std::fill_n(work + size_t(plan.zero_row) * stride, 2 * stride, T(0));
  load(plan.top.begin, plan.top.end);
  for_tasks([&](int t) {
    const auto [begin, end] = plan.tasks[t];
    load(begin, end);
    std::fill(work + size_t(plan.outside[t].begin) * stride, work + size_t(plan.outside[t].end) * stride, T(0));
    kernels.forward(arrays, panel(begin), panel(end), work);
  });
  for (int t = 0; t < tasks; ++t) {
    const auto [begin, end] = plan.outside[t];
    kernels.add_rows(work + size_t(begin) * stride, &plan.outside_target[plan.outside_start[t]], end - begin, work);
  }
  forward_top(kernels, blocks);

  backward_top(kernels, blocks);
  store(plan.top.begin, plan.top.end);
  for_tasks([&](int t) {
    const auto [begin, end] = plan.tasks[t];
    kernels.backward(arrays, panel(begin), panel(end), work);
    store(begin, end);
  });
}

#define VERVE_SOLVE(Stored, From, To) \
  template void PanelFactor<Stored>::solve(int, const int*, const double*, const From* const*, To* const*) const;
#define VERVE_PANEL_FACTOR(Stored)    \
  template class PanelFactor<Stored>; \
  VERVE_SOLVE(Stored, Vec4, Vec4)     \
  VERVE_SOLVE(Stored, Vec4, Float4)   \
  VERVE_SOLVE(Stored, Float4, Float4)
VERVE_PANEL_FACTOR(double)
VERVE_PANEL_FACTOR(float)
VERVE_PANEL_FACTOR(Half)
#undef VERVE_PANEL_FACTOR
#undef VERVE_SOLVE

}  // namespace verve
