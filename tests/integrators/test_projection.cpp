// What is held after the step of any method: FEPR, energy alone, energy budgeting, momenta alone, a band of energy.
#include <doctest/doctest.h>

#include <numbers>

#include "integrators/projection.h"
#include "integrators/scenes_for_tests.h"
#include "potentials/polar.h"

using namespace verve;
using namespace verve::test;

namespace {

/// What is bumpy in a sheet: rms of the fourth difference of the height along its rows.
double roughness(const std::vector<Vec3>& x, int columns, int rows) {
  double sum = 0;
  for (int j = 0; j < rows; ++j)
    for (int i = 2; i + 2 < columns; ++i) {
      const Vec3* p = x.data() + j * columns + i;
      sum += sq(p[-2].y - 4 * p[-1].y + 6 * p[0].y - 4 * p[1].y + p[2].y);
    }
  return std::sqrt(sum / (rows * (columns - 4)));
}

}  // namespace

TEST_CASE("every method that holds nothing can be followed by every projection, and no other can") {
  for (const MethodInfo& m : method_infos()) {
    if (m.name.find('+') != std::string::npos) continue;
    for (const std::string& after : post_step_names()) {
      CAPTURE(m.name);
      const MethodInfo* found = find_method(m.name + "+" + after);
      REQUIRE((found != nullptr) == (m.conservation == "none" && m.dynamic));
      if (!found) continue;
      CHECK(found->conservation == after);
      CHECK(found->integrator == m.integrator);
      CHECK(found->iterations == m.iterations);
      REQUIRE(find_projection(after));
    }
  }
  CHECK(projection_registry().size() == post_step_names().size());
  Scene scene = cube_scene("pd_bdf2+momentun");
  CHECK(check_scene(scene).text().find("(nearest: pd_bdf2+momentum)") != std::string::npos);
  scene.solver.method = "pd";
  scene.solver.conservation = "fepr";  // the axis by itself
  Simulation axis = make(scene), name = make(cube_scene("pd+fepr"));
  for (int i = 0; i < 3; ++i) REQUIRE((axis.step() && name.step()));
  CHECK(axis.state_hash() == name.state_hash());
}

TEST_CASE("momentum tracking restores P and L after every base method to 1e-6 (Inventory N25)") {
  for (const std::string& base : bases_of_projections()) {
    CAPTURE(base);
    Scene scene = cube_scene(base + "+momentum");
    scene.bodies[0].initial.velocity = {1, 2, 3};
    Simulation sim = make(scene), plain = make(cube_scene(base));
    const Run r = run(sim, 120), without = run(plain, 120);
    MESSAGE(base, ": dP ", largest(r.momentum_error), " dL ", largest(r.spin_error), ", without dL ",
            largest(without.spin_error));
    CHECK(largest(r.momentum_error) <= 1e-6);
    CHECK(largest(r.spin_error) <= 1e-6);
    if (base == "pd") CHECK(largest(without.spin_error) >= 1e-4);  // there was something to restore
  }
}

TEST_CASE("energy budgeting holds H within one percent and the momenta after every base method (Inventory N24)") {
  for (const std::string& base : bases_of_projections()) {
    CAPTURE(base);
    Simulation sim = make(cube_scene(base + "+energy_budget"));
    const Run r = run(sim, 300);
    MESSAGE(base, ": dH ", largest(r.energy_error), " dP ", largest(r.momentum_error), " dL ", largest(r.spin_error),
            " elastic ", deviation(r.elastic, 200, 300));
    CHECK(largest(r.energy_error) <= 0.01);
    CHECK(largest(r.momentum_error) <= 1e-9);
    CHECK(largest(r.spin_error) <= 1e-9);
  }
}

