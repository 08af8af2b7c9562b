// Winds, forces that last and those of the coming frame, and velocities in the units that people think in.
#include "integrators/simulation_impl.h"

namespace verve {

void Simulation::add_force(BodyId id, const Vec3& force, const std::optional<Vec3>& point, double radius) {
  World& w = impl_->world;
  const int b = impl_->body("add_force", id);
  require_finite("add_force", force);
  if (point) require_finite("add_force", *point);
  require(radius >= 0 && std::isfinite(radius), "add_force: expected a radius >= 0");
  const Vec3 center = w.impulse_on(b).center();
  if (!point || radius == 0) return w.apply_rigid(b, force, point ? cross(*point - center, force) : Vec3{});
  // the shares of RigidImpulse::impulse
  const Body& body = w.model.bodies[b];
  std::vector<double> share(body.count);
  double sum = 0;
  int nearest = -1;
  for (int r = 0; r < body.count; ++r) {
    const Vec3 d = w.state.x[body.first + r].xyz() - *point;
    const double q = 1 - dot(d, d) / (radius * radius);
    if (q > 0) sum += share[r] = body.mass[r] * q * q;
    const auto square = [&](int i) {
      const Vec3 e = w.state.x[body.first + i].xyz() - *point;
      return dot(e, e);
    };
    if (body.mass[r] > 0 && (nearest < 0 || square(r) < square(nearest))) nearest = r;
  }
  if (!(sum > 0)) share[nearest] = sum = 1;
  Vec4* const out = w.applied_on(b);
  for (int r = 0; r < body.count; ++r) out[r] += Vec4(force * (share[r] / sum));
}

void Simulation::add_force(BodyId id, const Vec3& force, const Selection& region) {
  World& w = impl_->world;
  const int b = impl_->body("add_force", id);
  require_finite("add_force", force);
  Diagnostics problems;
  ForceSpec spec;
  spec.body = w.model.bodies[b].name, spec.vertices = region, spec.force = force;
  const ConstantForce shares = compile_force(spec, w.model, "add_force", problems);
  require(!problems.has_errors(), problems.text());
  Vec4* const out = w.applied_on(b);
  for (size_t i = 0; i < shares.rows.size(); ++i) out[shares.rows[i]] += Vec4(force * shares.share[i]);
}

void Simulation::add_forces(BodyId id, std::span<const Vec3> per_vertex) {
  World& w = impl_->world;
  const int b = impl_->body("add_forces", id);
  const Body& body = w.model.bodies[b];
  require(int(per_vertex.size()) == body.count, "add_forces: found " + std::to_string(per_vertex.size()) +
                                                    " forces, expected " + std::to_string(body.count) +
                                                    " (one per vertex of the body)");
  for (const Vec3& f : per_vertex) require_finite("add_forces", f);
  Vec4* const out = w.applied_on(b);
  for (int r = 0; r < body.count; ++r) out[r] += Vec4(per_vertex[body.vertex_of_row[r]]);
}

void Simulation::add_torque(BodyId id, const Vec3& torque) {
  require_finite("add_torque", torque);
  impl_->world.apply_rigid(impl_->body("add_torque", id), {}, torque);
}

void Simulation::set_field(ForceField field) {
  if (field) impl_->world.expect_forces();
  impl_->world.field = std::move(field);
}

int Simulation::winds() const { return int(impl_->world.state.winds.size()); }
int Simulation::forces() const { return int(impl_->world.state.forces.size()); }

namespace {

template <class Of, class Places>
bool has(Id<Of> id, const Places& places) {
  if (id < 0 || id >= int(places.size()) || places[id].removed) return false;
  return id.generation() == 0 || id.generation() == places[id].generation;
}

}  // namespace

bool Simulation::has_wind(WindId wind) const { return has(wind, impl_->world.state.winds); }
bool Simulation::has_force(ForceId force) const { return has(force, impl_->world.state.forces); }

WindId Simulation::find_wind(std::string_view name) const {
  for (int w = 0; w < winds(); ++w)
    if (has_wind(w) && scene().winds[w].name == name) return {w, impl_->world.state.winds[w].generation};
  return -1;
}

Expected<WindId> Simulation::add_wind(const WindSpec& spec) {
  World& w = impl_->world;
  Scene with = w.present_scene();
  const std::string where = "winds[" + std::to_string(with.winds.size()) + "]";
  with.winds.push_back(spec);
  Diagnostics problems = check_scene(with);
  if (!problems.has_errors()) compile_wind(spec, w.model, where, problems);
  if (problems.has_errors()) return problems;
  return {w.add_wind(spec), problems};
}

void Simulation::remove_wind(WindId wind) { impl_->world.remove_wind(impl_->wind("remove_wind", wind)); }

void Simulation::set_wind(WindId wind, const Vec3& velocity) {
  require_finite("set_wind", velocity);
  impl_->world.state.winds[impl_->wind("set_wind", wind)].velocity = velocity;
}

Expected<ForceId> Simulation::add_lasting_force(const ForceSpec& spec) {
  World& w = impl_->world;
  Scene with = w.present_scene();
  const std::string where = "forces[" + std::to_string(with.forces.size()) + "]";
  with.forces.push_back(spec);
  Diagnostics problems = check_scene(with);
  ConstantForce force;
  if (!problems.has_errors()) force = compile_force(spec, w.model, where, problems);
  if (problems.has_errors()) return problems;
  return {w.add_force(spec, std::move(force)), problems};
}

void Simulation::remove_force(ForceId force) { impl_->world.remove_force(impl_->force("remove_force", force)); }

void Simulation::set_velocity(BodyId id, const Vec3& velocity) {
  const int b = impl_->body("set_velocity", id);
  set_momentum(b, velocity * impl_->world.model.bodies[b].total_mass);
}

void Simulation::set_angular_velocity(BodyId id, const Vec3& velocity) {
  const int b = impl_->body("set_angular_velocity", id);
  require_finite("set_angular_velocity", velocity);
  set_spin(b, impl_->world.impulse_on(b).inertia() * velocity);
}

}  // namespace verve
