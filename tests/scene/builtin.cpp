#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "scenes.h"
#include "source_dir.h"
#include "verve/registry.h"
#include "verve/simulation.h"

using namespace verve;

TEST_CASE("every built-in scene is read without a complaint") {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    CAPTURE(builtin.name);
    const Expected<Scene> scene = read_scene(builtin.name);
    REQUIRE_MESSAGE(scene.has_value(), scene.diagnostics().text());
    CHECK(scene.diagnostics().empty());
    CHECK(scene->name == builtin.name);
    CHECK(scene->description == builtin.description);
    CHECK(builtin.description.size() > 20);
    CHECK(builtin.description.size() < 250);
  }
}

TEST_CASE("the built-in scenes are all there is in scenes/, and equal to their files") {
  std::vector<std::string> names;
  for (const BuiltinScene& builtin : builtin_scenes()) {
    names.push_back(builtin.name);
    CHECK(builtin.text == read_text(verve::test::in_sources("scenes/" + builtin.name + ".json")));
  }
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(verve::test::in_sources("scenes")))
    if (entry.path().extension() == ".json" && entry.path().stem() != "schema")
      files.insert(entry.path().stem().string());
  CHECK(std::set<std::string>(names.begin(), names.end()) == files);
  CHECK(names.size() == files.size());
  CHECK(names.front() == "cube");
}

TEST_CASE("every potential that a file can name is shown in a built-in scene") {
  std::set<std::string> shown{"formula"};  // given by a program
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Scene scene = read_scene(builtin.name).value();
    for (const BodySpec& body : scene.bodies)
      for (const PotentialSpec& potential : body.potentials) shown.insert(potential.type);
  }
  for (const PotentialInfo& info : potential_infos()) {
    CAPTURE(info.name);
    CHECK(shown.count(info.name) == 1);
  }
}

TEST_CASE("every built-in scene survives being written and read") {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const std::string written = write_scene(read_scene(builtin.name).value());
    const Expected<Scene> again = parse_scene(written, "scene.json");
    REQUIRE_MESSAGE(again.has_value(), again.diagnostics().text());
    CHECK(write_scene(*again) == written);
  }
}

TEST_CASE("docs/scenes.md lists every built-in scene with its potentials") {
  const std::string docs = read_text(verve::test::in_sources("docs/scenes.md"));
  for (const BuiltinScene& builtin : builtin_scenes()) {
    std::vector<std::string> types;
    const Scene scene = read_scene(builtin.name).value();
    for (const BodySpec& body : scene.bodies)
      for (const PotentialSpec& potential : body.potentials)
        if (std::find(types.begin(), types.end(), potential.type) == types.end()) types.push_back(potential.type);
    std::string row = "\n| `" + builtin.name + "` | ";
    for (size_t k = 0; k < types.size(); ++k) row += (k ? ", `" : "`") + types[k] + "`";
    CAPTURE(row);
    CHECK(docs.find(row + " |\n") != std::string::npos);
  }
}

TEST_CASE("the example of docs/scenes.md is a sound scene") {
  const std::string docs = read_text(verve::test::in_sources("docs/scenes.md"));
  const std::string fence = "```json\n";
  const size_t start = docs.find(fence);
  REQUIRE(start != std::string::npos);
  const size_t end = docs.find("```", start + fence.size());
  CHECK(complaints(docs.substr(start + fence.size(), end - start - fence.size())) == "");
}

TEST_CASE("P24: the garden has at least the size of PD Fig. 1, with solids, sheets, ropes and gas tied together") {
  const Scene scene = read_scene("garden").value();
  CHECK(scene.solver.method == "pd");
  std::set<std::string> kinds, tied;
  for (const BodySpec& body : scene.bodies)
    for (const PotentialSpec& potential : body.potentials) kinds.insert(potential.type);
  CHECK(kinds.size() >= 12);
  for (const char* kind : {"tet_strain", "tri_strain", "edge_strain", "bending", "rod_bending", "pressure"})
    CHECK(kinds.count(kind) == 1);
  for (const AnchorSpec& anchor : scene.anchors)
    if (!anchor.to_body.empty()) tied.insert(anchor.body + " to " + anchor.to_body);
  CHECK(tied.size() >= 8);
  CHECK(read_text(verve::test::in_sources("scenes/garden.json")).size() < 20000);  // generators, not lists of vertices

  Simulation simulation = Simulation::create(scene).value();
  CHECK(3 * simulation.vertices() >= 49000);
  CHECK(simulation.elements() >= 43000);
  for (int frame = 0; frame < 5; ++frame) REQUIRE(simulation.step());
  for (const Vec3& x : simulation.positions()) REQUIRE(norm(x) < 15);
}
