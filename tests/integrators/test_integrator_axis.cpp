// The first axis: base integrators against closed forms, by their order, and with CPD on each.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Two masses of 1 kg on a spring of length 1 along x: in that direction a linear oscillator of frequency sqrt(2 k).
Scene pair(const std::string& method, double stiffness, double stretch, double h) {
  Mesh mesh;
  mesh.vertices = {{-0.5, 0, 0}, {0.5, 0, 0}};
  mesh.edges = {{0, 1}};
  Scene scene = scene_of(mesh_body(mesh, {springs(stiffness)}), method);
  scene.bodies[0].mass = 2;
  scene.bodies[0].initial.stretch = {stretch, 1, 1};
  scene.step = h;
  scene.solver.substeps = 1;
  scene.solver.iterations = 500;
  scene.solver.tolerance = 1e-13;
  return scene;
}

double elongation(const Simulation& sim) {
  const std::vector<Vec3> x = sim.positions();
  return norm(x[1] - x[0]) - 1;
}

const char* second_order[] = {"midpoint", "newmark", "chung_hulbert", "trbdf2", "pd_bdf2", "pd_alpha"};

/// Amplitudes and velocities of the linear oscillator x'' = -w^2 x that a method must follow, from (x, v) = (1, 0): one
/// complex step in the plane (x, v / w).
struct Linear {
  double x, v;
};

}  // namespace

TEST_CASE("integrators have their order of accuracy (Inventory N20, N21)") {
  // a spring that turns and swings by a fifth of its length under a constant force: smooth and nonlinear
  const auto position = [](const std::string& method, int steps) {
    Scene scene = pair(method, 20, 1.2, 1.0 / steps);
    scene.bodies[0].initial.angular_velocity = {0, 0, 2};
    scene.gravity = {0, -1, 0};
    ForceSpec force;
    force.body = "body";
    force.vertices.indices = {1};
    force.force = {0.5, 0.2, 0.3};
    scene.forces.push_back(force);
    Simulation sim = make(scene);
    for (int n = 0; n < steps; ++n) REQUIRE(sim.step());
    return sim.positions();
  };
  // by Richardson: what is left of second order at 3200 steps is a tenth of a per cent of the error at 100
  const std::vector<Vec3> fine = position("midpoint", 3200), finer = position("midpoint", 6400);
  std::vector<Vec3> truth;
  for (int i = 0; i < 2; ++i) truth.push_back(finer[i] + (finer[i] - fine[i]) / 3.0);
  const auto error = [&](const std::string& method, int steps) {
    const std::vector<Vec3> x = position(method, steps);
    return std::sqrt(dot(x[0] - truth[0], x[0] - truth[0]) + dot(x[1] - truth[1], x[1] - truth[1]));
  };
  for (const std::string method : second_order) {
    const double coarse = error(method, 200), half = error(method, 400);
    const double order = std::log2(coarse / half);
    MESSAGE(method, ": errors ", coarse, ", ", half, ", order ", order);
    CHECK(std::abs(order - 2) <= 0.1);
  }
  const double order = std::log2(error("pd", 1600) / error("pd", 3200));
  MESSAGE("pd: order ", order);
  CHECK(std::abs(order - 1) <= 0.1);
}

TEST_CASE("the implicit midpoint rule and Newmark's keep the energy of a spring over 1e5 steps (Inventory M03, N20)") {
  for (const std::string method : {"midpoint", "newmark"}) {
    Simulation sim = make(pair(method, 500, 1.1, 1e-3));
    const double start = sim.measure().total;
    double least = start, most = start;
    for (int n = 0; n < 100000; ++n) {
      const StepReport r = sim.step();
      if (!r) FAIL(r.message);
      if (n % 7) continue;
      const double now = sim.measure().total;
      least = std::min(least, now), most = std::max(most, now);
    }
    MESSAGE(method, ": H/H0 from ", least / start, " to ", most / start);
    // both conserve quadratic energies up to where the iteration stops (1e-13 per step) and round-off
    CHECK(least >= start * (1 - 1e-6));
    CHECK(most <= start * (1 + 1e-6));
  }
}

