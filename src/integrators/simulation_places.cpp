// Bodies and colliders that come and go, as a caller sees them.
#include "base/parallel.h"
#include "contact/shape_registry.h"
#include "integrators/prepared_content.h"
#include "integrators/simulation_impl.h"

namespace verve {

PreparedBody::PreparedBody(std::unique_ptr<Content> content) : content_(std::move(content)) {}
PreparedBody::PreparedBody(PreparedBody&&) noexcept = default;
PreparedBody& PreparedBody::operator=(PreparedBody&&) noexcept = default;
PreparedBody::~PreparedBody() = default;

namespace {

Quaternion to_quaternion(const Mat3& m) {
  const double trace = m(0, 0) + m(1, 1) + m(2, 2);
  if (trace > 0) {
    const double s = 2 * std::sqrt(1 + trace);
    return {(m(2, 1) - m(1, 2)) / s, (m(0, 2) - m(2, 0)) / s, (m(1, 0) - m(0, 1)) / s, s / 4};
  }
  const int i = m(0, 0) >= m(1, 1) && m(0, 0) >= m(2, 2) ? 0 : m(1, 1) >= m(2, 2) ? 1 : 2;
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const double s = 2 * std::sqrt(std::max(0.0, 1 + m(i, i) - m(j, j) - m(k, k)));
  double axis[3];
  axis[i] = s / 4, axis[j] = (m(j, i) + m(i, j)) / s, axis[k] = (m(k, i) + m(i, k)) / s;
  return {axis[0], axis[1], axis[2], (m(k, j) - m(j, k)) / s};
}

}  // namespace

bool Simulation::has_body(BodyId body) const {
  if (body < 0 || body >= bodies() || !impl_->world.has_body(body)) return false;
  return body.generation() == 0 || body.generation() == impl_->world.state.bodies[body].generation;
}

BodyId Simulation::body_id(int number) const {
  return {impl_->body("body_id", number), impl_->world.state.bodies[number].generation};
}

Expected<PreparedBody> Simulation::prepare(const BodySpec& spec) const {
  return without_exceptions<PreparedBody>([&] { return prepare_or_throw(spec); });
}

Expected<PreparedBody> Simulation::prepare_or_throw(const BodySpec& spec) const {
  set_threads(impl_->threads);  // (of our own: the caller's may be at work for a step)
  Scene alone = impl_->settings;
  alone.bodies.push_back(spec);
  Diagnostics problems = check_scene(alone);
  if (problems.has_errors()) {
    report_mesh_files(alone, problems);
    return problems;
  }
  auto content = std::make_unique<PreparedBody::Content>();
  content->spec = std::make_shared<const BodySpec>(spec);
  std::optional<CompiledBody> compiled = compile_body(spec, "bodies[0]", problems);
  if (!compiled) return problems;
  content->model.rows = compiled->body.count;
  content->model.bodies.push_back(std::move(compiled->body));
  content->matter.bodies.push_back(std::move(compiled->matter));
  check_method(alone, content->matter, problems);
  if (problems.has_errors()) return problems;
  const Body& body = content->model.bodies[0];
  if (alone.contact || !alone.colliders.empty()) content->matter.bodies[0].surface = touchable_surface(body, {});
  content->island = std::make_unique<Island>(content->model, content->matter, std::vector<int>{0}, std::vector<int>{});
  const Settings settings = resolve(alone.solver);
  if (settings.integrator && !settings.minimizer) make_factors(*content->island, alone.step, settings);
  return {PreparedBody(std::move(content)), problems};
}

BodyId Simulation::add_body(PreparedBody&& body, const Spawn& spawn) {
  require(body.content_ != nullptr, "add_body: found a body that was added already, expected one of prepare()");
  require_pose("add_body", spawn.place);
  require_finite("add_body", spawn.velocity), require_finite("add_body", spawn.angular_velocity);
  require(bodies() < BodyId::most_numbers, "add_body: found no number that is free");
  const BodyId id = impl_->world.add_body(std::move(body.content_), spawn);
  impl_->changed();
  return id;
}

void Simulation::remove_body(BodyId body) {
  impl_->world.remove_body(impl_->body("remove_body", body));
  impl_->changed();
}

int Simulation::colliders() const { return int(impl_->world.state.colliders.size()); }

bool Simulation::has_collider(ColliderId c) const {
  if (c < 0 || c >= colliders()) return false;
  const ColliderState& now = impl_->world.state.colliders[c];
  return !now.removed && (c.generation() == 0 || c.generation() == now.generation);
}

ColliderId Simulation::find_collider(std::string_view name) const {
  for (int c = 0; c < colliders(); ++c)
    if (has_collider(c) && scene().colliders[c].name == name)
      return {c, impl_->world.state.colliders[c].generation};
  return -1;
}

Expected<ColliderId> Simulation::add_collider(const ColliderSpec& spec) {
  return without_exceptions<ColliderId>([&]() -> Expected<ColliderId> {
    World& w = impl_->world;
    Scene with = w.present_scene();
    const std::string where = "colliders[" + std::to_string(with.colliders.size()) + "]";
    with.colliders.push_back(spec);
    Diagnostics problems = check_scene(with);
    if (problems.has_errors()) return problems;
    std::unique_ptr<const Shape> shape = make_shape(spec, where, problems);
    if (problems.has_errors()) return problems;
    return {w.add_collider(spec, std::move(shape)), problems};
  });
}

void Simulation::remove_collider(ColliderId c) { impl_->world.remove_collider(impl_->collider("remove_collider", c)); }

void Simulation::move_collider(ColliderId c, const Placing& to) {
  impl_->world.move_collider(impl_->collider("move_collider", c), require_pose("move_collider", to), false);
}
void Simulation::place_collider(ColliderId c, const Placing& at) {
  impl_->world.move_collider(impl_->collider("place_collider", c), require_pose("place_collider", at), true);
}
Placing Simulation::collider_placing(ColliderId c) const {
  const World& w = impl_->world;
  const Pose pose = w.pose_of(impl_->collider("collider_placing", c), w.clock(w.state.frame));
  return {pose.position, to_quaternion(pose.rotation)};
}
void Simulation::set_collider(ColliderId c, bool active) {
  impl_->world.switch_collider(impl_->collider("set_collider", c), active);
}

Scene Simulation::present_scene() const { return impl_->world.present_scene(); }

Simulation Simulation::clone() const {
  Scene scene = impl_->given;
  Simulation other = create(scene, {.threads = impl_->threads, .tasks = impl_->tasks}).value();
  const Diagnostics problems = other.restore(save());
  if (problems.has_errors()) throw std::logic_error("clone: " + problems.text());
  return other;
}

}  // namespace verve
