// Islands at rest. One that has been slow for long enough, on things that take energy, falls asleep: it stays where it
// was, without motion. A frame is a function of the state: one that left everything as it was, to the last bit, leaves
// it so again, and is skipped.
#include "integrators/sleeping.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "integrators/island_state.h"
#include "integrators/world.h"

namespace verve {

namespace {

/// Of g, in a frame: the speed below which a body is slow [1].
constexpr double slow = 0.02;
/// Slow frames in a row after which an island sleeps [1].
constexpr int frames_to_sleep = 10;
/// Frames that have to begin alike: more than what an island remembers by itself (sub-steps, frequencies) lives [1].
constexpr int agreeing = 8;

template <class T>
bool fixed(const Track<T>& track) {
  return track.empty() || track.is_constant();
}

void add(BitHash& hash, const Vec3& v) { hash.add(v.x), hash.add(v.y), hash.add(v.z); }

}  // namespace

bool was_skipped(const Island& island) { return island.memory.same_starts > agreeing; }

bool Sleeping::is_slow(const Island& island) const {
  // what slides without friction goes on, however slowly, as does what a collider carries
  for (const Contacts::TouchingPair& m : island.contacts.touching_pairs) {
    const int other = m.other >= 0 ? island.bodies()[m.other] : int(model_.bodies.size()) + m.collider;
    if (m.weight > 0 && m.collider >= 0 && island.contacts.shape_moves[m.collider]) return false;
    if (m.weight > 0 && !(pairs_.of(island.bodies()[m.body], other, state_.friction).friction > 0)) return false;
  }
  const double fall = slow * norm(island.forcing.common) * scene_.step;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = model_.bodies[island.bodies()[k]];
    double before = 0, after = 0;
    for (int r = 0; r < body.count; ++r) {
      const Vec4 &v = state_.v[body.first + r], &w = island.motion.v[island.offset(int(k)) + r];
      before += body.mass[r] * dot(v, v), after += body.mass[r] * dot(w, w);
    }
    if (!(std::max(before, after) < body.total_mass * fall * fall)) return false;
  }
  return true;
}

bool Sleeping::falls_asleep(const Island& island) {
  const bool is_slow_now = settings_.conserves() && island.memory.loses_energy() && is_slow(island);
  bool sleeps = is_slow_now;
  for (const int b : island.bodies()) {
    int& count = state_.ledger[b].slow_frames;
    count = is_slow_now ? std::min(count + 1, frames_to_sleep) : 0;
    sleeps = sleeps && count >= frames_to_sleep;
  }
  return sleeps;
}

/// Nothing acts on this island that may be another thing in the next frame.
bool Sleeping::is_steady(const Island& island) const {
  if (settings_.projection || !island.active_anchors().empty()) return false;
  for (const ForceState& force : state_.forces)
    if (!force.removed || force.active) return false;
  for (const ColliderState& c : state_.colliders)  // one that was moved has moved, or will
    if (c.to && (norm(c.to->position - c.from->position) > 0 || !(c.to->rotation.col == c.from->rotation.col)))
      return false;
  for (const ColliderSpec& c : scene_.colliders)
    if (!fixed(c.position) || !fixed(c.rotation) || !fixed(c.active)) return false;
  for (const int b : island.bodies()) {
    const Dials& d = scene_.bodies[b].dials;
    if (!fixed(d.momentum) || !fixed(d.spin) || !fixed(d.energy) || !fixed(d.half_life) || !fixed(d.damping))
      return false;
  }
  return true;
}

