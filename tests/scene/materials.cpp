// "material" in scene files: what it stands for, what wins beside it, what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "scene/document.h"
#include "scenes.h"
#include "source_dir.h"
#include "verve/material.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

Scene body_with(const std::string& keys, const std::vector<Override>& overrides = {}) {
  return parse_scene(small_scene("", keys), "test.json", overrides).value();
}
std::string sheet_with(const std::string& keys) {
  return R"({"version": 1, "bodies": [{"name": "sheet", "mesh": {"generator": "cloth"}, )" + keys + "}]}";
}

std::vector<Vec3> run(const Scene& scene, int frames) {
  Expected<Simulation> sim = Simulation::create(scene);
  REQUIRE_MESSAGE(sim.has_value(), sim.diagnostics().text());
  for (int k = 0; k < frames; ++k) REQUIRE(sim->step());
  const auto x = sim->positions();
  return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE("a material fills in density, potentials, friction, restitution and half-life") {
  for (const MaterialInfo& m : material_infos()) {
    CAPTURE(m.name);
    const std::string generator = m.dimension == 3 ? "cube" : m.dimension == 2 ? "cloth" : "chain";
    const Scene scene = parse_scene(R"({"version": 1, "bodies": [{"name": "b", "mesh": {"generator": ")" + generator +
                                        R"("}, "material": ")" + m.name + "\"}]}",
                                    "test.json")
                            .value();
    BodySpec expected;
    set_material(expected, m.name);
    const BodySpec& body = scene.bodies[0];
    CHECK(body.density == expected.density);
    CHECK(body.density == doctest::Approx(m.body_density()));
    CHECK(body.friction == m.friction);
    CHECK(body.restitution == m.restitution);
    CHECK(body.thickness == (m.dimension == 3 ? 0 : m.thickness));
    CHECK(body.dials.half_life.at(0) == m.half_life);
    REQUIRE(body.potentials.size() == expected.potentials.size());
    CHECK(body.potentials.size() == (m.dimension == 3 ? 1 : 2));
    for (size_t k = 0; k < body.potentials.size(); ++k) CHECK(body.potentials[k].type == expected.potentials[k].type);
    const auto& elastic = body.potentials[0].parameters;
    CHECK(elastic.at(m.dimension == 1 ? "stiffness" : "young").at(0) == m.body_young());
    if (elastic.count("poisson")) CHECK(elastic.at("poisson").at(0) == m.poisson);
    // a metre of a sheet does not stretch itself by more than 0.2 %, and is never stiffer than its material
    if (m.dimension == 2) CHECK(m.body_young() <= m.young * m.thickness * (1 + 1e-12));
    if (m.dimension < 3) CHECK(m.body_density() * 9.81 / m.body_young() <= 2e-3 * (1 + 1e-12));
    if (m.dimension < 3) CHECK(body.potentials[1].parameters.at("stiffness").at(0) == m.bending);
    // numbers that make sense, from a named source
    CHECK((m.density > 0 && m.young > 0 && m.poisson >= 0 && m.poisson < 0.5));
    CHECK((m.half_life >= 0.1 && m.half_life < 60));
    CHECK((m.restitution > 0 && m.restitution <= 1 && m.friction > 0));
    CHECK((m.source.size() > 40 && m.help.size() > 8));
    CHECK((m.dimension == 3) == (m.thickness == 0 && m.bending == 0));
  }
}

TEST_CASE("whatever is given beside a material wins, whichever comes first") {
  for (const char* keys : {R"("material": "rubber", "density": 5, "friction": 0.25, "dials": {"half_life": 9})",
                           R"("dials": {"half_life": 9}, "friction": 0.25, "density": 5, "material": "rubber")"}) {
    const BodySpec body = body_with(keys).bodies[0];
    CHECK(body.density == 5);
    CHECK(body.friction == 0.25);
    CHECK(body.dials.half_life.at(0) == 9);
    CHECK(body.restitution == find_material("rubber")->restitution);
    CHECK(body.potentials[0].parameters.at("young").at(0) == 1.5e6);
  }
  CHECK(body_with(R"("material": "rubber", "dials": {"half_life": null})").bodies[0].dials.half_life.empty());
  CHECK(body_with(R"("material": "rubber", "potentials": [{"type": "spring"}])").bodies[0].potentials[0].type ==
        "spring");
  CHECK(body_with(R"("material": "rubber", "mass": 3)").bodies[0].mass == 3);
  // half-life and damping are the same dial
  const BodySpec damped = body_with(R"("material": "rubber", "dials": {"damping": 2})").bodies[0];
  CHECK(damped.dials.half_life.empty());
  CHECK(damped.dials.damping.at(0) == 2);
}

TEST_CASE("a body without potentials is of the default material of its elements, one with none has none") {
  CHECK(body_with("").bodies[0].potentials[0].type == "stable_neo_hookean");
  CHECK(body_with("").bodies[0].density == find_material("jelly")->density);
  CHECK(body_with(R"("density": 700)").bodies[0].density == 700);
  CHECK(body_with(R"("potentials": [])").bodies[0].potentials.empty());
  CHECK(body_with(R"("potentials": [])").bodies[0].density == BodySpec{}.density);
  const Scene sheet = parse_scene(sheet_with(R"("material": null)"), "test.json").value();
  CHECK(sheet.bodies[0].density == doctest::Approx(0.13));
}

