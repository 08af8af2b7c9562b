// The C interface (include/verve/c.h): every function checks what it is given, calls the library, and lets no exception
// out.

#include <string>
#include <vector>

#include "c_parts.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"
#include "verve/version.h"

namespace {

using namespace verve_c;
using verve::Vec3;

/// The vertices of a body's elements of a kind, one element after another.
std::vector<int32_t> elements_of(const verve::Simulation& s, int32_t body, int32_t kind) {
  const verve::Mesh& mesh = s.mesh(body);
  std::vector<int32_t> out;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  };
  if (kind == VERVE_TETRAHEDRA) add(mesh.tetrahedra);
  else if (kind == VERVE_TRIANGLES) add(mesh.triangles);
  else if (kind == VERVE_EDGES) add(mesh.edges);
  else if (kind == VERVE_SURFACE) add(verve::surface(mesh));
  else throw std::invalid_argument("found elements of kind " + std::to_string(kind) + ", expected 1 to 4");
  return out;
}

/// Of the caller's threads.
verve::TaskRunner tasks_of(const verve_options& options) {
  if (!options.run_tasks) return {};
  return [run = options.run_tasks, user = options.user](int count, const std::function<void(int)>& task) {
    run(user, count, [](void* context, int32_t index) { (*static_cast<const std::function<void(int)>*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&task)));
  };
}

int32_t per_element(int32_t kind) { return kind == VERVE_SURFACE ? 3 : kind; }

}  // namespace

extern "C" {

const char* verve_version(void) { return VERVE_VERSION; }
const char* verve_last_error(void) { return last_error.c_str(); }

verve_options verve_default_options(void) { return with_size<verve_options>(); }
verve_report verve_default_report(void) { return with_size<verve_report>(); }
verve_measures verve_default_measures(void) { return with_size<verve_measures>(); }

verve_status verve_create(const char* scene, const verve_options* options, verve_simulation** out) {
  return guarded([&]() -> verve_status {
    if (!out) return fail(VERVE_MISUSE, "verve_create: found null, expected a place for the simulation");
    *out = nullptr;
    verve_options given = verve_default_options();
    if (options) {
      std::memcpy(&given, options, std::min(options->struct_size, sizeof given));
    }
    const std::string text = required(scene, "verve_create");
    const bool is_text = text.find_first_not_of(" \t\r\n") != std::string::npos &&
                         text[text.find_first_not_of(" \t\r\n")] == '{';
    const verve::Expected<verve::Scene> read =
        is_text ? verve::parse_scene(text, given.origin ? given.origin : "scene") : verve::read_scene(text);
    if (!read) return refuse(read.diagnostics());
    if (given.threads < 0 || given.threads > verve::most_threads)
      return fail(VERVE_MISUSE, "verve_create: found " + std::to_string(given.threads) + " threads, expected 0 to " +
                                    std::to_string(verve::most_threads));
    verve::Expected<verve::Simulation> made = verve::Simulation::create(*read, {.threads = given.threads, .tasks = tasks_of(given)});
    if (!made) return refuse(made.diagnostics());
    report(made.diagnostics());
    *out = new verve_simulation{std::move(*made), {}};
    return VERVE_OK;
  });
}

void verve_destroy(verve_simulation* simulation) { delete simulation; }

const char* verve_scene_json(verve_simulation* simulation) {
  const verve_status status =
      on(simulation, [&](verve::Simulation& s) { simulation->text = verve::write_scene(s.present_scene()); });
  return status == VERVE_OK ? simulation->text.c_str() : nullptr;
}

verve_status verve_step(verve_simulation* simulation, verve_report* report) {
  return on(simulation, [&](verve::Simulation& s) -> verve_status {
    const verve::StepReport done = s.step();
    if (report) {
      verve_report full = verve_default_report();
      full.iterations = done.iterations, full.substeps = done.substeps;
      full.error_p = done.error_p, full.error_l = done.error_l, full.error_h = done.error_h;
      full.multiplier = done.multiplier, full.milliseconds = done.milliseconds, full.work = done.work;
      full.torn = done.torn;
      hand_over(full, report);
    }
    return done ? VERVE_OK : fail(VERVE_STEP_FAILED, done.message);
  });
}

verve_status verve_reset(verve_simulation* simulation) {
  return on(simulation, [](verve::Simulation& s) { s.reset(); });
}

int32_t verve_frame(const verve_simulation* s) { return s ? s->simulation.frame() : 0; }
double verve_time(const verve_simulation* s) { return s ? s->simulation.time() : 0; }
uint64_t verve_state_hash(const verve_simulation* s) { return s ? s->simulation.state_hash() : 0; }
int32_t verve_body_count(const verve_simulation* s) { return s ? s->simulation.bodies() : 0; }
int32_t verve_find_body(const verve_simulation* s, const char* name) {
  return s && name ? s->simulation.find_body(name).number() : -1;
}
const char* verve_body_name(const verve_simulation* s, int32_t body) {
  return has_body(s, body) ? s->simulation.body_name(body).c_str() : nullptr;
}
int32_t verve_vertex_count(const verve_simulation* s) { return s ? s->simulation.vertices() : 0; }
int32_t verve_first_vertex(const verve_simulation* s, int32_t body) {
  return has_body(s, body) ? s->simulation.first_vertex(body) : -1;
}

int32_t verve_element_count(const verve_simulation* simulation, int32_t body, int32_t kind) {
  int32_t count = 0;
  const verve_status status = on(simulation, [&](const verve::Simulation& s) {
    count = int32_t(elements_of(s, body, kind).size()) / per_element(kind);
  });
  return status == VERVE_OK ? count : 0;
}

verve_status verve_elements(const verve_simulation* simulation, int32_t body, int32_t kind, int32_t* out,
                            size_t capacity) {
  return on(simulation, [&](const verve::Simulation& s) {
    const std::vector<int32_t> all = elements_of(s, body, kind);
    if (capacity < all.size() || (!out && !all.empty()))
      throw std::invalid_argument("verve_elements: found room for " + std::to_string(out ? capacity : 0) +
                                  " numbers, expected " + std::to_string(all.size()));
    std::copy(all.begin(), all.end(), out);
  });
}

verve_status verve_positions(const verve_simulation* simulation, double* out, size_t count, size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) { write(size_t(s.vertices()), out, count, [&] { s.read_positions(out, stride); }); });
}
verve_status verve_positions_float(const verve_simulation* simulation, float* out, size_t count, size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) { write(size_t(s.vertices()), out, count, [&] { s.read_positions(out, stride); }); });
}
verve_status verve_velocities(const verve_simulation* simulation, double* out, size_t count, size_t stride) {
  return on(simulation, [&](const verve::Simulation& s) { write(size_t(s.vertices()), out, count, [&] { s.read_velocities(out, stride); }); });
}

