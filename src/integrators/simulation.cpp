#include "verve/simulation.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "base/hash.h"
#include "base/parallel.h"
#include "integrators/measures.h"
#include "integrators/simulation_impl.h"
#include "integrators/snapshot_content.h"
#include "integrators/step_solver.h"
#include "model/scene_keys.h"

namespace verve {

std::string_view to_string(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::diverged:
      return "diverged";
    case StepStatus::not_factorizable:
      return "not factorizable";
    case StepStatus::callback_failed:
      return "callback failed";
    case StepStatus::infeasible:
      return "infeasible";
  }
  return "";
}

void check_method(const Scene& scene, const Matter& matter, Diagnostics& problems) {
  const auto refusal = [](const std::string& integrator, const Potential& potential) {
    const OwnStepEntry* own = find_own_step(integrator);
    return own ? own->refusal(potential) : std::string();
  };
  const MethodInfo& method = *find_method(scene.solver.method);
  const std::string integrator = scene.solver.integrator.empty() ? method.integrator : scene.solver.integrator;
  std::vector<std::pair<std::string, std::string>> refused;  // where, and what
  for (size_t b = 0; b < matter.bodies.size(); ++b) {
    for (size_t k = 0; k < matter.bodies[b].potentials.size(); ++k) {
      const Potential& potential = *matter.bodies[b].potentials[k];
      const std::string why = refusal(integrator, potential);
      if (why.empty()) continue;
      const std::string name = "\"" + std::string(potential.name()) + "\"";
      refused.emplace_back("bodies[" + std::to_string(b) + "].potentials[" + std::to_string(k) + "]",
                           "\"" + integrator + "\" cannot drive " + name + ", which " + why);
    }
  }
  if (refused.empty()) return;
  const auto drives_all = [&](const MethodInfo& other) {
    for (const Matter::OfBody& body : matter.bodies)
      for (const auto& potential : body.potentials)
        if (!refusal(other.integrator, *potential).empty()) return false;
    return true;
  };
  std::string others;
  for (const MethodInfo& other : method_infos())
    if (drives_all(other)) others += (others.empty() ? "" : ", ") + other.name;
  refused.back().second += (refused.size() > 1 ? "; these can drive all of the scene: " : "; these can: ") + others;
  for (auto& [where, what] : refused) problems.error(std::move(where), std::move(what));
}

namespace {

/// What a state must fit: bodies with their elements, what else it has a place for, and the method.
std::vector<std::string> layout_of(const World& w) {
  std::vector<std::string> out;
  const auto count = [](size_t n, const char* what) { return std::to_string(n) + " " + what; };
  out.push_back(count(w.scene.colliders.size(), "colliders"));
  out.push_back(count(w.scene.forces.size(), "forces") + " and " + count(w.scene.winds.size(), "winds"));
  const SolverSpec& s = w.scene.solver;
  out.push_back("method \"" + s.method + "\"" + (s.integrator.empty() ? "" : ", integrator \"" + s.integrator + "\"") +
                (s.minimizer.empty() ? "" : ", minimizer \"" + s.minimizer + "\"") +
                (s.conservation.empty() ? "" : ", conservation \"" + s.conservation + "\"") +
                (s.precision == Precision::float32 ? " in float" : " in double"));
  for (size_t b = 0; b < w.model.bodies.size(); ++b) {
    const Body& body = w.model.bodies[b];
    std::string line = "body \"" + body.name + "\" of " + count(body.count, "vertices");
    for (const auto& potential : w.matter.bodies[b].potentials)
      line += ", " + std::to_string(potential->elements()) + " x " + std::string(potential->name());
    if (body.plasticity) line += ", of which " + count(body.plasticity->count(), "flow");
    out.push_back(line);
  }
  return out;
}

/// What a body that comes later is made for.
Scene settings_of(const Scene& scene) {
  Scene out = scene;
  out.bodies.clear(), out.anchors.clear(), out.forces.clear(), out.pushes.clear(), out.winds.clear();
  if (out.contact) out.contact->pairs.clear();
  return out;
}

}  // namespace

