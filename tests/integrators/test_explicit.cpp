// Explicit methods: where they are stable, what they keep, what they say when they are not (docs/explicit.md).
#include <doctest/doctest.h>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr double omega = 30;

/// Two masses of 1 kg on a spring of 450 N/m: omega^2 = k (1/m + 1/m) = 900. Stretched along itself it is linear.
Scene spring_scene(const std::string& method, double phase, double stretch = 1e-3) {
  Scene scene = scene_of(generated_body("spring", {}, springs(450)), method);
  scene.bodies[0].mass = 2;
  scene.bodies[0].initial.stretch = {1 + stretch, 1, 1};
  scene.step = phase / omega;
  scene.solver.substeps = 1;
  return scene;
}

double largest_energy(Simulation& sim, int frames) {
  double most = 0;
  for (int frame = 0; frame < frames; ++frame) {
    REQUIRE(sim.step());
    most = std::max(most, sim.measure().total);
  }
  return most;
}

void turn_back(Simulation& sim) {
  std::vector<Vec3> v = sim.velocities();
  for (Vec3& a : v) a = a * -1;
  sim.set_state(sim.positions(), v);
}

double apart(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, norm(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("symplectic Euler and Verlet are stable up to omega h = 2 and not beyond (Inventory N18)") {
  for (const std::string method : {"symplectic_euler", "verlet"}) {
    CAPTURE(method);
    for (const double phase : {0.1, 1.0, 1.8, 1.98}) {
      Simulation sim = make(spring_scene(method, phase));
      const double start = sim.measure().total, most = largest_energy(sim, 3000);
      MESSAGE(method, " at omega h = ", phase, ": H/H0 at most ", most / start);
      // symplectic Euler keeps v^2/2 + omega^2 x^2/2 - h omega^2 x v/2, and so H within (1 + p)/(1 - p) of its start, p
      // = omega h/2; Verlet keeps v^2/2 (1/(1 - p^2)) + omega^2 x^2/2, from rest H never exceeds its start
      const double p = phase / 2, band = method == "verlet" ? 1 : (1 + p) / (1 - p);
      CHECK(most <= band * start * (1 + 1e-6));
    }
    // r^2 - (2 - (omega h)^2) r + 1 = 0 has a root of -1.33 at omega h = 2.02: 1.33^60 = 2.6e7 in x
    Simulation sim = make(spring_scene(method, 2.02, 1e-9));
    const double start = sim.measure().total;
    CHECK(largest_energy(sim, 30) >= 1e6 * start);
  }
}

TEST_CASE("explicit Euler gains (1 + (omega h)^2) of energy per step, however short (Inventory N18)") {
  for (const double phase : {0.01, 0.1, 0.5}) {
    Simulation sim = make(spring_scene("explicit_euler", phase, 1e-6));
    const double start = sim.measure().total;
    const int n = 20;
    for (int i = 0; i < n; ++i) REQUIRE(sim.step());
    // W is measured as k/2 C^2 of lengths near 1 that differ by 1e-6: 1e-10 of it is round-off
    CHECK(sim.measure().total / start == doctest::Approx(std::pow(1 + phase * phase, n)).epsilon(1e-8));
  }
}

TEST_CASE("a step above the limit is warned of at creation and named when the run diverges") {
  for (const std::string method : {"symplectic_euler", "verlet", "explicit_euler"}) {
    CAPTURE(method);
    CHECK(Simulation::create(spring_scene(method, 1.99)).diagnostics().text().empty());
    const Expected<Simulation> made = Simulation::create(spring_scene(method, 4.2));
    REQUIRE(made.has_value());
    const std::string warning = made.diagnostics().text();
    CHECK(warning.find("below 0.06667 s") != std::string::npos);  // 2/30
    CHECK(warning.find("At least 3 sub-steps") != std::string::npos);
    CHECK(warning.find("\"spring\"") != std::string::npos);
  }
  Scene scene = cube_scene("symplectic_euler", 1e6);
  scene.solver.substeps = 1;
  Simulation sim = make(scene);
  StepReport report;
  for (int frame = 0; frame < 2000 && report; ++frame) report = sim.step();
  CHECK(report.status == StepStatus::diverged);
  MESSAGE(report.message);
  CHECK(report.message.find("expected one below 0.00") != std::string::npos);
  CHECK(finite(sim));
}

TEST_CASE("the estimated limit of a solid is near the one that is found by trying") {
  // just below the estimate the energy stays within its band, a tenth above it the run blows up: weights bound the
  // Hessian from above, so the true limit may lie a little higher
  Scene scene = cube_scene("verlet");
  scene.bodies[0].initial.stretch = {1, 1.01, 1};
  scene.bodies[0].initial.angular_velocity = {};
  scene.solver.substeps = 1;
  scene.step = 0.3;
  const std::string text = Simulation::create(scene).diagnostics().text();
  const size_t at = text.find("below ");
  REQUIRE(at != std::string::npos);
  const double limit = std::stod(text.substr(at + 6));
  scene.step = 0.99 * limit;
  Simulation below = make(scene);
  const double start = below.measure().total;
  CHECK(largest_energy(below, 1000) <= 1.5 * start);
  scene.step = 1.25 * limit;
  Simulation wild = make(scene);
  StepReport report;
  double most = 0;
  for (int i = 0; i < 1000 && report; ++i) report = wild.step(), most = std::max(most, wild.measure().total);
  MESSAGE("limit ", limit, " s; 1.25 times that: ", most / start);
  CHECK((!report || most > 100 * start));
}

TEST_CASE("below the limit symplectic Euler and Verlet keep the energy of a tumbling cube within a band") {
  for (const std::string method : {"symplectic_euler", "verlet"}) {
    Simulation sim = make(cube_scene(method));
    const double start = sim.measure().total;
    const Vec3 spin = sim.measure().spin;
    double early = 0, late = 0;
    for (int frame = 0; frame < 400; ++frame) {
      REQUIRE(sim.step());
      const double off = std::abs(sim.measure().total - start) / start;
      (frame < 200 ? early : late) = std::max(frame < 200 ? early : late, off);
    }
    MESSAGE(method, ": off by ", early, " in frames 1-200, ", late, " in 201-400");
    CHECK(late <= 1.5 * early);  // no drift
    CHECK(norm(sim.measure().spin - spin) <= 1e-12 * norm(spin));
    CHECK(late <= (method == "verlet" ? 0.02 : 0.2));
  }
}

TEST_CASE("Verlet is of second order, symplectic Euler of first") {
  const auto error = [](const std::string& method, int substeps) {
    Scene scene = cube_scene(method);
    scene.solver.substeps = substeps;
    Scene fine = cube_scene("verlet");
    fine.solver.substeps = 64;
    Simulation a = make(scene), b = make(fine);
    for (int frame = 0; frame < 10; ++frame) REQUIRE((a.step() && b.step()));
    return apart(a.positions(), b.positions());
  };
  const double verlet = error("verlet", 8) / error("verlet", 16),
               euler = error("symplectic_euler", 8) / error("symplectic_euler", 16);
  MESSAGE("halving the step divides the error by ", verlet, " and ", euler);
  // 64 sub-steps leave (16/64)^2 of the finer error in the reference: 4 becomes 4.3 at most
  CHECK(verlet >= 3.5);
  CHECK(verlet <= 4.6);
  CHECK(euler >= 1.7);
  CHECK(euler <= 2.5);
}

TEST_CASE("Verlet retraces its path when time is turned back, in free flight and under forces (Inventory N19)") {
  for (const std::string method : {"verlet", "jakobsen"}) {
    for (const bool deforms : {false, true}) {
      if (deforms && method == "jakobsen") continue;  // relaxed sticks are not reversible
      CAPTURE(method);
      Scene scene = method == "verlet" && deforms
                        ? cube_scene(method)
                        : scene_of(generated_body("cloth", {{"columns", {6}}, {"rows", {6}}}, springs(10)), method);
      scene.gravity = {0, -9.81, 0};
      scene.bodies[0].initial.velocity = {1, 4, -2};
      Simulation sim = make(scene);
      const std::vector<Vec3> x0 = sim.positions(), v0 = sim.velocities();
      const int n = deforms ? 50 : 300;
      for (int i = 0; i < n; ++i) REQUIRE(sim.step());
      CHECK(apart(sim.positions(), x0) > 0.1);
      turn_back(sim);
      for (int i = 0; i < n; ++i) REQUIRE(sim.step());
      turn_back(sim);
      MESSAGE(method, std::string(deforms ? " under forces" : " in free flight"), ": ", apart(sim.positions(), x0));
      // 300 frames of 1/30 s reach 490 m: round-off of 6e-14 m in x per frame
      CHECK(apart(sim.positions(), x0) <= 1e-10);
      CHECK(apart(sim.velocities(), v0) <= 1e-9);
    }
  }
}

TEST_CASE("penalty forces oscillate the more the stiffer they are at one step, and then diverge (Inventory N15)") {
  // a bob of 1 kg on a held spring, pushed along it at 0.1 m/s; limit k = 4 m/h^2 = 14400 N/m
  const auto oscillation = [](const std::string& method, double k) -> double {
    Scene scene = scene_of(generated_body("spring", {}, springs(k)), method);
    scene.bodies[0].mass = 2;
    scene.step = 1.0 / 60;
    scene.solver.substeps = 1;
    scene.anchors.emplace_back();
    scene.anchors[0].name = "nail", scene.anchors[0].body = "spring", scene.anchors[0].hard = true;
    scene.anchors[0].vertices.indices = {0};
    scene.pushes.emplace_back();
    scene.pushes[0].body = "spring", scene.pushes[0].impulse = {0.2, 0, 0};
    Simulation sim = make(scene);
    std::vector<double> force;
    for (int frame = 0; frame < 400; ++frame) {
      if (!sim.step()) return INFINITY;
      force.push_back(k * (norm(sim.positions()[1] - sim.positions()[0]) - 1));
    }
    return deviation(force, 300, 400);
  };
  double last = 0;
  for (const double k : {100.0, 400.0, 1600.0, 6400.0, 12800.0, 14300.0}) {
    const double now = oscillation("symplectic_euler", k);
    MESSAGE("k = ", k, " N/m: ", now, " N");
    // sqrt(k m/2) v of the true oscillation, and more as omega h nears 2
    CHECK(now >= 0.9 * std::sqrt(k / 2) * 0.1);
    CHECK(now > 1.5 * last);
    last = now;
  }
  CHECK(oscillation("symplectic_euler", 14500) > 100 * last);
  CHECK(oscillation("compliant", 14500) <= 1e-6);  // constraints come to rest
}

TEST_CASE("hard anchors carry their vertices exactly, also where a path moves them, and hard links join two bodies") {
  for (const std::string method : {"symplectic_euler", "explicit_euler", "verlet"}) {
    CAPTURE(method);
    Scene scene = scene_of(generated_body("chain", {{"vertices", {5}}}, springs(50)), method);
    scene.bodies[0].mass = 1;
    scene.bodies.push_back(scene.bodies[0]);
    scene.bodies[1].name = "tail", scene.bodies[1].place.translate = {1.01, 0, 0};
    scene.gravity = {0, -9.81, 0};
    scene.anchors.resize(2);
    scene.anchors[0].name = "hand", scene.anchors[0].body = "chain", scene.anchors[0].hard = true;
    scene.anchors[0].vertices.indices = {0};
    scene.anchors[0].path.keys = {{0, Vec3{0, 0, 0}}, {1, Vec3{0, 1, 0}}};
    scene.anchors[1].name = "link", scene.anchors[1].body = "chain", scene.anchors[1].hard = true;
    scene.anchors[1].vertices.indices = {4}, scene.anchors[1].to_body = "tail";
    Simulation sim = make(scene);
    for (int frame = 1; frame <= 20; ++frame) {
      REQUIRE(sim.step());
      const auto x = sim.positions(), v = sim.velocities();
      CHECK(norm(x[0] - Vec3{-0.5, frame / 30.0, 0}) <= 1e-9);  // the clock runs 1e-10 of a step late
      CHECK(norm(v[0] - Vec3{0, 1, 0}) <= 1e-7);
      CHECK(norm(x[4] - x[5]) <= 1e-14);
      CHECK(norm(v[4] - v[5]) <= 1e-13);
    }
  }
}
