#include "integrators/kept_momenta.h"

#include <cmath>

namespace verve {

namespace {

/// Of a wrench, relative: what is left of it beside others counts as nothing below this [1].
constexpr double least_apart = 1e-3;

/// Orthonormal wrenches.
struct Wrenches {
  std::array<Vec6, 6> basis{};
  int count = 0;

  /// What is left of `v` beside these, as a unit vector; false when that is nothing.
  bool leave(Vec6& v) const {
    const double before = std::sqrt(dot(v, v));
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < count; ++k) {
        const double along = dot(v, basis[k]);
        for (int i = 0; i < 6; ++i) v[i] -= along * basis[k][i];
      }
    const double length = std::sqrt(dot(v, v));
    if (!(length > least_apart * before)) return false;
    for (double& value : v) value /= length;
    return true;
  }
  void add(const Vec3& force, const Vec3& arm) {
    const Vec3 torque = cross(arm, force);
    Vec6 wrench = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    if (count < 6 && leave(wrench)) basis[count++] = wrench;
  }
};

}  // namespace

Quantities KeptMomenta::part(const Quantities& c, double radius) const {
  const double r = radius > 0 ? radius : 1;
  const Vec6 scaled = {c.p.x, c.p.y, c.p.z, c.l.x / r, c.l.y / r, c.l.z / r};
  Vec6 sum{};
  for (int k = 0; k < count; ++k) {
    const double along = dot(scaled, basis[k]);
    for (int i = 0; i < 6; ++i) sum[i] += along * basis[k][i];
  }
  return {{sum[0], sum[1], sum[2]}, {sum[3] * r, sum[4] * r, sum[5] * r}, c.h};
}

StepProducts KeptMomenta::products(StepProducts s, double radius) const {
  if (!s.momenta || all()) return s;
  const double r = radius > 0 ? 1 / radius : 0;
  std::array<Vec6, 6> w{};
  for (int k = 0; k < count; ++k) {
    w[k] = basis[k];
    for (int i = 3; i < 6; ++i) w[k][i] *= r;
  }
  Mat6 small{};
  for (int k = 0; k < count; ++k)
    for (int l = 0; l < count; ++l) small[k][l] = dot(w[k], s.s_qq * w[l]);
  const Mat6 inverse = pseudo_inverse(small, 1e-10);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      s.s_qq_inverse[i][j] = 0;
      for (int k = 0; k < count; ++k)
        for (int l = 0; l < count; ++l) s.s_qq_inverse[i][j] += w[k][i] * inverse[k][l] * w[l][j];
    }
  return s;
}

KeptMomenta find_free_momenta(const Contacts& contacts, const std::vector<Vec4>& x, const std::vector<Vec4>& xb,
                              const std::vector<Vec4>& u, double hh, const Vec3& center, double radius) {
  Wrenches resisted;
  const double scale = radius > 0 ? 1 / radius : 0;
  for (const Contacts::OnShape& c : contacts.on_shapes) {
    // where the step begins, and where it leads: past an edge of a box or a mesh the normal is another one
    const Vec3 ends[2] = {c.at(x.data()), c.at(xb.data()) + c.at(u.data()) * hh};
    for (const Vec3& at : ends) {
      const Vec3 n = contacts.shapes[c.shape].touch(at).normal, arm = (at - center) * scale;
      resisted.add(n, arm);
      if (c.friction > 0) {
        resisted.add({n.y, n.z, n.x}, arm);
        resisted.add({n.z, n.x, n.y}, arm);
        resisted.add(cross(n, {n.y, n.z, n.x}), arm);
      }
    }
    if (resisted.count == 6) break;
  }
  // faces and edges push on a corner of a collider, and on both ends of an edge, from anywhere
  for (const Vec3& point : contacts.points)
    for (int axis = 0; axis < 3 && resisted.count < 6; ++axis) {
      Vec3 force{};
      force[axis] = 1;
      resisted.add(force, (point - center) * scale);
    }
  Wrenches kept;
  for (int axis = 0; axis < 6; ++axis) {
    Vec6 v{};
    v[axis] = 1;
    // beside what is resisted and what is kept already
    if (!resisted.leave(v) || !kept.leave(v)) continue;
    kept.basis[kept.count++] = v;
    if (kept.count == 6 - resisted.count) break;
  }
  return {kept.count, kept.basis};
}

}  // namespace verve
