#include "potentials/polar.h"

#include <algorithm>

namespace verve {

namespace {

/// A unit vector at right angles to the unit vector a.
Vec3 any_perpendicular(const Vec3& a) {
  const Vec3 axis = std::abs(a.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 p = cross(a, axis);
  return p / norm(p);
}

}  // namespace

void rotation_svd(const Mat3& F, Mat3& U, Vec3& sigma, Mat3& V) {
  double largest = 0;
  for (const Vec3& c : F.col) largest = std::max({largest, std::abs(c.x), std::abs(c.y), std::abs(c.z)});
  if (!(largest > 0) || !std::isfinite(largest)) {
    U = V = Mat3::identity();
    sigma = {0, 0, 0};
    return;
  }
  // Hestenes: turn pairs of columns until all are at right angles; B = F V. Scaled so that squares neither over- nor
  // underflow.
  Mat3 B = F * (1 / largest);
  V = Mat3::identity();
  for (int sweep = 0; sweep < 12; ++sweep) {
    bool turned = false;
    constexpr int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (const auto& [i, j] : pairs) {
      const double a = dot(B.col[i], B.col[i]), b = dot(B.col[j], B.col[j]), c = dot(B.col[i], B.col[j]);
      if (std::abs(c) <= 1e-17 * std::sqrt(a * b) || c == 0) continue;
      turned = true;
      const double theta = (b - a) / (2 * c);
      const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
      const double cs = 1 / std::sqrt(t * t + 1), sn = t * cs;
      for (Mat3* m : {&B, &V}) {
        const Vec3 p = m->col[i], q = m->col[j];
        m->col[i] = p * cs - q * sn;
        m->col[j] = p * sn + q * cs;
      }
    }
    if (!turned) break;
  }
  int order[3] = {0, 1, 2};
  double length[3] = {norm(B.col[0]), norm(B.col[1]), norm(B.col[2])};
  std::stable_sort(order, order + 3, [&](int i, int j) { return length[i] > length[j]; });
  const Mat3 sorted_b{{B.col[order[0]], B.col[order[1]], B.col[order[2]]}};
  const Mat3 sorted_v{{V.col[order[0]], V.col[order[1]], V.col[order[2]]}};
  V = sorted_v;
  if (det(V) < 0) V.col[2] = -V.col[2];

  U.col[0] = sorted_b.col[0] / length[order[0]];
  // A second column lost in round-off has no direction of its own: any will do.
  const double second = length[order[1]];
  if (second > 1e-15 * length[order[0]]) {
    U.col[1] = sorted_b.col[1] / second;
    U.col[1] -= U.col[0] * dot(U.col[0], U.col[1]);
    U.col[1] = U.col[1] / norm(U.col[1]);
  } else {
    U.col[1] = any_perpendicular(U.col[0]);
  }
  U.col[2] = cross(U.col[0], U.col[1]);
  // F V = U diag(sigma); the sign of the last one follows from the handedness.
  sigma = {length[order[0]] * largest, second * largest, dot(U.col[2], F * V.col[2])};
}

Mat3 nearest_rotation_svd(const Mat3& F) {
  Mat3 U, V;
  Vec3 sigma;
  rotation_svd(F, U, sigma, V);
  return U * transpose(V);
}

}  // namespace verve
