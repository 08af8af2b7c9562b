// The kernels of front_kernel.cpp in float, twice as many lanes, and what a factor that is used once needs besides.
#include "linear/block_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/parallel.h"
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "linear/front_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

using Floats = D<float>;
using Vector = V<float>;
constexpr int width_of_vector = lanes<float>;
/// Columns that are factored one by one; more are split in two.
constexpr int few = 48;

/// Columns take their part out of those behind them, in place: above the diagonal of column j stands row j of D^-1 as
/// far as it is known, below it what is left of the matrix, and both change by the same multiple of column k. Four
/// columns at a time, so that the others are read and written once for them. n columns of leading dimension ld, a whole
/// number of vectors; the inverse goes to `out`.
bool invert_columns(float* a, float* out, int n, int ld) {
  constexpr int some = 4;
  const Floats d;
  const int padded = (n + width_of_vector - 1) / width_of_vector * width_of_vector;
  for (int begin = 0; begin < n; begin += some) {
    const int end = std::min(n, begin + some);
    for (int k = begin; k < end; ++k) {
      float* column = a + size_t(k) * ld;
      const float pivot = column[k];
      if (!(pivot > 0) || !std::isfinite(pivot)) return false;  // written so that NaN fails
      const float root = 1 / std::sqrt(pivot);
      const Vector scale = hn::Set(d, root);
      for (int i = 0; i < padded; i += width_of_vector)
        hn::Store(hn::Mul(hn::Load(d, column + i), scale), d, column + i);
      column[k] = root;
      for (int j = k + 1; j < end; ++j) {
        float* other = a + size_t(j) * ld;
        other[k] = 0;  // nothing of the inverse is there yet
        const Vector multiple = hn::Set(d, column[j]);
        for (int i = 0; i < padded; i += width_of_vector)
          hn::Store(hn::NegMulAdd(multiple, hn::Load(d, column + i), hn::Load(d, other + i)), d, other + i);
      }
    }
    if (end == n) break;
    float* column = a + size_t(begin) * ld;
    for (int k = 0; k < some; ++k)
      std::fill(column + size_t(k) * ld + begin + k + 1, column + size_t(k) * ld + end, 0.0f);
    for (int j = end; j < n; ++j) std::fill_n(a + size_t(j) * ld + begin, some, 0.0f);
    for (int i = 0; i < padded; i += width_of_vector) {
      const Vector c0 = hn::Load(d, column + i), c1 = hn::Load(d, column + ld + i),
                   c2 = hn::Load(d, column + 2 * size_t(ld) + i), c3 = hn::Load(d, column + 3 * size_t(ld) + i);
      const float* multiple = column;
      for (int j = end; j < n; ++j) {
        float* place = a + size_t(j) * ld + i;
        Vector value = hn::Load(d, place);
        value = hn::NegMulAdd(hn::Set(d, multiple[j]), c0, value);
        value = hn::NegMulAdd(hn::Set(d, multiple[ld + j]), c1, value);
        value = hn::NegMulAdd(hn::Set(d, multiple[2 * size_t(ld) + j]), c2, value);
        hn::Store(hn::NegMulAdd(hn::Set(d, multiple[3 * size_t(ld) + j]), c3, value), d, place);
      }
    }
  }
  for (int j = 0; j < n; ++j) {
    std::fill_n(out + size_t(j) * ld, j, 0.0f);
    for (int i = j; i < n; ++i) out[i + size_t(j) * ld] = a[j + size_t(i) * ld];
  }
  return true;
}

/// As factor_and_invert of front_kernel.cpp, which see; `ld` is a whole number of vectors, and so is n1: what is
/// written beyond n meets nothing.
bool invert(float* a, float* inverse, int n, int ld, BlockScratch& scratch) {
  if (n <= few) return invert_columns(a, inverse, n, ld);
  const int n1 = padded_rows(n / 2), n2 = n - n1;
  float *b = a + n1, *above = a + size_t(n1) * ld, *below = inverse + n1;
  float *left = scratch.packed_rows.data(), *right = scratch.packed_inverse.data();
  float* column[widest_panel];
  const auto columns_of = [&](float* matrix, int count) {
    for (int j = 0; j < count; ++j) column[j] = matrix + size_t(j) * ld;
    return column;
  };
  constexpr Shape full = Shape::full, lower = Shape::lower;
  if (!invert(a, inverse, n1, ld, scratch)) return false;
  pack<float, true>(b, ld, n2, n1, left);
  pack<float, true>(inverse, ld, n1, n1, right);
  multiply<float, Update::assign, false, lower, true>(left, n2, right, n1, n1, columns_of(b, n1), 0, tiles<float>(n1));
  pack<float, true>(b, ld, n2, n1, right);
  multiply<float, Update::subtract, true, full, true>(right, n2, right, n2, n1, columns_of(above + n1, n2), 0,
                                                      tiles<float>(n2));
  pack_transposed<float>(inverse, ld, n1, n1, left);
  multiply<float, Update::assign, false, full, true>(left, n1, right, n2, n1, columns_of(above, n2), 0,
                                                     tiles<float>(n2));  // (B D1^-1)^T
  if (!invert(above + n1, inverse + n1 + size_t(n1) * ld, n2, ld, scratch)) return false;
  pack<float, true>(inverse + n1 + size_t(n1) * ld, ld, n2, n2, left);
  pack<float, true>(above, ld, n1, n2, right);
  multiply<float, Update::assign_negated, false, full, true>(left, n2, right, n1, n2, columns_of(below, n1), 0,
                                                             tiles<float>(n1));
  for (int j = n1; j < n; ++j) std::fill_n(inverse + size_t(j) * ld, n1, 0.0f);
  return true;
}

