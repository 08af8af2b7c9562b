// The two passes through the panels. -ffp-contract does not touch the explicit MulAdd: fused where the target can.

#include "base/simd_targets.h"
#include "linear/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/panel_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "linear/row_transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

HWY_INLINE Pack<float> load_values(const float* p) { return hn::Load(Tag<float>(), p); }
HWY_INLINE Pack<double> load_values(const double* p) { return hn::Load(Tag<double>(), p); }
HWY_INLINE Pack<float> load_values(const Half* p) {
  const hn::Rebind<hwy::float16_t, Tag<float>> half;
  return hn::PromoteTo(Tag<float>(), hn::Load(half, reinterpret_cast<const hwy::float16_t*>(p)));
}

/// Vectors of rows worked on at a time: twelve sums (or rows) in registers, twice as many where there are 32 of them.
template <int blocks>
constexpr int strip = blocks == 1 || hn::MaxLanes(hn::ScalableTag<float>()) >= 16 ? 4 : 2;

/// x[row] += values * columns for `count` vectors of rows of a tile that has `height` rows.
template <class S, int blocks, int count>
HWY_INLINE void forward_strip(const S* value, int height, int width, const Computed<S>* columns, const int* row,
                              Computed<S>* x) {
  using T = Computed<S>;
  constexpr int stride = 4 * blocks;
  const Tag<T> d;
  Pack<T> sum[count][3 * blocks];
  for (auto& s : sum)
    for (auto& c : s) c = hn::Zero(d);
  for (int j = 0; j < width; ++j, value += height, columns += stride) {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      const auto p = load_values(value + v * lanes<T>);
#pragma GCC unroll 6
      for (int c = 0; c < 3 * blocks; ++c)
        sum[v][c] = hn::MulAdd(p, hn::Set(d, columns[4 * (c / 3) + c % 3]), sum[v][c]);
    }
  }
  for (int v = 0; v < count; ++v) {
    if constexpr (row_is_vector<T, blocks>) {
      add_to_vectors([&](int k) { return x + size_t(row[v * lanes<T> + k]) * stride; }, sum[v]);
    } else {
      for (int b = 0; b < blocks; ++b) {
        const auto at = [&](int k) { return x + size_t(row[v * lanes<T> + k]) * stride + 4 * b; };
        add_to_rows<T>(at, sum[v][3 * b], sum[v][3 * b + 1], sum[v][3 * b + 2]);
      }
    }
  }
}

/// `count` vectors of rows, by coordinate.
template <class T, int blocks, int count>
struct Rows {
  Pack<T> of[count][3 * blocks];

  HWY_INLINE Rows(const T* x, const int* row) {
    for (int v = 0; v < count; ++v) {
      for (int b = 0; b < blocks; ++b) {
        const auto at = [&](int k) { return x + size_t(row[v * lanes<T> + k]) * 4 * blocks + 4 * b; };
        load_rows<T>(at, of[v][3 * b], of[v][3 * b + 1], of[v][3 * b + 2]);
      }
    }
  }
  /// sum += values^T rows, lane by lane
  template <class S>
  HWY_INLINE void add_products(const S* value, Pack<T> (&sum)[3 * blocks]) const {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      const auto p = load_values(value + v * lanes<T>);
#pragma GCC unroll 6
      for (int c = 0; c < 3 * blocks; ++c) sum[c] = hn::MulAdd(p, of[v][c], sum[c]);
    }
  }
};

/// sums[column] += values^T x[row] for `count` vectors of rows, lane by lane.
template <class S, int blocks, int count>
HWY_INLINE void backward_strip(const S* value, int height, int width, const Computed<S>* x, const int* row,
                               Computed<S>* sums) {
  using T = Computed<S>;
  const Tag<T> d;
  const Rows<T, blocks, count> rows(x, row);
  for (int j = 0; j < width; ++j, value += height, sums += 3 * blocks * lanes<T>) {
    Pack<T> sum[3 * blocks];
#pragma GCC unroll 6
    for (int c = 0; c < 3 * blocks; ++c) sum[c] = hn::Load(d, sums + c * lanes<T>);
    rows.add_products(value, sum);
#pragma GCC unroll 6
    for (int c = 0; c < 3 * blocks; ++c) hn::Store(sum[c], d, sums + c * lanes<T>);
  }
}

/// The whole backward pass of a panel that has no rows but those of one strip: the sums need not leave the registers.
template <class S, int blocks, int count>
HWY_INLINE void backward_whole(const S* value, int height, int width, const int* row, Computed<S>* columns,
                               Computed<S>* x) {
  using T = Computed<S>;
  const Rows<T, blocks, count> rows(x, row);
  for (int j = 0; j < width; ++j, value += height, columns += 4 * blocks) {
    Pack<T> sum[3 * blocks];
#pragma GCC unroll 6
    for (int c = 0; c < 3 * blocks; ++c) sum[c] = hn::Zero(Tag<T>());
    rows.add_products(value, sum);
    if constexpr (row_is_vector<T, blocks>) {
      add_sums_to_vector(columns, sum);
    } else {
      for (int b = 0; b < blocks; ++b) add_sums<T>(columns + 4 * b, sum[3 * b], sum[3 * b + 1], sum[3 * b + 2]);
    }
  }
}

