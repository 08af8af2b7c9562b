// Example-based materials (Inventory P12, N34).
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

BodySpec bar(std::vector<PotentialSpec> potentials) {
  BodySpec body = generated_body("box", {{"size", {2, 0.4, 0.4}}, {"cells", {10, 2, 2}}}, {});
  body.potentials = std::move(potentials);
  return body;
}

PotentialSpec examples(double mu, std::vector<PoseSpec> poses, double global) {
  PotentialSpec potential{"examples", {{"mu", Track<double>(mu)}, {"global", Track<double>(global)}}};
  potential.poses = std::move(poses);
  return potential;
}

/// Largest distance from a point of one shape to the nearest of the other, both ways, after the best translation.
double hausdorff(std::vector<Vec3> a, std::vector<Vec3> b) {
  for (auto* shape : {&a, &b}) {
    Vec3 mean{};
    for (const Vec3& v : *shape) mean += v / double(shape->size());
    for (Vec3& v : *shape) v -= mean;
  }
  const auto one_way = [](const std::vector<Vec3>& from, const std::vector<Vec3>& to) {
    double worst = 0;
    for (const Vec3& p : from) {
      double near = 1e9;
      for (const Vec3& q : to) near = std::min(near, norm(p - q));
      worst = std::max(worst, near);
    }
    return worst;
  };
  return std::max(one_way(a, b), one_way(b, a));
}

/// The shape a bar comes to rest in when it is pulled along its length.
std::vector<Vec3> pulled(PotentialSpec potential, std::vector<double>* weights = nullptr) {
  Scene scene = scene_of(bar({std::move(potential)}), "pd");
  scene.bodies[0].mass = 10.0;
  for (const double side : {-1.0, 1.0}) {
    ForceSpec force;
    force.body = "box";
    force.vertices.box = {{Vec3{side - 0.01, -1, -1}, Vec3{side + 0.01, 1, 1}}};
    force.force = {side * 300, 0, 0};
    scene.forces.push_back(force);
  }
  Simulation sim = make(scene);
  for (int i = 0; i < 150; ++i) REQUIRE(sim.step());
  if (weights) *weights = sim.example_weights(0, 0);
  return sim.positions();
}

}  // namespace

TEST_CASE("a load drives a body nearer to its example than one without (Inventory P12)") {
  // one example: longer, flatter, and wider, which no ordinary material does
  const PoseSpec ribbon{.stretch = {1.4, 0.6, 1.3}};
  std::vector<Vec3> goal = make(scene_of(bar({strain(1e4)}))).mesh(0).vertices;
  for (Vec3& v : goal) v = {v.x * 1.4, v.y * 0.6, v.z * 1.3};
  const double plain = hausdorff(pulled(strain(1e4)), goal);
  for (const double global : {0.0, 1.0}) {
    CAPTURE(global);
    PotentialSpec potential = examples(1e4, {ribbon}, global);
    potential.parameters["limit"] = Track<double>(1.0);
    std::vector<double> weights;
    const double guided = hausdorff(pulled(potential, &weights), goal);
    CAPTURE(plain);
    CAPTURE(guided);
    CHECK(guided < 0.6 * plain);
    REQUIRE(weights.size() == 1);
    CHECK(weights[0] > 0.5);
    CHECK(weights[0] <= 1 + 1e-12);
  }
}

TEST_CASE("a body in one of its poses has no energy, and its weights say which") {
  const std::vector<PoseSpec> poses{{.stretch = {0.7, 1.5, 1}}, {.bend = {0, 0, 40}}, {.twist = {60, 0, 0}}};
  for (const double global : {0.0, 1.0}) {
    BodySpec body = bar({examples(1e4, poses, global)});
    body.initial.stretch = {0.7, 1.5, 1};
    const Simulation sim = make(scene_of(body));
    CHECK(sim.measure().elastic <= 1e-12 * make(scene_of([&] {
                                             BodySpec plain = bar({strain(1e4)});
                                             plain.initial = body.initial;
                                             return plain;
                                           }()))
                                               .measure()
                                               .elastic);
    const std::vector<double> weights = sim.example_weights(0, 0);
    REQUIRE(weights.size() == 3);
    if (global == 1.0) {
      CHECK(weights[0] == doctest::Approx(1).epsilon(1e-6));
      CHECK(std::abs(weights[1]) <= 1e-6);
      CHECK(std::abs(weights[2]) <= 1e-6);
    }
  }
}

