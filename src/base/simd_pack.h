// Packs of lanes through Google Highway: the number type of the element kernels in the batch loops.
//
// This file is read once for each set of instructions (hwy/foreach_target.h does the repeating), each time into a
// namespace of its own, verve::N_AVX2 and so on, between pragmas that let the compiler use those instructions. Whatever
// touches a pack has to be read along with it: the small vectors of vec.h, the kernels, the loops. At run time the best
// set that the processor has is chosen (potentials/dispatch.h).
#if defined(VERVE_SIMD_PACK_H) == defined(HWY_TARGET_TOGGLE)  // an include guard that opens again for each set
#ifdef VERVE_SIMD_PACK_H
#undef VERVE_SIMD_PACK_H
#else
#define VERVE_SIMD_PACK_H
#endif

#include <hwy/highway.h>

#include "base/simd.h"

HWY_BEFORE_NAMESPACE();
namespace verve {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#include "verve/vec_templates.h"
using Vec3 = Vec3T<double>;
using Mat3 = Mat3T<double>;

/// 16 lanes of float or 4 of double, fewer where the registers are shorter. Not more doubles: a row is one register.
template <class F>
using LaneTag = hn::CappedTag<F, sizeof(F) == sizeof(float) ? 16 : 4>;

template <class F>
class Pack {
 public:
  using D = LaneTag<F>;
  using V = hn::Vec<D>;
  V v;

  Pack() {}
  HWY_INLINE Pack(V raw) : v(raw) {}
  HWY_INLINE explicit Pack(double all) : v(hn::Set(D(), F(all))) {}

  struct Mask {
    hn::Mask<D> m;
    friend HWY_INLINE Mask operator!(Mask a) { return {hn::Not(a.m)}; }
    friend HWY_INLINE Mask operator&(Mask a, Mask b) { return {hn::And(a.m, b.m)}; }
    friend HWY_INLINE Mask operator|(Mask a, Mask b) { return {hn::Or(a.m, b.m)}; }
    friend HWY_INLINE bool any(Mask a) { return !hn::AllFalse(D(), a.m); }
    friend HWY_INLINE bool all(Mask a) { return hn::AllTrue(D(), a.m); }
    friend HWY_INLINE Pack select(Mask a, Pack yes, Pack no) { return hn::IfThenElse(a.m, yes.v, no.v); }
  };

  /// a*b before anything is done with it: a sum with another number becomes one fused multiply-add, so that a*b + c
  /// means the same text for packs as for plain numbers and costs one instruction.
  struct Product {
    V a, b;
    HWY_INLINE operator Pack() const { return hn::Mul(a, b); }
  };

