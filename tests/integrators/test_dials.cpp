// What a user may turn while a body moves, from C++ and from keyframes.
#include <doctest/doctest.h>

#include <limits>
#include <numbers>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Little spin beside the deformation, so that a quarter of the energy is still above K.
Scene dial_scene(const std::string& method = "cpd") {
  Scene scene = cube_scene(method);
  scene.bodies[0].initial.angular_velocity = {0.2, 1, 0.1};
  scene.bodies[0].initial.velocity = {0.5, 0.1, 0};
  return scene;
}

AnchorSpec anchor(const std::string& body, const Vec3& nearest, double stiffness = 1e4) {
  AnchorSpec spec;
  spec.name = "pin";
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

TEST_CASE(
    "a new energy, momentum or spin is there one step later, from a quarter to four times the old (Inventory C17)") {
  for (const MethodInfo& method : method_infos()) {
    if (!conserves(method)) continue;
    for (const double factor : {0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0}) {
      CAPTURE(method.name);
      CAPTURE(factor);
      Simulation sim = make(dial_scene(method.name));
      steps(sim, 13);
      const Measures m0 = sim.measure();
      {
        sim.set_energy(0, factor * m0.total);
        const StepReport r = sim.step();
        REQUIRE(r);
        const Measures m = sim.measure();
        const double off = std::abs(m.total - factor * m0.total) / std::max(m0.total, factor * m0.total);
        MESSAGE(method.name, " H x ", factor, ": off by ", off, " iterations ", r.iterations, " sub-steps ",
                r.substeps);
        CHECK(off <= 2e-6);
        CHECK(norm(m.spin - m0.spin) <= 1e-12 * norm(m0.spin));
        CHECK(norm(m.momentum - m0.momentum) <= 1e-12 * norm(m0.momentum));
        steps(sim, 30);
        CHECK(std::abs(sim.measure().total - factor * m0.total) <=
              2e-6 * std::max(m0.total, factor * m0.total));  // and held
        CHECK(finite(sim));
      }
      {
        const Measures before = sim.measure();
        sim.set_momentum(0, m0.momentum * factor);
        steps(sim, 1);
        Measures m = sim.measure();
        CHECK(norm(m.momentum - m0.momentum * factor) <= 1e-12 * norm(m0.momentum));
        CHECK(norm(m.spin - before.spin) <= 1e-12 * norm(before.spin));
        // the change arrives with its own kinetic energy and no more
        const double expected = before.total + (sq(factor) - 1) * dot(m0.momentum, m0.momentum) / (2 * m0.mass);
        CHECK(std::abs(m.total - expected) <= 2e-6 * std::max(before.total, expected));
        sim.set_spin(0, m0.spin * factor);
        steps(sim, 1);
        m = sim.measure();
        CHECK(norm(m.spin - m0.spin * factor) <= 1e-12 * norm(m0.spin));
        CHECK(norm(m.momentum - m0.momentum * factor) <= 1e-12 * norm(m0.momentum));
        steps(sim, 30);
        CHECK(norm(sim.measure().spin - m0.spin * factor) <= 1e-12 * norm(m0.spin));
        CHECK(finite(sim));
      }
    }
  }
}

TEST_CASE("energy turned down is there one step later at any phase of the oscillation, and stays") {
  for (int phase = 6; phase <= 20; phase += 2) {  // a period of the main mode
    for (const double factor : {0.25, 0.8}) {
      CAPTURE(phase);
      CAPTURE(factor);
      Simulation sim = make(dial_scene());
      steps(sim, phase);
      const Measures m0 = sim.measure();
      REQUIRE(factor * m0.total > 1.2 * least_energy(sim, 0));
      sim.set_energy(0, factor * m0.total);
      for (int frame = 0; frame < 30; ++frame) {
        steps(sim, 1);
        CHECK(std::abs(sim.measure().total - factor * m0.total) <= 2e-6 * m0.total);
      }
      CHECK(norm(sim.measure().spin - m0.spin) <= 1e-12 * norm(m0.spin));
      CHECK(norm(sim.measure().momentum - m0.momentum) <= 1e-12 * norm(m0.momentum));
    }
  }
}

TEST_CASE("a dial in force never lets energy rise") {
  // a chain that falls, with a half-life as good as none and a short one; a violent bar held at the energy it has
  for (const double half_life : {1e6, 5.0}) {
    CAPTURE(half_life);
    Scene scene = scene_of(generated_body("chain", {{"vertices", {21}}}, springs(2000)));
    scene.gravity = {0, -9.81, 0};
    scene.solver.tolerance = 1e-4;
    scene.bodies[0].density = 0.5;
    AnchorSpec hook = anchor(scene.bodies[0].name, {});
    hook.vertices = {};
    hook.vertices.indices = {0};
    scene.anchors.push_back(hook);
    scene.bodies[0].dials.half_life = half_life;
    Simulation sim = make(scene);
    const double start = sim.measure().total;
    double most = start, exchanged = 0;
    for (int frame = 0; frame < 150; ++frame) {
      steps(sim, 1);
      most = std::max(most, sim.measure().total);
      exchanged = std::max(exchanged, sim.measure().kinetic);
    }
    CHECK(most - start <= 1e-3 * exchanged);
  }
  Scene scene = scene_of(generated_body("bar", {{"cells", {10, 2, 2}}}, strain(2e4)));
  scene.bodies[0].initial.stretch = {1.8, 1, 1};
  const double h0 = make(scene).measure().total;
  for (const bool energy : {true, false}) {
    CAPTURE(energy);
    if (energy) {
      scene.bodies[0].dials.energy = h0;
    } else {
      scene.bodies[0].dials.energy = {};
      scene.bodies[0].dials.half_life = 1e6;
    }
    Simulation sim = make(scene);
    for (int frame = 0; frame < 200; ++frame) {
      steps(sim, 1);
      CHECK(std::abs(sim.measure().total - h0) <= 1e-4 * h0);  // the half-life takes 4.6e-6 in all
    }
  }
}

TEST_CASE("methods that hold nothing take no notice of an energy dial") {
  for (const MethodInfo& method : methods_for_solids()) {
    if (method.conservation != "none") continue;
    CAPTURE(method.name);
    Scene scene = dial_scene(method.name);
    Simulation without = make(scene);
    scene.bodies[0].dials.energy = 1.0;
    Simulation with = make(scene);
    steps(without, 60);
    steps(with, 60);
    CHECK(with.state_hash() == without.state_hash());
  }
}

TEST_CASE("momentum and energy turned down in the same frame are both there in the next") {
  Simulation sim = make(dial_scene());
  steps(sim, 13);
  const Measures m = sim.measure();
  const double inner = m.total - dot(m.momentum, m.momentum) / (2 * m.mass);
  sim.set_momentum(0, {});
  sim.set_energy(0, 0.4 * inner);
  steps(sim, 1);
  CHECK(std::abs(sim.measure().total - 0.4 * inner) <= 2e-6 * inner);
  CHECK(norm(sim.measure().momentum) <= 1e-12 * norm(m.momentum));
}

TEST_CASE("keyframed dials are followed to the end of each frame and released where they end") {
  Scene scene = dial_scene();
  Dials& dials = scene.bodies[0].dials;
  dials.momentum.keys = {{0.5, Vec3{100, 0, 0}}, {1.0, Vec3{0, 200, 0}}, {1.5, std::nullopt}};
  dials.spin.keys = {{0.2, Vec3{0, 100, 0}}, {1.2, Vec3{0, 300, 0}}};
  dials.energy.keys = {{1.0, 4000.0}, {2.0, 8000.0}, {2.5, std::nullopt}};
  Simulation sim = make(scene);
  const Measures m0 = sim.measure();
  for (int frame = 1; frame <= 90; ++frame) {
    CAPTURE(frame);
    REQUIRE(sim.step());
    const double t = sim.time();
    const Measures m = sim.measure();
    if (const auto p = dials.momentum.at(t)) CHECK(norm(m.momentum - *p) <= 1e-10 * 200);
    if (t < 0.49) CHECK(norm(m.momentum - m0.momentum) <= 1e-10 * norm(m0.momentum));
    if (t > 1.51) CHECK(norm(m.momentum - Vec3{0, 200, 0}) <= 1e-10 * 200);
    if (const auto l = dials.spin.at(t)) CHECK(norm(m.spin - *l) <= 1e-10 * 300);
    if (const auto h = dials.energy.at(t)) CHECK(std::abs(m.total - *h) <= 2e-6 * *h);
    if (t > 2.51) CHECK(std::abs(m.total - 8000) <= 2e-6 * 8000);
  }
  CHECK(finite(sim));
}

TEST_CASE("after a half-life half of H - K is left, and infinity keeps the rest") {
  for (const double half_life : {0.5, 2.0}) {
    CAPTURE(half_life);
    Scene scene = dial_scene();
    scene.bodies[0].initial.angular_velocity = {0, 0, 0};
    scene.bodies[0].initial.velocity = {0, 0, 0};
    Simulation sim = make(scene);
    steps(sim, 5);
    const double h0 = sim.measure().total;  // K = 0
    sim.set_half_life(0, half_life);
    const int frames = int(std::lround(half_life / scene.step));
    steps(sim, frames);
    // (1 - gamma h)^n in place of exp(-gamma h n): with gamma h n = ln 2 short by ln 2 gamma h/2 of itself
    const double per_frame = std::numbers::ln2 / half_life * scene.step;
    CHECK(sim.measure().total / h0 == doctest::Approx(std::pow(1 - per_frame, frames)).epsilon(1e-5));
    CHECK(sim.measure().total / h0 == doctest::Approx(0.5).epsilon(std::numbers::ln2 * per_frame));
    sim.set_half_life(0, std::numeric_limits<double>::infinity());
    const double held = sim.measure().total;
    steps(sim, 30);
    CHECK(std::abs(sim.measure().total - held) <= 2e-6 * held);
  }
}

TEST_CASE("a keyframed half-life acts like the damping of the same rate") {
  Scene a = dial_scene(), b = dial_scene();
  a.bodies[0].dials.half_life.keys = {{0, 1.0}, {1, 2.0}};
  a.bodies[0].dials.half_life.interpolation = Interpolation::step;
  b.bodies[0].dials.damping.keys = {{0, std::numbers::ln2}, {1, std::numbers::ln2 / 2}};
  b.bodies[0].dials.damping.interpolation = Interpolation::step;
  Simulation left = make(a), right = make(b);
  for (int frame = 0; frame < 60; ++frame) steps(left, 1), steps(right, 1);
  CHECK(left.measure().total == doctest::Approx(right.measure().total).epsilon(1e-5));
  CHECK(left.measure().total < 0.7 * make(dial_scene()).measure().total);
}

TEST_CASE("an impulse adds J to P and r x J to L, as a rigid push and locally") {
  const Vec3 J{30, -20, 50};
  for (const double radius : {0.0, 0.4, 1e-6}) {
    CAPTURE(radius);
    Simulation sim = make(dial_scene());
    steps(sim, 7);
    const std::vector<Vec3> x = sim.positions(), v = sim.velocities();
    const std::vector<double> mass = vertex_masses(sim, 0);
    const Measures m0 = sim.measure();
    const Vec3 point = x[17] + Vec3{0.01, 0, 0};
    sim.add_impulse(0, J, point, radius);
    const Measures pushed = sim.measure();
    CHECK(norm(pushed.momentum - m0.momentum - J) <= 1e-12 * norm(J));
    const std::vector<Vec3> v1 = sim.velocities();
    Vec3 spin{};
    int moved = 0;
    for (size_t i = 0; i < v.size(); ++i) {
      spin += cross(x[i] - m0.center, (v1[i] - v[i]) * mass[i]);
      moved += !(v1[i] == v[i]);
    }
    CHECK(norm(pushed.spin - m0.spin - spin) <= 1e-10 * norm(J));
    if (radius == 0) {
      CHECK(norm(pushed.spin - m0.spin - cross(point - m0.center, J)) <= 1e-12 * norm(J));
      CHECK(moved == int(v.size()));
    } else {
      // shared by the vertices around the point: r is theirs, within the radius of it
      CHECK(norm(pushed.spin - m0.spin - cross(point - m0.center, J)) <= std::max(radius, 0.0101) * norm(J));
      CHECK(moved < int(v.size()));
      CHECK(moved >= 1);
      if (radius < 0.01) CHECK(moved == 1);
    }
    steps(sim, 30);
    const Measures m = sim.measure();
    CHECK(norm(m.momentum - pushed.momentum) <= 1e-12 * norm(pushed.momentum));
    CHECK(norm(m.spin - pushed.spin) <= 1e-12 * norm(pushed.spin));
    CHECK(std::abs(m.total - pushed.total) <= 2e-6 * pushed.total);
  }
}

TEST_CASE("a push in the scene acts at its moment and rides on the body") {
  Scene scene = dial_scene();
  PushSpec push;
  push.body = "box";
  push.time = 0.5;
  push.impulse = {0, 100, 0};
  push.rest_point = Vec3{0.5, 0, 0};
  scene.pushes.push_back(push);
  Simulation sim = make(scene);
  const Measures m0 = sim.measure();
  steps(sim, 15);
  CHECK(norm(sim.measure().momentum - m0.momentum) <= 1e-12 * norm(m0.momentum));
  int vertex = 0;
  const std::vector<Vec3> rest = sim.mesh(0).vertices;
  for (size_t i = 0; i < rest.size(); ++i)
    if (norm(rest[i] - *push.rest_point) < norm(rest[vertex] - *push.rest_point)) vertex = int(i);
  const Vec3 arm = sim.positions()[vertex] - sim.measure().center;
  const Vec3 spin = sim.measure().spin;
  steps(sim, 1);
  CHECK(norm(sim.measure().momentum - m0.momentum - push.impulse) <= 1e-12 * 100);
  CHECK(norm(sim.measure().spin - spin - cross(arm, push.impulse)) <= 1e-10 * 100);
  steps(sim, 20);
  CHECK(norm(sim.measure().momentum - m0.momentum - push.impulse) <= 1e-12 * 100);
}

TEST_CASE("an anchor switched on holds without a jump of energy and sets the body free again when switched off") {
  Scene scene = dial_scene();
  AnchorSpec pin = anchor("box", {0.5, 0.5, 0.5});
  pin.active = false;
  scene.anchors.push_back(pin);
  Simulation sim = make(scene);
  steps(sim, 10);
  const Measures m0 = sim.measure();
  CHECK(!sim.anchor_active(0));
  sim.set_anchor(sim.find_anchor("pin"), true);
  double worst = 0, turned = 0;
  for (int frame = 0; frame < 60; ++frame) {
    steps(sim, 1);
    worst = std::max(worst, std::abs(sim.measure().total - m0.total) / m0.total);
    turned = std::max(turned, norm(sim.measure().momentum - m0.momentum) / norm(m0.momentum));
  }
  CHECK(sim.anchor_active(0));
  CHECK(worst <= 2e-6);
  CHECK(turned > 0.1);  // it does hold: momentum goes into the anchor
  sim.set_anchor(0, false);
  // what is stored in the anchor's spring goes with it
  const Measures held = sim.measure();
  steps(sim, 1);
  const Measures freed = sim.measure();
  CHECK(!sim.anchor_active(0));
  CHECK(norm(freed.momentum - held.momentum) <= 1e-10 * norm(held.momentum));
  CHECK(norm(freed.spin - held.spin) <= 1e-10 * norm(held.spin));
  CHECK(freed.total <= held.total * (1 + 2e-6));
  steps(sim, 60);
  const Measures m = sim.measure();
  CHECK(norm(m.momentum - freed.momentum) <= 1e-12 * norm(freed.momentum));
  CHECK(norm(m.spin - freed.spin) <= 1e-12 * norm(freed.spin));
  CHECK(std::abs(m.total - freed.total) <= 2e-6 * freed.total);
}

TEST_CASE("a moving anchor takes its vertex along, on a keyframed path and by hand") {
  Scene scene = scene_of(box_body(3, 1e5));
  AnchorSpec pin = anchor("box", {0.5, 0.5, 0.5}, 1e6);
  pin.path.keys = {{0, Vec3{0, 0, 0}}, {2, Vec3{1, 0, 0}}};
  scene.anchors.push_back(pin);
  scene.bodies[0].dials.half_life = 0.1;
  Simulation sim = make(scene);
  int vertex = 0;
  const std::vector<Vec3> rest = sim.mesh(0).vertices;
  for (size_t i = 0; i < rest.size(); ++i)
    if (norm(rest[i] - Vec3{0.5, 0.5, 0.5}) < norm(rest[vertex] - Vec3{0.5, 0.5, 0.5})) vertex = int(i);
  double worst = 0;
  for (int frame = 0; frame < 90; ++frame) {
    steps(sim, 1);
    const Vec3 expected = rest[vertex] + pin.path.at(sim.time()).value();
    worst = std::max(worst, norm(sim.positions()[vertex] - expected));
  }
  MESSAGE("vertex off its path by ", worst);
  // at most what the whole body's inertia can stretch the spring: m v / sqrt(m k) with v = 0.5 m/s
  CHECK(worst <= 0.5 * std::sqrt(1000.0 / 1e6) * 1.5);
  sim.move_anchor(0, {1, 0.5, 0});
  steps(sim, 120);
  CHECK(finite(sim));
  CHECK(norm(sim.positions()[vertex] - rest[vertex] - Vec3{1, 0.5, 0}) <= 0.05);
}

TEST_CASE("linked bodies keep P, L and H together, and each its own sum when they part") {
  Scene scene;
  scene.bodies.push_back(box_body(3, 1e4, "left"));
  scene.bodies.push_back(box_body(3, 2e4, "right"));
  scene.bodies.push_back(box_body(2, 1e4, "bystander"));
  scene.bodies[1].place.translate = {1.2, 0, 0};
  scene.bodies[2].place.translate = {0, 5, 0};
  scene.bodies[0].initial.angular_velocity = {0, 2, 0.5};
  scene.bodies[0].initial.stretch = {1, 1.2, 1};
  scene.bodies[1].initial.velocity = {0, 1, 0.5};
  scene.bodies[2].initial.stretch = {1.2, 1, 1};
  scene.bodies[2].initial.angular_velocity = {1, 1, 0};
  AnchorSpec link = anchor("right", {0.7, 0, 0}, 2000);
  link.name = "link";
  link.vertices.nearest.reset();
  link.vertices.box = {Vec3{0.65, -1, -1}, Vec3{0.75, 1, 1}};
  link.to_body = "left";
  link.active = false;
  scene.anchors.push_back(link);
  Simulation sim = make(scene);
  const auto pair = [&] {
    Measures both = sim.measure(0);
    const Measures right = sim.measure(1);
    both.momentum += right.momentum, both.angular_momentum += right.angular_momentum;
    both.total += right.total;
    return both;
  };
  const auto check_each = [&](int frames) {
    std::vector<Measures> before;
    for (int b = 0; b < 3; ++b) before.push_back(sim.measure(b));
    steps(sim, frames);
    for (int b = 0; b < 3; ++b) {
      CAPTURE(b);
      const Measures m = sim.measure(b);
      CHECK(std::abs(m.total - before[b].total) <= 2e-6 * before[b].total);
      CHECK(norm(m.momentum - before[b].momentum) <= 1e-12 * std::sqrt(2 * m.mass * m.total));
      CHECK(norm(m.spin - before[b].spin) <= 1e-12 * std::sqrt(2 * m.mass * m.total));
    }
  };
  check_each(30);

  // joined: the pull between bodies apart is new energy, so targets start from the first joined frame
  sim.set_anchor(0, true);
  const Measures apart = pair();
  steps(sim, 1);
  const Measures joined = pair(), other = sim.measure(2);
  const double scale = std::sqrt(2 * 2000 * joined.total);
  CHECK(norm(joined.momentum - apart.momentum) <= 1e-12 * scale);
  CHECK(norm(joined.angular_momentum - apart.angular_momentum) <= 1e-12 * scale);
  const double left_alone = norm(sim.measure(0).momentum);
  double worst = 0, worst_p = 0, worst_l = 0;
  for (int frame = 0; frame < 100; ++frame) {
    steps(sim, 1);
    const Measures m = pair();
    worst = std::max(worst, std::abs(m.total - joined.total) / joined.total);
    worst_p = std::max(worst_p, norm(m.momentum - joined.momentum) / scale);
    worst_l = std::max(worst_l, norm(m.angular_momentum - joined.angular_momentum) / scale);
  }
  MESSAGE("linked: dH ", worst, " dP ", worst_p, " dL ", worst_l);
  CHECK(worst <= 2e-6);
  CHECK(worst_p <= 1e-12);
  CHECK(worst_l <= 1e-12);
  CHECK(std::abs(norm(sim.measure(0).momentum) - left_alone) > 0.01 * left_alone);  // they do exchange momentum
  CHECK(std::abs(sim.measure(2).total - other.total) <= 2e-6 * other.total);

  // parted: momenta go on as they were, then each body keeps its own
  const Measures last = pair();
  sim.set_anchor(0, false);
  steps(sim, 1);
  CHECK(norm(pair().momentum - last.momentum) <= 1e-12 * scale);
  CHECK(norm(pair().angular_momentum - last.angular_momentum) <= 1e-12 * scale);
  check_each(60);
}

TEST_CASE("a change of gravity changes the force from the next step on and nothing at once") {
  Simulation sim = make(dial_scene());
  steps(sim, 10);
  const std::vector<Vec3> v0 = sim.velocities();
  const Measures m0 = sim.measure();
  sim.set_gravity({0, -9.81, 0});
  CHECK(sim.velocities() == v0);
  const double total = sim.measure().total;
  steps(sim, 30);
  const Measures m = sim.measure();
  CHECK(norm(m.momentum - m0.momentum - Vec3{0, -9.81 * m0.mass, 0}) <= 1e-12 * 9.81 * m0.mass);
  CHECK(std::abs(m.total - total) <= 1e-5 * m0.total);
  CHECK(norm(m.spin - m0.spin) <= 1e-11 * norm(m0.spin));
}

TEST_CASE("misuse is refused with a message that says what was expected") {
  Simulation sim = make(dial_scene());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_mentions(complaint([&] { sim.set_energy(1, 5); }), "set_energy"));
  CHECK(message_mentions(complaint([&] { sim.set_energy(-1, 5); }), "expected"));
  CHECK(message_mentions(complaint([&] { sim.set_energy(0, nan); }), "finite"));
  CHECK(message_mentions(complaint([&] { sim.set_momentum(0, {nan, 0, 0}); }), "set_momentum"));
  CHECK(message_mentions(complaint([&] { sim.set_spin(3, {0, 0, 0}); }), "body 3"));
  CHECK(message_mentions(complaint([&] { sim.set_half_life(0, 0); }), "> 0"));
  CHECK(message_mentions(complaint([&] { sim.set_half_life(0, nan); }), "set_half_life"));
  CHECK(message_mentions(complaint([&] { sim.add_impulse(0, {0, 1, 0}, {0, 0, 0}, -1); }), "radius"));
  CHECK(message_mentions(complaint([&] { sim.add_impulse(0, {0, nan, 0}, {0, 0, 0}); }), "add_impulse"));
  CHECK(message_mentions(complaint([&] { sim.set_gravity({0, nan, 0}); }), "set_gravity"));
  CHECK(message_mentions(complaint([&] { sim.set_parameter(0, 0, "mue", 5); }), "mu"));
  CHECK(message_mentions(complaint([&] { sim.set_parameter(0, 0, "mu", -5); }), "-5"));
  CHECK(message_mentions(complaint([&] { sim.set_parameter(0, 1, "mu", 5); }), "potential 1"));
  CHECK(message_mentions(complaint([&] { sim.set_parameter(0, 0, "young", 5); }), "young"));
  CHECK(message_mentions(complaint([&] { sim.set_anchor(0, true); }), "anchor"));
  CHECK(message_mentions(complaint([&] { sim.move_anchor(-1, {0, 0, 0}); }), "anchor"));
  CHECK(message_mentions(complaint([&] { sim.set_state({{0, 0, 0}}, {{0, 0, 0}}); }), "positions"));
  CHECK(message_mentions(complaint([&] { sim.set_state(sim.positions(), {{0, 0, 0}}); }), "velocities"));
  CHECK(message_mentions(complaint([&] { sim.set_time(-1, 0); }), "set_time"));
  CHECK(message_mentions(complaint([&] { (void)sim.measure(7); }), "body 7"));
  CHECK(message_mentions(complaint([&] { (void)sim.mesh(7); }), "body 7"));
  CHECK(sim.find_body("nobody") == -1);
  CHECK(sim.find_anchor("none") == -1);
  // and none of it left a trace
  Simulation untouched = make(dial_scene());
  steps(sim, 5), steps(untouched, 5);
  CHECK(sim.state_hash() == untouched.state_hash());
}

TEST_CASE("set_state takes over positions and velocities and restarts the ledger from them") {
  Simulation sim = make(dial_scene());
  steps(sim, 10);
  const std::vector<Vec3> rest = sim.mesh(0).vertices;
  sim.set_state(rest, std::vector<Vec3>(rest.size(), Vec3{1, 0, 0}));
  const Measures m0 = sim.measure();
  CHECK(m0.elastic <= 1e-20 * 1e4);
  CHECK(m0.momentum.x == doctest::Approx(m0.mass));
  steps(sim, 30);
  const Measures m = sim.measure();
  CHECK(std::abs(m.total - m0.total) <= 1e-6 * m0.total);
  CHECK(m.elastic <= 1e-9 * m0.total);
  CHECK(norm(m.center - m0.center - Vec3{1, 0, 0}) <= 1e-12);
}