TEST_CASE("a bent pose is an arc of the length of the body") {
  BodySpec body = bar({strain(1e4), examples(1e4, {{.bend = {0, 0, 45}}}, 1)});
  body.potentials.erase(body.potentials.begin());
  Simulation sim = make(scene_of(body));
  const Mesh& mesh = sim.mesh(0);
  // the same arc by hand: a radius of 1/curvature about a centre above
  const double radius = 180 / (45 * 3.14159265358979323846);
  std::vector<Vec3> arc;
  for (const Vec3& v : mesh.vertices) {
    const double angle = v.x / radius;
    arc.push_back({(radius - v.y) * std::sin(angle), radius - (radius - v.y) * std::cos(angle), v.z});
  }
  sim.set_state(arc, std::vector<Vec3>(arc.size()));
  CHECK(sim.measure().elastic <= 1e-20 * 1e4);
  CHECK(sim.example_weights(0, 0)[0] == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("a body with examples keeps momenta and energy") {
  for (const double global : {0.0, 1.0}) {
    CAPTURE(global);
    BodySpec body = bar({examples(1e4, {{.stretch = {0.7, 1.4, 1}}, {.bend = {0, 0, 40}}}, global), strain(2e3)});
    body.initial.stretch = {1.2, 1, 0.9};
    body.initial.angular_velocity = {0.3, 1, 2};
    Simulation sim = make(scene_of(body));
    const Run r = run(sim, 100);
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(largest(r.spin_error) <= 1e-10);
    CHECK(largest(r.energy_error) <= 1e-4);
  }
}

TEST_CASE("an example with another topology, none at all, and poses for a potential without are refused") {
  const auto refusal = [](PotentialSpec potential) {
    const Expected<Simulation> made = Simulation::create(scene_of(bar({std::move(potential)})));
    REQUIRE_FALSE(made);
    return made.diagnostics().text();
  };
  PotentialSpec other = examples(1e4, {}, 0);
  MeshSpec& box = other.examples.emplace_back();
  box.generator = "box", box.parameters = {{"cells", {3, 3, 3}}};
  CHECK(
      refusal(other).find("bodies[0].potentials[0].examples[0]: found 64 vertices and 135 elements, expected the same "
                          "vertices and elements as the body in another pose (99 and 200)") != std::string::npos);
  CHECK(refusal(examples(1e4, {}, 0)).find("potentials[0].examples: found none, expected at least one pose") !=
        std::string::npos);
  PotentialSpec strange = strain(1e4);
  strange.poses.push_back({});
  CHECK(refusal(strange).find("potentials[0].poses: found poses, expected none") != std::string::npos);
}

TEST_CASE("what is the same for all elements of an example-based material is no list") {
  for (const char* name : {"limit", "global", "iterations"}) {
    CAPTURE(name);
    PotentialSpec potential = examples(1e4, {PoseSpec{.stretch = {1.4, 0.6, 1.3}}}, 0);
    potential.parameters.erase(name);
    potential.arrays[name] =
        std::vector<double>(size_t(make(scene_of(bar({strain(1e4)}))).mesh(0).tetrahedra.size()), 1);
    const Expected<Simulation> made = Simulation::create(scene_of(bar({potential})));
    CHECK_FALSE(made.has_value());
    CHECK(made.diagnostics().text().find("potentials[0]." + std::string(name) + ": found a list, expected ") !=
          std::string::npos);
  }
}
