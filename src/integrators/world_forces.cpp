// Winds and forces that come and go, and forces of a frame, by calls and by a field: these act like a wind (wind.cpp),
// constant during a step, their work booked.
#include <algorithm>

#include "integrators/world.h"

namespace verve {

namespace {

/// A place that nobody has, or one more.
template <class Places, class Generations>
int free_place(Places& places, const Generations& generations) {
  size_t k = 0;
  while (k < places.size() && !(places[k].removed && generations.has_next(int(k)))) ++k;
  if (k == places.size()) places.emplace_back();
  return int(k);
}

}  // namespace

/// What is remembered of the motion belongs to other forces.
void World::forces_on_changed(int body) {
  for (const int member : islands_.of(body).bodies()) state.ledger[member].history = false;
  state.energy_changed(body);
}

/// The triangles that are left of the body.
WindSurface World::wind_surface_of(const WindSpec& spec) const {
  Diagnostics none;  // it was compiled before
  WindSurface out = compile_wind(spec, model, "", none);
  if (out.body >= 0 && model.bodies[out.body].tearing)
    out = make_wind_surface(out.body, model.bodies[out.body],
                            model.bodies[out.body].tearing->surface(state.gone[out.body]));
  return out;
}

WindId World::add_wind(const WindSpec& spec) {
  expect_forces();
  const int w = free_place(state.winds, wind_generations_);
  scene.winds.resize(state.winds.size()), matter.wind_surfaces.resize(state.winds.size());
  scene.winds[w] = spec, matter.wind_surfaces[w] = wind_surface_of(spec);
  state.winds[w] = {};
  state.winds[w].added = std::make_shared<const WindSpec>(spec), state.winds[w].generation = wind_generations_.next(w);
  forces_on_changed(matter.wind_surfaces[w].body);
  return {w, state.winds[w].generation};
}

void World::remove_wind(int w) {
  const int body = matter.wind_surfaces[w].body;
  if (has_body(body)) forces_on_changed(body);
  state.winds[w].removed = true, state.winds[w].velocity.reset();
  scene.winds[w] = WindSpec{}, matter.wind_surfaces[w] = WindSurface{};
}

ForceId World::add_force(const ForceSpec& spec, ConstantForce force) {
  const int f = free_place(state.forces, force_generations_);
  scene.forces.resize(state.forces.size()), model.forces.resize(state.forces.size());
  scene.forces[f] = spec, model.forces[f] = std::move(force);
  state.forces[f] = {};
  state.forces[f].added = std::make_shared<const ForceSpec>(spec);
  state.forces[f].generation = force_generations_.next(f);
  return {f, state.forces[f].generation};
}

/// It acts no more from the coming frame on (update_forces).
void World::remove_force(int f) {
  if (state.forces[f].active) forces_on_changed(model.forces[f].body);
  state.forces[f].removed = true, state.forces[f].active = false;
  scene.forces[f] = ForceSpec{}, model.forces[f] = ConstantForce{};
}

/// Winds and forces as in another state, on bodies as they are there.
void World::restore_forces(const State& from, const State& to, bool other_bodies) {
  scene.winds.resize(to.winds.size()), matter.wind_surfaces.resize(to.winds.size());
  for (size_t w = 0; w < to.winds.size(); ++w) {
    if (!other_bodies && w < from.winds.size() && to.winds[w].same_occupant(from.winds[w])) continue;
    scene.winds[w] = to.winds[w].removed ? WindSpec{} : to.winds[w].added ? *to.winds[w].added : given_winds_[w];
    matter.wind_surfaces[w] = wind_surface_of(scene.winds[w]);
  }
  scene.forces.resize(to.forces.size()), model.forces.resize(to.forces.size());
  Diagnostics none;
  for (size_t f = 0; f < to.forces.size(); ++f) {
    if (!other_bodies && f < from.forces.size() && to.forces[f].same_occupant(from.forces[f])) continue;
    scene.forces[f] = to.forces[f].removed ? ForceSpec{} : to.forces[f].added ? *to.forces[f].added : given_forces_[f];
    model.forces[f] = compile_force(scene.forces[f], model, "", none);
  }
}

/// Acceleration changes from step to step from now on: integrators with rates are told what it was (Motion).
void World::expect_forces() {
  if (!state.acceleration.empty()) return;
  state.acceleration.assign(model.rows, Vec4());
  for (Island* island : islands_)
    for (size_t k = 0; k < island->bodies().size(); ++k)
      std::copy_n(island->forcing.acceleration.begin() + island->offset(int(k)), island->body(int(k)).count,
                  state.acceleration.begin() + island->body(int(k)).first);
}

Vec4* World::applied_on(int b) {
  expect_forces();
  state.applied.resize(model.rows);
  state.ledger[b].applied = true;
  return state.applied.data() + model.bodies[b].first;
}

/// Of least energy among those with this sum and this torque about the centre of mass: as on a rigid body.
void World::apply_rigid(int b, const Vec3& force, const Vec3& torque) {
  const Body& body = model.bodies[b];
  Vec4* const out = applied_on(b);
  const RigidImpulse whole = impulse_on(b);
  const Vec3 center = whole.center(), turn = pseudo_inverse(whole.inertia(), 1e-10) * torque;
  for (int r = 0; r < body.count; ++r) {
    const Vec3 arm = state.x[body.first + r].xyz() - center;
    out[r] += Vec4((force / body.total_mass + cross(turn, arm)) * body.mass[r]);
  }
}

/// Something beside a potential and gravity acts on it, or may.
bool World::is_pushed(const Island& island) const {
  if (field || in_wind(island)) return true;
  return std::any_of(island.bodies().begin(), island.bodies().end(), [&](int b) { return state.ledger[b].applied; });
}

/// What was applied to an island and what the field does to it in the coming step.
void World::add_applied(Island& island, double time, double h) {
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k], to = island.offset(int(k));
    const Body& body = model.bodies[b];
    for (int r = 0; state.ledger[b].applied && r < body.count; ++r)
      if (body.mass[r] > 0) island.forcing.force[to + r] += state.applied[body.first + r];
    if (!field) continue;
    for (auto* rows : {&field_x_, &field_v_, &field_f_}) rows->assign(body.count, Vec3{});
    field_mass_.resize(body.count);
    for (int r = 0; r < body.count; ++r) {
      const int v = body.vertex_of_row[r];
      field_x_[v] = island.motion.x[to + r].xyz(), field_v_[v] = island.motion.v[to + r].xyz();
      field_mass_[v] = body.mass[r];
    }
    field({{b, state.bodies[b].generation}, time, h, field_x_, field_v_, field_mass_, field_f_});
    for (int r = 0; r < body.count; ++r)
      if (body.mass[r] > 0) island.forcing.force[to + r] += Vec4(field_f_[body.vertex_of_row[r]]);
  }
}

/// They were for this frame.
void World::end_applied() {
  if (state.applied.empty()) return;
  state.applied.clear();
  for (BodyLedger& ledger : state.ledger) ledger.applied = false;
}

}  // namespace verve