int32_t verve_embedded_count(const verve_simulation* s, int32_t body) {
  const verve::Mesh* const mesh = has_body(s, body) ? s->simulation.embedded_mesh(body) : nullptr;
  return mesh ? int32_t(mesh->vertices.size()) : 0;
}
verve_status verve_embedded_positions(const verve_simulation* simulation, int32_t body, double* out, size_t count,
                                      size_t stride) {
  return on(simulation,
            [&](const verve::Simulation& s) { write(size_t(verve_embedded_count(simulation, body)), out, count,
                  [&] { s.read_embedded_positions(body, out, stride); }); });
}

verve_status verve_set_state(verve_simulation* simulation, const double* positions, const double* velocities,
                             size_t count) {
  return on(simulation, [&](verve::Simulation& s) {
    if (!positions || !velocities) throw std::invalid_argument("verve_set_state: found null, expected vectors");
    const auto rows = [&](const double* numbers) {
      std::vector<Vec3> out(count);
      for (size_t i = 0; i < count; ++i) out[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
      return out;
    };
    s.set_state(rows(positions), rows(velocities));
  });
}

verve_status verve_measure(const verve_simulation* simulation, int32_t body, verve_measures* out) {
  return on(simulation, [&](const verve::Simulation& s) {
    if (!out) throw std::invalid_argument("verve_measure: found null, expected a place for the measures");
    const verve::Measures m = body < 0 ? s.measure() : s.measure(body);
    verve_measures full = verve_default_measures();
    full.mass = m.mass;
    set(full.momentum, m.momentum), set(full.angular_momentum, m.angular_momentum), set(full.spin, m.spin);
    set(full.center, m.center);
    full.kinetic = m.kinetic, full.elastic = m.elastic, full.contact = m.contact, full.external = m.external;
    full.total = m.total, full.target_total = m.target_total;
    full.booked_loss = m.booked_loss, full.work = m.work, full.heat = m.heat, full.owed = m.owed;
    hand_over(full, out);
  });
}

verve_status verve_set_energy(verve_simulation* simulation, int32_t body, double total) {
  return on(simulation, [&](verve::Simulation& s) { s.set_energy(body, total); });
}
verve_status verve_set_momentum(verve_simulation* simulation, int32_t body, const double momentum[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.set_momentum(body, vector(momentum, "momentum")); });
}
verve_status verve_set_spin(verve_simulation* simulation, int32_t body, const double spin[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.set_spin(body, vector(spin, "spin")); });
}
verve_status verve_set_half_life(verve_simulation* simulation, int32_t body, double seconds) {
  return on(simulation, [&](verve::Simulation& s) { s.set_half_life(body, seconds); });
}
verve_status verve_set_gravity(verve_simulation* simulation, const double gravity[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.set_gravity(vector(gravity, "gravity")); });
}
verve_status verve_set_friction(verve_simulation* simulation, double coefficient) {
  return on(simulation, [&](verve::Simulation& s) { s.set_friction(coefficient); });
}
verve_status verve_set_budget(verve_simulation* simulation, double milliseconds) {
  return on(simulation, [&](verve::Simulation& s) { s.set_budget(milliseconds); });
}
verve_status verve_set_wind(verve_simulation* simulation, const char* wind, const double velocity[3]) {
  return on(simulation, [&](verve::Simulation& s) {
    s.set_wind(s.find_wind(required(wind, "wind")), vector(velocity, "velocity"));
  });
}
verve_status verve_set_parameter(verve_simulation* simulation, int32_t body, int32_t potential, const char* name,
                                 double value) {
  return on(simulation,
            [&](verve::Simulation& s) { s.set_parameter(body, potential, required(name, "parameter"), value); });
}
verve_status verve_add_impulse(verve_simulation* simulation, int32_t body, const double impulse[3],
                               const double point[3], double radius) {
  return on(simulation, [&](verve::Simulation& s) {
    s.add_impulse(body, vector(impulse, "impulse"), vector(point, "point"), radius);
  });
}