TEST_CASE("a projected body that deforms falls on the parabola and keeps its energy under gravity") {
  for (const std::string after : {"fepr", "energy_budget"}) {
    for (const std::string& base : bases_of_projections()) {
      CAPTURE(base + "+" + after);
      Scene scene = cube_scene(base + "+" + after);
      scene.gravity = {0, -9.81, 0};
      scene.bodies[0].initial.velocity = {1, 3, -2};
      scene.solver.tolerance = 1e-6;
      Simulation sim = make(scene);
      const Measures m0 = sim.measure();
      const double inner = m0.total - m0.external - 0.5 * dot(m0.momentum, m0.momentum) / m0.mass;
      double fall = 0, energy = 0;
      for (int k = 1; k <= 60; ++k) {
        REQUIRE(sim.step());
        const Measures m = sim.measure();
        const double t = k * scene.step;
        fall = std::max(fall, norm(m.center - m0.center - Vec3{1, 3, -2} * t - Vec3{0, -0.5 * 9.81, 0} * (t * t)));
        energy = std::max(energy, std::abs(m.total - m0.total) / inner);
      }
      MESSAGE(base, "+", after, ": off the parabola by ", fall, " m, dH ", energy);
      // pbd leaves no deformation: what its budget gives back follows the round-off of the shape, far enlarged
      CHECK(fall <= (base == "pbd" && after == "energy_budget" ? 1e-9 : 1e-11));
      CHECK(energy <= (after == "fepr" ? 2e-6 : 0.01));
    }
  }
}

TEST_CASE("anchored bodies hold their energy after the step, under gravity and with either kind of mass") {
  for (const std::string after : {"fepr", "energy_only", "energy_budget"}) {
    for (const MassMatrix mass : {MassMatrix::lumped, MassMatrix::consistent}) {
      CAPTURE(after);
      CAPTURE(choice_name(mass));
      Scene scene = scene_of(box_body(3, 1e5), "pd+" + after);
      scene.bodies[0].mass_matrix = mass;
      scene.gravity = {0, -9.81, 0};
      AnchorSpec pin;
      pin.name = "pin", pin.body = "box", pin.stiffness = 1e5;
      pin.vertices.box = {Vec3{-0.6, 0.4, -0.6}, Vec3{0.6, 0.6, 0.6}};
      scene.anchors.push_back(pin);
      Simulation sim = make(scene);
      const Measures m0 = sim.measure();
      double worst = 0, scale = 0;
      for (int k = 0; k < 100; ++k) {
        REQUIRE(sim.step());
        worst = std::max(worst, std::abs(sim.measure().total - m0.total));
        scale = std::max(scale, sim.measure().kinetic + sim.measure().elastic);
      }
      MESSAGE(after, ", ", mass, ": dH ", worst / scale);
      CHECK(worst <= (after == "energy_budget" ? 0.05 : 1e-3) * scale);
    }
  }
}

TEST_CASE("consistent mass: FEPR and budgeting hold the energy and the momenta of M_c") {
  for (const std::string after : {"fepr", "energy_budget", "momentum"}) {
    CAPTURE(after);
    Scene scene = cube_scene("pd+" + after);
    scene.bodies[0].mass_matrix = MassMatrix::consistent;
    Simulation sim = make(scene);
    const Run r = run(sim, 100);
    MESSAGE(after, ": dH ", largest(r.energy_error), " dP ", largest(r.momentum_error), " dL ", largest(r.spin_error));
    if (after == "fepr") CHECK(largest(r.energy_error) <= 3e-6);
    if (after == "energy_budget") CHECK(largest(r.energy_error) <= 0.01);
    CHECK(largest(r.momentum_error) <= 1e-10);
    if (after != "fepr") CHECK(largest(r.spin_error) <= 1e-9);
  }
}

