// The point nearest to F among R (1 + sum w_k D_k): rotation and weights of an example-based material (examples.cpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "potentials/anderson.h"
#include "potentials/parameters.h"
#include "verve/vec.h"

namespace verve {

inline constexpr int most_poses = 32;

inline double product(const Mat3& a, const Mat3& b) {
  return dot(a.col[0], b.col[0]) + dot(a.col[1], b.col[1]) + dot(a.col[2], b.col[2]);
}

/// min over w of w.G w / 2 - b.w: Gauss-Seidel, which takes bounds in its stride. Rows of zeros keep w = 0. Few poses
/// that are not nearly alike: a few sweeps.
void solve_weights(int poses, const double* G, const double* b, double limit, double* w);
/// Adds to w Newton's step: the solution of (G - C) step = b - G w, or the best one within bounds. False, and w as it
/// was, unless G - C is positive definite.
bool newton_step(int poses, const double* G, const double* C, const double* b, double limit, double* w);

/// |F - R H|^2 for the best R and H = 1 + sum w_k D_k; b for solve_weights, and C, how fast it changes with w.
double example_step(int poses, const Mat3* D, const Mat3& F, const double* w, double* b, double* C);

/// Best weights, and with them rotations. The paper alternates between the two (PD Eq. 27): each such step lowers the
/// distance, because it minimises it over one of them, but it converges slowly. The distance that the best rotations
/// leave is a smooth function of the weights: Newton's step on it is taken where it is convex and the distance falls,
/// otherwise that of the paper, accelerated. `step(w, b, C)` finds the best rotations for the weights w, fills b for
/// solve_weights and C with how fast it changes with w; it returns the distance. Converged to round-off the result has
/// the property that makes the force w (z - p) the slope of the energy: neither rotations nor weights can lower it
/// further.
template <class Step>
void find_best(int poses, const double* G, double limit, int iterations, double* w, const Step& step) {
  double b[most_poses], C[most_poses * most_poses], image[most_poses], from[most_poses];
  double memory[Anderson::scratch_size(most_poses)];
  Anderson anderson(poses, memory);
  std::fill_n(w, poses, 0.0);
  double last = std::numeric_limits<double>::infinity();
  bool risky = false;
  const auto moved_from = [&](const double* to, const double* at, double enough) {
    double moved = 0, size = 0;
    for (int k = 0; k < poses; ++k)
      moved = std::max(moved, std::abs(to[k] - at[k])), size = std::max(size, std::abs(to[k]));
    return moved > enough * (1 + size);
  };
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const double distance = step(w, b, C);
    if (risky && !(distance <= last * (1 + 1e-13))) {
      std::copy_n(image, poses, w);  // the plain step from where it was better
      anderson.restart();
      risky = false;
      continue;
    }
    last = distance;
    std::copy_n(w, poses, image), std::copy_n(w, poses, from);
    solve_weights(poses, G, b, limit, image);
    if (!moved_from(image, w, 1e-14)) break;
    risky = true;
    if (newton_step(poses, G, C, b, limit, w)) {
      anderson.restart();
      if (!moved_from(w, from, 1e-9)) break;  // the next step would be about its square
      continue;
    }
    anderson.advance(from, image, w);
    if (given(limit))
      for (int k = 0; k < poses; ++k) w[k] = std::clamp(w[k], 0.0, limit);
  }
}

/// Of one element: G_kl = D_k : D_l.
void find_example_weights(int poses, const Mat3* D, const double* G, double limit, int iterations, const Mat3& F,
                          double* w);
/// 1 + sum w_k D_k.
Mat3 example_shape(int poses, const Mat3* D, const double* w);
/// R H itself, from numbers that lie `stride` apart: those of F by columns, then of each D by columns, its lower half
/// alone. A negative limit is none.
template <class Number>
void nearest_example_in_double(const Number* F, const Number* D, int poses, double limit, int iterations, int stride,
                               Number* out);

}  // namespace verve
