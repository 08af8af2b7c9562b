// Between rows of padded vectors (x y z 0) and one SIMD vector per coordinate. Included once per SIMD target.
#if defined(VERVE_ROW_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_ROW_TRANSPOSE_INL_H
#undef VERVE_ROW_TRANSPOSE_INL_H
#else
#define VERVE_ROW_TRANSPOSE_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of at most 256 bits: eight floats or four doubles.
template <class T>
using Tag = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
using Pack = hn::Vec<Tag<T>>;
template <class T>
constexpr int lanes = int(hn::MaxLanes(Tag<T>()));

#if HWY_TARGET == HWY_SCALAR

template <class T, class At>
HWY_INLINE void load_rows(At at, Pack<T>& x, Pack<T>& y, Pack<T>& z) {
  const T* p = at(0);
  x = hn::Set(Tag<T>(), p[0]), y = hn::Set(Tag<T>(), p[1]), z = hn::Set(Tag<T>(), p[2]);
}
template <class T, class At>
HWY_INLINE void add_to_rows(At at, Pack<T> x, Pack<T> y, Pack<T> z) {
  T* p = at(0);
  p[0] += hn::GetLane(x), p[1] += hn::GetLane(y), p[2] += hn::GetLane(z);
}
template <class T>
HWY_INLINE void add_sums(T* row, Pack<T> x, Pack<T> y, Pack<T> z) {
  row[0] += hn::GetLane(x), row[1] += hn::GetLane(y), row[2] += hn::GetLane(z);
}

#else

// Interleaving works within blocks of 128 bits, so with AVX rows k and k + 4 (floats) share a vector.

template <class T, class At>
HWY_INLINE void load_rows(At at, Pack<T>& x, Pack<T>& y, Pack<T>& z) {
  const Tag<T> d;
  if constexpr (sizeof(T) == 4) {
    const auto pair = [&](int k) {
      if constexpr (lanes<T> == 8) {
        const hn::Half<Tag<T>> h;
        return hn::Combine(d, hn::Load(h, at(k + 4)), hn::Load(h, at(k)));
      } else {
        return hn::Load(d, at(k));
      }
    };
    const auto r0 = pair(0), r1 = pair(1), r2 = pair(2), r3 = pair(3);
    const auto xy02 = hn::InterleaveLower(d, r0, r2), xy13 = hn::InterleaveLower(d, r1, r3);
    const auto zw02 = hn::InterleaveUpper(d, r0, r2), zw13 = hn::InterleaveUpper(d, r1, r3);
    x = hn::InterleaveLower(d, xy02, xy13);
    y = hn::InterleaveUpper(d, xy02, xy13);
    z = hn::InterleaveLower(d, zw02, zw13);
  } else if constexpr (lanes<T> == 4) {
    const auto r0 = hn::Load(d, at(0)), r1 = hn::Load(d, at(1)), r2 = hn::Load(d, at(2)), r3 = hn::Load(d, at(3));
    const auto xz01 = hn::InterleaveLower(d, r0, r1), xz23 = hn::InterleaveLower(d, r2, r3);
    const auto yw01 = hn::InterleaveUpper(d, r0, r1), yw23 = hn::InterleaveUpper(d, r2, r3);
    x = hn::ConcatLowerLower(d, xz23, xz01);
    y = hn::ConcatLowerLower(d, yw23, yw01);
    z = hn::ConcatUpperUpper(d, xz23, xz01);
  } else {
    const auto r0 = hn::Load(d, at(0)), r1 = hn::Load(d, at(1));
    x = hn::InterleaveLower(d, r0, r1);
    y = hn::InterleaveUpper(d, r0, r1);
    z = hn::InterleaveLower(d, hn::Load(d, at(0) + 2), hn::Load(d, at(1) + 2));
  }
}

/// Floats: (x y z 0) of rows k and, with AVX, k + 4, for k < 4.
struct FloatRows {
  Pack<float> of[4];
  HWY_INLINE FloatRows(Pack<float> x, Pack<float> y, Pack<float> z) {
    const Tag<float> d;
    const auto zero = hn::Zero(d);
    const auto xz01 = hn::InterleaveLower(d, x, z), xz23 = hn::InterleaveUpper(d, x, z);
    const auto y01 = hn::InterleaveLower(d, y, zero), y23 = hn::InterleaveUpper(d, y, zero);
    of[0] = hn::InterleaveLower(d, xz01, y01), of[1] = hn::InterleaveUpper(d, xz01, y01);
    of[2] = hn::InterleaveLower(d, xz23, y23), of[3] = hn::InterleaveUpper(d, xz23, y23);
  }
};

