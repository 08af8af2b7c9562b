// What a batch knows of the loops over its elements: a function per precision, compiled once for each set of
// instructions, chosen at run time.
#pragma once

#include <cstdint>

namespace verve {

/// Elements are stored in blocks: 8 of a kind side by side, field by field, so that a pack of lanes is one load.
inline constexpr int block_size = 8;

/// Consecutive elements and the vertices they touch.
struct BlockRange {
  const void* elements;          // [block][field][8], in the loop's own precision
  const std::uint16_t* corners;  // [element][corner]: where the vertex starts in x and gradient, in doubles
  int count;                     // elements; what fills up the last block is computed and dropped
  const double* x;               // xyz0 per vertex, aligned to 32 bytes
  double* gradient;              // likewise; added to. Not touched by the loops for the energy alone
};

/// Returns the energy.
using BlockLoop = double (*)(const BlockRange& range);

struct BlockLoops {
  const char* instructions;  // as Highway calls them; "plain" for one element at a time
  BlockLoop gradient64, energy64, gradient32, energy32;
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
