// Lumped and consistent mass (Inventory P30).
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <numbers>

#include "integrators/consistent_mass.h"
#include "integrators/rigid_impulse.h"
#include "integrators/scenes_for_tests.h"
#include "model/model.h"
#include "verve/scene_file.h"

using namespace verve;
using namespace verve::test;

namespace {

const std::string conserving[] = {"cpd", "cpd_bdf2", "cpd_euler"};

Scene consistent(Scene scene) {
  for (BodySpec& body : scene.bodies) body.mass_matrix = MassMatrix::consistent;
  return scene;
}

/// A solid, a sheet and a line of 3 kg.
std::vector<BodySpec> shapes() {
  std::vector<BodySpec> out;
  out.push_back(generated_body("box", {{"size", {1, 2, 0.5}}, {"cells", {2, 3, 2}}}, strain(1e4)));
  out.push_back(generated_body("cloth", {{"columns", {5}}, {"rows", {4}}}, springs(1e3)));
  out.push_back(generated_body("chain", {{"vertices", {7}}}, springs(1e3)));
  for (BodySpec& body : out) body.mass = 3, body.mass_matrix = MassMatrix::consistent;
  return out;
}

Body body_of(const BodySpec& spec) {
  Scene scene = scene_of(spec);
  return std::move(compile(scene).value().model.bodies[0]);
}

/// M_c in rows of the body.
Eigen::MatrixXd matrix_of(const Body& body) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(body.count, body.count);
  for (int r = 0; r < body.count; ++r) {
    std::vector<Vec4> unit(body.count);
    unit[r].x = 1;
    m(r, r) += body.mass[r];
    for (int i = 0; i < body.count; ++i) m(i, r) += body.coupling.row(unit.data(), i).x;
  }
  return m;
}

/// Mean of so many periods of what is measured, between zeros by linear interpolation.
template <class Measure>
double period(Simulation& sim, double step, int periods, Measure&& measured) {
  std::vector<double> zeros;
  double before = measured(sim);
  for (int frame = 0; int(zeros.size()) <= 2 * periods; ++frame) {
    REQUIRE(frame < 20000);
    REQUIRE(sim.step());
    const double now = measured(sim);
    if ((before < 0) != (now < 0)) zeros.push_back(step * (frame + before / (before - now)));
    before = now;
  }
  return (zeros.back() - zeros.front()) / periods;
}

/// Frequency of the lowest vibration of a free chain along itself, by simulation.
double chain_frequency(int edges, MassMatrix mass_matrix, const std::string& method) {
  const double length = 1, stiffness = 100.0 * edges, omega = std::numbers::pi * std::sqrt(100.0);
  BodySpec body = generated_body("chain", {{"length", {length}}, {"vertices", {edges + 1.0}}}, springs(stiffness));
  body.mass = 1, body.mass_matrix = mass_matrix;
  Scene scene = scene_of(body, method);
  scene.step = 2 * std::numbers::pi / omega / 400;
  scene.solver.substeps = 1, scene.solver.tolerance = 1e-9, scene.solver.iterations = 40;
  Simulation sim = make(scene);
  std::vector<Vec3> x = sim.positions();
  const double start = x[0].x;
  for (Vec3& v : x) v.x += 1e-3 * std::cos(std::numbers::pi * (v.x - start) / length);
  sim.set_state(x, std::vector<Vec3>(x.size()));
  return 2 * std::numbers::pi /
         period(sim, scene.step, 2, [&](const Simulation& s) { return s.positions()[0].x - start; });
}