template <bool fresh>
bool eliminate_as(float* panel, int ld, int rows, int width, BlockScratch& scratch) {
  float *d = scratch.diagonal.data(), *inverse = scratch.inverse.data();
  const int ld_d = padded_rows(width);
  for (int j = 0; j < width; ++j) {
    std::copy_n(panel + size_t(j) * ld, width, d + size_t(j) * ld_d);
    std::fill_n(d + size_t(j) * ld_d + width, ld_d - width, 0.0f);
  }
  if (!invert(d, inverse, width, ld_d, scratch)) return false;
  for (int j = 0; j < width; ++j) std::copy_n(inverse + size_t(j) * ld_d, width, panel + size_t(j) * ld);
  const int below = rows - width;
  if (below == 0) return true;

  float* b = panel + width;
  float *packed = scratch.packed_rows.data(), *packed_inverse = scratch.packed_inverse.data();
  float* const* trailing = scratch.trailing.data();
  float* column[widest_panel];
  for (int j = 0; j < width; ++j) column[j] = b + size_t(j) * ld;
  const int below_tiles = tiles<float>(below);

  // B = A D^-T
  pack<float, fresh>(b, ld, below, width, packed);
  pack<float, true>(inverse, ld_d, width, width, packed_inverse);
  multiply<float, Update::assign, false, Shape::lower, fresh>(packed, below, packed_inverse, width, width, column, 0,
                                                              tiles<float>(width));
  // trailing -= B B^T; tiles of columns are dealt in pairs from both ends, since the first ones are the longest
  pack<float, fresh>(b, ld, below, width, packed);
  const auto update = [&](int t) {
    multiply<float, fresh ? Update::assign_negated : Update::subtract, true, Shape::full, fresh>(
        packed, below, packed, below, width, trailing, t, t + 1);
  };
  if (double(below) * below * width < shared_update_products) {
    for (int t = 0; t < below_tiles; ++t) update(t);
  } else {
    parallel_tasks((below_tiles + 1) / 2, [&](int pair) {
      update(pair);
      if (const int other = below_tiles - 1 - pair; other != pair) update(other);
    });
  }
  return true;
}

bool eliminate(float* panel, int ld, int rows, int width, bool fresh, BlockScratch& scratch) {
  return fresh ? eliminate_as<true>(panel, ld, rows, width, scratch)
               : eliminate_as<false>(panel, ld, rows, width, scratch);
}

/// `length` rows of some columns, with vectors of just that length: a wider one that is masked would have to wait until
/// the last store beside it has left for the cache.
template <int length>
HWY_INLINE void add_rectangle(const float* from, int ld_from, float* to, int ld_to, int count) {
  using Tag = hn::CappedTag<float, length>;
  constexpr int step = int(hn::MaxLanes(Tag()));
  const Tag d;
  for (int j = 0; j < count; ++j, from += ld_from, to += ld_to)
    for (int i = 0; i < length; i += step) hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
}

HWY_INLINE void add_rectangles(const float* from, int ld_from, float* to, int ld_to, int rows, int count) {
  int i = 0;
  for (; i + 16 <= rows; i += 16) add_rectangle<16>(from + i, ld_from, to + i, ld_to, count);
  if (rows & 8) add_rectangle<8>(from + i, ld_from, to + i, ld_to, count), i += 8;
  if (rows & 4) add_rectangle<4>(from + i, ld_from, to + i, ld_to, count), i += 4;
  if (rows & 2) add_rectangle<2>(from + i, ld_from, to + i, ld_to, count), i += 2;
  if (rows & 1) add_rectangle<1>(from + i, ld_from, to + i, ld_to, count);
}