verve_status verve_pin(verve_simulation* simulation, int32_t body, const int32_t* vertices, size_t count,
                       double stiffness, int32_t hard, int32_t* anchor) {
  return on(simulation, [&](verve::Simulation& s) {
    if (!vertices || !anchor) throw std::invalid_argument("verve_pin: found null, expected vertices and a place");
    verve::AnchorSpec spec;
    spec.body = s.body_name(body);
    spec.vertices.indices.assign(vertices, vertices + count);
    spec.stiffness = stiffness, spec.hard = hard != 0;
    *anchor = s.add_anchor(spec).bits();
  });
}
verve_status verve_move_anchor(verve_simulation* simulation, int32_t anchor, const double displacement[3]) {
  return on(simulation, [&](verve::Simulation& s) { s.move_anchor(anchor, vector(displacement, "displacement")); });
}
verve_status verve_unpin(verve_simulation* simulation, int32_t anchor) {
  return on(simulation, [&](verve::Simulation& s) { s.remove_anchor(anchor); });
}

verve_status verve_save(const verve_simulation* simulation, verve_snapshot** out) {
  return on(simulation, [&](const verve::Simulation& s) {
    if (!out) throw std::invalid_argument("verve_save: found null, expected a place for the snapshot");
    *out = new verve_snapshot{s.save()};
  });
}
verve_status verve_restore(verve_simulation* simulation, const verve_snapshot* snapshot) {
  return on(simulation, [&](verve::Simulation& s) -> verve_status {
    if (!snapshot) return fail(VERVE_MISUSE, "verve_restore: found null, expected a snapshot");
    const verve::Diagnostics problems = s.restore(snapshot->snapshot);
    return problems.has_errors() ? refuse(problems) : VERVE_OK;
  });
}
verve_status verve_write_snapshot(const verve_snapshot* snapshot, const char* path) {
  return guarded([&]() -> verve_status {
    if (!snapshot) return fail(VERVE_MISUSE, "verve_write_snapshot: found null, expected a snapshot");
    const verve::Diagnostics problems = verve::write_snapshot(required(path, "path"), snapshot->snapshot);
    return problems.has_errors() ? refuse(problems) : VERVE_OK;
  });
}
verve_status verve_read_snapshot(const char* path, verve_snapshot** out) {
  return guarded([&]() -> verve_status {
    if (!out) return fail(VERVE_MISUSE, "verve_read_snapshot: found null, expected a place for the snapshot");
    *out = nullptr;
    const verve::Expected<verve::Snapshot> read = verve::read_snapshot(required(path, "path"));
    if (!read) return refuse(read.diagnostics());
    *out = new verve_snapshot{*read};
    return VERVE_OK;
  });
}
void verve_destroy_snapshot(verve_snapshot* snapshot) { delete snapshot; }

}  // extern "C"
