#include "integrators/world.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/text.h"

namespace verve {

namespace {
constexpr double hard_factor = 1000;
/// rho of generalised-alpha for what is not solid (sheets, chains) along the loss, unless the scene says another. Most of
/// their energy can be in modes that no step resolves: less of these rings on, more of it goes back along the loss.
/// (docs/decisions/002-loss-direction.md)
constexpr double sheet_rho = 0.65;
}

Settings resolve(const SolverSpec& spec) {
  const MethodInfo* method = find_method(spec.method);
  Settings out;
  out.spec = spec;
  const auto [integrator, minimizer, conservation] = *axes_of(spec);
  for (const IntegratorEntry& e : integrator_registry())
    if (e.name == integrator)
      out.integrator = e.make({spec.rho.value_or(method->rho), spec.newmark_beta, spec.newmark_gamma});
  if (!out.integrator) out.own_step = find_own_step(integrator);
  out.minimizer = find_minimizer(minimizer);
  out.projection = find_projection(conservation);
  out.conservation = conservation == "none" || out.projection ? Conservation::none
                     : conservation == "published"            ? Conservation::published
                                                              : Conservation::cpd;
  if (out.conservation == Conservation::cpd) out.fallback = make_implicit_euler({});
  // rho = 0 does not take the elastic force at x_n, of which stiff contact makes a kick (docs/contact.md)
  if (out.conservation == Conservation::cpd && integrator == "generalized_alpha")
    out.touching = make_generalized_alpha({0});
  out.direction = spec.direction.value_or(method->direction);
  if (out.direction == EnergyDirection::loss && integrator == "generalized_alpha" && !spec.rho)
    out.sheets = make_generalized_alpha({sheet_rho});
  out.resolved = spec.hold == EnergyHold::resolved;
  out.tolerance = spec.tolerance;
  out.iterations = spec.iterations.value_or(method->iterations);
  out.substeps = spec.substeps;
  out.budget = spec.budget;
  // the automatic choice rests on the residuals of the constraints; without them the frame is the step
  if (out.conservation != Conservation::cpd && out.substeps == 0) out.substeps = method->substeps;
  out.epsilon = spec.epsilon;
  out.precision = spec.precision;
  out.solver = spec.global == GlobalSolve::automatic   ? GlobalSolver::Kind::automatic
               : spec.global == GlobalSolve::multigrid ? GlobalSolver::Kind::multigrid
                                                       : GlobalSolver::Kind::direct;
  if (spec.global != GlobalSolve::automatic)
    out.storage = spec.global == GlobalSolve::half ? Cholesky::Storage::half : Cholesky::Storage::full;
  return out;
}

World::World(Scene s, Model m, int threads)
    : scene(std::move(s)),
      model(std::move(m)),
      settings(resolve(scene.solver)),
      threads_(threads),
      given_step_(scene.step),
      given_anchors_(scene.anchors) {
  reset();
}

void World::reset() {
  set_threads(threads_);
  const std::vector<AnchorState> anchors = std::move(state.anchors);
  state = {};
  scene.step = given_step_;
  settings.iterations = resolve(scene.solver).iterations, settings.budget = scene.solver.budget;
  state.x = model.initial_x;
  state.v = model.initial_v;
  state.p.assign(model.rows, {});
  state.q.assign(model.rows, {});
  state.gradient.assign(model.rows, {});
  state.ledger.resize(model.bodies.size());
  state.anchors.resize(model.anchors.size());
  for (size_t a = 0; a < anchors.size(); ++a)  // those that were added stay
    state.anchors[a].added = anchors[a].added, state.anchors[a].removed = anchors[a].removed;
  state.winds.resize(model.sails.size());
  if (!model.sails.empty() || repels()) state.acceleration.assign(model.rows, {});
  state.force_active.assign(model.forces.size(), 0);
  for (size_t a = 0; a < model.anchors.size(); ++a) state.anchors[a].hold.resize(model.anchors[a].rows.size());
  state.gravity = scene.gravity;
  Materials parameters, overrides;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    Body& body = model.bodies[b];
    parameters.emplace_back(body.potentials.size()), overrides.emplace_back(body.potentials.size());
    for (size_t k = 0; k < body.potentials.size(); ++k) {
      parameters[b][k] = parameters_at(scene.bodies[b].potentials[k], 0);
      body.potentials[k]->set_parameters(parameters[b][k]);
    }
  }
  state.parameters = std::make_shared<const Materials>(std::move(parameters));
  state.overrides = std::make_shared<const Materials>(std::move(overrides));
  for (const auto& island : clusters_) retired_factorizations_ += island->factorizations();
  islands_.clear(), merged_.clear(), clusters_.clear();
  state.gone.resize(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    if (!model.bodies[b].tearing) continue;
    state.gone[b].assign(model.bodies[b].tearing->cells(), 0);
    set_torn(int(b));
  }
  compile_contact();
  update_anchors(0);
  rebuild_islands();
  update_forces();
  for (Island* island : islands_) {
    load(*island);
    place_anchors(*island, 0);
    island->evaluate_motion();
    store(*island);
  }
  for (size_t b = 0; b < model.bodies.size(); ++b) state.ledger[b].target_total = measure(int(b)).total;
  // where sub-steps will come all of a sudden
  const bool bursts = has_contact() || std::any_of(model.bodies.begin(), model.bodies.end(),
                                                   [](const Body& body) { return body.tearing != nullptr; });
  if (bursts && settings.integrator && !settings.minimizer)
    for (const auto& island : clusters_) island->make_factors(scene.step, settings);
  remember();
}

