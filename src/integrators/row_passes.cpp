#include "integrators/row_passes.h"

#ifdef VERVE_SIMD
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
/// The same in float.
using Narrow = float __attribute__((vector_size(16), may_alias));
VERVE_INLINE Row wide(Narrow r) {
  return Row{double(r[0]), double(r[1]), double(r[2]), double(r[3])};  // one instruction, unlike a conversion by vector
}
VERVE_INLINE Row at(const Float4* rows, int i) { return wide(reinterpret_cast<const Narrow*>(rows)[i]); }
VERVE_INLINE void put(Float4* rows, int i, Row value) {
  reinterpret_cast<Narrow*>(rows)[i] = __builtin_convertvector(value, Narrow);
}
template <bool narrow>
VERVE_INLINE Row at(const RowColumn& column, int i) {
  return narrow ? at(column.narrow, i) : at(column.wide, i);
}
VERVE_INLINE Row row(const Vec3& v) { return Row{v.x, v.y, v.z, 0}; }
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
  const double m = a.mass[i];
  const Row md = d * m;
  at(a.gg, i) = (d * inverse - at(a.u, i)) * (m * inverse);
  s.kinetic += d * md;
  s.p += md;
  if (a.force) s.force_v += at(a.force, i) * d;
  if (spin) s.l.add(at(a.xb, i) - row(a.center), md);
}

/// turn x lever + shift
struct Turn {
  Row yzx, zxy;
  explicit Turn(const Vec3& t) : yzx{t.y, t.z, t.x, 0}, zxy{t.z, t.x, t.y, 0} {}
  template <bool narrow>
  VERVE_INLINE Row cross(const RowColumn& lever, int i, Row shift) const {
    if (narrow) {  // turned before they are widened, which does not cross registers
      const Narrow l = reinterpret_cast<const Narrow*>(lever.narrow)[i];
      return yzx * wide(__builtin_shufflevector(l, l, 2, 0, 1, 3)) + shift -
             zxy * wide(__builtin_shufflevector(l, l, 1, 2, 0, 3));
    }
    const Row l = at(lever.wide, i);
    return yzx * __builtin_shufflevector(l, l, 2, 0, 1, 3) + shift - zxy * turned(l);
  }
};

template <bool narrow>
VERVE_INLINE Row step_of(const RowArrays& a, const RowStep& s, Row shift, const Turn& turn, int i) {
  Row dx = at<narrow>(s.Ag, i) * s.g;
  if (s.Alin) dx += at<narrow>(s.Alin, i) * s.l;
  // rows without mass take no part in the momenta
  if (s.lever && a.mass[i] > 0) dx += turn.cross<narrow>(s.lever, i, shift);
  return dx;
}

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
  const Row shift = row(step.shift);
  const Turn turn(step.turn);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row x = at(a.x, i) - step_of<narrow>(a, step, shift, turn, i);
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
  const Row shift = row(step.shift);
  const Turn turn(step.turn);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row from = at(a.x, i), e = from - step_of<narrow>(a, step, shift, turn, i);
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

template <bool narrow, bool spin>
RowProducts multiply_loop(RowArrays a, RowColumn Ag, RowColumn last_Ag, const Vec4* lin, RowColumn lever, int begin,
                          int end) {
  const Row c = row(a.center);
  Row gg_gg{}, lin_gg{}, gg_last{}, p{};
  Spin l;
  for (int i = begin; i < end; ++i) {
    const Row g = at(a.gg, i), ag = at<narrow>(Ag, i), mag = ag * a.mass[i];
    gg_gg += g * ag;
    if (last_Ag) gg_last += g * at<narrow>(last_Ag, i);
    lin_gg += lin ? at(lin, i) * ag : at(a.u, i) * mag;
    p += mag;
    if (spin) {
      l.add(at(a.xb, i) - c, mag);
    } else if (lever) {
      l.add(at<narrow>(lever, i), g);
    }
  }
  return {sum(gg_gg), sum(lin_gg), sum(gg_last), vec3(p), l.total()};
}

RowProducts multiply_kernel(RowArrays a, RowColumn Ag, RowColumn last_Ag, const Vec4* lin, RowColumn lever, int begin,
                            int end) {
  return with_kinds(Ag.narrow, a.spin, [&]<bool narrow, bool spin>() {
    return multiply_loop<narrow, spin>(a, Ag, last_Ag, lin, lever, begin, end);
  });
}

/// sum a b^T, by columns.
struct Outer {
  Row x{}, y{}, z{};
  VERVE_INLINE void add(Row a, Row b) { x += a * b[0], y += a * b[1], z += a * b[2]; }
  VERVE_INLINE Mat3 total() const { return {{vec3(x), vec3(y), vec3(z)}}; }
};

RowState state_kernel(RowArrays a, const Vec4* position, const Vec4* velocity, RowOrigin origin, int begin, int end) {
  const Row ob = row(origin.xb), ox = row(origin.x), ov = row(origin.v), ou = row(origin.u);
  Row sum_b{}, sum_x{}, sum_v{}, sum_u{}, kinetic{}, kinetic_u{};
  Spin l;
  Outer second;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row b = at(a.xb, i) - ob, x = at(position, i) - ox, v = at(velocity, i) - ov, u = at(a.u, i) - ou;
    const Row mb = b * m, mv = v * m, mu = u * m;
    sum_b += mb, sum_x += x * m, sum_v += mv, sum_u += mu;
    second.add(mb, b);
    l.add(x, mv);
    kinetic += mv * v;
    kinetic_u += mu * u;
  }
  return {vec3(sum_b), vec3(sum_x),        vec3(sum_v),          vec3(sum_u), second.total(),
          l.total(),   0.5 * sum(kinetic), 0.5 * sum(kinetic_u), {}};
}

