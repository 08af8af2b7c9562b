#include <doctest/doctest.h>

#include <bit>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <set>
#include <sstream>

#include "process.h"
#include "verve/convert.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

/// A carried surface, a sheet, a rope and a block, each with something to move it.
std::string mixed_scene() {
  return R"({
    "version": 1, "name": "mixed", "frames": 6, "gravity": [0, -9.81, 0],
    "bodies": [
      {"name": "car", "mesh": {"generator": "cage", "cell": 0.3}, "embed": {"generator": "sphere", "frequency": 3},
       "potentials": [{"type": "tet_strain", "mu": 1e3}], "initial": {"stretch": [1.3, 1, 1]}},
      {"name": "a sheet", "mesh": {"generator": "cloth", "columns": 4, "rows": 3},
       "potentials": [{"type": "tri_strain", "mu": 100}], "initial": {"stretch": [1.2, 1, 1]}},
      {"name": "rope", "mesh": {"generator": "chain", "vertices": 5},
       "potentials": [{"type": "spring", "stiffness": 100}], "initial": {"stretch": [1.2, 1, 1]}},
      {"name": "block", "mesh": {"generator": "cube", "cells": [3, 3, 3]},
       "potentials": [{"type": "tet_strain", "mu": 1e3}], "initial": {"stretch": [1.2, 1, 1]}}
    ]})";
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> out;
  if (std::filesystem::exists(folder))
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = file.path().filename().string();
      if (name[0] != '.') out.insert(name);  // what the program prints goes to hidden files of the folder
    }
  return out;
}

/// A binary PLY, byte by byte as the format says.
Mesh read_ply(const std::string& bytes, bool wide) {
  Mesh mesh;
  const size_t end = bytes.find("end_header\n");
  REQUIRE(end != std::string::npos);
  std::istringstream head(bytes.substr(0, end));
  std::string line, text;
  size_t vertices = 0, faces = 0, edges = 0;
  while (std::getline(head, line)) {
    std::istringstream words(line);
    std::string word, what;
    words >> word >> what;
    if (word == "element") words >> (what == "vertex" ? vertices : what == "face" ? faces : edges);
    if (word != "element") text += line + "\n";
  }
  const std::string number = wide ? "double" : "float";
  CHECK(text.substr(0, text.find("property list")) == "ply\nformat binary_little_endian 1.0\nproperty " + number +
                                                          " x\nproperty " + number + " y\nproperty " + number + " z\n");
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data()) + end + 11;
  const auto take = [&](int size) {
    std::uint64_t bits = 0;
    for (int i = 0; i < size; ++i) bits |= std::uint64_t(*at++) << (8 * i);
    return bits;
  };
  REQUIRE(bytes.size() == end + 11 + vertices * (wide ? 24 : 12) + faces * 13 + edges * 8);
  mesh.vertices.resize(vertices), mesh.triangles.resize(faces), mesh.edges.resize(edges);
  for (Vec3& v : mesh.vertices)
    for (int i = 0; i < 3; ++i)
      v[i] = wide ? std::bit_cast<double>(take(8)) : double(std::bit_cast<float>(std::uint32_t(take(4))));
  for (auto& t : mesh.triangles) {
    REQUIRE(take(1) == 3);
    for (int& v : t) v = int(take(4));
  }
  for (auto& e : mesh.edges)
    for (int& v : e) v = int(take(4));
  return mesh;
}

/// What convert should write of a body, from the simulation run once more.
Mesh expected_surface(const Simulation& simulation, int body) {
  if (const Mesh* carried = simulation.embedded_mesh(body)) {
    Mesh out = *carried;
    out.vertices = simulation.embedded_positions(body);
    return out;
  }
  Mesh moved = simulation.mesh(body);
  const std::vector<Vec3> x = simulation.positions();
  for (size_t v = 0; v < moved.vertices.size(); ++v) moved.vertices[v] = x[simulation.first_vertex(body) + v];
  Mesh out = skin_of(moved);
  out.edges = moved.edges;
  return out;
}

