#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "verve/scene.h"

using namespace verve;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const double infinite = std::numeric_limits<double>::infinity();

Selection everything() {
  Selection out;
  out.all = true;
  return out;
}
AnchorSpec anchored(const std::string& body, const std::string& to_body = "") {
  AnchorSpec out;
  out.body = body;
  out.to_body = to_body;
  out.vertices = everything();
  return out;
}

Scene two_bodies() {
  Scene s;
  s.bodies.resize(2);
  s.bodies[0].name = "a";
  s.bodies[1].name = "b";
  for (BodySpec& body : s.bodies) body.mesh.generator = "cube";
  s.bodies[0].potentials.push_back({"tet_strain", {{"mu", 1e4}}});
  s.anchors.push_back(anchored("a"));
  s.forces.resize(1);
  s.forces[0].body = "a";
  s.forces[0].vertices = everything();
  s.forces[0].force = {0, 1, 0};
  s.pushes.resize(1);
  s.pushes[0].body = "a";
  s.pushes[0].time = 1e6;
  s.pushes[0].impulse = {0, 1, 0};
  return s;
}

}  // namespace

TEST_CASE("a sound scene has nothing to report, a push after its end included") {
  CHECK(check_scene(two_bodies()).empty());
}

TEST_CASE("an empty scene lacks a body") {
  CHECK(check_scene(Scene{}).text() == "bodies: found none, expected at least one body");
}