VERVE_INLINE Row lin_at(const RowArrays& a, double beta, Row common, double inverse, int i) {
  return a.force ? (at(a.u, i) * a.mass[i] - at(a.force, i) * beta) * inverse
                 : (at(a.u, i) - common * beta) * (a.mass[i] * inverse);
}

template <bool narrow>
void column_loop(RowArrays a, Vec3 origin, double beta, Vec3 common, RowSides sides, int begin, int end) {
  const Row o = row(origin), g = row(common);
  const double inverse = 1 / a.hh, stiff = inverse * inverse;
  for (int i = begin; i < end; ++i) {
    const Row kr = (at(a.xb, i) - o) * (a.mass[i] * stiff), lin = lin_at(a, beta, g, inverse, i);
    if (narrow) {
      if (sides.kr_narrow) put(sides.kr_narrow, i, kr);
      put(sides.lin_narrow, i, lin);
      if (sides.lin) at(sides.lin, i) = lin;
    } else {
      if (sides.kr) at(sides.kr, i) = kr;
      at(sides.lin, i) = lin;
    }
  }
}

void column_kernel(RowArrays a, const Vec3& origin, double beta, const Vec3& common, RowSides sides, int begin,
                   int end) {
  return sides.lin_narrow ? column_loop<true>(a, origin, beta, common, sides, begin, end)
                          : column_loop<false>(a, origin, beta, common, sides, begin, end);
}

template <bool narrow>
RowColumns columns_loop(RowArrays a, RowSolutions s, int begin, int end) {
  const Row o = row(s.origin), c = row(a.center), d = c - o, g = row(s.common);
  const Row f0 = row(s.shape.col[0]), f1 = row(s.shape.col[1]), f2 = row(s.shape.col[2]);
  const double inverse = 1 / a.hh;
  Row lin_lin{}, p{};
  Spin l;
  Outer second;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row lin = s.lin ? at(s.lin, i) : lin_at(a, s.beta, g, inverse, i), alin = at<narrow>(s.Alin, i);
    lin_lin += lin * alin;
    const auto keep = [&](Row arm) {
      if (!narrow) return at(s.arm, i) = arm;
      put(s.arm_narrow, i, arm);
      return at(s.arm_narrow, i);
    };
    if (s.rest_arm) {
      const Row arm = at<narrow>(s.rest_arm, i);
      l.add(keep(f0 * arm[0] + f1 * arm[1] + f2 * arm[2]), lin);
    }
    if (!s.kr) continue;
    const Row akr = at<narrow>(s.Akr, i), xb = at(a.xb, i);
    if (s.swings) {
      const Row arm = keep((xb - o - akr) * (m > 0 ? 1.0 : 0.0));
      second.add(arm, at<narrow>(s.kr, i));
      l.add(arm, lin);
    } else {
      const Row mr = (xb - c) * m;
      second.add(akr - d, mr);  // A takes d to K d: about the centre the solution is less by d
      p += alin * m;
      l.add(mr, alin);
    }
  }
  return {sum(lin_lin), second.total(), vec3(p), l.total()};
}

RowColumns columns_kernel(RowArrays a, RowSolutions s, int begin, int end) {
  return s.Alin.narrow ? columns_loop<true>(a, s, begin, end) : columns_loop<false>(a, s, begin, end);
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
RowSums turn_loop(RowArrays a, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end) {
  const Row f = row(from), t = row(to), t0 = row(turn.col[0]), t1 = row(turn.col[1]), t2 = row(turn.col[2]);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row straight = at(a.xb, i) + at(a.u, i) * a.hh, d = straight - f;
    const Row x = a.mass[i] > 0 ? t + t0 * d[0] + t1 * d[1] + t2 * d[2] : straight;
    at(a.x, i) = x;
    arrive_at<spin>(a, inverse, i, x - at(a.xb, i), s);
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

void begin_kernel(RowRates a, int begin, int end) {
  const Row g = row(a.common);
  for (int i = begin; i < end; ++i) {
    const Row v = at(a.v, i),
              f = a.acceleration          ? at(a.acceleration, i)
                  : a.inverse_mass[i] > 0 ? g
                                          : Row{},
              w = f - at(a.gradient, i) * a.inverse_mass[i];
    at(a.xb, i) = at(a.x, i) + at(a.p, i) * a.c1 + v * a.c2;
    at(a.u, i) = v + at(a.q, i) * a.c1 + w * a.c2 + f * a.hh;
  }
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
RowProducts multiply_rows(const RowArrays& rows, RowColumn Ag, RowColumn last_Ag, const Vec4* lin, RowColumn lever,
                          int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(multiply_kernel)(rows, Ag, last_Ag, lin, lever, begin, end);
}
RowState state_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowOrigin& origin, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(state_kernel)(rows, x, v, origin, begin, end);
}
void column_rows(const RowArrays& rows, const Vec3& origin, double beta, const Vec3& common, const RowSides& sides,
                 int begin, int end) {
  HWY_DYNAMIC_DISPATCH(column_kernel)(rows, origin, beta, common, sides, begin, end);
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
