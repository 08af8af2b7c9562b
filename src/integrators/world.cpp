#include "integrators/world.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/ranks.h"
#include "base/text.h"
#include "integrators/island_state.h"
#include "integrators/step_solver.h"

namespace verve {

World::World(Scene s, CompiledScene compiled, int threads, TaskRunner tasks)
    : scene(std::move(s)),
      model(std::move(compiled.model)),
      matter(std::move(compiled.matter)),
      settings(resolve(scene.solver)),
      threads_(threads),
      tasks_(std::move(tasks)),
      given_bodies_(scene.bodies),
      given_colliders_(scene.colliders),
      given_winds_(scene.winds),
      given_forces_(scene.forces),
      given_step_(scene.step),
      given_anchors_(scene.anchors),
      islands_(model, matter) {
  body_generations_.begin(int(scene.bodies.size())), collider_generations_.begin(int(scene.colliders.size()));
  anchor_generations_.begin(int(scene.anchors.size()));
  wind_generations_.begin(int(scene.winds.size())), force_generations_.begin(int(scene.forces.size()));
  number_vertices();
  state.bodies.resize(scene.bodies.size()), state.colliders.resize(scene.colliders.size());
  state.winds.resize(scene.winds.size()), state.forces.resize(scene.forces.size());
  for (size_t b = 0; b < state.bodies.size(); ++b) state.bodies[b].first = model.bodies[b].first;
  reset();
}

void make_factors(Island& island, double h, const Settings& settings) {
  constexpr double most = 4e6;  // entries, of all of them: 32 MB
  double made = 0;
  Motion motion;
  BaseStep base;
  std::vector<int> substeps{1, 2, 4, 8};
  if (settings.substeps > 0) substeps = {settings.substeps};
  for (const int n : substeps)
    for (const Integrator* integrator :
         {settings.sheets && !island.is_solid() ? settings.sheets.get() : settings.integrator.get(),
          settings.touching.get(), settings.fallback.get()}) {
      if (!integrator) continue;
      integrator->begin(motion, h / n * integrator->share(0), true, base);
      const SystemMatrix::Factor* const factor = island.matrix().factor_for(base.hh, settings.factor_kind());
      if (!factor) return;
      made += double(factor->solver.nonzeros());
      if (made > most) return;
    }
}

void World::prepare() {
  set_threads(threads_, &tasks_);
  if (!settings.integrator || settings.minimizer) return;  // no matrix that is the same in all steps
  for (const auto& island : islands_.clusters()) make_factors(*island, scene.step, settings);
  remember();
}

void World::reset() {
  set_threads(threads_, &tasks_);
  const State old = std::move(state);
  state = {};
  state.bodies = old.bodies;  // who has come and gone stays so
  scene.step = given_step_;
  settings.iterations = resolve(scene.solver).iterations, settings.budget = scene.solver.budget;
  state.x = model.initial_x;
  state.v = model.initial_v;
  state.p.assign(model.rows, {});
  state.q.assign(model.rows, {});
  state.gradient.assign(model.rows, {});
  state.ledger.resize(model.bodies.size());
  state.anchors.resize(matter.anchors.size());
  for (size_t a = 0; a < old.anchors.size(); ++a) static_cast<Place<AnchorSpec>&>(state.anchors[a]) = old.anchors[a];
  state.colliders.resize(old.colliders.size());
  for (size_t c = 0; c < old.colliders.size(); ++c)
    static_cast<Place<ColliderSpec>&>(state.colliders[c]) = old.colliders[c];
  state.winds.resize(old.winds.size());
  for (size_t w = 0; w < old.winds.size(); ++w) static_cast<Place<WindSpec>&>(state.winds[w]) = old.winds[w];
  state.forces.resize(old.forces.size());
  for (size_t f = 0; f < old.forces.size(); ++f) static_cast<Place<ForceSpec>&>(state.forces[f]) = old.forces[f];
  if (!matter.wind_surfaces.empty() || repels()) state.acceleration.assign(model.rows, {});
  for (size_t a = 0; a < matter.anchors.size(); ++a) state.anchors[a].hold.resize(matter.anchors[a].rows.size());
  state.gravity = scene.gravity;
  Materials parameters, overrides;
  for (size_t b = 0; b < model.bodies.size(); ++b) {  // (of a place that nobody has, none)
    const Potentials& potentials = matter.bodies[b].potentials;
    parameters.emplace_back(potentials.size()), overrides.emplace_back(potentials.size());
    for (size_t k = 0; k < potentials.size(); ++k) {
      parameters[b][k] = parameters_at(scene.bodies[b].potentials[k], 0);
      potentials[k]->set_parameters(parameters[b][k]);
    }
  }
  state.parameters = std::make_shared<const Materials>(std::move(parameters));
  state.overrides = std::make_shared<const Materials>(std::move(overrides));
  islands_.clear();
  state.gone.resize(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    if (!model.bodies[b].tearing) continue;
    state.gone[b].assign(model.bodies[b].tearing->cells(), 0);
    set_torn(int(b));
  }
  state.plastic.resize(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) state.plastic[b] = unstrained(int(b)), set_flow(int(b));
  state.group.resize(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) state.group[b] = int(b);
  compile_contact();
  settle_colliders();
  anchors().update(0);
  rebuild_islands();
  update_forces();
  for (Island* island : islands_) {
    load(state, *island);
    anchors().place(*island, 0, 0);
    island->evaluate_motion();
    store(*island, state);
  }
  for (size_t b = 0; b < model.bodies.size(); ++b) state.ledger[b].target_total = measure(int(b)).total;
  // where sub-steps will come all of a sudden
  const bool bursts = has_contact() || std::any_of(model.bodies.begin(), model.bodies.end(),
                                                   [](const Body& body) { return body.tearing != nullptr; });
  if (bursts && settings.integrator && !settings.minimizer)
    for (const auto& island : islands_.clusters()) make_factors(*island, scene.step, settings);
  remember();
}

void World::set_materials(int b, std::vector<ParameterValues> parameters, std::vector<ParameterValues> overrides) {
  const auto with = [&](const Materials& all, std::vector<ParameterValues>&& own) {
    auto out = std::make_shared<Materials>(all);
    out->resize(model.bodies.size());
    (*out)[b] = std::move(own);
    return out;
  };
  state.parameters = with(*state.parameters, std::move(parameters));
  state.overrides = with(*state.overrides, std::move(overrides));
}

void World::update_materials(double time) {
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Potentials& potentials = matter.bodies[b].potentials;
    for (size_t k = 0; k < potentials.size(); ++k) {
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
      potentials[k]->set_parameters((*changed)[b][k]);
      state.energy_changed(int(b)), state.ledger[b].history = false;
      // (not of all that it touched in the last frame: which these were is no part of the state)
      islands_.each_kept([&](Island& island) {
        const std::vector<int>& bodies = island.bodies();
        if (std::find(bodies.begin(), bodies.end(), int(b)) == bodies.end()) return;
        island.matrix_changed();
        anchors().harden(island);
      });
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
    if (f.body < 0) continue;
    Island& island = islands_.of(f.body);
    const bool active = !state.forces[k].removed && scene.forces[k].active.at(clock(state.frame)).value_or(false);
    if (active != state.forces[k].active)  // what is remembered of the motion belongs to other forces
      for (const int member : island.bodies()) state.ledger[member].history = false;
    state.forces[k].active = active;
    if (!active) continue;
    island.forcing.uniform = false;
    const int offset = islands_.offset(f.body);
    for (size_t i = 0; i < f.rows.size(); ++i) island.forcing.force[offset + f.rows[i]] += Vec4(f.force * f.share[i]);
  }
  for (Island* island : islands_) {
    island->forcing.steady.clear();
    if (is_pushed(*island) || repels()) island->forcing.steady = island->forcing.force, island->forcing.uniform = false;
    for (int r = 0; r < island->rows(); ++r)
      island->forcing.acceleration[r] = island->forcing.force[r] * island->forcing.inverse_mass[r];
    island->balance_forces();
  }
}

void World::forget_history() {
  // contacts, impacts and what they have left to the ledger belong to another motion too
  state.contacts.clear(), state.friction_anchors.clear(), state.bounces.clear(), state.touching.clear(),
      state.islands.clear();
  for (BodyLedger& ledger : state.ledger) {
    ledger.history = false, ledger.mode = Mode::free;
    ledger.debt = {}, ledger.pair_energy = ledger.friction_energy = 0, ledger.slow_frames = 0;
  }
  group_islands();
  for (Island* island : islands_) {
    recall(state, *island);
    island->contacts.clear(int(island->bodies().size()), int(model.colliders.size()));
    load(state, *island);
    anchors().place(*island, clock(state.frame), 0);
    island->evaluate_motion();
    store(*island, state);
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
    anchors().harden(*island);
    for (const int b : island->bodies()) state.energy_changed(b);
  }
}

RigidImpulse World::impulse_on(int body) {
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
      RigidImpulse k = impulse_on(int(b));
      Vec3 point = push.point.value_or(k.center());
      if (push.rest_point) {
        const auto distance = [&](int r) { return norm(body.rest[r].xyz() - *push.rest_point); };
        int best = 0;
        for (int r = 1; r < body.count; ++r)
          if (distance(r) < distance(best)) best = r;
        point = of_rank(!ranks() || nearest_rank(distance(best)), state.x[body.first + best].xyz());
      }
      k.impulse(push.impulse, point, push.radius);
    }
  }
}

