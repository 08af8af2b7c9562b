// One tetrahedron of an example-based material: see examples.cpp.
#if !defined(VERVE_EXAMPLES_PATCH_H) || defined(VERVE_PACKS)
#define VERVE_EXAMPLES_PATCH_H

#include "potentials/example_fit.h"
#include "potentials/kernel.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// Psi = w/2 min over R, w of |F - R (1 + sum w_k D_k)|^2, for up to four poses, each element with weights of its own.
/// Newton's method on the weights from zero. Wherever an element of a pack needs something else, because it is not
/// convex, does not go down, meets bounds on several weights or does not settle, that one is done by itself, in double.
struct ExamplesPatch {
  static constexpr bool patch = true, first_counts = false;
  static constexpr int most = 4;  // poses

  template <class T>
  struct Element {
    T weight;
    T limit;       // of weights; negative: none
    T iterations;  // this and the number of poses are the same for all
    T poses;
    std::array<std::array<T, 6>, most> D;  // lower halves, column by column
  };
  template <class T>
  struct Corner {
    T a0, a1, a2;  // column of A
  };
  template <class T>
  struct Sum {
    Vec3T<T> z0{T(0), T(0), T(0)}, z1{T(0), T(0), T(0)}, z2{T(0), T(0), T(0)};
  };

  template <class T>
  static void add(Sum<T>& s, const Corner<T>& c, const Vec3T<T>& d) {
    s.z0 = add_scaled(s.z0, d, c.a0), s.z1 = add_scaled(s.z1, d, c.a1), s.z2 = add_scaled(s.z2, d, c.a2);
  }

  template <class T>
  static T solve(const Element<T>& e, Sum<T>& s) {
    const Mat3T<T> F{{s.z0, s.z1, s.z2}};
    const Mat3T<T> goal = nearest<T>(e, F);
    const Vec3T<T> d0 = s.z0 - goal.col[0], d1 = s.z1 - goal.col[1], d2 = s.z2 - goal.col[2];
    s.z0 = d0 * e.weight, s.z1 = d1 * e.weight, s.z2 = d2 * e.weight;
    return T(0.5) * e.weight * (dot(d0, d0) + dot(d1, d1) + dot(d2, d2));
  }

  template <class T>
  static T pull(const Element<T>&, const Sum<T>& s, const Corner<T>& c, const Vec3T<T>&, Vec3T<T>& g) {
    g = add_scaled(add_scaled(s.z0 * c.a0, s.z1, c.a1), s.z2, c.a2);
    return T(0);
  }

 private:
  template <class T>
  static T inner(const Mat3T<T>& a, const Mat3T<T>& b) {
    return dot(a.col[0], b.col[0]) + dot(a.col[1], b.col[1]) + dot(a.col[2], b.col[2]);
  }
  template <class T>
  static Mat3T<T> shape(const Mat3T<T>* D, const T* w, int poses) {
    Mat3T<T> H = Mat3T<T>::identity();
    for (int k = 0; k < poses; ++k)
      for (int c = 0; c < 3; ++c) H.col[c] = add_scaled(H.col[c], D[k].col[c], w[k]);
    return H;
  }

