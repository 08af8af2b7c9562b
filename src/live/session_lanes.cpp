// Lanes: the scene by each method, with or without a floor that it does not have.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "live/session.h"
#include "verve/registry.h"

namespace verve::live {

namespace {

/// Three quarters of what the bodies take up below the lowest of them.
double floor_height(const Simulation& sim) {
  Vec3 low = sim.positions().front(), high = low;
  for (const Vec3& p : sim.positions())
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  return low.y - 0.75 * norm(high - low);
}

ColliderSpec floor_at(double height) {
  ColliderSpec out;
  out.name = "floor", out.shape = "plane";
  out.position = Vec3{0, height, 0};
  return out;
}

bool is_floor(const ColliderSpec& spec) { return spec.shape == "plane" && spec.normal.y > 0.999 * norm(spec.normal); }

/// Height of the floor that the page may take away: methods without contact go before it.
std::optional<double> switched_floor(const Scene& scene) {
  std::optional<double> out;
  for (const ColliderSpec& c : scene.colliders)
    if (c.name == "floor" && is_floor(c) && c.position.is_constant()) out = c.position.at(0)->y;
  return out;
}

Scene without_floor(const Scene& scene) {
  Scene out = scene;
  std::erase_if(out.colliders, [](const ColliderSpec& c) { return c.name == "floor" && is_floor(c); });
  return out;
}

}  // namespace

std::unique_ptr<Session::Lane> Session::make_lane(const Scene& scene, const std::string& method,
                                                  Diagnostics& notes) const {
  Scene own = scene;
  if (turned_.step) own.step = *turned_.step;  // what is said about a step is said of the one that it will have
  if (!method.empty()) {  // as `verve compare` does: an axis or a cap that the scene sets belongs to its own method
    const SolverSpec defaults;
    own.solver.method = method;
    own.solver.integrator = own.solver.minimizer = own.solver.conservation = "";
    own.solver.direction = defaults.direction, own.solver.acceleration = defaults.acceleration;
    own.solver.rho = defaults.rho;
    own.solver.iterations = defaults.iterations, own.solver.budget = defaults.budget;
  }
  Expected<Simulation> made = Simulation::create(own, options_);
  for (const Diagnostic& d : made.diagnostics().items()) {
    const auto same = [&](const Diagnostic& other) { return other.where == d.where && other.what == d.what; };
    if (std::none_of(notes.items().begin(), notes.items().end(), same)) notes.items().push_back(d);
  }
  if (!made) return nullptr;
  auto lane = std::make_unique<Lane>();
  lane->method = own.solver.method;
  lane->simulation = std::make_unique<Simulation>(std::move(*made));
  lane->removed.resize(lane->simulation->bodies());
  return lane;
}

/// Lanes of a scene by these methods. Those that refuse it are left out and named in the notes; none at all is refused.
std::vector<std::unique_ptr<Session::Lane>> Session::make_lanes(const Scene& scene,
                                                                const std::vector<std::string>& methods,
                                                                Diagnostics& notes, bool at_least_one) const {
  std::vector<std::unique_ptr<Lane>> lanes;
  Diagnostics refused;
  for (const std::string& method : methods.empty() ? std::vector<std::string>{""} : methods) {
    Diagnostics own;
    std::unique_ptr<Lane> lane = make_lane(scene, method == scene.solver.method ? "" : method, own);
    for (Diagnostic d : own.items()) {
      if (!lane) d.severity = Severity::warning, d.what = "left out \"" + method + "\": " + d.what;
      const auto same = [&](const Diagnostic& other) { return other.where == d.where && other.what == d.what; };
      if (std::none_of(notes.items().begin(), notes.items().end(), same)) notes.items().push_back(d);
    }
    if (lane)
      lanes.push_back(std::move(lane));
    else
      refused.append(own);
  }
  if (lanes.empty() && at_least_one) throw Refusal{refused.text()};
  return lanes;
}

/// The scene by one or several methods, its own where none is given. `step`: what the dial is about to be turned to.
void Session::start(const Scene& given, const std::vector<std::string>& methods, std::optional<double> step) {
  Diagnostics notes;
  Scene scene = given;
  const Turned before = std::exchange(turned_, {});
  turned_.step = step;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::optional<double> floor = switched_floor(scene);  // its own, of a saved state, or below a mesh that was dropped
  // Bodies without weight have a floor to be thrown at, out of the way of their own motion. Where they are tells a
  // method that has nothing to factor.
  if (norm(scene.gravity) == 0 && scene.colliders.empty()) {
    Diagnostics unused;
    Scene alone = scene;
    alone.contact.reset();
    std::unique_ptr<Lane> placed = make_lane(alone, "symplectic_euler", unused);
    if (!placed) placed = make_lane(scene, "", unused);
    if (placed) {
      floor = floor_height(*placed->simulation);
      scene.colliders.push_back(floor_at(*floor));
      lanes = make_lanes(scene, methods, notes, false);
    }
  }
  try {
    if (lanes.empty() || lanes.size() < methods.size()) {
      Diagnostics bare;
      std::vector<std::unique_ptr<Lane>> all = make_lanes(given, methods, bare);
      if (all.size() > lanes.size())  // methods without contact go before a floor that nobody asked for
        lanes = std::move(all), notes = bare, floor = switched_floor(given), scene = given;
    }
  } catch (const Refusal&) {
    turned_ = before;
    throw;
  }
  scene_ = scene;
  lanes_ = std::move(lanes);
  floor_ = floor;
  lifted_.clear();
  hands_.clear();
  forget_past();
  turned_ = {};
  watched_ = -1, pending_steps_ = 0, next_pin_ = -1;
  paused_ = false, speed_ = 1;
  const Simulation& sim = *lanes_[0]->simulation;
  masses_ = sim.masses();
  shapes_.clear();
  size_ = 0;
  for (int b = 0; b < sim.bodies(); ++b) {
    Vec3 low = sim.mesh(b).vertices.front(), high = low;
    for (const Vec3& v : sim.mesh(b).vertices)
      for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], v[k]), high[k] = std::max(high[k], v[k]);
    const Mesh& mesh = sim.mesh(b);
    shapes_.push_back({norm(high - low), sim.measure(b).mass,
                       !mesh.tetrahedra.empty()  ? 3
                       : !mesh.triangles.empty() ? 2
                                                 : 1});
    size_ = std::max(size_, shapes_.back().size);
  }
  tell_scene(notes);
}

