// The C interface: bodies and colliders that come and go, forces, and what is asked of a running simulation.
#include "c_parts.h"

struct verve_prepared {
  std::optional<verve::PreparedBody> body;
};

namespace {

using namespace verve_c;
using verve::Vec3;

verve::Placing placing(const double* position, const double* rotation) {
  verve::Placing out;
  out.position = vector(position, "position");
  const bool given = rotation && (rotation[0] != 0 || rotation[1] != 0 || rotation[2] != 0 || rotation[3] != 0);
  if (given) out.rotation = {rotation[0], rotation[1], rotation[2], rotation[3]};
  return out;
}

/// A list of structures, of the size that the caller knows, as many as fit.
template <class T, class Items, class Fill>
void hand_over_all(const Items& items, T* out, size_t struct_size, size_t capacity, size_t* count, Fill&& fill) {
  if (!count || (!out && capacity > 0)) throw std::invalid_argument("found null, expected a list and its length");
  if (capacity > 0 && struct_size < sizeof(size_t))
    throw std::invalid_argument("found a structure of " + std::to_string(struct_size) + " bytes, expected sizeof it");
  *count = items.size();
  for (size_t i = 0; i < std::min(capacity, items.size()); ++i) {
    T full = with_size<T>();
    fill(items[i], full);
    full.struct_size = struct_size;
    std::memcpy(reinterpret_cast<char*>(out) + i * struct_size, &full, std::min(struct_size, sizeof full));
  }
}

void hand_over_ids(const std::vector<verve::BodyId>& ids, int32_t* out, size_t capacity, size_t* count) {
  if (!count || (!out && capacity > 0)) throw std::invalid_argument("found null, expected a list and its length");
  *count = ids.size();
  for (size_t i = 0; i < std::min(capacity, ids.size()); ++i) out[i] = ids[i].bits();
}

void hand_over_hit(const verve::SurfacePoint* found, int32_t collider, verve_hit* out) {
  if (!out) throw std::invalid_argument("found null, expected a place for the hit");
  verve_hit full = verve_default_hit();
  if (found) {
    full.body = found->body.bits(), full.collider = collider, full.tetrahedron = found->tetrahedron;
    std::copy(found->vertices.begin(), found->vertices.end(), full.vertices);
    std::copy(found->weights.begin(), found->weights.end(), full.weights);
    set(full.point, found->point), set(full.normal, found->normal);
    full.distance = found->distance;
  }
  hand_over(full, out);
}

}  // namespace

