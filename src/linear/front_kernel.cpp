// Blocked dense elimination. The product kernel is the usual one (Goto and van de Geijn 2008): rows packed in tiles of
// a few vectors, a register block of tile x columns. One packing serves both factors of B B^T, and with panels of at
// most 128 columns a tile stays in the first-level cache.
#include "linear/front_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/front_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr int lanes = int(hn::MaxLanes(D()));
// 32 registers with AVX-512, 16 elsewhere: 24 or 12 accumulators, a column of A and one broadcast.
constexpr int tile_vectors = 3, tile = tile_vectors * lanes;
constexpr int columns = lanes == 8 ? 8 : lanes == 4 ? 4 : 3;
static_assert(tile % columns == 0, "a tile of rows is also a whole number of register blocks of columns");

/// Row tiles one after another; within a tile, column by column. Rows beyond the last are zero.
void pack(const double* a, int ld, int rows, int width, double* packed) {
  for (int first = 0; first < rows; first += tile) {
    const int height = std::min(tile, rows - first);
    for (int k = 0; k < width; ++k, packed += tile) {
      const double* column = a + first + size_t(k) * ld;
      if (height == tile) {
        for (int v = 0; v < tile; v += lanes) hn::StoreU(hn::LoadU(D(), column + v), D(), packed + v);
      } else {
        for (int i = 0; i < height; ++i) packed[i] = column[i];
        for (int i = height; i < tile; ++i) packed[i] = 0;
      }
    }
  }
}

enum class Update { subtract, assign, assign_negated };

/// out[j][i] for one tile of rows and one register block of columns; entries above the diagonal (i < j, where the
/// product is symmetric) and outside the matrix are left alone.
template <Update update, bool symmetric>
void block(const double* a, const double* b, int width, double* const* out, int i0, int rows, int j0, int end) {
  const D d;
  V sum[tile_vectors][columns];
  for (auto& row : sum)
    for (V& s : row) s = hn::Zero(d);
  for (int k = 0; k < width; ++k) {
    V left[tile_vectors];
#pragma GCC unroll 4
    for (int v = 0; v < tile_vectors; ++v) left[v] = hn::LoadU(d, a + k * tile + v * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) {
      const V right = hn::Set(d, b[k * tile + j]);
#pragma GCC unroll 4
      for (int v = 0; v < tile_vectors; ++v) sum[v][j] = hn::MulAdd(left[v], right, sum[v][j]);
    }
  }
  const bool whole = i0 + tile <= rows && j0 + columns <= end && (!symmetric || i0 >= j0 + columns - 1);
  for (int j = 0; j < columns && j0 + j < end; ++j) {
    double* column = out[j0 + j];
    if (whole) {
      for (int v = 0; v < tile_vectors; ++v) {
        double* place = column + i0 + v * lanes;
        if constexpr (update == Update::subtract) {
          hn::StoreU(hn::Sub(hn::LoadU(d, place), sum[v][j]), d, place);
        } else {
          hn::StoreU(update == Update::assign ? sum[v][j] : hn::Neg(sum[v][j]), d, place);
        }
      }
    } else {
      double value[tile];
      for (int v = 0; v < tile_vectors; ++v) hn::StoreU(sum[v][j], d, value + v * lanes);
      const int top = symmetric ? std::max(0, j0 + j - i0) : 0, bottom = std::min(tile, rows - i0);
      for (int i = top; i < bottom; ++i) {
        double& place = column[i0 + i];
        place = update == Update::subtract ? place - value[i] : update == Update::assign ? value[i] : -value[i];
      }
    }
  }
}

/// out (+)= A B^T, A and B packed; `tile_columns` selects the columns [first, last) of the product by tiles of B.
template <Update update, bool symmetric>
void multiply(const double* a, int rows, const double* b, int count, int width, double* const* out, int first_tile,
              int last_tile) {
  const size_t stride = size_t(tile) * width;
  for (int bt = first_tile; bt < last_tile; ++bt) {
    const int end = std::min(count, (bt + 1) * tile);
    for (int i0 = symmetric ? bt * tile : 0; i0 < rows; i0 += tile) {
      const double* left = a + size_t(i0 / tile) * stride;
      for (int j0 = bt * tile; j0 < end; j0 += columns)
        block<update, symmetric>(left, b + size_t(bt) * stride + (j0 - bt * tile), width, out, i0, rows, j0, end);
    }
  }
}

