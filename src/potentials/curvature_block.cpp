#include "potentials/curvature_block.h"

#ifdef VERVE_SIMD
#define VERVE_PACKS
#include "base/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "potentials/curvature_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#endif

#include "potentials/stretch_frame.h"

VERVE_NAMESPACE_BEGIN
namespace {

#ifdef VERVE_SIMD
using Number = Pack<double>;
#else
using Number = double;
#endif

using Lanes = double[block_size];

Number load(const Lanes& from, int lane) { return load_lanes<Number>(from + lane); }
Vec3T<Number> load(const Lanes (&from)[3], int lane) {
  return {load(from[0], lane), load(from[1], lane), load(from[2], lane)};
}
void store(const Vec3T<Number>& v, Lanes (&to)[3], int lane) {
  for (int a = 0; a < 3; ++a) store_lanes<Number>(v[a], to[a] + lane);
}

#ifdef VERVE_SIMD
/// V of all elements to seven digits, sixteen in a register.
struct NarrowFrames {
  alignas(64) float z[3][3][block_size];
  alignas(64) double v[3][3][block_size];

  explicit NarrowFrames(const double (&wide)[3][3][block_size]) {
    using T = Pack<float>;
    for (int r = 0; r < 3; ++r)
      for (int a = 0; a < 3; ++a)
        for (int k = 0; k < block_size; ++k) z[r][a][k] = float(wide[r][a][k]);
    for (int lane = 0; lane < block_size; lane += lanes<T>) {
      Mat3T<T> F, U, V;
      Vec3T<T> s;
      for (int r = 0; r < 3; ++r)
        for (int a = 0; a < 3; ++a) F.col[r][a] = load_lanes<T>(z[r][a] + lane);
      rotation_svd(F, U, s, V);
      for (int r = 0; r < 3; ++r)
        for (int a = 0; a < 3; ++a) store_lanes<T>(V.col[r][a], z[r][a] + lane);
    }
    for (int r = 0; r < 3; ++r)
      for (int a = 0; a < 3; ++a)
        for (int k = 0; k < block_size; ++k) v[r][a][k] = z[r][a][k];
  }

