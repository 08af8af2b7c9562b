// The C interface: winds, forces and anchors that last, dials that are held, and frames for other threads.
#include "c_parts.h"

namespace {

using namespace verve_c;

/// Elements of a kind that are gone, by their numbers.
const std::vector<int>& removed_of(const verve::RemovedElements& removed, int32_t kind) {
  if (kind == VERVE_TETRAHEDRA) return removed.tetrahedra;
  if (kind == VERVE_TRIANGLES) return removed.triangles;
  if (kind == VERVE_EDGES) return removed.edges;
  throw std::invalid_argument("verve_removed_elements: found kind " + std::to_string(kind) + ", expected 2 to 4");
}

/// The body that a piece of a scene names, for the reader, which wants it in the scene.
std::string body_in(const char* text) {
  const std::string all = text ? text : "";
  const size_t key = all.find("\"body\""), colon = all.find(':', key == std::string::npos ? all.size() : key);
  const size_t first = all.find('"', colon == std::string::npos ? all.size() : colon);
  const size_t last = all.find('"', first == std::string::npos ? all.size() : first + 1);
  return last == std::string::npos ? "body" : all.substr(first + 1, last - first - 1);
}

template <class Spec, class Add>
verve_status add(verve_simulation* simulation, const char* text, const char* function, const char* key,
                 std::vector<Spec> verve::Scene::* list, int32_t* id, Add&& add) {
  return on(simulation, [&](verve::Simulation& s) -> verve_status {
    if (!id) return fail(VERVE_MISUSE, std::string(function) + ": found null, expected a place for the id");
    const verve::Expected<Spec> spec = parsed(text, function, key, list, body_in(text));
    if (!spec) return refuse(spec.diagnostics());
    const auto added = add(s, *spec);
    if (!added) return refuse(added.diagnostics());
    report(added.diagnostics());
    *id = added->bits();
    return VERVE_OK;
  });
}

}  // namespace

extern "C" {

verve_status verve_make_factors(verve_simulation* simulation) {
  return on(simulation, [](verve::Simulation& s) { s.prepare(); });
}
verve_status verve_set_step(verve_simulation* simulation, double seconds) {
  return on(simulation, [&](verve::Simulation& s) { s.set_step(seconds); });
}
verve_status verve_set_iterations(verve_simulation* simulation, int32_t cap) {
  return on(simulation, [&](verve::Simulation& s) { s.set_iterations(cap); });
}
verve_status verve_set_time(verve_simulation* simulation, double time, int32_t frame) {
  return on(simulation, [&](verve::Simulation& s) { s.set_time(time, frame); });
}

verve_status verve_masses(const verve_simulation* simulation, double* out, size_t count) {
  return on(simulation, [&](const verve::Simulation& s) {
    const std::vector<double> masses = s.masses();
    require_room(out, count, masses.size());
    std::copy(masses.begin(), masses.end(), out);
  });
}
verve_status verve_removed_elements(const verve_simulation* simulation, int32_t body, int32_t kind, int32_t* out,
                                    size_t capacity, size_t* count) {
  return on(simulation, [&](const verve::Simulation& s) {
    const verve::RemovedElements removed = s.removed_elements(body);
    hand_over_numbers(removed_of(removed, kind), out, capacity, count);
  });
}
verve_status verve_island(const verve_simulation* simulation, int32_t body, int32_t* out, size_t capacity,
                          size_t* count) {
  return on(simulation, [&](const verve::Simulation& s) {
    std::vector<int32_t> ids;
    for (const verve::BodyId id : s.island(body)) ids.push_back(id.bits());
    hand_over_numbers(ids, out, capacity, count);
  });
}

verve_status verve_publish(verve_simulation* simulation, int32_t on_or_off) {
  return on(simulation, [&](verve::Simulation& s) { s.publish(on_or_off != 0); });
}
verve_status verve_published(const verve_simulation* simulation, double* positions, size_t count, size_t stride,
                             size_t* vertices, int32_t* frame, double* time) {
  return on(simulation, [&](const verve::Simulation& s) {
    const std::shared_ptr<const verve::PublishedFrame> last = s.published();
    if (!last) throw std::invalid_argument("verve_published: found no frame, expected verve_publish before");
    if (!positions && count > 0) throw std::invalid_argument("verve_published: found null, expected memory");
    if (stride == 0) stride = 3 * sizeof(double);
    if (stride < 3 * sizeof(double) || stride % sizeof(double) != 0)
      throw std::invalid_argument("verve_published: found a stride of " + std::to_string(stride) +
                                  " bytes, expected a multiple of 8, at least 24");
    for (size_t i = 0; i < std::min(count, last->positions.size()); ++i)
      set(reinterpret_cast<double*>(reinterpret_cast<char*>(positions) + i * stride), last->positions[i]);
    if (vertices) *vertices = last->positions.size();
    if (frame) *frame = last->frame;
    if (time) *time = last->time;
  });
}

verve_status verve_hold_energy(verve_simulation* simulation, int32_t body, const double* total) {
  return on(simulation, [&](verve::Simulation& s) {
    s.hold_energy(body, total ? std::optional<double>(*total) : std::nullopt);
  });
}
verve_status verve_hold_momentum(verve_simulation* simulation, int32_t body, const double* momentum) {
  return on(simulation, [&](verve::Simulation& s) {
    s.hold_momentum(body, momentum ? std::optional<Vec3>(vector(momentum, "momentum")) : std::nullopt);
  });
}
verve_status verve_hold_spin(verve_simulation* simulation, int32_t body, const double* spin) {
  return on(simulation, [&](verve::Simulation& s) {
    s.hold_spin(body, spin ? std::optional<Vec3>(vector(spin, "spin")) : std::nullopt);
  });
}
verve_status verve_add_force_to(verve_simulation* simulation, int32_t body, const double force[3],
                                const int32_t* vertices, size_t count) {
  return on(simulation, [&](verve::Simulation& s) {
    if (!vertices || count == 0) throw std::invalid_argument("verve_add_force_to: found no vertices, expected some");
    verve::Selection region;
    region.indices.assign(vertices, vertices + count);
    s.add_force(body, vector(force, "force"), region);
  });
}

int32_t verve_wind_count(const verve_simulation* s) { return s ? s->simulation.winds() : 0; }
int32_t verve_find_wind(const verve_simulation* s, const char* name) {
  return s && name ? s->simulation.find_wind(name).bits() : -1;
}
int32_t verve_has_wind(const verve_simulation* s, int32_t wind) { return s && s->simulation.has_wind(wind); }
verve_status verve_add_wind(verve_simulation* simulation, const char* specification, int32_t* wind) {
  return add(simulation, specification, "verve_add_wind", "winds", &verve::Scene::winds, wind,
             [](verve::Simulation& s, const verve::WindSpec& spec) { return s.add_wind(spec); });
}
verve_status verve_remove_wind(verve_simulation* simulation, int32_t wind) {
  return on(simulation, [&](verve::Simulation& s) { s.remove_wind(wind); });
}
verve_status verve_set_wind_velocity(verve_simulation* simulation, int32_t wind, const double velocity[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.set_wind(verve::WindId(wind), vector(velocity, "velocity")); });
}
int32_t verve_force_count(const verve_simulation* s) { return s ? s->simulation.forces() : 0; }
int32_t verve_has_force(const verve_simulation* s, int32_t force) { return s && s->simulation.has_force(force); }
verve_status verve_add_lasting_force(verve_simulation* simulation, const char* specification, int32_t* force) {
  return add(simulation, specification, "verve_add_lasting_force", "forces", &verve::Scene::forces, force,
             [](verve::Simulation& s, const verve::ForceSpec& spec) { return s.add_lasting_force(spec); });
}
verve_status verve_remove_force(verve_simulation* simulation, int32_t force) {
  return on(simulation, [&](verve::Simulation& s) { s.remove_force(force); });
}