/// Calls f.template operator()<count>(vector) over the strips of a tile with `height` rows.
template <class T, int blocks, class F>
HWY_INLINE void for_strips(int height, F&& f) {
  const int vectors = height / lanes<T>;
  int v = 0;
  for (; v + strip<blocks> <= vectors; v += strip<blocks>) f.template operator()<strip<blocks>>(v);
  if constexpr (strip<blocks> == 4) {
    if (vectors - v == 3) return f.template operator()<3>(v);
    if (vectors - v == 2) return f.template operator()<2>(v);
  }
  if (vectors - v == 1) f.template operator()<1>(v);
}

template <class S>
const S* tile_value(const PanelArrays<S>& arrays, const Panel& p, int tile) {
  const S* value = arrays.value + p.value;
  for (int t = 0; t < tile; ++t) value += size_t(tile_rows<S>(p, t)) * tile_columns<S>(p, t);
  return value;
}

template <class S, int blocks>
void forward_tiles(const PanelArrays<S>& arrays, const Panel& p, int begin, int end, const Computed<S>* columns,
                   Computed<S>* x) {
  using T = Computed<S>;
  const S* value = tile_value(arrays, p, begin);
  for (int t = begin; t < end; ++t) {
    const int height = tile_rows<S>(p, t), width = tile_columns<S>(p, t);
    const int* row = arrays.target + p.index + t * panel_tile<S>;
    for_strips<T, blocks>(
        height, [&]<int count>(int v) __attribute__((always_inline)) {
          forward_strip<S, blocks, count>(value + v * lanes<T>, height, width, columns, row + v * lanes<T>, x);
        });
    value += size_t(height) * width;
  }
}

template <class S, int blocks>
void backward_tiles(const PanelArrays<S>& arrays, const Panel& p, int begin, int end, const Computed<S>* x,
                    Computed<S>* sums) {
  using T = Computed<S>;
  const Tag<T> d;  // inline for the same reason as copy_rows
  for (int k = 0; k < 3 * blocks * p.width; ++k) hn::Store(hn::Zero(d), d, sums + k * lanes<T>);
  const S* value = tile_value(arrays, p, begin);
  for (int t = begin; t < end; ++t) {
    const int height = tile_rows<S>(p, t), width = tile_columns<S>(p, t);
    const int* row = arrays.row + p.index + t * panel_tile<S>;
    for_strips<T, blocks>(
        height, [&]<int count>(int v) __attribute__((always_inline)) {
          backward_strip<S, blocks, count>(value + v * lanes<T>, height, width, x, row + v * lanes<T>, sums);
        });
    value += size_t(height) * width;
  }
}

template <class S, int blocks>
void finish(const Panel& p, const Computed<S>* sums, int parts, Computed<S>* x) {
  using T = Computed<S>;
  const Tag<T> d;
  const size_t part_size = panel_sums<S>(p.width, blocks);
  for (int j = 0; j < p.width; ++j) {
    const T* column = sums + size_t(3) * blocks * lanes<T> * j;
    Pack<T> sum[3 * blocks];
    for (int c = 0; c < 3 * blocks; ++c) sum[c] = hn::Load(d, column + c * lanes<T>);
    for (int part = 1; part < parts; ++part)
      for (int c = 0; c < 3 * blocks; ++c)
        sum[c] = hn::Add(sum[c], hn::Load(d, column + part * part_size + c * lanes<T>));
    T* row = x + size_t(p.first + j) * 4 * blocks;
    if constexpr (row_is_vector<T, blocks>) {
      add_sums_to_vector(row, sum);
    } else {
      for (int b = 0; b < blocks; ++b) add_sums<T>(row + 4 * b, sum[3 * b], sum[3 * b + 1], sum[3 * b + 2]);
    }
  }
}

/// Whole rows; inline, because most panels are narrow and a call costs more than the copy.
template <class T>
HWY_INLINE void copy_rows(const T* from, int count, T* to) {
  const hn::CappedTag<T, 4> d;
  for (int k = 0; k < count; k += int(hn::Lanes(d))) hn::Store(hn::Load(d, from + k), d, to + k);
}

template <class S, int blocks>
void forward(const PanelArrays<S>& arrays, const Panel* begin, const Panel* end, Computed<S>* x) {
  alignas(64) Computed<S> columns[4 * blocks * widest_panel];
  for (const Panel* p = begin; p != end; ++p) {
    copy_rows(x + size_t(p->first) * 4 * blocks, 4 * blocks * p->width, columns);
    forward_tiles<S, blocks>(arrays, *p, 0, tile_count<S>(*p), columns, x);
  }
}