/// Of all that the coming frame of an island depends on; none when it moves.
std::optional<std::uint64_t> Sleeping::start_hash(const Island& island) const {
  BitHash hash;
  const auto whole = [&](double a) { hash.add(a); };
  for (const int b : island.bodies()) {
    const Body& body = model_.bodies[b];
    for (int r = body.first; r < body.first + body.count; ++r) {
      if (norm(state_.v[r].xyz()) != 0) return std::nullopt;
      add(hash, state_.x[r].xyz()), add(hash, state_.p[r].xyz()), add(hash, state_.q[r].xyz());
    }
    const BodyLedger& l = state_.ledger[b];
    add(hash, l.debt.p), add(hash, l.debt.l);
    for (const double a :
         {double(b), l.debt.h, l.last_step, l.booked_loss, l.work, l.pair_energy, l.friction_energy, double(l.history),
          double(l.mode), l.wanted_energy.value_or(-1), l.held_energy.value_or(-1),
          double(l.wanted_energy.has_value()), double(l.held_energy.has_value()), l.damping.value_or(-1)})
      whole(a);
    if (l.held_momentum || l.held_spin) return std::nullopt;
    const auto mine = [&](int row) { return row >= body.first && row < body.first + body.count; };
    for (const FrictionAnchor& g : state_.friction_anchors) {
      if (!mine(g.row)) continue;
      for (int i = 0; i < g.count; ++i) whole(g.rows[i]), whole(g.weights[i]);
      for (const int m : g.more) whole(m);
      add(hash, g.point);
      for (const double a : {double(g.row), double(g.collider), double(g.body), g.cap, g.stretch}) whole(a);
    }
    for (const CachedContact& c : state_.contacts) {
      if (!mine(c.key[0])) continue;
      for (const int k : c.key) whole(k);
      whole(c.depth), whole(c.rest), add(hash, c.normal), add(hash, c.point);
    }
  }
  for (const ColliderState& c : state_.colliders) {
    whole(c.generation), whole(c.removed), whole(c.was_active), whole(c.switched ? *c.switched : -1);
    if (!c.to) continue;
    add(hash, c.to->position);
    for (const Vec3& column : c.to->rotation.col) add(hash, column);
  }
  add(hash, state_.gravity);
  const SubstepControl& control = island.memory.substeps;
  for (const double a : {state_.friction.value_or(-1), scene_.step, double(settings_.iterations), double(control.last),
                         double(control.iterations), double(control.easy), double(control.unresolved), control.loss,
                         settings_.budget})
    whole(a);
  return hash.value();
}

bool Sleeping::begins_unchanged(Island& island, bool steady_forces) const {
  IslandMemory& memory = island.memory;
  const std::optional<std::uint64_t> hash =
      steady_forces && memory.has_contacts && is_steady(island) ? start_hash(island) : std::nullopt;
  if (!hash) {
    memory.same_starts = 0;
    return false;
  }
  memory.same_starts = memory.same_starts > 0 && memory.start_hash == *hash ? memory.same_starts + 1 : 1;
  memory.start_hash = *hash;
  return was_skipped(island);
}

/// Everything that touches here loses energy, and no impact is going on: what vibrates on after that is to come to rest.
bool World::settles(const Island& island) const {
  if (!island.memory.loses_energy()) return false;
  bool rests = false;
  for (const Bounce& bounce : state.bounces)
    for (const int b : island.bodies()) {
      if (bounce.body != b && bounce.other != b) continue;
      if (is_impact(bounce)) return false;
      rests = true;
    }
  return rests;
}

/// As at the start of the frame, without motion: from then on every frame ends as it began (begins_unchanged). The contacts
/// of an island that falls asleep are found anew once, without any change of its rest penetrations.
void World::put_to_sleep(Island& island, StepOutcome& outcome) {
  bool was_asleep = true;
  for (const int b : island.bodies()) was_asleep = was_asleep && state.ledger[b].mode == Mode::asleep;
  load(state, island);
  if (!was_asleep) {
    for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b];
    restore_contacts(island);
    prepare_contacts(island, whole_frame(), true, false);
  }
  const double kinetic = island.kinetic(island.motion.v);
  std::fill(island.motion.v.begin(), island.motion.v.end(), Vec4());
  island.motion.history = false;
  island.evaluate_motion();
  outcome.residual = {{}, {}, -kinetic};
  outcome.asleep = true;
  outcome.error_h = std::abs(outcome.residual.h) / outcome.e_ref;
}

/// A frame of an island that begins unchanged.
StepOutcome World::skip_frame(const Island& island) {
  note_meetings(island), note_contacts(island, scene.step);
  for (const int b : island.bodies()) {
    BodyLedger& ledger = state.ledger[b];
    ledger.iterations = 0, ledger.substeps = 1;
    ledger.target_total = total(b) - ledger.target_total;  // what it missed its target by; the frame turns this round
  }
  return {};
}

}  // namespace verve
