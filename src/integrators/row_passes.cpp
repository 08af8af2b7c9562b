#include "integrators/row_passes.h"

#ifdef VERVE_SIMD
#include "base/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "integrators/row_passes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
HWY_BEFORE_NAMESPACE();
#else
#define HWY_NAMESPACE plain
#endif

namespace verve::HWY_NAMESPACE {
namespace {

/// One row. The compiler's own vector type does here: plain arithmetic, limited by memory.
using Row = double __attribute__((vector_size(32), may_alias));

#define VERVE_INLINE inline __attribute__((always_inline))

// Loops take their arguments by value: what is stored in a row could otherwise be part of them, and they would be read
// again for every row.

VERVE_INLINE Row& at(Vec4* rows, int i) { return reinterpret_cast<Row*>(rows)[i]; }
VERVE_INLINE Row at(const Vec4* rows, int i) { return reinterpret_cast<const Row*>(rows)[i]; }
VERVE_INLINE Row wide(FloatRow r) {
  return Row{double(r[0]), double(r[1]), double(r[2]), double(r[3])};  // one instruction, unlike a conversion by vector
}
VERVE_INLINE Row at(const Float4* rows, int i) { return wide(reinterpret_cast<const FloatRow*>(rows)[i]); }
VERVE_INLINE void put(Float4* rows, int i, Row value) {
  reinterpret_cast<FloatRow*>(rows)[i] = __builtin_convertvector(value, FloatRow);
}
template <bool narrow>
VERVE_INLINE Row at(const RowColumn& column, int i) {
  return narrow ? at(column.narrow, i) : at(column.wide, i);
}
VERVE_INLINE Row row(const Vec3& v) { return Row{v.x, v.y, v.z, 0}; }
VERVE_INLINE Row all(double a) { return Row{a, a, a, a}; }
VERVE_INLINE Row turned(Row a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
VERVE_INLINE double sum(Row a) { return a[0] + a[1] + a[2]; }
VERVE_INLINE Vec3 vec3(Row a) { return {a[0], a[1], a[2]}; }

/// A sum of cross products, as (z x y) and its two terms apart: turned once at the end, and a fused multiply-add for
/// each.
struct Spin {
  Row plus{}, minus{};
  VERVE_INLINE void add(Row a, Row b) { plus += a * turned(b), minus += turned(a) * b; }
  VERVE_INLINE Vec3 total() const { return vec3(turned(plus - minus)); }
};

/// Of d = x - xb in place of v = d/hh: as long a chain of dependent operations as a row can do with.
struct Sums {
  Row kinetic{}, force_v{}, p{};
  Spin l;
  VERVE_INLINE RowSums total(double inverse) const {
    return {0.5 * sum(kinetic) * (inverse * inverse), sum(force_v) * inverse, vec3(p) * inverse, l.total() * inverse};
  }
};

template <bool spin>
VERVE_INLINE void arrive_at(const RowArrays& a, double inverse, int i, Row d, Sums& s) {
  const Row m = all(a.mass[i]), md = d * m;
  at(a.gg, i) = (d * inverse - at(a.u, i)) * (m * inverse);
  s.kinetic += d * md;
  s.p += md;
  if (a.force) s.force_v += at(a.force, i) * d;
  if (spin) s.l.add(at(a.xb, i) - row(a.center), md);
}

/// Rows of a column as they are.
template <bool narrow>
struct Kind {
  using Part = Row;
  using Number = double;
  static const Part* rows(const RowColumn& c) { return reinterpret_cast<const Part*>(c.wide); }
  static VERVE_INLINE Row widened(Part p) { return p; }
};
template <>
struct Kind<true> {
  using Part = FloatRow;
  using Number = float;
  static const Part* rows(const RowColumn& c) { return reinterpret_cast<const Part*>(c.narrow); }
  static VERVE_INLINE Row widened(Part p) { return wide(p); }
};

/// dx of a RowStep. Of columns in float the sum is in float as well: it has no more digits.
template <bool narrow, bool spin>
class Step {
  using Part = typename Kind<narrow>::Part;
  using Number = typename Kind<narrow>::Number;

 public:
  explicit Step(const RowStep& s)
      : Ag_(Kind<narrow>::rows(s.Ag)),
        Alin_(Kind<narrow>::rows(s.Alin)),
        lever_(Kind<narrow>::rows(s.lever)),
        yzx_{Number(s.turn.y), Number(s.turn.z), Number(s.turn.x), 0},
        zxy_{Number(s.turn.z), Number(s.turn.x), Number(s.turn.y), 0},
        shift_(row(s.shift)),
        g_(Number(s.g)),
        l_(Number(s.l)) {}
  VERVE_INLINE Row at(double mass, int i) const {
    const Part lever = lever_[i], zxy = __builtin_shufflevector(lever, lever, 2, 0, 1, 3),
               yzx = __builtin_shufflevector(lever, lever, 1, 2, 0, 3);
    const Row dx = Kind<narrow>::widened(Ag_[i] * g_ + Alin_[i] * l_ + yzx_ * zxy - zxy_ * yzx);
    return spin ? dx + (all(mass) > 0 ? shift_ : Row{}) : dx;
  }

 private:
  const Part *Ag_, *Alin_, *lever_;
  Part yzx_, zxy_;
  Row shift_;
  Number g_, l_;
};

/// Calls f.template operator()<narrow, spin>(): loops without questions.
template <class F>
VERVE_INLINE auto with_kinds(bool narrow, bool spin, F&& f) {
  if (narrow) return spin ? f.template operator()<true, true>() : f.template operator()<true, false>();
  return spin ? f.template operator()<false, true>() : f.template operator()<false, false>();
}

template <bool spin>
RowSums arrive_loop(RowArrays a, int begin, int end) {
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) arrive_at<spin>(a, inverse, i, at(a.x, i) - at(a.xb, i), s);
  return s.total(inverse);
}

RowSums arrive_kernel(RowArrays a, int begin, int end) {
  return a.spin ? arrive_loop<true>(a, begin, end) : arrive_loop<false>(a, begin, end);
}

template <bool narrow, bool spin>
RowSums move_loop(RowArrays a, RowStep step, int begin, int end) {
  const Step<narrow, spin> dx(step);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row x = at(a.x, i) - dx.at(a.mass[i], i);
    at(a.x, i) = x;
    arrive_at<spin>(a, inverse, i, x - at(a.xb, i), s);
  }
  return s.total(inverse);
}

RowSums move_kernel(RowArrays a, RowStep step, int begin, int end) {
  return with_kinds(step.Ag.narrow, a.spin,
                    [&]<bool narrow, bool spin>() { return move_loop<narrow, spin>(a, step, begin, end); });
}

template <bool narrow, bool spin>
RowSums leap_loop(RowArrays a, RowStep step, RowLeap leap, int begin, int end) {
  const Step<narrow, spin> dx(step);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row from = at(a.x, i), e = from - dx.at(a.mass[i], i);
    const Row x = e - (e - (leap.last_end ? at(leap.last_end, i) : from)) * leap.beta;
    at(leap.ends, i) = e;  // after last_end is read: they may be the same
    at(a.x, i) = x;
    arrive_at<spin>(a, inverse, i, x - at(a.xb, i), s);
  }
  return s.total(inverse);
}

