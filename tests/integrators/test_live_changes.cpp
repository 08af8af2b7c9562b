// What can be changed between frames: anchors that come and go, what is held, the step.
#include <doctest/doctest.h>

#include <optional>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

Scene dial_scene() {
  Scene scene = cube_scene("cpd");
  scene.bodies[0].initial.angular_velocity = {0.2, 1, 0.1};
  scene.bodies[0].initial.velocity = {0.5, 0.1, 0};
  return scene;
}

AnchorSpec anchor(const std::string& body, const Vec3& nearest, double stiffness = 1e4) {
  AnchorSpec spec;
  spec.body = body;
  spec.vertices.nearest = nearest;
  spec.stiffness = stiffness;
  return spec;
}

void steps(Simulation& sim, int frames) {
  for (int frame = 0; frame < frames; ++frame) {
    const StepReport r = sim.step();
    REQUIRE_MESSAGE(r, r.message);
  }
}

bool message_mentions(const std::string& message, const std::string& word) {
  return message.find(word) != std::string::npos;
}

template <class F>
std::string complaint(F&& misuse) {
  try {
    misuse();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an anchor added while it moves holds, works when moved, and leaves energy and momenta alone once removed") {
  Simulation sim = make(dial_scene());
  steps(sim, 10);
  const Measures free = sim.measure();
  const AnchorSpec spec = anchor("box", {0.5, 0.5, 0.5}, 500);
  const int hand = sim.add_anchor(spec);
  CHECK(hand == 0);
  CHECK(sim.anchors() == 1);
  int vertex = 0;
  const std::vector<Vec3> rest = sim.mesh(0).vertices;
  for (size_t i = 0; i < rest.size(); ++i)
    if (norm(rest[i] - *spec.vertices.nearest) < norm(rest[vertex] - *spec.vertices.nearest)) vertex = int(i);

  // where it is activated its spring is slack: H is what it was
  steps(sim, 1);
  CHECK(sim.anchor_active(hand));
  CHECK(std::abs(sim.measure().total - free.total) <= 2e-6 * free.total);
  const Vec3 before = sim.positions()[vertex];
  double lent = 0;  // energy that moving the anchor brought: k/2 (|x - a'|^2 - |x - a|^2), frame by frame
  Vec3 to, held = before;
  for (int frame = 0; frame < 40; ++frame) {
    const double was = sim.measure().total;
    to = {0.05 * (frame + 1), 0, 0};
    sim.move_anchor(hand, to);
    steps(sim, 1);
    lent += sim.measure().total - was;
    held = sim.positions()[vertex];
  }
  CHECK(lent > 0.1 * free.total);
  CHECK(held.x - before.x > 1);  // of 2 m: it lags behind a soft spring, but follows

  // numbers of others stay, and that of one that was removed is not given away while its spring still acts
  sim.remove_anchor(hand);
  CHECK(sim.add_anchor(spec) == 1);
  sim.remove_anchor(1);
  const Measures thrown = sim.measure();
  steps(sim, 1);
  CHECK(!sim.anchor_active(hand));
  const Measures flying = sim.measure();
  CHECK(norm(flying.momentum - thrown.momentum) <= 1e-10 * norm(thrown.momentum));
  CHECK(norm(flying.spin - thrown.spin) <= 1e-10 * norm(thrown.spin));
  for (int frame = 0; frame < 60; ++frame) {
    steps(sim, 1);
    CHECK(std::abs(sim.measure().total - flying.total) <= 2e-6 * flying.total);
    CHECK(norm(sim.measure().momentum - flying.momentum) <= 1e-10 * norm(flying.momentum));
    CHECK(norm(sim.measure().spin - flying.spin) <= 1e-10 * norm(flying.spin));
  }
  CHECK(sim.add_anchor(spec) == 0);
  sim.reset();
  steps(sim, 1);
  CHECK(sim.anchor_active(0));
  CHECK(!sim.anchor_active(1));
  AnchorSpec wrong = spec;
  wrong.body = "bax";
  CHECK(message_mentions(complaint([&] { sim.add_anchor(wrong); }), "nearest: box"));
}

TEST_CASE("an anchor added while it runs is the one that a scene would have") {
  Scene scene = dial_scene();
  scene.gravity = {0, -9.81, 0};
  Simulation late = make(scene);
  late.add_anchor(anchor("box", {0.5, 0.5, 0.5}));
  scene.anchors.push_back(anchor("box", {0.5, 0.5, 0.5}));
  Simulation given = make(scene);
  steps(late, 20), steps(given, 20);
  const std::vector<Vec3> a = late.positions(), b = given.positions();
  double apart = 0;
  for (size_t i = 0; i < a.size(); ++i) apart = std::max(apart, norm(a[i] - b[i]));
  CHECK(apart <= 1e-9);  // the factor is made with the anchor or follows it: they round differently
}

TEST_CASE("what is held stays where it is held against gravity, until it is released") {
  Scene scene = dial_scene();
  scene.gravity = {0, -2, 0};
  Simulation sim = make(scene);
  const Vec3 momentum{1, 2, 3}, spin{0, 0.4, 0};
  sim.hold_momentum(0, momentum);
  sim.hold_spin(0, spin);
  for (int frame = 0; frame < 30; ++frame) {
    steps(sim, 1);
    CHECK(norm(sim.measure().momentum - momentum) <= 1e-9);
    CHECK(norm(sim.measure().spin - spin) <= 1e-9);
  }
  const double energy = sim.measure().total;
  sim.hold_momentum(0, std::nullopt), sim.hold_spin(0, std::nullopt);
  steps(sim, 1);
  CHECK(norm(sim.measure().momentum - momentum - scene.gravity * (sim.measure().mass * scene.step)) <= 1e-9);
  sim.hold_energy(0, 1.2 * energy);
  steps(sim, 4);
  sim.add_impulse(0, {5, 0, 0}, sim.measure().center);
  steps(sim, 4);
  CHECK(std::abs(sim.measure().total - 1.2 * energy) <= 1e-5 * energy);
}

TEST_CASE(
    "the length of frames, the iterations and friction can be changed between frames, and reset gives them back") {
  Simulation sim = make(dial_scene());
  steps(sim, 5);
  const Measures before = sim.measure();
  const double time = sim.time(), step = sim.scene().step;
  sim.set_step(step / 4);
  steps(sim, 8);
  CHECK(sim.time() == doctest::Approx(time + 2 * step).epsilon(1e-14));
  CHECK(std::abs(sim.measure().total - before.total) <= 2e-6 * before.total);
  CHECK(norm(sim.measure().spin - before.spin) <= 1e-10 * norm(before.spin));
  sim.set_step(2 * step);
  steps(sim, 20);
  CHECK(std::abs(sim.measure().total - before.total) <= 2e-6 * before.total);
  sim.set_iterations(1);
  CHECK(sim.step().iterations <= 16);  // one per sub-step
  sim.set_friction(0.5);
  sim.reset();
  CHECK(sim.scene().step == step);
  Simulation fresh = make(dial_scene());
  steps(sim, 10), steps(fresh, 10);
  CHECK(sim.state_hash() == fresh.state_hash());
  CHECK(message_mentions(complaint([&] { sim.set_step(0); }), "seconds > 0"));
  CHECK(message_mentions(complaint([&] { sim.set_iterations(0); }), "at least 1"));
  CHECK(message_mentions(complaint([&] { sim.set_friction(-1); }), ">= 0"));
}