double distance(const Mesh& a, const Mesh& b) {
  REQUIRE(a.vertices.size() == b.vertices.size());
  double worst = 0;
  for (size_t v = 0; v < a.vertices.size(); ++v) worst = std::max(worst, norm(a.vertices[v] - b.vertices[v]));
  return worst;
}

}  // namespace

TEST_CASE("P20: convert leaves out what is torn, from the frame on in which it went, and keeps the vertices") {
  const Folder folder;
  folder.write("in.json", R"({
    "version": 1, "name": "torn", "frames": 6,
    "bodies": [
      {"name": "block", "mesh": {"generator": "box", "size": [2, 0.5, 0.5], "cells": [8, 2, 2]},
       "potentials": [{"type": "tet_strain", "mu": 1e4, "tear": 1.3}], "initial": {"stretch": [1.35, 1, 1]}},
      {"name": "car", "mesh": {"generator": "cage", "cell": 0.3}, "embed": {"generator": "sphere", "frequency": 3},
       "potentials": [{"type": "tet_strain", "mu": 1e3, "tear": 1.3}], "initial": {"stretch": [1.35, 1, 1]}}
    ]})");
  const Outcome simulated = run(folder, {"simulate", "in.json", "--out", "torn"});
  REQUIRE(simulated.code == 0);
  CHECK(contains(simulated.out, " elements torn, the first in frame 1\n"));
  REQUIRE(run(folder, {"convert", "torn", "--to", "ply"}).code == 0);
  Simulation simulation = Simulation::create(read_scene(folder.text("torn/scene.json")).value()).value();
  for (int f = 0; f <= 6; ++f) {
    CAPTURE(f);
    if (f > 0) REQUIRE(simulation.step());
    const std::string number = "_000" + std::to_string(f) + ".ply";
    const Mesh block = read_ply(read_file(folder.path("torn/ply/block" + number)), false);
    const RemovedElements removed = simulation.removed_elements(0);
    CHECK(removed.empty() == (f == 0));
    CHECK(block.vertices.size() == simulation.mesh(0).vertices.size());
    CHECK(block.triangles == surface(without(simulation.mesh(0), removed)));
    const Mesh car = read_ply(read_file(folder.path("torn/ply/car" + number)), false);
    CHECK(car.vertices.size() == simulation.embedded_mesh(1)->vertices.size());
    CHECK(car.triangles == without(*simulation.embedded_mesh(1), *simulation.embedding(1), simulation.mesh(1),
                                   simulation.removed_elements(1))
                               .triangles);
    if (f > 0) CHECK(car.triangles.size() < simulation.embedded_mesh(1)->triangles.size());
  }
  std::filesystem::remove(folder.path("torn/torn.csv"));
  const Outcome refused = run(folder, {"convert", "torn", "--to", "ply"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "torn.csv: cannot be read, expected the torn elements of a run"));
}

