// Products of packed matrices in the dense kernels of factorisations (Goto and van de Geijn 2008): rows packed in tiles
// of a few vectors, a register block of tile x columns. Included once per SIMD target.
#if defined(VERVE_FRONT_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_FRONT_PRODUCT_INL_H
#undef VERVE_FRONT_PRODUCT_INL_H
#else
#define VERVE_FRONT_PRODUCT_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
template <class T>
using D = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using V = hn::Vec<D<T>>;
template <class T>
constexpr int lanes = int(hn::MaxLanes(D<T>()));
// 32 registers with AVX-512, 16 elsewhere: 24 or 12 accumulators, a column of A and one broadcast.
constexpr int tile_vectors = 3;
template <class T>
constexpr int tile = tile_vectors* lanes<T>;
constexpr int columns = lanes<double> == 8 ? 8 : lanes<double> == 4 ? 4 : 3;
static_assert(tile<double> % columns == 0 && tile<float> % columns == 0,
              "a tile of rows is also a whole number of register blocks of columns");

/// Row tiles one after another; within a tile, column by column. Rows beyond the last are zero, or
/// what the padding holds; vectors beyond are left as they are.
template <class T, bool padded = false>
void pack(const T* a, int ld, int rows, int width, T* packed) {
  for (int first = 0; first < rows; first += tile<T>) {
    const int height = std::min(tile<T>, rows - first);
    for (int k = 0; k < width; ++k, packed += tile<T>) {
      const T* column = a + first + size_t(k) * ld;
      if (padded || height == tile<T>) {
        for (int v = 0; v < height; v += lanes<T>) hn::StoreU(hn::LoadU(D<T>(), column + v), D<T>(), packed + v);
      } else {
        for (int i = 0; i < height; ++i) packed[i] = column[i];
        for (int i = height; i < tile<T>; ++i) packed[i] = 0;
      }
    }
  }
}

/// The same of the transpose: `a` has `width` rows.
template <class T>
void pack_transposed(const T* a, int ld, int rows, int width, T* packed) {
  for (int first = 0; first < rows; first += tile<T>, packed += size_t(tile<T>) * width) {
    for (int i = 0; i < tile<T>; ++i) {
      const T* row = a + size_t(first + i) * ld;
      for (int k = 0; k < width; ++k) packed[size_t(k) * tile<T> + i] = first + i < rows ? row[k] : 0;
    }
  }
}

enum class Update { subtract, assign, assign_negated };

template <Update update, class T>
HWY_INLINE void change(V<T> value, T* place) {
  const D<T> d;
  if constexpr (update == Update::subtract) {
    hn::StoreU(hn::Sub(hn::LoadU(d, place), value), d, place);
  } else {
    hn::StoreU(update == Update::assign ? value : hn::Neg(value), d, place);
  }
}

/// out[j][i] for vectors [begin, end) of a tile of rows and one register block of columns; entries above the diagonal
/// (i < j, where the product is symmetric) and outside the matrix are left alone, unless what is there is `padded` to
/// whole vectors. Summed over [first, last).
template <class T, Update update, bool symmetric, bool padded, int begin, int end>
void block(const T* a, const T* b, int first, int last, T* const* out, int i0, int rows, int j0, int column_count) {
  const D<T> d;
  V<T> sum[end - begin][columns];
  for (auto& row : sum)
    for (V<T>& s : row) s = hn::Zero(d);
  for (int k = first; k < last; ++k) {
    V<T> left[end - begin];
#pragma GCC unroll 4
    for (int v = begin; v < end; ++v) left[v - begin] = hn::LoadU(d, a + k * tile<T> + v * lanes<T>);
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) {
      const V<T> right = hn::Set(d, b[k * tile<T> + j]);
#pragma GCC unroll 4
      for (int v = 0; v < end - begin; ++v) sum[v][j] = hn::MulAdd(left[v], right, sum[v][j]);
    }
  }
  for (int j = 0; j < column_count; ++j) {
    T* column = out[j0 + j];
    const int top = symmetric ? j0 + j : 0;  // and to the last row
    for (int v = begin; v < end; ++v) {
      const int from = i0 + v * lanes<T>, to = from + lanes<T>;
      if (padded || (from >= top && to <= rows)) {
        change<update, T>(sum[v - begin][j], column + from);
        continue;
      }
      T value[lanes<T>];
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
template <class T, Update update, bool symmetric, Shape shape = Shape::full, bool padded = false>
void multiply(const T* a, int rows, const T* b, int count, int width, T* const* out, int first_tile, int last_tile) {
  static_assert(tile_vectors == 3, "the choices below");
  const size_t stride = size_t(tile<T>) * width;
  for (int bt = first_tile; bt < last_tile; ++bt) {
    const int begin = bt * tile<T>, end = std::min(count, begin + tile<T>);
    for (int i0 = symmetric ? begin : 0; i0 < rows; i0 += tile<T>) {
      const T* left = a + size_t(i0 / tile<T>) * stride;
      for (int j0 = begin; j0 < end; j0 += columns) {
        const T* right = b + size_t(bt) * stride + (j0 - begin);
        const int first = shape == Shape::upper ? j0 : 0;
        const int last = shape == Shape::lower ? std::min(width, j0 + columns) : width;
        const auto run = [&]<int from, int to>() {
          block<T, update, symmetric, padded, from, to>(left, right, first, last, out, i0, rows, j0,
                                                        std::min(columns, end - j0));
        };
        // vectors of rows that are wholly above the diagonal, or below the last row, are left out
        const int from = symmetric ? std::max(0, j0 - i0) / lanes<T> : 0;
        const int to = (std::min(tile<T>, rows - i0) - 1) / lanes<T> + 1;
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

template <class T>
int tiles(int rows) {
  return (rows + tile<T> - 1) / tile<T>;
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
