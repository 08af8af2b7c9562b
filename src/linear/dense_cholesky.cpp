#include "linear/dense_cholesky.h"

#include <algorithm>
#include <cmath>

#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/dense_cholesky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int side = dense_panel, square = side * side;
const hn::CappedTag<float, side> d;
constexpr int lanes = int(hn::MaxLanes(hn::CappedTag<float, side>())), parts = side / lanes;
static_assert(lanes <= 8 || (lanes == 16 && parts == 1));

/// The rows of a panel, in as many registers as that takes.
struct Column {
  hn::Vec<decltype(d)> v[parts];
  HWY_INLINE Column() {
    for (auto& part : v) part = hn::Zero(d);
  }
  HWY_INLINE explicit Column(const float* p) {
    for (int k = 0; k < parts; ++k) v[k] = hn::LoadU(d, p + k * lanes);
  }
  HWY_INLINE void add_product(const float* a, float x) {
    const auto factor = hn::Set(d, x);
    for (int k = 0; k < parts; ++k) v[k] = hn::MulAdd(hn::LoadU(d, a + k * lanes), factor, v[k]);
  }
  HWY_INLINE void subtract_product(const Column& a, float x) {
    const auto factor = hn::Set(d, x);
    for (int k = 0; k < parts; ++k) v[k] = hn::NegMulAdd(a.v[k], factor, v[k]);
  }
  HWY_INLINE void add(const Column& other) {
    for (int k = 0; k < parts; ++k) v[k] = hn::Add(v[k], other.v[k]);
  }
  /// Added up eight by eight in every set of instructions that has as many: with the same bits.
  HWY_INLINE float dot(const float* a) const {
#if HWY_MAX_BYTES >= 64
    const hn::Half<decltype(d)> half;
    const auto lower = hn::Mul(hn::LowerHalf(half, v[0]), hn::LoadU(half, a));
    const auto sum = hn::MulAdd(hn::UpperHalf(half, v[0]), hn::LoadU(half, a + lanes / 2), lower);
    return hn::GetLane(hn::SumOfLanes(half, sum));
#else
    auto sum = hn::Mul(v[0], hn::LoadU(d, a));
    for (int k = 1; k < parts; ++k) sum = hn::MulAdd(v[k], hn::LoadU(d, a + k * lanes), sum);
    return hn::GetLane(hn::SumOfLanes(d, sum));
#endif
  }
  HWY_INLINE void store(float* p) const {
    for (int k = 0; k < parts; ++k) hn::StoreU(v[k], d, p + k * lanes);
  }
};

/// Where a panel begins.
size_t begin_of(int panel) { return size_t(square) * panel * (panel + 1) / 2; }

/// Columns that are found at once, so that registers hold them and no chain of additions is waited for.
constexpr int together = parts == 1 ? 8 : 4;

/// c -= sum of a b^T over `blocks` pairs of blocks, one after the other, each by columns.
HWY_INLINE void subtract_blocks(float* HWY_RESTRICT c, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                                int blocks) {
  for (int j = 0; j < side; j += together) {
    Column sum[together];
    for (int t = 0; t < together; ++t) sum[t] = Column(c + (j + t) * side);
    for (int k = 0; k < side * blocks; ++k) {
      const Column column(a + k * side);
      for (int t = 0; t < together; ++t) sum[t].subtract_product(column, b[k * side + j + t]);
    }
    for (int t = 0; t < together; ++t) sum[t].store(c + (j + t) * side);
  }
}

/// A block by columns becomes the inverse of its Cholesky factor. False: it has none.
bool invert_block(float* a) {
  float inverse[square] = {};
  for (int k = 0; k < side; ++k) {
    const float pivot = a[k * side + k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const float root = std::sqrt(pivot);
    for (int i = k; i < side; ++i) a[k * side + i] /= root;
    const Column column(a + k * side);
    for (int j = k + 1; j < side; ++j) {
      Column below(a + j * side);
      below.subtract_product(column, a[k * side + j]);
      below.store(a + j * side);
    }
  }
  // by rows of the inverse: x_k = (e_k - sum over i < k of l_ki x_i) / l_kk
  for (int k = 0; k < side; ++k) {
    float unit[side] = {};
    unit[k] = 1;
    Column row(unit);
    for (int i = 0; i < k; ++i) row.subtract_product(Column(inverse + i * side), a[i * side + k]);
    float scaled[side];
    row.store(scaled);
    for (int i = 0; i < side; ++i) inverse[k * side + i] = i <= k ? scaled[i] / a[k * side + k] : 0;
  }
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) a[j * side + i] = inverse[i * side + j];
  return true;
}

