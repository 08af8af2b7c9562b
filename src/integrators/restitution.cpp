// Restitution: what an impact gives back. Contact itself gives back all it took; whoever leaves faster than e times the
// speed of its impact is slowed down to that, and what this takes is booked. Whoever leaves more slowly and is owed
// energy gets it here: at the turning point of a hard body on something softer no step can hold H (all of it is in what
// touches), and once it flies there is nothing but its vibration to pay it into.
#include <algorithm>
#include <cmath>

#include "integrators/world.h"

namespace verve {

namespace {

/// Seconds without touch after which an impact is over.
constexpr double longest_gap = 0.1;
/// Seconds of touch after which it is no impact: what pushes a body off later owes nothing to how it came.
constexpr double longest_impact = 0.4;

/// Velocity of a body at a point if it moved as a whole, and what an impulse along n at that point changes of it.
struct Whole {
  Vec3 velocity;
  double inverse_mass;
  Whole(const Kick& kick, const Vec3& point, const Vec3& n) {
    const Vec3 arm = point - kick.center();
    const Mat3 inverse = pseudo_inverse(kick.inertia(), 1e-10);
    velocity = kick.momentum() / kick.total_mass + cross(inverse * kick.spin(), arm);
    const Vec3 turn = cross(arm, n);
    inverse_mass = 1 / kick.total_mass + dot(turn, inverse * turn);
  }
};

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
  std::erase_if(met_, [&](const Met& met) { return &island_of(met.body) == &island; });
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

void World::rebound(double time) {
  if (!has_contact()) return;
  for (Bounce& bounce : state.bounces) ++bounce.free, ++bounce.age;
  for (const Met& met : met_) {
    auto bounce = std::find_if(state.bounces.begin(), state.bounces.end(), [&](const Bounce& b) {
      return b.body == met.body && b.other == met.other && b.collider == met.collider;
    });
    const Vec3 n = met.normal, point = met.point;
    if (bounce == state.bounces.end()) {
      Bounce fresh;
      fresh.body = met.body, fresh.other = met.other, fresh.collider = met.collider;
      // as it was before the frame
      const auto before = [&](int b) {
        const Body& of = model.bodies[b];
        return Whole({of.mass.data(), before_.x.data() + of.first, before_.v.data() + of.first,
                      before_.p.data() + of.first, of.count, of.total_mass, &of.coupling},
                     point, n);
      };
      Vec3 velocity = before(met.body).velocity;
      if (met.other >= 0) velocity -= before(met.other).velocity;
      if (met.collider >= 0) velocity -= collider_velocity(met.collider, time, point);
      fresh.speed = std::max(0.0, -dot(velocity, n));
      state.bounces.push_back(fresh);
      bounce = state.bounces.end() - 1;
    }
    bounce->free = met.still ? 0 : 1, bounce->normal = n;
    bounce->arm = point - kick(met.body).center();
    if (met.other >= 0) bounce->arm_of_other = point - kick(met.other).center();
  }
  for (const Bounce& bounce : state.bounces) {
    if (bounce.free == 0 || !is_impact(bounce)) continue;
    const int other = bounce.other >= 0 ? bounce.other : int(model.bodies.size()) + bounce.collider;
    const double e = pair_of(bounce.body, other).restitution;
    Kick a = kick(bounce.body);
    // what has left takes the place of its last touch along: a place that stayed behind would be pushed by its spin
    Vec3 point = a.center() + bounce.arm;
    if (bounce.other >= 0) point = (point + kick(bounce.other).center() + bounce.arm_of_other) * 0.5;
    const Whole whole(a, point, bounce.normal);
    Vec3 velocity = whole.velocity;
    double inverse_mass = whole.inverse_mass;
    if (bounce.other >= 0) {
      const Whole there(kick(bounce.other), point, bounce.normal);
      velocity -= there.velocity, inverse_mass += there.inverse_mass;
    } else {
      velocity -= collider_velocity(bounce.collider, time, point);
    }
    const double leaves = dot(velocity, bounce.normal), most = e * bounce.speed, owed = ledger().owed_to(bounce);
    if (!(leaves > 0)) continue;
    const bool slow = leaves < most;
    // debts of round-off are no reason
    if (slow ? !(inverse_mass * owed > 1e-9 * most * most) : e >= 1) continue;
    const double wanted = slow ? std::min(most, std::sqrt(leaves * leaves + 2 * inverse_mass * owed)) : most;
    const Vec3 impulse = bounce.normal * ((wanted - leaves) / inverse_mass);
    double given = -a.kinetic();
    a.impulse(impulse, point, 0);
    given += a.kinetic();
    double given_other = 0;
    if (bounce.other >= 0) {
      Kick b = kick(bounce.other);
      given_other = -b.kinetic();
      b.impulse(impulse * -1.0, point, 0);
      given_other += b.kinetic();
    }
    if (bounce.collider >= 0) {  // of this, what a collider that moves has done by the impulse
      const double work = dot(impulse, collider_velocity(bounce.collider, time, point));
      state.ledger[bounce.body].work += work, given -= work;
    }
    if (slow) {
      ledger().pay(bounce, given + given_other);
      continue;
    }
    state.ledger[bounce.body].booked_loss -= given;
    if (bounce.other >= 0) state.ledger[bounce.other].booked_loss -= given_other;
  }
  std::erase_if(state.bounces, [&](const Bounce& b) { return b.free * scene.step > longest_gap + 0.5 * scene.step; });
}

/// Of the point of a collider that is at `point` at the end of a frame.
Vec3 World::collider_velocity(int collider, double time, const Vec3& point) const {
  const Vec3 before = carried_back(pose_of(collider, time - scene.step), pose_of(collider, time), point);
  return (point - before) / scene.step;
}

}  // namespace verve