TEST_CASE("a projection on the energy alone trades spin for vibration, either way (Inventory N23)") {
  // after a base that damps vibration the energy comes back as rotation
  Simulation damped = make(cube_scene("pd+energy_only"));
  const Run a = run(damped, 300);
  const double gained = norm(damped.measure().spin) / a.start_spin;
  CHECK(largest(a.energy_error) <= 3e-6);
  CHECK(gained >= 1.5);
  // after one that does not, in a stiff body that spins fast, rotation turns into vibration: the failure of old
  const auto left = [](const std::string& method, double epsilon) {
    Scene scene = scene_of(box_body(4, 2e5), method);
    scene.bodies[0].initial.stretch = {1, 1.02, 1};
    scene.bodies[0].initial.angular_velocity = {0.5, 5, 0};
    scene.solver.rho = 1;
    scene.solver.epsilon = epsilon;
    Simulation sim = make(scene);
    const Run r = run(sim, 600);
    return norm(sim.measure().spin) / r.start_spin;
  };
  const double lost = left("pd_alpha+energy_only", 0.01), kept = left("pd_alpha+fepr", 10);
  MESSAGE("spin left: ", gained, " after pd, ", lost, " after the trapezoidal rule; fepr without slack ", kept);
  CHECK(lost <= 0.95);
  CHECK(std::abs(kept - 1) <= 1e-3);
}

TEST_CASE(
    "the midpoint rule blended with Euler's stays in the chosen band for thousands of frames, where it leaves it by "
    "itself and pd decays (Inventory N22)") {
  const double mu = 1e5;  // about four frames per period
  const auto excursion = [&](const std::string& method, double band, Run* out = nullptr) {
    Scene scene = cube_scene(method, mu);
    scene.bodies[0].initial.velocity = {1, 2, 3};  // a band of what is about the centre of mass
    scene.solver.band = band;
    Simulation sim = make(scene);
    const Measures m0 = sim.measure();
    const double inner = m0.total - 0.5 * dot(m0.momentum, m0.momentum) / m0.mass;
    const Run r = run(sim, 3000);
    if (out) *out = r;
    return largest(r.energy_error) * m0.total / inner;
  };
  Run alone, pd, blended;
  const double midpoint = excursion("midpoint", 1, &alone), damped = excursion("pd", 1, &pd);
  MESSAGE("H off by at most ", midpoint, " by midpoint, ", damped, " by pd");
  CHECK(midpoint >= 0.5);
  CHECK(damped >= 0.5);
  for (const double band : {0.01, 0.1}) {
    const double off = excursion("midpoint+blend", band, &blended);
    MESSAGE("band ", band, ": H off by at most ", off, ", dP ", largest(blended.momentum_error), ", dL ",
            largest(blended.spin_error), ", elastic oscillation ", deviation(blended.elastic, 2000, 3000),
            ", iterations ", mean(blended.iterations));
    CHECK(off <= band * (1 + 1e-6));                 // the target is H0 to round-off, whatever was left in between
    CHECK(largest(blended.momentum_error) <= 1e-9);  // of any mean of states with the same P
    CHECK(deviation(blended.elastic, 2000, 3000) >= 0.01);
  }
}

TEST_CASE("blends follow dials of energy, hold anchored bodies in the band, and are left alone within it") {
  for (const double factor : {0.8, 1.5}) {
    CAPTURE(factor);
    Simulation sim = make(cube_scene("midpoint+blend"));
    for (int k = 0; k < 10; ++k) REQUIRE(sim.step());
    const double wanted = factor * sim.measure().total;
    sim.set_energy(0, wanted);
    for (int k = 0; k < 60; ++k) REQUIRE(sim.step());
    CHECK(std::abs(sim.measure().total - wanted) <= 0.01 * wanted);
  }
  for (const MassMatrix mass : {MassMatrix::lumped, MassMatrix::consistent}) {
    CAPTURE(choice_name(mass));
    Scene scene = scene_of(box_body(3, 1e5), "midpoint+blend");
    scene.bodies[0].mass_matrix = mass;
    scene.gravity = {0, -9.81, 0};
    AnchorSpec pin;
    pin.name = "pin", pin.body = "box", pin.stiffness = 1e5;
    pin.vertices.box = {Vec3{-0.6, 0.4, -0.6}, Vec3{0.6, 0.6, 0.6}};
    scene.anchors.push_back(pin);
    Simulation sim = make(scene);
    const Measures m0 = sim.measure();
    double worst = 0, scale = 0;
    for (int k = 0; k < 300; ++k) {
      REQUIRE(sim.step());
      worst = std::max(worst, std::abs(sim.measure().total - m0.total));
      scale = std::max(scale, sim.measure().kinetic + sim.measure().elastic);
    }
    MESSAGE(mass, ": dH ", worst / scale);
    CHECK(worst <= 0.01 * scale);
  }
  // a band that is never left: bit by bit the base method
  Scene scene = cube_scene("midpoint");
  Simulation plain = make(scene);
  scene.solver.method = "midpoint+blend", scene.solver.band = 10;
  Simulation wide = make(scene);
  for (int k = 0; k < 20; ++k) REQUIRE((plain.step() && wide.step()));
  CHECK(plain.positions() == wide.positions());
}

