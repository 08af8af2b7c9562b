#include "integrators/rigid_impulse.h"

#include "base/ranks.h"
#include "linear/small.h"

namespace verve {

Vec3 RigidImpulse::center() const {
  Vec3 c{};
  for (int r = 0; r < count; ++r) c += x[r].xyz() * mass[r];
  return sum_over_ranks(c) / total_mass;
}

Vec3 RigidImpulse::momentum() const {
  Vec3 sum{};
  for (int r = 0; r < count; ++r) sum += v[r].xyz() * mass[r];
  return sum_over_ranks(sum);
}

Vec3 RigidImpulse::spin() const {
  const Vec3 c = center();
  Vec3 sum{};
  for (int r = 0; r < count; ++r) sum += cross(x[r].xyz() - c, v[r].xyz()) * mass[r];
  return sum_over_ranks(sum) + coupling->spin(x, v);
}

Mat3 RigidImpulse::inertia() const {
  const Vec3 c = center();
  Mat3 second{};
  for (int r = 0; r < count; ++r) {
    const Vec3 d = x[r].xyz() - c;
    second = second + outer(d, d * mass[r]);
  }
  second = sum_over_ranks(second) + coupling->second(x);
  return Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
}

double RigidImpulse::kinetic() const { return kinetic_energy(mass, count, *coupling, v); }

void RigidImpulse::add(int row, const Vec3& dv) const {
  v[row] += Vec4(dv);
  p[row] += Vec4(dv);
}

void RigidImpulse::set_momentum(const Vec3& target) {
  const Vec3 dv = (target - momentum()) / total_mass;
  for (int r = 0; r < count; ++r)
    if (mass[r] > 0) add(r, dv);
}

void RigidImpulse::add_spin(const Vec3& change) {
  const Vec3 c = center();
  const Vec3 w = pseudo_inverse(inertia(), 1e-10) * change;
  for (int r = 0; r < count; ++r)
    if (mass[r] > 0) add(r, cross(w, x[r].xyz() - c));
}

void RigidImpulse::set_spin(const Vec3& target) { add_spin(target - spin()); }

void RigidImpulse::impulse(const Vec3& impulse, const Vec3& point, double radius) {
  if (radius <= 0) {
    const Vec3 arm = point - center();
    set_momentum(momentum() + impulse);
    add_spin(cross(arm, impulse));
    return;
  }
  double sum = 0;
  int near = 0;
  double best = -1;
  const auto falloff = [&](int r) {
    const double q = 1 - dot(x[r].xyz() - point, x[r].xyz() - point) / (radius * radius);
    return q > 0 ? q * q : 0;
  };
  for (int r = 0; r < count; ++r) {
    sum += mass[r] * falloff(r);
    const double d = norm(x[r].xyz() - point);
    if (mass[r] > 0 && (best < 0 || d < best)) near = r, best = d;
  }
  sum = sum_over_ranks(sum);
  if (sum > 0) {
    for (int r = 0; r < count; ++r)
      if (mass[r] > 0) add(r, impulse * (falloff(r) / sum));
  } else if (!ranks() || nearest_rank(best)) {
    add(near, impulse / mass[near]);
  }
}

}  // namespace verve
