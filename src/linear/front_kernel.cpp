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

/// The same of the transpose: `a` has `width` rows.
void pack_transposed(const double* a, int ld, int rows, int width, double* packed) {
  for (int first = 0; first < rows; first += tile, packed += size_t(tile) * width) {
    for (int i = 0; i < tile; ++i) {
      const double* row = a + size_t(first + i) * ld;
      for (int k = 0; k < width; ++k) packed[size_t(k) * tile + i] = first + i < rows ? row[k] : 0;
    }
  }
}

enum class Update { subtract, assign, assign_negated };

template <Update update>
HWY_INLINE void change(V value, double* place) {
  const D d;
  if constexpr (update == Update::subtract) {
    hn::StoreU(hn::Sub(hn::LoadU(d, place), value), d, place);
  } else {
    hn::StoreU(update == Update::assign ? value : hn::Neg(value), d, place);
  }
}

/// out[j][i] for vectors [begin, end) of a tile of rows and one register block of columns; entries above the diagonal
/// (i < j, where the product is symmetric) and outside the matrix are left alone. Summed over [first, last).
template <Update update, bool symmetric, int begin, int end>
void block(const double* a, const double* b, int first, int last, double* const* out, int i0, int rows, int j0,
           int column_count) {
  const D d;
  V sum[end - begin][columns];
  for (auto& row : sum)
    for (V& s : row) s = hn::Zero(d);
  for (int k = first; k < last; ++k) {
    V left[end - begin];
#pragma GCC unroll 4
    for (int v = begin; v < end; ++v) left[v - begin] = hn::LoadU(d, a + k * tile + v * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) {
      const V right = hn::Set(d, b[k * tile + j]);
#pragma GCC unroll 4
      for (int v = 0; v < end - begin; ++v) sum[v][j] = hn::MulAdd(left[v], right, sum[v][j]);
    }
  }
  for (int j = 0; j < column_count; ++j) {
    double* column = out[j0 + j];
    const int top = symmetric ? j0 + j : 0;  // and to the last row
    for (int v = begin; v < end; ++v) {
      const int from = i0 + v * lanes, to = from + lanes;
      if (from >= top && to <= rows) {
        change<update>(sum[v - begin][j], column + from);
        continue;
      }
      double value[lanes];
      hn::StoreU(sum[v - begin][j], d, value);
      for (int i = std::max(from, top); i < std::min(to, rows); ++i)
        column[i] = update == Update::subtract ? column[i] - value[i - from]
                    : update == Update::assign ? value[i - from]
                                               : -value[i - from];
    }
  }
}

/// What is known of B in a product A B^T: nothing, or that it is a lower or an upper triangle.
enum class Shape { full, lower, upper };

/// out (+)= A B^T, A (rows x width) and B (count x width) packed; columns of the product from tiles
/// [first_tile, last_tile) of B.
template <Update update, bool symmetric, Shape shape = Shape::full>
void multiply(const double* a, int rows, const double* b, int count, int width, double* const* out, int first_tile,
              int last_tile) {
  static_assert(tile_vectors == 3, "the choices below");
  const size_t stride = size_t(tile) * width;
  for (int bt = first_tile; bt < last_tile; ++bt) {
    const int begin = bt * tile, end = std::min(count, begin + tile);
    for (int i0 = symmetric ? begin : 0; i0 < rows; i0 += tile) {
      const double* left = a + size_t(i0 / tile) * stride;
      for (int j0 = begin; j0 < end; j0 += columns) {
        const double* right = b + size_t(bt) * stride + (j0 - begin);
        const int first = shape == Shape::upper ? j0 : 0;
        const int last = shape == Shape::lower ? std::min(width, j0 + columns) : width;
        const auto run = [&]<int from, int to>() {
          block<update, symmetric, from, to>(left, right, first, last, out, i0, rows, j0, std::min(columns, end - j0));
        };
        // vectors of rows that are wholly above the diagonal, or below the last row, are left out
        const int from = symmetric ? std::max(0, j0 - i0) / lanes : 0, to = (std::min(tile, rows - i0) - 1) / lanes + 1;
        if (to == 3) {
          from == 0   ? run.template operator()<0, 3>()
          : from == 1 ? run.template operator()<1, 3>()
                      : run.template operator()<2, 3>();
        } else if (to == 2) {
          from == 0 ? run.template operator()<0, 2>() : run.template operator()<1, 2>();
        } else {
          run.template operator()<0, 1>();
        }
      }
    }
  }
}

int tiles(int rows) { return (rows + tile - 1) / tile; }

