// Messages as text: what they say, what is wrong with them, and who acts on them.
#include <algorithm>
#include <cmath>

#include "base/base64.h"
#include "base/text.h"
#include "geometry/enclosure.h"
#include "live/session.h"
#include "record/report_data.h"
#include "verve/material.h"
#include "verve/registry.h"
#include "verve/version.h"

namespace verve::live {

namespace {

/// A page sends a scene file or a mesh at most; whatever is longer was not meant for a session.
constexpr size_t longest_message = 64u << 20;

/// A scene from a page reaches no files: neither are there any in a browser, nor are those of a server its business.
/// Looked for in the text, so that not even whether there is such a file is told.
void refuse_files(const Json& value, const std::string& path, Diagnostics& problems) {
  for (size_t i = 0; i < value.items.size(); ++i) refuse_files(value.items[i], join_path(path, i), problems);
  for (const JsonMember& member : value.members) {
    if (member.key == "file" && member.value.is(Json::Kind::string))
      problems.error(join_path(path, member.key), "found " + describe_found(member.value) +
                                                      ", expected a generator: a page cannot read files by name. verve "
                                                      "serve SCENE can, and a mesh can be dropped onto the page");
    refuse_files(member.value, join_path(path, member.key), problems);
  }
}

constexpr double dropped_cells = 12;  // along the longest side: moves at the rate of the display

/// A mesh on its own, as something that can be pulled about: tetrahedra as they are, a surface that encloses something
/// filled and carried, holes or not, another one as cloth, edges as a rope; soft, above a floor.
Scene scene_around(const std::string& name, Mesh mesh) {
  Vec3 low = mesh.vertices.front(), high = low;
  for (const Vec3& v : mesh.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], v[k]), high[k] = std::max(high[k], v[k]);
  const double size = norm(high - low);
  Scene scene;
  scene.name = name;
  scene.description = "A mesh dropped onto the page.";
  scene.solver.tolerance = 1e-4;
  BodySpec body;
  body.name = "body";
  body.place.scale = size > 0 ? 1.2 / size : 1;
  body.place.translate = (low + high) * (-0.5 * body.place.scale);
  const bool filled = mesh.tetrahedra.empty() && !mesh.triangles.empty() && size > 0 &&
                      !Enclosure(mesh, size / dropped_cells).encloses_nothing();
  const int dimension = filled ? 3 : kind_of(mesh).dimension;
  const auto shape = std::make_shared<Mesh>(std::move(mesh));
  if (filled) {
    body.embed.emplace();
    body.mesh.generator = "solid";
    body.mesh.parameters["cells"] = {dropped_cells};
    body.embed->mesh = shape;
  } else {
    body.mesh.mesh = shape;
  }
  if (const MaterialInfo* material = default_material(dimension)) set_material(body, *material);
  body.dials.half_life = {};  // that is for the page's own dial to say
  scene.bodies.push_back(body);
  // it falls onto a floor by half its size and bounces
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane";
  floor.position = Vec3{0, -0.5 * body.place.scale * (high.y - low.y) - 0.6, 0};
  scene.colliders.push_back(floor);
  scene.gravity = {0, -9.81, 0};
  return scene;
}

/// Whether a link has a scene of its own, or only turns what is there.
bool brings_scene(const Json& message) {
  const Json* link = message.find("link");
  if (message.find("text") || !link || !link->is(Json::Kind::string)) return message.find("text") != nullptr;
  const std::vector<LinkItem> items = parse_link(link->text);
  return std::any_of(items.begin(), items.end(), [](const LinkItem& item) { return item.key == "scene"; });
}

Json error(const std::string& text, const Json* about) {
  Json out = Json::object();
  out.set("type", "error");
  out.set("text", text);
  if (about && about->is(Json::Kind::string)) out.set("about", about->text.substr(0, 100));
  return out;
}

}  // namespace

std::vector<std::string> Session::handle(std::string_view message) {
  answers_.clear();
  const Json* type = nullptr;
  Json root;
  try {
    if (message.size() > longest_message)
      throw Refusal{"found a message of " + std::to_string(message.size()) + " bytes, expected at most " +
                    std::to_string(longest_message)};
    std::vector<JsonProblem> problems;
    root = parse_json(message, 0, problems);
    if (!problems.empty()) throw Refusal{"found a message that is no JSON: " + problems.front().what};
    if (!root.is(Json::Kind::object))
      throw Refusal{"found " + describe_found(root) + ", expected an object with a type"};
    type = root.find("type");
    dispatch(root);
  } catch (const Refusal& refusal) {
    answers_.push_back(write_json(error(refusal.text, type)));
  } catch (const std::invalid_argument& misuse) {  // what the library says of values that nobody looked at before
    answers_.push_back(write_json(error(misuse.what(), type)));
  }
  return std::move(answers_);
}

