// Between the State and what follows it: islands, factors, materials and surfaces.
#include <algorithm>

#include "base/parallel.h"
#include "integrators/world.h"

namespace verve {

/// Specifications and places of the anchors, as the state says which were added and removed.
void World::set_anchor_specs() {
  scene.anchors.resize(state.anchors.size()), model.anchors.resize(state.anchors.size());
  for (size_t a = 0; a < state.anchors.size(); ++a) {
    const AnchorState& s = state.anchors[a];
    const AnchorSpec& spec = s.added ? *s.added : given_anchors_[a];
    Diagnostics problems;  // none: it was compiled before
    model.anchors[a] = compile_anchor(spec, model, "", problems);
    scene.anchors[a] = spec;
    if (s.removed) scene.anchors[a].active = Track<bool>(false);
  }
}

void World::restore(const State& to) {
  set_threads(threads_);
  const State from = std::move(state);
  state = to;
  scene.step = state.step.value_or(given_step_);
  settings.iterations = state.iterations.value_or(resolve(scene.solver).iterations);
  settings.budget = state.budget.value_or(scene.solver.budget);
  detector_.set_step(scene.step);

  bool same_anchors = from.anchors.size() == to.anchors.size();
  for (size_t a = 0; same_anchors && a < to.anchors.size(); ++a)
    same_anchors = from.anchors[a].added == to.anchors[a].added && from.anchors[a].removed == to.anchors[a].removed;
  if (!same_anchors) set_anchor_specs();

  // islands that are as they were keep their factors
  std::vector<char> stale(model.bodies.size()), torn(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    for (size_t k = 0; k < model.bodies[b].potentials.size(); ++k) {
      if ((*from.parameters)[b][k] == (*to.parameters)[b][k]) continue;
      model.bodies[b].potentials[k]->set_parameters((*to.parameters)[b][k]);
      stale[b] = 1;
    }
    if (from.gone[b] == to.gone[b]) continue;
    set_torn(int(b));
    torn[b] = 1;
  }
  if (!same_anchors) {
    for (const auto& island : clusters_) retired_factorizations_ += island->factorizations();
    islands_.clear(), merged_.clear(), clusters_.clear();
  }
  rebuild_islands();
  update_forces();
  for (const auto& island : clusters_) {
    for (const int b : island->bodies()) {
      if (stale[b]) island->matrix_changed();
      if (torn[b]) island->elements_removed();
    }
  }
  for (Island* island : islands_) {
    recall(*island);
    island->set_planes(island->memory.planes);
    load(*island);
    place_anchors(*island, clock(state.frame));
    if (!was_skipped(*island)) continue;
    // the coming frame may leave it alone: its contacts are found here
    prepare_contacts(*island, whole_frame(), true, false);
    recall(*island), load(*island);
  }
  state = to;  // not what the way here has booked; and which forces are new is for the next frame to see
  for (const auto& island : clusters_) island->restore_factors(state.factors, settings);
}

/// What an island knows of earlier frames: nothing, where other bodies moved together.
void World::recall(Island& island) const {
  const auto known = std::lower_bound(state.islands.begin(), state.islands.end(), island.bodies()[0],
                                      [](const IslandMemory& m, int body) { return m.bodies[0] < body; });
  if (known != state.islands.end() && known->bodies == island.bodies()) {
    island.memory = *known;
  } else {
    island.memory = {};
  }
}

/// The motion of an island as it is in the state, with W there.
void World::load(Island& island) const {
  Motion& m = island.motion;
  m.last_step = state.ledger[island.bodies()[0]].last_step;
  m.history = !has_other_members(island);
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = model.bodies[island.bodies()[k]];
    const BodyLedger& ledger = state.ledger[island.bodies()[k]];
    m.history = m.history && ledger.history && ledger.last_step == m.last_step;
    const int to = island.offset(int(k));
    std::copy_n(state.x.begin() + body.first, body.count, m.x.begin() + to);
    std::copy_n(state.v.begin() + body.first, body.count, m.v.begin() + to);
    std::copy_n(state.p.begin() + body.first, body.count, m.p.begin() + to);
    std::copy_n(state.q.begin() + body.first, body.count, m.q.begin() + to);
    std::copy_n(state.gradient.begin() + body.first, body.count, m.gradient.begin() + to);
    if (!state.acceleration.empty()) {
      m.acceleration.resize(m.x.size());
      std::copy_n(state.acceleration.begin() + body.first, body.count, m.acceleration.begin() + to);
    }
    island.recall_energy(int(k), ledger.elastic, ledger.contact);
  }
  island.recall_energy();
}

void World::store(const Island& island) {
  const Motion& m = island.motion;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = model.bodies[island.bodies()[k]];
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    const int from = island.offset(int(k));
    std::copy_n(m.x.begin() + from, body.count, state.x.begin() + body.first);
    std::copy_n(m.v.begin() + from, body.count, state.v.begin() + body.first);
    std::copy_n(m.p.begin() + from, body.count, state.p.begin() + body.first);
    std::copy_n(m.q.begin() + from, body.count, state.q.begin() + body.first);
    if (!m.acceleration.empty())
      std::copy_n(m.acceleration.begin() + from, body.count, state.acceleration.begin() + body.first);
    ledger.history = m.history;
    ledger.last_step = m.last_step;
    ledger.elastic = island.body_energies()[k];
    ledger.contact = island.contact_energies()[k];
  }
}

/// W of a body and those around it is no longer what the last frame left: other forces act.
void World::energy_changed(int body) {
  for (IslandMemory& memory : state.islands)
    if (std::find(memory.bodies.begin(), memory.bodies.end(), body) != memory.bodies.end())
      memory.evaluated = false, memory.same_starts = 0;
}

/// After a frame: what islands know goes to the state, in which nothing else is missing then.
void World::remember() {
  state.islands.resize(islands_.size());
  for (size_t i = 0; i < islands_.size(); ++i) {
    Island& island = *islands_[i];
    place_anchors(island, clock(state.frame));
    island.remember_energy();
    island.memory.bodies = island.bodies(), island.memory.planes = island.planes();
    for (size_t k = 0; k < island.bodies().size(); ++k) {
      const Body& body = model.bodies[island.bodies()[k]];
      std::copy_n(island.motion.gradient.begin() + island.offset(int(k)), body.count,
                  state.gradient.begin() + body.first);
    }
    state.islands[i] = island.memory;
  }
  state.factors.clear();
  for (const auto& island : clusters_) island->record_factors(state.factors);
  // more than before: so that the copy with which the next frame begins asks for no memory
  size_t size = state.factors.size();
  for (const IslandMemory& memory : state.islands)
    size += memory.own_step.size() + memory.planes.size() + memory.loads.size();
  if (size > remembered_) before_ = state;
  remembered_ = size;
}

}  // namespace verve
