#include "potentials/sqp.h"

#include <algorithm>
#include <cmath>

#include "potentials/anderson.h"

namespace verve {

namespace {

constexpr int most_iterations = 200;
constexpr double enough = 1e-12;  // of the size of the group
constexpr double cutoff = 1e-12;  // of the largest eigenvalue of J J^T with a diagonal of one

/// y = G^+ b for a symmetric positive semi-definite G of size n, whose diagonal is scaled to one. Jacobi's rotations.
/// G is destroyed; `vectors` takes n^2 numbers.
void solve_pseudo(int n, double* G, const double* b, double* y, double* vectors, double* scale) {
  for (int k = 0; k < n; ++k) scale[k] = G[k * n + k] > 0 ? 1 / std::sqrt(G[k * n + k]) : 0;
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l) G[k * n + l] *= scale[k] * scale[l], vectors[k * n + l] = k == l ? 1 : 0;
  for (int sweep = 0; sweep < 20; ++sweep) {
    double off = 0;
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) {
        const double g = G[i * n + j];
        off = std::max(off, std::abs(g));
        if (std::abs(g) < 1e-300) continue;
        const double theta = (G[j * n + j] - G[i * n + i]) / (2 * g);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) {
          const double a = G[k * n + i], d = G[k * n + j];
          G[k * n + i] = c * a - s * d, G[k * n + j] = s * a + c * d;
        }
        for (int k = 0; k < n; ++k) {
          const double a = G[i * n + k], d = G[j * n + k];
          G[i * n + k] = c * a - s * d, G[j * n + k] = s * a + c * d;
        }
        for (int k = 0; k < n; ++k) {
          const double a = vectors[k * n + i], d = vectors[k * n + j];
          vectors[k * n + i] = c * a - s * d, vectors[k * n + j] = s * a + c * d;
        }
      }
    if (off < 1e-16) break;
  }
  double largest = 0;
  for (int k = 0; k < n; ++k) largest = std::max(largest, G[k * n + k]), y[k] = 0;
  for (int e = 0; e < n; ++e) {
    const double value = G[e * n + e];
    if (!(value > cutoff * largest)) continue;
    double along = 0;
    for (int k = 0; k < n; ++k) along += vectors[k * n + e] * scale[k] * b[k];
    for (int k = 0; k < n; ++k) y[k] += vectors[k * n + e] * (along / value);
  }
  for (int k = 0; k < n; ++k) y[k] *= scale[k];
}

}  // namespace

std::size_t sqp_scratch_size(int count, int values) {
  const std::size_t n = 3 * std::size_t(count), k = std::size_t(values);
  return 3 * n + k * n + 2 * k * k + 4 * k + Anderson::scratch_size(int(n));
}

SqpResult project_by_sqp(const Formula& formula, int count, const Vec3* z, Vec3* p, double* scratch) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  const int n = 3 * count, K = formula.values;
  const auto take = [&](std::size_t numbers) {
    double* at = scratch;
    scratch += numbers;
    return at;
  };
  auto* image = reinterpret_cast<Vec3*>(take(n));
  auto* trial = reinterpret_cast<Vec3*>(take(n));
  auto* start = reinterpret_cast<Vec3*>(take(n));
  auto* J = reinterpret_cast<Vec3*>(take(std::size_t(K) * n));
  double *G = take(K * K), *vectors = take(K * K), *C = take(K), *b = take(K), *y = take(K), *scale = take(K);
  Anderson anderson(n, take(Anderson::scratch_size(n)));

  double size = 0;
  for (int i = 0; i < count; ++i) size += dot(z[i], z[i]);

  double nu =
      0;  // more than any multiplier: then the merit has its minima where the problem has (Nocedal, Wright 18.3)
  double violation = 0;
  const auto evaluate = [&](const Vec3* at) {
    formula.evaluate(at, count, C, J);
    violation = 0;
    for (int k = 0; k < K; ++k) {
      violation += std::abs(C[k]);
      Vec3 mean{};  // what depends on where the group is would push it along
      for (int i = 0; i < count; ++i) mean += J[k * count + i];
      mean = mean / double(count);
      for (int i = 0; i < count; ++i) J[k * count + i] -= mean;
    }
  };
  const auto distance = [&](const Vec3* at) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += dot(at[i] - z[i], at[i] - z[i]);
    return 0.5 * sum;
  };

  std::copy(z, z + count, p);
  evaluate(p);
  SqpResult result;
  for (; result.iterations < most_iterations; ++result.iterations) {
    for (int k = 0; k < K; ++k) {
      b[k] = C[k];
      for (int i = 0; i < count; ++i) b[k] += dot(J[k * count + i], z[i] - p[i]);
      for (int l = 0; l <= k; ++l) {
        double sum = 0;
        for (int i = 0; i < count; ++i) sum += dot(J[k * count + i], J[l * count + i]);
        G[k * K + l] = G[l * K + k] = sum;
      }
    }
    if (K == 1) {
      y[0] = G[0] > 0 ? b[0] / G[0] : 0;
    } else {
      solve_pseudo(K, G, b, y, vectors, scale);
    }
    double moved = 0, reach = size;
    for (int k = 0; k < K; ++k) nu = std::max(nu, 2 * std::abs(y[k]));
    for (int i = 0; i < count; ++i) {
      image[i] = z[i];
      for (int k = 0; k < K; ++k) image[i] -= J[k * count + i] * y[k];
      moved += dot(image[i] - p[i], image[i] - p[i]);
    }
    for (int i = 0; i < count; ++i) reach = std::max(reach, dot(p[i], p[i]));
    if (!(moved > enough * enough * reach)) {
      result.converged = moved >= 0;  // not for NaN
      std::copy(image, image + count, p);
      break;
    }

    // A full step at speed may raise the merit by half of `moved`: the curvature of C costs |mu - 1| / 2 of it, mu
    // being the curvature of the Lagrangian along the set, and the distance falls by (2 - mu) / 2 (Maratos). Beyond mu
    // = 2 the plain iteration runs away.
    const double most = distance(p) + nu * violation + 0.5 * moved;
    std::copy(p, p + count, start);
    anderson.advance(&p[0].x, &image[0].x, &trial[0].x);
    evaluate(trial);
    if (!(distance(trial) + nu * violation <= most)) {
      // back to the plain step, which goes down for a short way at least
      anderson.restart();
      for (double length = 1; length > 1e-3; length *= 0.5) {
        for (int i = 0; i < count; ++i) trial[i] = start[i] + (image[i] - start[i]) * length;
        evaluate(trial);
        if (distance(trial) + nu * violation <= most) break;
      }
    }
    std::copy(trial, trial + count, p);
  }
  return result;
}

}  // namespace verve