void Session::dispatch(const Json& message) {
  struct Entry {
    const char* type;
    bool needs_scene;
    void (*act)(Session&, const Json&);
  };
  static const Entry entries[] = {
      {"list", false,
       [](Session& s, const Json&) {
         Json scenes = Json::array(), methods = Json::array(), out = Json::object();
         for (const BuiltinScene& scene : builtin_scenes()) {
           std::vector<JsonProblem> faults;  // there are none: the tests read them all
           const Json read = parse_json(scene.text, 0, faults), *solver = read.find("solver");
           const Json* method = solver ? solver->find("method") : nullptr;
           scenes.items.push_back(Json::object({{"name", scene.name, {}},
                                                {"description", scene.description, {}},
                                                {"method", method ? method->text : SolverSpec().method, {}}}));
         }
         for (const MethodInfo& info : method_infos())
           methods.items.push_back(Json::object({{"name", info.name, {}}, {"help", info.help, {}}}));
         out.set("type", "list");
         out.set("version", VERVE_VERSION);
         out.set("loaded", !s.lanes_.empty());  // a scene was given before the page came
         out.set("scenes", std::move(scenes)), out.set("methods", std::move(methods));
         s.answers_.push_back(write_json(out));
       }},
      {"load", false,
       [](Session& s, const Json& message) {
         s.begin_anew(message, [](Session& next, const Json& m) {
           next.load_message(m);
           if (m.find("snapshots")) next.take_state(m);
           const Json* paused = m.find("paused");
           if (!paused || !paused->boolean) return;
           next.paused_ = true;
           next.tell_state();
         });
       }},
      {"open", false,
       [](Session& s, const Json& m) {
         const auto open = [](Session& session, const Json& link) { session.open_link(link); };
         brings_scene(m) ? s.begin_anew(m, open) : open(s, m);
       }},
      {"hello", true, [](Session& s, const Json&) { s.tell_scene({}); }},
      {"methods", true, [](Session& s, const Json& m) { s.set_methods(m); }},
      {"pause", true,
       [](Session& s, const Json& m) {
         const Json* on = m.find("on");
         if (on && !on->is(Json::Kind::boolean))
           throw Refusal{"pause: on: found " + describe_found(*on) + ", expected true or false"};
         s.paused_ = on ? on->boolean : !s.paused_;
         s.tell_state();
       }},
      {"step", true,
       [](Session& s, const Json& m) {
         s.paused_ = true;
         s.pending_steps_ = m.find("frames") ? int(s.number(m, "frames", 1, 10000)) : s.pending_steps_ + 1;
         s.tell_state();
       }},
      {"reset", true, [](Session& s, const Json&) { s.restart(); }},
      {"speed", true, [](Session& s, const Json& m) { s.speed_ = s.number(m, "value", 0.01, 10), s.tell_state(); }},
      {"watch", true,
       [](Session& s, const Json& m) {
         s.watched_ = int(s.number(m, "body", -1, s.lanes_[0]->simulation->bodies() - 1));
         s.changed_ = true;
         s.tell_state();
       }},
      {"dial", true, [](Session& s, const Json& m) { s.turn_dial(m); }},
      {"lock", true, [](Session& s, const Json& m) { s.turn_lock(m); }},
      {"grab", true, [](Session& s, const Json& m) { s.grab(m, false); }},
      {"drag", true, [](Session& s, const Json& m) { s.drag(m); }},
      {"release", true, [](Session& s, const Json& m) { s.release(m); }},
      {"push", true, [](Session& s, const Json& m) { s.push(m); }},
      {"spin", true, [](Session& s, const Json& m) { s.spin(m); }},
      {"pin", true, [](Session& s, const Json& m) { s.toggle_pin(m); }},
      {"calm", true, [](Session& s, const Json&) { s.calm(); }},
      {"undo", true, [](Session& s, const Json&) { s.undo(); }},
      {"keep", true, [](Session& s, const Json&) { s.keep_moment(); }},
      {"return", true, [](Session& s, const Json& m) { s.return_to(m); }},
      {"forget", true, [](Session& s, const Json& m) { s.forget_moment(m); }},
      {"floor", true, [](Session& s, const Json& m) { s.set_floor(m); }},
      {"save", true, [](Session& s, const Json&) { s.save(); }},
      {"hash", true, [](Session& s, const Json&) { s.tell_hash(); }},
      {"explain", true, [](Session& s, const Json&) { s.explain(); }},
  };
  std::vector<std::string> known;
  for (const Entry& entry : entries) known.push_back(entry.type);
  const std::string type = text(message, "type");
  for (const Entry& entry : entries) {
    if (type != entry.type) continue;
    if (entry.needs_scene && lanes_.empty()) throw Refusal{type + ": no scene is loaded yet"};
    entry.act(*this, message);
    return;
  }
  throw Refusal{"type: found \"" + type.substr(0, 100) + "\", " + expected_one_of(type.substr(0, 100), known)};
}

