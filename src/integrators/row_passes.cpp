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
VERVE_INLINE Row at(const Float4* rows, int i) {
  const Narrow& r = reinterpret_cast<const Narrow*>(rows)[i];
  return Row{double(r[0]), double(r[1]), double(r[2]), double(r[3])};  // one instruction, unlike a conversion by vector
}
VERVE_INLINE void put(Float4* rows, int i, Row value) {
  reinterpret_cast<Narrow*>(rows)[i] = __builtin_convertvector(value, Narrow);
}
template <bool narrow>
VERVE_INLINE Row at(const RowColumn& column, int i) {
  return narrow ? at(column.narrow, i) : at(column.wide, i);
}
VERVE_INLINE Row row(const Vec3& v) { return Row{v.x, v.y, v.z, 0}; }
VERVE_INLINE Row turned(Row a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
/// The cross product as (z x y): a sum of many is turned once, at its end.
VERVE_INLINE Row cross_zxy(Row a, Row b) { return a * turned(b) - turned(a) * b; }
VERVE_INLINE Row cross(Row a, Row b) { return turned(cross_zxy(a, b)); }
VERVE_INLINE double sum(Row a) { return a[0] + a[1] + a[2]; }
VERVE_INLINE Vec3 vec3(Row a) { return {a[0], a[1], a[2]}; }

struct Sums {
  Row kinetic{}, force_v{}, p{}, l_zxy{};
  VERVE_INLINE RowSums total() const { return {0.5 * sum(kinetic), sum(force_v), vec3(p), vec3(turned(l_zxy))}; }
};

VERVE_INLINE void arrive_at(const RowArrays& a, double inverse, int i, Row x, Sums& s) {
  const double m = a.mass[i];
  const Row xb = at(a.xb, i), v = (x - xb) * inverse, mv = v * m;
  at(a.gg, i) = (v - at(a.u, i)) * (m * inverse);
  s.kinetic += v * mv;
  s.p += mv;
  if (a.force) s.force_v += at(a.force, i) * v;
  if (a.spin) s.l_zxy += cross_zxy(xb - row(a.center), mv);
}

template <bool narrow>
VERVE_INLINE Row step_of(const RowArrays& a, const RowStep& s, Row shift, Row turn, int i) {
  Row dx = at(s.Ag, i) * s.g;
  if (s.Alin) dx += at<narrow>(s.Alin, i) * s.l;
  // rows without mass take no part in the momenta
  if (s.lever && a.mass[i] > 0) dx += shift + cross(turn, at<narrow>(s.lever, i));
  return dx;
}

RowSums arrive_kernel(RowArrays a, int begin, int end) {
  Sums s;
  for (int i = begin; i < end; ++i) arrive_at(a, 1 / a.hh, i, at(a.x, i), s);
  return s.total();
}

VERVE_INLINE bool is_narrow(const RowStep& step) { return step.Alin.narrow || step.lever.narrow; }

template <bool narrow>
RowSums move_loop(RowArrays a, RowStep step, int begin, int end) {
  const Row shift = row(step.shift), turn = row(step.turn);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row dx = step_of<narrow>(a, step, shift, turn, i), x = at(a.x, i) - dx;
    if (a.dx) at(a.dx, i) = dx;
    at(a.x, i) = x;
    arrive_at(a, inverse, i, x, s);
  }
  return s.total();
}

RowSums move_kernel(RowArrays a, RowStep step, int begin, int end) {
  return is_narrow(step) ? move_loop<true>(a, step, begin, end) : move_loop<false>(a, step, begin, end);
}

RowSums plain_kernel(RowArrays a, const Vec4* Ag, int begin, int end) {
  const double inverse = 1 / a.hh;
  Row gg_gg{};
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row dx = at(Ag, i), x = at(a.x, i) - dx;
    gg_gg += at(a.gg, i) * dx;
    at(a.x, i) = x;
    arrive_at(a, inverse, i, x, s);
  }
  RowSums total = s.total();
  total.gg_gg = sum(gg_gg);
  return total;
}