  friend HWY_INLINE Product operator*(Pack a, Pack b) { return {a.v, b.v}; }
  friend HWY_INLINE Pack operator+(Pack a, Pack b) { return hn::Add(a.v, b.v); }
  friend HWY_INLINE Pack operator+(Product p, Pack c) { return hn::MulAdd(p.a, p.b, c.v); }
  friend HWY_INLINE Pack operator+(Pack c, Product p) { return hn::MulAdd(p.a, p.b, c.v); }
  friend HWY_INLINE Pack operator+(Product p, Product q) { return hn::MulAdd(q.a, q.b, hn::Mul(p.a, p.b)); }
  friend HWY_INLINE Pack operator-(Pack a, Pack b) { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE Pack operator-(Product p, Pack c) { return hn::MulSub(p.a, p.b, c.v); }
  friend HWY_INLINE Pack operator-(Pack c, Product p) { return hn::NegMulAdd(p.a, p.b, c.v); }
  friend HWY_INLINE Pack operator-(Product p, Product q) { return hn::NegMulAdd(q.a, q.b, hn::Mul(p.a, p.b)); }
  friend HWY_INLINE Pack operator/(Pack a, Pack b) { return hn::Div(a.v, b.v); }
  friend HWY_INLINE Pack operator-(Pack a) { return hn::Neg(a.v); }

  friend HWY_INLINE Mask operator<(Pack a, Pack b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>(Pack a, Pack b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator<=(Pack a, Pack b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>=(Pack a, Pack b) { return {hn::Ge(a.v, b.v)}; }

  friend HWY_INLINE Pack abs(Pack a) { return hn::Abs(a.v); }
  friend HWY_INLINE Pack sqrt(Pack a) { return hn::Sqrt(a.v); }
  friend HWY_INLINE Pack max(Pack a, Pack b) { return hn::IfThenElse(hn::Gt(a.v, b.v), a.v, b.v); }
  friend HWY_INLINE Pack min(Pack a, Pack b) { return hn::IfThenElse(hn::Lt(a.v, b.v), a.v, b.v); }
  friend HWY_INLINE Pack split_exponent(Pack a, Pack& exponent) {
    using I = hwy::MakeSigned<F>;
    const hn::RebindToSigned<D> d;
    constexpr int digits = sizeof(F) == 8 ? 52 : 23;
    const auto bits = hn::BitCast(d, a.v);
    const auto k =
        hn::ShiftRight<digits>(hn::Sub(bits, hn::Set(d, I(sizeof(F) == 8 ? 0x3fe6a09e667f3bcd : 0x3f3504f3))));
    exponent.v = hn::ConvertTo(D(), k);
    return hn::BitCast(D(), hn::Sub(bits, hn::ShiftLeft<digits>(k)));
  }
  /// The first n lanes, and zero for the rest.
  friend HWY_INLINE Pack first_lanes(Pack a, int n) { return hn::IfThenElseZero(hn::FirstN(D(), size_t(n)), a.v); }
};

#if HWY_TARGET == HWY_WASM

/// Two packs at once: in kernels that are one long chain of dependent operations the processor works on the second
/// while it waits for the first. Without an instruction that multiplies and adds a product is a number like any other.
class Twin {
 public:
  using Half = Pack<double>;
  Half a, b;

  Twin() {}
  HWY_INLINE Twin(Half first, Half second) : a(first), b(second) {}
  HWY_INLINE explicit Twin(double all) : a(all), b(all) {}
  static HWY_INLINE Twin load(const double* from) {
    return {hn::Load(Half::D(), from), hn::Load(Half::D(), from + hn::MaxLanes(Half::D()))};
  }

  struct Mask {
    Half::Mask a, b;
    friend HWY_INLINE Mask operator!(Mask m) { return {!m.a, !m.b}; }
    friend HWY_INLINE Mask operator&(Mask m, Mask n) { return {m.a & n.a, m.b & n.b}; }
    friend HWY_INLINE Mask operator|(Mask m, Mask n) { return {m.a | n.a, m.b | n.b}; }
    friend HWY_INLINE bool any(Mask m) { return any(m.a | m.b); }
    friend HWY_INLINE bool all(Mask m) { return all(m.a & m.b); }
    friend HWY_INLINE Twin select(Mask m, Twin yes, Twin no) {
      return {select(m.a, yes.a, no.a), select(m.b, yes.b, no.b)};
    }
  };

  friend HWY_INLINE Twin operator*(Twin x, Twin y) { return {x.a * y.a, x.b * y.b}; }
  friend HWY_INLINE Twin operator+(Twin x, Twin y) { return {x.a + y.a, x.b + y.b}; }
  friend HWY_INLINE Twin operator-(Twin x, Twin y) { return {x.a - y.a, x.b - y.b}; }
  friend HWY_INLINE Twin operator/(Twin x, Twin y) { return {x.a / y.a, x.b / y.b}; }
  friend HWY_INLINE Twin operator-(Twin x) { return {-x.a, -x.b}; }
  friend HWY_INLINE Mask operator<(Twin x, Twin y) { return {x.a < y.a, x.b < y.b}; }
  friend HWY_INLINE Mask operator>(Twin x, Twin y) { return {x.a > y.a, x.b > y.b}; }
  friend HWY_INLINE Mask operator<=(Twin x, Twin y) { return {x.a <= y.a, x.b <= y.b}; }
  friend HWY_INLINE Mask operator>=(Twin x, Twin y) { return {x.a >= y.a, x.b >= y.b}; }
  friend HWY_INLINE Twin abs(Twin x) { return {abs(x.a), abs(x.b)}; }
  friend HWY_INLINE Twin sqrt(Twin x) { return {sqrt(x.a), sqrt(x.b)}; }
  friend HWY_INLINE Twin max(Twin x, Twin y) { return {max(x.a, y.a), max(x.b, y.b)}; }
  friend HWY_INLINE Twin min(Twin x, Twin y) { return {min(x.a, y.a), min(x.b, y.b)}; }
  friend HWY_INLINE Twin first_lanes(Twin x, int n) {
    constexpr int half = int(hn::MaxLanes(Half::D()));
    return {first_lanes(x.a, n < half ? n : half), first_lanes(x.b, n < half ? 0 : n - half)};
  }
};

#endif

template <class T>
inline constexpr int lanes = int(hn::MaxLanes(typename T::D()));
#if HWY_TARGET == HWY_WASM
template <>
inline constexpr int lanes<Twin> = 2 * lanes<Twin::Half>;
#endif
static_assert(16 % lanes<Pack<float>> == 0 && 16 % lanes<Pack<double>> == 0);

template <class T, class F>
HWY_INLINE T load_lanes(const F* from) {
  if constexpr (requires { T::load(from); })
    return T::load(from);
  else
    return hn::Load(typename T::D(), from);
}

#if HWY_TARGET == HWY_SCALAR

using verve::Row;

template <class T>
class Rows {
 public:
  Rows() = default;
  explicit HWY_INLINE Rows(const Vec3T<T>& a)
      : row_{double(hn::GetLane(a.x.v)), double(hn::GetLane(a.y.v)), double(hn::GetLane(a.z.v))} {}
  HWY_INLINE Row row(int) const { return row_; }
  static HWY_INLINE Vec3T<T> join(const Row* rows) { return {T(rows->x), T(rows->y), T(rows->z)}; }

 private:
  Row row_;
};

template <class T>
class WholeRows {
 public:
  template <class At>
  explicit HWY_INLINE WholeRows(const At& at) : x_(at(0)[0]), y_(at(0)[1]), z_(at(0)[2]) {}
  HWY_INLINE Vec3T<T> minus(const WholeRows& o) const { return {T(x_ - o.x_), T(y_ - o.y_), T(z_ - o.z_)}; }

 private:
  std::int32_t x_, y_, z_;
};

class LaneSum {
 public:
  template <class F>
  HWY_INLINE void add(Pack<F> value) {
    sum_ += double(hn::GetLane(value.v));
  }
  double total() const { return sum_; }

 private:
  double sum_ = 0;
};

#else

using F4 = hn::FixedTag<float, 4>;
using I4 = hn::FixedTag<std::int32_t, 4>;
using WideTag = LaneTag<double>;
using Narrow = hn::Rebind<float, WideTag>;  // as many floats as a register holds doubles

#if HWY_MAX_BYTES >= 32

struct Row {
  hn::Vec<WideTag> v;
  static HWY_INLINE Row load(const double* p) { return {hn::Load(WideTag(), p)}; }
  HWY_INLINE void store(double* p) const { hn::Store(v, WideTag(), p); }
  friend HWY_INLINE Row operator+(Row a, Row b) { return {hn::Add(a.v, b.v)}; }
  friend HWY_INLINE Row operator-(Row a, Row b) { return {hn::Sub(a.v, b.v)}; }
  friend HWY_INLINE Row operator*(Row a, double s) { return {hn::Mul(a.v, hn::Set(WideTag(), s))}; }
  friend HWY_INLINE Row larger_size(Row a, Row b) { return {hn::Max(a.v, hn::Abs(b.v))}; }
  HWY_INLINE void store_whole(std::int32_t* p) const { hn::Store(hn::DemoteTo(I4(), hn::Round(v)), I4(), p); }
  HWY_INLINE hn::Vec<F4> narrow() const { return hn::DemoteTo(F4(), v); }
  static HWY_INLINE Row widen(hn::Vec<F4> a) { return {hn::PromoteTo(WideTag(), a)}; }
};

#else  // 128-bit registers

struct Row {
  hn::Vec<WideTag> xy, z0;
  static HWY_INLINE Row load(const double* p) { return {hn::Load(WideTag(), p), hn::Load(WideTag(), p + 2)}; }
  HWY_INLINE void store(double* p) const {
    hn::Store(xy, WideTag(), p);
    hn::Store(z0, WideTag(), p + 2);
  }
  friend HWY_INLINE Row operator+(Row a, Row b) { return {hn::Add(a.xy, b.xy), hn::Add(a.z0, b.z0)}; }
  friend HWY_INLINE Row operator-(Row a, Row b) { return {hn::Sub(a.xy, b.xy), hn::Sub(a.z0, b.z0)}; }
  friend HWY_INLINE Row operator*(Row a, double s) {
    const auto scale = hn::Set(WideTag(), s);
    return {hn::Mul(a.xy, scale), hn::Mul(a.z0, scale)};
  }
  friend HWY_INLINE Row larger_size(Row a, Row b) {
    return {hn::Max(a.xy, hn::Abs(b.xy)), hn::Max(a.z0, hn::Abs(b.z0))};
  }
  HWY_INLINE void store_whole(std::int32_t* p) const {
    const hn::Rebind<std::int32_t, WideTag> i2;
    hn::Store(hn::DemoteTo(i2, hn::Round(xy)), i2, p);
    hn::Store(hn::DemoteTo(i2, hn::Round(z0)), i2, p + 2);
  }
  HWY_INLINE hn::Vec<F4> narrow() const {
    return hn::Combine(F4(), hn::DemoteTo(Narrow(), z0), hn::DemoteTo(Narrow(), xy));
  }
  static HWY_INLINE Row widen(hn::Vec<F4> a) {
    return {hn::PromoteTo(WideTag(), hn::LowerHalf(Narrow(), a)), hn::PromoteTo(WideTag(), hn::UpperHalf(Narrow(), a))};
  }
};

#endif

/// What row(l), row(l + 4), ... give, four numbers each, side by side as far as the register has room.
template <class D, class GetRow>
HWY_INLINE hn::Vec<D> side_by_side(D d, const GetRow& row, int l) {
#if HWY_MAX_BYTES >= 64
  const hn::Half<D> half;
  return hn::Combine(d, hn::Combine(half, row(l + 12), row(l + 8)), hn::Combine(half, row(l + 4), row(l)));
#elif HWY_MAX_BYTES >= 32
  return hn::Combine(d, row(l + 4), row(l));
#else
  static_cast<void>(d);
  return row(l);
#endif
}

template <class T>
class Rows;

template <>
class Rows<Pack<float>> {
 public:
  Rows() = default;
  explicit HWY_INLINE Rows(const Vec3T<Pack<float>>& g) {
    const LaneTag<float> d;
    const auto zero = hn::Zero(d);
    const auto xz = hn::InterleaveLower(d, g.x.v, g.z.v), y0 = hn::InterleaveLower(d, g.y.v, zero);
    const auto xz_upper = hn::InterleaveUpper(d, g.x.v, g.z.v), y0_upper = hn::InterleaveUpper(d, g.y.v, zero);
    hn::Store(hn::InterleaveLower(d, xz, y0), d, pair_[0]);
    hn::Store(hn::InterleaveUpper(d, xz, y0), d, pair_[1]);
    hn::Store(hn::InterleaveLower(d, xz_upper, y0_upper), d, pair_[2]);
    hn::Store(hn::InterleaveUpper(d, xz_upper, y0_upper), d, pair_[3]);
  }
  HWY_INLINE Row row(int l) const { return Row::widen(hn::Load(F4(), pair_[l % 4] + l / 4 * 4)); }
  /// 4x4 transposition, two or four side by side in long registers.
  static HWY_INLINE Vec3T<Pack<float>> join(const Row* r) {
    const LaneTag<float> d;
    const auto narrow = [&](int l) HWY_ATTR { return r[l].narrow(); };
    const auto a = side_by_side(d, narrow, 0), b = side_by_side(d, narrow, 1);
    const auto c = side_by_side(d, narrow, 2), e = side_by_side(d, narrow, 3);
    const auto xy02 = hn::InterleaveLower(d, a, c), xy13 = hn::InterleaveLower(d, b, e);
    const auto z02 = hn::InterleaveUpper(d, a, c), z13 = hn::InterleaveUpper(d, b, e);
    return {hn::InterleaveLower(d, xy02, xy13), hn::InterleaveUpper(d, xy02, xy13), hn::InterleaveLower(d, z02, z13)};
  }

 private:
  alignas(64) float pair_[4][lanes<Pack<float>>];  // in memory: reading widens for free what a register takes apart
};

template <>
class Rows<Pack<double>> {
 public:
  Rows() = default;
  explicit HWY_INLINE Rows(const Vec3T<Pack<double>>& g) {
    const WideTag d;
    const auto zero = hn::Zero(d);
    const auto xy = hn::InterleaveLower(d, g.x.v, g.y.v), xy_upper = hn::InterleaveUpper(d, g.x.v, g.y.v);
    const auto z = hn::InterleaveLower(d, g.z.v, zero), z_upper = hn::InterleaveUpper(d, g.z.v, zero);
#if HWY_MAX_BYTES >= 32
    row_[0] = {hn::ConcatLowerLower(d, z, xy)}, row_[1] = {hn::ConcatLowerLower(d, z_upper, xy_upper)};
    row_[2] = {hn::ConcatUpperUpper(d, z, xy)}, row_[3] = {hn::ConcatUpperUpper(d, z_upper, xy_upper)};
#else
    row_[0] = {xy, z}, row_[1] = {xy_upper, z_upper};
#endif
  }
  HWY_INLINE Row row(int l) const { return row_[l]; }
  static HWY_INLINE Vec3T<Pack<double>> join(const Row* r) {
    const WideTag d;
#if HWY_MAX_BYTES >= 32
    const auto xy02 = hn::ConcatLowerLower(d, r[2].v, r[0].v), z02 = hn::ConcatUpperUpper(d, r[2].v, r[0].v);
    const auto xy13 = hn::ConcatLowerLower(d, r[3].v, r[1].v), z13 = hn::ConcatUpperUpper(d, r[3].v, r[1].v);
    return {hn::InterleaveLower(d, xy02, xy13), hn::InterleaveUpper(d, xy02, xy13), hn::InterleaveLower(d, z02, z13)};
#else
    return {hn::InterleaveLower(d, r[0].xy, r[1].xy), hn::InterleaveUpper(d, r[0].xy, r[1].xy),
            hn::InterleaveLower(d, r[0].z0, r[1].z0)};
#endif
  }

 private:
  Row row_[lanes<Pack<double>>];
};

#if HWY_TARGET == HWY_WASM
template <>
class Rows<Twin> {
 public:
  Rows() = default;
  explicit HWY_INLINE Rows(const Vec3T<Twin>& g) : a_({g.x.a, g.y.a, g.z.a}), b_({g.x.b, g.y.b, g.z.b}) {}
  HWY_INLINE Row row(int l) const { return l < half ? a_.row(l) : b_.row(l - half); }
  static HWY_INLINE Vec3T<Twin> join(const Row* r) {
    const auto a = Rows<Twin::Half>::join(r), b = Rows<Twin::Half>::join(r + half);
    return {{a.x, b.x}, {a.y, b.y}, {a.z, b.z}};
  }

 private:
  static constexpr int half = lanes<Twin::Half>;
  Rows<Twin::Half> a_, b_;
};
#endif

template <class T>
class WholeRows;

template <>
class WholeRows<Pack<float>> {
 public:
  template <class At>
  explicit HWY_INLINE WholeRows(const At& at) {
    const auto row = [&](int l) HWY_ATTR { return hn::Load(I4(), at(l)); };
    const auto pair = [&](int l) HWY_ATTR { return side_by_side(D(), row, l); };
    pair_[0] = pair(0), pair_[1] = pair(1), pair_[2] = pair(2), pair_[3] = pair(3);
  }
  /// Subtracts, transposes and converts, in this order: few instructions.
  HWY_INLINE Vec3T<Pack<float>> minus(const WholeRows& o) const {
    const D d;
    const auto r0 = hn::Sub(pair_[0], o.pair_[0]), r1 = hn::Sub(pair_[1], o.pair_[1]);
    const auto r2 = hn::Sub(pair_[2], o.pair_[2]), r3 = hn::Sub(pair_[3], o.pair_[3]);
    const auto xy02 = hn::InterleaveLower(d, r0, r2), xy13 = hn::InterleaveLower(d, r1, r3);
    const auto z02 = hn::InterleaveUpper(d, r0, r2), z13 = hn::InterleaveUpper(d, r1, r3);
    const LaneTag<float> f;
    return {hn::ConvertTo(f, hn::InterleaveLower(d, xy02, xy13)), hn::ConvertTo(f, hn::InterleaveUpper(d, xy02, xy13)),
            hn::ConvertTo(f, hn::InterleaveLower(d, z02, z13))};
  }

 private:
  using D = hn::Rebind<std::int32_t, LaneTag<float>>;
  hn::Vec<D> pair_[4];
};

class LaneSum {
 public:
  HWY_INLINE LaneSum() : sum_(hn::Zero(WideTag())) {}
  HWY_INLINE void add(Pack<double> a) { sum_ = hn::Add(sum_, a.v); }
#if HWY_TARGET == HWY_WASM
  HWY_INLINE void add(Twin x) { add(x.a), add(x.b); }
#endif
  HWY_INLINE void add(Pack<float> a) {
#if HWY_MAX_BYTES >= 64
    const hn::Half<LaneTag<float>> half;
    add(hn::LowerHalf(half, a.v));
    add(hn::UpperHalf(half, a.v));
#else
    add(a.v);
#endif
  }
  HWY_INLINE double total() const {
    alignas(32) double lane[lanes<Pack<double>>];
    hn::Store(sum_, WideTag(), lane);
    double sum = 0;
    for (const double s : lane) sum += s;
    return sum;
  }

 private:
  /// Twice as many floats as a register holds doubles.
  HWY_INLINE void add(hn::Vec<hn::Twice<Narrow>> a) {
    const auto lower = hn::PromoteTo(WideTag(), hn::LowerHalf(Narrow(), a));
    const auto upper = hn::PromoteTo(WideTag(), hn::UpperHalf(Narrow(), a));
    sum_ = hn::Add(sum_, hn::Add(lower, upper));
  }

  hn::Vec<WideTag> sum_;
};

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace verve

/// The lane type does not depend on the set of instructions, so its specialisation lives with the plain one.
namespace verve {
template <class F>
struct LaneOf<HWY_NAMESPACE::Pack<F>> {
  using Type = F;
};
#if HWY_TARGET == HWY_WASM
template <>
struct LaneOf<HWY_NAMESPACE::Twin> {
  using Type = double;
};
#endif
}  // namespace verve
HWY_AFTER_NAMESPACE();

#endif