/// Bodies joined by active links form one cluster; world anchors belong to the cluster of their body.
void World::rebuild_islands() {
  std::vector<std::unique_ptr<Island>> old = std::move(clusters_);
  clusters_.clear(), merged_.clear(), islands_.clear();
  const int bodies = int(model.bodies.size());
  std::vector<int> root(bodies);
  for (int b = 0; b < bodies; ++b) root[b] = b;
  const auto find = [&](int b) {
    while (root[b] != b) b = root[b];
    return b;
  };
  for (size_t a = 0; a < model.anchors.size(); ++a) {
    if (!state.anchors[a].active || model.anchors[a].other < 0) continue;
    const int i = find(model.anchors[a].body), j = find(model.anchors[a].other);
    root[std::max(i, j)] = std::min(i, j);
  }
  for (int b = 0; b < bodies; ++b) {
    if (find(b) != b) continue;
    std::vector<int> members, anchors;
    for (int c = b; c < bodies; ++c) {
      if (find(c) != b) continue;
      members.push_back(c);
    }
    for (size_t a = 0; a < model.anchors.size(); ++a)
      if (state.anchors[a].active && find(model.anchors[a].body) == b) anchors.push_back(int(a));
    // the same bodies, linked as before: only anchors to the world have come or gone
    const auto links = [&](std::vector<int> of) {
      std::erase_if(of, [&](int a) { return model.anchors[a].other < 0; });
      return of;
    };
    const auto same = std::find_if(old.begin(), old.end(), [&](const auto& island) {
      return island && island->bodies() == members && links(island->active_anchors()) == links(anchors);
    });
    if (same != old.end()) {
      clusters_.push_back(std::move(*same));
      if (clusters_.back()->active_anchors() != anchors) clusters_.back()->set_anchors(anchors);
    } else {
      clusters_.push_back(std::make_unique<Island>(model, std::move(members), anchors));
    }
    for (Island::AnchorTerm& term : clusters_.back()->anchor_terms()) stiffen(*clusters_.back(), term);
  }
  for (const auto& island : old)
    if (island) retired_factorizations_ += island->factorizations();
  group_islands();
}

/// Anchors that turn on or off or change their stiffness. True when the islands must be rebuilt.
bool World::update_anchors(double time) {
  bool changed = false;
  for (size_t a = 0; a < model.anchors.size(); ++a) {
    AnchorState& s = state.anchors[a];
    const AnchorSpec& spec = scene.anchors[a];
    const bool active = s.switched.value_or(spec.active.at(time).value_or(false));
    if (active && !s.active) {
      const Body& body = model.bodies[model.anchors[a].body];
      for (size_t i = 0; i < s.hold.size(); ++i)
        s.hold[i] = spec.to_point ? Vec4(*spec.to_point) : state.x[body.first + model.anchors[a].rows[i]];
      if (spec.hard) s.hardness = hardness_of(int(a));
      s.placed = s.moved ? Vec3{} : spec.path.at(time).value_or(Vec3{});
    }
    if (active != s.active) {
      changed = true;
      // what is remembered of the motion belongs to other forces
      state.ledger[model.anchors[a].body].history = false;
      if (model.anchors[a].other >= 0) state.ledger[model.anchors[a].other].history = false;
      energy_changed(model.anchors[a].body);
    }
    s.active = active;
    const double stiffness = spec.stiffness.at(time).value_or(spec.stiffness.keys.front().value.value_or(0));
    if (stiffness == s.stiffness) continue;
    s.stiffness = stiffness;
    energy_changed(model.anchors[a].body);
    // those that bodies are in while they touch, and those to which they will return
    for (const auto* islands : {&clusters_, &merged_})
      for (const auto& island : *islands)
        for (Island::AnchorTerm& term : island->anchor_terms())
          if (term.anchor == int(a)) stiffen(*island, term);
  }
  return changed;
}

