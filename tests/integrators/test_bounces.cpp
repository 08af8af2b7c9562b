// First bounces beside fine steps and closed forms: hard and soft balls on every shape, boxes on rims and corners,
// sheets, fast pairs. What does not hold yet is listed by name: a check fails if another does not, or if a listed one
// does.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr double stiffnesses[] = {1e4, 1e5, 1e6, 1e7, 1e8, 1e9}, restitutions[] = {0, 0.3, 0.5, 0.8, 1};
constexpr double radius = 0.25, drop = 1;

/// With its highest point, or its edge, at the origin.
ColliderSpec obstacle(const std::string& shape) {
  ColliderSpec c;
  c.name = "floor", c.shape = shape;
  if (shape == "edge") {
    c.shape = "box", c.rotation = Track<Vec3>(Vec3{0, 0, 45}), c.position = Track<Vec3>(Vec3{0, -std::sqrt(0.5), 0});
  } else if (shape == "sphere") {
    c.radius = 0.5, c.position = Track<Vec3>(Vec3{0, -0.5, 0});
  } else if (shape == "capsule") {
    c.radius = 0.3, c.rotation = Track<Vec3>(Vec3{90, 0, 0}), c.position = Track<Vec3>(Vec3{0, -0.3, 0});
  } else if (shape == "mesh") {
    c.mesh.emplace().generator = "box";
    c.mesh->parameters = {{"size", {1, 1, 1}}, {"cells", {2, 2, 2}}};
    c.position = Track<Vec3>(Vec3{0.1, -0.5, 0.07});
  }
  return c;
}

struct Bounce {
  double apex = 0;    // height of the centre at its first turning point
  double gained = 0;  // of the energy, in any frame
};

Bounce first_bounce(const Scene& scene, double seconds = 1.6) {
  Simulation sim = make(scene);
  const double start = kept_energy(sim.measure());
  double before = sim.measure().center.y;
  Bounce out;
  bool up = false;
  for (int frame = 0; frame < seconds / scene.step; ++frame) {
    REQUIRE(sim.step());
    const double y = sim.measure().center.y;
    out.gained = std::max(out.gained, kept_energy(sim.measure()) / start - 1);
    if (!up && y > before + 1e-7) up = true, out.apex = y;
    if (up) out.apex = std::max(out.apex, y);
    if (up && y < out.apex - 1e-3) break;
    before = y;
  }
  return out;
}

Scene dropped_ball(const std::string& shape, double stiffness, double e) {
  BodySpec ball = ball_body(2 * radius, 4, stiffness, {0, drop + radius, 0});
  ball.restitution = e;
  Scene scene = grounded({ball}, {obstacle(shape)});
  scene.step = 1.0 / 60, scene.solver.tolerance = 1e-4;
  return scene;
}

/// Apexes of plain generalised-alpha (pd_alpha, nothing held) in 256 converged steps per frame, at the same stiffness
/// of contact; in 512 they differ by 0.8 % at most for e = 1 and 1e4 to 1e6 Pa. VERVE_FINE_STEPS=64 makes the table
/// anew, in two minutes. Rows by stiffness, columns by restitution.
struct Truth {
  const char* shape;
  double apex[6][5];
};
const Truth truths[] = {
    {"plane",
     {{0.3987, 0.3101, 0.5347, 0.7155, 0.7155},
      {0.2634, 0.3316, 0.4940, 0.8784, 1.1904},
      {0.2536, 0.3408, 0.4965, 0.8849, 1.2259},
      {0.2508, 0.3408, 0.5007, 0.8907, 1.2402},
      {0.2502, 0.3403, 0.5002, 0.8902, 1.2481},
      {0.2501, 0.3402, 0.5001, 0.8901, 1.2499}}},
    {"sphere",
     {{0.0393, 0.3057, 0.4943, 0.6224, 0.6224},
      {0.2725, 0.3296, 0.4919, 0.8749, 1.2005},
      {0.2638, 0.3396, 0.4970, 0.8900, 1.2389},
      {0.2505, 0.3405, 0.5005, 0.8905, 1.2437},
      {0.2502, 0.3403, 0.5002, 0.8902, 1.2481},
      {0.2501, 0.3402, 0.5001, 0.8901, 1.2499}}},
    {"capsule",
     {{0.0334, 0.3056, 0.4898, 0.5241, 0.5241},
      {0.2797, 0.3305, 0.4890, 0.8793, 1.1907},
      {0.2651, 0.3394, 0.4975, 0.8915, 1.2234},
      {0.2506, 0.3407, 0.5006, 0.8906, 1.2419},
      {0.2502, 0.3403, 0.5002, 0.8902, 1.2481},
      {0.2501, 0.3402, 0.5001, 0.8901, 1.2499}}},
};
const Truth& truth_of(const std::string& shape) {
  for (const Truth& t : truths)
    if (shape == t.shape) return t;
  return truths[0];  // the upper side of a mesh is a plane
}

