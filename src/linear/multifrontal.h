// Numeric factorisation in double, one dense front per supernode (Duff and Reid 1983; Liu 1992).
#pragma once

#include <vector>

#include "linear/aligned.h"
#include "linear/front_kernel.h"
#include "linear/panels.h"
#include "linear/sparse.h"
#include "linear/symbolic.h"

namespace verve {

/// Receives the panels of the factor, see eliminate_panel, as they come into being.
class PanelSink {
 public:
  virtual ~PanelSink() = default;
  /// Columns [offset, offset + width) of a supernode; the rows before `offset` are left out.
  virtual bool store(int node, int offset, int width, const double* panel, int ld) = 0;
};

/// The columns of L themselves are not kept: a front hands its update matrix to its parent by way of a stack, and its
/// panels to the sink.
class Multifrontal {
 public:
  void analyze(const SymmetricMatrix& pattern, const Symbolic& symbolic);
  /// Of the matrix with rows and columns multiplied by `scale` (by position). False when the matrix is not positive
  /// definite or the sink refuses.
  bool factorize(const SymmetricMatrix& matrix, const Symbolic& symbolic, const double* scale, PanelSink& sink);
  size_t memory() const;

 private:
  struct Update {
    int node;
    size_t offset;  // in its stack
  };
  /// Rows [begin, end) of an update matrix are neighbours in the parent's front as well, the first at `place`.
  struct Run {
    int begin, end, place;
  };
  void assemble(const SymmetricMatrix& matrix, const Symbolic& symbolic, const double* scale, int node, double* update);
  void add_child(const Symbolic& symbolic, const Update& child, const Supernode& node, double* update);

  // entries of the matrix by supernode: where they are and where in the front's columns they go
  std::vector<int> entry_start_, entry_, entry_row_, entry_column_;
  std::vector<int> local_;   // row -> row of the front at hand
  std::vector<Run> runs_;    // of the child at hand
  Aligned<double> columns_;  // of the front at hand
  // Update matrices that wait for their parents: those of nodes an even number of levels below the root on one stack,
  // the others on the other. So a front is written beside its children, not above them.
  Aligned<double> stack_[2];
  std::vector<Update> waiting_[2];
  std::vector<int> side_;  // of a node
  size_t stack_base_ = 0;
  std::vector<double*> trailing_;
  PanelScratch scratch_;
};

}  // namespace verve