std::vector<std::string> Session::load(const Scene& scene) {
  answers_.clear();
  try {
    start(scene, {});
  } catch (const Refusal& refusal) {
    answers_.push_back(write_json(Json::object({{"type", "error", {}}, {"text", refusal.text, {}}})));
  }
  return std::move(answers_);
}

/// Whether the scene came with a floor of its own.
bool Session::own_floor() const {
  return !floor_ && std::any_of(scene_.colliders.begin(), scene_.colliders.end(), is_floor);
}

/// The same motion in lanes of a scene that has something more or less.
void Session::remake(const Scene& scene) {
  if (lanes_[0]->simulation->measure().torn > 0)
    throw Refusal{"found a body that has torn, expected this before that, or a restart"};
  Diagnostics notes;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const auto& lane : lanes_) {
    lanes.push_back(make_lane(scene, lane->method == scene_.solver.method ? "" : lane->method, notes));
    if (!lanes.back()) throw Refusal{notes.text()};
    Simulation &to = *lanes.back()->simulation, &from = *lane->simulation;
    to.set_step(from.scene().step);
    to.set_state(from.positions(), from.velocities());
    to.set_time(from.time(), from.frame());
    lanes.back()->report = lane->report, lanes.back()->failed = lane->failed;
  }
  scene_ = scene;
  lanes_ = std::move(lanes);
  forget_past();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    apply_turned(*lanes_[i]);
    for (auto& [id, hand] : hands_) attach(hand, i);
  }
  touched();
}