extern "C" {

verve_spawn verve_default_spawn(void) {
  verve_spawn out = with_size<verve_spawn>();
  out.rotation[3] = 1;
  return out;
}
verve_hit verve_default_hit(void) {
  verve_hit out = with_size<verve_hit>();
  out.body = out.collider = out.tetrahedron = out.vertices[0] = out.vertices[1] = out.vertices[2] = -1;
  return out;
}

int32_t verve_has_body(const verve_simulation* s, int32_t body) { return has_body(s, body); }
int32_t verve_body_id(const verve_simulation* s, int32_t body) {
  return has_body(s, body) ? s->simulation.body_id(verve::BodyId(body)).bits() : -1;
}

verve_status verve_prepare(const verve_simulation* simulation, const char* body, verve_prepared** out) {
  return on(simulation, [&](const verve::Simulation& s) -> verve_status {
    if (!out) return fail(VERVE_MISUSE, "verve_prepare: found null, expected a place for the body");
    *out = nullptr;
    const std::string text = std::string("{\"version\": 1, \"bodies\": [") + required(body, "verve_prepare") + "]}";
    const verve::Expected<verve::Scene> read = verve::parse_scene(text, "body");
    if (!read) return refuse(read.diagnostics());
    verve::Expected<verve::PreparedBody> made = s.prepare(read->bodies.at(0));
    if (!made) return refuse(made.diagnostics());
    report(made.diagnostics());
    *out = new verve_prepared{std::move(*made)};
    return VERVE_OK;
  });
}
void verve_destroy_prepared(verve_prepared* prepared) { delete prepared; }

verve_status verve_add_body(verve_simulation* simulation, verve_prepared* prepared, const verve_spawn* spawn,
                            int32_t* body) {
  return on(simulation, [&](verve::Simulation& s) {
    if (!prepared || !body)
      throw std::invalid_argument("verve_add_body: found null, expected a prepared body and a place for its id");
    const verve_spawn given = taken(spawn, verve_default_spawn());
    verve::Spawn at;
    if (given.name) at.name = given.name;
    at.place = placing(given.position, given.rotation);
    at.velocity = vector(given.velocity, "velocity");
    at.angular_velocity = vector(given.angular_velocity, "angular_velocity");
    if (!prepared->body)
      throw std::invalid_argument("verve_add_body: found a body that was added already, expected another one");
    *body = s.add_body(std::move(*prepared->body), at).bits();
    prepared->body.reset();
  });
}
verve_status verve_remove_body(verve_simulation* simulation, int32_t body) {
  return on(simulation, [&](verve::Simulation& s) { s.remove_body(body); });
}

int32_t verve_collider_count(const verve_simulation* s) { return s ? s->simulation.colliders() : 0; }
int32_t verve_find_collider(const verve_simulation* s, const char* name) {
  return s && name ? s->simulation.find_collider(name).bits() : -1;
}
int32_t verve_has_collider(const verve_simulation* s, int32_t collider) {
  return s && s->simulation.has_collider(collider);
}
verve_status verve_add_collider(verve_simulation* simulation, const char* specification, int32_t* collider) {
  return on(simulation, [&](verve::Simulation& s) -> verve_status {
    if (!collider) return fail(VERVE_MISUSE, "verve_add_collider: found null, expected a place for the id");
    const auto read = parsed(specification, "verve_add_collider", "colliders", &verve::Scene::colliders, "body");
    if (!read) return refuse(read.diagnostics());
    const verve::Expected<verve::ColliderId> added = s.add_collider(*read);
    if (!added) return refuse(added.diagnostics());
    report(added.diagnostics());
    *collider = added->bits();
    return VERVE_OK;
  });
}
verve_status verve_remove_collider(verve_simulation* simulation, int32_t collider) {
  return on(simulation, [&](verve::Simulation& s) { s.remove_collider(collider); });
}
verve_status verve_move_collider(verve_simulation* simulation, int32_t collider, const double position[3],
                                 const double* rotation) {
  return on(simulation, [&](verve::Simulation& s) { s.move_collider(collider, placing(position, rotation)); });
}
verve_status verve_place_collider(verve_simulation* simulation, int32_t collider, const double position[3],
                                  const double* rotation) {
  return on(simulation, [&](verve::Simulation& s) { s.place_collider(collider, placing(position, rotation)); });
}
verve_status verve_collider_placing(const verve_simulation* simulation, int32_t collider, double position[3],
                                    double rotation[4]) {
  return on(simulation, [&](const verve::Simulation& s) {
    const verve::Placing now = s.collider_placing(collider);
    if (position) set(position, now.position);
    const verve::Quaternion& q = now.rotation;
    if (rotation) rotation[0] = q.x, rotation[1] = q.y, rotation[2] = q.z, rotation[3] = q.w;
  });
}
verve_status verve_set_collider(verve_simulation* simulation, int32_t collider, int32_t active) {
  return on(simulation, [&](verve::Simulation& s) { s.set_collider(collider, active != 0); });
}

verve_status verve_set_velocity(verve_simulation* simulation, int32_t body, const double velocity[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.set_velocity(body, vector(velocity, "velocity")); });
}
verve_status verve_set_angular_velocity(verve_simulation* simulation, int32_t body, const double velocity[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.set_angular_velocity(body, vector(velocity, "velocity")); });
}
verve_status verve_add_force(verve_simulation* simulation, int32_t body, const double force[3], const double* point,
                             double radius) {
  return on(simulation, [&](verve::Simulation& s) {
    std::optional<Vec3> at;
    if (point) at = vector(point, "point");
    s.add_force(body, vector(force, "force"), at, radius);
  });
}
verve_status verve_add_torque(verve_simulation* simulation, int32_t body, const double torque[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.add_torque(body, vector(torque, "torque")); });
}
verve_status verve_add_forces(verve_simulation* simulation, int32_t body, const double* forces, size_t count) {
  return on(simulation, [&](verve::Simulation& s) {
    if (!forces) throw std::invalid_argument("verve_add_forces: found null, expected three numbers per vertex");
    std::vector<Vec3> rows(count);
    for (size_t i = 0; i < count; ++i) rows[i] = {forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]};
    s.add_forces(body, rows);
  });
}
verve_status verve_set_field(verve_simulation* simulation, verve_field field, void* user) {
  return on(simulation, [&](verve::Simulation& s) {
    static_assert(sizeof(Vec3) == 3 * sizeof(double));
    if (!field) return s.set_field({});
    s.set_field([field, user](const verve::FieldSample& sample) {
      if (field(user, sample.body.bits(), sample.time, sample.step, sample.positions.size(), &sample.positions[0].x,
                &sample.velocities[0].x, sample.masses.data(), &sample.forces[0].x) != 0)
        throw std::runtime_error("the field has ended the step");
    });
  });
}

