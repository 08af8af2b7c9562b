#include <doctest/doctest.h>

#include <filesystem>

#include "scenes.h"

using namespace verve;

namespace {

int lines(const std::string& text) {
  int count = text.empty() ? 0 : 1;
  for (const char c : text) count += c == '\n';
  return count;
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an unknown key is reported with file, line, column and the nearest key") {
  const std::string text =
      "{\n  \"version\": 1,\n  \"solver\": {\"tolerence\": 1e-4},\n"
      "  \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\"}}]\n}\n";
  const std::string found = complaints(text);
  CHECK(found.rfind("test.json:3:14: solver.tolerence: unknown key, expected one of method", 0) == 0);
  CHECK(contains(found, "(nearest: tolerance)"));
  CHECK(lines(found) == 1);
}

TEST_CASE("unknown keys are found at every depth") {
  CHECK(contains(complaints(small_scene("\"framez\": 3")), "framez: unknown key, expected one of"));
  CHECK(contains(complaints(small_scene("", "\"densty\": 3")), "bodies[0].densty: unknown key"));
  CHECK(contains(complaints(small_scene("", "\"place\": {\"scales\": 3}")), "bodies[0].place.scales: unknown key"));
  CHECK(contains(
      complaints(small_scene("", "\"dials\": {\"energy\": {\"keys\": [[0, 1]], \"interp\": \"step\"}}")),
      "bodies[0].dials.energy.interp: unknown key, expected one of keys, interpolation (nearest: interpolation)"));
  CHECK(contains(complaints(small_scene("\"anchors\": [{\"body\": \"cube\", \"vertices\": {\"sphere\": "
                                        "{\"center\": [0, 0, 0], \"radius\": 1, \"r\": 2}}}]")),
                 "anchors[0].vertices.sphere.r: unknown key"));
  CHECK(contains(
      complaints("{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\", \"sice\": 2}}]}"),
      "test.json:1:71: bodies[0].mesh.sice: unknown key, expected one of"));
  CHECK(contains(complaints(small_scene("", "\"potentials\": [{\"type\": \"tet_strain\", \"mo\": 2}]")),
                 "bodies[0].potentials[0].mo: unknown key"));
}

TEST_CASE("a wrong type says what was found and what was expected, with the unit") {
  CHECK(complaints(small_scene("\"step\": \"fast\"")) ==
        "test.json:1:24: step: found \"fast\", expected a number > 0 [s]");
  CHECK(complaints(small_scene("\"frames\": 2.5")) ==
        "test.json:1:26: frames: found 2.5, expected a whole number >= 1");
  CHECK(complaints(small_scene("\"frames\": 1e30")) ==
        "test.json:1:26: frames: found 1e30, expected a whole number >= 1");
  CHECK(complaints(small_scene("\"gravity\": [0, 1]")) ==
        "test.json:1:27: gravity: found [0, 1], expected 3 numbers >= -1000000 and <= 1000000 [m/s^2]");
  CHECK(complaints(small_scene("\"solver\": 3"))
            .rfind("test.json:1:26: solver: found 3, expected an object with keys method", 0) == 0);
  CHECK(contains(complaints(small_scene("\"solver\": {\"substeps\": \"many\"}")),
                 "solver.substeps: found \"many\", expected a whole number >= 0 and <= 64 or \"auto\""));
  CHECK(contains(complaints(small_scene("\"solver\": {\"precision\": \"duble\"}")),
                 "solver.precision: found \"duble\", expected one of double, float (nearest: double)"));
  CHECK(contains(complaints(small_scene("\"anchors\": {}")), "anchors: found {}, expected a list of objects"));
  CHECK(contains(complaints(small_scene("", "\"potentials\": [{\"type\": \"tet_strain\", \"mu\": \"hard\"}]")),
                 "bodies[0].potentials[0].mu: found \"hard\", expected a number >= 0 [Pa] or {\"keys\""));
  CHECK(contains(complaints("[1, 2]"), "test.json:1:1: found [1, 2], expected an object with keys"));
}

TEST_CASE("missing keys are reported at the object that lacks them") {
  CHECK(complaints("{\n  \"version\": 1\n}") ==
        "test.json:1:1: bodies: found no such key, expected one (what to simulate; at least one)");
  const std::string found = complaints("{\"version\": 1, \"bodies\": [\n  {}]}");
  CHECK(contains(found, "test.json:2:3: bodies[0].name: found no such key"));
  CHECK(contains(found, "test.json:2:3: bodies[0].mesh: found no such key"));
  CHECK(lines(found) == 2);
  CHECK(contains(complaints("{\"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\"}}]}"),
                 "version: found no such key"));
}

TEST_CASE("a key given twice is reported where it comes the second time") {
  CHECK(complaints("{\"version\": 1, \"step\": 0.1,\n \"step\": 0.2, \"bodies\": [{\"name\": \"a\", \"mesh\": "
                   "{\"generator\": \"cube\"}}]}") ==
        "test.json:2:2: step: found a second time, expected each key once");
}

TEST_CASE("another version of the format is refused") {
  std::string text = small_scene();
  text.replace(text.find("1"), 1, "2");
  CHECK(complaints(text) == "test.json:1:13: version: found 2, expected 1, the version of this format");
}

TEST_CASE("NaN and Infinity are named as what JSON does not have") {
  CHECK(complaints(small_scene("\"step\": NaN")) ==
        "test.json:1:24: step: found NaN, expected a finite number (JSON has no NaN and no Infinity)");
  CHECK(contains(complaints(small_scene("\"step\": -Infinity")), "step: found -Infinity, expected a finite number"));
  CHECK(
      contains(complaints(small_scene("\"step\": 1e999")), "step: found 1e999, expected a number that fits a double"));
  CHECK(lines(complaints(small_scene("\"gravity\": [0, NaN, nan]"))) == 2);
}

TEST_CASE("negative mass, zero density, frames = 0 and other values out of range are reported") {
  CHECK(complaints(small_scene("", "\"mass\": -2")) ==
        "test.json:1:83: bodies[0].mass: found -2, expected a number > 0 [kg]");
  CHECK(contains(complaints(small_scene("", "\"density\": 0")),
                 "bodies[0].density: found 0, expected a number > 0 [kg/m^3]"));
  CHECK(complaints(small_scene("\"frames\": 0")) == "test.json:1:26: frames: found 0, expected a whole number >= 1");
  CHECK(contains(complaints(small_scene("\"step\": 0")), "step: found 0, expected a number > 0 [s]"));
  CHECK(contains(complaints(small_scene("\"solver\": {\"rho\": 1.5}")),
                 "solver.rho: found 1.5, expected a number >= 0 and <= 1"));
  CHECK(contains(complaints(small_scene("", "\"mesh\": 1")), "found a second time"));
}

TEST_CASE("an unknown method, generator or potential is reported with the nearest name") {
  CHECK(contains(complaints(small_scene("\"solver\": {\"method\": \"cpdd\"}")), "(nearest: cpd)"));
  CHECK(contains(complaints(small_scene("", "\"potentials\": [{\"type\": \"tet_strian\", \"mu\": 3}]")),
                 "bodies[0].potentials[0].type: found \"tet_strian\", expected one of"));
  CHECK(contains(complaints(small_scene("", "\"potentials\": [{\"type\": \"tet_strian\", \"mu\": 3}]")),
                 "(nearest: tet_strain)"));
  const std::string found =
      complaints("{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cub\", \"size\": 2}}]}");
  CHECK(contains(found, "bodies[0].mesh.generator: found \"cub\", expected one of"));
  CHECK(lines(found) == 1);
}

TEST_CASE("a mesh file that is not there is reported with the place where it was looked for") {
  const std::string text = "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"file\": \"no.mesh\"}}]}";
  const Expected<Scene> scene = parse_scene(text, "some/where/test.json");
  REQUIRE_FALSE(scene);
  const std::string looked = (std::filesystem::path("some") / "where" / "no.mesh").string();
  CHECK(scene.diagnostics().text() ==
        "some/where/test.json:1:58: bodies[0].mesh.file: found \"no.mesh\", expected a file that exists (looked for " +
            looked + ")");
}

TEST_CASE("a scene file that is not there is reported with the nearest built-in scene") {
  const Expected<Scene> scene = read_scene("trampolin");
  REQUIRE_FALSE(scene);
  CHECK(scene.diagnostics().text() ==
        "trampolin: found no such file, expected a scene file or a built-in scene (nearest: trampoline)");
  CHECK(
      contains(read_scene(std::filesystem::temp_directory_path().string()).diagnostics().text(), "found a directory"));
}

TEST_CASE("anchors that hold each other in a circle are reported by name") {
  std::string bodies;
  for (const char* name : {"a", "b", "c"})
    bodies +=
        std::string(bodies.empty() ? "" : ", ") + "{\"name\": \"" + name + "\", \"mesh\": {\"generator\": \"cube\"}}";
  const auto anchored = [&](const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string anchors;
    for (const auto& [from, to] : pairs)
      anchors += std::string(anchors.empty() ? "" : ",\n") + "{\"body\": \"" + from + "\", \"to_body\": \"" + to +
                 "\", \"vertices\": {\"all\": true}}";
    return complaints("{\"version\": 1, \"bodies\": [" + bodies + "], \"anchors\": [\n" + anchors + "]}");
  };
  CHECK(anchored({{"a", "b"}, {"b", "c"}, {"a", "c"}}).empty());
  CHECK(anchored({{"a", "b"}, {"b", "a"}}) ==
        "test.json:3:26: anchors[1].to_body: found a cycle of anchors, a -> b -> a, expected no body to be anchored to "
        "itself through others");
  CHECK(contains(anchored({{"a", "b"}, {"b", "c"}, {"c", "a"}}),
                 "test.json:4:26: anchors[2].to_body: found a cycle of anchors, a -> b -> c -> a"));
  CHECK(contains(anchored({{"a", "a"}}), "the body itself, expected another body"));
  CHECK(contains(anchored({{"a", "d"}}), "anchors[0].to_body: found \"d\", expected one of a, b, c"));
}

TEST_CASE("an index below zero is out of range") {
  CHECK(contains(complaints(small_scene("\"anchors\": [{\"body\": \"cube\", \"vertices\": {\"indices\": [0, -1]}}]")),
                 "anchors[0].vertices.indices[1]: found -1, expected a whole number >= 0"));
}

TEST_CASE("several problems are reported at once, in the order of the file") {
  const std::string text = R"({
  "version": 1,
  "step": -1,
  "solver": {"method": "xyz", "toleranc": 1},
  "bodies": [
    {"name": "a", "mesh": {"generator": "cube", "size": -1}, "density": "heavy"},
    {"name": "a", "mesh": {"generator": "cube"}, "potentials": [{"type": "tet_strain", "mu": {"keys": [[0, 1], [0, -2]]}}]}
  ],
  "pushes": [{"body": "b", "impulse": [1, 0]}]
})";
  const std::string found = complaints(text);
  const std::vector<std::string> expected = {
      "test.json:3:11: step: ",
      "test.json:4:24: solver.method: ",
      "test.json:4:31: solver.toleranc: ",
      "test.json:6:57: bodies[0].mesh.size: ",
      "test.json:6:73: bodies[0].density: ",
      "test.json:7:14: bodies[1].name: ",
      "test.json:7:113: bodies[1].potentials[0].mu.keys[1][0]: ",
      "test.json:7:116: bodies[1].potentials[0].mu.keys[1][1]: ",
      "test.json:9:23: pushes[0].body: ",
      "test.json:9:39: pushes[0].impulse: ",
  };
  size_t at = 0;
  for (const std::string& line : expected) {
    const size_t next = found.find(line, at);
    CHECK_MESSAGE(next != std::string::npos, line << " not found in order in\n" << found);
    if (next != std::string::npos) at = next;
  }
  CHECK(lines(found) == int(expected.size()));
}

