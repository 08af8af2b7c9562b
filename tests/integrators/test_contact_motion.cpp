// Bodies that hit, bounce, lie, stand and slide: what contact keeps, beside fine steps and closed forms.
// Tolerances without a reason beside them are those that contact is built to (docs/contact.md).
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "integrators/contact_scenes.h"
#include "verve/material.h"

using namespace verve;
using namespace verve::test;

namespace {

Scene pair_of_balls(double off) {
  Scene scene;
  scene.bodies = {ball_body(0.6, 15, 1e5, {-0.6, 0, 0}, "a"), ball_body(0.6, 15, 1e5, {0.6, off, 0}, "b")};
  scene.bodies[0].initial.velocity = {2, 0, 0}, scene.bodies[1].initial.velocity = {-2, 0, 0};
  scene.contact.emplace();
  return scene;
}

/// Velocity of the first body after `frames`, with everything held on the way.
Vec3 velocity_after(const Scene& scene, int frames) {
  Simulation sim = make(scene);
  const Measures m0 = sim.measure();
  const double p = norm(sim.measure(0).momentum), l = norm(m0.angular_momentum);
  bool touched = false;
  double worst_p = 0, worst_l = 0, worst_h = 0;
  for (int frame = 0; frame < frames; ++frame) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    touched |= m.contact > 0;
    worst_p = std::max(worst_p, norm(m.momentum - m0.momentum) / p);
    worst_l = std::max(worst_l, norm(m.angular_momentum - m0.angular_momentum) / l);
    worst_h = std::max(worst_h, std::abs(m.total / m0.total - 1));
  }
  CHECK(touched);
  CHECK(worst_p <= 1e-12);
  CHECK(worst_l <= 1e-12);
  CHECK(worst_h <= 2e-6);
  CHECK(sim.measure().contact == 0);
  CHECK(sim.measure().booked_loss == 0);
  return sim.measure(0).momentum / sim.measure(0).mass;
}

void pair_like_fine_steps(double off) {
  const Vec3 v = velocity_after(pair_of_balls(off), 30), fine = velocity_after(finer(pair_of_balls(off), 16), 480);
  const double degrees = std::acos(std::clamp(dot(v, fine) / norm(v) / norm(fine), -1.0, 1.0)) * 180 / std::numbers::pi;
  MESSAGE("speed ", norm(v) / norm(fine) - 1, ", direction ", degrees, " degrees");
  CHECK(norm(v) == doctest::Approx(norm(fine)).epsilon(0.05));
  CHECK(degrees <= 7);
}

/// Heights of the centre at its turning points. H is held in every frame, or there.
std::vector<double> apexes(const Scene& scene, int frames, double size, bool always = true) {
  Simulation sim = make(scene);
  const double start = kept_energy(sim.measure());
  std::vector<double> y = {sim.measure().center.y}, kept = {start}, out;
  const auto check = [&](double energy) { CHECK(std::abs(energy - start) <= 1e-4 * start); };
  for (int frame = 0; frame < frames; ++frame) {
    REQUIRE(sim.step());
    y.push_back(sim.measure().center.y), kept.push_back(kept_energy(sim.measure()));
    if (scene.solver.method == "cpd" && always) check(kept.back());
  }
  for (size_t i = 1; i + 1 < y.size(); ++i)
    if (y[i] >= y[i - 1] && y[i] > y[i + 1] && y[i] > size) {
      out.push_back(y[i]);
      if (scene.solver.method == "cpd") check(kept[i]);
    }
  return out;
}

/// On a plane at an angle, lying flush on it.
Scene incline(double ratio, double mu, double half_life) {
  const double angle = std::atan(ratio * mu), s = std::sin(angle), c = std::cos(angle);
  BodySpec box = box_body(3, 1e6);
  box.place.rotate = {0, 0, angle * 180 / std::numbers::pi}, box.place.translate = {-0.5 * s, 0.5 * c, 0};
  box.friction = mu;
  if (half_life > 0) box.dials.half_life = half_life;
  ColliderSpec slope = floor_plane(mu);
  slope.normal = {-s, c, 0};
  return grounded({box}, {slope});
}
/// Boxes on each other, each turned by `twist` degrees beside the one below.
Scene stack_of(int count, double twist) {
  std::vector<BodySpec> boxes;
  for (int i = 0; i < count; ++i) {
    boxes.push_back(box_body(2, 1e6, "box " + std::to_string(i)));
    boxes.back().place.translate = {0, 0.5 + i, 0}, boxes.back().place.rotate = {0, i * twist, 0};
    boxes.back().friction = 0.5, boxes.back().restitution = 0, boxes.back().dials.half_life = 0.05;
  }
  Scene scene = grounded(boxes, {floor_plane(0.5)});
  scene.contact.emplace();
  return scene;
}