template <bool narrow>
RowOverlap step_loop(RowArrays a, RowStep step, const Vec4* last_dx, int begin, int end) {
  const Row shift = row(step.shift), turn = row(step.turn);
  Row along{}, changed{};
  for (int i = begin; i < end; ++i) {
    const Row dx = step_of<narrow>(a, step, shift, turn, i), change = dx - at(last_dx, i),
              weighted = change * a.mass[i];
    at(a.dx, i) = dx;
    along += weighted * dx;
    changed += weighted * change;
  }
  return {sum(along), sum(changed)};
}

RowOverlap step_kernel(RowArrays a, RowStep step, const Vec4* last_dx, int begin, int end) {
  return is_narrow(step) ? step_loop<true>(a, step, last_dx, begin, end)
                         : step_loop<false>(a, step, last_dx, begin, end);
}

RowSums extrapolate_kernel(RowArrays a, double beta, const Vec4* last_end, Vec4* ends, int begin, int end) {
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row e = at(a.x, i) - at(a.dx, i), x = e - (e - at(last_end, i)) * beta;
    at(a.x, i) = x;
    at(ends, i) = e;
    arrive_at(a, inverse, i, x, s);
  }
  return s.total();
}

RowProducts multiply_kernel(RowArrays a, const Vec4* Ag, bool held, const Vec4* lin, RowColumn lever, int begin,
                            int end) {
  const Row c = row(a.center);
  Row gg_gg{}, lin_gg{}, p{}, l_zxy{};
  for (int i = begin; i < end; ++i) {
    const Row g = at(a.gg, i), ag = at(Ag, i), mag = ag * a.mass[i];
    gg_gg += g * ag;
    if (!held) continue;
    lin_gg += lin ? at(lin, i) * ag : at(a.u, i) * mag;
    p += mag;
    if (a.spin) {
      l_zxy += cross_zxy(at(a.xb, i) - c, mag);
    } else if (lever) {
      l_zxy += cross_zxy(lever.narrow ? at(lever.narrow, i) : at(lever.wide, i), g);
    }
  }
  return {sum(gg_gg), sum(lin_gg), vec3(p), vec3(turned(l_zxy))};
}

/// sum a b^T, by columns.
struct Outer {
  Row x{}, y{}, z{};
  VERVE_INLINE void add(Row a, Row b) { x += a * b[0], y += a * b[1], z += a * b[2]; }
  VERVE_INLINE Mat3 total() const { return {{vec3(x), vec3(y), vec3(z)}}; }
};

RowState state_kernel(RowArrays a, const Vec4* position, const Vec4* velocity, RowOrigin origin, int begin, int end) {
  const Row ob = row(origin.xb), ox = row(origin.x), ov = row(origin.v), ou = row(origin.u);
  Row sum_b{}, sum_x{}, sum_v{}, sum_u{}, l{}, kinetic{}, kinetic_u{};
  Outer second;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row b = at(a.xb, i) - ob, x = at(position, i) - ox, v = at(velocity, i) - ov, u = at(a.u, i) - ou;
    const Row mb = b * m, mv = v * m, mu = u * m;
    sum_b += mb, sum_x += x * m, sum_v += mv, sum_u += mu;
    second.add(mb, b);
    l += cross(x, mv);
    kinetic += mv * v;
    kinetic_u += mu * u;
  }
  return {vec3(sum_b),    vec3(sum_x), vec3(sum_v),        vec3(sum_u),
          second.total(), vec3(l),     0.5 * sum(kinetic), 0.5 * sum(kinetic_u)};
}

void column_kernel(RowArrays a, const Vec3& origin, double beta, const Vec3& common, Vec4* kr, Vec4* lin, int begin,
                   int end) {
  const Row o = row(origin), g = row(common) * beta;
  const double inverse = 1 / a.hh, stiff = inverse * inverse;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    if (kr) at(kr, i) = (at(a.xb, i) - o) * (m * stiff);
    at(lin, i) =
        a.force ? at(a.u, i) * (m * inverse) - at(a.force, i) * (beta * inverse) : (at(a.u, i) - g) * (m * inverse);
  }
}

