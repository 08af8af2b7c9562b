// Geometric constraints that bodies settle into (Inventory N07, P18).
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// How far the vertices are from their places, in units of the mesh, after the body has come to rest.
double left_over(PotentialSpec potential) {
  const double stiffness = 1e3;
  potential.parameters["stiffness"] = Track<double>(stiffness);
  BodySpec body = generated_body("cloth", {{"columns", {5}}, {"rows", {4}}}, std::move(potential));
  body.mass = 1.0;
  body.initial.noise = 0.1;
  Simulation sim = make(scene_of(body, "pd"));
  CHECK(std::sqrt(2 * sim.measure().elastic / stiffness) > 1e-3);
  for (int i = 0; i < 600; ++i) REQUIRE(sim.step());
  return std::sqrt(2 * sim.measure().elastic / stiffness);
}

}  // namespace

TEST_CASE("a thrown sheet settles on a plane, on a circle, or in its shape at another size (Inventory N07)") {
  const std::vector<std::vector<int>> pieces{{0, 1, 2, 5, 6, 7}, {2, 3, 4, 7, 8, 9}, {5, 6, 10, 11, 12}};
  for (const char* type : {"planarity", "circle", "similarity"}) {
    CAPTURE(std::string(type));
    CHECK(left_over({type, {}}) <= 1e-6);
    PotentialSpec overlapping{type, {}};
    overlapping.groups = pieces;
    CHECK(left_over(overlapping) <= 1e-6);
  }
}

TEST_CASE("a formula of a program is held by a body, with momenta and energy") {
  // opposite corners of each cell of a box equally far apart: C = |q1 - q0|^2 - |q3 - q2|^2
  auto formula = std::make_shared<Formula>();
  formula->values = 1;
  formula->evaluate = [](const Vec3* q, int, double* c, Vec3* gradient) {
    const Vec3 a = q[1] - q[0], b = q[3] - q[2];
    c[0] = dot(a, a) - dot(b, b);
    gradient[0] = a * -2, gradient[1] = a * 2, gradient[2] = b * 2, gradient[3] = b * -2;
  };
  BodySpec body = box_body(2, 1e3);
  PotentialSpec potential{"formula", {{"stiffness", Track<double>(1e4)}}};
  potential.groups = {{0, 26, 2, 24}, {6, 20, 8, 18}};
  potential.formula = formula;
  body.potentials.push_back(potential);
  body.initial.noise = 0.1;
  body.initial.angular_velocity = {1, 2, 0};
  Simulation sim = make(scene_of(body));
  const Run r = run(sim, 100);
  CHECK(largest(r.momentum_error) <= 1e-12);
  CHECK(largest(r.spin_error) <= 1e-10);
  CHECK(largest(r.energy_error) <= 1e-4);
}