/// How far the boxes go while the stack stands, after the frames in which it settles.
double drift_of_stack(double twist, int settling, int frames) {
  Simulation sim = make(stack_of(5, twist));
  for (int frame = 0; frame < settling; ++frame) REQUIRE(sim.step());
  std::vector<Vec3> start;
  for (int b = 0; b < 5; ++b) start.push_back(sim.measure(b).center);
  double drift = 0;
  for (int frame = 0; frame < frames; ++frame) {
    REQUIRE(sim.step());
    for (int b = 0; b < 5; ++b) drift = std::max(drift, norm(sim.measure(b).center - start[b]));
  }
  MESSAGE("drift ", drift, " m, kinetic ", sim.measure().kinetic, " J");
  CHECK(sim.measure().kinetic <= 0.5 * sim.measure().mass * 1e-6);  // 1 mm/s
  return drift;
}

Vec3 downhill(double ratio, double mu) {
  const double angle = std::atan(ratio * mu);
  return {-std::cos(angle), -std::sin(angle), 0};
}

}  // namespace

TEST_CASE("a pair of balls that meet almost head on keeps P, L and H and parts as in fine steps (C15, C16)") {
  pair_like_fine_steps(0.05);
}
TEST_CASE("a pair of balls that graze each other keeps P, L and H and parts as in fine steps (C15, C16)") {
  pair_like_fine_steps(0.3);
}

TEST_CASE("a ball dropped from 2 m bounces as high as in fine steps (P15)") {
  Scene scene = grounded({ball_body(0.6, 6, 1e5, {0, 2.3, 0})}, {floor_plane()});
  const std::vector<double> coarse = apexes(scene, 200, 0.6), fine = apexes(finer(scene, 16), 200 * 16, 0.6);
  REQUIRE(coarse.size() >= 5);
  REQUIRE(fine.size() >= 5);
  MESSAGE("first ", coarse[0], " and ", fine[0], ", fifth ", coarse[4], " and ", fine[4]);
  CHECK(std::abs(coarse[0] - fine[0]) <= 0.06 * 2);
  CHECK(std::abs(coarse[4] - fine[4]) <= 0.20 * 2);
  // backward Euler has lost the bounce
  scene.solver.method = "pd";
  for (const double y : apexes(scene, 200, 0.31)) CHECK(y - 0.3 <= 0.1 * 2);
}

TEST_CASE("a soft box that falls on its edge rises as in fine steps: the waves of the impact stay in it") {
  // Plain generalised-alpha with nothing held, in 128 steps per frame at the same stiffness of contact; in twice as
  // many apexes differ by 1 % in the mean and 9 % at most. With one factor on all velocities these were 31, 35 and 46 %
  // too high.
  for (const char* const material : {"jelly", "muscle", "fat"}) {
    CAPTURE(std::string(material));
    BodySpec box = generated_body("box", {{"size", {0.5, 0.5, 0.5}}, {"cells", {4, 4, 4}}}, {});
    set_material(box, material);
    box.dials = {}, box.friction = 0, box.restitution = 1;
    box.place.translate = {0, 2.25, 0}, box.place.rotate = {20, 10, 35};
    Scene scene = grounded({box}, {floor_plane()});
    scene.step = 1.0 / 60, scene.solver.tolerance = 1e-4;
    const auto rises_to = [](const Scene& of, int frames) {
      Simulation sim = make(of);
      double lowest = 10, highest = 0;
      for (int frame = 0; frame < frames; ++frame) {
        REQUIRE(sim.step());
        const double y = sim.measure().center.y;
        if (y < lowest) lowest = highest = y;
        highest = std::max(highest, y);
      }
      return highest;
    };
    Scene fine = scene;
    fine.step /= 2, fine.contact.emplace().stiffness = ContactSpec{}.stiffness / 4;
    fine.solver = SolverSpec{};
    fine.solver.method = "pd_alpha", fine.solver.substeps = 64, fine.solver.iterations = 1000,
    fine.solver.tolerance = 1e-6;
    const double ours = rises_to(scene, 80), truth = rises_to(fine, 160);
    MESSAGE(std::string(material), ": ", ours, " m, in fine steps ", truth);
    CHECK(ours == doctest::Approx(truth).epsilon(0.1));
  }
}