  template <class T>
  static Mat3T<T> nearest(const Element<T>& e, const Mat3T<T>& F) {
    constexpr bool wide = sizeof(typename LaneOf<T>::Type) == sizeof(double);
    // a step as short as this is the last: the next would be about its square
    const T enough = T(wide ? 1e-9 : 1e-4);
    // what round-off makes of distances, relative and, for unit sizes, absolute
    const T noise = T(1 + (wide ? 1e-13 : 1e-5)), floor = T(wide ? 1e-29 : 1e-12);
    constexpr int cap = 8;
    int poses = 1;
    while (poses < most && any(e.poses > T(poses))) ++poses;

    Mat3T<T> D[most];
    T G[most][most], w[most];
    for (int k = 0; k < poses; ++k) {
      const std::array<T, 6>& d = e.D[k];
      D[k] = {{Vec3T<T>{d[0], d[1], d[2]}, Vec3T<T>{d[1], d[3], d[4]}, Vec3T<T>{d[2], d[4], d[5]}}};
      w[k] = T(0);
      for (int l = 0; l <= k; ++l) G[k][l] = G[l][k] = inner<T>(D[k], D[l]);
    }
    const Mat3T<T> identity = Mat3T<T>::identity();
    const MaskOf<T> bounded = e.limit >= T(0);
    MaskOf<T> settled = T(0) > T(1), lost = settled;
    T last = T(1e30);
    for (int iteration = 0; iteration < cap; ++iteration) {
      // see example_step
      const Mat3T<T> H = shape<T>(D, w, poses), R = nearest_rotation<T>(F * H), back = transpose(R) * F, S = back * H;
      const T distance = squared_norm(back - H);
      lost = lost | ((!settled) & (!(distance <= last * noise + floor)));
      last = distance;
      const T trace = S(0, 0) + S(1, 1) + S(2, 2);
      const Mat3T<T> K = identity * trace - S, cofactors = cofactor(K);
      const T volume = dot(K.col[0], cofactors.col[0]), size = squared_norm(K);
      const MaskOf<T> unique = (volume > T(0)) & (volume * volume > T(wide ? 1e-12 : 1e-6) * size * size * size);
      lost = lost | ((!settled) & (!unique));
      const T scale = T(1) / select(unique, volume, T(1));
      Vec3T<T> axial[most];
      T L[most][most], step[most], inverse[most];
      for (int k = 0; k < poses; ++k) {
        const Mat3T<T> M = back * D[k];
        step[k] = inner<T>(D[k], back - identity);
        axial[k] = {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)};
        const Vec3T<T> turn = cofactors * axial[k] * scale;
        const MaskOf<T> idle = !(G[k][k] > T(0));  // a pose that deforms nothing
        for (int l = 0; l < poses; ++l) step[k] = step[k] - G[k][l] * w[l];
        for (int l = 0; l <= k; ++l) {
          T sum = G[k][l] - dot(turn, axial[l]);
          for (int j = 0; j < l; ++j) sum = sum - L[k][j] * L[l][j];
          if (l < k) {
            L[k][l] = sum * inverse[l];
          } else {
            sum = select(idle, T(1), sum);
            const MaskOf<T> convex = sum > T(wide ? 1e-6 : 1e-3) * G[k][k];
            lost = lost | ((!settled) & (!convex));
            L[k][k] = sqrt(select(convex, sum, T(1)));
            inverse[k] = T(1) / L[k][k];
          }
        }
        for (int j = 0; j < k; ++j) step[k] = step[k] - L[k][j] * step[j];
        step[k] = step[k] * inverse[k];
      }
      T moved = T(0), largest = T(0);
      for (int k = poses - 1; k >= 0; --k) {
        for (int j = k + 1; j < poses; ++j) step[k] = step[k] - L[j][k] * step[j];
        step[k] = step[k] * inverse[k];
        T next = w[k] + step[k];
        const MaskOf<T> outside = bounded & ((next < T(0)) | (next > e.limit));
        if (poses == 1)
          next = select(outside, min(max(next, T(0)), e.limit), next);
        else
          lost = lost | ((!settled) & outside);
        next = select(settled, w[k], next);
        moved = max(moved, T(abs(next - w[k]))), largest = max(largest, T(abs(next)));
        w[k] = next;
      }
      settled = settled | (moved <= enough * (T(1) + largest));
      lost = lost | ((!settled) & (e.iterations <= T(iteration + 1)));  // that many and no more
      if (all(settled | lost)) break;
    }
    lost = lost | (!settled);
    const Mat3T<T> H = shape<T>(D, w, poses);
    Mat3T<T> goal = nearest_rotation<T>(F * H) * H;
    if (any(lost)) [[unlikely]] {
      const Mat3T<T> copy = F;
      Mat3T<T> patched = goal;
      const Element<T> own = e;  // what is handed to a function has to be in memory
      alone<T>(own, copy, poses, select(lost, T(1), T(0)), patched);
      goal = patched;
    }
    return goal;
  }

  /// Those lanes for which `wanted` is not zero, one at a time.
  template <class T>
  VERVE_NOINLINE static void alone(const Element<T>& e, const Mat3T<T>& F, int poses, const T& wanted,
                                   Mat3T<T>& goal) {
    using Number = typename LaneOf<T>::Type;
    constexpr int count = int(sizeof(T) / sizeof(Number));
    Number f[9][count], d[most][6][count], g[9][count], flag[count], limit[count], iterations[count];
    std::memcpy(f, &F, sizeof f), std::memcpy(g, &goal, sizeof g), std::memcpy(flag, &wanted, sizeof flag);
    std::memcpy(limit, &e.limit, sizeof limit), std::memcpy(iterations, &e.iterations, sizeof iterations);
    std::memcpy(d, &e.D, sizeof d);
    for (int l = 0; l < count; ++l)
      if (flag[l] != 0)
        verve::nearest_example_in_double<Number>(&f[0][l], &d[0][0][l], poses, double(limit[l]), int(iterations[l]),
                                                 count, &g[0][l]);
    std::memcpy(static_cast<void*>(&goal), g, sizeof g);
  }
};

VERVE_KERNEL_END(ExamplesPatch)
#endif
