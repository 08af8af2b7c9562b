// What touched in a frame, by pairs, and what happened in it: for whoever asks afterwards.
#include <algorithm>
#include <tuple>
#include <utility>

#include "contact/proximity.h"
#include "integrators/world.h"

namespace verve {

namespace {

auto sides(const PairContact& c) { return std::tuple(c.body, c.other, c.collider); }

}  // namespace

/// After a sub-step of h. Its impulse is that of the forces at its end; what the correction of H makes of the momentum of
/// what is grounded is not in it.
void World::note_contacts(const Island& island, double h) {
  const Contacts& c = island.contacts;
  for (PairContact& pair : pairs_)
    if (&island_of(pair.body) == &island) pair.force = 0;
  slip_.assign(c.touching_pairs.size(), 0.0);
  c.each([&](const Contacts::Candidate& on) {
    if (on.pair >= 0 && on.anchor >= 0 && on.anchor < int(c.slip_losses.size())) slip_[on.pair] += c.slip_losses[on.anchor];
  });
  for (size_t k = 0; k < c.touching_pairs.size(); ++k) {
    const Contacts::TouchingPair& m = c.touching_pairs[k];
    if (!(m.weight > 0) && !(slip_[k] > 0)) continue;
    PairContact now;
    now.body = island.bodies()[m.body], now.other = m.other < 0 ? -1 : island.bodies()[m.other];
    now.collider = m.collider;
    if (now.other >= 0 && now.other < now.body) std::swap(now.body, now.other);
    const bool turned = m.other >= 0 && now.body != island.bodies()[m.body];
    auto known = std::find_if(pairs_.begin(), pairs_.end(), [&](const PairContact& p) { return sides(p) == sides(now); });
    if (known == pairs_.end()) known = pairs_.insert(known, now);
    known->friction_loss += slip_[k];
    if (!(m.weight > 0)) continue;
    known->normal = direction(m.normal, {0, 1, 0}) * (turned ? -1.0 : 1.0), known->point = m.point / m.weight;
    known->force = m.weight, known->impulse += m.weight * h;
  }
}

/// What restitution gives or takes along the normal is part of what the contact does [N s].
void World::note_rebound(const Bounce& bounce, double impulse) {
  for (PairContact& pair : pairs_)
    if (pair.body == bounce.body && pair.other == bounce.other && pair.collider == bounce.collider) pair.impulse += impulse;
}

/// The frame of an island begins anew.
void World::forget_contacts(const Island& island) {
  std::erase_if(pairs_, [&](const PairContact& pair) { return &island_of(pair.body) == &island; });
}

/// At the end of a frame.
void World::keep_contacts() {
  std::sort(pairs_.begin(), pairs_.end(), [](const auto& a, const auto& b) { return sides(a) < sides(b); });
  state.contact_pairs = pairs_;
}

/// What the last frame has changed.
void World::find_events() {
  events_.clear();
  const auto id = [&](int b) { return b < 0 ? BodyId() : BodyId(b, state.bodies[b].generation); };
  const auto add_contacts = [&](EventKind kind, const std::vector<PairContact>& of, const std::vector<PairContact>& in) {
    for (const PairContact& pair : of) {
      const bool known = std::any_of(in.begin(), in.end(), [&](const auto& p) { return sides(p) == sides(pair); });
      const ColliderId collider =
          pair.collider < 0 ? ColliderId() : ColliderId(pair.collider, state.colliders[pair.collider].generation);
      if (!known) events_.push_back({kind, id(pair.body), id(pair.other), collider, 0});
    }
  };
  add_contacts(EventKind::contact_begin, state.contact_pairs, before_.contact_pairs);
  add_contacts(EventKind::contact_end, before_.contact_pairs, state.contact_pairs);
  for (size_t b = 0; b < state.ledger.size() && b < before_.ledger.size(); ++b) {
    const BodyLedger &was = before_.ledger[b], &is = state.ledger[b];
    if (is.torn > was.torn) events_.push_back({EventKind::torn, id(int(b)), {}, {}, is.torn - was.torn});
    const bool slept = was.mode == Mode::asleep, sleeps = is.mode == Mode::asleep;
    if (slept != sleeps) events_.push_back({sleeps ? EventKind::asleep : EventKind::awake, id(int(b)), {}, {}, 0});
  }
}

}  // namespace verve
