// What of a simulation comes into a picture.
#include "stage/stage.h"

#include <doctest/doctest.h>

#include <cmath>

#include "verve/scene_file.h"

using namespace verve;
using namespace verve::render;

namespace {

Simulation make(const std::string& text) {
  const Expected<Scene> scene = parse_scene(text, "scene.json");
  REQUIRE_MESSAGE(scene.has_value(), scene.diagnostics().text());
  Expected<Simulation> simulation = Simulation::create(*scene);
  REQUIRE_MESSAGE(simulation.has_value(), simulation.diagnostics().text());
  return std::move(*simulation);
}

Vec3 middle(const std::vector<Vec3>& points) {
  Vec3 sum;
  for (const Vec3& p : points) sum += p / double(points.size());
  return sum;
}

const char* const mixed = R"({
  "version": 1, "name": "mixed",
  "bodies": [
    {"name": "car", "mesh": {"generator": "cage", "cell": 0.3}, "embed": {"generator": "sphere", "frequency": 4},
     "potentials": [{"type": "tet_strain"}], "color": "#ff0000"},
    {"name": "sheet", "mesh": {"generator": "cloth", "columns": 5, "rows": 4}, "thickness": 0.1,
     "place": {"translate": [3, 0, 0]}, "potentials": [{"type": "tri_strain"}]},
    {"name": "rope", "mesh": {"generator": "chain", "vertices": 6}, "thickness": 0.04,
     "place": {"translate": [0, 3, 0]}, "potentials": [{"type": "spring"}]},
    {"name": "block", "mesh": {"generator": "cube", "cells": [2, 2, 2]},
     "place": {"translate": [0, 0, 3]}, "potentials": [{"type": "tet_strain"}]}
  ],
  "colliders": [
    {"shape": "plane", "position": [0, -2, 0]},
    {"shape": "sphere", "radius": 0.5, "position": {"keys": [[0, [0, 0, 0]], [2, [4, 0, 0]]]}},
    {"shape": "box", "size": [1, 2, 3], "rotation": [0, 0, 90], "position": [9, 0, 0]},
    {"shape": "capsule", "radius": 0.2, "length": 1},
    {"shape": "cylinder", "radius": 0.2, "length": 1, "active": {"keys": [[0, true], [1, false]]}},
    {"shape": "mesh", "mesh": {"generator": "tetrahedron"}},
    {"shape": "plane", "normal": [1, 1, 0], "position": [-5, 0, 0]}
  ]
})";

}  // namespace

TEST_CASE("bodies are shown as they are: carried surfaces, thick sheets, rods, skins") {
  const Simulation s = make(mixed);
  Stage stage(s);
  const Moment now{0, s.positions()};
  stage.include(now);
  const View view = stage.view(now);
  REQUIRE(view.surfaces.size() >= 3);
  REQUIRE(view.curves.size() == 1);
  CHECK(view.surfaces[0].points == s.embedded_positions(0));
  CHECK(view.surfaces[0].color.r == doctest::Approx(1));
  CHECK(view.surfaces[0].color.g == 0);
  // the sheet is 0.1 thick: twice its vertices, 0.05 above and below, and closed by a rim
  const Surface& sheet = view.surfaces[1];
  REQUIRE(sheet.points.size() == 2 * 20);
  CHECK(sheet.triangles.size() == 2 * 24 + 2 * 14);
  for (size_t v = 0; v < 20; ++v) {
    CHECK(sheet.points[v].y == doctest::Approx(0.05));
    CHECK(sheet.points[20 + v].y == doctest::Approx(-0.05));
  }
  double volume = 0;
  for (const auto& t : sheet.triangles)
    volume += dot(sheet.points[size_t(t[0])], cross(sheet.points[size_t(t[1])], sheet.points[size_t(t[2])])) / 6;
  CHECK(volume == doctest::Approx(0.1).epsilon(1e-12));  // 1 m x 1 m, normals outward
  CHECK(view.curves[0].radius == doctest::Approx(0.02));
  CHECK(view.surfaces[2].points.size() == 26);  // of 27 one is inside
}

