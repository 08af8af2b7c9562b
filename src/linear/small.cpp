#include "linear/small.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

/// Cyclic Jacobi: a becomes diagonal, the columns of q its eigenvectors. Six sweeps reach round-off for N <= 6, fewer
/// for N = 3; what is left of an entry is nothing once it is below the last digit of the largest.
template <int N>
void jacobi_eigen(double (&a)[N][N], double (&q)[N][N]) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) q[i][j] = i == j;
  double nothing = 0;
  for (int i = 0; i < N; ++i)
    for (int j = i; j < N; ++j) nothing = std::max(nothing, 1e-18 * std::abs(a[i][j]));
  bool turned = true;
  for (int sweep = 0; sweep < 8 && turned; ++sweep) {
    turned = false;
    for (int i = 0; i < N; ++i) {
      for (int j = i + 1; j < N; ++j) {
        if (std::abs(a[i][j]) <= nothing) continue;
        turned = true;
        const double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < N; ++k) {
          const double p = a[k][i], r = a[k][j];
          a[k][i] = c * p - s * r, a[k][j] = s * p + c * r;
        }
        for (int k = 0; k < N; ++k) {
          const double p = a[i][k], r = a[j][k];
          a[i][k] = c * p - s * r, a[j][k] = s * p + c * r;
        }
        for (int k = 0; k < N; ++k) {
          const double p = q[k][i], r = q[k][j];
          q[k][i] = c * p - s * r, q[k][j] = s * p + c * r;
        }
      }
    }
  }
}

template <int N, class M>
M scaled_pseudo_inverse(const M& matrix, double cutoff, auto at) {
  double a[N][N], q[N][N], scale[N];
  for (int i = 0; i < N; ++i) {
    const double d = at(matrix, i, i);
    scale[i] = d > 0 ? 1 / std::sqrt(d) : 0;
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) a[i][j] = 0.5 * (at(matrix, i, j) + at(matrix, j, i)) * scale[i] * scale[j];
  jacobi_eigen(a, q);
  M out{};
  for (int k = 0; k < N; ++k) {
    if (!(a[k][k] > cutoff)) continue;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) at(out, i, j) += q[i][k] * q[j][k] / a[k][k] * scale[i] * scale[j];
  }
  return out;
}

}  // namespace

Mat6 pseudo_inverse(const Mat6& matrix, double cutoff) {
  return scaled_pseudo_inverse<6>(
      matrix, cutoff, [](auto& m, int i, int j) -> auto& { return m[i][j]; });
}

Mat3 pseudo_inverse(const Mat3& matrix, double cutoff) {
  return scaled_pseudo_inverse<3>(
      matrix, cutoff, [](auto& m, int i, int j) -> auto& { return m(i, j); });
}

Vec3 symmetric_eigen(const Mat3& matrix, Mat3& vectors) {
  double a[3][3], q[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) a[i][j] = 0.5 * (matrix(i, j) + matrix(j, i));
  jacobi_eigen(a, q);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) vectors(i, j) = q[i][j];
  return {a[0][0], a[1][1], a[2][2]};
}

Vec6 operator*(const Mat6& a, const Vec6& b) {
  Vec6 out{};
  for (int i = 0; i < 6; ++i) out[i] = dot(a[i], b);
  return out;
}

double dot(const Vec6& a, const Vec6& b) {
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace verve