TEST_CASE("what follows from a problem is not reported again") {
  // without its name, nothing can be said about who refers to the body
  CHECK(lines(complaints("{\"version\": 1, \"bodies\": [{\"name\": 3, \"mesh\": {\"generator\": \"cube\"}}],"
                         "\"pushes\": [{\"body\": \"a\", \"impulse\": [1, 0, 0]}]}")) == 1);
  CHECK(lines(complaints("{\"version\": 1, \"bodies\": 3}")) == 1);
  CHECK(lines(complaints("{\"version\": 1, \"bodies\": [3]}")) == 1);
  CHECK(lines(complaints("{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": 3}}]}")) == 1);
}

TEST_CASE("keyframes that cannot be read are reported one by one") {
  const auto energy = [](const std::string& value) {
    return complaints(small_scene("", "\"dials\": {\"energy\": " + value + "}"));
  };
  CHECK(energy("{\"keys\": [[0, 1], [1, null]], \"interpolation\": \"step\"}").empty());
  CHECK(contains(energy("{\"keys\": []}"), "energy.keys: found [], expected a list of [time, value], at least one"));
  CHECK(contains(energy("{}"), "energy.keys: found no such key"));
  CHECK(contains(energy("{\"keys\": [[0]]}"), "energy.keys[0]: found [0], expected [time, value]"));
  CHECK(contains(energy("{\"keys\": [[0, \"a\"], [\"b\", 1]]}"),
                 "energy.keys[1][0]: found \"b\", expected a number [s]"));
  CHECK(contains(energy("{\"keys\": [[0, 1]], \"interpolation\": \"cubic\"}"),
                 "energy.interpolation: found \"cubic\", expected one of linear, step"));
  CHECK(contains(energy("{\"keys\": [[1, 1], [0, 1]]}"),
                 "energy.keys[1][0]: found 0, expected a time after that of the key before it, 1 [s]"));
}

TEST_CASE("lists of a potential, its region, groups and examples are checked") {
  const auto potential = [](const std::string& text) {
    return complaints(small_scene("", "\"potentials\": [{\"type\": \"tet_strain\", " + text + "}]"));
  };
  CHECK(contains(potential("\"mu\": [1, -2, 3]"), "potentials[0].mu[1]: found -2, expected a number >= 0 [Pa]"));
  CHECK(contains(potential("\"mu\": [1, true]"), "potentials[0].mu[1]: found true, expected a number"));
  CHECK(contains(potential("\"mu\": []"), "potentials[0].mu: found no value, expected a number >= 0 [Pa]"));
  CHECK(contains(potential("\"region\": {}"), "potentials[0].region: found nothing selected"));
  CHECK(contains(potential("\"groups\": [[0, 1]]"), "potentials[0].groups: found groups, expected none"));
  CHECK(contains(potential("\"groups\": 3"), "potentials[0].groups: found 3, expected a list of lists"));
  CHECK(contains(potential("\"examples\": [{\"generator\": \"box\"}]"), "potentials[0].examples: found examples"));
}