/// Makes Simulation::Impl; what a function of the program throws goes on.
Expected<Simulation> Simulation::create_or_throw(const Scene& scene, const RunOptions& options) {
  Diagnostics problems = check_scene(scene);
  if (options.threads < 0 || options.threads > most_threads)
    problems.error("threads", "found " + std::to_string(options.threads) + ", expected 0 (all) to " +
                                  std::to_string(most_threads));
  if (problems.has_errors()) {
    report_mesh_files(scene, problems);
    return problems;
  }
  Expected<CompiledScene> compiled = compile(scene);
  problems.append(compiled.diagnostics());
  if (!compiled) return problems;
  check_method(scene, compiled->matter, problems);
  if (problems.has_errors()) return problems;
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  std::unique_ptr<Impl> impl(new Impl{World(scene, std::move(*compiled), threads, options.tasks), scene,
                                      settings_of(scene), threads, options.tasks, {}});
  impl->layout = layout_of(impl->world);
  impl->world.warn_of_long_steps(problems), impl->world.warn_of_budget(problems);
  return {Simulation(std::move(impl)), problems};
}

Expected<Simulation> Simulation::create(const Scene& scene, const RunOptions& options) {
  return without_exceptions<Simulation>([&] { return create_or_throw(scene, options); });
}

Simulation::Simulation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const Scene& Simulation::scene() const { return impl_->world.scene; }
int Simulation::bodies() const { return int(impl_->world.model.bodies.size()); }
int Simulation::vertices() const { return impl_->world.vertices(); }
int Simulation::frame() const { return impl_->world.state.frame; }
double Simulation::time() const { return impl_->world.state.time; }
int Simulation::anchors() const { return int(impl_->world.matter.anchors.size()); }
int Simulation::factorizations() const { return impl_->world.factorizations(); }
StepReport Simulation::step() {
  StepReport report = impl_->world.step();
  impl_->changed();
  return report;
}
void Simulation::reset() {
  impl_->world.reset();
  impl_->changed();
}
void Simulation::prepare() { impl_->world.prepare(); }

Snapshot Simulation::save() const {
  auto content = std::make_shared<Snapshot::Content>();
  content->layout = impl_->layout;
  content->state = impl_->world.state;
  return Snapshot(std::move(content));
}

Diagnostics Simulation::restore(const Snapshot& snapshot) {
  Diagnostics problems;
  const std::vector<std::string>&ours = impl_->layout, &theirs = snapshot.content_->layout;
  for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string found = i < theirs.size() ? theirs[i] : "nothing",
                      expected = i < ours.size() ? ours[i] : "nothing";
    if (found != expected) problems.error("snapshot", "found " + found + ", expected " + expected);
  }
  if (problems.has_errors()) return problems;
  std::optional<World::Occupants> occupants = impl_->world.occupants_of(snapshot.content_->state, problems);
  if (!occupants) return problems;
  impl_->world.restore(snapshot.content_->state, std::move(*occupants)), impl_->changed();
  return {};
}

const std::string& Simulation::body_name(BodyId body) const {
  return impl_->shown("body_name", body).name;
}
int Simulation::first_vertex(BodyId body) const {
  return impl_->shown("first_vertex", body).first_vertex;
}
const Mesh& Simulation::mesh(BodyId body) const { return impl_->shown("mesh", body).mesh; }

const Mesh* Simulation::embedded_mesh(BodyId body) const {
  const Mesh& surface = impl_->shown("embedded_mesh", body).embedded;
  return surface.triangles.empty() ? nullptr : &surface;
}
const Embedding* Simulation::embedding(BodyId body) const {
  return embedded_mesh(body) ? &impl_->world.model.bodies[body].embedding : nullptr;
}

RemovedElements Simulation::removed_elements(BodyId b) const {
  const Body& body = impl_->shown("removed_elements", b);
  return body.tearing ? body.tearing->removed(impl_->world.state.gone[b]) : RemovedElements{};
}

std::vector<double> Simulation::flowed_strain(BodyId b, int potential) const {
  const Body& body = impl_->shown("flowed_strain", b);
  for (int k = 0; body.plasticity && k < body.plasticity->count(); ++k)
    if (body.plasticity->potential_of(k) == potential) return impl_->world.state.plastic[b][k].flowed;
  return {};
}

BodyId Simulation::find_body(std::string_view name) const {
  for (int b = 0; b < bodies(); ++b)
    if (has_body(b) && body_name(b) == name) return body_id(b);
  return -1;
}

int Simulation::elements() const {
  int sum = 0;
  for (const Matter::OfBody& body : impl_->world.matter.bodies)
    for (const auto& potential : body.potentials) sum += potential->elements();
  return sum;
}