RowColumns columns_kernel(RowArrays a, RowSolutions s, int begin, int end) {
  const Row o = row(s.origin), c = row(a.center), d = c - o;
  Row lin_lin{}, p{}, l{};
  Outer second;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row lin = at(s.lin, i), alin = at(s.Alin, i);
    lin_lin += lin * alin;
    if (s.Alin_narrow) put(s.Alin_narrow, i, alin);
    if (!s.kr) continue;
    const Row akr = at(s.Akr, i), xb = at(a.xb, i);
    if (s.swings) {
      Row arm = (xb - o - akr) * (m > 0 ? 1.0 : 0.0);
      if (s.lever_narrow) {
        put(s.lever_narrow, i, arm);
        arm = at(s.lever_narrow, i);
      } else {
        at(s.arm, i) = arm;
      }
      second.add(arm, at(s.kr, i));
      l += cross(arm, lin);
    } else {
      const Row mr = (xb - c) * m;
      if (s.lever_narrow) put(s.lever_narrow, i, akr);
      second.add(akr - d, mr);  // A takes d to K d: about the centre the solution is less by d
      p += alin * m;
      l += cross(mr, alin);
    }
  }
  return {sum(lin_lin), second.total(), vec3(p), vec3(l)};
}

RowSums straight_kernel(RowArrays a, int begin, int end) {
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row x = at(a.xb, i) + at(a.u, i) * a.hh;
    at(a.x, i) = x;
    arrive_at(a, inverse, i, x, s);
  }
  return s.total();
}

RowSums turn_kernel(RowArrays a, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end) {
  const Row f = row(from), t = row(to), t0 = row(turn.col[0]), t1 = row(turn.col[1]), t2 = row(turn.col[2]);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row straight = at(a.xb, i) + at(a.u, i) * a.hh, d = straight - f;
    const Row x = a.mass[i] > 0 ? t + t0 * d[0] + t1 * d[1] + t2 * d[2] : straight;
    at(a.x, i) = x;
    arrive_at(a, inverse, i, x, s);
  }
  return s.total();
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
HWY_EXPORT(step_kernel);
HWY_EXPORT(extrapolate_kernel);
HWY_EXPORT(multiply_kernel);
HWY_EXPORT(state_kernel);
HWY_EXPORT(column_kernel);
HWY_EXPORT(columns_kernel);
HWY_EXPORT(straight_kernel);
HWY_EXPORT(turn_kernel);
HWY_EXPORT(shape_kernel);
HWY_EXPORT(distance_kernel);

RowSums arrive(const RowArrays& rows, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(arrive_kernel)(rows, begin, end);
}
RowSums move_rows(const RowArrays& rows, const RowStep& step, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(move_kernel)(rows, step, begin, end);
}
RowSums plain_rows(const RowArrays& rows, const Vec4* Ag, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(plain_kernel)(rows, Ag, begin, end);
}
RowOverlap step_rows(const RowArrays& rows, const RowStep& step, const Vec4* last_dx, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(step_kernel)(rows, step, last_dx, begin, end);
}
RowSums extrapolate_rows(const RowArrays& rows, double beta, const Vec4* last_end, Vec4* ends, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(extrapolate_kernel)(rows, beta, last_end, ends, begin, end);
}
RowProducts multiply_rows(const RowArrays& rows, const Vec4* Ag, bool held, const Vec4* lin, RowColumn lever, int begin,
                          int end) {
  return HWY_DYNAMIC_DISPATCH(multiply_kernel)(rows, Ag, held, lin, lever, begin, end);
}
RowState state_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowOrigin& origin, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(state_kernel)(rows, x, v, origin, begin, end);
}
void column_rows(const RowArrays& rows, const Vec3& origin, double beta, const Vec3& common, Vec4* kr, Vec4* lin,
                 int begin, int end) {
  HWY_DYNAMIC_DISPATCH(column_kernel)(rows, origin, beta, common, kr, lin, begin, end);
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
RowShape shape_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& origin, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(shape_kernel)(mass, x, rest, origin, begin, end);
}
double distance_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& center, const Mat3& rotation,
                     int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(distance_kernel)(mass, x, rest, center, rotation, begin, end);
}

}  // namespace verve
#endif