TEST_CASE("steps of a linear oscillator are those of the formulas") {
  const double k = 300, h = 1.0 / 30, w2 = 2 * k;
  const auto run_of = [&](const std::string& method, const std::function<void(SolverSpec&)>& change = {}) {
    Scene scene = pair(method, k, 1.1, h);
    if (change) change(scene.solver);
    Simulation sim = make(scene);
    std::vector<double> out;
    for (int n = 0; n < 20; ++n) {
      REQUIRE(sim.step());
      out.push_back(elongation(sim));
    }
    return out;
  };
  const auto compare = [&](const std::vector<double>& found, const std::function<void(Linear&)>& step) {
    Linear s{0.1, 0};
    for (const double x : found) {
      step(s);
      CHECK(std::abs(x - s.x) <= 1e-9 * 0.1);
    }
  };
  SUBCASE("implicit midpoint") {
    compare(run_of("midpoint"), [&](Linear& s) {
      const double c = w2 * h * h / 4, x = ((1 - c) * s.x + h * s.v) / (1 + c);
      s = {x, 2 * (x - s.x) / h - s.v};
    });
  }
  SUBCASE("Newmark's, with numbers of its own") {
    const double beta = 0.3, gamma = 0.6;
    compare(run_of("newmark", [&](SolverSpec& s) { s.newmark_beta = beta, s.newmark_gamma = gamma; }), [&](Linear& s) {
      const double a = -w2 * s.x, xp = s.x + h * s.v + h * h * (0.5 - beta) * a;
      const double x = xp / (1 + beta * h * h * w2);
      s = {x, s.v + h * (1 - gamma) * a - h * gamma * w2 * x};
    });
  }
  SUBCASE("trapezoidal rule and BDF2") {
    compare(run_of("trbdf2"), [&](Linear& s) {
      const double g = 2 - std::numbers::sqrt2, d = g * h / 2;
      const double xg = (s.x + 2 * d * s.v - d * d * w2 * s.x) / (1 + d * d * w2), vg = (xg - s.x) / d - s.v;
      const double past = (1 - g) * (1 - g) / (g * (2 - g)), e = h * (1 - g) / (2 - g);
      const double xb = xg + past * (xg - s.x), vb = vg + past * (vg - s.v);
      const double x = (xb + e * vb) / (1 + e * e * w2);
      s = {x, (x - xb) / e};
    });
  }
  SUBCASE("Chung and Hulbert's") {
    double rho = 0, a = -w2 * 0.1;
    SUBCASE("") { rho = 0; }
    SUBCASE("") { rho = 0.5; }
    SUBCASE("") { rho = 1; }
    const double am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1);
    const double gamma = 0.5 - am + af, beta = 0.25 * (1 - am + af) * (1 - am + af);
    compare(run_of("chung_hulbert", [&](SolverSpec& s) { s.rho = rho; }), [&](Linear& s) {
      const double xp = s.x + h * s.v + h * h * (0.5 - beta) * a;
      // (1 - am) a1 + am a + w2 ((1 - af) (xp + beta h^2 a1) + af x) = 0
      const double a1 = -(am * a + w2 * ((1 - af) * xp + af * s.x)) / (1 - am + w2 * (1 - af) * beta * h * h);
      s = {xp + beta * h * h * a1, s.v + h * ((1 - gamma) * a + gamma * a1)};
      a = a1;
    });
  }
}

TEST_CASE("the implicit midpoint rule keeps the spin of a body when it is solved to the end") {
  Scene scene = cube_scene("midpoint", 3e3);
  scene.solver.iterations = 400;
  scene.solver.tolerance = 1e-11;
  scene.step = 1.0 / 120;
  Simulation sim = make(scene);
  const Run r = run(sim, 60);
  MESSAGE("spin off by ", largest(r.spin_error), ", energy by ", largest(r.energy_error));
  // quadratic invariants are kept exactly: what is left is where the iteration stops
  CHECK(largest(r.spin_error) <= 1e-8);
  CHECK(largest(r.momentum_error) <= 1e-12);
}

TEST_CASE("the implicit midpoint rule gains energy on a stiff cube at 1/30 s, which CPD on it holds (Inventory M03)") {
  for (const std::string method : {"midpoint", "cpd_midpoint"}) {
    Simulation sim = make(cube_scene(method, 2e5));
    const double start = sim.measure().total;
    double most = start;
    bool ok = true;
    for (int frame = 0; frame < 300 && ok; ++frame) {
      ok = bool(sim.step());
      most = std::max(most, sim.measure().total);
    }
    MESSAGE(method, ": H grew to ", most / start);
    if (method == "midpoint") {
      CHECK((!ok || most > 1.1 * start));
    } else {
      CHECK(ok);
      CHECK(most <= (1 + 1e-4) * start);
    }
  }
}

TEST_CASE("CPD holds P, L and H on every base integrator (Inventory C25)") {
  for (const std::string& integrator : integrator_names()) {
    const auto& own = own_step_names();
    if (integrator == "quasistatic" || std::find(own.begin(), own.end(), integrator) != own.end()) continue;
    CAPTURE(integrator);
    Scene scene = cube_scene("cpd", 3e3);
    scene.solver.integrator = integrator;
    SUBCASE("closed") {}
    SUBCASE("under gravity and a force off the centre") {
      scene.gravity = {0, -9.81, 0};
    }
    Simulation sim = make(scene);
    const Run r = run(sim, 200);
    MESSAGE(integrator, ": dH ", largest(r.energy_error), " dL ", largest(r.spin_error), " iterations ",
            mean(r.iterations), " / ", largest(r.iterations), " substeps ", mean(r.substeps), " std W ",
            deviation(r.elastic, 100, 200));
    if (scene.gravity.y == 0) {
      CHECK(largest(r.energy_error) <= 2e-6);
      CHECK(largest(r.momentum_error) <= 1e-12);
    } else {
      CHECK(largest(r.energy_error) <= 1e-4);  // of H at the start; the body falls 200 m and has a hundred times that
    }
    CHECK(largest(r.spin_error) <= 1e-10);
  }
}