/// Frequency of a bar held at one end that swings up and down a little.
double bar_frequency(int cells, MassMatrix mass_matrix) {
  const double n = cells;
  BodySpec body = generated_body("box", {{"size", {1, 0.25, 0.25}}, {"cells", {n, n / 4, n / 4}}}, strain(1e6));
  body.mass_matrix = mass_matrix;
  Scene scene = scene_of(body);
  scene.step = 1.0 / 100;  // 46 or 54 in a period: the time integration shifts both alike
  scene.solver.substeps = 1;
  AnchorSpec wall;
  wall.body = "box", wall.hard = true;
  wall.vertices.box = {{Vec3{-0.51, -1, -1}, Vec3{-0.49, 1, 1}}};
  scene.anchors.push_back(wall);
  Simulation sim = make(scene);
  const std::vector<Vec3> x = sim.positions();
  std::vector<Vec3> v;
  // Close to the first mode of a beam, and as the weight of what is measured blind to the others.
  for (const Vec3& r : x) {
    const double s = r.x + 0.5;
    v.push_back({0, 1e-2 * s * s * (6 - 4 * s + s * s), 0});
  }
  sim.set_state(x, v);
  const std::vector<double> mass = vertex_masses(sim, 0);
  return 2 * std::numbers::pi / period(sim, scene.step, 20, [&](const Simulation& s) {
           const std::vector<Vec3> now = s.velocities();
           double sum = 0;
           for (size_t i = 0; i < now.size(); ++i) sum += mass[i] * v[i].y * now[i].y;
           return sum;
         });
}

}  // namespace

TEST_CASE("the mass matrix is chosen in the scene file, and a misspelt one is reported with the nearest choice") {
  Scene scene = cube_scene();
  CHECK(scene.bodies[0].mass_matrix == MassMatrix::lumped);
  const double lumped = make(scene).measure().kinetic;
  const std::string text = write_scene(consistent(scene));
  const Scene read = parse_scene(text, "scene.json").value();
  CHECK(read.bodies[0].mass_matrix == MassMatrix::consistent);
  CHECK(make(read).measure().kinetic < 0.99 * lumped);
  const Expected<Scene> wrong = parse_scene(text, "scene.json", {{"bodies[0].mass_matrix", "consistant"}});
  REQUIRE(!wrong);
  CHECK(wrong.diagnostics().text().find(
            "mass_matrix=consistant: found \"consistant\", expected one of lumped, consistent "
            "(nearest: consistent)") != std::string::npos);
  scene.bodies[0].mass_matrix = MassMatrix(2);
  CHECK(!Simulation::create(scene));
}

TEST_CASE("consistent mass has the rows of an element's integral, and sums up to the lumped mass") {
  // rho V/20 (1 + delta_ij) and so on, Hughes 2000
  for (const std::string generator : {"tetrahedron", "spring"}) {
    BodySpec spec = generated_body(generator, {}, generator == "spring" ? springs(1) : strain(1));
    spec.mass = 3, spec.mass_matrix = MassMatrix::consistent;
    const Eigen::MatrixXd m = matrix_of(body_of(spec));
    const double n = double(m.rows()), share = 3 / (n * (n + 1));
    for (int i = 0; i < m.rows(); ++i)
      for (int j = 0; j < m.cols(); ++j) CHECK(m(i, j) == doctest::Approx(i == j ? 2 * share : share).epsilon(1e-14));
  }
  for (const BodySpec& spec : shapes()) {
    CAPTURE(spec.name);
    const Body body = body_of(spec);
    BodySpec plain = spec;
    plain.mass_matrix = MassMatrix::lumped;
    CHECK(body_of(plain).coupling.empty());
    const Eigen::MatrixXd m = matrix_of(body);
    CHECK((m - m.transpose()).norm() <= 1e-15 * m.norm());
    CHECK(m.sum() == doctest::Approx(3).epsilon(1e-14));
    const Eigen::VectorXd lumped = Eigen::Map<const Eigen::VectorXd>(body.mass.data(), body.count);
    CHECK((m.rowwise().sum() - lumped).norm() <= 1e-14 * lumped.norm());
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> pencil(m, Eigen::MatrixXd(lumped.asDiagonal()));
    ConsistentMass mass;
    mass.append(body);
    CHECK(pencil.eigenvalues().minCoeff() >= 1 / mass.spread() - 1e-12);
    CHECK(pencil.eigenvalues().maxCoeff() <= 1 + 1e-12);
    // exact for motion that is linear in space: the second moment of a uniform line of 1 m along x
    double second = 0;
    for (int i = 0; i < body.count; ++i)
      for (int j = 0; j < body.count; ++j) second += m(i, j) * body.rest[i].x * body.rest[j].x;
    CHECK(second == doctest::Approx(3.0 / 12).epsilon(1e-13));

    std::vector<Vec4> f(body.count), x(body.count);
    Eigen::VectorXd right(body.count);
    for (int i = 0; i < body.count; ++i) right[i] = f[i].y = std::sin(37.0 * i), f[i].x = f[i].z = 1;
    mass.divide(body.mass, f, x, 1e-12);
    const Eigen::VectorXd exact = m.ldlt().solve(right);
    double error = 0;
    for (int i = 0; i < body.count; ++i) error += sq(x[i].y - exact[i]);
    CHECK(std::sqrt(error) <= 1e-11 * exact.norm());  // 1e-12 in the norm of M_c
  }
}