TEST_CASE("what has nothing to bend at gets no bending, and every generator makes a body of the default material") {
  for (const GeneratorInfo& info : mesh_generators()) {
    if (info.around_surface || info.parameters.size() > 5) continue;  // plants, as slow to make as they are large
    CAPTURE(info.name);
    const Scene scene =
        parse_scene(R"({"version": 1, "bodies": [{"name": "b", "mesh": {"generator": ")" + info.name + "\"}}]}",
                    "test.json")
            .value();
    const Expected<Simulation> made = Simulation::create(scene);
    CHECK_MESSAGE(made.has_value(), made.diagnostics().text());
  }
  const std::string triangle = R"({"version": 1, "bodies": [{"name": "b", "material": "paper",
      "mesh": {"data": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 0, 1]], "triangles": [[0, 2, 1]]}}}]})";
  CHECK(parse_scene(triangle, "test.json").value().bodies[0].potentials.size() == 1);
}

TEST_CASE("unknown materials and those for other elements are refused with what fits") {
  CHECK(complaints(small_scene("", R"("material": "jely")"))
            .find("bodies[0].material: found \"jely\", expected one of") != std::string::npos);
  CHECK(complaints(small_scene("", R"("material": "jely")")).find("(nearest: jelly)") != std::string::npos);
  CHECK(complaints(small_scene("", R"("material": 3)")).find("expected one of jelly, rubber") != std::string::npos);
  const std::string sheet = complaints(sheet_with(R"("material": "jelly")"));
  CHECK(sheet.find("test.json:1:89: bodies[0].material: found \"jelly\", which is for tetrahedra, expected one for "
                   "triangles: leather, cotton, silk, denim, paper, steel_sheet") != std::string::npos);
  CHECK(complaints(small_scene("", R"("material": "rope")")).find("which is for edges") != std::string::npos);
  // one complaint each
  CHECK(std::count(sheet.begin(), sheet.end(), '\n') <= 1);
  BodySpec body;
  CHECK_THROWS_WITH_AS(set_material(body, "rubbre"), doctest::Contains("nearest: rubber"), std::invalid_argument);
}

TEST_CASE("an override of the material takes the place of what the file says of it") {
  const std::string keys = R"("density": 5, "mass": 2, "friction": 0.25, "potentials": [{"type": "spring"}],
      "thickness": 0.01, "dials": {"damping": 3, "energy": 7})";
  const BodySpec body = body_with(keys, {{"bodies.cube.material", "rubber"}, {"bodies[0].friction", "0.5"}}).bodies[0];
  CHECK(body.density == 930);
  CHECK_FALSE(body.mass);
  CHECK(body.potentials[0].type == "stable_neo_hookean");
  CHECK(body.friction == 0.5);
  CHECK(body.thickness == 0.01);
  CHECK(body.dials.energy.at(0) == 7);
  CHECK(body.dials.damping.empty());
  CHECK(body.dials.half_life.at(0) == find_material("rubber")->half_life);
  CHECK(body_with(keys, {{"bodies[0].density", "6"}, {"bodies[0].material", "rubber"}}).bodies[0].density == 6);
  CHECK(complaints(small_scene("", keys), {{"bodies[0].material", "rubbre"}})
            .find("--set bodies[0].material=rubbre: found \"rubbre\"") != std::string::npos);
}

TEST_CASE("a scene with materials is written out in full and runs to the same bits") {
  const Scene scene = parse_scene(
                          R"({"version": 1, "gravity": [0, -9.81, 0], "bodies": [
        {"name": "solid", "mesh": {"generator": "box", "size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]}, "material": "fat",
         "place": {"translate": [0, 0.15, 0]}},
        {"name": "sheet", "mesh": {"generator": "cloth", "columns": 6, "rows": 6}, "material": "paper",
         "place": {"translate": [2, 0.1, 0]}},
        {"name": "plain", "mesh": {"generator": "chain"}, "place": {"translate": [0, 3, 0]}}],
        "colliders": [{"shape": "plane", "friction": 0.5}]})",
                          "test.json")
                          .value();
  const std::string written = write_scene(scene);
  CHECK(written.find("\"material\"") == std::string::npos);
  CHECK(written.find("stable_neo_hookean") != std::string::npos);
  const Scene again = parse_scene(written, "scene.json").value();
  CHECK(write_scene(again) == written);
  const auto first = run(scene, 20), second = run(again, 20);
  REQUIRE(first.size() == second.size());
  CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(Vec3)) == 0);
}

TEST_CASE("docs/materials.md has the numbers of the table (VERVE_UPDATE=1 rewrites them)") {
  const std::string file = verve::test::in_sources("docs/materials.md");
  std::string docs = read_text(file);
  const std::string begin = "<!-- made from the table of materials -->\n", end = "<!-- end of the table -->";
  REQUIRE(docs.find(begin) != std::string::npos);
  REQUIRE(docs.find(end) != std::string::npos);
  const size_t start = docs.find(begin) + begin.size(), stop = docs.find(end);
  if (update_files()) {
    docs.replace(start, stop - start, material_reference());
    std::ofstream(file, std::ios::binary) << docs;
  } else {
    CHECK(docs.substr(start, stop - start) == material_reference());
  }
}

TEST_CASE("generators make elements of the dimension that they are listed with") {
  for (const GeneratorInfo& info : mesh_generators()) {
    if (info.around_surface) continue;
    CAPTURE(info.name);
    const Expected<Mesh> mesh = generate_mesh(info.name);
    REQUIRE(mesh);
    CHECK(kind_of(*mesh).dimension == info.dimension);
  }
}