int World::add_anchor(const AnchorSpec& spec, Anchor anchor) {
  size_t a = 0;
  // one that was removed since the last step is still part of its island
  while (a < state.anchors.size() && !(state.anchors[a].removed && !state.anchors[a].active)) ++a;
  if (a == state.anchors.size()) scene.anchors.emplace_back(), model.anchors.emplace_back(), state.anchors.emplace_back();
  scene.anchors[a] = spec;
  model.anchors[a] = std::move(anchor);
  state.anchors[a] = {};
  state.anchors[a].added = std::make_shared<const AnchorSpec>(spec);
  state.anchors[a].hold.resize(model.anchors[a].rows.size());
  return int(a);
}

void World::remove_anchor(int anchor) {
  scene.anchors[anchor].active = Track<bool>(false);
  state.anchors[anchor].removed = true, state.anchors[anchor].switched = false;
}

/// Hands an anchor's stiffness to its island.
void World::stiffen(Island& island, Island::AnchorTerm& term) {
  const AnchorState& s = state.anchors[term.anchor];
  double& stiffness = term.to_world ? term.world.stiffness : term.links.stiffness;
  std::vector<double>& hardness = term.to_world ? term.world.hardness : term.links.hardness;
  if (stiffness == s.stiffness && hardness == s.hardness) return;
  stiffness = s.stiffness, hardness = s.hardness;
  term.to_world ? island.anchors_changed() : island.matrix_changed();
}

/// Of inertia M + the weights of all elements of a body, by vertex [N/m].
std::vector<double> World::matrix_diagonal(int b, double inertia) const {
  const Body& body = model.bodies[b];
  SymmetricAssembly matrix;
  matrix.begin_pattern(body.count);
  for (int r = 0; r < body.count; ++r) matrix.add(r, r, body.mass[r] * inertia);
  for (const auto& potential : body.potentials) potential->add_weights(matrix, 0, 1);
  matrix.finish_pattern();
  std::vector<double> out;
  for (int r = 0; r < body.count; ++r) out.push_back(matrix.matrix().value[matrix.matrix().start[r]]);
  return out;
}

/// A thousand times what holds each vertex in its body: inertia and the weights of its elements. Moving the body's
/// size away from where it wants to be, a handle then misses by a thousandth of it.
std::vector<double> World::hardness_of(int a) const {
  const double inertia = 1 / (scene.step * scene.step);
  const Anchor& anchor = model.anchors[a];
  const std::vector<double> own = matrix_diagonal(anchor.body, inertia);
  const std::vector<double> other =
      anchor.other < 0 ? std::vector<double>() : matrix_diagonal(anchor.other, inertia);
  std::vector<double> out;
  for (size_t i = 0; i < anchor.rows.size(); ++i) {
    const double k = own[anchor.rows[i]];
    out.push_back(hard_factor * (other.empty() ? k : std::min(k, other[anchor.other_rows[i]])));
  }
  return out;
}

/// Moves the anchor points along their paths. A hard anchor that moves drives its island: the energy k/2 |way|^2 that
/// goes into its spring at once is many times that of the vertex it carries and not what the hand does, which only the
/// step will tell. True: it does.
bool World::place_anchors(Island& island, double time, double fraction) {
  const bool holds = settings.conservation != Conservation::none || settings.projection;
  bool driven = false;
  for (Island::AnchorTerm& term : island.anchor_terms()) {
    if (!term.to_world) continue;
    const AnchorState& s = state.anchors[term.anchor];
    const bool hard = !s.hardness.empty();
    Vec3 shift = s.moved ? *s.moved : scene.anchors[term.anchor].path.at(time).value_or(Vec3{});
    if (hard && fraction == 0) shift = s.placed;
    if (hard && s.moved) shift = s.placed + (*s.moved - s.placed) * fraction;
    for (size_t i = 0; i < s.hold.size(); ++i) {
      const Vec4 point = s.hold[i] + Vec4(shift);
      if (point.xyz() == term.world.points[i].xyz()) continue;
      driven |= hard && fraction > 0 && holds;
      term.world.points[i] = point;
      island.energy_changed();
    }
  }
  return driven;
}

/// After a frame: hard anchors go on from where they are.
void World::settle_anchors(double time) {
  for (size_t a = 0; a < state.anchors.size(); ++a) {
    AnchorState& s = state.anchors[a];
    if (s.active) s.placed = s.moved ? *s.moved : scene.anchors[a].path.at(time).value_or(Vec3{});
  }
}

