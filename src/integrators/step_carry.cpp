// Where an island would be if it moved rigidly.
#include "integrators/step_solver.h"
#include "integrators/turn.h"

namespace verve {

namespace {


/// Iterations for a turn, each of which leaves 1 - cos of it: 0.3 at 0.8 rad.
constexpr int most_turns = 20;
/// [rad]: what is left as shear strains the island by so much.
constexpr double enough_turn = 1e-9;

}  // namespace

/// The rigid motion from where the step begins that has these of the held momenta; lumped, as P and L are summed below.
RigidMotion StepSolver::rigid_motion_of(const Quantities& c) const {
  Masses lumped = masses();
  lumped.coupling = nullptr;
  return rigid_motion(lumped, held_momenta(), base_.xb.data(), c.p, c.l);
}

/// By how much P and L, linear in x, are off where a step ends at `pose`.
Quantities StepSolver::momenta_off(const std::vector<Vec4>& pose) const {
  Quantities off = once(Quantities{problem_.target.p * -1.0, problem_.target.l * -1.0, 0});
  for (int i = 0; i < rows_; ++i) {
    const Vec3 r = base_.xb[i].xyz() - start_.about, mv = (pose[i] - base_.xb[i]).xyz() * (forcing.mass[i] / base_.hh);
    off.p += mv, off.l += cross(r, mv);
  }
  return sum_over_ranks(off);
}

/// P and L are right where a step ends at `pose` after this: by a shift and a shear.
void StepSolver::correct_momenta(std::vector<Vec4>& pose) {
  if (!problem_.momenta) return;
  const RigidMotion more = rigid_motion_of(momenta_off(pose));
  const Vec3 shift = more.velocity * base_.hh, shear = more.turn * base_.hh;
  for (int i = 0; i < rows_; ++i) pose[i] -= Vec4(shift + cross(shear, base_.xb[i].xyz() - start_.about));
}

/// Where the island would be at the end of the step if it moved rigidly, by the momenta that are held and no faster:
/// W is that of x_n, and no motion of these momenta has less kinetic energy. What is in contact with the world stays at
/// x_n, or goes along with a collider that moves, but for what slides off freely. P and L, linear in x, are right
/// there: a turn by the angle a has the linear L of sin a, and the one that has L is found by iteration (it exists up
/// to 1 rad; a step of a plan turns less). What correct_momenta still has to shear is round-off.
void StepSolver::carry_as_whole(double h, std::vector<Vec4>& pose) {
  pose = motion.x;
  if (!problem_.momenta && !colliders_.moves()) return;
  const RigidMotion held = rigid_motion_of({problem_.target.p, problem_.target.l, 0});
  const Vec3 c = start_.center_n;
  Vec3 way = held.velocity * (problem_.grounded ? h : base_.hh), turn = held.turn * h;
  // and with a collider that moves, along its arc
  const RigidMotion& frame = colliders_.motion();
  const Turn by(colliders_.moves() ? frame.turn * h : Vec3{});
  const Mat3 along = by.matrix();
  const Vec3 along_way = colliders_.moves() ? by.mean() * (frame.velocity * h) : Vec3{};
  for (int n = 0;; ++n) {
    const Turn rotation(turn);
    const Mat3 matrix = along * rotation.matrix();
    // a free centre of mass goes where P leads it from xb, one that slides round a collider on its arc
    const Vec3 to = (problem_.grounded ? c + rotation.mean() * way : start_.center + way) + along_way;
    for (int i = 0; i < rows_; ++i) pose[i] = Vec4(to + matrix * (motion.x[i].xyz() - c));
    if (!problem_.momenta) return;
    const RigidMotion more = rigid_motion_of(momenta_off(pose));
    const Vec3 shift = more.velocity * base_.hh, shear = more.turn * base_.hh;
    if (n == most_turns || !(norm(shear) > enough_turn)) break;
    turn -= shear, way -= shift;
  }
  correct_momenta(pose);
}

}  // namespace verve
