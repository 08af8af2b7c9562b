// Elements that stay inside out are counted and said in words; a moment of an impact is none.
#include <doctest/doctest.h>

#include "fixtures.h"

using namespace record_test;

namespace {

Scene box_that_starts(const Vec3& stretch, const std::string& potential) {
  Scene scene;
  BodySpec body;
  body.name = "jelly box";
  body.mesh.generator = "box", body.mesh.parameters = {{"size", {0.3, 0.3, 0.3}}, {"cells", {2, 2, 2}}};
  body.potentials.push_back({potential, {{"young", Track<double>(5e4)}, {"poisson", Track<double>(0.3)}}});
  body.initial.stretch = stretch;
  scene.bodies.push_back(body);
  scene.solver.tolerance = 1e-4;
  return scene;
}

Simulation simulation_of(const Scene& scene) {
  Expected<Simulation> made = Simulation::create(scene, {.threads = 1});
  REQUIRE_MESSAGE(made, made.diagnostics().text());
  return std::move(*made);
}

}  // namespace

TEST_CASE("tetrahedra that stay inside out are counted and named, by body") {
  // St. Venant and Kirchhoff's energy does not tell a shape from its mirror image: it stays
  Simulation sim = simulation_of(box_that_starts({1, -1, 1}, "stvk"));
  const int all = int(sim.mesh(0).tetrahedra.size());
  CHECK(count_inverted(sim, 0) == all);
  InversionWatch watch(sim);
  for (int frame = 1; frame <= 15; ++frame) {
    REQUIRE(sim.step());
    watch.frame(sim);
    if (frame * sim.scene().step <= InversionWatch::impact) CHECK(watch.words() == "");
  }
  CHECK(watch.found().empty());  // 0.5 s and not more
  for (int frame = 0; frame < 3; ++frame) REQUIRE(sim.step()), watch.frame(sim);
  REQUIRE(watch.found().size() == 1);
  const InversionWatch::Found found = watch.found()[0];
  CHECK(found.body == 0);
  CHECK(found.elements == all);
  CHECK(found.still == all);
  CHECK(found.longest == doctest::Approx(0.6));
  CHECK(found.share == doctest::Approx(1));
  CHECK(watch.words() == "body \"jelly box\": " + std::to_string(all) +
                             " tetrahedra, 100 % of its volume, were inside out for more than 0.5 s, the longest "
                             "for 0.6 s; " +
                             std::to_string(all) + " at the end");
}

TEST_CASE("a body that comes back from flat within half a second is not reported") {
  Scene scene = box_that_starts({1, 0, 1}, "stable_neo_hookean");
  scene.bodies[0].dials.half_life = Track<double>(0.1);
  Simulation sim = simulation_of(scene);
  CHECK(count_inverted(sim, 0) > 0);
  InversionWatch watch(sim);
  for (int frame = 0; frame < 45; ++frame) REQUIRE(sim.step()), watch.frame(sim);
  CHECK(count_inverted(sim, 0) == 0);
  CHECK(watch.words() == "");
}
