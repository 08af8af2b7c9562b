// Dense kernels of BlockCholesky in float, compiled for every SIMD target and chosen at run time.
#pragma once

#include <vector>

#include "linear/aligned.h"
#include "linear/block_assembly.h"
#include "linear/symbolic.h"
#include "verve/vec.h"

namespace verve {

/// Floats that the end of a column may be written beyond its rows: the longest vector of any target.
constexpr int float_padding = 16;
inline int padded_rows(int rows) { return (rows + float_padding - 1) / float_padding * float_padding; }

/// Scratch memory of one thread, kept so that nothing is allocated in a refactorisation.
struct BlockScratch {
  Aligned<float> diagonal, inverse, packed_rows, packed_inverse;
  std::vector<float*> trailing;
  void reserve(int rows);
};

/// Rows [begin, end) of an update matrix are neighbours in the parent's front as well, the first at `place`.
struct FrontRun {
  int begin, end, place;
};

struct BlockKernels {
  /// As eliminate_panel (front_kernel.h), but the panel becomes [D^-1; B]: for a single solve the product B D^-1 does
  /// not pay. `fresh`: the trailing part becomes -B B^T, whatever was there; columns of it and of the panel then have
  /// room for whole vectors from their first row below the panel on.
  bool (*eliminate)(float* panel, int ld, int rows, int width, bool fresh, BlockScratch& scratch);
  /// Extend-add: columns of runs [first, last) of an update matrix and all their rows below; place - `shift` is the
  /// column of `to`, place - `shift_rows` its row.
  void (*extend_add)(const float* from, int ld_from, const FrontRun* runs, int first, int last, int end, float* to,
                     int ld_to, int shift, int shift_rows);
  /// Solve with a panel: forward x = D^-1 x, below -= B x; backward x = D^-T (x - B^T below). x has `rows` numbers and
  /// room for a vector behind them.
  void (*forward)(const float* panel, int ld, int rows, int width, float* x);
  void (*backward)(const float* panel, int ld, int rows, int width, float* x);
  /// y = A x; the fourth numbers of x have to be zero, those of y are whatever.
  void (*multiply)(const BlockMatrix& matrix, const Vec4* x, Vec4* y);
};

const BlockKernels& block_kernels();

}  // namespace verve
