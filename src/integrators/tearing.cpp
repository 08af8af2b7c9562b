// Tearing (PD Sec. 7.1, Fig. 10): elements beyond their limit go at the end of a frame, and what hung on them follows.
#include <algorithm>

#include "integrators/world.h"

namespace verve {

namespace {

/// Elements of a body, and what hangs on its surface: the wind, and what it touches. False: all was so already.
bool remove_elements(const Model& model, int b, const std::vector<char>& gone, bool touchable, Matter& matter) {
  const Body& body = model.bodies[b];
  std::vector<char> elements;
  bool changed = false;
  for (size_t k = 0; k < matter.bodies[b].potentials.size(); ++k) {
    Potential& potential = *matter.bodies[b].potentials[k];
    if (!potential.can_lose_elements()) continue;
    body.tearing->find_elements(int(k), gone, elements);
    std::vector<char> now = potential.removed();
    now.resize(elements.size());
    if (now == elements) continue;
    potential.set_removed(elements);
    changed = true;
  }
  if (!changed) return false;
  for (WindSurface& surface : matter.wind_surfaces)
    if (surface.body == b) surface = make_wind_surface(b, body, body.tearing->surface(gone));
  if (touchable) matter.bodies[b].surface = touchable_surface(body, body.tearing->removed(gone));
  return true;
}

}  // namespace

void World::set_torn(int b) {
  if (remove_elements(model, b, state.gone[b], has_contact(), matter) && has_contact()) forget_neighbours(b);
}

/// The energy of what goes is a loss, and booked. Nothing else changes: masses, positions and velocities are what they
/// were, and with them P, L and the kinetic energy. All bodies are looked at in the state that the frame has led to, so
/// that what tears loads its neighbours from the next frame on.
void World::tear(double time, StepReport& report) {
  std::vector<int> bodies;  // that have torn; nothing is allocated while none does
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!body.tearing) continue;
    torn_.clear();
    for (int t = 0; t < body.tearing->tests(); ++t) {
      const int k = body.tearing->potential_of(t);
      if (const auto limit = scene.bodies[b].potentials[k].tear.at(time))
        body.tearing->find_over(t, *matter.bodies[b].potentials[k], state.x.data() + body.first, *limit, state.gone[b],
                                torn_, over_);
    }
    if (torn_.empty()) continue;
    std::sort(torn_.begin(), torn_.end());
    torn_.erase(std::unique(torn_.begin(), torn_.end()), torn_.end());
    body.tearing->remove(torn_, state.gone[b]);
    state.ledger[b].torn += int(torn_.size()), report.torn += int(torn_.size());

    set_torn(int(b));
    // also those that the body is not in now: when it meets the others again they go on from what they know of it
    islands_.each_kept([&](Island& kept) {
      if (std::find(kept.bodies().begin(), kept.bodies().end(), int(b)) != kept.bodies().end()) kept.elements_removed();
    });
    bodies.push_back(int(b));
  }
  book_softening(bodies);
}

}  // namespace verve