namespace {

std::vector<Vec3> in_user_order(const World& world, const std::vector<Vec4>& rows) {
  const Model& model = world.model;
  std::vector<Vec3> out(world.vertices());
  for (const Body& body : model.bodies)
    for (int r = 0; r < body.count; ++r) out[body.first_vertex + body.vertex_of_row[r]] = rows[body.first + r].xyz();
  return out;
}

}  // namespace

std::vector<Vec3> Simulation::positions() const { return in_user_order(impl_->world, impl_->world.state.x); }
std::vector<Vec3> Simulation::velocities() const { return in_user_order(impl_->world, impl_->world.state.v); }

std::vector<double> Simulation::masses() const {
  std::vector<double> out(vertices());
  for (const Body& body : impl_->world.model.bodies)
    for (int r = 0; r < body.count; ++r) out[body.first_vertex + body.vertex_of_row[r]] = body.mass[r];
  return out;
}

std::vector<Vec3> Simulation::embedded_positions(BodyId b) const {
  const Body& body = impl_->shown("embedded_positions", b);
  if (body.embedded.triangles.empty()) return {};
  std::vector<Vec3> x(body.count), out(body.embedded.vertices.size());
  for (int r = 0; r < body.count; ++r) x[body.vertex_of_row[r]] = impl_->world.state.x[body.first + r].xyz();
  carry(body.embedding, x.data(), out.data());
  return out;
}

void Simulation::set_state(const std::vector<Vec3>& positions, const std::vector<Vec3>& velocities) {
  World& w = impl_->world;
  const auto check = [&](const char* what, const std::vector<Vec3>& values) {
    require(int(values.size()) == w.vertices(), std::string("set_state: found ") + std::to_string(values.size()) + " " +
                                                    what + ", expected " + std::to_string(w.vertices()) +
                                                    " (one per vertex)");
    for (const Vec3& v : values) require_finite("set_state", v);
  };
  check("positions", positions);
  check("velocities", velocities);
  for (const Body& body : w.model.bodies) {
    for (int r = 0; r < body.count; ++r) {
      w.state.x[body.first + r] = Vec4(positions[body.first_vertex + body.vertex_of_row[r]]);
      w.state.v[body.first + r] = Vec4(velocities[body.first_vertex + body.vertex_of_row[r]]);
    }
  }
  w.forget_history();
  impl_->changed();
}

void Simulation::set_time(double time, int frame) {
  require(std::isfinite(time) && time >= 0 && frame >= 0, "set_time: expected a time and a frame >= 0");
  impl_->world.state.time = time;
  impl_->world.state.frame = frame;
  impl_->world.state.origin = time - frame * impl_->world.scene.step;
}

Measures Simulation::measure(BodyId body) const { return impl_->world.measure((impl_->shown("measure", body), body)); }

void MeasureSum::add(const Measures& m) {
  all_.mass += m.mass;
  all_.momentum += m.momentum, all_.angular_momentum += m.angular_momentum;
  all_.center += m.center * m.mass;
  all_.kinetic += m.kinetic, all_.elastic += m.elastic, all_.contact += m.contact, all_.external += m.external;
  all_.total += m.total, all_.target_total += m.target_total, all_.booked_loss += m.booked_loss, all_.heat += m.heat;
  all_.work += m.work;
  all_.owed += m.owed, all_.torn += m.torn;
  if (std::abs(m.multiplier) > std::abs(all_.multiplier)) all_.multiplier = m.multiplier;
  all_.iterations = std::max(all_.iterations, m.iterations), all_.substeps = std::max(all_.substeps, m.substeps);
  all_.error_p = std::max(all_.error_p, m.error_p);
  all_.error_l = std::max(all_.error_l, m.error_l);
  all_.error_h = std::max(all_.error_h, m.error_h);
}

Measures MeasureSum::total() const {
  Measures all = all_;
  all.center = all.center / all.mass;
  all.spin = all.angular_momentum - cross(all.center, all.momentum);
  return all;
}

Measures Simulation::measure() const {
  MeasureSum sum;
  for (int b = 0; b < bodies(); ++b) sum.add(impl_->world.measure(b));
  return sum.total();
}