TEST_CASE("convert writes carried surfaces, skins, sheets and ropes of every frame, as they were simulated") {
  const Folder folder;
  folder.write("in.json", mixed_scene());
  for (const bool wide : {false, true}) {
    const std::string run_folder = wide ? "wide" : "narrow";
    REQUIRE(run(folder, {"simulate", "in.json", "--out", run_folder, "--record", wide ? "double" : "float"}).code == 0);
    for (const char* format : {"obj", "ply"}) {
      const Outcome outcome = run(folder, {"convert", run_folder, "--to", format});
      CHECK(outcome.code == 0);
      CHECK(outcome.err == "");
      CHECK(contains(outcome.out, "7 frames of 4 bodies"));
    }
    Simulation simulation = Simulation::create(read_scene(folder.text(run_folder + "/scene.json")).value()).value();
    const char* const stems[] = {"car", "a_sheet", "rope", "block"};
    std::set<std::string> obj, ply;
    for (int frame = 0; frame <= 6; ++frame) {
      if (frame > 0) REQUIRE(simulation.step());
      for (int body = 0; body < 4; ++body) {
        const std::string name = std::string(stems[body]) + "_000" + std::to_string(frame);
        CAPTURE(name);
        obj.insert(name + ".obj"), ply.insert(name + ".ply");
        const Mesh expected = expected_surface(simulation, body);
        const Mesh text = read_mesh(folder.path(run_folder + "/obj/" + name + ".obj")).value();
        const Mesh binary = read_ply(read_file(folder.path(run_folder + "/ply/" + name + ".ply")), wide);
        // a float is rounded by 2^-24 of its size, below 2 here, in x, y and z; carried ones once more
        const double enough = wide ? 1e-15 : 3e-7;
        CHECK(distance(text, expected) <= enough);
        // 17 digits are a double; 9 are nearer to a float below 1 than half a unit of the last, in x, y and z
        CHECK(distance(text, binary) <= (wide ? 0 : 1e-9));
        CHECK(text.triangles == expected.triangles);
        CHECK(binary.triangles == expected.triangles);
        CHECK(text.edges == expected.edges);
        CHECK(binary.edges == expected.edges);
      }
    }
    CHECK(files_in(folder.path(run_folder + "/obj")) == obj);
    CHECK(files_in(folder.path(run_folder + "/ply")) == ply);
  }
}

TEST_CASE("convert takes some frames of one body to a folder of choice, in place of an earlier series of it") {
  const Folder folder;
  folder.write("in.json", mixed_scene());
  REQUIRE(run(folder, {"simulate", "in.json", "--out", "a"}).code == 0);
  const auto convert = [&](const std::string& frames) {
    return run(folder,
               {"convert", "a", "--to", "obj", "--body", "rope", "--out", "deep/er/", "--frames", frames, "--quiet"});
  };
  const Outcome outcome = convert("1:6:2");
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "");
  CHECK(files_in(folder.path("deep/er")) == std::set<std::string>{"rope_0001.obj", "rope_0003.obj", "rope_0005.obj"});
  CHECK(files_in(folder.path("deep")) == std::set<std::string>{"er"});
  folder.write("deep/er/rope_notes.obj", "mine");
  CHECK(convert("4").code == 0);
  CHECK(files_in(folder.path("deep/er")) == std::set<std::string>{"rope_0004.obj", "rope_notes.obj"});
  CHECK(convert("5:").code == 0);
  CHECK(convert(":1").code == 0);
  CHECK(convert("::3").code == 0);
  CHECK(files_in(folder.path("deep/er")) ==
        std::set<std::string>{"rope_0000.obj", "rope_0003.obj", "rope_0006.obj", "rope_notes.obj"});
  CHECK(read_file(folder.path("deep/er/rope_notes.obj")) == "mine");
}

TEST_CASE("bodies whose names make the same file name get their number") {
  const Folder folder;
  std::string scene = mixed_scene();
  scene.replace(scene.find("\"rope\""), 6, "\"a/sheet\"");
  folder.write("in.json", scene);
  REQUIRE(run(folder, {"simulate", "in.json", "--out", "a"}).code == 0);
  REQUIRE(run(folder, {"convert", "a", "--to", "ply", "--frames", "2"}).code == 0);
  CHECK(files_in(folder.path("a/ply")) ==
        std::set<std::string>{"car_0002.ply", "a_sheet_1_0002.ply", "a_sheet_2_0002.ply", "block_0002.ply"});
}

TEST_CASE("an interrupted run converts up to the last frame that is counted, whatever follows it") {
  const Folder folder;
  folder.write("in.json", mixed_scene());
  REQUIRE(run(folder, {"simulate", "in.json", "--out", "a"}).code == 0);
  std::string npy = read_file(folder.path("a/positions.npy"));
  npy.replace(npy.find("(7, "), 4, "(5, ");
  folder.write("a/positions.npy", npy.substr(0, npy.size() - 11));
  const Outcome outcome = run(folder, {"convert", "a", "--to", "obj", "--body", "block"});
  CHECK(outcome.code == 0);
  CHECK(files_in(folder.path("a/obj")).size() == 5);
}