/// (sum of the lanes of x, of y, of z, 0); with AVX each half by itself.
HWY_INLINE Pack<float> float_sums(Pack<float> x, Pack<float> y, Pack<float> z) {
  const Tag<float> d;
  const auto zero = hn::Zero(d);
  const auto xz = hn::Add(hn::InterleaveLower(d, x, z), hn::InterleaveUpper(d, x, z));
  const auto y0 = hn::Add(hn::InterleaveLower(d, y, zero), hn::InterleaveUpper(d, y, zero));
  return hn::Add(hn::InterleaveLower(d, xz, y0), hn::InterleaveUpper(d, xz, y0));
}

template <class T, class At>
HWY_INLINE void add_to_rows(At at, Pack<T> x, Pack<T> y, Pack<T> z) {
  const Tag<T> d;
  const auto add = [](auto dd, T* p, auto v) { hn::Store(hn::Add(hn::Load(dd, p), v), dd, p); };
  if constexpr (sizeof(T) == 4) {
    const FloatRows rows(x, y, z);
    for (int k = 0; k < 4; ++k) {
      if constexpr (lanes<T> == 8) {
        const hn::Half<Tag<T>> h;
        add(h, at(k), hn::LowerHalf(h, rows.of[k]));
        add(h, at(k + 4), hn::UpperHalf(h, rows.of[k]));
      } else {
        add(d, at(k), rows.of[k]);
      }
    }
  } else {
    const auto zero = hn::Zero(d);
    const auto xy_even = hn::InterleaveLower(d, x, y), xy_odd = hn::InterleaveUpper(d, x, y);
    const auto z_even = hn::InterleaveLower(d, z, zero), z_odd = hn::InterleaveUpper(d, z, zero);
    if constexpr (lanes<T> == 4) {
      add(d, at(0), hn::ConcatLowerLower(d, z_even, xy_even));
      add(d, at(1), hn::ConcatLowerLower(d, z_odd, xy_odd));
      add(d, at(2), hn::ConcatUpperUpper(d, z_even, xy_even));
      add(d, at(3), hn::ConcatUpperUpper(d, z_odd, xy_odd));
    } else {
      add(d, at(0), xy_even), add(d, at(0) + 2, z_even);
      add(d, at(1), xy_odd), add(d, at(1) + 2, z_odd);
    }
  }
}

/// row += (sum of the lanes of x, of y, of z, 0)
template <class T>
HWY_INLINE void add_sums(T* row, Pack<T> x, Pack<T> y, Pack<T> z) {
  const Tag<T> d;
  const auto add = [](auto dd, T* p, auto v) { hn::Store(hn::Add(hn::Load(dd, p), v), dd, p); };
  if constexpr (sizeof(T) == 4) {
    const auto xyz0 = float_sums(x, y, z);
    if constexpr (lanes<T> == 8) {
      const hn::Half<Tag<T>> h;
      add(h, row, hn::Add(hn::LowerHalf(h, xyz0), hn::UpperHalf(h, xyz0)));
    } else {
      add(d, row, xyz0);
    }
  } else {
    const auto zero = hn::Zero(d);
    const auto xy = hn::Add(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y));
    const auto z0 = hn::Add(hn::InterleaveLower(d, z, zero), hn::InterleaveUpper(d, z, zero));
    if constexpr (lanes<T> == 4) {
      add(d, row, hn::Add(hn::ConcatLowerLower(d, z0, xy), hn::ConcatUpperUpper(d, z0, xy)));
    } else {
      add(d, row, xy), add(d, row + 2, z0);
    }
  }
}

#endif

// Of rows of six right-hand sides, s[3 * block + coordinate]: in float the two padded vectors of a row fill a register
// of AVX, and each row is read and written once.

template <class T, int blocks>
constexpr bool row_is_vector = blocks == 2 && sizeof(T) == 4 && lanes<T> == 8;

#if HWY_TARGET != HWY_SCALAR

template <class At>
HWY_INLINE void add_to_vectors(At at, const Pack<float> (&s)[6]) {
  const Tag<float> d;
  const FloatRows first(s[0], s[1], s[2]), second(s[3], s[4], s[5]);
  const auto add = [&](float* p, auto v) { hn::Store(hn::Add(hn::Load(d, p), v), d, p); };
  for (int k = 0; k < 4; ++k) {
    add(at(k), hn::ConcatLowerLower(d, second.of[k], first.of[k]));
    add(at(k + 4), hn::ConcatUpperUpper(d, second.of[k], first.of[k]));
  }
}

HWY_INLINE void add_sums_to_vector(float* row, const Pack<float> (&s)[6]) {
  const Tag<float> d;
  const auto first = float_sums(s[0], s[1], s[2]), second = float_sums(s[3], s[4], s[5]);
  const auto both = hn::Add(hn::ConcatLowerLower(d, second, first), hn::ConcatUpperUpper(d, second, first));
  hn::Store(hn::Add(hn::Load(d, row), both), d, row);
}

#endif

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
