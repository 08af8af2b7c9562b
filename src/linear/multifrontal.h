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
    size_t offset;  // in stack_
  };
  void assemble(const SymmetricMatrix& matrix, const Symbolic& symbolic, const double* scale, int node, double* update);
  void add_child(const Symbolic& symbolic, const Update& child, const Supernode& node, double* update);

  // entries of the matrix by supernode: where they are and where in the front's columns they go
  std::vector<int> entry_start_, entry_, entry_slot_;
  std::vector<int> local_;           // row -> row of the front at hand
  Aligned<double> columns_, stack_;  // of the front at hand; update matrices that wait for their parents
  size_t stack_base_ = 0;
  std::vector<Update> waiting_;
  std::vector<double*> trailing_;
  PanelScratch scratch_;
};

}  // namespace verve