/// y[begin, end) -= s x[begin, end)
void subtract_multiple(double* y, const double* x, double s, int begin, int end) {
  const D d;
  const V vs = hn::Set(d, s);
  int i = begin;
  for (; i + lanes <= end; i += lanes)
    hn::StoreU(hn::NegMulAdd(vs, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < end; ++i) y[i] -= s * x[i];
}

/// Column by column, for a few columns.
bool factor_and_invert_columns(double* a, double* inverse, int n, int ld) {
  for (int k = 0; k < n; ++k) {
    double* column = a + size_t(k) * ld;
    const double pivot = column[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;  // written so that NaN fails
    const double root = std::sqrt(pivot);
    column[k] = root;
    for (int i = k + 1; i < n; ++i) column[i] /= root;
    for (int j = k + 1; j < n; ++j) subtract_multiple(a + size_t(j) * ld, column, column[j], j, n);
  }
  for (int j = 0; j < n; ++j) {
    double* x = inverse + size_t(j) * ld;
    std::fill(x, x + n, 0.0);
    x[j] = 1;
    for (int k = j; k < n; ++k) {
      x[k] /= a[k + size_t(k) * ld];
      subtract_multiple(x, a + size_t(k) * ld, x[k], k + 1, n);
    }
  }
  return true;
}

/// D D^T = a (lower triangle, overwritten by D), then inverse = D^-1, both of leading dimension `ld`. Of the halves
///   a = [D1 .; B D2] and inverse = [D1^-1 0; -D2^-1 B D1^-1, D2^-1];
/// the upper triangle of `a` is work space.
bool factor_and_invert(double* a, double* inverse, int n, int ld, PanelScratch& scratch) {
  if (n <= 2 * tile) return factor_and_invert_columns(a, inverse, n, ld);
  const int n1 = tiles(n / 2) * tile, n2 = n - n1;
  double *b = a + n1, *above = a + size_t(n1) * ld, *below = inverse + n1;
  double *left = scratch.packed_rows.data(), *right = scratch.packed_inverse.data();
  double* column[widest_panel];
  const auto columns_of = [&](double* matrix, int count) {
    for (int j = 0; j < count; ++j) column[j] = matrix + size_t(j) * ld;
    return column;
  };
  if (!factor_and_invert(a, inverse, n1, ld, scratch)) return false;
  pack(b, ld, n2, n1, left);
  pack(inverse, ld, n1, n1, right);
  multiply<Update::assign, false, Shape::lower>(left, n2, right, n1, n1, columns_of(b, n1), 0, tiles(n1));
  pack(b, ld, n2, n1, right);
  multiply<Update::subtract, true>(right, n2, right, n2, n1, columns_of(above + n1, n2), 0, tiles(n2));
  pack_transposed(inverse, ld, n1, n1, left);
  multiply<Update::assign, false>(left, n1, right, n2, n1, columns_of(above, n2), 0, tiles(n2));  // (B D1^-1)^T
  if (!factor_and_invert(above + n1, inverse + n1 + size_t(n1) * ld, n2, ld, scratch)) return false;
  pack(inverse + n1 + size_t(n1) * ld, ld, n2, n2, left);
  pack(above, ld, n1, n2, right);
  multiply<Update::assign_negated, false>(left, n2, right, n1, n2, columns_of(below, n1), 0, tiles(n1));
  for (int j = n1; j < n; ++j) std::fill_n(inverse + size_t(j) * ld, n1, 0.0);
  return true;
}

bool invert(double* matrix, double* inverse, int n) { return factor_and_invert_columns(matrix, inverse, n, n); }

bool eliminate(double* panel, int ld, int rows, int width, double* const* trailing, PanelScratch& scratch) {
  double *d = scratch.diagonal.data(), *inverse = scratch.inverse.data();
  for (int j = 0; j < width; ++j)
    for (int i = j; i < width; ++i) d[i + j * width] = panel[i + size_t(j) * ld];
  if (!factor_and_invert(d, inverse, width, width, scratch)) return false;
  for (int j = 0; j < width; ++j) std::copy_n(inverse + j * width, width, panel + size_t(j) * ld);
  const int below = rows - width;
  if (below == 0) return true;

  double* b = panel + width;
  double *packed = scratch.packed_rows.data(), *packed_inverse = scratch.packed_inverse.data();
  double* column[widest_panel];
  for (int j = 0; j < width; ++j) column[j] = b + size_t(j) * ld;
  const int below_tiles = tiles(below);

  // B = A D^-T
  pack(b, ld, below, width, packed);
  pack(inverse, width, width, width, packed_inverse);
  multiply<Update::assign, false, Shape::lower>(packed, below, packed_inverse, width, width, column, 0, tiles(width));

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
  pack_transposed(inverse, width, width, width, packed_inverse);
  multiply<Update::assign_negated, false, Shape::upper>(packed, below, packed_inverse, width, width, column, 0,
                                                        tiles(width));
  return true;
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

HWY_EXPORT(eliminate);
HWY_EXPORT(invert);

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
  return HWY_DYNAMIC_DISPATCH(invert)(matrix, inverse, n);
}

bool eliminate_panel(double* panel, int ld, int rows, int width, double* const* trailing, PanelScratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(eliminate)(panel, ld, rows, width, trailing, scratch);
}

}  // namespace verve
#endif