void extend_add(const float* from, int ld_from, const FrontRun* runs, int first, int last, int end, float* to,
                int ld_to, int shift, int shift_rows) {
  for (int c = first; c < last; ++c) {
    const FrontRun& own = runs[c];
    const int count = own.end - own.begin;
    const float* source = from + size_t(own.begin) * ld_from;
    float* column = to + size_t(own.place - shift) * ld_to - shift_rows;
    // the triangle, some columns at a time
    for (int j = 0; j < count;) {
      const int next = std::min(count, j + 8);
      for (int k = j; k < next; ++k)
        for (int i = k; i < next; ++i)
          column[size_t(k) * ld_to + own.place + i] += source[size_t(k) * ld_from + own.begin + i];
      add_rectangles(source + size_t(j) * ld_from + own.begin + next, ld_from,
                     column + size_t(j) * ld_to + own.place + next, ld_to, count - next, next - j);
      j = next;
    }
    for (int r = c + 1; r < end; ++r)
      add_rectangles(source + runs[r].begin, ld_from, column + runs[r].place, ld_to, runs[r].end - runs[r].begin,
                     count);
  }
}

/// out[0, rows) -= P t, P of `width` columns, four at a time so that they stream; out has room for whole vectors.
HWY_INLINE void subtract_columns(const float* p, int ld, int rows, int width, const float* t, float* out) {
  const Floats d;
  int k = 0;
  for (; k + 4 <= width; k += 4) {
    const float *c0 = p + size_t(k) * ld, *c1 = c0 + ld, *c2 = c1 + ld, *c3 = c2 + ld;
    const Vector t0 = hn::Set(d, t[k]), t1 = hn::Set(d, t[k + 1]), t2 = hn::Set(d, t[k + 2]), t3 = hn::Set(d, t[k + 3]);
    for (int i = 0; i < rows; i += width_of_vector) {
      const Vector two =
          hn::NegMulAdd(t1, hn::LoadU(d, c1 + i), hn::NegMulAdd(t0, hn::LoadU(d, c0 + i), hn::LoadU(d, out + i)));
      hn::StoreU(hn::NegMulAdd(t3, hn::LoadU(d, c3 + i), hn::NegMulAdd(t2, hn::LoadU(d, c2 + i), two)), d, out + i);
    }
  }
  for (; k < width; ++k) {
    const float* c = p + size_t(k) * ld;
    const Vector s = hn::Set(d, t[k]);
    for (int i = 0; i < rows; i += width_of_vector)
      hn::StoreU(hn::NegMulAdd(s, hn::LoadU(d, c + i), hn::LoadU(d, out + i)), d, out + i);
  }
}

/// Of sums over rows: eight at a time in every set of instructions that has as many, so that they have the same bits.
using Eight = hn::CappedTag<float, 8>;
constexpr int rows_at_once = int(hn::MaxLanes(Eight()));

/// The lanes of a mask, of memory that can be read as far as a whole vector (MaskedLoad wants it aligned).
HWY_INLINE hn::Vec<Eight> first_of(hn::Mask<Eight> mask, const float* p) {
  return hn::IfThenElseZero(mask, hn::LoadU(Eight(), p));
}

/// Products of `count` columns with x.
template <int count>
HWY_INLINE void dot_columns(const float* p, int ld, int rows, const float* x, float* out) {
  const Eight d;
  hn::Vec<Eight> sum[count];
  for (auto& s : sum) s = hn::Zero(d);
  int i = 0;
  for (; i + rows_at_once <= rows; i += rows_at_once) {
    const auto s = hn::LoadU(d, x + i);
    for (int k = 0; k < count; ++k) sum[k] = hn::MulAdd(s, hn::LoadU(d, p + size_t(k) * ld + i), sum[k]);
  }
  if (i < rows) {
    const auto mask = hn::FirstN(d, size_t(rows - i));
    const auto s = first_of(mask, x + i);
    for (int k = 0; k < count; ++k) sum[k] = hn::MulAdd(s, first_of(mask, p + size_t(k) * ld + i), sum[k]);
  }
  for (int k = 0; k < count; ++k) out[k] = hn::GetLane(hn::SumOfLanes(d, sum[k]));
}

void forward(const float* panel, int ld, int rows, int width, float* x) {
  alignas(64) float t[widest_panel + float_padding];
  std::fill_n(t, padded_rows(width), 0.0f);
  subtract_columns(panel, ld, width, width, x, t);
  for (int k = 0; k < width; ++k) x[k] = t[k] = -t[k];
  subtract_columns(panel + width, ld, rows - width, width, t, x + width);
}

