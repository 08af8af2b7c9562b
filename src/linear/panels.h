// The factor in the form in which it is applied.
//
// A panel of columns of L with diagonal block D and rows B below is kept as N = [D^-1; -B D^-1] - [I; 0]. Then
//   forward:  x[rows] += N x[columns],    backward:  x[columns] += N^T x[rows],
// small matrix products without a chain of dependent divisions. Rows lie in tiles of four groups, one group being a
// 256-bit vector (8 floats, 4 doubles); a tile is stored column by column. So both directions stream the values once,
// in order, and a vector register holds rows, not right-hand sides: three products per vector of values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "linear/row_kernel.h"
#include "linear/symbolic.h"
#include "verve/vec.h"

namespace verve {

/// IEEE binary16 in memory; computed with as float.
struct Half {
  std::uint16_t bits;
  Half() = default;
  /// To nearest, ties to even; too large becomes infinite.
  explicit Half(float value) {
    std::uint32_t u = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = u >> 16 & 0x8000u;
    u &= 0x7FFFFFFFu;
    if (u > 0x7F800000u) {
      u = 0x7E00u;                  // not a number
    } else if (u >= 0x47800000u) {  // 2^16
      u = 0x7C00u;
    } else if (u < 0x38800000u) {  // 2^-14: the addition shifts and rounds the fraction of a subnormal number
      u = std::bit_cast<std::uint32_t>(std::bit_cast<float>(u) + 0.5f) - 0x3F000000u;
    } else {
      u = (u + 0xC8000FFFu + (u >> 13 & 1)) >> 13;
    }
    bits = std::uint16_t(sign | u);
  }
  bool is_finite() const { return (bits & 0x7C00u) != 0x7C00u; }
};

/// What a value is computed with.
template <class Stored>
using Computed = std::conditional_t<std::is_same_v<Stored, double>, double, float>;

template <class Stored>
constexpr int panel_group = 32 / int(sizeof(Computed<Stored>));
template <class Stored>
constexpr int panel_tile = 4 * panel_group<Stored>;

/// At most this many rows are missing to whole groups.
constexpr int row_padding = 8;

struct Panel {
  int first, width;  // columns
  int rows;          // own columns and those below
  size_t index;      // of its rows in PanelArrays, followed by row_padding times a row that stands for none
  size_t value;      // of its first tile in PanelArrays::value
};

template <class Stored>
int tile_count(const Panel& p) {
  return (p.rows + panel_tile<Stored> - 1) / panel_tile<Stored>;
}
/// Rows of a tile, padded to whole groups.
template <class Stored>
int tile_rows(const Panel& p, int tile) {
  const int left = p.rows - tile * panel_tile<Stored>;
  constexpr int group = panel_group<Stored>;
  return left >= panel_tile<Stored> ? panel_tile<Stored> : (left + group - 1) / group * group;
}
/// Columns stored of a tile: beyond them D^-1, a lower triangle, is zero.
template <class Stored>
int tile_columns(const Panel& p, int tile) {
  const int last = (tile + 1) * panel_tile<Stored>;
  return last < p.width ? last : p.width;
}

template <class Stored>
struct PanelArrays {
  const Stored* value;
  const int *target, *row;  // rows of the work vector: those added to in the forward pass, those read in the backward
};

/// Work vectors have 4 * blocks numbers per row: one or two padded vectors.
template <class Stored>
struct PanelKernels {
  using T = Computed<Stored>;
  /// All of some panels, one after another.
  void (*forward)(const PanelArrays<Stored>&, const Panel* begin, const Panel* end, T* x);
  void (*backward)(const PanelArrays<Stored>&, const Panel* begin, const Panel* end, T* x);
  /// Some tiles of one panel: forward from a copy of x[columns]; backward into column sums that finish() adds up, in
  /// the order of the parts.
  void (*forward_tiles)(const PanelArrays<Stored>&, const Panel&, int begin, int end, const T* columns, T* x);
  void (*backward_tiles)(const PanelArrays<Stored>&, const Panel&, int begin, int end, const T* x, T* sums);
  void (*finish)(const Panel&, const T* sums, int parts, T* x);
  /// x[target[k]] += from[k] for `count` rows
  void (*add_rows)(const T* from, const int* target, size_t count, T* x);
  /// x[columns] = scale * b[order[columns]] of some panels, and the other way round.
  void (*load)(const Panel* begin, const Panel* end, const int* order, const double* scale, const Vec4* const* b, T* x);
  void (*load_narrow)(const Panel* begin, const Panel* end, const int* order, const double* scale,
                      const Float4* const* b, T* x);
  void (*store)(const Panel* begin, const Panel* end, const int* order, const double* scale, const T* x,
                Vec4* const* b);
  void (*store_narrow)(const Panel* begin, const Panel* end, const int* order, const double* scale, const T* x,
                       Float4* const* b);
};

/// For the best instruction set of this machine; blocks = 1 or 2.
template <class Stored>
const PanelKernels<Stored>& panel_kernels(int blocks);

/// Size of one part of the sums of backward_tiles: three or six vectors per column.
template <class Stored>
constexpr size_t panel_sums(int width, int blocks) {
  return size_t(3) * blocks * panel_group<Stored> * width;
}

}  // namespace verve