TEST_CASE("what strikes a floor aslant leaves it as fast along it as in fine steps: friction is that of its own step") {
  // At 2 m/s along the floor, dropped from 1 m, beside plain generalised-alpha in 128 steps per frame. With the pressure of
  // the step before in place of their own, these were 0.30, 0.20, 0.14, 0.16 and 0.15 m/s off. (60 cases: docs/decisions/012.)
  struct Strike {
    const char *shape, *material;
    double friction;
  };
  for (const auto& [shape, material, friction] :
       {Strike{"box", "muscle", 0.2}, {"turned", "jelly", 0.2}, {"turned", "1e7", 0.8}, {"ball", "1e6", 0.8},
        {"box", "1e5", 0.8}}) {
    CAPTURE(std::string(shape) + " of " + material);
    BodySpec body = std::string(shape) == "ball"
                        ? ball_body(0.5, 4, 1e5, {})
                        : generated_body("box", {{"size", {0.5, 0.5, 0.5}}, {"cells", {4, 4, 4}}}, strain(1e5));
    body.potentials = {strain(std::atof(material))};
    if (!(std::atof(material) > 0)) body.potentials.clear(), set_material(body, material);
    body.dials = {}, body.friction = friction, body.restitution = 1;
    body.place.translate = {0, 1.25, 0}, body.initial.velocity = {2, 0, 0};
    if (std::string(shape) == "turned") body.place.rotate = {20, 10, 35};
    Scene scene = grounded({body}, {floor_plane(friction)});
    scene.step = 1.0 / 60, scene.solver.tolerance = 1e-4;
    Scene fine = scene;
    fine.step /= 2, fine.contact.emplace().stiffness = ContactSpec{}.stiffness / 4;
    fine.solver = SolverSpec{};
    fine.solver.method = "pd_alpha", fine.solver.substeps = 64, fine.solver.iterations = 1000, fine.solver.tolerance = 1e-6;
    const auto leaves_at = [](const Scene& of, int frames) {  // at its apex
      Simulation sim = make(of);
      double lowest = 10, highest = 0, speed = 0;
      for (int frame = 0; frame < frames; ++frame) {
        REQUIRE(sim.step());
        const Measures m = sim.measure();
        if (m.center.y < lowest) lowest = highest = m.center.y;
        if (m.center.y > highest) highest = m.center.y, speed = m.momentum.x / m.mass;
      }
      return speed;
    };
    const double ours = leaves_at(scene, 60), truth = leaves_at(fine, 120);
    MESSAGE(std::string(shape), " of ", std::string(material), ": ", ours, " m/s, in fine steps ", truth);
    CHECK(std::abs(ours - truth) <= 0.13);
  }
}

TEST_CASE("a ball as hard as rubber, or steel, comes back to its height (C32)") {
  // In flight it has no deformation that would tell how short the steps of an impact must be: it takes a hundredth of a
  // frame. One step through it would keep H, and put four fifths of it into vibration. At its turning point all of H is
  // in the contacts, no step can hold it, and what it dips by there is paid back when the ball leaves.
  for (const double stiffness : {1e6, 1e7, 1e8, 1e9}) {
    CAPTURE(stiffness);
    const Scene scene = grounded({ball_body(0.6, 4, stiffness, {0, 2.3, 0})}, {floor_plane()});
    const std::vector<double> heights = apexes(scene, 200, 0.6, false);
    REQUIRE(heights.size() >= 5);
    MESSAGE("first ", heights[0], ", fifth ", heights[4]);
    // Five apexes of plain generalised-alpha in 512 steps per frame, which loses 0.2 % of H in all: of 1e6 Pa 2.20 2.13
    // 2.05 1.91 1.85 m (in 256 steps 2.21 to 1.97: what is in vibration comes back by chance), of 1e7 2.24 to 2.16, of
    // 1e8 2.30 to 2.28, of 1e9 2.30. (The bounds were 2.24 and 2.26 m for all five, of steps of 1/480 s that held H;
    // waves that an impact leaves in the ball were then given to its bounce.)
    const double first = stiffness < 1e7 ? 2.20 : stiffness < 1e8 ? 2.244 : stiffness < 1e9 ? 2.297 : 2.3;
    const double least = stiffness < 1e7 ? 1.85 : stiffness < 1e8 ? 2.155 : stiffness < 1e9 ? 2.276 : 2.299;
    CHECK(heights[0] == doctest::Approx(first).epsilon(0.03));
    for (const double height : heights) CHECK(height >= 0.94 * least);
    for (const double height : heights) CHECK(height <= 2.3 * (1 + 1e-6));
  }
}