TEST_CASE("convert refuses bad input with all that is wrong, and writes nothing") {
  const Folder folder;
  folder.write("in.json", mixed_scene());
  REQUIRE(run(folder, {"simulate", "in.json", "--out", "a"}).code == 0);
  const std::set<std::string> before = files_in(folder.path("a"));

  const Outcome flags = run(folder, {"convert", "a", "--to", "objj", "--body", "ropes", "--frames", "3:9"});
  CHECK(flags.code == 2);
  CHECK(contains(flags.err, "--to: found \"objj\", expected one of usda, glb, pc2, mdd, vtu, vat, obj, ply, stl (nearest: obj)"));
  CHECK(contains(flags.err, "--body: found \"ropes\""));
  CHECK(contains(flags.err, "nearest: rope"));
  CHECK(contains(flags.err, "--frames: found 3:9, expected A:B:STEP with frames from 0 to 6"));
  CHECK(contains(flags.err, "3 problems; nothing was written"));
  for (const char* frames : {"", ":", "1:2:0", "-1:3", "1:2:3:4", "x", "5:2", "7", "1.5", "99999999999"}) {
    CAPTURE(frames);
    const Outcome outcome = run(folder, {"convert", "a", "--to", "obj", "--frames", frames});
    CHECK(outcome.code == (std::string(frames) == ":" ? 0 : 2));
    std::filesystem::remove_all(folder.path("a/obj"));
  }
  CHECK(contains(run(folder, {"convert"}).err, "RUN_DIR: nothing given"));
  CHECK(contains(run(folder, {"convert", "a"}).err, "--to: nothing given, expected one of usda, glb, pc2, mdd, vtu, vat, obj, ply, stl"));
  CHECK(contains(run(folder, {"convert", "b", "--to", "obj"}).err, "b: no such folder"));
  CHECK(run(folder, {"convert", "b", "--to", "obj"}).code == 2);

  folder.write("file", "");
  CHECK(contains(run(folder, {"convert", "a", "--to", "obj", "--out", "file"}).err, "file: found a file"));
  const Outcome under = run(folder, {"convert", "a", "--to", "obj", "--out", "file/under"});
  CHECK(under.code == 2);
  CHECK(contains(under.err, "cannot be created"));

  const std::string whole = read_file(folder.path("a/positions.npy"));
  folder.write("a/positions.npy", whole.substr(0, whole.size() - 1));
  CHECK(contains(run(folder, {"convert", "a", "--to", "obj"}).err,
                 "found 6 whole frames, expected the 7 that its header counts"));
  folder.write("a/positions.npy", "PNG");
  CHECK(contains(run(folder, {"convert", "a", "--to", "obj"}).err, "found no NumPy array"));
  std::string other = whole;
  other.replace(other.find("<f4"), 3, ">f4");
  folder.write("a/positions.npy", other);
  CHECK(contains(run(folder, {"convert", "a", "--to", "obj"}).err, "expected '<f4' or '<f8'"));
  folder.write("a/positions.npy", whole);
  std::filesystem::rename(folder.path("a/scene.json"), folder.path("a/scene.old"));
  const Outcome missing = run(folder, {"convert", "a", "--to", "obj"});
  CHECK(missing.code == 2);
  CHECK(contains(missing.err, "scene.json"));
  // another scene: its vertices are not those of the positions
  folder.write("a/scene.json", small_scene());
  CHECK(contains(run(folder, {"convert", "a", "--to", "obj"}).err, "vertices, expected the 8 of scene.json"));
  std::filesystem::rename(folder.path("a/scene.old"), folder.path("a/scene.json"));
  CHECK(files_in(folder.path("a")) == before);
  CHECK(files_in(folder.path()) == std::set<std::string>{"a", "in.json", "file"});
}
