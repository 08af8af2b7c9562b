#include "linear/row_kernel.h"
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/row_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Four numbers in one register, or in two where registers are short. (An array of vectors, so that the loops over it
/// unroll away.)
template <class T>
struct Four {
  using D = hn::CappedTag<T, 4>;
  static constexpr int lanes = int(hn::MaxLanes(D())), parts = 4 / lanes;
  hn::Vec<D> v[parts];

  HWY_INLINE Four() {
    for (auto& part : v) part = hn::Zero(D());
  }
  HWY_INLINE explicit Four(const T* p) {
    for (int k = 0; k < parts; ++k) v[k] = hn::Load(D(), p + k * lanes);
  }
  HWY_INLINE void add_product(T a, const T* x) {
    const auto factor = hn::Set(D(), a);
    for (int k = 0; k < parts; ++k) v[k] = hn::MulAdd(factor, hn::Load(D(), x + k * lanes), v[k]);
  }
  HWY_INLINE void subtract_product(T a, const T* x) {
    const auto factor = hn::Set(D(), a);
    for (int k = 0; k < parts; ++k) v[k] = hn::NegMulAdd(factor, hn::Load(D(), x + k * lanes), v[k]);
  }
  HWY_INLINE void add(const Four& other) {
    for (int k = 0; k < parts; ++k) v[k] = hn::Add(v[k], other.v[k]);
  }
  HWY_INLINE void store(T* p) const {
    for (int k = 0; k < parts; ++k) hn::Store(v[k], D(), p + k * lanes);
  }
};

template <class T, class Vector>
HWY_INLINE void rows_product(const int* HWY_RESTRICT start, const int* HWY_RESTRICT column, const T* HWY_RESTRICT value,
                             const Vector* HWY_RESTRICT x, int begin, int end, Vector* HWY_RESTRICT out) {
  for (int i = begin; i < end; ++i) {
    Four<T> even, odd;  // two chains of additions
    int k = start[i];
    const int last = start[i + 1];
    for (; k + 1 < last; k += 2) {
      even.add_product(value[k], &x[column[k]].x);
      odd.add_product(value[k + 1], &x[column[k + 1]].x);
    }
    if (k < last) even.add_product(value[k], &x[column[k]].x);
    even.add(odd);
    even.store(&out[i - begin].x);
  }
}

void rows_float(const int* start, const int* column, const float* value, const Float4* x, int begin, int end,
                Float4* out) {
  rows_product(start, column, value, x, begin, end, out);
}
void rows_double(const int* start, const int* column, const double* value, const Vec4* x, int begin, int end,
                 Vec4* out) {
  rows_product(start, column, value, x, begin, end, out);
}

template <int Count, class T>
HWY_INLINE void columns_product(const T* const* column, const Vec4* factor, int begin, int end, Vec4* HWY_RESTRICT x) {
  const T* HWY_RESTRICT c[Count];
  for (int k = 0; k < Count; ++k) c[k] = column[k];
  for (int i = begin; i < end; ++i) {
    Four<double> sum(&x[i].x);
    for (int k = 0; k < Count; ++k) sum.subtract_product(double(c[k][i]), &factor[k].x);
    sum.store(&x[i].x);
  }
}

/// Four columns at a time: x is read and written once for them.
template <class T>
HWY_INLINE void all_columns(const T* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x) {
  int k = 0;
  for (; k + 4 <= count; k += 4) columns_product<4>(column + k, factor + k, begin, end, x);
  for (; k < count; ++k) columns_product<1>(column + k, factor + k, begin, end, x);
}

void columns_float(const float* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x) {
  all_columns(column, factor, count, begin, end, x);
}
void columns_double(const double* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x) {
  all_columns(column, factor, count, begin, end, x);
}

/// Panel by panel, two columns at a time: the matrix is read once, from its beginning to its end.
void dense_product(const float* HWY_RESTRICT matrix, int stride, int n, const float* HWY_RESTRICT f,
                   float* HWY_RESTRICT out) {
  const hn::CappedTag<float, dense_panel> d;
  constexpr int parts = dense_panel / int(hn::MaxLanes(d));
  const int lanes = int(hn::MaxLanes(d));
  const auto column = [&](const float* HWY_RESTRICT c, const float* HWY_RESTRICT g, auto& x, auto& y,
                          auto& z) HWY_ATTR {
    const auto gx = hn::Set(d, g[0]), gy = hn::Set(d, g[stride]), gz = hn::Set(d, g[2 * size_t(stride)]);
    for (int k = 0; k < parts; ++k) {
      const auto v = hn::LoadU(d, c + k * lanes);
      x[k] = hn::MulAdd(v, gx, x[k]), y[k] = hn::MulAdd(v, gy, y[k]), z[k] = hn::MulAdd(v, gz, z[k]);
    }
  };
  for (int i = 0; i < n; i += dense_panel, matrix += size_t(dense_panel) * stride) {
    hn::Vec<decltype(d)> x[2][parts], y[2][parts], z[2][parts];  // two chains of additions
    for (int k = 0; k < 2; ++k)
      for (int p = 0; p < parts; ++p) x[k][p] = y[k][p] = z[k][p] = hn::Zero(d);
    const float* c = matrix;
    int j = 0;
    for (; j + 2 <= n; j += 2, c += 2 * dense_panel) {
      column(c, f + j, x[0], y[0], z[0]);
      column(c + dense_panel, f + j + 1, x[1], y[1], z[1]);
    }
    if (j < n) column(c, f + j, x[0], y[0], z[0]);
    for (int k = 0; k < parts; ++k) {
      float* const to = out + i + k * lanes;
      hn::StoreU(hn::Add(x[0][k], x[1][k]), d, to), hn::StoreU(hn::Add(y[0][k], y[1][k]), d, to + stride);
      hn::StoreU(hn::Add(z[0][k], z[1][k]), d, to + 2 * size_t(stride));
    }
  }
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

HWY_EXPORT(rows_float);
HWY_EXPORT(rows_double);
HWY_EXPORT(columns_float);
HWY_EXPORT(columns_double);
HWY_EXPORT(dense_product);

void multiply_rows(const int* start, const int* column, const float* value, const Float4* x, int begin, int end,
                   Float4* out) {
  HWY_DYNAMIC_DISPATCH(rows_float)(start, column, value, x, begin, end, out);
}
void multiply_rows(const int* start, const int* column, const double* value, const Vec4* x, int begin, int end,
                   Vec4* out) {
  HWY_DYNAMIC_DISPATCH(rows_double)(start, column, value, x, begin, end, out);
}
void subtract_columns(const float* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x) {
  HWY_DYNAMIC_DISPATCH(columns_float)(column, factor, count, begin, end, x);
}
void subtract_columns(const double* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x) {
  HWY_DYNAMIC_DISPATCH(columns_double)(column, factor, count, begin, end, x);
}
void multiply_dense(const float* matrix, int stride, int n, const float* f, float* out) {
  HWY_DYNAMIC_DISPATCH(dense_product)(matrix, stride, n, f, out);
}

}  // namespace verve
#endif
