#include <doctest/doctest.h>

#include "process.h"
#include "verve/material.h"
#include "verve/mesh.h"
#include "verve/registry.h"
#include "verve/scene_file.h"
#include "verve/version.h"

namespace {

template <class T>
std::string names_of(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += item.name + "\n";
  return text;
}

}  // namespace

TEST_CASE("--version prints the name and the version") {
  const Folder folder;
  const Outcome outcome = run(folder, {"--version"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "verve " VERVE_VERSION "\n");
  CHECK(outcome.err == "");
}

TEST_CASE("--help of every command tells its usage and shows examples") {
  const Folder folder;
  const std::vector<std::vector<std::string>> commands{{},           {"demo"},    {"list"}, {"check"},
                                                       {"simulate"}, {"compare"}, {"mesh"}, {"mesh", "info"},
                                                       {"schema"},   {"convert"}, {"figures"}, {"truth"}};
  for (std::vector<std::string> words : commands) {
    std::string name = "verve";
    for (const std::string& word : words) name += " " + word;
    CAPTURE(name);
    words.push_back("--help");
    const Outcome outcome = run(folder, words);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "Usage: " + name));
    CHECK(contains(outcome.out, "Examples:\n  verve"));
    CHECK(outcome.err == "");
  }
}

TEST_CASE("list --plain prints one name per line, as registered") {
  const Folder folder;
  CHECK(run(folder, {"list", "scenes", "--plain"}).out == names_of(verve::builtin_scenes()));
  CHECK(run(folder, {"list", "materials", "--plain"}).out == names_of(verve::material_infos()));
  CHECK(run(folder, {"list", "potentials", "--plain"}).out == names_of(verve::potential_infos()));
  CHECK(run(folder, {"list", "methods", "--plain"}).out == names_of(verve::method_infos()));
  CHECK(run(folder, {"list", "generators", "--plain"}).out == names_of(verve::mesh_generators()));
  CHECK(run(folder, {"list", "shapes", "--plain"}).out == names_of(verve::shape_infos()));
}

TEST_CASE("list describes everything, without escape sequences in a pipe") {
  const Folder folder;
  const Outcome outcome = run(folder, {"list"});
  CHECK(outcome.code == 0);
  for (const verve::BuiltinScene& scene : verve::builtin_scenes())
    CHECK(contains(outcome.out, "\n  " + scene.name + " "));
  CHECK_FALSE(contains(outcome.out, "\033"));
  for (const std::string& line : lines_of(outcome.out))
    CHECK(line.size() <= 2 * 100);  // columns; UTF-8 may need more bytes
}

TEST_CASE("list materials has a row of numbers for each") {
  Folder folder;
  const std::string out = run(folder, {"list", "materials"}).out;
  for (const char* column : {"Young", "nu", "density", "half-life", "friction", "restitution"})
    CHECK(out.find(column) != std::string::npos);
  const size_t at = out.find("\n  jelly ");
  REQUIRE(at != std::string::npos);
  const std::string row = out.substr(at + 1, out.find('\n', at + 1) - at);
  CHECK(row.find("53 kPa  0.45 1040 kg/m^3    0.32 s") != std::string::npos);
  CHECK(out.find("205 GPa") != std::string::npos);
}

TEST_CASE("list generators names every parameter") {
  const Folder folder;
  const std::string out = run(folder, {"list", "generators"}).out;
  for (const verve::GeneratorInfo& info : verve::mesh_generators())
    for (const verve::ParameterInfo& parameter : info.parameters) CHECK(contains(out, parameter.name));
}

TEST_CASE("check finds every built-in scene good") {
  const Folder folder;
  std::vector<std::string> words{"check"};
  for (const verve::BuiltinScene& scene : verve::builtin_scenes()) words.push_back(scene.name);
  const Outcome outcome = run(folder, words);
  CHECK(outcome.code == 0);
  CHECK(lines_of(outcome.out).size() == verve::builtin_scenes().size());
}

