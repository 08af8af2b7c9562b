#include <doctest/doctest.h>

#include <filesystem>

#include "scenes.h"

using namespace verve;

TEST_CASE("keys fill the members they are named after") {
  const Scene s = parse_scene(R"({
    "version": 1, "name": "n", "description": "d", "step": 0.02, "frames": 7, "gravity": [0, -9.81, 0],
    "solver": {"method": "pd", "integrator": "implicit_euler", "rho": 0.5, "tolerance": 1e-4, "iterations": 12,
               "substeps": 4, "epsilon": 0.1, "precision": "float"},
    "bodies": [
      {"name": "a", "mesh": {"generator": "box", "size": [1, 2, 3], "cells": [2, 3, 4]}, "mass": 3, "color": "#a0B1c2",
       "place": {"scale": 2, "rotate": [0, 90, 0], "translate": [1, 2, 3]},
       "potentials": [{"type": "tet_strain", "mu": {"keys": [[0, 1], [2, 5]]}}],
       "initial": {"stretch": [1, 0, -1], "squash": [1, 2, 3], "noise": 0.1, "seed": 42, "velocity": [1, 0, 0],
                   "angular_velocity": [0, 1, 0]},
       "dials": {"momentum": [1, 2, 3], "spin": {"keys": [[1, [0, 0, 1]], [2, null]]}, "energy": 5, "half_life": 2}},
      {"name": "b", "mesh": {"generator": "ball"}}
    ],
    "anchors": [{"name": "x", "body": "a", "vertices": {"all": true, "indices": [1, 2], "box": [[0, 0, 0], [1, 1, 1]],
                 "sphere": {"center": [1, 2, 3], "radius": 4}, "nearest": [5, 6, 7]}, "stiffness": 10,
                 "path": {"keys": [[0, [0, 0, 0]], [1, [0, 1, 0]]]}, "active": {"keys": [[0, false], [2.5, true]]}},
                {"body": "a", "vertices": {"indices": [0]}, "to_body": "b"}],
    "forces": [{"body": "b", "vertices": {"indices": [0]}, "force": [1, 2, 3], "active": false}],
    "pushes": [{"body": "b", "time": 1, "impulse": [1, 0, 0], "rest_point": [0, 1, 0], "radius": 0.5}]
  })",
                              "test.json")
                      .value();
  CHECK(s.name == "n");
  CHECK(s.description == "d");
  CHECK(s.step == 0.02);
  CHECK(s.frames == 7);
  CHECK(s.gravity == Vec3{0, -9.81, 0});
  CHECK(s.solver.method == "pd");
  CHECK(s.solver.integrator == "implicit_euler");
  CHECK(s.solver.rho == 0.5);
  CHECK(s.solver.tolerance == 1e-4);
  CHECK(s.solver.iterations == 12);
  CHECK(s.solver.substeps == 4);
  CHECK(s.solver.epsilon == 0.1);
  CHECK(s.solver.precision == Precision::float32);
  REQUIRE(s.bodies.size() == 2);
  const BodySpec& a = s.bodies[0];
  CHECK(a.mesh.parameters.at("size") == std::vector<double>{1, 2, 3});
  CHECK(a.mesh.parameters.at("cells") == std::vector<double>{2, 3, 4});
  CHECK(a.mass == 3);
  CHECK(a.color == "#a0B1c2");
  CHECK(a.place.scale == 2);
  CHECK(a.place.rotate == Vec3{0, 90, 0});
  CHECK(a.place.translate == Vec3{1, 2, 3});
  CHECK(*a.potentials[0].parameters.at("mu").at(1) == doctest::Approx(3));
  CHECK(a.initial.stretch == Vec3{1, 0, -1});
  CHECK(a.initial.squash == Vec3{1, 2, 3});
  CHECK(a.initial.noise == 0.1);
  CHECK(a.initial.seed == 42);
  CHECK(a.initial.velocity == Vec3{1, 0, 0});
  CHECK(a.initial.angular_velocity == Vec3{0, 1, 0});
  CHECK(a.dials.momentum.is_constant());
  CHECK_FALSE(a.dials.spin.at(0.5));
  CHECK(a.dials.spin.at(1.5) == Vec3{0, 0, 1});
  CHECK_FALSE(a.dials.spin.at(2.5));
  CHECK(a.dials.energy.at(0) == 5);
  CHECK(a.dials.half_life.at(9) == 2);
  CHECK(a.dials.damping.empty());
  const AnchorSpec& x = s.anchors[0];
  CHECK(x.vertices.all);
  CHECK(x.vertices.indices == std::vector<int>{1, 2});
  CHECK((*x.vertices.box)[1] == Vec3{1, 1, 1});
  CHECK(x.vertices.sphere->first == Vec3{1, 2, 3});
  CHECK(x.vertices.sphere->second == 4);
  CHECK(x.vertices.nearest == Vec3{5, 6, 7});
  CHECK(s.anchors[1].to_body == "b");
  CHECK(x.path.at(0.5) == Vec3{0, 0.5, 0});
  CHECK(x.active.at(2.4) == false);
  CHECK(x.active.at(2.5) == true);
  CHECK(s.forces[0].force == Vec3{1, 2, 3});
  CHECK(s.forces[0].active.at(1) == false);
  CHECK(s.pushes[0].rest_point == Vec3{0, 1, 0});
  CHECK_FALSE(s.pushes[0].point);
  CHECK(s.pushes[0].radius == 0.5);
}