TEST_CASE("kinetic energy is that of the mass matrix, about any drift, of bodies, islands and impulses alike") {
  for (const BodySpec& spec : shapes()) {
    CAPTURE(spec.name);
    const Body body = body_of(spec);
    const Eigen::MatrixXd m = matrix_of(body);
    const Vec3 drift{3, -2, 5};
    std::vector<Vec4> v(body.count);
    Eigen::MatrixXd w(body.count, 3), relative(body.count, 3);
    for (int i = 0; i < body.count; ++i) {
      v[i] = Vec4(std::sin(37.0 * i), std::sin(11.0 * i + 1), std::sin(5.0 * i + 2));
      w.row(i) << v[i].x, v[i].y, v[i].z;
      relative.row(i) << v[i].x - drift.x, v[i].y - drift.y, v[i].z - drift.z;
    }
    const double exact = 0.5 * (w.transpose() * m * w).trace();
    CHECK(kinetic_energy(body.mass.data(), body.count, body.coupling, v.data()) ==
          doctest::Approx(exact).epsilon(1e-13));
    CHECK(kinetic_energy(body.mass.data(), body.count, body.coupling, v.data(), drift) ==
          doctest::Approx(0.5 * (relative.transpose() * m * relative).trace()).epsilon(1e-13));
    // what lumped masses would have is far from it
    CHECK(kinetic_energy(body.mass.data(), body.count, {}, v.data()) > 1.2 * exact);
    std::vector<Vec4> x(body.count), p(body.count);
    const RigidImpulse impulse{body.mass.data(), x.data(),        v.data(),      p.data(),
                               body.count,       body.total_mass, &body.coupling};
    CHECK(impulse.kinetic() == doctest::Approx(exact).epsilon(1e-13));
  }
}

TEST_CASE("a turning solid, sheet or line has the kinetic energy and spin of the continuous body") {
  const std::vector<BodySpec> bodies = shapes();
  const Vec3 size[] = {{1, 2, 0.5}, {1, 0, 1}, {1, 0, 0}};
  const Vec3 w{0.4, 0.9, -0.3};
  for (int k = 0; k < 3; ++k) {
    const Vec3 s = size[k];
    const Vec3 inertia = Vec3{s.y * s.y + s.z * s.z, s.x * s.x + s.z * s.z, s.x * s.x + s.y * s.y} * (3.0 / 12);
    Scene scene = scene_of(bodies[k]);
    scene.bodies[0].initial.angular_velocity = w;
    scene.bodies[0].initial.velocity = {10, 0, 5};
    scene.bodies[0].place.translate = {100, 200, 300};
    CAPTURE(scene.bodies[0].name);
    Simulation sim = make(scene);
    const Vec3 spin{inertia.x * w.x, inertia.y * w.y, inertia.z * w.z};
    const Measures start = sim.measure();
    CHECK(start.kinetic - 0.5 * 3 * 125 == doctest::Approx(0.5 * dot(w, spin)).epsilon(1e-11));
    CHECK(norm(start.spin - spin) <= 1e-11 * norm(spin) * 2);  // 374 m from the origin at 11 m/s
    // a push gives it back
    Scene still = scene_of(bodies[k]);
    Simulation pushed = make(still);
    pushed.set_spin(0, spin);
    CHECK(norm(pushed.measure().spin - spin) <= 1e-12 * norm(spin));
    CHECK(pushed.measure().kinetic == doctest::Approx(0.5 * dot(w, spin)).epsilon(1e-11));
    if (k > 0) continue;
    const Run r = run(pushed, 60);
    CHECK(largest(r.energy_error) <= 2e-6);
    CHECK(largest(r.spin_error) <= 1e-12);
  }
}

