// What a batch knows of the loops over its elements: a function per precision, compiled once for each set of
// instructions, chosen at run time.
#pragma once

#include <cstdint>

#include "potentials/relaxation.h"

namespace verve {

/// Elements are stored in blocks: 16 of a kind side by side, field by field, so that a pack of lanes is one load.
inline constexpr int block_size = 16;

/// Vertices of a patch (patch_loop.h).
inline constexpr int most_patch_corners = 128;

/// Consecutive elements and the vertices they touch.
struct BlockRange {
  const void* elements;          // [block][field][16], in the loop's own precision
  const std::uint16_t* corners;  // [element][corner]: where the vertex starts in its copies, in numbers, 4 per vertex
  int corner_count;              // of each element; kernels that know theirs do not look
  int count;                     // elements; what fills up the last block is computed and dropped
  // The rows that the copies stand for, the first `own` of them in no other chunk; xyz0 each, aligned to 32 bytes.
  const int* rows;
  int own, row_count;
  const double* x;
  double* x_gradient;  // what is in the copies of own rows is added; not touched by the loops for the energy alone
  double *copies, *gradient;  // work space: four doubles per row. The copies of the other rows stay in `gradient`
  int middle;                 // the row that lies in the midst of the others, at rest
  double unit, coarsest;      // of copies in whole numbers: what should do, and what would not
};

/// Returns the energy.
using BlockLoop = double (*)(const BlockRange& range);

/// Consecutive elements that have no vertex in common, for a sweep over their constraints.
struct RelaxRange {
  const void* elements;  // [block][field][16], in double
  const int* corners;    // [element][corner]: rows of the state; whole blocks of them, the last element repeated
  int count;             // elements
  double* multipliers;   // [block][constraint][16]
  const Relaxation* sweep;
};
using RelaxLoop = void (*)(const RelaxRange& range);

struct BlockLoops {
  const char* instructions;  // as Highway calls them; "plain" for one element at a time
  BlockLoop gradient64, energy64, gradient32, energy32;
  RelaxLoop relax;
};

/// One element at a time, for any kernel (block_loop.h).
template <class Kernel>
const BlockLoops& plain_loops();

/// The best loops for a kernel: plain ones unless its file ends in VERVE_KERNEL_END (kernel.h).
template <class Kernel>
const BlockLoops& block_loops() {
  return plain_loops<Kernel>();
}

}  // namespace verve