long World::right_hand_sides() const {
  long sum = 0;
  for (const Island* island : islands_) sum += island->solver().right_hand_sides();
  return sum;
}

double World::total(int b) const {
  const Body& body = model.bodies[b];
  const Island& island = island_of(b);
  const Vec4* force = island.forcing.conservative().data() + islands_.offset(b);
  double external = 0;
  for (int r = 0; r < body.count; ++r) external -= dot(force[r].xyz(), state.x[body.first + r].xyz());
  return kinetic_energy(body.mass.data(), body.count, body.coupling, state.v.data() + body.first) +
         state.ledger[b].elastic + state.ledger[b].contact + sum_over_ranks(external);
}

Measures World::measure(int b) const {
  if (!has_body(b)) return {};
  const Body& body = model.bodies[b];
  const BodyLedger& ledger = state.ledger[b];
  const Island& island = island_of(b);
  const Vec4* force = island.forcing.conservative().data() + islands_.offset(b);
  Measures m;
  m.mass = body.total_mass;
  for (int r = 0; r < body.count; ++r) {
    const Vec3 x = state.x[body.first + r].xyz(), v = state.v[body.first + r].xyz();
    m.momentum += v * body.mass[r];
    m.angular_momentum += cross(x, v) * body.mass[r];
    m.center += x * body.mass[r];
    m.external -= dot(force[r].xyz(), x);
  }
  m.momentum = sum_over_ranks(m.momentum), m.angular_momentum = sum_over_ranks(m.angular_momentum);
  m.external = sum_over_ranks(m.external);
  m.center = sum_over_ranks(m.center) / body.total_mass;
  for (int r = 0; r < body.count; ++r)
    m.spin += cross(state.x[body.first + r].xyz() - m.center, state.v[body.first + r].xyz()) * body.mass[r];
  m.spin = sum_over_ranks(m.spin);
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
