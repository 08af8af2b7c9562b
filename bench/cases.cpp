#include "bench/cases.h"

#include <algorithm>
#include <stdexcept>

#include "verve/scene_file.h"

namespace verve::bench {

namespace {

Scene builtin(const std::string& name) {
  Expected<Scene> scene = read_scene(name);
  if (!scene) throw std::runtime_error(scene.diagnostics().text());
  return std::move(*scene);
}

bool is_builtin(const std::string& name) {
  const auto& all = builtin_scenes();
  return std::any_of(all.begin(), all.end(), [&](const BuiltinScene& s) { return s.name == name; });
}

InitialState stretched_and_spun() {
  InitialState initial;
  initial.stretch = {1, 1.3, 1};
  initial.angular_velocity = {0.2, 1, 0};
  return initial;
}

BodySpec solid(const std::string& name, const std::string& generator, Parameters parameters, double mu) {
  BodySpec body;
  body.name = name;
  body.mesh.generator = generator;
  body.mesh.parameters = std::move(parameters);
  body.potentials.push_back({"tet_strain", {{"mu", Track<double>(mu)}}});
  return body;
}

// Kee et al. 2021, Table 1.
constexpr PaperRow paper_rows[] = {
    {"Bear", 3743, 14025, 8.5, 47.1, 3.3, 41.8, 2.0},         {"Cube", 792, 2911, 5.1, 6.3, 0.9, 5.1, 0.3},
    {"Torus", 2096, 7311, 7.0, 20.6, 1.7, 17.8, 1.1},         {"T-pipe", 1686, 5779, 5.4, 19.2, 2.6, 15.7, 0.9},
    {"Hippo", 2387, 8406, 18.5, 53.0, 1.4, 48.2, 3.4},        {"Ball", 889, 1772, 3.4, 2.8, 0.6, 2.0, 0.2},
    {"Colliding bears", 1944, 6805, 2.9, 6.6, 1.3, 4.8, 0.5}, {"Strip", 738, 1920, 2.7, 2.4, 0.5, 1.8, 0.1},
    {"Trampoline", 3600, 10563, 3.2, 9.1, 4.0, 5.0, 0.1},     {"Cloth", 3600, 10563, 3.1, 9.1, 4.2, 4.8, 0.1}};

struct TableEntry {
  const char* name;
  int paper;  // index into paper_rows
};
constexpr TableEntry table_entries[] = {
    {"bear", 0},       {"cube", 1}, {"torus", 2},           {"t_pipe_intermediate", 3},
    {"hippo", 4},      {"ball", 5}, {"colliding_bears", 6}, {"strip", 7},
    {"trampoline", 8}, {"cloth", 9}};

/// Stand-ins for the paper's three scenes with contact: the same meshes in motion, nothing touching.
Scene stand_in(const std::string& name) {
  Scene scene;
  scene.name = name;
  scene.gravity = {0, -9.81, 0};
  if (name == "ball") {  // as it leaves the floor
    scene.bodies.push_back(solid("ball", "ball", {}, 1e4));
    scene.bodies[0].initial.stretch = {1, 0.8, 1};
    scene.bodies[0].initial.velocity = {0, 4, 0};
  } else if (name == "colliding_bears") {  // resolution 14.4: two bears together have the paper's number of vertices
    scene.gravity = {};
    for (const double side : {-1.0, 1.0}) {
      BodySpec& bear = scene.bodies.emplace_back(
          solid(side < 0 ? "left" : "right", "bear", {{"size", {1}}, {"resolution", {14.4}}}, 5e3));
      bear.place.translate = {0.8 * side, 0, 0};
      bear.initial.stretch = {0.9, 1.05, 1.05};
      bear.initial.velocity = {-2 * side, 0, 0};
    }
  } else {  // a strip hung over a bar
    scene.bodies.push_back(solid("strip", "strip", {}, 1e5));
    AnchorSpec bar;
    bar.name = "bar", bar.body = "strip";
    bar.vertices.box = std::array<Vec3, 2>{Vec3{-0.03, -0.03, -0.21}, Vec3{0.03, 0.0, 0.21}};
    bar.stiffness = Track<double>(1e4);
    scene.anchors.push_back(bar);
  }
  return scene;
}

}  // namespace

const std::vector<std::string>& iteration_case_names() {
  static const std::vector<std::string> names{"cube", "hippo", "bear", "cloth60", "box105k"};
  return names;
}

IterationCase iteration_case(const std::string& name) {
  if (name == "box105k") return {name, box_scene(name, 26), 1, 5};
  IterationCase out{name, builtin(name == "cloth60" ? "cloth" : name), 30, 10};
  if (name == "bear") {  // at rest until it is pushed
    out.scene.bodies[0].initial = stretched_and_spun();
    out.scene.anchors.clear(), out.scene.pushes.clear();
  }
  return out;
}

const std::vector<std::string>& table_scene_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const TableEntry& e : table_entries) out.push_back(e.name);
    return out;
  }();
  return names;
}

TableScene table_scene(const std::string& name) {
  for (const TableEntry& e : table_entries) {
    if (name != e.name) continue;
    TableScene out{name, "", paper_rows[e.paper], {}};
    if (is_builtin(name)) {
      out.scene = builtin(name);
    } else {
      out.scene = stand_in(name);
      out.note = "without contact";
    }
    out.scene.solver.tolerance = 1e-4;  // the paper's
    return out;
  }
  throw std::invalid_argument("table_scene: no scene " + name);
}

const std::vector<GrowthBox>& growth_boxes() {
  static const std::vector<GrowthBox> boxes{{"box1k", 6},    {"box3k", 8},    {"box10k", 12}, {"box29k", 17},
                                            {"box105k", 26}, {"box329k", 38}, {"box1M", 56}};
  return boxes;
}

Scene box_scene(const std::string& name, int cells) {
  Scene scene;
  scene.name = name;
  const double n = cells;
  scene.bodies.push_back(solid("box", "box", {{"size", {1, 1, 1}}, {"cells", {n, n, n}}, {"tets_per_cell", {6}}}, 8e3));
  scene.bodies[0].initial = stretched_and_spun();
  return scene;
}

}  // namespace verve::bench