TEST_CASE("a stretched box with consistent mass that turns keeps momenta and energy") {
  for (const std::string& method : conserving) {
    CAPTURE(method);
    Simulation sim = make(consistent(cube_scene(method)));
    const Run r = run(sim, 100);
    CHECK(largest(r.energy_error) <= 2e-6);  // residual of one frame and the debt of the one before
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(largest(r.spin_error) <= 1e-12);
    CHECK(mean(r.iterations) <= 8);  // 5.0, 4.3 and 6.5 with lumped mass, 6.2, 5.3 and 6.9 here
  }
  SUBCASE("in float") {
    Scene scene = consistent(cube_scene());
    scene.solver.precision = Precision::float32, scene.solver.tolerance = 1e-4;
    Simulation sim = make(scene);
    CHECK(largest(run(sim, 100).energy_error) <= 2e-4);
  }
  SUBCASE("of a material that needs a line search") {
    Scene scene = consistent(cube_scene());
    scene.bodies[0].potentials = {{"neo_hookean", {{"young", Track<double>(2.6e4)}, {"poisson", Track<double>(0.4)}}}};
    Simulation sim = make(scene);
    const Run r = run(sim, 60);
    CHECK(largest(r.energy_error) <= 2e-6);
    CHECK(largest(r.spin_error) <= 1e-12);
  }
  SUBCASE("linked to a body of lumped mass") {
    Scene scene = consistent(cube_scene());
    scene.bodies.push_back(box_body(2, 1e4, "other"));
    scene.bodies[1].place.translate = {1.2, 0, 0};
    AnchorSpec link;
    link.body = "box", link.to_body = "other";
    link.vertices.box = {{Vec3{0.49, -1, -1}, Vec3{0.51, 1, 1}}};
    scene.anchors.push_back(link);
    Simulation sim = make(scene);
    const Run r = run(sim, 60);
    CHECK(largest(r.energy_error) <= 2e-6);
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(largest(r.spin_error) <= 1e-12);
    // the dial of one leaves the energy of the other as it is, in the sum
    const double wanted = 1.02 * sim.measure(1).total, sum = wanted + sim.measure(0).total;
    sim.set_energy(1, wanted);
    REQUIRE(sim.step());
    CHECK(sim.measure().total == doctest::Approx(sum).epsilon(4e-6));
  }
}

TEST_CASE("without conservation the error of the spin is that of the consistent mass") {
  Scene scene = scene_of(box_body(2, 1e4), "pd");
  scene.step = 1.0 / 3000;
  scene.bodies[0].initial.angular_velocity = {0.3, 2, 0.2};
  Simulation sim = make(consistent(scene));
  // backward Euler loses L as (w h)^2 = 5e-7 in a step; lumped mass would have 6 percent more of it on these two cells
  for (int i = 0; i < 5; ++i) CHECK(sim.step().error_l <= 1e-5);
}

TEST_CASE("a body with consistent mass falls without deformation") {
  for (const MethodInfo& method : methods_for_solids()) {
    CAPTURE(method.name);
    if (!method.dynamic) continue;
    Scene scene = consistent(scene_of(box_body(3, 1e4), method.name));
    scene.gravity = {0, -9.81, 0};
    if (method.name == "cpd_midpoint") {  // docs/integrators.md
      CHECK(check_scene(scene).text().find("mass_matrix: found \"consistent\"") != std::string::npos);
      continue;
    }
    Simulation sim = make(scene);
    for (int i = 0; i < 30; ++i) REQUIRE(sim.step());
    const Measures m = sim.measure();
    CHECK(m.momentum.y == doctest::Approx(-9810).epsilon(1e-12));
    CHECK(m.elastic <= 1e-20 * m.kinetic);
  }
}

TEST_CASE("a vertex that no element uses stays where it is with consistent mass, too") {
  Mesh mesh = make(scene_of(box_body(1, 1e4))).mesh(0);
  mesh.vertices.insert(mesh.vertices.begin(), {1e3, 0, 0});
  for (auto& t : mesh.tetrahedra)
    for (int& v : t) ++v;
  mesh.triangles.clear(), mesh.edges.clear();
  Scene scene = consistent(scene_of(mesh_body(mesh, {strain(1e4)})));
  scene.bodies[0].initial.stretch = {1, 1.2, 1};
  scene.bodies[0].initial.angular_velocity = {0, 1, 2};
  Simulation sim = make(scene);
  const Vec3 before = sim.positions()[0];
  const Run r = run(sim, 30);
  CHECK(sim.positions()[0] == before);
  CHECK(largest(r.energy_error) <= 2e-6);
  CHECK(largest(r.spin_error) <= 1e-12);
}

