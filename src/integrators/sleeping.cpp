// Islands that have come to rest.
#include <algorithm>
#include <cmath>

#include "integrators/world.h"

namespace verve {

namespace {

/// Of g, in a frame: the speed below which a body is slow.
constexpr double still = 0.02;

}  // namespace

bool World::is_slow(const Island& island) const {
  // what slides without friction goes on, however slowly
  for (const Contacts::TouchingPair& m : island.contacts.touching_pairs) {
    const int other = m.other >= 0 ? island.bodies()[m.other] : int(model.bodies.size()) + m.collider;
    if (m.weight > 0 && !(pair_of(island.bodies()[m.body], other).friction > 0)) return false;
  }
  const double fall = still * norm(island.forcing.common) * scene.step;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = model.bodies[island.bodies()[k]];
    double before = 0, after = 0;
    for (int r = 0; r < body.count; ++r) {
      const Vec4 &v = state.v[body.first + r], &w = island.motion.v[island.offset(int(k)) + r];
      before += body.mass[r] * dot(v, v), after += body.mass[r] * dot(w, w);
    }
    if (!(std::max(before, after) < body.total_mass * fall * fall)) return false;
  }
  return true;
}

/// As at the start of the frame, without motion: from then on every frame ends as it began (standing.cpp). The contacts
/// of an island that falls asleep are found anew once, without any change of its rest penetrations.
void World::put_to_sleep(Island& island, StepOutcome& outcome) {
  bool lay = true;
  for (const int b : island.bodies()) lay = lay && state.ledger[b].lies;
  load(island);
  if (!lay) {
    for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b], state.ledger[b].lies = true;
    restore_contacts(island);
    prepare_contacts(island, clock(state.frame), clock(state.frame + 1), scene.step, true);
  }
  double kinetic = 0;
  for (int i = 0; i < island.rows(); ++i)
    kinetic += 0.5 * island.forcing.mass[i] * dot(island.motion.v[i], island.motion.v[i]);
  std::fill(island.motion.v.begin(), island.motion.v.end(), Vec4());
  island.motion.history = false;
  island.evaluate_motion();
  outcome.residual = {{}, {}, -kinetic};
  outcome.stands = true;
  outcome.error_h = std::abs(outcome.residual.h) / outcome.e_ref;
}

}  // namespace verve
