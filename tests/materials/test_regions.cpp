// Regions and values per element.
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// A bar of 8 cells along x, 4 m long, stretched by half.
BodySpec bar() {
  BodySpec body = generated_body("box", {{"size", {4, 0.5, 0.5}}, {"cells", {8, 1, 1}}}, strain(1e4));
  body.initial.stretch = {1.5, 1, 1};
  return body;
}

}  // namespace

TEST_CASE("two potentials on halves of a body are one potential with a value for each element") {
  BodySpec halves = bar(), painted = bar();
  halves.potentials = {strain(1e4), strain(4e4)};
  halves.potentials[0].region.emplace().box = {{Vec3{-3, -1, -1}, Vec3{1e-9, 1, 1}}};
  halves.potentials[1].region.emplace().box = {{Vec3{-1e-9, -1, -1}, Vec3{3, 1, 1}}};
  const Simulation by_region = make(scene_of(halves));
  const Mesh& mesh = by_region.mesh(0);
  CHECK(by_region.elements() == int(mesh.tetrahedra.size()));
  painted.potentials = {{"tet_strain", {}}};
  for (const auto& tet : mesh.tetrahedra) {
    double x = 0;
    for (const int v : tet) x += mesh.vertices[v].x;
    painted.potentials[0].arrays["mu"].push_back(x < 0 ? 1e4 : 4e4);
  }
  const Simulation by_array = make(scene_of(painted));
  // E = mu V |F - 1|^2 with F - 1 = 0.5 along x: (1e4 + 4e4) * 0.5 m^3 * 0.25
  CHECK(by_region.measure().elastic == doctest::Approx(6250).epsilon(1e-12));
  CHECK(by_array.measure().elastic == doctest::Approx(6250).epsilon(1e-12));
}

TEST_CASE("a region without elements and an array of another length are refused, all at once") {
  BodySpec body = bar();
  body.potentials = {strain(1e4), {"tet_strain", {}, {{"mu", {1, 2, 3}}}}};
  body.potentials[0].region.emplace().nearest = Vec3{0, 0, 0};
  const Expected<Simulation> made = Simulation::create(scene_of(body));
  REQUIRE_FALSE(made);
  const std::string text = made.diagnostics().text();
  CAPTURE(text);
  CHECK(text.find("bodies[0].potentials[0].region: found none of the tetrahedra with all vertices inside") !=
        std::string::npos);
  CHECK(text.find("bodies[0].potentials[1].mu: found 3 values, expected one for each of 40 elements") !=
        std::string::npos);
}

TEST_CASE("limits that cross at a later keyframe are refused, with the time") {
  BodySpec body = bar();
  PotentialSpec limit{"tet_limit", {}};
  limit.parameters["min"].keys = {{0, 0.9}, {2, 1.3}};
  body.potentials.push_back(limit);
  const Expected<Simulation> made = Simulation::create(scene_of(body));
  REQUIRE_FALSE(made);
  CAPTURE(made.diagnostics().text());
  CHECK(made.diagnostics().text().find("potentials[1]: ") != std::string::npos);
  CHECK(made.diagnostics().text().find(" at 2 s") != std::string::npos);
}

TEST_CASE("a list for one of two parameters that belong together is taken") {
  BodySpec body = bar();
  PotentialSpec painted{"corotated", {{"young", Track<double>(1e4)}}};
  painted.arrays["poisson"].assign(40, 0.3);
  body.potentials = {painted};
  CHECK(Simulation::create(scene_of(body)));
}

TEST_CASE("parameters set one after another are judged together, and one that is a list is not set") {
  BodySpec body = bar();
  body.potentials.push_back({"tet_limit", {}});
  body.potentials.push_back({"tet_strain", {}});
  body.potentials[2].arrays["mu"].assign(40, 1e4);
  Simulation sim = make(scene_of(body));
  CHECK_NOTHROW(sim.set_parameter(0, 1, "max", 1.5));
  CHECK_NOTHROW(sim.set_parameter(0, 1, "min", 1.3));
  CHECK_THROWS(sim.set_parameter(0, 1, "max", 1.2));
  CHECK_THROWS(sim.set_parameter(0, 2, "mu", 2e4));
  CHECK(sim.step());
}