std::string name_of(const std::string& shape, double stiffness, double e) {
  char text[60];
  std::snprintf(text, sizeof text, "%s %.0e e=%g", shape.c_str(), stiffness, e);
  return text;
}

}  // namespace

TEST_CASE("balls of 1e4 to 1e9 Pa, with restitution 0 to 1, rise on plane, sphere, capsule and mesh as in fine steps") {
  // A ball of 1e4 Pa strikes at 1.4 times its speed of sound: 19 % too low to 34 % too high, but on what is round and with
  // little loss within 5 %. One of 1e5 that loses energy goes on touching by single vertices while it rises, 5 to 12 %.
  std::set<std::string> known;
  for (const char* const shape : {"plane", "sphere", "capsule", "mesh"})
    for (const auto& [stiffness, e] : std::initializer_list<std::pair<double, double>>{
             {1e4, 0.3}, {1e4, 0.5}, {1e5, 0.3}, {1e5, 0.5}})
      known.insert(name_of(shape, stiffness, e));
  for (const char* const shape : {"plane", "mesh"})
    for (const double e : {0.8, 1.0}) known.insert(name_of(shape, 1e4, e));
  double worst = 0;
  for (const std::string shape : {"plane", "sphere", "capsule", "mesh"})
    for (int k = 0; k < 6; ++k)
      for (int i = 0; i < 5; ++i) {
        const std::string name = name_of(shape, stiffnesses[k], restitutions[i]);
        CAPTURE(name);
        const double truth = truth_of(shape).apex[k][i];
        if (const char* const steps = std::getenv("VERVE_FINE_STEPS")) {
          Scene fine = finer(dropped_ball(shape, stiffnesses[k], restitutions[i]), 4);
          fine.solver = SolverSpec{};
          fine.solver.method = "pd_alpha", fine.solver.substeps = std::atoi(steps);
          fine.solver.iterations = 1000, fine.solver.tolerance = 1e-6;
          MESSAGE(name, ": ", first_bounce(fine).apex, " m for ", truth);
          continue;
        }
        const Bounce bounce = first_bounce(dropped_ball(shape, stiffnesses[k], restitutions[i]));
        const double off = bounce.apex / truth - 1;
        CHECK(bounce.gained <= 1e-4);  // the tolerance
        // where a ball of 1e4 Pa with e = 0 turns depends on when its last vertex comes off: no truth in fine steps
        // either
        if (stiffnesses[k] == 1e4 && restitutions[i] == 0) continue;
        if (std::abs(off) > 0.05) MESSAGE(name, ": ", bounce.apex, " m, in fine steps ", truth, " (", 100 * off, " %)");
        CHECK((std::abs(off) > 0.05) == (known.count(name) > 0));
        if (known.count(name) == 0) worst = std::max(worst, std::abs(off));
        // hard ones: e^2 of the height
        const double e = restitutions[i];
        if (stiffnesses[k] >= 1e8) CHECK(bounce.apex == doctest::Approx(radius + e * e * drop).epsilon(0.03));
      }
  MESSAGE("the others within ", 100 * worst, " %");
}

TEST_CASE(
    "a ball on the edge of a box gains nothing at any stiffness and restitution, and one of 1e6 Pa rises as it "
    "should") {
  // An unstable place: what leaves it depends on round-off and on the mesh, and plain fine steps, which follow edges by
  // stencils of a step, gain 4 to 15 % there: no truth for single apexes but where they agree with it.
  for (const double stiffness : stiffnesses)
    for (const double e : restitutions) {
      CAPTURE(name_of("edge", stiffness, e));
      const Bounce bounce = first_bounce(dropped_ball("edge", stiffness, e));
      CHECK(bounce.gained <= 1e-4);  // the tolerance
      CHECK(bounce.apex <= radius + drop);
      if (stiffness == 1e6 && e < 1) CHECK(bounce.apex == doctest::Approx(radius + e * e * drop).epsilon(0.08));
    }
}