TEST_CASE("colliders stand where they are at the time") {
  const Simulation s = make(mixed);
  Stage stage(s);
  Moment moment{0, s.positions()};
  stage.include(moment);
  CHECK(stage.floor_height() == -2);
  const View start = stage.view(moment);
  moment.time = 1;
  const View later = stage.view(moment);
  // three surfaces of bodies, then sphere, box, capsule, cylinder, mesh and the slope; the ground is the floor
  REQUIRE(start.surfaces.size() == 9);
  REQUIRE(later.surfaces.size() == 8);
  CHECK(norm(middle(start.surfaces[3].points)) < 1e-12);
  CHECK(norm(middle(later.surfaces[3].points) - Vec3{2, 0, 0}) < 1e-12);
  for (const Vec3& p : later.surfaces[3].points) CHECK(norm(p - Vec3{2, 0, 0}) == doctest::Approx(0.5));
  const auto extent = [](const Surface& surface) {
    Box box;
    for (const Vec3& p : surface.points) box.add(p);
    return box.high - box.low;
  };
  CHECK(norm(extent(start.surfaces[4]) - Vec3{2, 1, 3}) < 1e-12);  // a quarter turn about z
  CHECK(norm(extent(start.surfaces[5]) - Vec3{0.4, 1.4, 0.4}) < 1e-12);
  CHECK(norm(extent(start.surfaces[6]) - Vec3{0.4, 1, 0.4}) < 1e-12);
  for (const Vec3& p : start.surfaces[8].points) CHECK(p.x + p.y == doctest::Approx(-5));
  // closed, outward
  for (size_t k = 3; k < 8; ++k) {
    double volume = 0;
    const Vec3 inside = middle(start.surfaces[k].points);
    for (const auto& t : start.surfaces[k].triangles)
      volume +=
          dot(start.surfaces[k].points[size_t(t[0])] - inside,
              cross(start.surfaces[k].points[size_t(t[1])] - inside, start.surfaces[k].points[size_t(t[2])] - inside)) /
          6;
    CHECK(volume > 0);
  }
}

TEST_CASE("the strain shown is Green's, for solids, sheets, rods and what is carried") {
  const Simulation s = make(mixed);
  Stage stage(s, Coloring::strain);
  Moment rest{0, s.positions()}, grown = rest;
  const double stretch = 1.2;
  for (Vec3& p : grown.positions) p = p * stretch;
  stage.include(rest);
  stage.include(grown);
  const View at_rest = stage.view(rest), view = stage.view(grown);
  const double e = 0.5 * (stretch * stretch - 1);  // E = e 1
  const auto check = [](const std::vector<float>& values, double expected) {
    REQUIRE(!values.empty());
    for (const float v : values) REQUIRE(std::abs(v - expected) < 1e-6);  // kept as floats
  };
  check(at_rest.surfaces[2].values, 0);
  check(view.surfaces[0].values, std::sqrt(3.0) * e);
  check(view.surfaces[1].values, std::sqrt(2.0) * e);
  check(view.surfaces[2].values, std::sqrt(3.0) * e);
  check(view.curves[0].values, e);
  CHECK(stage.value_max() == doctest::Approx(0.5));  // the next round number above 0.381
}

TEST_CASE("speeds come from the velocities given, and turning changes no strain") {
  const Simulation s = make(mixed);
  Stage speed(s, Coloring::speed), strain(s, Coloring::strain);
  Moment m{0, s.positions()};
  m.velocities.assign(m.positions.size(), Vec3{0, 3, 4});
  for (Vec3& p : m.positions) p = {-p.z, p.y, p.x};
  speed.include(m), strain.include(m);
  const View fast = speed.view(m);
  for (const float v : fast.surfaces[0].values) CHECK(v == doctest::Approx(5));
  CHECK(speed.value_max() == doctest::Approx(5));
  const View still = strain.view(m);
  for (const float v : still.surfaces[2].values) CHECK(std::abs(v) < 1e-6f);
}

TEST_CASE("the camera of a stage sees every moment that was included") {
  const Simulation s = make(mixed);
  Stage stage(s);
  Moment a{0, s.positions()}, b = a;
  for (Vec3& p : b.positions) p += Vec3{30, 10, -5};
  stage.include(a), stage.include(b);
  stage.look_from({0.3, 0.4, 1}, 1.5);
  for (const Moment& m : {a, b}) {
    const View view = stage.view(m);
    const Vec3 f0 = view.camera.target - view.camera.eye, f = f0 / norm(f0);
    const Vec3 r0 = cross(f, {0, 1, 0}), r = r0 / norm(r0), u = cross(r, f);
    const double tangent = std::tan(0.5 * view.camera.fov_degrees * std::acos(-1.0) / 180);
    for (const Vec3& p : m.positions) {
      const Vec3 d = p - view.camera.eye;
      CHECK(std::abs(dot(u, d)) < tangent * dot(f, d));
      CHECK(std::abs(dot(r, d)) < 1.5 * tangent * dot(f, d));
    }
  }
}