TEST_CASE("CPD holds H of anchored bodies on every base integrator") {
  for (const std::string integrator : {"implicit_midpoint", "newmark", "chung_hulbert", "trbdf2"}) {
    CAPTURE(integrator);
    Scene scene = scene_of(box_body(2, 2e4), "cpd");
    scene.solver.integrator = integrator;
    scene.gravity = {0, -9.81, 0};
    AnchorSpec pin;
    pin.name = "pin", pin.body = "box";
    pin.vertices.nearest = Vec3{0.5, 0.5, 0.5};
    pin.stiffness = 1e5;
    scene.anchors.push_back(pin);
    Simulation sim = make(scene);
    const double start = sim.measure().total;
    double off = 0, kinetic = 0;
    for (int frame = 0; frame < 100; ++frame) {
      REQUIRE(sim.step());
      off = std::max(off, std::abs(sim.measure().total - start));
      kinetic = std::max(kinetic, sim.measure().kinetic);
    }
    MESSAGE(integrator, ": H off by ", off / kinetic, " of the largest kinetic energy");
    CHECK(off <= 1e-3 * kinetic);
  }
}

TEST_CASE("energies and half-lives can be dialled on the implicit midpoint rule") {
  Scene scene = cube_scene("cpd_midpoint", 3e3);
  Simulation sim = make(scene);
  for (int frame = 0; frame < 10; ++frame) REQUIRE(sim.step());
  const double before = sim.measure().total;
  sim.set_energy(0, 1.5 * before);
  REQUIRE(sim.step());
  CHECK(sim.measure().total == doctest::Approx(1.5 * before).epsilon(1e-5));
  const double start = sim.measure().total, least = least_energy(sim, 0);
  sim.set_half_life(0, 0.5);
  for (int frame = 0; frame < 15; ++frame) REQUIRE(sim.step());
  // (1 - ln2 h / T)^15 of what is above K
  const double keep = std::pow(1 - std::numbers::ln2 / 15, 15);
  MESSAGE("H - K ", (sim.measure().total - least) / (start - least), ", expected ", keep);
  CHECK((sim.measure().total - least) == doctest::Approx(keep * (start - least)).epsilon(0.05));  // K moves with I
}

TEST_CASE("equilibria: a hung spring, a free body, and the rest of a long damped run") {
  SUBCASE("a mass on a spring") {
    Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {0, -1, 0}};
    mesh.edges = {{0, 1}};
    Scene scene = scene_of(mesh_body(mesh, {springs(100)}), "quasistatic");
    scene.bodies[0].mass = 2;  // 1 kg hangs
    scene.gravity = {0, -9.81, 0};
    AnchorSpec pin;
    pin.name = "pin", pin.body = "body";
    pin.vertices.indices = {0};
    pin.stiffness = 1e4;
    scene.anchors.push_back(pin);
    scene.solver.tolerance = 1e-12;
    Simulation sim = make(scene);
    for (int frame = 0; frame < 5; ++frame) REQUIRE(sim.step());
    const std::vector<Vec3> x = sim.positions();
    CHECK(norm(x[1] - x[0]) - 1 == doctest::Approx(9.81 / 100).epsilon(1e-6));
    CHECK(-x[0].y == doctest::Approx(2 * 9.81 / 1e4).epsilon(1e-6));
    CHECK(sim.measure().kinetic == 0);
  }
  SUBCASE("a free body goes to its rest shape and stays where it is") {
    Scene scene = scene_of(box_body(3, 1e4), "quasistatic");
    scene.gravity = {0, -9.81, 0};
    scene.bodies[0].initial.stretch = {1.4, 0.8, 1};
    Simulation sim = make(scene);
    const Vec3 center = sim.measure().center;
    const double start = sim.measure().elastic;
    for (int frame = 0; frame < 10; ++frame) REQUIRE(sim.step());
    CHECK(sim.measure().elastic <= 1e-9 * start);
    CHECK(norm(sim.measure().center - center) <= 1e-6);
  }
  SUBCASE("a bar held at one end") {
    Scene scene = scene_of(generated_body("box", {{"size", {2, 0.4, 0.4}}, {"cells", {10, 2, 2}}}, strain(2e5)),
                           "quasistatic");
    scene.gravity = {0, -9.81, 0};
    AnchorSpec wall;
    wall.name = "wall", wall.body = "box";
    wall.vertices.box = std::array<Vec3, 2>{Vec3{-1.001, -1, -1}, Vec3{-0.999, 1, 1}};
    wall.stiffness = 1e6;
    scene.anchors.push_back(wall);
    scene.solver.tolerance = 1e-9;
    scene.solver.iterations = 2000;
    Simulation sim = make(scene);
    for (int frame = 0; frame < 3; ++frame) REQUIRE(sim.step());
    // a second way: backward Euler until it is at rest
    scene.solver.method = "pd";
    scene.step = 0.1;
    scene.solver.iterations = 300;
    Simulation slow = make(scene);
    for (int frame = 0; frame < 300; ++frame) REQUIRE(slow.step());
    double off = 0, sag = 0;
    const std::vector<Vec3> a = sim.positions(), b = slow.positions(), rest = sim.mesh(0).vertices;
    for (size_t i = 0; i < a.size(); ++i)
      off = std::max(off, norm(a[i] - b[i])), sag = std::max(sag, norm(a[i] - rest[i]));
    MESSAGE("sag ", sag, ", apart by ", off);
    CHECK(sag > 0.01);
    CHECK(off <= 1e-3 * sag);
  }
}