TEST_CASE("hard boxes that fall on a corner, a rim or over the rim of a box gain nothing and come off") {
  for (const double stiffness : {1e6, 1e8})
    for (const Vec3 turn : {Vec3{45, 0, 0}, Vec3{35, 0, 45}, Vec3{0, 0, 0}})
      for (const double e : {0.5, 1.0}) {
        CAPTURE(stiffness);
        CAPTURE(turn.x);
        CAPTURE(turn.z);
        CAPTURE(e);
        BodySpec box = box_body(2, stiffness);
        const bool over_rim = norm(turn) == 0;
        box.place.scale = 0.3, box.place.rotate = turn, box.place.translate = {over_rim ? 0.1 : 0, 1, 0};
        box.restitution = e;
        ColliderSpec floor = over_rim ? obstacle("box") : floor_plane();
        if (over_rim) floor.size = {0.3, 0.4, 0.6}, floor.position = Track<Vec3>(Vec3{0, -0.2, 0});
        Scene scene = grounded({box}, {floor});
        scene.step = 1.0 / 60;
        const Bounce bounce = first_bounce(scene, 1);
        MESSAGE(stiffness, " Pa, turned ", turn.x, " ", turn.z, ", e ", e, ": rises to ", bounce.apex, " m");
        CHECK(bounce.gained <= 1e-4);
        CHECK(bounce.apex <= 1 + 1e-6);
        // on a rim nothing turns: e^2 of the height, and on a corner some of it is spin
        const double rests = over_rim ? 0.15 : turn.z == 0 ? 0.15 * std::sqrt(2) : 0.15 * std::sqrt(3);
        if (!over_rim && turn.z == 0) CHECK(bounce.apex == doctest::Approx(rests + e * e * (1 - rests)).epsilon(0.06));
        CHECK(bounce.apex > rests);
      }
}

TEST_CASE("a flat sheet with restitution 1 comes back to its height, and keeps its energy") {
  for (const double stiffness : {1e2, 1e4}) {
    CAPTURE(stiffness);
    BodySpec cloth = generated_body("cloth", {{"width", {0.5}}, {"length", {0.5}}, {"columns", {6}}, {"rows", {6}}},
                                    {"tri_strain", {{"mu", Track<double>(stiffness)}}});
    cloth.density = 0.2, cloth.place.translate = {0, 0.5, 0};
    Scene scene = grounded({cloth}, {floor_plane()});
    scene.step = 1.0 / 60;
    const Bounce bounce = first_bounce(scene);
    MESSAGE("rises to ", bounce.apex, " m of 0.5");
    CHECK(bounce.apex == doctest::Approx(0.5).epsilon(0.05));
    CHECK(bounce.gained <= 1e-4);
  }
}

TEST_CASE("hard balls that meet faster than a body length a frame part as they came") {
  for (const double stiffness : {1e6, 1e8})
    for (const double speed : {20.0, 40.0}) {
      CAPTURE(stiffness);
      CAPTURE(speed);
      Scene scene;
      scene.bodies = {ball_body(0.3, 4, stiffness, {-0.8, 0, 0}, "a"), ball_body(0.3, 4, stiffness, {0.8, 0, 0}, "b")};
      scene.bodies[0].initial.velocity = {speed, 0, 0}, scene.bodies[1].initial.velocity = {-speed, 0, 0};
      scene.step = 1.0 / 60;
      scene.contact.emplace();
      Simulation sim = make(scene);
      const Measures start = sim.measure();
      const double momentum = norm(sim.measure(0).momentum);
      for (int frame = 0; frame < 20; ++frame) {
        REQUIRE(sim.step());
        CHECK(norm(sim.measure().momentum) <= 1e-12 * momentum);
        CHECK(norm(sim.measure().angular_momentum) <= 1e-11 * momentum * 0.3);
        CHECK(sim.measure().total <= start.total * (1 + 1e-6));
      }
      const double leaves = sim.measure(1).momentum.x / sim.measure(1).mass;
      MESSAGE(stiffness, " Pa at ", speed, " m/s: leave at ", leaves);
      CHECK(leaves > 0);  // each on its own side
      CHECK(sim.measure(0).center.x < sim.measure(1).center.x);
      // what is not in their flight is in their vibration
      CHECK(sim.measure().total + sim.measure().owed == doctest::Approx(start.total).epsilon(1e-4));
      if (stiffness >= 1e8) CHECK(leaves >= 0.9 * speed);
    }
}
