#include "potentials/example_fit.h"

#include "potentials/polar.h"

namespace verve {

void solve_weights(int poses, const double* G, const double* b, double limit, double* w) {
  for (int sweep = 0; sweep < 500; ++sweep) {
    double moved = 0, size = 0;
    for (int k = 0; k < poses; ++k) {
      if (!(G[k * poses + k] > 0)) continue;
      double rest = b[k];
      for (int l = 0; l < poses; ++l) rest -= G[k * poses + l] * w[l];
      double next = w[k] + rest / G[k * poses + k];
      if (given(limit)) next = std::clamp(next, 0.0, limit);
      moved = std::max(moved, std::abs(next - w[k])), size = std::max(size, std::abs(next));
      w[k] = next;
    }
    if (moved <= 1e-15 * (1 + size)) break;
  }
}

bool newton_step(int poses, const double* G, const double* C, const double* b, double limit, double* w) {
  double L[most_poses * most_poses], H[most_poses * most_poses], step[most_poses], goal[most_poses];
  for (int k = 0; k < poses; ++k) {
    double residual = b[k];
    for (int l = 0; l < poses; ++l) {
      H[k * poses + l] = G[k * poses + l] - C[k * poses + l];
      residual -= G[k * poses + l] * w[l];
    }
    step[k] = residual;
    const bool idle = !(G[k * poses + k] > 0);  // a pose that deforms nothing
    for (int l = 0; l <= k; ++l) {
      double sum = idle && l == k ? 1 : H[k * poses + l];
      for (int j = 0; j < l; ++j) sum -= L[k * poses + j] * L[l * poses + j];
      if (l == k && !(sum > 1e-6 * G[k * poses + k])) return false;
      L[k * poses + l] = l < k ? sum / L[l * poses + l] : std::sqrt(sum);
    }
  }
  std::copy_n(step, poses, goal);
  for (int k = 0; k < poses; ++k) {
    for (int j = 0; j < k; ++j) step[k] -= L[k * poses + j] * step[j];
    step[k] /= L[k * poses + k];
  }
  bool inside = true;
  for (int k = poses - 1; k >= 0; --k) {
    for (int j = k + 1; j < poses; ++j) step[k] -= L[j * poses + k] * step[j];
    step[k] /= L[k * poses + k];
    inside = inside && (!given(limit) || (w[k] + step[k] >= 0 && w[k] + step[k] <= limit));
  }
  if (inside) {
    for (int k = 0; k < poses; ++k) w[k] += step[k];
  } else {
    for (int k = 0; k < poses; ++k)
      for (int l = 0; l < poses; ++l) goal[k] += H[k * poses + l] * w[l];
    solve_weights(poses, H, goal, limit, w);
  }
  return true;
}

Mat3 example_shape(int poses, const Mat3* D, const double* w) {
  Mat3 H = Mat3::identity();
  for (int k = 0; k < poses; ++k) H = H + D[k] * w[k];
  return H;
}

/// H is symmetric, so F H^T = F H = R S. When w_l grows, R turns by K^-1 a_l with K = tr(S) - S and a_k the axial
/// vector of R^T F D_k, and D_k : R^T F changes by a_k . K^-1 a_l.
double example_step(int poses, const Mat3* D, const Mat3& F, const double* w, double* b, double* C) {
  const Mat3 H = example_shape(poses, D, w), R = nearest_rotation(F * H), back = transpose(R) * F, S = back * H;
  const Mat3 K = Mat3::identity() * (S(0, 0) + S(1, 1) + S(2, 2)) - S;
  const Mat3 cofactors = cofactor(K);
  const double volume = dot(K.col[0], cofactors.col[0]), size = squared_norm(K);
  // where the rotation is nearly not unique it turns too fast for that: C = 0 makes a step of the paper's alternation
  const double scale = volume * volume > 1e-12 * size * size * size && volume > 0 ? 1 / volume : 0;
  Vec3 axial[most_poses];
  for (int k = 0; k < poses; ++k) {
    const Mat3 M = back * D[k];
    b[k] = product(D[k], back - Mat3::identity());
    axial[k] = {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)};
    const Vec3 turn = cofactors * axial[k] * scale;  // K is symmetric
    for (int l = 0; l <= k; ++l) C[k * poses + l] = C[l * poses + k] = dot(turn, axial[l]);
  }
  return squared_norm(back - H);
}

void find_example_weights(int poses, const Mat3* D, const double* G, double limit, int iterations, const Mat3& F,
                          double* w) {
  find_best(poses, G, limit, iterations, w,
            [&](const double* at, double* b, double* C) { return example_step(poses, D, F, at, b, C); });
}

template <class Number>
void nearest_example_in_double(const Number* F, const Number* D, int poses, double limit, int iterations, int stride,
                               Number* out) {
  Mat3 f, d[most_poses];
  for (int i = 0; i < 9; ++i) f.col[i / 3][i % 3] = double(F[i * stride]);
  for (int k = 0; k < poses; ++k)
    for (int i = 0, c = 0; c < 3; ++c)
      for (int r = c; r < 3; ++r, ++i) d[k](r, c) = d[k](c, r) = double(D[(6 * k + i) * stride]);
  double G[most_poses * most_poses], w[most_poses];
  for (int k = 0; k < poses; ++k)
    for (int l = 0; l < poses; ++l) G[k * poses + l] = product(d[k], d[l]);
  find_example_weights(poses, d, G, limit < 0 ? not_given : limit, iterations, f, w);
  const Mat3 H = example_shape(poses, d, w), goal = nearest_rotation(f * H) * H;
  for (int i = 0; i < 9; ++i) out[i * stride] = Number(goal.col[i / 3][i % 3]);
}
template void nearest_example_in_double(const float*, const float*, int, double, int, int, float*);
template void nearest_example_in_double(const double*, const double*, int, double, int, int, double*);

}  // namespace verve
