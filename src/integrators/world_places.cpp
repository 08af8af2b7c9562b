// Bodies and colliders that come and go between frames. Whoever comes takes a place that is free, in the model, in the
// matter and in the state; whoever goes leaves it. The others stay where they are, with their islands and factors: a
// body that does not meet the newcomer goes on as if there were none, bit for bit (docs/decisions/015-places.md).
#include <algorithm>
#include <numbers>
#include <utility>

#include "base/parallel.h"
#include "integrators/island_state.h"
#include "integrators/prepared_content.h"
#include "integrators/world.h"

namespace verve {

namespace {

bool contains(const std::vector<int>& bodies, int b) { return std::find(bodies.begin(), bodies.end(), b) != bodies.end(); }

/// The initial state of a body that comes in elsewhere than its specification says.
void spawn_at(const Spawn& spawn, const Body& body, Vec4* x, Vec4* v) {
  const Mat3 rotation = rotation_matrix(spawn.place.rotation);
  Vec3 center{};
  for (int r = 0; r < body.count; ++r) {
    x[r] = Vec4(rotation * x[r].xyz() + spawn.place.position), v[r] = Vec4(rotation * v[r].xyz());
    center += x[r].xyz() * (body.mass[r] / body.total_mass);
  }
  for (int r = 0; r < body.count; ++r)
    if (body.mass[r] > 0) v[r] += Vec4(spawn.velocity + cross(spawn.angular_velocity, x[r].xyz() - center));
}

}  // namespace

/// The first free rows that are enough for so many, or those at the end.
int World::free_rows(int count) const {
  std::vector<std::array<int, 2>> taken;
  for (const Body& body : model.bodies)
    if (body.count > 0) taken.push_back({body.first, body.first + body.count});
  std::sort(taken.begin(), taken.end());
  int first = 0;
  for (const auto& [begin, end] : taken) {
    if (begin - first >= count) return first;
    first = end;
  }
  return first;
}

void World::number_vertices() {
  vertices_ = 0;
  for (Body& body : model.bodies) body.first_vertex = std::exchange(vertices_, vertices_ + body.count);
}

Scene World::present_scene() const {
  Scene out = scene;
  size_t k = 0;
  std::erase_if(out.bodies, [&](const BodySpec&) { return state.bodies[k++].removed; });
  k = 0;
  std::erase_if(out.colliders, [&](const ColliderSpec&) { return state.colliders[k++].removed; });
  k = 0;
  std::erase_if(out.anchors, [&](const AnchorSpec&) { return state.anchors[k++].removed; });
  k = 0;
  std::erase_if(out.winds, [&](const WindSpec&) { return state.winds[k++].removed; });
  k = 0;
  std::erase_if(out.forces, [&](const ForceSpec&) { return state.forces[k++].removed; });
  std::erase_if(out.pushes, [&](const PushSpec& spec) { return find_body(model, spec.body) < 0; });
  if (!out.contact) return out;
  const auto present = [&](const std::string& name) {
    const auto named = [&](const auto& spec) { return spec.name == name; };
    return std::any_of(out.bodies.begin(), out.bodies.end(), named) ||
           std::any_of(out.colliders.begin(), out.colliders.end(), named);
  };
  std::erase_if(out.contact->pairs, [&](const ContactPairSpec& p) { return !present(p.a) || !present(p.b); });
  return out;
}

/// A compiled body takes a place in model and matter, at rows that are free.
void World::occupy(int b, CompiledBody compiled, const Spawn& spawn, int first) {
  Body& body = model.bodies[b];
  body = std::move(compiled.body), matter.bodies[b] = std::move(compiled.matter);
  body.first = first;
  model.rows = std::max(model.rows, first + body.count);
  model.initial_x.resize(model.rows), model.initial_v.resize(model.rows);
  Vec4 *const x = model.initial_x.data() + first, *const v = model.initial_v.data() + first;
  set_initial_state(body, scene.bodies[b].initial, x, v);
  spawn_at(spawn, body, x, v);
}

/// Nobody has this place any more. (What refers to a place refers to the empty body that is there now.)
void World::vacate(int b) {
  scene.bodies[b] = BodySpec{};
  model.bodies[b] = Body{}, matter.bodies[b] = Matter::OfBody{};
}

std::string World::free_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    return find_body(model, name) >= 0 || std::any_of(scene.colliders.begin(), scene.colliders.end(),
                                                      [&](const ColliderSpec& c) { return c.name == name; });
  };
  std::string name = wanted;
  for (int k = 2; taken(name); ++k) name = wanted + " " + std::to_string(k);
  return name;
}