TEST_CASE("a block slides over a plane without friction for ever") {
  BodySpec box = box_body(3, 1e5);
  box.place.translate = {0, 0.5, 0}, box.initial.velocity = {2, 0, 0};
  Simulation sim = make(grounded({box}, {floor_plane()}));
  for (int frame = 0; frame < 300; ++frame) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    REQUIRE(std::abs(m.momentum.x / m.mass / 2 - 1) <= 1e-6);
    REQUIRE(std::abs(m.momentum.z / m.mass / 2) <= 1e-6);
  }
  CHECK(sim.measure().booked_loss == 0);
}

TEST_CASE("a box at rest stays for a minute, at one iteration a frame") {
  BodySpec box = box_body(3, 1e5);
  box.place.translate = {0, 0.5, 0}, box.friction = 0.5, box.restitution = 0, box.dials.half_life = 0.05;
  Simulation sim = make(grounded({box}, {floor_plane(0.5)}));
  for (int frame = 0; frame < 300; ++frame) REQUIRE(sim.step());
  const Vec3 start = sim.measure().center;
  double fastest = 0;
  long iterations = 0;
  for (int frame = 0; frame < 1800; ++frame) {
    const StepReport report = sim.step();
    REQUIRE(report);
    iterations += report.iterations;
    const Measures m = sim.measure();
    fastest = std::max(fastest, std::sqrt(2 * m.kinetic / m.mass));
  }
  MESSAGE("fastest ", fastest, " m/s, drift ", norm(sim.measure().center - start), " m, ", iterations / 1800.0,
          " iterations");
  CHECK(fastest <= 1e-5);
  CHECK(norm(sim.measure().center - start) <= 1e-8);
  CHECK(iterations <= 1.5 * 1800);
}

TEST_CASE("soft boxes that go deep into each other keep P, and get back what they owe of H") {
  // At 7.7 m/s they bring 3.8 kJ, more than it takes to crush both to nothing (mu V |F - R|^2 = 1.7 kJ each at F = 0):
  // whether and when they come apart again is no longer theirs to say. By two stages it is round-off that decides at 4
  // m/s already, as fast as their waves.
  for (const auto& [two_stages, speed] : {std::pair(false, 4.0), {true, 2.5}, {false, 7.7}, {true, 7.7}}) {
    CAPTURE(two_stages);
    CAPTURE(speed);
    Scene scene;
    scene.bodies = {box_body(3, 9e3, "a"), box_body(3, 9e3, "b")};
    for (BodySpec& box : scene.bodies) box.place.scale = 0.4;
    scene.bodies[0].place.rotate = {19, 9, 9}, scene.bodies[0].place.translate = {-0.5, 0, 0};
    scene.bodies[1].place.rotate = {20, 30, 10}, scene.bodies[1].place.translate = {0.5, 0.1, 0.05};
    scene.bodies[0].initial.velocity = {speed, 0, 1}, scene.bodies[1].initial.velocity = {-speed, 0, 1};
    if (two_stages) scene.solver.integrator = "trbdf2";
    scene.contact.emplace();
    Simulation sim = make(scene);
    const Measures m0 = sim.measure();
    double worst_p = 0, astray = 0, grown = 0;
    for (int frame = 1; frame <= 40; ++frame) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      worst_p = std::max(worst_p, norm(m.momentum - m0.momentum) / norm(m0.momentum));
      astray = std::max(astray, norm(m.center - m0.center - m0.momentum / m0.mass * (frame * scene.step)));
      grown = std::max(grown, kept_energy(m) / m0.total - 1);
    }
    MESSAGE("P off by ", worst_p, ", centre by ", astray, " m, H grown by ", grown);
    CHECK(worst_p <= 1e-10);
    CHECK(astray <= 1e-9);
    CHECK(grown <= 1e-4);
    if (speed < 5) CHECK(std::abs(kept_energy(sim.measure()) / m0.total - 1) <= 1e-4);
  }
}