TEST_CASE("under a force at one side, held at one side, in wind and under dials consistent mass books all energy") {
  SUBCASE("force") {
    for (const std::string& method : conserving) {
      CAPTURE(method);
      Scene scene = consistent(cube_scene(method));
      ForceSpec force;
      force.body = "box", force.force = {300, 0, 100};
      force.vertices.box = {{Vec3{-1, 0.49, -1}, Vec3{1, 1, 1}}};
      scene.forces.push_back(force);
      Simulation sim = make(scene);
      const Measures start = sim.measure();
      double worst = 0;
      for (int i = 0; i < 60; ++i) {
        REQUIRE(sim.step());
        const Measures m = sim.measure();
        worst = std::max(worst, std::abs(m.total - start.total) / (start.kinetic + start.elastic));
        CHECK(norm(m.momentum - force.force * sim.time()) <= 1e-12 * norm(force.force * 2.0));
      }
      CHECK(worst <= 4e-6);  // twice the tolerance of a frame, and E_ref grows with the speed
    }
  }
  SUBCASE("pendulum") {
    for (const std::string& method : conserving) {
      CAPTURE(method);
      Scene scene = scene_of(box_body(3, 1e5), method);
      scene.gravity = {0, -9.81, 0};
      AnchorSpec pin;
      pin.body = "box";
      pin.vertices.box = {{Vec3{-0.51, 0.49, -1}, Vec3{-0.49, 0.51, 1}}};
      scene.anchors.push_back(pin);
      Simulation sim = make(consistent(scene));
      const double start = sim.measure().total;
      double worst = 0, fastest = 0;
      for (int i = 0; i < 60; ++i) {
        REQUIRE(sim.step());
        worst = std::max(worst, std::abs(sim.measure().total - start)),
        fastest = std::max(fastest, sim.measure().kinetic);
      }
      CHECK(worst <= 5e-4 * fastest);
      CHECK(fastest > 1000);
    }
  }
  SUBCASE("wind") {
    for (const double strength : {1, 100}) {
      BodySpec body = generated_body("cloth", {{"columns", {9}}, {"rows", {9}}}, springs(200));
      body.mass = 0.2;
      Scene scene = consistent(scene_of(body));
      scene.winds.push_back({"breeze", "cloth", Vec3{1, 3, 0.5} * strength, 1.2, true});
      Simulation sim = make(scene);
      double worst = 0, scale = 0;
      for (int i = 0; i < 150; ++i) {
        REQUIRE(sim.step());
        const Measures m = sim.measure();
        scale = std::max(scale, m.kinetic + m.elastic);
        worst = std::max(worst, std::abs(m.total + m.booked_loss));
      }
      CAPTURE(strength);
      CHECK(sim.measure().booked_loss < 0);
      CHECK(worst <= 1e-4 * scale);
      CHECK(sim.measure().kinetic < 0.5 * 0.2 * sq(1.5 * 3.3 * strength));
    }
  }
  SUBCASE("still air on a crumpled sheet without stiffness") {
    BodySpec body = generated_body("cloth", {{"columns", {9}}, {"rows", {9}}}, springs(1e-3));
    body.mass = 0.2;
    body.initial.noise = 0.05;
    Scene scene = consistent(scene_of(body, "pd_alpha"));
    scene.winds.push_back({"storm", "cloth", Vec3{0, 0, 0}, 1e4, true});
    Simulation sim = make(scene);
    std::vector<Vec3> v = sim.velocities();
    for (size_t i = 0; i < v.size(); ++i) v[i].y = i % 2 ? 1 : -1;
    sim.set_state(sim.positions(), v);
    const double start = sim.measure().kinetic;
    for (int i = 0; i < 20; ++i) {
      REQUIRE(sim.step());
      CHECK(sim.measure().kinetic <= start);
    }
    CHECK(sim.measure().kinetic <= 0.01 * start);
  }
  SUBCASE("energy turned down at once") {
    Scene scene = consistent(cube_scene("cpd", 1e3));
    scene.bodies[0].mesh.parameters["cells"] = {2, 2, 2};
    Simulation sim = make(scene);
    const Measures before = sim.measure();
    const double wanted = before.kinetic + 0.3 * before.elastic;
    sim.set_energy(0, wanted);
    const StepReport report = sim.step();
    REQUIRE(report);
    CHECK(std::abs(report.multiplier) <= 0.1);  // lowered to where it belongs: the step has next to nothing to add
    CHECK(sim.measure().total == doctest::Approx(wanted).epsilon(4e-6));
    CHECK(norm(sim.measure().spin - before.spin) <= 1e-10 * norm(before.spin));
  }
  SUBCASE("energy turned down") {
    Simulation sim = make(consistent(cube_scene()));
    for (int i = 0; i < 10; ++i) REQUIRE(sim.step());
    const Measures before = sim.measure();
    const double wanted = 0.6 * before.total;
    sim.set_energy(0, wanted);
    for (int i = 0; i < 3; ++i) REQUIRE(sim.step());
    CHECK(sim.measure().total == doctest::Approx(wanted).epsilon(4e-6));
    CHECK(norm(sim.measure().spin - before.spin) <= 1e-10 * norm(before.spin));
  }
}

