// Between the State and what follows it: islands, factors, materials and surfaces.
#include "base/parallel.h"
#include "integrators/island_state.h"
#include "integrators/world.h"

namespace verve {

void World::restore(const State& to, Occupants occupants) {
  set_threads(threads_, &tasks_);
  const State from = std::move(state);
  state = to;
  scene.step = state.step.value_or(given_step_);
  settings.iterations = state.iterations.value_or(resolve(scene.solver).iterations);
  settings.budget = state.budget.value_or(scene.solver.budget);
  detector_.set_step(scene.step);

  for (size_t b = 0; b < to.bodies.size(); ++b) body_generations_.know(int(b), to.bodies[b].generation);
  for (size_t c = 0; c < to.colliders.size(); ++c) collider_generations_.know(int(c), to.colliders[c].generation);
  for (size_t a = 0; a < to.anchors.size(); ++a) anchor_generations_.know(int(a), to.anchors[a].generation);
  for (size_t w = 0; w < to.winds.size(); ++w) wind_generations_.know(int(w), to.winds[w].generation);
  for (size_t f = 0; f < to.forces.size(); ++f) force_generations_.know(int(f), to.forces[f].generation);
  const bool other_colliders = restore_colliders(from, to, occupants.shapes);
  const bool other_bodies = restore_places(from, to, occupants.bodies);
  if (other_colliders || other_bodies) islands_.clear(), compile_contact();
  restore_forces(from, to, other_bodies);

  bool same_anchors = from.anchors.size() == to.anchors.size();
  for (size_t a = 0; same_anchors && a < to.anchors.size(); ++a)
    same_anchors = from.anchors[a].same_occupant(to.anchors[a]);
  if (!same_anchors || other_bodies) anchors().set_specs(given_anchors_);

  // islands that are as they were keep their factors
  std::vector<char> stale(model.bodies.size()), torn(model.bodies.size());
  const auto fresh = [&](size_t b) { return b >= from.bodies.size() || !to.bodies[b].same_occupant(from.bodies[b]); };
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    for (size_t k = 0; k < matter.bodies[b].potentials.size(); ++k) {
      if (!fresh(b) && (*from.parameters)[b][k] == (*to.parameters)[b][k]) continue;
      matter.bodies[b].potentials[k]->set_parameters((*to.parameters)[b][k]);
      stale[b] = 1;
    }
    const bool flowed = b >= from.plastic.size() || !(from.plastic[b] == to.plastic[b]);
    if (fresh(b) || flowed) set_flow(int(b)), stale[b] = stale[b] || !to.plastic[b].empty();
    if (!model.bodies[b].tearing || (!fresh(b) && from.gone[b] == to.gone[b])) continue;
    set_torn(int(b));
    torn[b] = 1;
  }
  if (!same_anchors) islands_.clear();
  rebuild_islands();
  update_forces();
  for (const auto& island : islands_.clusters()) {
    for (const int b : island->bodies()) {
      if (stale[b]) island->matrix_changed();
      if (torn[b]) island->elements_removed();
    }
  }
  for (Island* island : islands_) {
    recall(state, *island);
    island->set_planes(island->memory.planes);
    load(state, *island);
    anchors().place(*island, clock(state.frame), 0);
    if (!was_skipped(*island)) continue;
    // the coming frame may leave it alone: its contacts are found here
    prepare_contacts(*island, whole_frame(), true, false);
    recall(state, *island), load(state, *island);
  }
  state = to;  // not what the way here has booked; and which forces are new is for the next frame to see
  for (const auto& island : islands_.clusters()) island->restore_factors(state.factors, settings);
}

/// After a frame: what islands know goes to the state, in which nothing else is missing then.
void World::remember() {
  state.islands.resize(islands_.size());
  for (size_t i = 0; i < islands_.size(); ++i) {
    anchors().place(islands_[i], clock(state.frame), 0);
    verve::remember(islands_[i], state.islands[i], state);
  }
  state.factors.clear();
  for (const auto& island : islands_.clusters()) island->matrix().record(island->bodies()[0], state.factors);
  // more than before: so that the copy with which the next frame begins asks for no memory
  size_t size = state.factors.size();
  for (const IslandMemory& memory : state.islands)
    size += memory.own_step.size() + memory.planes.size() + memory.loads.size();
  if (size > remembered_) before_ = state;
  remembered_ = size;
}

}  // namespace verve