/// The scene's own floors, or one that it does not have, below where the bodies are now.
void Session::set_floor(const Json& message) {
  const Json* on = message.find("on");
  if (!on || !on->is(Json::Kind::boolean)) throw Refusal{"floor: on: expected true or false"};
  if (on->boolean == (floor_.has_value() || own_floor())) return tell_state();
  Scene other = scene_;
  if (!on->boolean) {
    std::map<size_t, ColliderSpec> floors;
    for (size_t c = 0; c < scene_.colliders.size(); ++c)
      if (is_floor(scene_.colliders[c])) floors.emplace(c, scene_.colliders[c]);
    std::erase_if(other.colliders, is_floor);
    remake(other);
    lifted_ = std::move(floors);
  } else {
    // those that were there before, unless bodies are below them by now
    double lowest = HUGE_VAL;
    for (const Vec3& p : lanes_[0]->simulation->positions()) lowest = std::min(lowest, p.y);
    const bool clear = std::all_of(lifted_.begin(), lifted_.end(), [&](const auto& floor) {
      return floor.second.position.at(lanes_[0]->simulation->time()).value_or(Vec3{}).y <= lowest;
    });
    if (clear)
      for (const auto& [place, spec] : lifted_)  // the first first: each where it was
        other.colliders.insert(other.colliders.begin() + std::ptrdiff_t(place), spec);
    if (!clear || lifted_.empty()) other.colliders.push_back(floor_at(floor_height(*lanes_[0]->simulation)));
    remake(other);
    lifted_.clear();
  }
  floor_ = switched_floor(scene_);
  tell_scene({});
}

/// Other methods beside or in place of those there are, all from where the first lane is, or from the start.
void Session::set_methods(const Json& message) {
  const Json* names = message.find("names");
  std::vector<std::string> methods;
  for (const Json& name : names && names->is(Json::Kind::array) ? names->items : std::vector<Json>{}) {
    if (!name.is(Json::Kind::string)) throw Refusal{"methods: found " + describe_found(name) + ", expected a name"};
    if (!find_method(name.text)) {
      std::vector<std::string> known;
      for (const MethodInfo& info : method_infos()) known.push_back(info.name);
      throw Refusal{"methods: found \"" + name.text + "\", " + expected_one_of(name.text, known)};
    }
    methods.push_back(name.text);
  }
  if (methods.empty() || int(methods.size()) > most_lanes)
    throw Refusal{"methods: found " + std::to_string(methods.size()) + ", expected 1 to " + std::to_string(most_lanes)};
  const Json* again = message.find("restart");
  const bool from_start = again && again->boolean;
  Diagnostics notes;
  std::vector<std::unique_ptr<Lane>> lanes = make_lanes(scene_, methods, notes, !floor_);
  if (floor_ && lanes.size() < methods.size()) {  // methods without contact go before the floor
    const Scene bare = without_floor(scene_);
    Diagnostics others;
    std::vector<std::unique_ptr<Lane>> more = make_lanes(bare, methods, others);
    if (more.size() > lanes.size()) {
      lanes = std::move(more), notes = others, scene_ = bare;
      floor_.reset();
      notes.warning("floor", "taken away: not all of these methods know contact");
    }
  }
  const Simulation& now = *lanes_[0]->simulation;
  const std::vector<Vec3> x = now.positions(), v = now.velocities();
  const double time = now.time();
  const int frame = now.frame();
  const bool torn = now.measure().torn > 0;
  for (auto& lane : lanes) {
    // what has torn cannot be handed over: those restart
    if (from_start || torn) continue;
    lane->simulation->set_step(now.scene().step);
    lane->simulation->set_state(x, v);
    lane->simulation->set_time(time, frame);
  }
  if (from_start || torn) hands_.clear();
  lanes_ = std::move(lanes);
  forget_past();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    apply_turned(*lanes_[i]);
    for (auto& [id, hand] : hands_) {
      hand.anchors.resize(lanes_.size()), hand.start.resize(lanes_.size());
      attach(hand, i);
    }
  }
  tell_scene(notes);
}

}  // namespace verve::live