  /// As a rotation in double (Gram and Schmidt).
  Mat3T<Number> at(int lane) const {
    Mat3T<Number> V;
    for (int r = 0; r < 2; ++r)
      for (int a = 0; a < 3; ++a) V.col[r][a] = load_lanes<Number>(v[r][a] + lane);
    V.col[0] = V.col[0] / norm(V.col[0]);
    V.col[1] = add_scaled(V.col[1], V.col[0], Number(-dot(V.col[0], V.col[1])));
    V.col[1] = V.col[1] / norm(V.col[1]);
    V.col[2] = cross(V.col[0], V.col[1]);
    return V;
  }
};
#endif

/// The sweeps that lead from nothing to seven digits are made in float, four times the lanes; from there one in double
/// is as good as the last of many.
template <int R, int N>
void stretches_of(CurvatureBlock<R, N>& b) {
#ifdef VERVE_SIMD
  [[maybe_unused]] const std::conditional_t<R == 3, NarrowFrames, int> narrow = [&] {
    if constexpr (R == 3) {
      return NarrowFrames(b.z);
    } else {
      return 0;
    }
  }();
#endif
  for (int lane = 0; lane < block_size; lane += lanes<Number>) {
    Columns<Number, R> z;
    unroll<R>([&](auto r) { z[r] = load(b.z[r], lane); });
    [[maybe_unused]] Mat3T<Number> start;
    const Mat3T<Number>* near = nullptr;
#ifdef VERVE_SIMD
    if constexpr (R == 3) start = narrow.at(lane), near = &start;
#endif
    const Stretches<Number, R> at(z, near);
    store(at.s, b.s, lane);
    unroll<3>([&](auto i) { store(at.u[i], b.u[i], lane); });
    unroll<R>([&](auto i) { unroll<R>([&](auto r) { store_lanes<Number>(at.v[i][r], b.v[i][r] + lane); }); });
  }
}

/// A corner moves by x: d_kl = (u_k.x) g_l, where g_l = v_l.(its coefficients).
template <int R, int N>
void corner_blocks_of(const CurvatureBlock<R, N>& b, double* out) {
  using M = Mat3T<Number>;
  for (int lane = 0; lane < block_size; lane += lanes<Number>) {
    Number g[N][R];
    for (int i = 0; i < N; ++i)
      for (int l = 0; l < R; ++l) {
        Number sum = load(b.v[l][0], lane) * load(b.coefficient[0][i], lane);
        for (int r = 1; r < R; ++r) sum = sum + load(b.v[l][r], lane) * load(b.coefficient[r][i], lane);
        g[i][l] = sum;
      }
    const M U{{load(b.u[0], lane), load(b.u[1], lane), load(b.u[2], lane)}}, to_frame = transpose(U);
    const auto write = [&](int i, int j, const M& block) {
      double* place = out + size_t(i * (i + 1) / 2 + j) * 9 * block_size + lane;
      for (int q = 0; q < 3; ++q)
        for (int p = 0; p < 3; ++p, place += block_size) store_lanes<Number>(block.col[q][p], place);
    };
    M first[N];  // the rows of a corner sum to zero
    for (M& m : first) m = M::diagonal({Number(0), Number(0), Number(0)});
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j <= i; ++j) {
        M frame;
        for (int k = 0; k < 3; ++k) {
          for (int l = 0; l < 3; ++l) {
            if (k == l || k >= R || l >= R) {
              frame(k, l) = Number(0);
              continue;
            }
            const Number direct = g[i][k] * g[j][l], swapped = g[i][l] * g[j][k];
            frame(k, l) = direct * load(b.along[k][l], lane) + swapped * load(b.crossed[k][l], lane);
          }
          for (int l = 0; l < R; ++l) {
            const Number product = g[i][l] * g[j][l];
            frame(k, k) = frame(k, k) + product * load(k == l ? b.along[k][l] : b.own[k][l], lane);
          }
        }
        const M block = (U * frame) * to_frame;
        write(i + 1, j + 1, block);
        first[i] = first[i] - block;
        if (j < i) first[j] = first[j] - transpose(block);
      }
    }
    M corner = M::diagonal({Number(0), Number(0), Number(0)});
    for (int i = 0; i < N; ++i) {
      write(i + 1, 0, first[i]);
      corner = corner - first[i];
    }
    write(0, 0, corner);
  }
}

// a name for each shape of element: Highway's tables do not take templates
#define VERVE_SHAPE(R, N)                                                                                   \
  VERVE_NOINLINE VERVE_FLATTEN void stretches_##R##_##N(CurvatureBlock<R, N>& b) { stretches_of<R, N>(b); } \
  VERVE_NOINLINE VERVE_FLATTEN void corner_blocks_##R##_##N(const CurvatureBlock<R, N>& b, double* out) {   \
    corner_blocks_of<R, N>(b, out);                                                                         \
  }
VERVE_SHAPE(1, 1)
VERVE_SHAPE(1, 2)
VERVE_SHAPE(2, 2)
VERVE_SHAPE(3, 3)
#undef VERVE_SHAPE

}  // namespace
VERVE_NAMESPACE_END

#ifdef VERVE_SIMD
#define VERVE_BEST(function) HWY_DYNAMIC_DISPATCH(function)
#else
#define VERVE_BEST(function) function
#define HWY_EXPORT(function) static_assert(true)
#endif
#if !defined(VERVE_SIMD) || HWY_ONCE
namespace verve {

#define VERVE_SHAPE(R, N)                                                                      \
  HWY_EXPORT(stretches_##R##_##N);                                                             \
  HWY_EXPORT(corner_blocks_##R##_##N);                                                         \
  void find_stretches(CurvatureBlock<R, N>& block) { VERVE_BEST(stretches_##R##_##N)(block); } \
  void find_corner_blocks(const CurvatureBlock<R, N>& block, double* out) {                    \
    VERVE_BEST(corner_blocks_##R##_##N)(block, out);                                           \
  }
VERVE_SHAPE(1, 1)
VERVE_SHAPE(1, 2)
VERVE_SHAPE(2, 2)
VERVE_SHAPE(3, 3)
#undef VERVE_SHAPE

}  // namespace verve
#endif
#undef VERVE_BEST
