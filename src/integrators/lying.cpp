// A heap that has come to lie.
#include <algorithm>
#include <cmath>

#include "integrators/world.h"

namespace verve {

namespace {

/// Of g, in a frame: the speed below which a body lies. A step of a heap, cut short, is not good for more.
constexpr double still = 0.02;

}  // namespace

/// No two of its bodies, and none with a collider, give back everything.
bool World::loses(const Island& island) const {
  const int bodies = int(model.bodies.size());
  for (const int a : island.bodies()) {
    if (scene.contact && scene.contact->self && !(pair_of(a, a).restitution < 1)) return false;
    for (const int b : island.bodies())
      if (b > a && !(pair_of(a, b).restitution < 1)) return false;
    for (int c = 0; c < int(model.colliders.size()); ++c)
      if (!(pair_of(a, bodies + c).restitution < 1)) return false;
  }
  return true;
}

bool World::lies(const Island& island) const {
  // what slides without friction goes on, however slowly
  for (const Contacts::Meeting& m : island.contacts.meetings) {
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

/// As at the start of the frame, without motion: from then on every frame ends as it began (standing.cpp). What touches
/// is looked for anew by a heap that lies, in which nothing is let out that is too deep: that alone may be more than it
/// has left of motion.
void World::stand_still(Island& island, StepOutcome& outcome) {
  bool lay = true;
  for (const int b : island.bodies()) lay = lay && state.ledger[b].lies;
  load(island);
  if (!lay) {
    for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b], state.ledger[b].lies = true;
    restore_grips(island);
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
