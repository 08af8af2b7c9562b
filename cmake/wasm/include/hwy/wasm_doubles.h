// Vectors of two doubles for the WebAssembly target of Google Highway 1.0, which computes with floats and integers only:
// the operations that the kernels use, each one instruction unless said. Where Highway has a general template (loads,
// logic, shuffles) that one serves doubles already.
#pragma once

HWY_BEFORE_NAMESPACE();
namespace hwy {
namespace HWY_NAMESPACE {

template <size_t N, HWY_IF_LE128(double, N)>
HWY_API Vec128<double, N> Set(Simd<double, N, 0> /* tag */, const double t) {
  return Vec128<double, N>{wasm_f64x2_splat(t)};
}
template <size_t N>
HWY_API double GetLane(const Vec128<double, N> v) {
  return wasm_f64x2_extract_lane(v.raw, 0);
}

// ---- arithmetic; no instruction multiplies and adds at once

template <size_t N>
HWY_API Vec128<double, N> operator+(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Vec128<double, N>{wasm_f64x2_add(a.raw, b.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> operator-(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Vec128<double, N>{wasm_f64x2_sub(a.raw, b.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> operator*(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Vec128<double, N>{wasm_f64x2_mul(a.raw, b.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> operator/(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Vec128<double, N>{wasm_f64x2_div(a.raw, b.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> MulAdd(const Vec128<double, N> mul, const Vec128<double, N> x, const Vec128<double, N> add) {
  return mul * x + add;
}
template <size_t N>
HWY_API Vec128<double, N> NegMulAdd(const Vec128<double, N> mul, const Vec128<double, N> x,
                                    const Vec128<double, N> add) {
  return add - mul * x;
}
template <size_t N>
HWY_API Vec128<double, N> MulSub(const Vec128<double, N> mul, const Vec128<double, N> x, const Vec128<double, N> sub) {
  return mul * x - sub;
}
template <size_t N>
HWY_API Vec128<double, N> Neg(const Vec128<double, N> v) {
  return Vec128<double, N>{wasm_f64x2_neg(v.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> Abs(const Vec128<double, N> v) {
  return Vec128<double, N>{wasm_f64x2_abs(v.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> Sqrt(const Vec128<double, N> v) {
  return Vec128<double, N>{wasm_f64x2_sqrt(v.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> Round(const Vec128<double, N> v) {
  return Vec128<double, N>{wasm_f64x2_nearest(v.raw)};
}
// The second number where either is none, as on x86; wasm_f64x2_max would take several instructions there.
template <size_t N>
HWY_API Vec128<double, N> Max(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Vec128<double, N>{wasm_f64x2_pmax(b.raw, a.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> Min(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Vec128<double, N>{wasm_f64x2_pmin(b.raw, a.raw)};
}
template <size_t N>
HWY_API Vec128<float, N> Neg(const Vec128<float, N> v) {
  return Vec128<float, N>{wasm_f32x4_neg(v.raw)};
}

// ---- comparison

template <size_t N>
HWY_API Mask128<double, N> operator==(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Mask128<double, N>{wasm_f64x2_eq(a.raw, b.raw)};
}
template <size_t N>
HWY_API Mask128<double, N> operator>(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Mask128<double, N>{wasm_f64x2_gt(a.raw, b.raw)};
}
template <size_t N>
HWY_API Mask128<double, N> operator<(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Mask128<double, N>{wasm_f64x2_lt(a.raw, b.raw)};
}
template <size_t N>
HWY_API Mask128<double, N> operator<=(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Mask128<double, N>{wasm_f64x2_le(a.raw, b.raw)};
}
template <size_t N>
HWY_API Mask128<double, N> operator>=(const Vec128<double, N> a, const Vec128<double, N> b) {
  return Mask128<double, N>{wasm_f64x2_ge(a.raw, b.raw)};
}

// ---- conversion, and the pairs of floats that it begins or ends with (Highway copies these byte by byte)

template <size_t N, HWY_IF_LE128(double, N)>
HWY_API Vec128<double, N> PromoteTo(Simd<double, N, 0> /* tag */, const Vec128<float, N> v) {
  return Vec128<double, N>{wasm_f64x2_promote_low_f32x4(v.raw)};
}
template <size_t N, HWY_IF_LE128(double, N)>
HWY_API Vec128<float, N> DemoteTo(Simd<float, N, 0> /* tag */, const Vec128<double, N> v) {
  return Vec128<float, N>{wasm_f32x4_demote_f64x2_zero(v.raw)};
}
// Some instructions: none converts 64 bits.
HWY_API Vec128<double, 2> ConvertTo(Simd<double, 2, 0> /* tag */, const Vec128<int64_t, 2> v) {
  return Vec128<double, 2>{wasm_f64x2_make(static_cast<double>(wasm_i64x2_extract_lane(v.raw, 0)),
                                           static_cast<double>(wasm_i64x2_extract_lane(v.raw, 1)))};
}
HWY_API Vec128<float, 2> Load(Simd<float, 2, 0> /* tag */, const float* HWY_RESTRICT p) {
  return Vec128<float, 2>{wasm_v128_load64_zero(p)};
}
HWY_API Vec128<int32_t, 2> Load(Simd<int32_t, 2, 0> /* tag */, const int32_t* HWY_RESTRICT p) {
  return Vec128<int32_t, 2>{wasm_v128_load64_zero(p)};
}
HWY_API void Store(const Vec128<float, 2> v, Simd<float, 2, 0> /* tag */, float* HWY_RESTRICT p) {
  wasm_v128_store64_lane(p, v.raw, 0);
}
HWY_API void Store(const Vec128<int32_t, 2> v, Simd<int32_t, 2, 0> /* tag */, int32_t* HWY_RESTRICT p) {
  wasm_v128_store64_lane(p, v.raw, 0);
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
HWY_AFTER_NAMESPACE();
