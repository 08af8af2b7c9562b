// The panels of a factor in one precision, and the solve.
#pragma once

#include <vector>

#include "linear/aligned.h"
#include "linear/multifrontal.h"
#include "linear/panels.h"
#include "linear/symbolic.h"
#include "verve/vec.h"

namespace verve {

/// Where panels lie and in which order they are worked on; the same for all precisions.
///
/// Tasks run at the same time. What a task adds to rows of the top it adds to rows of its own, behind the `size` rows
/// of the work vector; these are added to the top in the order of the tasks. So the bits of a solve do not depend on
/// the number of threads.
struct PanelPlan {
  struct Range {
    int begin, end;
  };
  int size = 0, work_rows = 0;
  int zero_row = 0;                 // read by the padding of panels; the next one is written by that of the top
  std::vector<Panel> panels;        // task by task, then the top; Panel::value is left to the factor
  std::vector<Range> tasks;         // panels
  std::vector<double> task_middle;  // of the work of all tasks, the fraction done when a task is half done
  Range top;
  std::vector<Range> outside;       // per task: rows of the work vector that stand for rows of the top
  std::vector<int> outside_target;  // the row of the top for each; those of a task begin at outside_start
  std::vector<size_t> outside_start;
  std::vector<int> target, row;  // Panel::index points in here; see PanelArrays
  std::vector<int> first_panel;  // of a supernode

  void set(const Symbolic& symbolic);
  /// Where a share of the tasks begins when there are so many shares.
  int first_task(int share, int shares) const;
};

template <class Stored>
class PanelFactor final : public PanelSink {
 public:
  using T = Computed<Stored>;

  void prepare(const PanelPlan& plan);
  /// False when a value is too large for the precision.
  bool store(int node, int offset, int width, const double* panel, int ld) override;
  /// b and x: `blocks` arrays, by row of the matrix; x may be b. Their rows: Vec4 or Float4.
  template <class From, class To>
  void solve(int blocks, const int* order, const double* scale, const From* const* b, To* const* x) const;
  void release() { value_.release(), work_.release(), sums_.release(), panels_ = {}; }
  size_t memory() const { return value_.size() * sizeof(Stored) + (work_.size() + sums_.size()) * sizeof(T); }

 private:
  /// Tiles of a large panel are dealt out in this many parts.
  static int parts(const Panel& panel);
  void forward_top(const PanelKernels<Stored>& kernels, int blocks) const;
  void backward_top(const PanelKernels<Stored>& kernels, int blocks) const;

  const PanelPlan* plan_ = nullptr;
  std::vector<Panel> panels_;
  Aligned<Stored> value_;
  mutable Aligned<T> work_, sums_;
};

}  // namespace verve
