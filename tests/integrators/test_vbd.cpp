// Vertex block descent against Newton's method, by itself on several threads, and with contact (docs/minimisers.md).
// That no sweep raises g, on three materials and with Chebyshev acceleration, is in test_minimizers.cpp.
#include <doctest/doctest.h>

#include <cmath>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

Scene converged(Scene scene, const std::string& method, int iterations) {
  scene.solver.method = method, scene.solver.iterations = iterations, scene.solver.tolerance = 1e-13;
  return scene;
}

/// The largest distance between two runs, over the size of what moves (1 m in the scenes below).
double apart(const Scene& a, const Scene& b, int frames) {
  Simulation one = make(a), two = make(b);
  for (int frame = 0; frame < frames; ++frame) REQUIRE((one.step() && two.step()));
  double out = 0;
  for (int i = 0; i < one.vertices(); ++i) out = std::max(out, norm(one.positions()[i] - two.positions()[i]));
  return out;
}

/// Springs, gas and a group on a closed sheet that is tied to a solid, which hangs from a soft anchor.
Scene mixed() {
  BodySpec balloon = generated_body("sphere", {{"size", {0.6}}, {"frequency", {2}}}, springs(200));
  balloon.name = "balloon", balloon.density = 0.3, balloon.place.translate = {0, -1, 0};
  balloon.potentials.push_back({"pressure", {{"pressure", Track<double>(300)}}});
  balloon.potentials.push_back({"shape_matching", {{"mu", Track<double>(20)}}});
  Scene scene = scene_of(box_body(2, 2e4));
  scene.gravity = {0, -earth, 0};
  scene.bodies.push_back(balloon);
  AnchorSpec top, tie;
  top.body = "box", top.stiffness = Track<double>(1e5), top.vertices.box = {{Vec3{-1, 0.49, -1}, Vec3{1, 1, 1}}};
  tie.body = "balloon", tie.to_body = "box", tie.stiffness = Track<double>(1e3);
  tie.vertices.box = {{Vec3{-1, -0.75, -1}, Vec3{1, 1, 1}}};
  scene.anchors = {top, tie};
  return scene;
}

}  // namespace

TEST_CASE("converged, vertex block descent ends where Newton's method does, to 1e-6") {
  for (const std::string material : {"tet_strain", "stable_neo_hookean"}) {
    CAPTURE(material);
    Scene scene = cube_scene("newton");
    if (material != "tet_strain")
      scene.bodies[0].potentials = {{material, {{"young", Track<double>(2.6e4)}, {"poisson", Track<double>(0.3)}}}};
    const double off = apart(converged(scene, "vbd", 3000), converged(scene, "newton", 50), 5);
    MESSAGE(material, ": ", off);
    CHECK(off <= 1e-6);
  }
}

TEST_CASE("vertex block descent drives what has no energy by elements, groups and links, to the same place") {
  const double off = apart(converged(mixed(), "vbd", 4000), converged(mixed(), "pd", 4000), 3);
  MESSAGE("apart by ", off);
  CHECK(off <= 1e-6);
}

TEST_CASE("vertex block descent has the same bits on any number of threads, with contact too") {
  Scene scene = grounded({ball_body(0.6, 4, 1e5, {-0.4, 0.4, 0}, "a"), ball_body(0.6, 4, 1e5, {0.4, 0.6, 0.1}, "b")},
                         {floor_plane(0.4)});
  scene.solver.method = "vbd", scene.solver.iterations = 20;
  scene.bodies[0].initial.velocity = {1.5, 0, 0}, scene.bodies[1].initial.velocity = {-1.5, 0, 0};
  for (BodySpec& body : scene.bodies) body.friction = 0.4, body.restitution = 0.6;
  scene.contact.emplace();
  std::uint64_t hash = 0;
  for (const int threads : {1, 2, 3}) {
    Simulation sim = make(scene, threads);
    for (int frame = 0; frame < 12; ++frame) REQUIRE(sim.step());
    if (hash == 0) hash = sim.state_hash();
    CHECK(sim.state_hash() == hash);
    CHECK(sim.measure().contact > 0);
  }
}

TEST_CASE("by vertex block descent a soft ball comes to rest on the floor, no deeper than 5 % of an edge") {
  Scene scene = grounded({ball_body(0.6, 4, 1e5, {0, 0.35, 0})}, {floor_plane()});
  scene.solver.method = "vbd";
  Simulation sim = make(scene);
  double deepest = 0;
  for (int frame = 0; frame < 60; ++frame) {
    REQUIRE(sim.step());
    deepest = std::max(deepest, -lowest(sim));
  }
  CHECK(norm(sim.measure().momentum) <= 1e-2 * sim.measure().mass);
  CHECK(deepest <= 0.05 * 0.6 / 8);
}