RowSums leap_kernel(RowArrays a, RowStep step, RowLeap leap, int begin, int end) {
  return with_kinds(step.Ag.narrow, a.spin,
                    [&]<bool narrow, bool spin>() { return leap_loop<narrow, spin>(a, step, leap, begin, end); });
}

template <bool narrow, bool spin>
RowSums plain_loop(RowArrays a, RowColumn Ag, int begin, int end) {
  const double inverse = 1 / a.hh;
  Row gg_gg{};
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row dx = at<narrow>(Ag, i), x = at(a.x, i) - dx;
    gg_gg += at(a.gg, i) * dx;
    at(a.x, i) = x;
    arrive_at<spin>(a, inverse, i, x - at(a.xb, i), s);
  }
  RowSums total = s.total(inverse);
  total.gg_gg = sum(gg_gg);
  return total;
}

RowSums plain_kernel(RowArrays a, RowColumn Ag, int begin, int end) {
  return with_kinds(Ag.narrow, a.spin,
                    [&]<bool narrow, bool spin>() { return plain_loop<narrow, spin>(a, Ag, begin, end); });
}

/// Which columns there are beside Ag.
enum class Along { none, gradient, loss };

/// Of two rows in turn, so that no sum waits for its last one.
template <bool narrow, bool spin, bool last, Along along>
struct Products {
  Row gg_gg{}, lin_gg{}, gg_last{}, lin_Ag{}, p{};
  Spin l;
  VERVE_INLINE void add(const RowArrays& a, const RowFactors& f, Row center, int i) {
    const Row g = at(a.gg, i), ag = at<narrow>(f.Ag, i);
    gg_gg += g * ag;
    if (along != Along::none) lin_gg += g * at<narrow>(f.Alin, i);
    if (along == Along::loss) lin_Ag += ag * at<narrow>(f.lin, i);
    if (last) gg_last += g * at<narrow>(f.last_Ag, i);
    if (spin) {
      const Row mag = ag * a.mass[i];
      p += mag;
      l.add(at(a.xb, i) - center, mag);
    } else {
      l.add(at<narrow>(f.lever, i), g);
    }
  }
  VERVE_INLINE void operator+=(const Products& o) {
    gg_gg += o.gg_gg, lin_gg += o.lin_gg, gg_last += o.gg_last, lin_Ag += o.lin_Ag, p += o.p;
    l.plus += o.l.plus, l.minus += o.l.minus;
  }
};