void backward(const float* panel, int ld, int rows, int width, float* x) {
  alignas(64) float s[widest_panel + float_padding], product[4];
  const int below = rows - width;
  int k = 0;
  for (; k + 4 <= width; k += 4) {
    dot_columns<4>(panel + size_t(k) * ld + width, ld, below, x + width, product);
    for (int i = 0; i < 4; ++i) s[k + i] = x[k + i] - product[i];
  }
  for (; k < width; ++k) {
    dot_columns<1>(panel + size_t(k) * ld + width, ld, below, x + width, product);
    s[k] = x[k] - product[0];
  }
  for (k = 0; k + 4 <= width; k += 4) dot_columns<4>(panel + size_t(k) * ld + k, ld, width - k, s + k, x + k);
  for (; k < width; ++k) dot_columns<1>(panel + size_t(k) * ld + k, ld, width - k, s + k, x + k);
}

/// Columns of a block are read as vectors of four, the last number of which is the next column's and meets a zero of x
/// or goes to the fourth number of y.
void multiply_vector(const BlockMatrix& m, const Vec4* x, Vec4* y) {
  if constexpr (int(hn::MaxLanes(hn::CappedTag<double, 4>())) == 4) {
    const hn::CappedTag<double, 4> d;
    for (int c = 0; c < m.size; ++c) hn::StoreU(hn::Zero(d), d, &y[c].x);
    for (int c = 0; c < m.size; ++c) {
      const auto x0 = hn::Set(d, x[c].x), x1 = hn::Set(d, x[c].y), x2 = hn::Set(d, x[c].z);
      int k = m.start[c];
      const double* block = m.value.data() + 9 * size_t(k);
      auto own = hn::Mul(hn::LoadU(d, block), x0);
      own = hn::MulAdd(hn::LoadU(d, block + 3), x1, own);
      own = hn::MulAdd(hn::LoadU(d, block + 6), x2, own);
      auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0;
      for (++k, block += 9; k < m.start[c + 1]; ++k, block += 9) {
        const int r = m.row[k];
        const auto other = hn::LoadU(d, &x[r].x), b0 = hn::LoadU(d, block), b1 = hn::LoadU(d, block + 3),
                   b2 = hn::LoadU(d, block + 6);
        sum0 = hn::MulAdd(b0, other, sum0), sum1 = hn::MulAdd(b1, other, sum1), sum2 = hn::MulAdd(b2, other, sum2);
        auto there = hn::MulAdd(b0, x0, hn::LoadU(d, &y[r].x));
        there = hn::MulAdd(b1, x1, there);
        hn::StoreU(hn::MulAdd(b2, x2, there), d, &y[r].x);
      }
      alignas(32) double s[3][4];
      hn::Store(sum0, d, s[0]), hn::Store(sum1, d, s[1]), hn::Store(sum2, d, s[2]);
      hn::StoreU(hn::Add(hn::LoadU(d, &y[c].x), own), d, &y[c].x);
      y[c].x += s[0][0] + s[0][1] + s[0][2], y[c].y += s[1][0] + s[1][1] + s[1][2],
          y[c].z += s[2][0] + s[2][1] + s[2][2];
    }
  } else {
    std::fill_n(y, m.size, Vec4());
    for (int c = 0; c < m.size; ++c) {
      Vec3 sum{};
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
        const int r = m.row[k];
        const double* b = m.value.data() + 9 * size_t(k);
        const Vec3 b0{b[0], b[1], b[2]}, b1{b[3], b[4], b[5]}, b2{b[6], b[7], b[8]};
        y[r] += Vec4(b0 * x[c].x + b1 * x[c].y + b2 * x[c].z);
        const Vec3 other = x[r].xyz();
        if (r != c) sum += Vec3{dot(b0, other), dot(b1, other), dot(b2, other)};
      }
      y[c] += Vec4(sum);
    }
  }
}

constexpr BlockKernels kernels = {eliminate, extend_add, forward, backward, multiply_vector};
const BlockKernels& chosen() { return kernels; }

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

HWY_EXPORT(chosen);

void BlockScratch::reserve(int rows) {
  constexpr int longest_tile = 48;  // of all targets: AVX-512 has 3 vectors of 16 floats
  const auto grow = [](Aligned<float>& v, size_t size) {
    if (v.size() >= size) return;
    v.resize(size);
    std::fill_n(v.data(), size, 0.0f);
  };
  grow(diagonal, size_t(widest_panel) * widest_panel);
  grow(inverse, size_t(widest_panel) * widest_panel);
  grow(packed_inverse, size_t(widest_panel + longest_tile) * widest_panel);
  grow(packed_rows, (size_t(rows) + longest_tile) * widest_panel);
  if (trailing.size() < size_t(rows)) trailing.resize(rows);
}

const BlockKernels& block_kernels() { return HWY_DYNAMIC_DISPATCH(chosen)(); }

}  // namespace verve
#endif
