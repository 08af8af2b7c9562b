#include "exchange/body_transforms.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

Vec3 mean(const std::vector<Vec3>& x) {
  Vec3 sum;
  for (const Vec3& p : x) sum += p;
  return x.empty() ? sum : sum / double(x.size());
}

Quaternion product(const Quaternion& a, const Quaternion& b) {
  Quaternion out{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                 a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  const double length = std::sqrt(out.x * out.x + out.y * out.y + out.z * out.z + out.w * out.w);
  return {out.x / length, out.y / length, out.z / length, out.w / length};
}

/// Turns to the nearest rotation R of which the product with F has the largest trace: Mueller et al. 2016, "A Robust
/// Method to Extract the Rotational Part of Deformations". Begun at that of the frame before it does not leap where F
/// leaves it open.
void turn_to(const Mat3& F, BodyTransforms::Pose& pose) {
  for (int i = 0; i < 200; ++i) {
    Vec3 turn;
    double along = 0;
    for (int c = 0; c < 3; ++c) {
      turn += cross(pose.rotation.col[c], F.col[c]);
      along += dot(pose.rotation.col[c], F.col[c]);
    }
    const double scale = std::max(std::abs(along), 1e-9 * std::sqrt(squared_norm(F)));
    if (!(scale > 0)) return;
    const double angle = norm(turn) / scale;
    if (angle < 1e-14) return;
    const Vec3 half = turn / norm(turn) * std::sin(angle / 2);
    pose.turn = product({half.x, half.y, half.z, std::cos(angle / 2)}, pose.turn);
    pose.rotation = rotation_matrix(pose.turn);
  }
}

}  // namespace

BodyTransforms::BodyTransforms(Animation& animation, int shape) {
  std::vector<Vec3> first = animation.shapes[std::size_t(shape)].mesh.vertices;
  const Vec3 middle = mean(first);
  for (Vec3& p : first) p -= middle;
  Pose pose;
  for (std::size_t k = 0; k < animation.frames.size(); ++k) {
    const std::vector<Vec3>& x = animation.at(shape, int(k)).vertices;
    pose.position = mean(x);
    Mat3 F = Mat3::diagonal({0, 0, 0});
    for (std::size_t v = 0; v < x.size(); ++v) F = F + outer(x[v] - pose.position, first[v]);
    turn_to(F, pose);
    poses_.push_back(pose);
  }
}

}  // namespace verve