TEST_CASE("check reports every problem of several files and still says which are good") {
  const Folder folder;
  folder.write("good.json", small_scene());
  folder.write("bad.json", small_scene("\"frames\": 0, \"gravty\": [0, -1, 0]"));
  const Outcome outcome = run(folder, {"check", "good.json", "bad.json", "missing.json"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.out, "good.json: good: 1 body, 8 vertices, 5 elements, 20 frames of 33.3 ms"));
  CHECK(contains(outcome.err, "gravty"));
  CHECK(contains(outcome.err, "nearest: gravity"));
  CHECK(contains(outcome.err, "frames"));
  CHECK(contains(outcome.err, "missing.json"));
  CHECK_FALSE(contains(outcome.out, "bad.json"));
}

TEST_CASE("schema prints the schema of the library") {
  const Folder folder;
  const Outcome outcome = run(folder, {"schema"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, verve::scene_schema()));
}

TEST_CASE("mesh generates, examines and converts") {
  const Folder folder;
  const Outcome made = run(folder, {"mesh", "tetrahedron", "--out", "one.mesh"});
  CHECK(made.code == 0);
  const auto mesh = verve::read_mesh(folder.path("one.mesh"));
  REQUIRE(mesh);
  CHECK(mesh->vertices.size() == 4);
  CHECK(mesh->tetrahedra.size() == 1);

  const Outcome info = run(folder, {"mesh", "info", "one.mesh"});
  CHECK(info.code == 0);
  for (const char* word : {"vertices", "tetrahedra", "volume", "dihedral angles", "faults", "none"})
    CHECK(contains(info.out, word));

  CHECK(run(folder, {"mesh", "one.mesh", "--out", "one.obj"}).code == 0);
  CHECK(std::filesystem::exists(folder.path("one.obj")));
}

TEST_CASE("mesh info names the faults of a file, and --strict refuses them") {
  const Folder folder;
  folder.write("flipped.mesh",
               "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
               "Tetrahedra\n1\n1 3 2 4 0\nEnd\n");
  const Outcome info = run(folder, {"mesh", "info", "flipped.mesh"});
  CHECK(info.code == 0);
  CHECK(contains(info.out, "inverted"));
  const Outcome strict = run(folder, {"mesh", "info", "flipped.mesh", "--strict"});
  CHECK(strict.code == 2);
  CHECK(contains(strict.err, "inverted"));
}

TEST_CASE("mesh refuses what it cannot make or write, all at once") {
  const Folder folder;
  const Outcome unknown = run(folder, {"mesh", "boxx", "--out", "x.mesh"});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "nearest: box"));
  const Outcome parameters = run(folder, {"mesh", "ball", "--set", "radus=2", "--set", "radius=-1", "--set", "broken"});
  CHECK(parameters.code == 2);
  CHECK(contains(parameters.err, "radus"));
  CHECK(contains(parameters.err, "radius"));
  CHECK(contains(parameters.err, "\"broken\", expected path=value"));
  const Outcome unwritable = run(folder, {"mesh", "tetrahedron", "--out", "no/such/folder/x.mesh"});
  CHECK(unwritable.code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.path("no")));
  CHECK_FALSE(std::filesystem::exists(folder.path("x.mesh")));
}

TEST_CASE("demo compares CPD with PD in a table and one report") {
  const Folder folder;
  folder.write("small.json", small_scene("\"frames\": 60"));
  const Outcome outcome = run(folder, {"demo", "--scene", "small.json", "--out", "both"});
  CHECK(outcome.code == 0);
  for (const char* word : {"cpd", "pd", "energy from 0 s to 2 s", "|P|", "|L| from 0 s to 2 s", "elastic oscillation",
                           "time per frame", "none to keep", "both/report.html"})
    CHECK(contains(outcome.out, word));
  CHECK(contains(outcome.out, "(100.0 %)"));
  CHECK(std::filesystem::file_size(folder.path("both/report.html")) > 1000);
  CHECK(outcome.err == "");
}