BodyId World::add_body(std::unique_ptr<PreparedBody::Content> prepared, const Spawn& spawn) {
  set_threads(threads_, &tasks_);
  size_t place = 0;
  while (place < state.bodies.size() && !(state.bodies[place].removed && body_generations_.has_next(int(place)))) ++place;
  const int b = int(place);
  if (place == state.bodies.size()) {
    state.bodies.emplace_back(), state.ledger.emplace_back(), state.group.push_back(b);
    state.gone.emplace_back(), state.plastic.emplace_back();
    scene.bodies.emplace_back(), model.bodies.emplace_back(), matter.bodies.emplace_back();
  }
  auto spec = std::make_shared<BodySpec>(*prepared->spec);
  spec->name = free_name(spawn.name.empty() ? spec->name : spawn.name);
  scene.bodies[b] = *spec;
  CompiledBody compiled{std::move(prepared->model.bodies[0]), std::move(prepared->matter.bodies[0])};
  compiled.body.name = spec->name;
  const int first = free_rows(compiled.body.count);
  occupy(b, std::move(compiled), spawn, first);
  number_vertices();

  BodyPlace& taken = state.bodies[b];
  taken.added = std::move(spec), taken.spawn = spawn, taken.removed = false, taken.first = first;
  taken.generation = body_generations_.next(b);
  state.ledger[b] = {}, state.group[b] = b;
  const Body& body = model.bodies[b];
  for (std::vector<Vec4>* rows : {&state.x, &state.v, &state.p, &state.q, &state.gradient}) rows->resize(model.rows);
  if (!state.acceleration.empty()) state.acceleration.resize(model.rows);
  if (!state.applied.empty()) state.applied.resize(model.rows), std::fill_n(state.applied.begin() + first, body.count, Vec4());
  std::copy_n(model.initial_x.begin() + first, body.count, state.x.begin() + first);
  std::copy_n(model.initial_v.begin() + first, body.count, state.v.begin() + first);
  for (std::vector<Vec4>* rows : {&state.p, &state.q, &state.gradient})
    std::fill_n(rows->begin() + first, body.count, Vec4());
  if (!state.acceleration.empty()) std::fill_n(state.acceleration.begin() + first, body.count, Vec4(state.gravity));
  state.gone[b].assign(body.tearing ? body.tearing->cells() : 0, 0);
  state.plastic[b] = unstrained(b);
  set_materials(b, body.parameters, std::vector<ParameterValues>(body.parameters.size()));

  if (has_contact()) {
    if (matter.bodies[b].surface.vertices.empty()) matter.bodies[b].surface = touchable_surface(body, {});
    pair_table_.compile(scene);
    detector_.set_body(b, contact_body(b));
    forget_neighbours(b);
  }
  islands_.insert(b);
  islands_.of_cluster(b).matrix().adopt(prepared->island->matrix());
  group_islands();
  update_forces();
  Island& island = islands_.of(b);
  recall(state, island);
  load(state, island);
  island.evaluate_motion();
  store(island, state);
  state.ledger[b].target_total = measure(b).total;
  const auto at = std::lower_bound(state.islands.begin(), state.islands.end(), b,
                                   [](const IslandMemory& m, int body) { return m.bodies[0] < body; });
  verve::remember(island, *state.islands.insert(at, IslandMemory{}), state);
  islands_.of_cluster(b).matrix().record(b, state.factors);
  return {b, taken.generation};
}

AnchorId World::add_anchor(const AnchorSpec& spec, Anchor anchor) {
  const int a = anchors().add(spec, std::move(anchor));
  return {a, state.anchors[a].generation = anchor_generations_.next(a)};
}