TEST_CASE("every fault of a scene built in C++ is reported once, at its path") {
  struct Fault {
    const char* where;
    std::function<void(Scene&)> make;
  };
  using S = Scene;
  const std::vector<Fault> faults = {
      {"step", [](S& s) { s.step = 0; }},
      {"step", [](S& s) { s.step = not_a_number; }},
      {"step", [](S& s) { s.step = infinite; }},
      {"frames", [](S& s) { s.frames = 0; }},
      {"gravity", [](S& s) { s.gravity.z = not_a_number; }},
      {"solver.method", [](S& s) { s.solver.method = "magic"; }},
      {"solver.method", [](S& s) { s.solver.method = ""; }},
      {"solver.integrator", [](S& s) { s.solver.integrator = "leap"; }},
      {"solver.minimizer", [](S& s) { s.solver.minimizer = "luck"; }},
      {"solver.minimizer", [](S& s) { s.solver.minimizer = "newton"; }},
      {"solver.acceleration", [](S& s) { s.solver.acceleration = Acceleration(3); }},
      {"solver.acceleration", [](S& s) { s.solver.acceleration = Acceleration::anderson; }},
      {"solver.window", [](S& s) { s.solver.window = 0; }},
      {"solver.conservation", [](S& s) { s.solver.conservation = "energie"; }},
      {"solver.rho", [](S& s) { s.solver.rho = 1.1; }},
      {"solver.rho", [](S& s) { s.solver.rho = -0.1; }},
      {"solver.tolerance", [](S& s) { s.solver.tolerance = 0; }},
      {"solver.iterations", [](S& s) { s.solver.iterations = 0; }},
      {"solver.substeps", [](S& s) { s.solver.substeps = 65; }},
      {"solver.substeps", [](S& s) { s.solver.substeps = -1; }},
      {"solver.epsilon", [](S& s) { s.solver.epsilon = 0; }},
      {"bodies[1].name", [](S& s) { s.bodies[1].name = "a"; }},
      {"bodies[1].name", [](S& s) { s.bodies[1].name = ""; }},
      {"bodies[1].name", [](S& s) { s.bodies[1].name = "all"; }},
      {"bodies[1].name", [](S& s) { s.bodies[1].name = "b,c"; }},
      {"bodies[0].density", [](S& s) { s.bodies[0].density = -1; }},
      {"bodies[0].density", [](S& s) { s.bodies[0].density = not_a_number; }},
      {"bodies[0].mass", [](S& s) { s.bodies[0].mass = 0; }},
      {"bodies[0].color", [](S& s) { s.bodies[0].color = "red"; }},
      {"bodies[0].color", [](S& s) { s.bodies[0].color = "#12345g"; }},
      {"bodies[0].mesh", [](S& s) { s.bodies[0].mesh.generator = ""; }},
      {"bodies[0].mesh", [](S& s) { s.bodies[0].mesh.file = "x.mesh"; }},
      {"bodies[0].mesh", [](S& s) { s.bodies[0].mesh.mesh = std::make_shared<Mesh>(); }},
      {"bodies[0].mesh.generator", [](S& s) { s.bodies[0].mesh.generator = "qube"; }},
      {"bodies[0].mesh.size", [](S& s) { s.bodies[0].mesh.parameters["size"] = {-1}; }},
      {"bodies[0].mesh.size",
       [](S& s) {
         s.bodies[0].mesh.parameters["size"] = {1, 2};
       }},
      {"bodies[0].mesh.sighs", [](S& s) { s.bodies[0].mesh.parameters["sighs"] = {1}; }},
      {"bodies[0].place.scale", [](S& s) { s.bodies[0].place.scale = 0; }},
      {"bodies[0].place.rotate", [](S& s) { s.bodies[0].place.rotate.x = infinite; }},
      {"bodies[0].potentials[0].type", [](S& s) { s.bodies[0].potentials[0].type = "tet_strian"; }},
      {"bodies[0].potentials[0].mu", [](S& s) { s.bodies[0].potentials[0].parameters["mu"] = -1.0; }},
      {"bodies[0].potentials[0].mu", [](S& s) { s.bodies[0].potentials[0].parameters["mu"] = {}; }},
      {"bodies[0].potentials[0].nu", [](S& s) { s.bodies[0].potentials[0].parameters["nu"] = 1.0; }},
      {"bodies[0].potentials[0].mu.keys[1][1]",
       [](S& s) {
         s.bodies[0].potentials[0].parameters["mu"].keys = {{0, 1.0}, {1, not_a_number}};
       }},
      {"bodies[0].potentials[0].mu.keys[1][1]",
       [](S& s) {
         s.bodies[0].potentials[0].parameters["mu"].keys = {{0, 1.0}, {1, std::nullopt}};
       }},
      {"bodies[0].potentials[0].mu.keys[0][0]",
       [](S& s) {
         s.bodies[0].potentials[0].parameters["mu"].keys = {{0.5, 1.0}, {1, 2.0}};
       }},
      // whole numbers: one for all elements, and none between two keys
      {"bodies[0].potentials[0].width",
       [](S& s) {
         s.bodies[0].potentials[0] = {"lattice_shape_matching", {}};
         s.bodies[0].potentials[0].arrays["width"] = {1, 2};
       }},
      {"bodies[0].potentials[0].width.interpolation",
       [](S& s) {
         s.bodies[0].potentials[0] = {"lattice_shape_matching", {}};
         s.bodies[0].potentials[0].parameters["width"].keys = {{0, 1.0}, {1, 2.0}};
       }},
      // groups of no area or volume
      {"bodies[0].potentials[0].scale",
       [](S& s) {
         s.bodies[0].potentials[0] = {"volume", {{"scale", 0.0}}};
         s.bodies[0].potentials[0].groups = {{0, 1, 10, 100}};
       }},
      {"bodies[0].potentials[0].target",
       [](S& s) {
         s.bodies[0].potentials[0] = {"area", {{"target", 0.0}}};
         s.bodies[0].potentials[0].groups = {{0, 1, 10}};
       }},
      {"bodies[0].initial.stretch", [](S& s) { s.bodies[0].initial.stretch.y = not_a_number; }},
      {"bodies[0].initial.squash",
       [](S& s) {
         s.bodies[0].initial.squash = Vec3{1, -1, 1};
       }},
      {"anchors[0].path",
       [](S& s) {
         s.anchors[0].to_point.reset();
         s.anchors[0].to_body = "b";
         s.anchors[0].path = Vec3{1, 0, 0};
       }},
      {"bodies[0].initial.noise", [](S& s) { s.bodies[0].initial.noise = -1; }},
      {"bodies[0].dials.half_life", [](S& s) { s.bodies[0].dials.half_life = 0.0; }},
      {"bodies[0].dials.damping", [](S& s) { s.bodies[0].dials.damping = -0.1; }},
      {"bodies[0].dials.damping", [](S& s) { s.bodies[0].dials.damping = 0.1, s.bodies[0].dials.half_life = 1.0; }},
      {"bodies[0].dials.energy.keys[1][0]",
       [](S& s) {
         s.bodies[0].dials.energy.keys = {{1, 1.0}, {1, 2.0}};
       }},
      {"bodies[0].dials.energy.keys[0][0]",
       [](S& s) {
         s.bodies[0].dials.energy.keys = {{not_a_number, 1.0}};
       }},
      {"bodies[0].dials.spin.keys[0][1]",
       [](S& s) {
         s.bodies[0].dials.spin.keys = {{0, Vec3{0, 0, not_a_number}}};
       }},
      {"anchors[0].body", [](S& s) { s.anchors[0].body = "aa"; }},
      {"anchors[0].vertices", [](S& s) { s.anchors[0].vertices = {}; }},
      {"anchors[0].vertices.indices[1]",
       [](S& s) {
         s.anchors[0].vertices.indices = {0, -3};
       }},
      {"anchors[0].vertices.box",
       [](S& s) {
         s.anchors[0].vertices.box = {{Vec3{1, 0, 0}, Vec3{0, 1, 1}}};
       }},
      {"anchors[0].vertices.sphere.radius",
       [](S& s) {
         s.anchors[0].vertices.sphere = {Vec3{}, -1.0};
       }},
      {"anchors[0].vertices.sphere.center",
       [](S& s) {
         s.anchors[0].vertices.sphere = {Vec3{not_a_number, 0, 0}, 1.0};
       }},
      {"anchors[0].vertices.nearest",
       [](S& s) {
         s.anchors[0].vertices.nearest = Vec3{not_a_number, 0, 0};
       }},
      {"anchors[0].stiffness", [](S& s) { s.anchors[0].stiffness = -1.0; }},
      {"anchors[0].stiffness", [](S& s) { s.anchors[0].stiffness = {}; }},
      {"anchors[0].to_body", [](S& s) { s.anchors[0].to_body = "c"; }},
      {"anchors[0].within", [](S& s) { s.anchors[0].within = 0.1; }},
      {"anchors[0].within", [](S& s) { s.anchors[0].to_body = "b", s.anchors[0].within = -0.1; }},
      {"anchors[0].to_body", [](S& s) { s.anchors[0].to_body = "a"; }},
      {"anchors[0].to_body", [](S& s) { s.anchors[0].to_body = "b", s.anchors[0].to_point = Vec3{}; }},
      {"anchors[0].to_point",
       [](S& s) {
         s.anchors[0].to_point = Vec3{0, infinite, 0};
       }},
      {"anchors[1].name", [](S& s) { s.anchors[0].name = "x", s.anchors.push_back(s.anchors[0]); }},
      {"anchors[1].to_body",
       [](S& s) {
         s.anchors[0].to_body = "b";
         s.anchors.push_back(anchored("b", "a"));
       }},
      {"forces[0].body", [](S& s) { s.forces[0].body = ""; }},
      {"forces[0].vertices", [](S& s) { s.forces[0].vertices = {}; }},
      {"forces[0].force", [](S& s) { s.forces[0].force.x = not_a_number; }},
      {"forces[0].active.keys[1][0]",
       [](S& s) {
         s.forces[0].active.keys = {{1, true}, {0, false}};
       }},
      {"pushes[0].body", [](S& s) { s.pushes[0].body = "c"; }},
      {"pushes[0].time", [](S& s) { s.pushes[0].time = -1; }},
      {"pushes[0].impulse", [](S& s) { s.pushes[0].impulse.x = infinite; }},
      {"pushes[0].radius", [](S& s) { s.pushes[0].radius = -1; }},
      {"pushes[0].rest_point", [](S& s) { s.pushes[0].point = s.pushes[0].rest_point = Vec3{}; }},
  };
  for (const Fault& fault : faults) {
    Scene scene = two_bodies();
    fault.make(scene);
    const Diagnostics found = check_scene(scene);
    CAPTURE(fault.where);
    CAPTURE(found.text());
    REQUIRE(found.items().size() == 1);
    CHECK(found.items()[0].where == fault.where);
    CHECK(found.items()[0].what.find("expected") != std::string::npos);
  }
}
