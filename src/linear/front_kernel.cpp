// Blocked dense elimination. One packing serves both factors of B B^T, and with panels of at most 128 columns a tile
// stays in the first-level cache.
#include "linear/front_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/parallel.h"
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/front_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "linear/front_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

using Numbers = D<double>;
using Vector = V<double>;
constexpr int vector_lanes = lanes<double>;
/// Where matrices are halved, for any width of vectors, so that results are those of any: whole tiles of each.
constexpr int split_rows = 24;
static_assert(split_rows % tile<double> == 0);

/// y[begin, end) -= s x[begin, end)
void subtract_multiple(double* y, const double* x, double s, int begin, int end) {
  const Numbers d;
  const Vector vs = hn::Set(d, s);
  int i = begin;
  for (; i + vector_lanes <= end; i += vector_lanes)
    hn::StoreU(hn::NegMulAdd(vs, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  const hn::CappedTag<double, 1> one;  // rounded as in whole vectors
  for (; i < end; ++i)
    hn::StoreU(hn::NegMulAdd(hn::Set(one, s), hn::LoadU(one, x + i), hn::LoadU(one, y + i)), one, y + i);
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
  if (n <= 2 * split_rows) return factor_and_invert_columns(a, inverse, n, ld);
  const int n1 = (n / 2 + split_rows - 1) / split_rows * split_rows, n2 = n - n1;
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
  multiply<double, Update::assign, false, Shape::lower>(left, n2, right, n1, n1, columns_of(b, n1), 0,
                                                        tiles<double>(n1));
  pack(b, ld, n2, n1, right);
  multiply<double, Update::subtract, true>(right, n2, right, n2, n1, columns_of(above + n1, n2), 0, tiles<double>(n2));
  pack_transposed(inverse, ld, n1, n1, left);
  multiply<double, Update::assign, false>(left, n1, right, n2, n1, columns_of(above, n2), 0,
                                          tiles<double>(n2));  // (B D1^-1)^T
  if (!factor_and_invert(above + n1, inverse + n1 + size_t(n1) * ld, n2, ld, scratch)) return false;
  pack(inverse + n1 + size_t(n1) * ld, ld, n2, n2, left);
  pack(above, ld, n1, n2, right);
  multiply<double, Update::assign_negated, false>(left, n2, right, n1, n2, columns_of(below, n1), 0, tiles<double>(n1));
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
  const int below_tiles = tiles<double>(below);

  // B = A D^-T
  pack(b, ld, below, width, packed);
  pack(inverse, width, width, width, packed_inverse);
  multiply<double, Update::assign, false, Shape::lower>(packed, below, packed_inverse, width, width, column, 0,
                                                        tiles<double>(width));

  // trailing -= B B^T; tiles of columns are dealt in pairs from both ends, since the first ones are the longest
  pack(b, ld, below, width, packed);
  const auto update = [&](int t) {
    multiply<double, Update::subtract, true>(packed, below, packed, below, width, trailing, t, t + 1);
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
  multiply<double, Update::assign_negated, false, Shape::upper>(packed, below, packed_inverse, width, width, column, 0,
                                                                tiles<double>(width));
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