template <class S, int blocks>
void backward(const PanelArrays<S>& arrays, const Panel* begin, const Panel* end, Computed<S>* x) {
  alignas(64) Computed<S> sums[panel_sums<S>(widest_panel, blocks)];
  for (const Panel* p = end; p-- != begin;) {
    const int height = tile_rows<S>(*p, 0);
    if (tile_count<S>(*p) == 1 && height <= strip<blocks> * lanes<Computed<S>>) {
      for_strips<Computed<S>, blocks>(
          height, [&]<int count>(int) __attribute__((always_inline)) {
            backward_whole<S, blocks, count>(arrays.value + p->value, height, p->width, arrays.row + p->index,
                                             x + size_t(p->first) * 4 * blocks, x);
          });
    } else {
      backward_tiles<S, blocks>(arrays, *p, 0, tile_count<S>(*p), x, sums);
      finish<S, blocks>(*p, sums, 1, x);
    }
  }
}

template <class S, int blocks>
void add_rows(const Computed<S>* from, const int* target, size_t count, Computed<S>* x) {
  constexpr int stride = 4 * blocks;
  for (size_t k = 0; k < count; ++k, from += stride) {
    Computed<S>* to = x + size_t(target[k]) * stride;
    for (int c = 0; c < stride; ++c) to[c] += from[c];
  }
}

/// to = scale * from; rows of three numbers and a fourth that becomes zero.
template <class From, class To>
HWY_INLINE void scale_row(const From* from, double scale, To* to) {
  if constexpr (lanes<double> == 4) {
    const Tag<double> d;
    const hn::Rebind<From, Tag<double>> d_from;
    const hn::Rebind<To, Tag<double>> d_to;
    const auto row = [&] {
      if constexpr (sizeof(From) == 4) {
        return hn::PromoteTo(d, hn::Load(d_from, from));
      } else {
        return hn::LoadU(d, from);
      }
    }();
    const auto scaled = hn::IfThenElseZero(hn::FirstN(d, 3), hn::Mul(row, hn::Set(d, scale)));
    if constexpr (sizeof(To) == 4) {
      hn::Store(hn::DemoteTo(d_to, scaled), d_to, to);
    } else {
      hn::StoreU(scaled, d, to);
    }
  } else {
    for (int c = 0; c < 3; ++c) to[c] = To(double(from[c]) * scale);
    to[3] = 0;
  }
}

template <class S, int blocks, class Row>
void load(const Panel* begin, const Panel* end, const int* order, const double* scale, const Row* const* b,
          Computed<S>* x) {
  for (const Panel* p = begin; p != end; ++p) {
    for (int k = p->first; k < p->first + p->width; ++k)
      for (int block = 0; block < blocks; ++block)
        scale_row(&b[block][order[k]].x, scale[k], x + (size_t(k) * blocks + block) * 4);
  }
}

template <class S, int blocks, class Row>
void store(const Panel* begin, const Panel* end, const int* order, const double* scale, const Computed<S>* x,
           Row* const* b) {
  for (const Panel* p = begin; p != end; ++p) {
    for (int k = p->first; k < p->first + p->width; ++k)
      for (int block = 0; block < blocks; ++block)
        scale_row(x + (size_t(k) * blocks + block) * 4, scale[k], &b[block][order[k]].x);
  }
}

template <class S, int blocks>
constexpr PanelKernels<S> table = {forward<S, blocks>,        backward<S, blocks>,     forward_tiles<S, blocks>,
                                   backward_tiles<S, blocks>, finish<S, blocks>,       add_rows<S, blocks>,
                                   load<S, blocks, Vec4>,     load<S, blocks, Float4>, store<S, blocks, Vec4>,
                                   store<S, blocks, Float4>};

const PanelKernels<double>& double_kernels(int blocks) { return blocks == 1 ? table<double, 1> : table<double, 2>; }
const PanelKernels<float>& float_kernels(int blocks) { return blocks == 1 ? table<float, 1> : table<float, 2>; }
const PanelKernels<Half>& half_kernels(int blocks) { return blocks == 1 ? table<Half, 1> : table<Half, 2>; }

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

HWY_EXPORT(double_kernels);
HWY_EXPORT(float_kernels);
HWY_EXPORT(half_kernels);

template <>
const PanelKernels<double>& panel_kernels<double>(int blocks) {
  return HWY_DYNAMIC_DISPATCH(double_kernels)(blocks);
}
template <>
const PanelKernels<float>& panel_kernels<float>(int blocks) {
  return HWY_DYNAMIC_DISPATCH(float_kernels)(blocks);
}
template <>
const PanelKernels<Half>& panel_kernels<Half>(int blocks) {
  return HWY_DYNAMIC_DISPATCH(half_kernels)(blocks);
}

}  // namespace verve
#endif