template <bool narrow, bool spin, bool last, Along along>
RowProducts multiply_loop(RowArrays a, RowFactors f, int begin, int end) {
  const Row c = row(a.center);
  Products<narrow, spin, last, along> even, odd;
  int i = begin;
  for (; i + 1 < end; i += 2) even.add(a, f, c, i), odd.add(a, f, c, i + 1);
  if (i < end) even.add(a, f, c, i);
  even += odd;
  return {sum(even.gg_gg), sum(even.lin_gg), sum(even.gg_last), vec3(even.p), even.l.total(), sum(even.lin_Ag)};
}

RowProducts multiply_kernel(RowArrays a, RowFactors f, int begin, int end) {
  return with_kinds(f.Ag.narrow, a.spin, [&]<bool narrow, bool spin>() {
    const auto multiply = [&]<Along along>() {
      return f.last_Ag ? multiply_loop<narrow, spin, true, along>(a, f, begin, end)
                       : multiply_loop<narrow, spin, false, along>(a, f, begin, end);
    };
    if (f.lin) return multiply.template operator()<Along::loss>();
    return f.Alin ? multiply.template operator()<Along::gradient>() : multiply.template operator()<Along::none>();
  });
}

/// b and b turned once and twice: by these, products with a matrix and sums of a b^T take fewer shuffles than by the
/// numbers of a row one by one.
struct Turned {
  Row once, twice;
  VERVE_INLINE explicit Turned(Row b) : once(turned(b)), twice(turned(once)) {}
};

/// sum a b^T, by its three diagonals.
struct Outer {
  Row d0{}, d1{}, d2{};
  VERVE_INLINE void add(Row a, Row b) {
    const Turned t(b);
    d0 += a * b, d1 += a * t.once, d2 += a * t.twice;
  }
  VERVE_INLINE Mat3 total() const {
    return {{Vec3{d0[0], d2[1], d1[2]}, Vec3{d1[0], d0[1], d2[2]}, Vec3{d2[0], d1[1], d0[2]}}};
  }
};
/// The same where the sum is symmetric.
struct SymmetricOuter {
  Row d0{}, d1{};
  VERVE_INLINE void add(Row a, Row b) { d0 += a * b, d1 += a * turned(b); }
  VERVE_INLINE Mat3 total() const {
    return {{Vec3{d0[0], d1[0], d1[2]}, Vec3{d1[0], d0[1], d1[1]}, Vec3{d1[2], d1[1], d0[2]}}};
  }
};
/// A matrix, likewise.
struct Matrix {
  Row d0, d1, d2;
  explicit Matrix(const Mat3& m)
      : d0{m(0, 0), m(1, 1), m(2, 2), 0}, d1{m(0, 1), m(1, 2), m(2, 0), 0}, d2{m(0, 2), m(1, 0), m(2, 1), 0} {}
  VERVE_INLINE Row times(Row b, Row plus) const {
    const Turned t(b);
    return d0 * b + plus + d1 * t.once + d2 * t.twice;
  }
};
/// And in float, whose numbers are read one by one as they are needed.
struct NarrowMatrix {
  FloatRow c0, c1, c2;
  explicit NarrowMatrix(const Mat3& m) : c0(column(m.col[0])), c1(column(m.col[1])), c2(column(m.col[2])) {}
  static FloatRow column(const Vec3& c) { return FloatRow{float(c.x), float(c.y), float(c.z), 0}; }
  VERVE_INLINE FloatRow times(const Float4& b) const { return c0 * b.x + c1 * b.y + c2 * b.z; }
};