TEST_CASE("a flush stack of five boxes stands for a minute") { CHECK(drift_of_stack(0, 60, 1800) <= 1e-3); }
TEST_CASE("a sleeping island costs no iteration, is what it was, and moves again when it is pushed") {
  Simulation sim = make(stack_of(5, 0));
  for (int frame = 0; frame < 90; ++frame) REQUIRE(sim.step());
  const Measures before = sim.measure(4);
  const std::uint64_t hash = sim.state_hash();
  for (int frame = 0; frame < 10; ++frame) {
    REQUIRE(sim.step());
    CHECK(sim.measure(4).iterations == 0);
  }
  const Measures m = sim.measure(4);
  CHECK(sim.state_hash() == hash);
  CHECK(m.total == before.total);
  CHECK(m.target_total == before.target_total);
  CHECK(m.booked_loss == before.booked_loss);
  CHECK(m.contact == before.contact);
  sim.add_impulse(4, {500, 0, 0}, m.center);
  REQUIRE(sim.step());
  CHECK(sim.measure(4).iterations > 0);
  CHECK(sim.measure(4).momentum.x > 0);
}
TEST_CASE("energy dialled into a body of a sleeping pile wakes it, and it hops (C21)") {
  // Steps of piles released the energy constraint, and stayed at rest however much was asked for.
  std::vector<BodySpec> boxes;
  for (int i = 0; i < 3; ++i) {
    boxes.push_back(box_body(2, 1e6, "box " + std::to_string(i)));
    boxes.back().place.scale = 0.4, boxes.back().place.translate = {0, 0.2 + 0.4 * i, 0};
    boxes.back().friction = 0.5, boxes.back().restitution = 0.3;
  }
  Scene scene = grounded(boxes, {floor_plane(0.5)});
  scene.contact.emplace();
  Simulation sim = make(scene);
  for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
  REQUIRE(sim.measure().kinetic == 0);
  const Measures before = sim.measure(2);
  const double more = 60, hop = more / (before.mass * earth);
  sim.set_energy(2, before.total + more);
  double most = 0, highest = 0;
  for (int frame = 0; frame < 30; ++frame) {
    REQUIRE(sim.step());
    most = std::max(most, sim.measure(2).total - before.total);
    highest = std::max(highest, sim.measure(2).center.y - before.center.y);
  }
  MESSAGE("had ", most, " J more, rose by ", highest, " m of ", hop);
  CHECK(most == doctest::Approx(more).epsilon(0.1));
  CHECK(highest == doctest::Approx(hop).epsilon(0.05));  // what it pressed on those below with goes with it
}

TEST_CASE("a twisted stack of five boxes settles") { CHECK(drift_of_stack(20, 60, 150) <= 1e-3); }

TEST_CASE("blocks stay below the angle of friction (P16)") {
  for (const double mu : {0.3, 0.5}) {
    CAPTURE(mu);
    Simulation sim = make(incline(0.95, mu, 0.03));
    for (int frame = 0; frame < 100; ++frame) REQUIRE(sim.step());
    const Vec3 start = sim.measure().center;
    for (int frame = 0; frame < 200; ++frame) REQUIRE(sim.step());
    const double slid = dot(sim.measure().center - start, downhill(0.95, mu));
    MESSAGE("slid ", slid);
    // one that slides at 1.05 goes 7 m in that time; what is left is the creep of a box at rest, in 6.7 s
    CHECK(std::abs(slid) <= 1e-6);
  }
}