int32_t verve_anchor_count(const verve_simulation* s) { return s ? s->simulation.anchors() : 0; }
int32_t verve_find_anchor(const verve_simulation* s, const char* name) {
  return s && name ? s->simulation.find_anchor(name).bits() : -1;
}
verve_status verve_add_anchor(verve_simulation* simulation, const char* specification, int32_t* anchor) {
  return add(simulation, specification, "verve_add_anchor", "anchors", &verve::Scene::anchors, anchor,
             [](verve::Simulation& s, const verve::AnchorSpec& spec) {
               return verve::Expected<verve::AnchorId>(s.add_anchor(spec));
             });
}
verve_status verve_set_anchor(verve_simulation* simulation, int32_t anchor, int32_t active) {
  return on(simulation, [&](verve::Simulation& s) { s.set_anchor(anchor, active != 0); });
}
int32_t verve_anchor_active(const verve_simulation* simulation, int32_t anchor) {
  int32_t active = 0;
  on(simulation, [&](const verve::Simulation& s) { active = s.anchor_active(anchor); });
  return active;
}

verve_status verve_snapshot_bytes(const verve_snapshot* snapshot, unsigned char* out, size_t capacity, size_t* size) {
  return guarded([&]() -> verve_status {
    if (!snapshot || !size || (!out && capacity > 0))
      return fail(VERVE_MISUSE, "verve_snapshot_bytes: found null, expected a snapshot, memory and a place for the size");
    const std::vector<unsigned char> bytes = snapshot->snapshot.bytes();
    *size = bytes.size();
    std::copy_n(bytes.begin(), std::min(capacity, bytes.size()), out);
    return VERVE_OK;
  });
}
verve_status verve_snapshot_from_bytes(const unsigned char* bytes, size_t size, verve_snapshot** out) {
  return guarded([&]() -> verve_status {
    if (!out || (!bytes && size > 0)) return fail(VERVE_MISUSE, "verve_snapshot_from_bytes: found null, expected bytes");
    *out = nullptr;
    const verve::Expected<verve::Snapshot> read =
        verve::Snapshot::from_bytes(std::vector<unsigned char>(bytes, bytes + size), "snapshot");
    if (!read) return refuse(read.diagnostics());
    *out = new verve_snapshot{*read};
    return VERVE_OK;
  });
}

}  // extern "C"
