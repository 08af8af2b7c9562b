// Beside colliders that move: what they have done in a step, and the frame in which it is a step like any other.
#pragma once

#include <span>
#include <vector>

#include "contact/contacts.h"
#include "integrators/held_motion.h"
#include "verve/vec.h"

namespace verve {

/// Seen from a collider that moves evenly, it rests, and a step beside it is one beside a wall: what it has gained or
/// lost by itself is the same there, and is given to or taken from the motion relative to the collider. The momentum
/// that this takes from the collider, times its velocity, is work as well. docs/contact.md, "Colliders that move"
class ColliderFrame {
 public:
  /// The end of a step of length h with the slope gg of its objective at x, the contacts at their last evaluation.
  struct StepEnd {
    const Contacts& contacts;
    std::span<const int> offsets;  // of the bodies, in rows
    const std::vector<Vec4>&x, &gg;
    double h, hh;
    double kept = 1;  // share of its way from the carried x_n that it was left (StepSolver::bound_contact_step)
    double share() const { return hh / h; }  // of the impulse that is of this step's forces
  };

  /// A step of so many bodies, in which nothing has moved yet.
  void begin(size_t bodies) { works_.assign(bodies, 0.0), frame_ = {}; }
  /// The rigid motion that goes along with the colliders that resist at the last evaluation: that of the one, or of
  /// several their mean by force. None where none of them moves.
  void find(const Contacts& contacts, const Vec3& center, double h);
  bool moves() const { return dot(frame_.velocity, frame_.velocity) + dot(frame_.turn, frame_.turn) > 0; }
  const RigidMotion& motion() const { return frame_; }

  /// Kinetic energy as seen from it; `own` where it rests.
  double kinetic(const Masses& masses, const std::vector<Vec4>& x, const std::vector<Vec4>& v, double own);
  /// v as seen from it, and back. Between the two impulses are given; returns their work.
  void enter(const std::vector<Vec4>& x, std::vector<Vec4>& v);
  double leave(const Masses& masses, const Contacts& contacts, std::span<const int> offsets,
               const std::vector<Vec4>& x, std::vector<Vec4>& v);

  /// The work of colliders in a step before which they had `loads`.
  double find_work(const StepEnd& end, const std::vector<ColliderLoad>& loads);
  /// Loads before a step -> after it.
  void keep_loads(const StepEnd& end, std::vector<ColliderLoad>& loads);
  /// Of colliders in this step so far, per body.
  const std::vector<double>& works() const { return works_; }
  /// Of a step that holds nothing: as contacts have it (Contacts::add_work).
  void add_plain_work(const Contacts& contacts) { contacts.add_work(works_); }

 private:
  RigidMotion frame_;
  std::vector<double> works_;
  std::vector<double> resistances_;  // of colliders
  std::vector<Vec4> v_;              // relative to it
  std::vector<ColliderLoad> last_loads_;
};

}  // namespace verve
