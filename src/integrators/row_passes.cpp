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

VERVE_INLINE Row& at(Vec4* rows, int i) { return reinterpret_cast<Row*>(rows)[i]; }
VERVE_INLINE Row at(const Vec4* rows, int i) { return reinterpret_cast<const Row*>(rows)[i]; }
VERVE_INLINE Row row(const Vec3& v) { return Row{v.x, v.y, v.z, 0}; }
VERVE_INLINE Row cross(Row a, Row b) {
  const Row ab = a * __builtin_shufflevector(b, b, 1, 2, 0, 3) - __builtin_shufflevector(a, a, 1, 2, 0, 3) * b;
  return __builtin_shufflevector(ab, ab, 1, 2, 0, 3);
}
VERVE_INLINE double sum(Row a) { return a[0] + a[1] + a[2]; }
VERVE_INLINE Vec3 vec3(Row a) { return {a[0], a[1], a[2]}; }

struct Sums {
  Row kinetic{}, force_v{}, p{}, l{};
  VERVE_INLINE RowSums total() const { return {0.5 * sum(kinetic), sum(force_v), vec3(p), vec3(l)}; }
};

VERVE_INLINE void arrive_at(const RowArrays& a, double inverse, int i, Row x, Sums& s) {
  const double m = a.mass[i];
  const Row xb = at(a.xb, i), v = (x - xb) * inverse, mv = v * m;
  at(a.gg, i) = (v - at(a.u, i)) * (m * inverse);
  s.kinetic += v * mv;
  s.p += mv;
  if (a.force) s.force_v += at(a.force, i) * v;
  if (a.spin) s.l += cross(xb - row(a.center), mv);
}

VERVE_INLINE Row step_of(const RowArrays& a, const RowStep& s, Row shift, Row turn, int i) {
  Row dx = at(s.Ag, i) * s.g;
  if (s.Alin) dx += at(s.Alin, i) * s.l;
  if (s.lever) {
    const double share = a.mass[i] > 0 ? 1 : 0;  // rows without mass take no part in the momenta
    dx += (shift + cross(turn, at(s.lever, i))) * share;
  }
  return dx;
}

RowSums arrive_kernel(const RowArrays& a, int begin, int end) {
  Sums s;
  for (int i = begin; i < end; ++i) arrive_at(a, 1 / a.hh, i, at(a.x, i), s);
  return s.total();
}

RowSums move_kernel(const RowArrays& a, const RowStep& step, int begin, int end) {
  const Row shift = row(step.shift), turn = row(step.turn);
  const double inverse = 1 / a.hh;
  Sums s;
  for (int i = begin; i < end; ++i) {
    const Row dx = step_of(a, step, shift, turn, i), x = at(a.x, i) - dx;
    if (a.dx) at(a.dx, i) = dx;
    at(a.x, i) = x;
    arrive_at(a, inverse, i, x, s);
  }
  return s.total();
}

RowSums plain_kernel(const RowArrays& a, const Vec4* Ag, int begin, int end) {
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

RowOverlap step_kernel(const RowArrays& a, const RowStep& step, const Vec4* last_dx, int begin, int end) {
  const Row shift = row(step.shift), turn = row(step.turn);
  Row along{}, changed{};
  for (int i = begin; i < end; ++i) {
    const Row dx = step_of(a, step, shift, turn, i), change = dx - at(last_dx, i), weighted = change * a.mass[i];
    at(a.dx, i) = dx;
    along += weighted * dx;
    changed += weighted * change;
  }
  return {sum(along), sum(changed)};
}

RowSums extrapolate_kernel(const RowArrays& a, double beta, const Vec4* last_end, Vec4* ends, int begin, int end) {
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

RowProducts multiply_kernel(const RowArrays& a, const Vec4* Ag, bool held, const Vec4* lin, const Vec4* lever,
                            int begin, int end) {
  const Row c = row(a.center);
  Row gg_gg{}, lin_gg{}, p{}, l{};
  for (int i = begin; i < end; ++i) {
    const Row g = at(a.gg, i), ag = at(Ag, i), mag = ag * a.mass[i];
    gg_gg += g * ag;
    if (!held) continue;
    lin_gg += lin ? at(lin, i) * ag : at(a.u, i) * mag;
    p += mag;
    if (a.spin) {
      l += cross(at(a.xb, i) - c, mag);
    } else if (lever) {
      l += cross(at(lever, i), g);
    }
  }
  return {sum(gg_gg), sum(lin_gg), vec3(p), vec3(l)};
}

/// sum a b^T, by columns.
struct Outer {
  Row x{}, y{}, z{};
  VERVE_INLINE void add(Row a, Row b) { x += a * b[0], y += a * b[1], z += a * b[2]; }
  VERVE_INLINE Mat3 total() const { return {{vec3(x), vec3(y), vec3(z)}}; }
};

RowCenters center_kernel(const RowArrays& a, const Vec4* position, const Vec4* velocity, const RowCenters& origin,
                         int begin, int end) {
  const Row ob = row(origin.xb), ox = row(origin.x), ov = row(origin.v), ou = row(origin.u);
  Row b{}, x{}, v{}, u{};
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    b += (at(a.xb, i) - ob) * m;
    x += (at(position, i) - ox) * m;
    v += (at(velocity, i) - ov) * m;
    u += (at(a.u, i) - ou) * m;
  }
  return {vec3(b), vec3(x), vec3(v), vec3(u)};
}

RowMoments moment_kernel(const RowArrays& a, const Vec4* position, const Vec4* velocity, const RowCenters& center,
                         int begin, int end) {
  const Row cb = row(center.xb), cx = row(center.x), cv = row(center.v), cu = row(center.u);
  Row l{}, kinetic{}, kinetic_u{};
  Outer second;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    const Row b = at(a.xb, i) - cb, v = at(velocity, i) - cv, u = at(a.u, i) - cu, mv = v * m;
    second.add(b * m, b);
    l += cross(at(position, i) - cx, mv);
    kinetic += mv * v;
    kinetic_u += u * m * u;
  }
  return {second.total(), vec3(l), 0.5 * sum(kinetic), 0.5 * sum(kinetic_u)};
}