TEST_CASE("FEPR without slack holds P, L and H to 1e-4 after every base method (Inventory M02)") {
  for (const std::string& base : bases_of_projections()) {
    CAPTURE(base);
    Scene scene = cube_scene(base + "+fepr");
    scene.solver.epsilon = 100;
    scene.solver.tolerance = 1e-4;
    Simulation sim = make(scene);
    const Run r = run(sim, 200);
    MESSAGE(base, ": dH ", largest(r.energy_error), " dP ", largest(r.momentum_error), " dL ", largest(r.spin_error));
    CHECK(largest(r.energy_error) <= 1e-4);
    CHECK(largest(r.momentum_error) <= 1e-4);
    CHECK(largest(r.spin_error) <= 1e-4);
  }
}

TEST_CASE("FEPR with its slack shows what Kee et al. 2021 found: spin too high, motion rigid (Fig. 2, Inventory C27)") {
  Scene scene = scene_of(generated_body("cube", {{"size", {1}}}, strain(8e3)), "pd+fepr");
  scene.bodies[0].initial.stretch = {1, 1.3, 1};
  scene.bodies[0].initial.angular_velocity = {0.2, 1, 0};
  scene.solver.tolerance = 1e-4;
  Simulation fepr = make(scene);
  scene.solver.method = "cpd";
  Simulation cpd = make(scene);
  const Run f = run(fepr, 300), c = run(cpd, 300);
  const double spin = norm(fepr.measure().spin) / f.start_spin;
  MESSAGE("spin ", spin, ", elastic oscillation ", deviation(f.elastic, 200, 300), " against ",
          deviation(c.elastic, 200, 300));
  CHECK(largest(f.energy_error) <= 1.5e-4);
  CHECK(spin >= 1.5);
  CHECK(deviation(f.elastic, 200, 300) <= 0.2 * deviation(c.elastic, 200, 300));
}

TEST_CASE("FEPR after ten iterations of the midpoint rule loses spin on a stiff cube (Fig. 2, Inventory M02, C27)") {
  // As in Kee et al. 2021: a cube of about 800 vertices, 1/30 s, 10 iterations, 1e-4. It is as stiff as it must be for
  // the midpoint rule to be unstable at that step, which it is in the paper and is not for the one of the scene `cube`.
  const auto play = [](const std::string& method, int frames, int iterations, double epsilon, Run& r) {
    Scene scene = scene_of(generated_body("cube", {{"size", {1}}}, strain(2e5)), method);
    scene.bodies[0].initial.stretch = {1, 1.5, 1};
    scene.bodies[0].initial.angular_velocity = {0.5, 5, 0};
    scene.solver.tolerance = 1e-4;
    scene.solver.epsilon = epsilon;
    if (iterations > 0) scene.solver.iterations = iterations;
    Simulation sim = make(scene);
    r = run(sim, frames);
    return norm(sim.measure().spin) / r.start_spin;
  };
  Run bare, fepr, rigid, finished, cpd;
  play("midpoint", 150, 0, 0.01, bare);
  const double spin = play("midpoint+fepr", 300, 0, 0.01, fepr), held = play("midpoint+fepr", 300, 0, 1, rigid),
               converged = play("midpoint+fepr", 150, 40, 0.01, finished), kept = play("cpd", 300, 0, 0.01, cpd);
  MESSAGE("spin ", spin, ", without slack ", held, ", after 40 iterations ", converged, ", cpd ", kept, "; FEPR takes ",
          mean(fepr.iterations) - 10, " iterations; elastic energy ", mean(fepr.elastic, 200, 300), " against ",
          mean(cpd.elastic, 200, 300));
  CHECK(largest(bare.energy_error) >= 1);  // the midpoint rule by itself is unstable
  CHECK(largest(fepr.energy_error) <= 1.5e-4);
  CHECK(spin <= 0.86);
  CHECK(mean(fepr.elastic, 200, 300) > mean(cpd.elastic, 200, 300));
  // it takes both: a midpoint step cut short, which alters L, and the slack, which lets it
  CHECK(held >= 0.99);
  CHECK(converged >= 0.99);
  CHECK(kept >= 1 - 1e-6);
}

