// What the page is told: scenes, states and frames.
#include <algorithm>
#include <cmath>

#include "live/session.h"
#include "model/model.h"
#include "record/report_data.h"
#include "verve/material.h"
#include "verve/registry.h"
#include "verve/version.h"

namespace verve::live {

namespace {

constexpr const char* body_colors[] = {"#e08a5b", "#4c9fb5", "#b7a24a", "#9b7fc4", "#6fae72", "#d1728f", "#7f93a8"};

template <class T>
Json base64(const std::vector<T>& values) {
  std::string out;
  append_base64(out, values.data(), values.size() * sizeof(T));
  return out;
}

template <size_t N>
Json elements(const std::vector<std::array<int, N>>& all) {
  std::vector<std::uint32_t> flat;
  for (const auto& e : all)
    for (const int v : e) flat.push_back(std::uint32_t(v));
  return base64(flat);
}

Json vec(const Vec3& v) { return Json::array({v.x, v.y, v.z}); }

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::vector<float> floats(const std::vector<Vec3>& points) {
  std::vector<float> out;
  for (const Vec3& p : points) out.insert(out.end(), {float(p.x), float(p.y), float(p.z)});
  return out;
}

Vec3 mean_of(const std::vector<Vec3>& points) {
  Vec3 sum;
  for (const Vec3& p : points) sum += p;
  return points.empty() ? sum : sum / double(points.size());
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The preset that a body was made of, by its numbers; empty for none. (A scene keeps the numbers, not the name.)
std::string material_of(const BodySpec& body, int dimension) {
  for (const MaterialInfo& info : material_infos())
    if (info.dimension == dimension && info.body_density() == body.density && info.friction == body.friction &&
        info.restitution == body.restitution)
      return info.name;
  return "";
}

/// Kinetic energy that a rigid body with the same P and L would have: what a half-life leaves.
double rigid_energy(const Simulation& sim, int body, const std::vector<Vec3>& x, const std::vector<double>& masses) {
  const Measures m = sim.measure(body);
  double second[6] = {};  // xx yy zz xy xz yz
  const int first = sim.first_vertex(body), count = int(sim.mesh(body).vertices.size());
  for (int i = first; i < first + count; ++i) {
    const Vec3 r = x[i] - m.center;
    const double w = masses[i];
    second[0] += w * r.x * r.x, second[1] += w * r.y * r.y, second[2] += w * r.z * r.z;
    second[3] += w * r.x * r.y, second[4] += w * r.x * r.z, second[5] += w * r.y * r.z;
  }
  Mat3 inertia;
  inertia(0, 0) = second[1] + second[2], inertia(1, 1) = second[0] + second[2], inertia(2, 2) = second[0] + second[1];
  inertia(0, 1) = inertia(1, 0) = -second[3];
  inertia(0, 2) = inertia(2, 0) = -second[4];
  inertia(1, 2) = inertia(2, 1) = -second[5];
  const double size = inertia(0, 0) + inertia(1, 1) + inertia(2, 2);
  // a straight line has no inertia about itself, nor spin: a hair keeps the matrix regular
  for (int i = 0; i < 3; ++i) inertia(i, i) += 1e-12 * size;
  const double moving = 0.5 * dot(m.momentum, m.momentum) / m.mass;
  return size > 0 ? moving + 0.5 * dot(m.spin, inverse(inertia) * m.spin) : moving;
}

}  // namespace

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {
      "kinetic",  "elastic", "contact", "external", "total", "target", "rigid", "momentum", "spin", "iterations",
      "substeps", "ms",      "loss",    "heat",     "work",  "owed",   "px",    "py",       "pz",   "lx",
      "ly",       "lz",      "cx",      "cy",       "cz",    "failed", "kept",  "off",      "aimed"};
  return names;
}

/// All that does not move.
void Session::tell_scene(const Diagnostics& notes) {
  ++generation_;
  const Simulation& sim = *lanes_[0]->simulation;
  Json bodies = Json::array();
  for (int b = 0; b < sim.bodies(); ++b) {
    const Mesh& mesh = sim.mesh(b);
    Json body = Json::object();
    body.set("name", sim.body_name(b));
    const std::string& color = scene_.bodies[b].color;
    body.set("color", color.empty() ? std::string(body_colors[b % std::size(body_colors)]) : color);
    body.set("dimension", shapes_[b].dimension);
    body.set("material", material_of(scene_.bodies[b], shapes_[b].dimension));
    body.set("first", sim.first_vertex(b));
    body.set("vertices", int(mesh.vertices.size()));
    body.set("mass", sim.measure(b).mass);
    body.set("size", shapes_[b].size);
    body.set("rest", base64(floats(mesh.vertices)));
    body.set("triangles", elements(surface(mesh)));
    body.set("edges", elements(mesh.edges));
    if (const Mesh* carried = sim.embedded_mesh(b)) {
      const Embedding& how = *sim.embedding(b);
      std::vector<std::uint32_t> carriers;
      std::vector<float> weights;
      for (size_t i = 0; i < how.vertices.size(); ++i)
        for (int k = 0; k < 4; ++k)
          carriers.push_back(std::uint32_t(how.vertices[i][k])), weights.push_back(float(how.weights[i][k]));
      Json surface = Json::object();
      surface.set("triangles", elements(carried->triangles));
      surface.set("carriers", base64(carriers));
      surface.set("weights", base64(weights));
      body.set("surface", std::move(surface));
    }
    bodies.items.push_back(std::move(body));
  }
  Json colliders = Json::array();
  double largest = 0;
  for (const auto& body : shapes_) largest = std::max(largest, body.size);
  for (const ColliderSpec& spec : scene_.colliders) {
    Json collider = Json::object();
    collider.set("name", spec.name);
    collider.set("shape", spec.shape);
    Diagnostics reported;  // when the simulation was made
    const std::unique_ptr<Shape> shape = make_shape(spec, spec.name, reported);
    const ShapeTriangles drawn = shape->tessellate(4 * largest);
    collider.set("rest", base64(floats(drawn.points)));
    collider.set("triangles", elements(drawn.triangles));
    if (const std::optional<Vec3> normal = shape->flat_normal()) collider.set("flat", vec(*normal));
    colliders.items.push_back(std::move(collider));
  }
  Json metrics = Json::array(), problems = Json::array();
  for (const std::string& name : metric_names()) metrics.items.push_back(name);
  for (const Diagnostic& d : notes.items()) problems.items.push_back(d.where + ": " + d.what);
  Json out = Json::object();
  out.set("type", "scene");
  out.set("generation", int(generation_));
  out.set("name", scene_.name), out.set("description", scene_.description);
  out.set("version", VERVE_VERSION);
  out.set("vertices", sim.vertices()), out.set("elements", sim.elements());
  out.set("bodies", std::move(bodies)), out.set("colliders", std::move(colliders));
  out.set("metrics", std::move(metrics)), out.set("notes", std::move(problems));
  answers_.push_back(write_json(out));
  supports_.assign(scene_.anchors.size(), {});
  tell_supports(answers_);
  tell_state();
  for (size_t lane = 0; lane < lanes_.size(); ++lane) tell_elements(int(lane), answers_);
  changed_ = true;
}

/// Whether an anchor of the scene holds its body to the world.
bool Session::holds(int anchor) const {
  return scene_.anchors[size_t(anchor)].to_body.empty() && lanes_[0]->simulation->anchor_active(anchor);
}

/// Points of the anchors to the world that hold and that the page does not know: it draws poles and rails there.
void Session::tell_supports(std::vector<std::string>& out) {
  const Simulation& sim = *lanes_[0]->simulation;
  Json list = Json::array();
  for (int a = 0; a < int(supports_.size()); ++a) {
    if (supports_[size_t(a)].told || !holds(a)) continue;
    const std::vector<Vec3> points = sim.anchor_points(a);
    supports_[size_t(a)] = {true, mean_of(points), {}};
    Json support = Json::object();
    support.set("anchor", a), support.set("body", sim.find_body(scene_.anchors[size_t(a)].body).number());
    support.set("points", base64(floats(points)));
    list.items.push_back(std::move(support));
  }
  if (list.items.empty()) return;
  Json message = Json::object();
  message.set("type", "supports"), message.set("generation", int(generation_));
  message.set("list", std::move(list));
  out.push_back(write_json(message));
}

/// All that messages change: lanes, dials, pins.
void Session::tell_state() {
  const Simulation& sim = *lanes_[0]->simulation;
  Json lanes = Json::array(), pins = Json::array(), half_life = Json::array(), held = Json::array();
  for (const auto& lane : lanes_) lanes.items.push_back(lane->method);
  for (const auto& [id, hand] : hands_)
    if (hand.pin) pins.items.push_back(sim.first_vertex(hand.body) + hand.vertex);
  for (int b = 0; b < sim.bodies(); ++b) {
    half_life.items.push_back(number_or_null(half_life_of(b, sim.time())));
    Json lock = Json::object();
    const auto it = turned_.held.find(b);
    const Turned::Held now = it == turned_.held.end() ? Turned::Held{} : it->second;
    lock.set("energy", now.energy ? Json(*now.energy) : Json());
    lock.set("momentum", now.momentum ? vec(*now.momentum) : Json());
    lock.set("spin", now.spin ? vec(*now.spin) : Json());
    held.items.push_back(std::move(lock));
  }
  double friction = 0;
  for (const BodySpec& body : scene_.bodies) friction = std::max(friction, body.friction);
  const MethodInfo* method = find_method(lanes_[0]->method);
  Json ranges = Json::object();
  for (const char* name : {"energy", "momentum", "spin", "half_life", "gravity", "wind", "friction", "stiffness",
                           "step", "iterations", "budget"}) {
    const std::array<double, 2> r = range(name, std::max(0, watched_));
    ranges.set(name, Json::array({r[0], r[1]}));
  }
  Json out = Json::object();
  out.set("type", "state");
  out.set("ranges", std::move(ranges));
  out.set("floor", floor_ ? Json(*floor_) : Json());
  out.set("own_floor", own_floor());
  out.set("undo", before_.empty() ? Json() : Json(before_.back().what));
  Json kept = Json::array();
  for (const Kept& moment : kept_)
    kept.items.push_back(
        Json::object({{"id", moment.id, {}}, {"frame", moment.frame, {}}, {"time", moment.time, {}}}));
  out.set("kept", std::move(kept));
  out.set("calming", calming_ > 0);
  out.set("generation", int(generation_));
  out.set("frame", sim.frame());
  out.set("lanes", std::move(lanes));
  out.set("paused", paused_), out.set("speed", speed_), out.set("watched", watched_);
  out.set("gravity", vec(turned_.gravity.value_or(scene_.gravity)));
  out.set("stiffness", turned_.stiffness);
  out.set("step", turned_.step.value_or(scene_.step));
  out.set("iterations", turned_.iterations.value_or(sim.scene().solver.iterations.value_or(method->iterations)));
  const double budget = turned_.budget.value_or(scene_.solver.budget);
  out.set("budget", budget > 0 ? Json(budget) : Json());
  out.set("wind", vec(turned_.wind.value_or(
                      scene_.winds.empty() ? Vec3{} : scene_.winds[0].velocity.at(sim.time()).value_or(Vec3{}))));
  out.set("friction", turned_.friction.value_or(friction));
  out.set("touches", !scene_.colliders.empty() || scene_.contact.has_value());
  out.set("half_life", std::move(half_life)), out.set("held", std::move(held));
  out.set("pins", std::move(pins));
  out.set("link", link_text());
  answers_.push_back(write_json(out));
}

/// Bodies that have lost elements, or have them again after a restart.
void Session::tell_elements(int index, std::vector<std::string>& out) {
  Lane& lane = *lanes_[index];
  const Simulation& sim = *lane.simulation;
  for (int b = 0; b < sim.bodies(); ++b) {
    RemovedElements removed = sim.removed_elements(b);
    if (removed == lane.removed[b]) continue;
    const Mesh left = without(sim.mesh(b), removed);
    Json message = Json::object();
    message.set("type", "elements");
    message.set("generation", int(generation_));
    message.set("lane", index), message.set("body", b);
    message.set("triangles", elements(surface(left)));
    message.set("edges", elements(left.edges));
    if (const Mesh* carried = sim.embedded_mesh(b))
      message.set("surface", elements(without(*carried, *sim.embedding(b), sim.mesh(b), removed).triangles));
    out.push_back(write_json(message));
    lane.removed[b] = std::move(removed);
  }
}

/// Of a body, or of all (-1).
double Session::rigid(const Lane& lane, int body) const {
  const Simulation& sim = *lane.simulation;
  const std::vector<Vec3> x = sim.positions();
  double sum = 0;
  for (int b = 0; b < sim.bodies(); ++b)
    if (body < 0 || body == b) sum += rigid_energy(sim, b, x, masses_);
  return sum;
}

std::vector<double> Session::metrics(const Lane& lane) const {
  const Simulation& sim = *lane.simulation;
  const Measures m = watched_ < 0 ? sim.measure() : sim.measure(watched_);
  return {m.kinetic,
          m.elastic,
          m.contact,
          m.external,
          m.total,
          m.target_total,
          rigid(lane, watched_),
          norm(m.momentum),
          norm(m.spin),
          double(lane.report.iterations),
          double(lane.report.substeps),
          lane.report.milliseconds,
          m.booked_loss,
          m.heat,
          m.work,
          m.owed,
          m.momentum.x,
          m.momentum.y,
          m.momentum.z,
          m.spin.x,
          m.spin.y,
          m.spin.z,
          m.center.x,
          m.center.y,
          m.center.z,
          lane.failed ? 1.0 : 0.0,
          lane.watch.kept,
          lane.watch.off,
          aimed(lane) ? 1.0 : 0.0};
}

Session::Row Session::row() const {
  Row out;
  out.frame = lanes_[0]->simulation->frame(), out.time = lanes_[0]->simulation->time();
  for (const auto& lane : lanes_)
    for (const double value : metrics(*lane)) out.values.push_back(value);
  return out;
}

std::string Session::frame() {
  std::string out;
  if (lanes_.empty()) return out;
  const Simulation& first = *lanes_[0]->simulation;
  const Row now = row();
  // what the page sees last is what it shows, also where a message changed it after its frame
  if (rows_.empty() || rows_.back().frame != now.frame)
    rows_.push_back(now);
  else
    rows_.back() = now;
  append(out, std::uint32_t(0x46525656));  // "VVRF"
  append(out, std::uint32_t(generation_));
  append(out, std::uint32_t(now.frame));
  append(out, std::uint32_t(lanes_.size()));
  append(out, std::uint32_t(first.vertices()));
  append(out, std::uint32_t(metric_names().size()));
  append(out, std::uint32_t(rows_.size()));
  append(out, std::uint32_t(scene_.colliders.size()));
  append(out, now.time);
  for (const Row& each : rows_) {
    append(out, double(each.frame)), append(out, each.time);
    for (const double value : each.values) append(out, value);
  }
  rows_.clear();
  for (const auto& lane : lanes_)
    for (const Vec3& p : lane->simulation->positions())
      append(out, float(p.x)), append(out, float(p.y)), append(out, float(p.z));
  for (const ColliderSpec& spec : scene_.colliders) {
    const Vec3 at = spec.position.at(first.time()).value_or(Vec3{}),
               turn = spec.rotation.at(first.time()).value_or(Vec3{});
    for (const double value :
         {at.x, at.y, at.z, turn.x, turn.y, turn.z, spec.active.at(first.time()).value_or(false) ? 1.0 : 0.0})
      append(out, float(value));
  }
  for (int a = 0; a < int(supports_.size()); ++a) {  // one that has let go stays where it was
    Support& support = supports_[size_t(a)];
    if (support.told && holds(a)) support.moved = mean_of(first.anchor_points(a)) - support.at;
    for (int k = 0; k < 3; ++k) append(out, float(support.moved[k]));
  }
  return out;
}

}  // namespace verve::live
