// The problem that a step solves, as values: where it begins and what it is asked for.
#pragma once

#include "integrators/conservation.h"
#include "integrators/kept_momenta.h"
#include "integrators/row_passes.h"
#include "linear/small.h"
#include "verve/vec.h"

namespace verve {

/// The state at t_n, in sums over all rows.
struct StepStart {
  Vec3 center, center_n;                            // of mass, at xb and x_n
  Vec3 about;                                       // what L is held about: the centre at xb, or a pivot
  Vec3 origin;                                      // of the levers r, near the centre at xb
  Vec3 momentum, spin, force, torque, torque_b, u;  // torque_b: about the centre at xb; u: sum m u
  double kinetic_u = 0;
  double kinetic = 0, radius = 0, force_size = 0;                 // force_size: sum of |f|
  double force_drift = 0, force_x = 0, force_v = 0, force_a = 0;  // f.(xb - x_n), f.x_n, f.v_n, f.a
  Mat3 inertia_inverse;
};

/// What a step is asked for, and what holds in it.
struct StepProblem {
  bool held = false, published = false, momenta = false, swings = false;
  bool of_rest = false;   // what it swings by, or the columns of L, are those of the rest shape
  bool touches = false;   // something may touch
  bool whole = false;     // columns of P and L are motions of the whole (take_in_contacts)
  bool grounded = false;  // and it is the world
  bool pivots = false;    // anchored about a point or an axis, and nothing else pulls
  Vec3 pivot;
  KeptMomenta kept;
  bool direct = true, statics = false;  // of the integrator
  bool releases_energy = false;         // of H, which becomes a debt
  bool plain = false;                   // from its beginning
  double tolerance = 0, beta = 0, offset = 0;
  Quantities target;
  double rigid = 0;    // K
  double damped = 0;   // of H: taken from the motion after the step (StepSolver::damp),
  double damping = 0;  // and what the half-life alone asks for
  double e_ref = 0, scale_p = 0;
  double present = 0;  // energy scale of the state as it is, however far away the target
};

/// Of an iterate.
struct IterateSums {
  RowSums rows;
  double energy = 0;  // W
};

/// What an anchored island swings by: see StepSolver::column_products.
struct Swing {
  Mat3 inverse;  // T^-1
  Vec3 lin, gg;  // Y^T lin, Y^T gg
};

}  // namespace verve