TEST_CASE("blocks slide above the angle of friction as Coulomb says, and what that takes is booked (P16)") {
  for (const auto& [ratio, mu] : {std::pair{1.05, 0.5}, {1.5, 0.5}, {2.0, 0.3}}) {
    CAPTURE(ratio);
    const double angle = std::atan(ratio * mu), expected = earth * (std::sin(angle) - mu * std::cos(angle));
    Simulation sim = make(incline(ratio, mu, 0));
    const double start = kept_energy(sim.measure());
    double v30 = 0;
    for (int frame = 1; frame <= 90; ++frame) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      if (frame == 30) v30 = dot(m.momentum, downhill(ratio, mu)) / m.mass;
      REQUIRE(std::abs(kept_energy(m) - start) <= 1e-4 * start);
    }
    const Measures m = sim.measure();
    CHECK(std::abs(kept_energy(m) - start) <= 1e-4 * start);
    const double acceleration = (dot(m.momentum, downhill(ratio, mu)) / m.mass - v30) / 2;
    MESSAGE("acceleration ", acceleration, ", expected ", expected);
    CHECK(acceleration == doctest::Approx(expected).epsilon(0.05));
    CHECK(m.booked_loss > 0);
  }
}

TEST_CASE("a rebound has the speed that restitution says, and what is missing is booked (P16)") {
  for (const double e : {0.8, 0.5, 0.2}) {
    CAPTURE(e);
    BodySpec ball = ball_body(0.6, 8, 3e5, {0, 1.3, 0});
    ball.restitution = e;
    Simulation sim = make(grounded({ball}, {floor_plane()}));
    const double start = kept_energy(sim.measure());
    double in = 0, out = 0;
    for (int frame = 0; frame < 40 && out == 0; ++frame) {
      const double before = sim.measure().momentum.y;
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      if (in == 0 && m.contact > 0) in = -before / m.mass;
      if (in != 0 && m.contact == 0) out = m.momentum.y / m.mass;
      CHECK(std::abs(kept_energy(m) - start) <= 1e-4 * start);
    }
    MESSAGE("in ", in, ", out ", out);
    // The inventory's 5 %. (It was 2 % while bodies were slowed down to e times their speed at the end of the frame in
    // which they left; now that is at the end of the sub-step, and gravity takes 0.04 m/s in the rest of the frame.)
    CHECK(out == doctest::Approx(e * in).epsilon(0.05));
    CHECK(sim.measure().booked_loss > 0);
  }
}

TEST_CASE("a pair that gives back a part keeps P and L, and H with what is booked (P16)") {
  Scene scene = pair_of_balls(0.05);
  for (BodySpec& body : scene.bodies) body.restitution = 0.5;
  Simulation sim = make(scene);
  const Measures m0 = sim.measure();
  const double p = norm(sim.measure(0).momentum);
  for (int frame = 0; frame < 30; ++frame) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    CHECK(norm(m.momentum - m0.momentum) <= 1e-12 * p);
    CHECK(norm(m.angular_momentum - m0.angular_momentum) <= 1e-12 * p);  // arms of the order of 1 m
    CHECK(std::abs(kept_energy(m) / m0.total - 1) <= 2e-6);
  }
  CHECK(sim.measure().booked_loss > 0.1 * m0.total);
}

TEST_CASE("a pile joins with what comes to it, and not what drifts along beside it") {
  // three balls that meet, and a fourth that vibrates 1.2 m away from them: taken in, it would be damped as they are
  for (const double drift : {0.0, 40.0}) {
    CAPTURE(drift);
    Scene scene;
    for (int i = 0; i < 4; ++i) {
      const Vec3 at = i < 3 ? Vec3{1.02 * i, 0, 0} : Vec3{1, 2.2, 0};
      scene.bodies.push_back(ball_body(1.0, 2, 1e5, at, "ball " + std::to_string(i)));
      scene.bodies[i].restitution = 0.5;
      scene.bodies[i].initial.velocity = {i < 3 ? 1.0 - i : 0, 0, drift};
    }
    scene.bodies[3].initial.stretch = {1.2, 0.9, 0.9};
    scene.contact.emplace();
    Simulation sim = make(scene);
    const auto inner = [&] {
      const Measures m = sim.measure(3);
      return m.kinetic + m.elastic - 0.5 * dot(m.momentum, m.momentum) / m.mass;
    };
    const double start = inner();
    for (int f = 0; f < 40; ++f) REQUIRE(sim.step());
    CHECK(sim.measure().booked_loss > 0);  // they did meet
    CHECK(sim.measure(3).booked_loss == 0);
    CHECK(inner() == doctest::Approx(start).epsilon(1e-5));
  }
}