verve_status verve_cast_ray(const verve_simulation* simulation, const double origin[3], const double direction[3],
                            double longest, verve_hit* out) {
  return on(simulation, [&](const verve::Simulation& s) {
    const auto hit = s.cast_ray(vector(origin, "origin"), vector(direction, "direction"), longest);
    hand_over_hit(hit ? &*hit : nullptr, hit ? hit->collider.bits() : -1, out);
  });
}
verve_status verve_closest_point(const verve_simulation* simulation, const double point[3], double farthest,
                                 int32_t body, verve_hit* out) {
  return on(simulation, [&](const verve::Simulation& s) {
    const auto found = s.closest_point(vector(point, "point"), farthest, body);
    hand_over_hit(found ? &*found : nullptr, -1, out);
  });
}
verve_status verve_overlap_ball(const verve_simulation* simulation, const double center[3], double radius, int32_t* out,
                                size_t capacity, size_t* count) {
  return on(simulation, [&](const verve::Simulation& s) {
    hand_over_ids(s.overlap_ball(vector(center, "center"), radius), out, capacity, count);
  });
}
verve_status verve_overlap_box(const verve_simulation* simulation, const double low[3], const double high[3],
                               int32_t* out, size_t capacity, size_t* count) {
  return on(simulation, [&](const verve::Simulation& s) {
    hand_over_ids(s.overlap_box(vector(low, "low"), vector(high, "high")), out, capacity, count);
  });
}

verve_status verve_contacts(const verve_simulation* simulation, verve_contact* out, size_t struct_size,
                            size_t capacity, size_t* count) {
  return on(simulation, [&](const verve::Simulation& s) {
    hand_over_all(s.contacts(), out, struct_size, capacity, count, [](const verve::Contact& c, verve_contact& full) {
      full.body = c.body.bits(), full.other = c.other.bits(), full.collider = c.collider.bits();
      set(full.point, c.point), set(full.normal, c.normal);
      full.force = c.force, full.impulse = c.impulse, full.friction_loss = c.friction_loss;
    });
  });
}
verve_status verve_events(const verve_simulation* simulation, verve_event* out, size_t struct_size, size_t capacity,
                          size_t* count) {
  return on(simulation, [&](const verve::Simulation& s) {
    hand_over_all(s.events(), out, struct_size, capacity, count, [](const verve::Event& e, verve_event& full) {
      full.kind = int32_t(e.kind), full.torn = e.torn;
      full.body = e.body.bits(), full.other = e.other.bits(), full.collider = e.collider.bits();
    });
  });
}

verve_status verve_body_positions_float(const verve_simulation* simulation, int32_t body, float* out, size_t count,
                                        size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) {
    write(s.mesh(body).vertices.size(), out, count, [&] { s.read_positions(body, out, stride); });
  });
}
verve_status verve_body_normals_float(const verve_simulation* simulation, int32_t body, float* out, size_t count,
                                      size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) {
    write(s.mesh(body).vertices.size(), out, count, [&] { s.read_normals(body, out, stride); });
  });
}
verve_status verve_embedded_positions_float(const verve_simulation* simulation, int32_t body, float* out, size_t count,
                                            size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) {
    write(size_t(verve_embedded_count(simulation, body)), out, count,
          [&] { s.read_embedded_positions(body, out, stride); });
  });
}
verve_status verve_embedded_normals_float(const verve_simulation* simulation, int32_t body, float* out, size_t count,
                                          size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) {
    write(size_t(verve_embedded_count(simulation, body)), out, count,
          [&] { s.read_embedded_normals(body, out, stride); });
  });
}

verve_status verve_clone(const verve_simulation* simulation, verve_simulation** out) {
  return on(simulation, [&](const verve::Simulation& s) {
    if (!out) throw std::invalid_argument("verve_clone: found null, expected a place for the simulation");
    *out = nullptr;
    *out = new verve_simulation{s.clone(), {}};
  });
}

}  // extern "C"