void World::update_materials(double time) {
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    Body& body = model.bodies[b];
    Island& island = *islands_[island_of_body_[b]];
    for (size_t k = 0; k < body.potentials.size(); ++k) {
      const PotentialSpec& spec = scene.bodies[b].potentials[k];
      const ParameterValues& overrides = (*state.overrides)[b][k];
      bool constant = overrides.empty();
      for (const auto& [name, track] : spec.parameters) constant = constant && track.is_constant();
      if (constant) continue;
      // compared one by one: a material that has come to rest costs no allocation
      std::shared_ptr<Materials> changed;
      const auto set = [&](const std::string& name, double value) {
        const ParameterValues& now = (*state.parameters)[b][k];
        if (const auto it = now.find(name); it != now.end() && it->second == value) return;
        if (!changed) changed = std::make_shared<Materials>(*state.parameters);
        (*changed)[b][k][name] = value;
      };
      for (const auto& [name, track] : spec.parameters)
        if (const auto value = parameter_at(track, time); value && !overrides.contains(name)) set(name, *value);
      for (const auto& [name, value] : overrides) set(name, value);
      if (!changed) continue;
      state.parameters = changed;
      body.potentials[k]->set_parameters((*changed)[b][k]);
      island.matrix_changed(), energy_changed(int(b));
      for (Island* part : island.parts()) part->matrix_changed();
      for (Island::AnchorTerm& term : island.anchor_terms()) {
        AnchorState& anchor = state.anchors[term.anchor];
        if (!anchor.hardness.empty()) anchor.hardness = hardness_of(term.anchor), stiffen(island, term);
      }
      for (const int member : island.bodies()) state.ledger[member].history = false;
    }
  }
}

void World::update_forces() {
  for (Island* island : islands_) {
    island->forcing.uniform = true, island->forcing.common = state.gravity;
    for (int r = 0; r < island->rows(); ++r) island->forcing.force[r] = Vec4(state.gravity * island->forcing.mass[r]);
  }
  for (size_t k = 0; k < model.forces.size(); ++k) {
    const ConstantForce& f = model.forces[k];
    Island& island = *islands_[island_of_body_[f.body]];
    const bool active = scene.forces[k].active.at(clock(state.frame)).value_or(false);
    if (active != bool(state.force_active[k]))  // what is remembered of the motion belongs to other forces
      for (const int member : island.bodies()) state.ledger[member].history = false;
    state.force_active[k] = active;
    if (!active) continue;
    island.forcing.uniform = false;
    const int offset = island.offset(place_in_island_[f.body]);
    for (size_t i = 0; i < f.rows.size(); ++i) island.forcing.force[offset + f.rows[i]] += Vec4(f.force * f.share[i]);
  }
  for (Island* island : islands_) {
    if (in_wind(*island) || repels()) island->forcing.steady = island->forcing.force, island->forcing.uniform = false;
    for (int r = 0; r < island->rows(); ++r)
      island->forcing.acceleration[r] = island->forcing.force[r] * island->forcing.inverse_mass[r];
    island->balance_forces();
  }
}

void World::forget_history() {
  // contacts, impacts and what they have left to the ledger belong to another motion too
  state.contacts.clear(), state.friction_anchors.clear(), state.bounces.clear(), state.touching.clear(), state.islands.clear();
  for (BodyLedger& ledger : state.ledger) {
    ledger.history = false, ledger.mode = Mode::free;
    ledger.debt = {}, ledger.pair_energy = ledger.friction_energy = 0, ledger.slow_frames = 0;
  }
  group_islands();
  for (Island* island : islands_) {
    recall(*island);
    island->contacts.clear(int(island->bodies().size()), int(model.colliders.size()));
    load(*island);
    place_anchors(*island, clock(state.frame));
    island->evaluate_motion();
    store(*island);
  }
  remember();
}

void World::warn_of_long_steps(Diagnostics& notes) {
  if (!settings.own_step || !settings.own_step->longest_step) return;
  const double h = scene.step / settings.substeps;
  for (Island* island : islands_) {
    const double limit = settings.own_step->longest_step(*island);
    if (h < limit) continue;
    notes.warning("solver.substeps", "found a step of " + format_value(h) + " s, expected one below " +
                                         format_value(limit) + " s for body \"" +
                                         model.bodies[island->bodies()[0]].name + "\": \"" + settings.own_step->name +
                                         "\" is stable below that only. At least " +
                                         format_number(std::ceil(scene.step / limit * (1 + 1e-9))) +
                                         " sub-steps, or a method that is stable at any step");
  }
}

