// Plasticity: what is strained beyond its limit at the end of a frame flows, and the energy of that is booked
// (docs/plasticity.md).
#include <algorithm>

#include "integrators/world.h"

namespace verve {

void World::set_flow(int b) {
  for (size_t k = 0; k < state.plastic[b].size(); ++k) {
    const PlasticFlow& flow = state.plastic[b][k];
    matter.bodies[b].potentials[model.bodies[b].plasticity->potential_of(int(k))]->set_rest(flow.rest, *flow.in_matrix);
  }
}

std::vector<PlasticFlow> World::unstrained(int b) const {
  std::vector<PlasticFlow> out;
  const Plasticity* const plasticity = model.bodies[b].plasticity.get();
  for (int k = 0; plasticity && k < plasticity->count(); ++k) out.push_back(plasticity->at_rest(k));
  return out;
}

/// Masses, positions and velocities stay, and with them P, L and the kinetic energy: all that changes is which shape
/// has no energy.
void World::flow() {
  std::vector<int> bodies;  // that have flowed; nothing is allocated while none does
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Plasticity* const plasticity = model.bodies[b].plasticity.get();
    if (!plasticity) continue;
    bool flows = false, leaves = false;
    for (int k = 0; k < plasticity->count(); ++k) {
      PlasticFlow& of = state.plastic[b][k];
      if (!plasticity->flow(k, *matter.bodies[b].potentials[plasticity->potential_of(k)],
                            state.x.data() + model.bodies[b].first, scene.step, of))
        continue;
      flows = true;
      if (!Plasticity::has_left_matrix(of)) continue;
      of.in_matrix = std::make_shared<const std::vector<Vec3>>(of.rest);
      leaves = true;
    }
    if (!flows) continue;
    set_flow(int(b));
    state.energy_changed(int(b));
    islands_.each_kept([&](Island& island) {
      if (std::find(island.bodies().begin(), island.bodies().end(), int(b)) == island.bodies().end()) return;
      leaves ? island.matrix_changed() : island.energy_changed();
    });
    bodies.push_back(int(b));
  }
  book_softening(bodies);
}

/// The energy that bodies no longer have at x, where elements have flowed or are gone, is a booked loss.
void World::book_softening(const std::vector<int>& bodies) {
  std::vector<Island*> softer;
  for (const int b : bodies) {
    Island& island = islands_.of(b);
    if (std::find(softer.begin(), softer.end(), &island) == softer.end()) softer.push_back(&island);
  }
  for (Island* island : softer) {
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
