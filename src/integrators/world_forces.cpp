// Forces of a frame, by calls and by a field. They act like a wind (wind.cpp): constant during a step, their work booked.
#include <algorithm>

#include "integrators/world.h"

namespace verve {

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