enum class Rest { none, wide, narrow };

template <Rest kind>
RowState state_loop(RowArrays a, const Vec4* position, const Vec4* velocity, RowOrigin origin, RowColumn rest,
                    int begin, int end) {
  const Row ob = row(origin.xb), ox = row(origin.x), ov = row(origin.v), ou = row(origin.u);
  Row sum_b{}, sum_x{}, sum_v{}, sum_u{}, kinetic{}, kinetic_u{};
  Spin l;
  SymmetricOuter second;
  Outer moment;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row b = at(a.xb, i) - ob, x = at(position, i) - ox, v = at(velocity, i) - ov, u = at(a.u, i) - ou;
    const Row mb = b * m, mv = v * m, mu = u * m;
    sum_b += mb, sum_x += x * m, sum_v += mv, sum_u += mu;
    second.add(mb, b);
    if (kind != Rest::none) moment.add(mb, at<kind == Rest::narrow>(rest, i));
    l.add(x, mv);
    kinetic += mv * v;
    kinetic_u += mu * u;
  }
  return {vec3(sum_b), vec3(sum_x),        vec3(sum_v),          vec3(sum_u),   second.total(),
          l.total(),   0.5 * sum(kinetic), 0.5 * sum(kinetic_u), moment.total()};
}

RowState state_kernel(RowArrays a, const Vec4* x, const Vec4* v, RowOrigin origin, RowColumn rest, int begin, int end) {
  if (rest.narrow) return state_loop<Rest::narrow>(a, x, v, origin, rest, begin, end);
  if (rest.wide) return state_loop<Rest::wide>(a, x, v, origin, rest, begin, end);
  return state_loop<Rest::none>(a, x, v, origin, rest, begin, end);
}

template <bool narrow, bool relieved>
void column_loop(RowArrays a, RowSides s, int begin, int end) {
  const Row o = row(s.origin), drift = row(s.drift), center = row(s.center);
  const Row g = row(s.common) * s.beta + (relieved ? drift : Row{}), f = (relieved ? drift : Row{});
  const Row yzx = Row{s.turn.y, s.turn.z, s.turn.x, 0}, zxy = Row{s.turn.z, s.turn.x, s.turn.y, 0};
  const double inverse = 1 / a.hh, stiff = inverse * inverse;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row xb = at(a.xb, i);
    Row u = at(a.u, i);
    if (relieved) {
      const Turned r(xb - center);
      u += zxy * r.once - yzx * r.twice;
    }
    const Row lin = a.force ? ((u - f) * m - at(a.force, i) * s.beta) * inverse : (u - g) * (m * inverse);
    if (narrow) {
      if (s.kr_narrow) put(s.kr_narrow, i, (xb - o) * (m * stiff));
      put(s.lin_narrow, i, lin);
    } else {
      if (s.kr) at(s.kr, i) = (xb - o) * (m * stiff);
      at(s.lin, i) = lin;
    }
  }
}

void column_kernel(RowArrays a, const RowSides& sides, int begin, int end) {
  with_kinds(sides.lin_narrow, sides.relieved,
             [&]<bool narrow, bool relieved>() { column_loop<narrow, relieved>(a, sides, begin, end); });
}