TEST_CASE(
    "FEPR gains spin after PD and loses it after a midpoint rule cut short, whatever the start (Inventory M02, C27)") {
  // box of 4^3 cells, 300 frames of 1/30 s: with PD at 8 frames per period, with the midpoint rule at 2, where its ten
  // iterations do not converge. docs/fepr.md has the whole grid
  const auto spin = [](const std::string& method, double mu, double stretch, double turn) {
    Scene scene = scene_of(box_body(4, mu), method);
    scene.bodies[0].initial.stretch = {1, stretch, 1};
    scene.bodies[0].initial.angular_velocity = Vec3{0.1, 1, 0} * turn;
    scene.solver.tolerance = 1e-4;
    Simulation sim = make(scene);
    const Run r = run(sim, 300);
    CHECK(largest(r.energy_error) <= 1.5e-4);  // of E_ref, which is H or more
    return norm(sim.measure().spin) / r.start_spin;
  };
  double mean_lost = 0;
  for (const double stretch : {1.3, 1.5}) {
    for (const double turn : {1.0, 2.0, 5.0}) {
      CAPTURE(stretch);
      CAPTURE(turn);
      const double gained = spin("pd+fepr", 2.8e4, stretch, turn), left = spin("midpoint+fepr", 4.5e5, stretch, turn);
      MESSAGE("stretch ", stretch, ", ", turn, " rad/s: spin ", gained, " after pd, ", left,
              " after the midpoint rule");
      CHECK(gained >= 1.2);
      CHECK(left <= 0.95);
      mean_lost += (1 - left) / 6;
    }
  }
  CHECK(mean_lost >= 0.14);  // how much is lost of a single start depends on round-off
}

TEST_CASE("FEPR with its slack starts to turn a body that has no momentum, CPD does not (Fig. 13, Inventory C37)") {
  Scene scene = scene_of(generated_body("cube", {{"size", {1}}}, strain(8e3)), "pd+fepr");
  scene.bodies[0].initial.stretch = {1, 1.3, 1};
  scene.bodies[0].initial.noise = 0.01;  // a lattice is too even for errors to have a direction
  scene.solver.tolerance = 1e-4;
  Simulation fepr = make(scene);
  scene.solver.method = "cpd";
  Simulation cpd = make(scene);
  const Run f = run(fepr, 300), c = run(cpd, 300);
  const auto turned = [](const Simulation& sim) {  // the nearest rotation of the body as a whole, in degrees
    const std::vector<Vec3> x = sim.positions();
    const std::vector<double> mass = vertex_masses(sim, 0);
    Mat3 moment{};
    for (size_t i = 0; i < x.size(); ++i)
      moment = moment + outer((x[i] - sim.measure(0).center) * mass[i], sim.mesh(0).vertices[i]);
    const Mat3 r = nearest_rotation_svd(moment);
    const Vec3 axis{r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)};
    return std::atan2(norm(axis), r(0, 0) + r(1, 1) + r(2, 2) - 1) * 180 / std::numbers::pi;
  };
  const double by_fepr = turned(fepr), by_cpd = turned(cpd);
  MESSAGE("spin from nothing: ", largest(f.spin_error), " against ", largest(c.spin_error), "; turned by ", by_fepr,
          " and ", by_cpd, " degrees");
  // ten times the tolerance and 1e5 times what CPD may have; and it is seen
  CHECK(largest(f.spin_error) >= 1e-3);
  CHECK(by_fepr >= 5);
  CHECK(largest(c.spin_error) <= 1e-8);
  CHECK(by_cpd <= 0.5);  // a body that deforms at L = 0 may turn a little, as this one does
}

