// Sudden changes of velocity: pushes and dials of momentum.
#pragma once

#include "model/mass_coupling.h"
#include "verve/vec.h"

namespace verve {

/// On the rows of one body. Velocities and the rate p that generalised-alpha carries move together, so that a push
/// leaves no ringing behind.
struct RigidImpulse {
  const double* mass;
  const Vec4* x;
  Vec4* v;
  Vec4* p;
  int count;
  double total_mass;
  const MassCoupling* coupling;

  Vec3 center() const;
  Vec3 momentum() const;
  Vec3 spin() const;  // about the centre of mass
  Mat3 inertia() const;
  double kinetic() const;

  /// Rigid pushes: they change P or L to the given value and leave the rest of the motion alone. Among all changes with
  /// that effect these need the least energy.
  void set_momentum(const Vec3& momentum);
  void set_spin(const Vec3& spin);
  /// An impulse at a point. Radius 0: as on a rigid body. Otherwise shared by the vertices within the radius with
  /// weights m (1 - d^2/r^2)^2, or given to the nearest vertex when none is that near.
  void impulse(const Vec3& impulse, const Vec3& point, double radius);

 private:
  void add(int row, const Vec3& dv) const;
  void add_spin(const Vec3& change);
};

}  // namespace verve