/// What was linked to it or touched it begins anew, without rates or sleep: other forces act on it.
void World::remove_body(int b) {
  set_threads(threads_, &tasks_);
  const Body& body = model.bodies[b];
  const int first = body.first, end = body.first + body.count;
  const auto of_it = [&](int row) { return row >= first && row < end; };
  bool linked = false;
  for (size_t a = 0; a < matter.anchors.size(); ++a) {
    if (matter.anchors[a].body != b && matter.anchors[a].other != b) continue;
    linked |= state.anchors[a].active && matter.anchors[a].other >= 0;
    anchors().remove(int(a));
    state.anchors[a].active = false, state.anchors[a].hold.clear(), state.anchors[a].hardness.clear();
    matter.anchors[a] = Anchor{};
    matter.anchors[a].body = -1;
  }
  const int group = state.group[b];
  for (size_t k = 0; k < state.group.size(); ++k) {
    if (state.group[k] != group) continue;
    BodyLedger& ledger = state.ledger[k];
    ledger.history = false, ledger.slow_frames = 0;
    if (ledger.mode == Mode::asleep) ledger.mode = Mode::free;
  }
  std::erase_if(state.islands, [&](const IslandMemory& m) { return contains(m.bodies, b); });
  std::erase_if(state.touching, [&](const auto& pair) { return pair[0] == b || pair[1] == b; });
  std::erase_if(state.contact_pairs, [&](const PairContact& p) { return p.body == b || p.other == b; });
  std::erase_if(state.bounces, [&](const Bounce& k) { return k.body == b || k.other == b; });
  // of a vertex on the faces of a body the third is that body, of two edges a row (contact_cache.h)
  std::erase_if(state.contacts, [&](const CachedContact& c) {
    return of_it(c.key[0]) || (c.key[1] == -1 ? c.key[2] == b : c.key[1] >= 0 && of_it(c.key[2]));
  });
  std::erase_if(state.friction_anchors, [&](const FrictionAnchor& g) {
    return of_it(g.row) || g.body == b || std::any_of(g.rows.begin(), g.rows.end(), of_it);
  });
  std::erase_if(state.factors, [&](const FactorRecord& r) { return contains(islands_.of_cluster(b).bodies(), r.body); });
  for (size_t f = 0; f < model.forces.size(); ++f)
    if (model.forces[f].body == b) state.forces[f].removed = true, state.forces[f].active = false, model.forces[f] = {};
  for (size_t w = 0; w < matter.wind_surfaces.size(); ++w)
    if (matter.wind_surfaces[w].body == b) remove_wind(int(w));

  islands_.remove(b);
  vacate(b);
  number_vertices();
  state.bodies[b].removed = true, state.bodies[b].added.reset();
  state.ledger[b] = {}, state.group[b] = b, state.gone[b].clear(), state.plastic[b].clear();
  set_materials(b, {}, {});
  if (has_contact()) pair_table_.compile(scene), detector_.set_body(b, contact_body(b));
  if (linked) {
    restore(State(state));
  } else {
    group_islands();
    update_forces();
  }
  // The energy of links goes with it, and is booked; that of contacts is for the coming frame to see (prepare_contacts).
  for (size_t k = 0; k < state.group.size(); ++k) {
    if (int(k) == b || state.group[k] != group || !has_body(int(k))) continue;
    Island& island = islands_.of(int(k));
    if (island.bodies()[0] == int(k)) {
      recall(state, island);
      island.contacts.clear(int(island.bodies().size()), int(model.colliders.size()));
      load(state, island);
      anchors().place(island, clock(state.frame), 0);
      island.evaluate_motion();
    }
    const auto at = std::find(island.bodies().begin(), island.bodies().end(), int(k)) - island.bodies().begin();
    BodyLedger& ledger = state.ledger[k];
    ledger.booked_loss += ledger.elastic - island.body_energies()[at];
    ledger.elastic = island.body_energies()[at];
  }
}

bool World::is_fresh_body(int b, const State& from, const State& to) {
  if (b >= int(from.bodies.size())) return true;
  const BodyPlace &then = to.bodies[b], &now = from.bodies[b];
  return !then.same_occupant(now) || (!then.removed && then.first != now.first);
}

/// Which bodies have other places in `to`, or are others: those that are compiled. True: some are.
bool World::restore_places(const State& from, const State& to, std::map<int, CompiledBody>& compiled) {
  const size_t count = to.bodies.size();
  std::vector<int> fresh;
  for (size_t b = 0; b < count; ++b)
    if (is_fresh_body(int(b), from, to)) fresh.push_back(int(b));
  if (from.bodies.size() == count && fresh.empty()) return false;
  islands_.clear();
  model.bodies.resize(count), matter.bodies.resize(count), scene.bodies.resize(count);
  for (const int b : fresh) vacate(b);
  model.rows = int(to.x.size());
  model.initial_x.resize(model.rows), model.initial_v.resize(model.rows);
  for (const int b : fresh) {
    const BodyPlace& place = to.bodies[b];
    if (place.removed) continue;
    scene.bodies[b] = place.added ? *place.added : given_bodies_[b];
    occupy(b, std::move(compiled.at(b)), place.spawn, place.first);
  }
  number_vertices();
  return true;
}

}  // namespace verve
