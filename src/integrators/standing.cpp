// Islands that stand. A frame is a function of the state: one that left everything as it was, to the last bit, leaves
// it so again, and need not be computed.
#include <algorithm>

#include "base/hash.h"
#include "integrators/world.h"

namespace verve {

namespace {

/// Frames that have to agree: more than what an island remembers by itself (sub-steps, frequencies) lives.
constexpr int agreeing = 8;

template <class T>
bool fixed(const Track<T>& track) {
  return track.empty() || track.is_constant();
}

void add(BitHash& hash, const Vec3& v) { hash.add(v.x), hash.add(v.y), hash.add(v.z); }

}  // namespace

/// Nothing acts on this island that may be another thing in the next frame.
bool World::is_steady(const Island& island) const {
  if (repels() || settings.projection || !scene.forces.empty() || in_wind(island) || !island.active_anchors().empty())
    return false;
  for (const ColliderSpec& c : scene.colliders)
    if (!fixed(c.position) || !fixed(c.rotation) || !fixed(c.active)) return false;
  for (const int b : island.bodies()) {
    const Dials& d = scene.bodies[b].dials;
    if (!fixed(d.momentum) || !fixed(d.spin) || !fixed(d.energy) || !fixed(d.half_life) || !fixed(d.damping))
      return false;
  }
  return true;
}

/// Of all that the coming frame of an island depends on; none when it moves.
std::optional<std::uint64_t> World::start_hash(const Island& island) const {
  BitHash hash;
  const auto whole = [&](double a) { hash.add(a); };
  for (const int b : island.bodies()) {
    const Body& body = model.bodies[b];
    for (int r = body.first; r < body.first + body.count; ++r) {
      if (norm(state.v[r].xyz()) != 0) return std::nullopt;
      add(hash, state.x[r].xyz()), add(hash, state.p[r].xyz()), add(hash, state.q[r].xyz());
    }
    const BodyLedger& l = state.ledger[b];
    add(hash, l.debt.p), add(hash, l.debt.l);
    for (const double a :
         {double(b), l.debt.h, l.last_step, l.booked_loss, l.pending, l.pair_energy, l.friction_energy, double(l.history),
          double(l.touched), double(l.energy_released), double(l.lies), l.wanted_energy.value_or(-1), l.held_energy.value_or(-1),
          double(l.wanted_energy.has_value()), double(l.held_energy.has_value()), l.damping.value_or(-1)})
      whole(a);
    if (l.held_momentum || l.held_spin) return std::nullopt;
    const auto mine = [&](int row) { return row >= body.first && row < body.first + body.count; };
    for (const FrictionAnchor& g : state.friction_anchors) {
      if (!mine(g.row)) continue;
      for (int i = 0; i < g.count; ++i) whole(g.rows[i]), whole(g.weights[i]);
      for (const int m : g.more) whole(m);
      add(hash, g.point);
      for (const double a : {double(g.row), double(g.collider), double(g.body), g.cap, g.stretch}) whole(a);
    }
    for (const CachedContact& c : state.contacts) {
      if (!mine(c.key[0])) continue;
      for (const int k : c.key) whole(k);
      whole(c.depth), whole(c.rest), add(hash, c.normal), add(hash, c.point);
    }
  }
  add(hash, state.gravity);
  const SubstepControl& control = island.memory.substeps;
  for (const double a : {state.friction.value_or(-1), scene.step, double(settings.iterations), double(control.last),
                         double(control.iterations), settings.budget})
    whole(a);
  return hash.value();
}

/// Whether it was left alone in the last frame.
bool World::stood(const Island& island) const { return island.memory.same_starts > agreeing; }

/// At the start of a frame, once: whether this island need not be looked at in it.
bool World::stands(Island& island) {
  IslandMemory& memory = island.memory;
  const std::optional<std::uint64_t> hash =
      island.contacts.touching() && is_steady(island) ? start_hash(island) : std::nullopt;
  if (!hash) {
    memory.same_starts = 0;
    return false;
  }
  memory.same_starts = memory.same_starts > 0 && memory.start_hash == *hash ? memory.same_starts + 1 : 1;
  memory.start_hash = *hash;
  return stood(island);
}

/// A frame of an island that stands.
void World::stay(const Island& island) {
  note_meetings(island);
  for (const int b : island.bodies()) {
    BodyLedger& ledger = state.ledger[b];
    ledger.iterations = 0, ledger.substeps = 1;
    ledger.target_total = total(b) - ledger.target_total;  // what it missed its target by; the frame turns this round
  }
}

}  // namespace verve
