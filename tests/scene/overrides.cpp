#include <doctest/doctest.h>

#include "scenes.h"

using namespace verve;

namespace {

const std::string two = R"({"version": 1, "bodies": [
  {"name": "left", "mesh": {"generator": "cube"}, "potentials": [{"type": "tet_strain", "mu": 10}]},
  {"name": "right", "mesh": {"generator": "cube"}}]})";

Scene with(const std::vector<Override>& overrides) { return parse_scene(two, "test.json", overrides).value(); }

}  // namespace

TEST_CASE("an override sets a value by position, by name, by potential") {
  CHECK(with({{"bodies[1].density", "5"}}).bodies[1].density == 5);
  CHECK(with({{"bodies.right.density", "6"}}).bodies[1].density == 6);
  CHECK(with({{"bodies.0.density", "7"}}).bodies[0].density == 7);
  CHECK(with({{"bodies.left.potentials.tet_strain.mu", "3"}}).bodies[0].potentials[0].parameters.at("mu").at(0) == 3);
  CHECK(with({{"bodies[0].mesh.size", "2"}}).bodies[0].mesh.parameters.at("size") == std::vector<double>{2});
}

TEST_CASE("an override may set a key that the file leaves out, or replace a whole object") {
  CHECK(with({{"solver.tolerance", "1e-3"}}).solver.tolerance == 1e-3);
  CHECK(with({{"bodies[0].dials.energy", "{\"keys\": [[0, 1], [1, 2]]}"}}).bodies[0].dials.energy.keys.size() == 2);
  const Scene s = with({{"solver", "{\"method\": \"pd\", \"substeps\": 2}"}, {"solver.substeps", "auto"}});
  CHECK(s.solver.method == "pd");
  CHECK(s.solver.substeps == 0);
  CHECK(with({{"pushes", "[{\"body\": \"left\", \"impulse\": [1, 0, 0]}]"}, {"pushes[0].time", "2"}}).pushes[0].time ==
        2);
}

TEST_CASE("a bare word is taken as a text, the last override wins") {
  CHECK(with({{"solver.method", "pd"}}).solver.method == "pd");
  CHECK(with({{"name", "two words"}, {"name", "\"quoted\""}}).name == "quoted");
}

TEST_CASE("problems of overrides name the override") {
  const auto found = [](const Override& set) { return complaints(two, {set}); };
  CHECK(found({"solver.tolerance", "abc"}) == "--set solver.tolerance=abc: found \"abc\", expected a number > 0");
  CHECK(found({"solver.tolerance", "-1"}) == "--set solver.tolerance=-1: found -1, expected a number > 0");
  CHECK(found({"frames", "0"}) == "--set frames=0: found 0, expected a whole number >= 1");
  CHECK(found({"bodies.right.density", "0"}) ==
        "--set bodies.right.density=0: found 0, expected a number > 0 [kg/m^3]");
  CHECK(found({"solver.tolerence", "1"}).rfind("--set solver.tolerence=1: unknown key, expected one of method", 0) ==
        0);
  CHECK(found({"solvr.tolerance", "1"}).find("--set solvr.tolerance=1: solvr: unknown key") == 0);
  CHECK(found({"bodies[7].density", "1"}) == "--set bodies[7].density=1: found position 7 in bodies, expected 0 to 1");
  CHECK(found({"bodies.rihgt.density", "1"}) ==
        "--set bodies.rihgt.density=1: found \"rihgt\" in bodies, expected one of left, right (nearest: right)");
  CHECK(found({"forces[0].body", "left"}).find("forces[0].body=left: found null at forces, expected a list") ==
        std::string::npos);
  CHECK_FALSE(found({"forces[0].body", "left"}).empty());
  CHECK(found({"version.major", "1"}) == "--set version.major=1: found 1 at version, expected an object");
  CHECK(found({"solver", "{\"method\": \"pd\", \"rho\": 3}"}) ==
        "--set solver={\"method\": \"pd\", \"rho\": 3}: solver.rho: found 3, expected a number >= 0 and <= 1");
  CHECK(found({"gravity", "[0, -9.81, 0"}).rfind("--set gravity=[0, -9.81, 0: found the end of the file", 0) == 0);
  for (const char* path :
       {"", ".", "a..b", "[0]", "bodies[x]", "bodies[0]x", "bodies[", "bodies[99999999999999999999]"})
    CHECK_MESSAGE(!found({path, "1"}).empty(), path);
}

TEST_CASE("problems of the file and of overrides come together, the file first") {
  const std::string text = small_scene("\"frames\": 0");
  const std::string found = complaints(text, {{"step", "0"}, {"gravity", "down"}});
  CHECK(found ==
        "test.json:1:26: frames: found 0, expected a whole number >= 1\n"
        "--set step=0: found 0, expected a number > 0 [s]\n"
        "--set gravity=down: found \"down\", expected 3 numbers >= -1000000 and <= 1000000 [m/s^2]");
  CHECK(complaints(text, {{"frames", "10"}}).empty());
}