void column_kernel(const RowArrays& a, const Vec3& center, double beta, const Vec3& common, Vec4* mr, Vec4* lin,
                   int begin, int end) {
  const Row c = row(center), g = row(common) * beta;
  const double inverse = 1 / a.hh;
  for (int i = begin; i < end; ++i) {
    const double m = a.mass[i];
    at(mr, i) = (at(a.xb, i) - c) * m;
    at(lin, i) =
        a.force ? at(a.u, i) * (m * inverse) - at(a.force, i) * (beta * inverse) : (at(a.u, i) - g) * (m * inverse);
  }
}

RowColumns columns_kernel(const double* mass, const Vec4* mr, const Vec4* Amr, const Vec4* lin, const Vec4* Alin,
                          int begin, int end) {
  Row lin_lin{}, p{}, l{};
  Outer second;
  for (int i = begin; i < end; ++i) {
    const Row alin = at(Alin, i);
    lin_lin += at(lin, i) * alin;
    if (!mr) continue;
    const Row r = at(mr, i);
    second.add(at(Amr, i), r);
    p += alin * mass[i];
    l += cross(r, alin);
  }
  return {sum(lin_lin), second.total(), vec3(p), vec3(l)};
}

RowColumns arm_kernel(const RowArrays& a, const Vec3& center, const Vec4* mr, const Vec4* Amr, const Vec4* lin,
                      Vec4* arm, int begin, int end) {
  const Row c = row(center);
  Row l{};
  Outer second;
  for (int i = begin; i < end; ++i) {
    const Row y = (at(a.xb, i) - c - at(Amr, i)) * (a.mass[i] > 0 ? 1.0 : 0.0);
    at(arm, i) = y;
    second.add(y, at(mr, i));
    l += cross(y, at(lin, i));
  }
  return {0, second.total(), {}, vec3(l)};
}

RowSums turn_kernel(const RowArrays& a, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end) {
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
HWY_EXPORT(center_kernel);
HWY_EXPORT(moment_kernel);
HWY_EXPORT(column_kernel);
HWY_EXPORT(columns_kernel);
HWY_EXPORT(arm_kernel);
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
RowProducts multiply_rows(const RowArrays& rows, const Vec4* Ag, bool held, const Vec4* lin, const Vec4* lever,
                          int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(multiply_kernel)(rows, Ag, held, lin, lever, begin, end);
}
RowCenters center_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowCenters& origin, int begin,
                       int end) {
  return HWY_DYNAMIC_DISPATCH(center_kernel)(rows, x, v, origin, begin, end);
}
RowMoments moment_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowCenters& center, int begin,
                       int end) {
  return HWY_DYNAMIC_DISPATCH(moment_kernel)(rows, x, v, center, begin, end);
}
void column_rows(const RowArrays& rows, const Vec3& center, double beta, const Vec3& common, Vec4* mr, Vec4* lin,
                 int begin, int end) {
  HWY_DYNAMIC_DISPATCH(column_kernel)(rows, center, beta, common, mr, lin, begin, end);
}
RowColumns multiply_columns(const double* mass, const Vec4* mr, const Vec4* Amr, const Vec4* lin, const Vec4* Alin,
                            int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(columns_kernel)(mass, mr, Amr, lin, Alin, begin, end);
}
RowColumns arm_rows(const RowArrays& rows, const Vec3& center, const Vec4* mr, const Vec4* Amr, const Vec4* lin,
                    Vec4* arm, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(arm_kernel)(rows, center, mr, Amr, lin, arm, begin, end);
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