/// What replaces the scene does so when all of it went well.
void Session::begin_anew(const Json& message, void (*act)(Session&, const Json&)) {
  Session next(options_);
  next.generation_ = generation_;
  act(next, message);
  *this = std::move(next);
}

void Session::load_message(const Json& message) {
  std::vector<std::string> methods;
  if (const Json* names = message.find("methods"))
    for (const Json& name : names->items) methods.push_back(name.text);
  if (int(methods.size()) > most_lanes)
    throw Refusal{"methods: found " + std::to_string(methods.size()) + ", expected at most " +
                  std::to_string(most_lanes)};
  const Json* duel = message.find("duel");  // beside the usual method, unless it is that itself
  const auto sides = [&](const Scene& scene) {
    std::vector<std::string> out = methods;
    if (out.empty() && duel && duel->boolean && scene.solver.method != "pd") out = {scene.solver.method, "pd"};
    return out;
  };
  for (const std::string& name : methods)
    if (!find_method(name)) throw Refusal{"methods: found \"" + name + "\", which is none; see the list of methods"};
  std::optional<double> step;
  if (const Json* given = message.find("step"); given && given->is(Json::Kind::number) && given->number > 0)
    step = given->number;
  if (message.find("scene")) {
    const std::string name = text(message, "scene");
    std::vector<std::string> known;
    for (const BuiltinScene& scene : builtin_scenes()) {
      known.push_back(scene.name);
      if (scene.name != name) continue;
      Expected<Scene> read = parse_scene(scene.text, scene.name);
      if (!read) throw Refusal{read.diagnostics().text()};
      return start(*read, sides(*read), step);
    }
    throw Refusal{"scene: found \"" + name.substr(0, 100) + "\", " + expected_one_of(name.substr(0, 100), known)};
  }
  const std::string name = message.find("name") ? text(message, "name") : "dropped.json";
  if (message.find("mesh") || message.find("mesh64")) {  // a file as text, or as base64
    std::string bytes;
    if (message.find("mesh"))
      bytes = text(message, "mesh");
    else if (!decode_base64(text(message, "mesh64"), bytes))
      throw Refusal{"mesh64: found something else, expected base64"};
    Expected<Mesh> mesh = parse_mesh(bytes, name);
    if (!mesh) throw Refusal{mesh.diagnostics().text()};
    const Scene scene = scene_around(name, std::move(*mesh));
    return start(scene, sides(scene));
  }
  const std::string written = text(message, "text");
  Diagnostics problems;
  std::vector<JsonProblem> faults;  // the reader of scenes will tell of these
  refuse_files(parse_json(written, 0, faults), "", problems);
  if (problems.has_errors()) throw Refusal{problems.text()};
  Expected<Scene> read = parse_scene(written, name);
  if (!read) throw Refusal{read.diagnostics().text()};
  start(*read, sides(*read), step);
  if (message.find("motion") && !message.find("snapshots")) take_motion(message);
}

double Session::number(const Json& message, const char* key, double low, double high) const {
  const Json* value = message.find(key);
  if (!value || !value->is(Json::Kind::number) || !(value->number >= low && value->number <= high))
    throw Refusal{std::string(key) + ": found " + (value ? describe_found(*value) : "nothing") +
                  ", expected a number from " + format_value(low) + " to " + format_value(high)};
  return value->number;
}

int Session::index(const Json& message, const char* key, int count) const {
  const double value = number(message, key, 0, count - 1);
  if (value != std::floor(value))
    throw Refusal{std::string(key) + ": found " + format_value(value) + ", expected a whole number"};
  return int(value);
}

Vec3 Session::vector(const Json& message, const char* key) const {
  const Json* value = message.find(key);
  Vec3 out;
  bool good = value && value->is(Json::Kind::array) && value->items.size() == 3;
  for (int k = 0; good && k < 3; ++k) {
    const Json& item = value->items[k];
    good = item.is(Json::Kind::number) && std::isfinite(item.number) && std::abs(item.number) <= 1e12;
    out[k] = item.number;
  }
  if (!good)
    throw Refusal{std::string(key) + ": found " + (value ? describe_found(*value) : "nothing") +
                  ", expected three numbers"};
  return out;
}

std::string Session::text(const Json& message, const char* key) const {
  const Json* value = message.find(key);
  if (!value || !value->is(Json::Kind::string))
    throw Refusal{std::string(key) + ": found " + (value ? describe_found(*value) : "nothing") + ", expected a text"};
  return value->text;
}

std::pair<int, int> Session::body_and_vertex(const Json& message) const {
  const Simulation& sim = *lanes_[0]->simulation;
  const int vertex = index(message, "vertex", sim.vertices());
  int body = sim.bodies() - 1;
  while (sim.first_vertex(body) > vertex) --body;
  return {body, vertex - sim.first_vertex(body)};
}

int Session::body_of(const Json& message) const {
  return message.find("body") ? index(message, "body", lanes_[0]->simulation->bodies()) : 0;
}

}  // namespace verve::live
