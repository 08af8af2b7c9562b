// No memory is asked for once a simulation is under way. A program of its own: it replaces operator new.
#include <doctest/doctest.h>

#include "count_allocations.h"
#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Allocations in 20 steps after the first.
long allocations_later(Simulation& sim) {
  REQUIRE(sim.step());
  long sum = 0;
  for (int frame = 0; frame < 20; ++frame) {
    const long before = allocations();
    const StepReport r = sim.step();
    sum += allocations() - before;
    REQUIRE(r);
  }
  return sum;
}

AnchorSpec pin_of(const std::string& body, bool active) {
  AnchorSpec pin;
  pin.name = "pin";
  pin.body = body;
  pin.vertices.nearest = Vec3{-10, 10, 0};
  pin.active = active;
  return pin;
}

}  // namespace

TEST_CASE("the counter sees allocations") {
  const long before = allocations();
  static std::vector<Vec4> seen;  // static: what nobody can look at need not be allocated
  seen.resize(10);
  CHECK(allocations() == before + 1);
}

TEST_CASE(
    "no step after the first allocates, for solids and sheets, free and anchored, with one sub-step and with four") {
  for (const MethodInfo& method : method_infos()) {
    for (const bool solid : {true, false}) {
      if (solid && !drives_solids(method)) continue;
      for (const bool anchored : {false, true}) {
        for (const int substeps : {1, 4}) {
          CAPTURE(method.name);
          CAPTURE(solid);
          CAPTURE(anchored);
          CAPTURE(substeps);
          // a name too long for the buffer inside std::string
          const std::string name = "a body whose name does not fit into a short string";
          BodySpec body = solid ? box_body(3, 1e4, name)
                                : generated_body("cloth", {{"columns", {8}}, {"rows", {8}}}, springs(1000));
          body.name = name;
          body.initial.stretch = {1, 1.2, 1.1};
          body.initial.angular_velocity = {0, 1, 0};
          Scene scene = scene_of(body, method.name);
          scene.gravity = {0, -9.81, 0};
          scene.solver.substeps = substeps;
          if (anchored) scene.anchors.push_back(pin_of(name, true));
          Simulation sim = make(scene);
          CHECK(allocations_later(sim) == 0);
        }
      }
    }
  }
}

TEST_CASE("no step after the first allocates while dials and anchor paths move, in float, or on two threads") {
  Scene scene = cube_scene();
  scene.solver.substeps = 2;
  SUBCASE("dials") {
    scene.bodies[0].dials.damping = 0.3;
    scene.bodies[0].dials.momentum.keys = {{0, Vec3{0, 0, 0}}, {2, Vec3{100, 0, 0}}};
    Simulation sim = make(scene);
    CHECK(allocations_later(sim) == 0);
  }
  SUBCASE("a moving anchor") {
    AnchorSpec pin = pin_of("box", true);
    pin.path.keys = {{0, Vec3{0, 0, 0}}, {2, Vec3{1, 0, 0}}};
    scene.anchors.push_back(pin);
    Simulation sim = make(scene);
    CHECK(allocations_later(sim) == 0);
  }
  SUBCASE("a push") {
    PushSpec push;
    push.body = "box";
    push.time = 0.3;
    push.impulse = {100, 0, 0};
    push.rest_point = Vec3{0.5, 0.5, 0.5};
    push.radius = 0.4;
    scene.pushes.push_back(push);
    Simulation sim = make(scene);
    CHECK(allocations_later(sim) == 0);
  }
  SUBCASE("consistent mass and a force") {
    scene.bodies[0].mass_matrix = MassMatrix::consistent;
    ForceSpec force;
    force.body = "box", force.force = {100, 0, 0};
    force.vertices.nearest = Vec3{0.5, 0.5, 0.5};
    scene.forces.push_back(force);
    Simulation sim = make(scene);
    CHECK(allocations_later(sim) == 0);
  }
  SUBCASE("float") {
    scene.solver.precision = Precision::float32;
    scene.solver.tolerance = 1e-4;
    Simulation sim = make(scene);
    CHECK(allocations_later(sim) == 0);
  }
  SUBCASE("what is held after the step") {
    for (const std::string& after : post_step_names()) {
      CAPTURE(after);
      scene.solver.method = "pd_alpha+" + after;
      scene.bodies[0].mass_matrix = after == "fepr" ? MassMatrix::consistent : MassMatrix::lumped;
      Simulation sim = make(scene);
      CHECK(allocations_later(sim) == 0);
    }
  }
  SUBCASE("two threads") {
    scene.bodies[0].mesh.parameters["cells"] = {10, 10, 10};
    scene.solver.tolerance = 1e-4;
    Simulation sim = make(scene, 2);
    CHECK(allocations_later(sim) == 0);
  }
}

TEST_CASE("P20: no step after the first allocates in a body that may tear and does not") {
  Scene scene = cube_scene();
  scene.bodies[0].potentials[0].tear = 5.0;
  Simulation sim = make(scene);
  CHECK(allocations_later(sim) == 0);
}

TEST_CASE("no step after the first allocates in a body that may flow and does not") {
  Scene scene = cube_scene();
  scene.bodies[0].potentials[0].yield = 5;
  Simulation sim = make(scene);
  CHECK(allocations_later(sim) == 0);
}
