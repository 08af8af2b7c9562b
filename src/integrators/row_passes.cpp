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
  const Row v = (x - at(a.xb, i)) * inverse, mv = v * m;
  at(a.gg, i) = (v - at(a.u, i)) * (m * inverse);
  s.kinetic += v * mv;
  s.p += mv;
  if (a.force) s.force_v += at(a.force, i) * v;
  if (a.mr) s.l += cross(at(a.mr, i), v);
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
    at(a.dx, i) = dx;
    at(a.x, i) = x;
    arrive_at(a, inverse, i, x, s);
  }
  return s.total();
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

RowProducts multiply_kernel(const RowArrays& a, const Vec4* Ag, const Vec4* lin, const Vec4* lever, bool of_solution,
                            int begin, int end) {
  Row gg_gg{}, lin_gg{}, p{}, l{};
  for (int i = begin; i < end; ++i) {
    const Row g = at(a.gg, i), ag = at(Ag, i);
    gg_gg += g * ag;
    if (lin) lin_gg += at(lin, i) * ag;
    if (!lever) continue;
    p += ag * a.mass[i];
    l += cross(at(lever, i), of_solution ? ag : g);
  }
  return {sum(gg_gg), sum(lin_gg), vec3(p), vec3(l)};
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
HWY_EXPORT(step_kernel);
HWY_EXPORT(extrapolate_kernel);
HWY_EXPORT(multiply_kernel);

RowSums arrive(const RowArrays& rows, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(arrive_kernel)(rows, begin, end);
}
RowSums move_rows(const RowArrays& rows, const RowStep& step, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(move_kernel)(rows, step, begin, end);
}
RowOverlap step_rows(const RowArrays& rows, const RowStep& step, const Vec4* last_dx, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(step_kernel)(rows, step, last_dx, begin, end);
}
RowSums extrapolate_rows(const RowArrays& rows, double beta, const Vec4* last_end, Vec4* ends, int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(extrapolate_kernel)(rows, beta, last_end, ends, begin, end);
}
RowProducts multiply_rows(const RowArrays& rows, const Vec4* Ag, const Vec4* lin, const Vec4* lever, bool of_solution,
                          int begin, int end) {
  return HWY_DYNAMIC_DISPATCH(multiply_kernel)(rows, Ag, lin, lever, of_solution, begin, end);
}

}  // namespace verve
#endif
