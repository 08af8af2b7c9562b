// Where an island would be if it moved rigidly.
#include "integrators/island.h"
#include "integrators/turn.h"

namespace verve {

namespace {

Vec3 vec3(const Vec4& a) { return {a.x, a.y, a.z}; }

}  // namespace

/// The rigid motion about the held centre, among those that change what is held, that has these momenta.
Vec6 Island::rigid_motion_of(Quantities c) const {
  Mat3 second{};
  for (int i = 0; i < rows_; ++i) {
    const Vec3 r = vec3(base_.xb[i]) - start_.about;
    second = second + outer(r, r * forcing.mass[i]);
  }
  const Mat3 inertia = Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
  StepProducts s;
  s.momenta = true;
  for (int a = 0; a < 3; ++a) {
    s.s_qq[a][a] = total_mass_;
    for (int b = 0; b < 3; ++b) s.s_qq[3 + a][3 + b] = inertia(a, b);
  }
  s.s_qq_inverse = pseudo_inverse(s.s_qq, 1e-10);
  if (problem_.kept < 6) c = kept_part(c);
  return with_kept(s).s_qq_inverse * Vec6{c.p.x, c.p.y, c.p.z, c.l.x, c.l.y, c.l.z};
}

/// P and L, linear in x, are right where a step ends at `pose` after this: by a shift, and a hair of shear.
void Island::correct_momenta(std::vector<Vec4>& pose) {
  if (!problem_.momenta) return;
  Quantities off{problem_.target.p * -1.0, problem_.target.l * -1.0, 0};
  for (int i = 0; i < rows_; ++i) {
    const Vec3 r = vec3(base_.xb[i]) - start_.about, mv = vec3(pose[i] - base_.xb[i]) * (forcing.mass[i] / base_.hh);
    off.p += mv, off.l += cross(r, mv);
  }
  const Vec6 more = rigid_motion_of(off);
  const Vec3 shift = Vec3{more[0], more[1], more[2]} * base_.hh, shear = Vec3{more[3], more[4], more[5]} * base_.hh;
  for (int i = 0; i < rows_; ++i) pose[i] -= Vec4(shift + cross(shear, vec3(base_.xb[i]) - start_.about));
}

/// Where the island would be at the end of the step if it moved as a whole, by the momenta that are held and no faster:
/// W is that of x_n, and no motion of these momenta has less kinetic energy. What is in contact with the world stays at x_n but
/// for what slides off freely. P and L, linear in x, are right there, L by a hair of shear (of the third order of the
/// turn).
void Island::carry_as_whole(double h, std::vector<Vec4>& pose) {
  pose = motion.x;
  if (!problem_.momenta) return;
  const Vec6 w = rigid_motion_of({problem_.target.p, problem_.target.l, 0});
  const Vec3 drift = Vec3{w[0], w[1], w[2]} * base_.hh, c = start_.center_n;
  const Mat3 turn = Turn(Vec3{w[3], w[4], w[5]} * h).matrix();
  // a free centre of mass goes where P leads it from xb
  const Vec3 to = problem_.grounded ? c + drift : start_.center + drift;
  for (Vec4& x : pose) x = Vec4(to + turn * (vec3(x) - c));
  correct_momenta(pose);
}

}  // namespace verve