/// Columns that are known from rest, of a swing or of L.
template <bool narrow, bool swings>
RowColumns rest_columns_loop(RowArrays a, RowSolutions s, int begin, int end) {
  const Row c = row(a.center);
  const Matrix f(s.shape);
  const NarrowMatrix f_narrow(s.shape);
  Row lin_lin{}, p{};
  Spin l, lever_lin;
  for (int i = begin; i < end; ++i) {
    const Row lin = at<narrow>(s.lin, i), alin = at<narrow>(s.Alin, i);
    lin_lin += lin * alin;
    Row lever;
    if (narrow) {
      const FloatRow product = f_narrow.times(s.of_rest.narrow[i]);
      reinterpret_cast<FloatRow*>(s.lever_narrow)[i] = product;
      lever = wide(product);
    } else {
      lever = at(s.lever, i) = f.times(at(s.of_rest.wide, i), Row{});
    }
    lever_lin.add(lever, lin);
    if (swings) continue;
    const Row malin = alin * a.mass[i];
    p += malin;
    l.add(at(a.xb, i) - c, malin);
  }
  return {sum(lin_lin), {}, vec3(p), l.total(), lever_lin.total()};
}

/// Those that were solved for.
template <bool narrow>
RowColumns columns_loop(RowArrays a, RowSolutions s, int begin, int end) {
  const Row o = row(s.origin), c = row(a.center), d = c - o;
  Row lin_lin{}, p{};
  Spin l, lever_lin;
  Outer second;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row lin = at<narrow>(s.lin, i), alin = at<narrow>(s.Alin, i);
    lin_lin += lin * alin;
    if (!s.kr) continue;
    const Row akr = at<narrow>(s.Akr, i), xb = at(a.xb, i);
    if (s.swings) {
      Row arm = (xb - o - akr) * (m > 0 ? 1.0 : 0.0);
      if (narrow) {
        put(s.lever_narrow, i, arm);
        arm = at(s.lever_narrow, i);
      } else {
        at(s.lever, i) = arm;
      }
      second.add(arm, at<narrow>(s.kr, i));
      lever_lin.add(arm, lin);
    } else {
      if (!(m > 0)) {  // takes no part in the momenta
        if (narrow) {
          put(s.lever_narrow, i, Row{});
        } else {
          at(s.lever, i) = Row{};
        }
      }
      const Row mr = (xb - c) * m;
      second.add(akr - d, mr);  // A takes d to K d: about the centre the solution is less by d
      p += alin * m;
      l.add(mr, alin);
    }
  }
  return {sum(lin_lin), second.total(), vec3(p), l.total(), lever_lin.total()};
}

RowColumns columns_kernel(RowArrays a, RowSolutions s, int begin, int end) {
  if (!s.of_rest) return s.Alin.narrow ? columns_loop<true>(a, s, begin, end) : columns_loop<false>(a, s, begin, end);
  return with_kinds(s.Alin.narrow, s.swings,
                    [&]<bool narrow, bool swings>() { return rest_columns_loop<narrow, swings>(a, s, begin, end); });
}

template <bool spin>
RowSums straight_loop(RowArrays a, int begin, int end) {
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row x = at(a.xb, i) + at(a.u, i) * a.hh;
    at(a.x, i) = x;
    arrive_at<spin>(a, inverse, i, x - at(a.xb, i), s);
  }
  return s.total(inverse);
}

RowSums straight_kernel(RowArrays a, int begin, int end) {
  return a.spin ? straight_loop<true>(a, begin, end) : straight_loop<false>(a, begin, end);
}

template <bool spin>
RowSums turn_loop(RowArrays a, Vec3 from, Vec3 to, const Mat3& turn, int begin, int end) {
  const Row f = row(from), t = row(to);
  const Matrix matrix(turn);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row xb = at(a.xb, i), straight = xb + at(a.u, i) * a.hh;
    const Row x = all(a.mass[i]) > 0 ? matrix.times(straight - f, t) : straight;
    at(a.x, i) = x;
    arrive_at<spin>(a, inverse, i, x - xb, s);
  }
  return s.total(inverse);
}

RowSums turn_kernel(RowArrays a, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end) {
  return a.spin ? turn_loop<true>(a, from, to, turn, begin, end) : turn_loop<false>(a, from, to, turn, begin, end);
}

RowShape shape_kernel(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& origin, int begin, int end) {
  const Row o = row(origin);
  Row sum_x{};
  Outer moment;
  for (int i = begin; i < end; ++i) {
    const Row mx = (at(x, i) - o) * mass[i];
    sum_x += mx;
    moment.add(mx, at(rest, i));
  }
  return {vec3(sum_x), moment.total()};
}