/// y[begin, end) -= s x[begin, end)
void subtract_multiple(double* y, const double* x, double s, int begin, int end) {
  const D d;
  const V vs = hn::Set(d, s);
  int i = begin;
  for (; i + lanes <= end; i += lanes)
    hn::StoreU(hn::NegMulAdd(vs, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < end; ++i) y[i] -= s * x[i];
}

/// D D^T = a (lower triangle, overwritten by D), then inverse = D^-1.
bool factor_and_invert(double* a, double* inverse, int n) {
  for (int k = 0; k < n; ++k) {
    double* column = a + size_t(k) * n;
    const double pivot = column[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;  // written so that NaN fails
    const double root = std::sqrt(pivot);
    column[k] = root;
    for (int i = k + 1; i < n; ++i) column[i] /= root;
    for (int j = k + 1; j < n; ++j) subtract_multiple(a + size_t(j) * n, column, column[j], j, n);
  }
  std::fill(inverse, inverse + size_t(n) * n, 0.0);
  for (int j = 0; j < n; ++j) {
    double* x = inverse + size_t(j) * n;
    x[j] = 1;
    for (int k = j; k < n; ++k) {
      x[k] /= a[k + size_t(k) * n];
      subtract_multiple(x, a + size_t(k) * n, x[k], k + 1, n);
    }
  }
  return true;
}

bool eliminate(double* panel, int ld, int rows, int width, double* const* trailing, PanelScratch& scratch) {
  double *d = scratch.diagonal.data(), *inverse = scratch.inverse.data();
  for (int j = 0; j < width; ++j)
    for (int i = j; i < width; ++i) d[i + j * width] = panel[i + size_t(j) * ld];
  if (!factor_and_invert(d, inverse, width)) return false;
  for (int j = 0; j < width; ++j) std::copy_n(inverse + j * width, width, panel + size_t(j) * ld);
  const int below = rows - width;
  if (below == 0) return true;

  double* b = panel + width;
  double *packed = scratch.packed_rows.data(), *packed_inverse = scratch.packed_inverse.data();
  double* column[widest_panel];
  for (int j = 0; j < width; ++j) column[j] = b + size_t(j) * ld;
  const int panel_tiles = (width + tile - 1) / tile, below_tiles = (below + tile - 1) / tile;

  // B = A D^-T
  pack(b, ld, below, width, packed);
  pack(inverse, width, width, width, packed_inverse);
  multiply<Update::assign, false>(packed, below, packed_inverse, width, width, column, 0, panel_tiles);

  // trailing -= B B^T; tiles of columns are dealt in pairs from both ends, since the first ones are the longest
  pack(b, ld, below, width, packed);
  const auto update = [&](int t) {
    multiply<Update::subtract, true>(packed, below, packed, below, width, trailing, t, t + 1);
  };
  if (double(below) * below * width < 2e6) {
    for (int t = 0; t < below_tiles; ++t) update(t);
  } else {
    parallel_tasks((below_tiles + 1) / 2, [&](int pair) {
      update(pair);
      if (const int other = below_tiles - 1 - pair; other != pair) update(other);
    });
  }

  // B becomes -B D^-1
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < width; ++i) d[j + i * width] = inverse[i + j * width];
  pack(d, width, width, width, packed_inverse);
  multiply<Update::assign_negated, false>(packed, below, packed_inverse, width, width, column, 0, panel_tiles);
  return true;
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

HWY_EXPORT(eliminate);
HWY_EXPORT(factor_and_invert);

void PanelScratch::reserve(int rows) {
  constexpr int longest_tile = 24;  // of all targets: AVX-512 has 3 vectors of 8 doubles
  const auto grow = [](std::vector<double>& v, size_t size) {
    if (v.size() < size) v.resize(size);
  };
  grow(diagonal, widest_panel * widest_panel);
  grow(inverse, widest_panel * widest_panel);
  grow(packed_inverse, (widest_panel + longest_tile) * widest_panel);
  grow(packed_rows, (size_t(rows) + longest_tile) * widest_panel);
}

bool invert_cholesky(double* matrix, double* inverse, int n) {
  return HWY_DYNAMIC_DISPATCH(factor_and_invert)(matrix, inverse, n);
}

bool eliminate_panel(double* panel, int ld, int rows, int width, double* const* trailing, PanelScratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(eliminate)(panel, ld, rows, width, trailing, scratch);
}

}  // namespace verve
#endif