double Simulation::constraint_error() const {
  double violation = 0, reference = 0;
  std::vector<Vec3> z, p;
  for (int b = 0; b < bodies(); ++b) {
    const Vec4* const x = impl_->world.state.x.data() + impl_->world.model.bodies[b].first;
    for (const auto& potential : impl_->world.matter.bodies[b].potentials) {
      if (potential->prestress() > 0) continue;
      size_t rows = 0;
      for (int e = 0; e < potential->elements(); ++e) rows += size_t(potential->rows(e));
      z.resize(rows), p.resize(rows);
      potential->project(x, z.data(), p.data());
      size_t row = 0;
      for (int e = 0; e < potential->elements(); ++e) {
        double square = 0;
        for (const size_t end = row + size_t(potential->rows(e)); row < end; ++row)
          square += dot(z[row] - p[row], z[row] - p[row]);
        violation += 0.5 * potential->weight(e) * square;
      }
      reference += potential->reference_energy();
    }
  }
  return reference > 0 ? std::sqrt(violation / reference) : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t Simulation::state_hash() const {
  BitHash hash;
  for (const std::vector<Vec4>* rows : {&impl_->world.state.x, &impl_->world.state.v})
    for (const Body& body : impl_->world.model.bodies)
      for (int i = body.first; i < body.first + body.count; ++i)
        hash.add((*rows)[i].x), hash.add((*rows)[i].y), hash.add((*rows)[i].z);
  return hash.value();
}

void Simulation::set_energy(BodyId body, double total) {
  require(std::isfinite(total), "set_energy: found a value that is not finite, expected joules");
  BodyLedger& ledger = impl_->world.state.ledger[impl_->body("set_energy", body)];
  ledger.wanted_energy = total;
}

void Simulation::set_momentum(BodyId body, const Vec3& momentum) {
  require_finite("set_momentum", momentum);
  impl_->world.impulse_on(impl_->body("set_momentum", body)).set_momentum(momentum);
  impl_->world.state.ledger[body].debt.p = {};
}

void Simulation::set_spin(BodyId body, const Vec3& spin) {
  require_finite("set_spin", spin);
  impl_->world.impulse_on(impl_->body("set_spin", body)).set_spin(spin);
  impl_->world.state.ledger[body].debt.l = {};
}

void Simulation::add_impulse(BodyId body, const Vec3& impulse, const Vec3& point, double radius) {
  require_finite("add_impulse", impulse);
  require_finite("add_impulse", point);
  require(radius >= 0 && std::isfinite(radius), "add_impulse: expected a radius >= 0");
  impl_->world.impulse_on(impl_->body("add_impulse", body)).impulse(impulse, point, radius);
}

void Simulation::set_half_life(BodyId body, double seconds) {
  require(seconds > 0, "set_half_life: expected seconds > 0 (infinity for none)");
  impl_->world.state.ledger[impl_->body("set_half_life", body)].damping = std::numbers::ln2 / seconds;
}

void Simulation::hold_energy(BodyId body, std::optional<double> total) {
  require(!total || std::isfinite(*total), "hold_energy: found a value that is not finite, expected joules");
  BodyLedger& ledger = impl_->world.state.ledger[impl_->body("hold_energy", body)];
  ledger.held_energy = total, ledger.wanted_energy.reset();
}

void Simulation::hold_momentum(BodyId body, const std::optional<Vec3>& momentum) {
  if (momentum) require_finite("hold_momentum", *momentum);
  impl_->world.state.ledger[impl_->body("hold_momentum", body)].held_momentum = momentum;
}

void Simulation::hold_spin(BodyId body, const std::optional<Vec3>& spin) {
  if (spin) require_finite("hold_spin", *spin);
  impl_->world.state.ledger[impl_->body("hold_spin", body)].held_spin = spin;
}

void Simulation::set_step(double seconds) {
  require(seconds > 0 && std::isfinite(seconds), "set_step: expected seconds > 0");
  impl_->world.set_step(seconds);
}

void Simulation::set_iterations(int cap) {
  require(cap >= 1, "set_iterations: found " + std::to_string(cap) + ", expected at least 1");
  impl_->world.settings.iterations = cap, impl_->world.state.iterations = cap;
}

void Simulation::set_budget(double milliseconds) {
  require(milliseconds >= 0 && std::isfinite(milliseconds), "set_budget: expected milliseconds >= 0");
  require(milliseconds == 0 || keeps_budgets(impl_->world.scene.solver),
          "set_budget: method \"" + impl_->world.scene.solver.method + "\" cannot keep to one, expected 0");
  impl_->world.settings.budget = milliseconds, impl_->world.state.budget = milliseconds;
}

void Simulation::set_friction(double coefficient) {
  require(coefficient >= 0 && std::isfinite(coefficient), "set_friction: expected a coefficient >= 0");
  impl_->world.state.friction = coefficient;
}

void Simulation::set_gravity(const Vec3& gravity) {
  for (const double component : {gravity.x, gravity.y, gravity.z})
    require(std::abs(component) <= strongest_gravity, "set_gravity: expected three numbers from -1e6 to 1e6 [m/s^2]");
  impl_->world.state.gravity = gravity;
  impl_->world.forces_changed();
}

void Simulation::set_parameter(BodyId body, int potential, const std::string& name, double value) {
  World& w = impl_->world;
  impl_->body("set_parameter", body);
  const int count = int(w.matter.bodies[body].potentials.size());
  require(potential >= 0 && potential < count, index_message("set_parameter", "potential", potential, count));
  const PotentialEntry& entry = *find_potential(w.scene.bodies[body].potentials[potential].type);
  Diagnostics problems;
  check_parameters({{name, {value}}}, entry.info.parameters, "set_parameter", problems);
  ParameterValues values = (*w.state.parameters)[body][potential];
  for (const auto& [other, pending] : (*w.state.overrides)[body][potential]) values[other] = pending;
  values[name] = value;
  if (w.scene.bodies[body].potentials[potential].arrays.contains(name))
    problems.error("set_parameter", "\"" + name +
                                        "\" was given as a list with a value for each element, expected a "
                                        "parameter with one value");
  if (const std::string fault = entry.check(values); !fault.empty()) problems.error("set_parameter", fault);
  require(!problems.has_errors(), problems.text());
  Materials overrides = *w.state.overrides;
  overrides[body][potential][name] = value;
  w.state.overrides = std::make_shared<const Materials>(std::move(overrides));
}

std::vector<double> Simulation::example_weights(BodyId body, int potential) const {
  const World& w = impl_->world;
  const Potentials& potentials = w.matter.bodies[impl_->body("example_weights", body)].potentials;
  const int count = int(potentials.size());
  require(potential >= 0 && potential < count, index_message("example_weights", "potential", potential, count));
  return potentials[potential]->example_weights(w.state.x.data() + w.model.bodies[body].first);
}

std::string Simulation::global_solver(BodyId body) const {
  return impl_->world.island_of(impl_->body("global_solver", body)).solver().description();
}

AnchorId Simulation::find_anchor(std::string_view name) const {
  for (int a = 0; a < anchors(); ++a)
    if (scene().anchors[a].name == name && !impl_->world.state.anchors[a].removed)
      return {a, impl_->world.state.anchors[a].generation};
  return -1;
}

void Simulation::set_anchor(AnchorId anchor, bool active) {
  impl_->world.state.anchors[impl_->anchor("set_anchor", anchor)].switched = active;
}
bool Simulation::anchor_active(AnchorId anchor) const {
  return impl_->world.state.anchors[impl_->anchor("anchor_active", anchor)].active;
}

std::vector<Vec3> Simulation::anchor_points(AnchorId anchor) const {
  const AnchorState& s = impl_->world.state.anchors[impl_->anchor("anchor_points", anchor)];
  std::vector<Vec3> out;
  if (s.active)
    for (const Vec4& point : s.hold) out.push_back(point.xyz() + s.placed);
  return out;
}

void Simulation::move_anchor(AnchorId anchor, const Vec3& displacement) {
  require_finite("move_anchor", displacement);
  impl_->world.state.anchors[impl_->anchor("move_anchor", anchor)].moved = displacement;
}

AnchorId Simulation::add_anchor(const AnchorSpec& spec) {
  World& w = impl_->world;
  Scene with = w.present_scene();
  const std::string where = "anchors[" + std::to_string(with.anchors.size()) + "]";
  with.anchors.push_back(spec);
  Diagnostics problems = check_scene(with);
  Anchor anchor;
  if (!problems.has_errors()) anchor = compile_anchor(spec, w.model, where, problems);
  require(!problems.has_errors(), "add_anchor: " + problems.text());
  return w.add_anchor(spec, std::move(anchor));
}

void Simulation::remove_anchor(AnchorId anchor) { impl_->world.anchors().remove(impl_->anchor("remove_anchor", anchor)); }

}  // namespace verve