/// w c2 + f hh = f (c2 + hh) - gradient c2/m
template <bool uniform>
void begin_loop(RowRates a, int begin, int end) {
  const Row g = row(a.common);
  for (int i = begin; i < end; ++i) {
    const Row inverse_mass = all(a.inverse_mass[i]), v = at(a.v, i);
    const Row f = uniform ? (inverse_mass > 0 ? g : Row{}) : at(a.acceleration, i);
    at(a.xb, i) = at(a.x, i) + at(a.p, i) * a.c1 + v * a.c2;
    at(a.u, i) = v + at(a.q, i) * a.c1 + f * (a.c2 + a.hh) - at(a.gradient, i) * (inverse_mass * a.c2);
  }
}

void begin_kernel(RowRates a, int begin, int end) {
  a.acceleration ? begin_loop<false>(a, begin, end) : begin_loop<true>(a, begin, end);
}

double distance_kernel(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& center, const Mat3& rotation,
                       int begin, int end) {
  const Row c = row(center), r0 = row(rotation.col[0]), r1 = row(rotation.col[1]), r2 = row(rotation.col[2]);
  Row total{};
  for (int i = begin; i < end; ++i) {
    const Row q = at(rest, i), d = at(x, i) - c - r0 * q[0] - r1 * q[1] - r2 * q[2];
    total += d * d * mass[i];
  }
  return sum(total);
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE

#ifdef VERVE_SIMD
HWY_AFTER_NAMESPACE();
#else
#define HWY_ONCE 1
#define HWY_EXPORT(name)
#define HWY_DYNAMIC_DISPATCH(name) plain::name
#endif

#if HWY_ONCE
namespace verve {

HWY_EXPORT(arrive_kernel);
HWY_EXPORT(move_kernel);
HWY_EXPORT(plain_kernel);
HWY_EXPORT(leap_kernel);
HWY_EXPORT(multiply_kernel);
HWY_EXPORT(state_kernel);
HWY_EXPORT(column_kernel);
HWY_EXPORT(columns_kernel);
HWY_EXPORT(straight_kernel);
HWY_EXPORT(turn_kernel);
HWY_EXPORT(shape_kernel);
HWY_EXPORT(distance_kernel);
HWY_EXPORT(begin_kernel);

RowSums arrive(const RowArrays& rows, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(arrive_kernel)(rows, begin, end);
}
RowSums move_rows(const RowArrays& rows, const RowStep& step, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(move_kernel)(rows, step, begin, end);
}
RowSums plain_rows(const RowArrays& rows, RowColumn Ag, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(plain_kernel)(rows, Ag, begin, end);
}
RowSums leap_rows(const RowArrays& rows, const RowStep& step, const RowLeap& leap, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(leap_kernel)(rows, step, leap, begin, end);
}
RowProducts multiply_rows(const RowArrays& rows, const RowFactors& factors, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(multiply_kernel)(rows, factors, begin, end);
}
RowState state_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowOrigin& origin, RowColumn rest,
                    int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(state_kernel)(rows, x, v, origin, rest, begin, end);
}
void column_rows(const RowArrays& rows, const RowSides& sides, int begin, int end) {
  HWY_DYNAMIC_DISPATCH(column_kernel)(rows, sides, begin, end);
}
RowColumns multiply_columns(const RowArrays& rows, const RowSolutions& solutions, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(columns_kernel)(rows, solutions, begin, end);
}
RowSums straight_rows(const RowArrays& rows, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(straight_kernel)(rows, begin, end);
}
RowSums turn_rows(const RowArrays& rows, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(turn_kernel)(rows, from, to, turn, begin, end);
}
void begin_rows(const RowRates& rates, int begin, int end) { HWY_DYNAMIC_DISPATCH(begin_kernel)(rates, begin, end); }
RowShape shape_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& origin, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(shape_kernel)(mass, x, rest, origin, begin, end);
}
double distance_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& center, const Mat3& rotation,
                     int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(distance_kernel)(mass, x, rest, center, rotation, begin, end);
}

}  // namespace verve
#endif
