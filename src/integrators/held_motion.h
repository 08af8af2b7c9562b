// The rigid motion that goes with held momenta: of all motions with these the one of least kinetic energy, orthogonal to
// the rest of the motion in the norm of M. Energy is given to and taken from that rest alone, so that P and L stay.
#pragma once

#include <optional>
#include <vector>

#include "linear/small.h"
#include "model/mass_coupling.h"
#include "verve/vec.h"

namespace verve {

/// Masses of some vertices [kg]; `coupling` null or empty: lumped.
struct Masses {
  const double* mass;
  int count;
  double total;
  const MassCoupling* coupling = nullptr;
};

/// Combinations of P and of L about a point that are held.
struct HeldMomenta {
  int count = 0;                // 6: all of them, whatever the basis
  std::array<Vec6, 6> basis{};  // rows (P, L)
  std::optional<Vec3> pivot;    // L is about it, and P not held; none: L is about the centre of mass
};

struct RigidMotion {
  Vec3 momentum, spin;           // that are held, the spin about `center`
  Vec3 center, velocity, turn;   // v(x) = velocity + turn x (x - center)
  double kinetic = 0;            // [J]
  Vec4 at(const Vec4& x) const { return Vec4(velocity + cross(turn, x.xyz() - center)); }
};

/// 1/2 v^T M v.
double kinetic_energy(const Masses& masses, const Vec4* v);
/// a^T M b.
double mass_product(const Masses& masses, const Vec4* a, const Vec4* b);

/// With the given momenta, L about the pivot or the centre of mass of x.
RigidMotion rigid_motion(const Masses& masses, const HeldMomenta& held, const Vec4* x, const Vec3& momentum,
                         const Vec3& spin);
/// With those that v has.
RigidMotion held_motion(const Masses& masses, const HeldMomenta& held, const Vec4* x, const Vec4* v);

/// The rotation of a rigid x by a motion that ends as `held`, over h: by turn h, put right so that the rigid motion with
/// this spin has no more kinetic energy after it than before. (A rod that is turned a little out of the plane across its
/// spin has a part of it along itself, where it has next to no inertia: any energy, or none that could carry it.)
Mat3 carried_turn(const Masses& masses, const HeldMomenta& momenta, const Vec4* x, const RigidMotion& held, double h);

/// relative = v - held motion; returns its kinetic energy.
double relative_motion(const Masses& masses, const RigidMotion& held, const Vec4* x, const Vec4* v, Vec4* relative);

}  // namespace verve
