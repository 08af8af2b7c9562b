// Tearing (PD Sec. 7.1, Fig. 10): elements beyond their limit go at the end of a frame, and what hung on them follows.
#include <algorithm>

#include "integrators/world.h"

namespace verve {

/// What hangs on the surface of a body: the wind, and what it touches.
void World::follow_surface(int b) {
  Body& body = model.bodies[b];
  for (WindSurface& surface : model.wind_surfaces)
    if (surface.body == b) surface = make_wind_surface(b, body, body.tearing->surface(state.gone[b]));
  if (!has_contact()) return;
  body.surface = touchable_surface(body, body.tearing->removed(state.gone[b]));
}

/// Elements and surface of a body, as state.gone says.
void World::set_torn(int b) {
  Body& body = model.bodies[b];
  std::vector<char> elements;
  bool changed = false;
  for (size_t k = 0; k < body.potentials.size(); ++k) {
    Potential& potential = *body.potentials[k];
    if (!potential.can_lose_elements()) continue;
    body.tearing->find_elements(int(k), state.gone[b], elements);
    std::vector<char> now = potential.removed();
    now.resize(elements.size());
    if (now == elements) continue;
    potential.set_removed(elements);
    changed = true;
  }
  if (!changed) return;
  follow_surface(b);
  if (has_contact()) forget_neighbours(b);
}

/// The energy of what goes is a loss, and booked. Nothing else changes: masses, positions and velocities are what they
/// were, and with them P, L and the kinetic energy. All bodies are looked at in the state that the frame has led to, so
/// that what tears loads its neighbours from the next frame on.
void World::tear(double time, StepReport& report) {
  std::vector<Island*> lighter;
  std::vector<int> bodies;  // that have torn; nothing is allocated while none does
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    Body& body = model.bodies[b];
    if (!body.tearing) continue;
    torn_.clear();
    for (int t = 0; t < body.tearing->tests(); ++t) {
      const int k = body.tearing->potential_of(t);
      if (const auto limit = scene.bodies[b].potentials[k].tear.at(time))
        body.tearing->find_over(t, *body.potentials[k], state.x.data() + body.first, *limit, state.gone[b], torn_);
    }
    if (torn_.empty()) continue;
    std::sort(torn_.begin(), torn_.end());
    torn_.erase(std::unique(torn_.begin(), torn_.end()), torn_.end());
    body.tearing->remove(torn_, state.gone[b]);
    state.ledger[b].torn += int(torn_.size()), report.torn += int(torn_.size());

    Island& island = *islands_[island_of_body_[b]];
    Island* owner = &island;  // of the factor
    for (Island* part : island.parts())
      if (std::find(part->bodies().begin(), part->bodies().end(), int(b)) != part->bodies().end()) owner = part;
    set_torn(int(b));
    owner->elements_removed();
    if (owner != &island) island.elements_removed();
    if (std::find(lighter.begin(), lighter.end(), &island) == lighter.end()) lighter.push_back(&island);
    bodies.push_back(int(b));
  }
  for (Island* island : lighter) {
    island->evaluate_motion();  // the next frame begins with it
    for (size_t k = 0; k < island->bodies().size(); ++k) {
      BodyLedger& ledger = state.ledger[island->bodies()[k]];
      ledger.history = false;  // what is remembered of the motion belongs to other forces
      if (std::find(bodies.begin(), bodies.end(), island->bodies()[k]) == bodies.end()) continue;
      ledger.booked_loss += ledger.elastic - island->body_energies()[k];
      ledger.elastic = island->body_energies()[k];
    }
  }
}

}  // namespace verve