/// Panel by panel, each from the ones before it.
bool factorize(float* values, int panels) {
  for (int p = 0; p < panels; ++p) {
    float* const row = values + begin_of(p);
    for (int q = 0; q <= p; ++q) {
      float* const block = row + size_t(square) * q;
      const float* const other = values + begin_of(q);
      subtract_blocks(block, row, other, q);
      if (q == p) break;
      // times D_q^-T
      const float* const inverse = other + size_t(square) * q;
      float old[square];
      std::copy_n(block, square, old);
      for (int j = 0; j < side; j += together) {
        Column sum[together];
        for (int k = 0; k < j + together; ++k)
          for (int t = 0; t < together; ++t) sum[t].add_product(old + k * side, inverse[k * side + j + t]);
        for (int t = 0; t < together; ++t) sum[t].store(block + (j + t) * side);
      }
    }
    if (!invert_block(row + size_t(square) * p)) return false;
  }
  return true;
}

void solve(const float* values, int panels, float* x) {
  for (int p = 0; p < panels; ++p) {
    const float* const row = values + begin_of(p);
    Column sum[4];
    for (int j = 0; j < side * p; j += 4)
      for (int c = 0; c < 4; ++c) sum[c].add_product(row + size_t(j + c) * side, x[j + c]);
    sum[0].add(sum[1]), sum[2].add(sum[3]), sum[0].add(sum[2]);
    float left[side];
    sum[0].store(left);
    float* const own = x + side * p;
    for (int i = 0; i < side; ++i) left[i] = own[i] - left[i];
    const float* const inverse = row + size_t(square) * p;
    Column solved[2];
    for (int j = 0; j < side; ++j) solved[j % 2].add_product(inverse + j * side, left[j]);
    solved[0].add(solved[1]);
    solved[0].store(own);
  }
  for (int p = panels - 1; p >= 0; --p) {
    const float* const row = values + begin_of(p);
    const float* const inverse = row + size_t(square) * p;
    float* const own = x + side * p;
    const Column right(own);
    float solved[side];
    for (int j = 0; j < side; ++j) solved[j] = right.dot(inverse + j * side);
    std::copy_n(solved, side, own);
    const Column now(own);
    for (int j = 0; j < side * p; ++j) x[j] -= now.dot(row + size_t(j) * side);
  }
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

namespace {

HWY_EXPORT(factorize);
HWY_EXPORT(solve);

/// Of the diagonal: what float leaves of a pivot that should be 0, and more where that does not suffice.
constexpr float least_shift = 2e-6f, most_shift = 1e-2f;

int panels_of(int n) { return (n + dense_panel - 1) / dense_panel; }

}  // namespace

void DenseCholesky::resize(int n) {
  size_ = n;
  const int rows = panels_of(n) * dense_panel;
  matrix_.assign(begin_of(rows), 0.f);
  for (int i = n; i < rows; ++i) set(i, i, 1);
}

bool DenseCholesky::factorize() {
  for (float shift = least_shift; shift <= most_shift; shift *= 10) {
    factor_ = matrix_;
    for (int i = 0; i < size_; ++i) factor_[begin_of(i) + size_t(i) * dense_panel + i % dense_panel] *= 1 + shift;
    if (HWY_DYNAMIC_DISPATCH(factorize)(factor_.data(), panels_of(size_))) return true;
  }
  return false;
}

void DenseCholesky::solve(float* x) const {
  std::fill(x + size_, x + panels_of(size_) * dense_panel, 0.f);
  HWY_DYNAMIC_DISPATCH(solve)(factor_.data(), panels_of(size_), x);
}

}  // namespace verve
#endif