TEST_CASE("after ten iterations of PD, FEPR leaves bumps in a stretched sheet, fewer after sixty (Fig. 10)") {
  const auto bumps = [](int iterations) {
    Scene scene = scene_of(
        generated_body("cloth", {{"width", {1.9}}, {"length", {1.9}}, {"columns", {60}}, {"rows", {60}}}, springs(10)),
        "pd+fepr");
    scene.bodies[0].density = 0.2;
    scene.bodies[0].initial.stretch = {1.6, 1, 1.6};
    scene.bodies[0].initial.velocity = {0, 3, 0};
    AnchorSpec corners;
    corners.name = "corners", corners.body = "cloth", corners.stiffness = 1000;
    corners.vertices.indices = {0, 59, 3540, 3599};
    scene.anchors.push_back(corners);
    scene.solver.tolerance = 1e-4;
    scene.solver.iterations = iterations;
    Simulation sim = make(scene);
    const double start = sim.measure().total;
    double sum = 0;
    for (int k = 0; k < 40; ++k) {
      REQUIRE(sim.step());
      CHECK(std::abs(sim.measure().total - start) <= 1.5e-4 * start);
      if (k >= 20) sum += roughness(sim.positions(), 60, 60) / 20;
    }
    return sum;
  };
  const double few = bumps(10), many = bumps(60);
  MESSAGE("fourth differences: ", few, " m after 10 iterations, ", many, " m after 60");
  CHECK(few >= 2 * many);
}

TEST_CASE("the energy dial and the half-life act through every projection that holds the energy") {
  for (const std::string after : {"fepr", "energy_only", "energy_budget"}) {
    CAPTURE(after);
    for (const double factor : {0.8, 1.5}) {
      CAPTURE(factor);
      Simulation sim = make(cube_scene("pd+" + after));
      for (int k = 0; k < 10; ++k) REQUIRE(sim.step());
      const double wanted = factor * sim.measure().total;
      sim.set_energy(0, wanted);
      for (int k = 0; k < 20; ++k) REQUIRE(sim.step());
      CHECK(std::abs(sim.measure().total - wanted) <= (after == "energy_budget" ? 0.02 : 1e-5) * wanted);
      CHECK(std::abs(sim.measure().target_total - wanted) <= 0.02 * wanted);
    }
    Scene scene = cube_scene("pd+" + after);
    scene.bodies[0].dials.damping = 0.3;
    Simulation sim = make(scene);
    double last = sim.measure().total, rises = 0;
    for (int k = 0; k < 60; ++k) {
      REQUIRE(sim.step());
      rises = std::max(rises, sim.measure().total / last - 1), last = sim.measure().total;
    }
    CHECK(last < 0.9 * make(scene).measure().total);
    CHECK(rises <= (after == "energy_budget" ? 0.02 : 1e-5));
  }
}

TEST_CASE("every projection gives the same bits on 1 and 3 threads") {
  Scene scene = scene_of(box_body(14, 1e4));  // 3375 rows: fourteen chunks
  scene.bodies[0].initial.stretch = {1, 1.3, 1};
  scene.bodies[0].initial.angular_velocity = {0.3, 2, 0.2};
  scene.solver.iterations = 3;
  for (const std::string& after : post_step_names()) {
    CAPTURE(after);
    scene.solver.method = "pd+" + after;
    Simulation one = make(scene, 1), three = make(scene, 3);
    for (int k = 0; k < 2; ++k) REQUIRE((one.step() && three.step()));
    CHECK(one.state_hash() == three.state_hash());
  }
}