TEST_CASE("keys left out keep the defaults of the structs") {
  const Scene s = parse_scene(small_scene("", R"("potentials": [])"), "test.json").value();
  CHECK(s.step == Scene{}.step);
  CHECK(s.frames == Scene{}.frames);
  CHECK(s.solver.method == SolverSpec{}.method);
  CHECK(s.bodies[0].density == BodySpec{}.density);
  CHECK(s.bodies[0].mesh.repair == MeshRepair::repair);
}

TEST_CASE("comments, a byte order mark and Windows line ends are read over") {
  CHECK(complaints("\xEF\xBB\xBF// first\r\n" + small_scene("/* a \n comment */ \"frames\": 3 // three\n") + "// last")
            .empty());
  CHECK(complaints(
            "\xEF\xBB\xBF{\r\n  \"version\": 2, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\"}}]}")
            .rfind("test.json:2:14:", 0) == 0);
}

TEST_CASE("columns count characters, not bytes") {
  CHECK(complaints("{\"version\": 1, \"name\": \"é€😀\", \"step\": 0, \"bodies\": [{\"name\": \"a\", \"mesh\": "
                   "{\"generator\": \"cube\"}}]}")
            .rfind("test.json:1:39: step", 0) == 0);
}

TEST_CASE("mesh files are looked for beside the scene file and written with a path that works anywhere") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "verve_scene_test";
  fs::create_directories(folder / "meshes");
  std::ofstream(folder / "meshes" / "a.mesh") << "MeshVersionFormatted 1\n";
  std::ofstream(folder / "s.json")
      << R"({"version": 1, "bodies": [{"name": "a", "mesh": {"file": "meshes/a.mesh", "repair": "refuse"}}]})";
  const Scene scene = read_scene((folder / "s.json").string()).value();
  CHECK(scene.bodies[0].mesh.file == folder / "meshes" / "a.mesh");
  CHECK(scene.bodies[0].mesh.repair == MeshRepair::refuse);
  const std::string written = write_scene(scene);
  const Scene again = parse_scene(written, "elsewhere/scene.json").value();
  CHECK(again.bodies[0].mesh.file == fs::absolute(folder / "meshes" / "a.mesh"));
  CHECK(write_scene(again) == written);
  fs::remove_all(folder);
}

TEST_CASE("a written scene reads back as the same scene") {
  const std::string text = small_scene(
      R"("step": 0.1234567890123456789, "gravity": [1e-300, -0.1, 3e5], "solver": {"substeps": 3, "rho": 0.1},
      "anchors": [{"body": "cube", "vertices": {"box": [[0, 0, 0], [1, 1, 1]], "nearest": [0.1, 0.2, 0.3]},
                   "stiffness": {"keys": [[0, 5], [1, 7]], "interpolation": "step"}, "to_point": [1, 2, 3],
                   "active": {"keys": [[0, true], [1, null], [2, false]]}}])",
      R"("potentials": [{"type": "tet_strain", "young": 100}, {"type": "spring"}],
      "dials": {"spin": {"keys": [[0.1, [1, 2, 3]], [0.7, null]]}, "damping": 0.5}, "color": "#123456")");
  const Scene scene = parse_scene(text, "test.json").value();
  const std::string written = write_scene(scene);
  const Scene again = parse_scene(written, "test.json").value();
  CHECK(write_scene(again) == written);
  CHECK(again.step == scene.step);
  CHECK(again.gravity == scene.gravity);
  CHECK(again.anchors[0].stiffness.interpolation == Interpolation::step);
  CHECK(again.anchors[0].active.keys.size() == 3);
  CHECK_FALSE(again.anchors[0].active.keys[1].value);
  CHECK(again.bodies[0].potentials[0].parameters.count("mu") == 0);
  CHECK(again.bodies[0].potentials[1].parameters.count("stiffness") == 1);  // resolved
}

TEST_CASE("a mesh given from C++ is written out and read back") {
  auto mesh = std::make_shared<Mesh>();
  mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.0 / 3}};
  mesh->tetrahedra = {{0, 1, 2, 3}};
  mesh->edges = {{0, 3}};
  Scene scene;
  scene.bodies.resize(1);
  scene.bodies[0].name = "tet";
  scene.bodies[0].mesh.mesh = mesh;
  REQUIRE(check_scene(scene).empty());
  const Scene again = parse_scene(write_scene(scene), "test.json").value();
  REQUIRE(again.bodies[0].mesh.mesh);
  CHECK(again.bodies[0].mesh.mesh->vertices == mesh->vertices);
  CHECK(again.bodies[0].mesh.mesh->tetrahedra == mesh->tetrahedra);
  CHECK(again.bodies[0].mesh.mesh->edges == mesh->edges);
}

TEST_CASE("a potential takes a region, lists with a value for each element, groups and examples") {
  const Scene s = parse_scene(R"({"version": 1, "bodies": [
      {"name": "a", "mesh": {"generator": "box"},
       "potentials": [{"type": "tet_strain", "mu": [1, 2, 3], "region": {"box": [[0, 0, 0], [1, 1, 1]]}}]}]})",
                              "test.json")
                      .value();
  const PotentialSpec& p = s.bodies[0].potentials[0];
  CHECK(p.arrays.at("mu") == std::vector<double>{1, 2, 3});
  CHECK(p.parameters.empty());
  REQUIRE(p.region);
  CHECK(p.region->box);
  CHECK(p.groups.empty());
  const Scene again = parse_scene(write_scene(s), "test.json").value();
  CHECK(again.bodies[0].potentials[0].arrays.at("mu") == p.arrays.at("mu"));
  REQUIRE(again.bodies[0].potentials[0].region);
  CHECK((*again.bodies[0].potentials[0].region->box)[1] == Vec3{1, 1, 1});
}