TEST_CASE("a chain vibrates as fast as theory says for either mass, from below and from above the continuous one") {
  for (const std::string method : {"cpd", "pd_alpha"}) {
    for (const int edges : {4, 8, 16}) {
      CAPTURE(method);
      CAPTURE(edges);
      const double t = std::numbers::pi / edges, continuous = std::numbers::pi * 10;
      // eigenvalues of (2, -1) against m/n and against m/6n (4, 1)
      const double lumped = 10 * edges * std::sqrt(2 - 2 * std::cos(t));
      const double consistent = 10 * edges * std::sqrt(6 * (1 - std::cos(t)) / (2 + std::cos(t)));
      CHECK((lumped < continuous && continuous < consistent));
      // 400 steps in a period: the time integration is off by (2 pi/400)^2/12 = 2e-5
      CHECK(chain_frequency(edges, MassMatrix::lumped, method) == doctest::Approx(lumped).epsilon(1e-4));
      CHECK(chain_frequency(edges, MassMatrix::consistent, method) == doctest::Approx(consistent).epsilon(1e-4));
    }
  }
}

TEST_CASE("a bar swings as fast with either mass to 2 percent, and four times as close on cells of half the size") {
  double gap[2];
  for (int k = 0; k < 2; ++k)
    gap[k] = bar_frequency(8 << k, MassMatrix::consistent) / bar_frequency(8 << k, MassMatrix::lumped) - 1;
  CAPTURE(gap[0]);
  CAPTURE(gap[1]);
  CHECK(gap[1] > 0);  // M_c <= M: no mode is slower
  CHECK(gap[0] <= 0.02);
  CHECK(gap[0] / gap[1] > 3);
  CHECK(gap[0] / gap[1] < 5.5);
}

TEST_CASE("consistent mass gives the same bits on 1 and 3 threads, and the same motion by multigrid") {
  Scene scene = consistent(cube_scene());
  scene.bodies[0].mesh.parameters["cells"] = {9, 9, 9};
  scene.solver.tolerance = 1e-5;
  ForceSpec force;
  force.body = "box", force.force = {300, 0, 100}, force.vertices.box = {{Vec3{-1, 0.49, -1}, Vec3{1, 1, 1}}};
  scene.forces.push_back(force);
  Simulation one = make(scene), three = make(scene, 3);
  scene.solver.global = GlobalSolve::multigrid;
  Simulation multigrid = make(scene);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(one.step());
    REQUIRE(three.step());
    REQUIRE(multigrid.step());
  }
  CHECK(one.state_hash() == three.state_hash());
  CHECK(multigrid.global_solver(0).find("multigrid") != std::string::npos);
  double distance = 0;
  const std::vector<Vec3> x = one.positions(), y = multigrid.positions();
  for (size_t i = 0; i < x.size(); ++i) distance = std::max(distance, norm(x[i] - y[i]));
  CHECK(distance <= 1e-6);
}