void World::forces_changed() {
  for (BodyLedger& ledger : state.ledger) ledger.history = false;
  update_forces();
}

/// Frames of another length. What is stiff in units of mass / step^2 follows.
void World::set_step(double h) {
  scene.step = h, state.step = h;
  state.origin = state.time - state.frame * h;
  detector_.set_step(h);
  for (Island* island : islands_) {
    for (Island::AnchorTerm& term : island->anchor_terms()) {
      AnchorState& anchor = state.anchors[term.anchor];
      if (!anchor.hardness.empty()) anchor.hardness = hardness_of(term.anchor), stiffen(*island, term);
    }
    for (const int b : island->bodies()) energy_changed(b);
  }
}

Kick World::kick(int body) {
  const Body& b = model.bodies[body];
  return {b.mass.data(),
          state.x.data() + b.first,
          state.v.data() + b.first,
          state.p.data() + b.first,
          b.count,
          b.total_mass,
          &b.coupling};
}

void World::apply_pushes(double from, double to) {
  const double slack = 1e-9 * scene.step;  // a push at t = 1 belongs to frame 30 although 30/30 is not quite 1
  for (const PushSpec& push : scene.pushes) {
    if (push.time < from - slack || push.time >= to - slack) continue;
    for (size_t b = 0; b < model.bodies.size(); ++b) {
      const Body& body = model.bodies[b];
      if (body.name != push.body) continue;
      Kick k = kick(int(b));
      Vec3 point = push.point.value_or(k.center());
      if (push.rest_point) {
        const auto distance = [&](int r) { return norm(body.rest[r].xyz() - *push.rest_point); };
        int best = 0;
        for (int r = 1; r < body.count; ++r)
          if (distance(r) < distance(best)) best = r;
        point = state.x[body.first + best].xyz();
      }
      k.impulse(push.impulse, point, push.radius);
    }
  }
}

int World::factorizations() const {
  int sum = retired_factorizations_;
  for (const auto& island : clusters_) sum += island->factorizations();
  return sum;
}

long World::right_hand_sides() const {
  long sum = 0;
  for (const Island* island : islands_) sum += island->right_hand_sides();
  return sum;
}

double World::total(int b) const {
  const Body& body = model.bodies[b];
  const Island& island = island_of(b);
  const Vec4* force = island.forcing.conservative().data() + island.offset(place_in_island_[b]);
  double external = 0;
  for (int r = 0; r < body.count; ++r) external -= dot(force[r].xyz(), state.x[body.first + r].xyz());
  return kinetic_energy(body.mass.data(), body.count, body.coupling, state.v.data() + body.first) +
         state.ledger[b].elastic + state.ledger[b].contact + external;
}

Measures World::measure(int b) const {
  const Body& body = model.bodies[b];
  const BodyLedger& ledger = state.ledger[b];
  const Island& island = island_of(b);
  const Vec4* force = island.forcing.conservative().data() + island.offset(place_in_island_[b]);
  Measures m;
  m.mass = body.total_mass;
  for (int r = 0; r < body.count; ++r) {
    const Vec3 x = state.x[body.first + r].xyz(), v = state.v[body.first + r].xyz();
    m.momentum += v * body.mass[r];
    m.angular_momentum += cross(x, v) * body.mass[r];
    m.center += x * body.mass[r];
    m.external -= dot(force[r].xyz(), x);
  }
  m.center = m.center / body.total_mass;
  for (int r = 0; r < body.count; ++r)
    m.spin += cross(state.x[body.first + r].xyz() - m.center, state.v[body.first + r].xyz()) * body.mass[r];
  const Vec3 coupled = body.coupling.spin(state.x.data() + body.first, state.v.data() + body.first);
  m.angular_momentum += coupled, m.spin += coupled;
  m.kinetic = kinetic_energy(body.mass.data(), body.count, body.coupling, state.v.data() + body.first);
  m.elastic = ledger.elastic, m.contact = ledger.contact;
  m.total = m.kinetic + m.elastic + m.contact + m.external;
  m.target_total = ledger.target_total;
  m.booked_loss = ledger.booked_loss, m.heat = ledger.heat, m.work = ledger.work, m.torn = ledger.torn;
  m.owed = ledger.debt.h;
  m.multiplier = ledger.multiplier;
  m.iterations = ledger.iterations, m.substeps = ledger.substeps;
  m.error_p = ledger.error_p, m.error_l = ledger.error_l, m.error_h = ledger.error_h;
  return m;
}

}  // namespace verve
