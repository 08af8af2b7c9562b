// Bodies held together by shape matching (Inventory N09).
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

PotentialSpec matching(const std::string& type, double mu) { return {type, {{"mu", Track<double>(mu)}}}; }

BodySpec bar(PotentialSpec potential) {
  return generated_body("box", {{"size", {2, 0.5, 0.5}}, {"cells", {8, 2, 2}}}, std::move(potential));
}

/// How far the free end of a bar that is held at the other has sunk after it has come to rest.
double sag(const std::string& type, double mu) {
  Scene scene = scene_of(bar(matching(type, mu)), "pd");
  scene.gravity = {0, -9.81, 0};
  AnchorSpec wall;
  wall.body = "box", wall.name = "wall";
  wall.vertices.box = {{Vec3{-2, -1, -1}, Vec3{-0.99, 1, 1}}};
  wall.stiffness = Track<double>(1e7);
  scene.anchors.push_back(wall);
  Simulation sim = make(scene);
  for (int i = 0; i < 150; ++i) REQUIRE(sim.step());
  const Mesh& mesh = sim.mesh(0);
  const std::vector<Vec3> x = sim.positions();
  double worst = 0;
  for (size_t v = 0; v < x.size(); ++v) worst = std::max(worst, mesh.vertices[v].y - x[v].y);
  return worst;
}

}  // namespace

TEST_CASE("a rigid motion is a fixed point of shape matching") {
  for (const char* type : {"shape_matching", "lattice_shape_matching"}) {
    CAPTURE(std::string(type));
    BodySpec body = bar(matching(type, 1e5));
    body.initial.velocity = {1, 2, 3};
    Simulation moving = make(scene_of(body));
    for (int i = 0; i < 100; ++i) REQUIRE(moving.step());
    const std::vector<Vec3> x = moving.positions();
    for (size_t v = 0; v < x.size(); ++v)
      REQUIRE(norm(x[v] - moving.mesh(0).vertices[v] - Vec3{1, 2, 3} * moving.time()) <= 1e-10);
    // turned by a rotation, the body stays where it is: no energy, no force
    body.initial.velocity = {};
    body.place.rotate = {30, -70, 110};
    Simulation still = make(scene_of(body));
    const std::vector<Vec3> start = still.positions();
    for (int i = 0; i < 100; ++i) REQUIRE(still.step());
    for (size_t v = 0; v < x.size(); ++v) REQUIRE(norm(still.positions()[v] - start[v]) <= 1e-12);
  }
}

TEST_CASE("a body of shape matching keeps momenta and energy") {
  for (const char* type : {"shape_matching", "lattice_shape_matching"}) {
    CAPTURE(std::string(type));
    BodySpec body = bar(matching(type, 1e4));
    body.initial.stretch = {1.3, 1, 0.9};
    body.initial.angular_velocity = {0.3, 1, 2};
    Simulation sim = make(scene_of(body));
    const Run r = run(sim, 200);
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(largest(r.spin_error) <= 1e-11);
    CHECK(largest(r.energy_error) <= 1e-5);
  }
}

TEST_CASE("lattice shape matching: the stiffer, the less a held bar sags") {
  const double soft = sag("lattice_shape_matching", 1e5), middle = sag("lattice_shape_matching", 4e5),
               stiff = sag("lattice_shape_matching", 16e5);
  CHECK(soft > 1.5 * middle);
  CHECK(middle > 2 * stiff);  // small deflections are inversely proportional to mu: 4, less for what turns along
  CHECK(stiff > 0);
}

TEST_CASE("shape matching with more of the linear part gives way more easily") {
  double last = std::numeric_limits<double>::infinity();
  for (const double linear : {0.0, 0.3, 0.6, 1.0}) {
    BodySpec body = bar(matching("shape_matching", 1e4));
    body.potentials[0].parameters["linear"] = Track<double>(linear);
    body.initial.stretch = {1.3, 1, 0.9};
    const double energy = make(scene_of(body)).measure().elastic;
    // a stretch is linear: nothing but (1 - beta) of its energy is left
    if (linear == 0.0) last = energy;
    CHECK(energy == doctest::Approx((1 - linear) * last).epsilon(1e-9));
  }
}

TEST_CASE("a body too large for one group is told of the lattice") {
  const BodySpec body =
      generated_body("box", {{"size", {1, 1, 1}}, {"cells", {13, 13, 13}}}, matching("shape_matching", 1e4));
  const Expected<Simulation> made = Simulation::create(scene_of(body));
  REQUIRE_FALSE(made);
  CHECK(made.diagnostics().text().find(
            "bodies[0].potentials[0]: found 2744 vertices in a group, expected at most 2000, because each of them is "
            "tied to all the others; lattice_shape_matching does the same over small regions") != std::string::npos);
}
