// Restitution: what an impact gives back. Contact itself gives back all it took; whoever leaves faster than e times the
// speed of its impact is slowed down to that, and what this takes is booked. Whoever leaves more slowly and is owed
// energy gets it here: at the turning point of a hard body on something softer no step can hold H (all of it is in what
// touches), and once it flies there is nothing but its vibration to pay it into.
#include <algorithm>
#include <cmath>
#include <optional>

#include "integrators/world.h"

namespace verve {

namespace {

/// Seconds without touch after which an impact is over.
constexpr double longest_gap = 0.1;
/// Seconds of touch after which it is no impact: what pushes a body off later owes nothing to how it came.
constexpr double longest_impact = 0.4;

/// Velocity of a body at a point by its rigid motion, and what an impulse along n at that point changes of it.
struct PointMotion {
  Vec3 velocity;
  double inverse_mass;
  PointMotion(const RigidImpulse& body, const Vec3& point, const Vec3& n) {
    const Vec3 arm = point - body.center();
    const Mat3 inverse = pseudo_inverse(body.inertia(), 1e-10);
    velocity = body.momentum() / body.total_mass + cross(inverse * body.spin(), arm);
    const Vec3 turn = cross(arm, n);
    inverse_mass = 1 / body.total_mass + dot(turn, inverse * turn);
  }
};

/// A touch, or a bounce, of the same two.
template <class Touch>
bool is_of(const Touch& a, const Bounce& b) {
  return a.body == b.body && a.other == b.other && a.collider == b.collider;
}

}  // namespace

/// After a step: what touched in it, so that an impact between two frames is one too.
void World::note_meetings(const Island& island) {
  for (Met& met : met_)
    if (&island_of(met.body) == &island) met.still = false;
  for (const Contacts::TouchingPair& m : island.contacts.touching_pairs) {
    if (!(m.weight > 0)) continue;
    const int body = island.bodies()[m.body], other = m.other < 0 ? -1 : island.bodies()[m.other];
    auto met = std::find_if(met_.begin(), met_.end(), [&](const Met& k) {
      return k.body == body && k.other == other && k.collider == m.collider;
    });
    if (met == met_.end()) met = met_.insert(met, {body, other, m.collider, {}, {}, false});
    met->normal = direction(m.normal, {0, 1, 0}), met->point = m.point / m.weight, met->still = true;
  }
}

/// Its steps are taken anew.
void World::forget_meetings(const Island& island) {
  const auto ours = [&](const auto& met) { return &island_of(met.body) == &island; };
  std::erase_if(met_, ours), std::erase_if(state.bounces, ours);
  for (const Bounce& bounce : before_.bounces)
    if (ours(bounce)) state.bounces.push_back(bounce);
}

bool World::is_impact(const Bounce& bounce) const {
  return bounce.age * scene.step <= longest_impact + 0.5 * scene.step;
}

/// In an impact that gravity does not end within a frame: what rests on something strikes it all the time.
bool World::in_impact(const Island& island, double impact_phase) const {
  return impact_phase > 0 || std::any_of(state.bounces.begin(), state.bounces.end(), [&](const Bounce& bounce) {
    const auto& bodies = island.bodies();
    const bool mine = std::find(bodies.begin(), bodies.end(), bounce.body) != bodies.end() ||
                      std::find(bodies.begin(), bodies.end(), bounce.other) != bodies.end();
    return mine && is_impact(bounce) && bounce.speed > norm(state.gravity) * scene.step;
  });
}

RigidImpulse World::impulse_on(Island& island, int k) {
  const Body& b = model.bodies[island.bodies()[k]];
  const int first = island.offset(k);
  return {b.mass.data(), island.motion.x.data() + first, island.motion.v.data() + first, island.motion.p.data() + first,
          b.count,       b.total_mass,                   &b.coupling};
}

/// After a sub-step: what has come to touch in it, and what has left. (At the end of the frame alone one that leaves
/// would have flown on at its whole speed until then: a ball of 0.5 m dropped by 1 m rose by 5 cm with e = 0.)
void World::rebound(Island& island, const SubStep& step) {
  const auto part_of = [&](int body) {
    const auto& bodies = island.bodies();
    return impulse_on(island, int(std::find(bodies.begin(), bodies.end(), body) - bodies.begin()));
  };
  for (const Met& met : met_) {
    if (&island_of(met.body) != &island) continue;
    auto bounce =
        std::find_if(state.bounces.begin(), state.bounces.end(), [&](const Bounce& b) { return is_of(met, b); });
    const Vec3 n = met.normal, point = met.point;
    if (bounce == state.bounces.end()) {
      Bounce fresh;
      fresh.body = met.body, fresh.other = met.other, fresh.collider = met.collider;
      // as it was before the step, at the place of the body that touches now (it has come along since, and a place that
      // stayed behind would be struck by its spin)
      const auto before = [&](int b) {
        const int k = int(std::find(island.bodies().begin(), island.bodies().end(), b) - island.bodies().begin());
        const Body& of = model.bodies[b];
        const int first = island.offset(k);
        Motion& m = before_step_;
        const RigidImpulse was{of.mass.data(), m.x.data() + first, m.v.data() + first, m.p.data() + first,
                               of.count,       of.total_mass,      &of.coupling};
        return PointMotion(was, was.center() + (point - part_of(b).center()), n);
      };
      Vec3 velocity = before(met.body).velocity;
      velocity -= met.other >= 0 ? before(met.other).velocity
                                 : collider_velocity(met.collider, step.from, step.to, point);
      fresh.speed = std::max(0.0, -dot(velocity, n));
      state.bounces.push_back(fresh);
      bounce = state.bounces.end() - 1;
    }
    bounce->free = 0;
    if (!met.still) continue;
    bounce->normal = n;
    bounce->arm = point - part_of(met.body).center();
    if (met.other >= 0) bounce->arm_of_other = point - part_of(met.other).center();
  }
  for (const Bounce& bounce : state.bounces) {
    if (bounce.free > 0 || &island_of(bounce.body) != &island) continue;
    const bool touches = std::any_of(met_.begin(), met_.end(),
                                     [&](const Met& met) { return met.still && is_of(met, bounce); });
    if (touches) continue;
    // one that moves in an island of its own by now is for the end of the frame to see
    if (bounce.other >= 0 && &island_of(bounce.other) != &island) continue;
    std::optional<RigidImpulse> other;
    if (bounce.other >= 0) other = part_of(bounce.other);
    limit_rebound(bounce, part_of(bounce.body), other, step.from, step.to);
  }
}

/// At the end of a frame: what has left in an earlier one is limited still, and impacts that are over are forgotten.
void World::rebound(double time) {
  if (!has_contact()) return;
  for (Bounce& bounce : state.bounces) {
    const auto same = [&](const auto& b) { return is_of(b, bounce); };
    if (std::any_of(before_.bounces.begin(), before_.bounces.end(), same)) ++bounce.free, ++bounce.age;
    const auto met = std::find_if(met_.begin(), met_.end(), same);
    if (met != met_.end()) bounce.free = met->still ? 0 : 1;
    if (bounce.free == 0) continue;
    std::optional<RigidImpulse> other;
    if (bounce.other >= 0) other = impulse_on(bounce.other);
    limit_rebound(bounce, impulse_on(bounce.body), other, time - scene.step, time);
  }
  std::erase_if(state.bounces, [&](const Bounce& b) { return b.free * scene.step > longest_gap + 0.5 * scene.step; });
}

/// One that leaves faster than restitution says is slowed down; one that leaves more slowly and is owed energy gets it.
void World::limit_rebound(const Bounce& bounce, RigidImpulse body, std::optional<RigidImpulse> other, double from,
                          double to) {
  if (!is_impact(bounce)) return;
  const double e =
      pair_of(bounce.body, other ? bounce.other : int(model.bodies.size()) + bounce.collider).restitution;
  // what has left takes the place of its last touch along: a place that stayed behind would be pushed by its spin
  Vec3 point = body.center() + bounce.arm;
  if (other) point = (point + other->center() + bounce.arm_of_other) * 0.5;
  const PointMotion own(body, point, bounce.normal);
  Vec3 velocity = own.velocity;
  double inverse_mass = own.inverse_mass;
  if (other) {
    const PointMotion there(*other, point, bounce.normal);
    velocity -= there.velocity, inverse_mass += there.inverse_mass;
  } else {
    velocity -= collider_velocity(bounce.collider, from, to, point);
  }
  const double leaves = dot(velocity, bounce.normal), most = e * bounce.speed, owed = ledger().owed_to(bounce);
  if (!(leaves > 0)) return;
  const bool slow = leaves < most;
  // debts of round-off are no reason
  if (slow ? !(inverse_mass * owed > 1e-9 * most * most) : e >= 1) return;
  const double wanted = slow ? std::min(most, std::sqrt(leaves * leaves + 2 * inverse_mass * owed)) : most;
  const Vec3 impulse = bounce.normal * ((wanted - leaves) / inverse_mass);
  const auto push = [&](RigidImpulse& part, const Vec3& by) {
    const double before = part.kinetic();
    part.impulse(by, point, 0);
    return part.kinetic() - before;
  };
  note_rebound(bounce, (wanted - leaves) / inverse_mass);
  double given = push(body, impulse);
  const double given_other = other ? push(*other, impulse * -1.0) : 0;
  if (bounce.collider >= 0) {  // of this, what a collider that moves has done by the impulse
    const double work = dot(impulse, collider_velocity(bounce.collider, from, to, point));
    state.ledger[bounce.body].work += work, given -= work;
  }
  if (slow) return ledger().pay(bounce, given + given_other);
  state.ledger[bounce.body].booked_loss -= given;
  if (other) state.ledger[bounce.other].booked_loss -= given_other;
}

/// Between two times, of the point of a collider that is at `point` at the second.
Vec3 World::collider_velocity(int collider, double from, double to, const Vec3& point) const {
  return (point - carried_back(pose_of(collider, from), pose_of(collider, to), point)) / (to - from);
}

}  // namespace verve