TEST_CASE("integrators and what is held must fit together") {
  const auto problems = [](const std::function<void(Scene&)>& change) {
    Scene scene = cube_scene("cpd");
    change(scene);
    return check_scene(scene).text();
  };
  CHECK(problems([](Scene& s) { s.solver.integrator = "quasistatic"; }).find("no motion to hold") != std::string::npos);
  CHECK(problems([](Scene& s) { s.solver.method = "published", s.solver.integrator = "trbdf2"; })
            .find("implicit_euler") != std::string::npos);
  CHECK(problems([](Scene& s) {
          s.solver.integrator = "newmark";
          s.bodies[0].mass_matrix = MassMatrix::consistent;
        }).find("lumped") != std::string::npos);
  CHECK(problems([](Scene& s) { s.solver.newmark_gamma = 0.4; }).find("newmark_gamma") != std::string::npos);
}

TEST_CASE("statics satisfies planes, circles and similar shapes at once, as Shape-Up does (Inventory N07)") {
  // 4 x 4 quadrilaterals and the ring around them; Bouaziz et al. 2012 alternate projections and a linear solve, which
  // is what `quasistatic` by local/global iterations does
  const int n = 5;
  Mesh mesh;
  std::vector<std::vector<int>> quads, ring(1), shapes;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) mesh.vertices.push_back({double(i), 0.1 * i * i, double(j)});
  const auto at = [&](int i, int j) { return j * n + i; };
  for (int j = 0; j + 1 < n; ++j) {
    for (int i = 0; i + 1 < n; ++i) {
      mesh.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j)});
      mesh.triangles.push_back({at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)});
      quads.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  const auto groups_of = [](const char* type, const std::vector<std::vector<int>>& groups) {
    PotentialSpec spec{type, {}};
    spec.parameters["stiffness"] = Track<double>(1000);
    spec.groups = groups;
    return spec;
  };
  std::vector<PotentialSpec> potentials;
  SUBCASE("planes of all quadrilaterals") { potentials = {groups_of("planarity", quads)}; }
  SUBCASE("a circle through a ring") {
    for (int i = 0; i < 16; ++i) ring[0].push_back(i);
    potentials = {groups_of("circle", ring)};
  }
  SUBCASE("the shape of two patches, at any size") {
    shapes = {{0, 1, 5, 6, 10, 11}, {18, 19, 23, 24, 17, 22}};
    potentials = {groups_of("similarity", shapes)};
  }
  SUBCASE("planes and similar shapes together") {
    shapes = {{0, 1, 5, 6}, {18, 19, 23, 24}};
    potentials = {groups_of("planarity", quads), groups_of("similarity", shapes)};
  }
  Scene scene = scene_of(mesh_body(mesh, potentials), "quasistatic");
  scene.bodies[0].initial.noise = 0.2;
  scene.solver.tolerance = 1e-14;
  scene.solver.iterations = 2000;
  Simulation sim = make(scene);
  const double start = sim.measure().elastic;
  for (int frame = 0; frame < 40; ++frame) REQUIRE(sim.step());
  // W = k/2 sum |z - p|^2 in units of the mesh, which is 4 large
  const double off = std::sqrt(2 * sim.measure().elastic / 1000);
  MESSAGE("off by ", std::sqrt(2 * start / 1000), " at the start, ", off, " at the end");
  CHECK(start > 0.01);
  CHECK(off <= 1e-6);
}
