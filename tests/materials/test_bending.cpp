// Sheets and ropes that bend: against plates, beams and each other.
#include <doctest/doctest.h>

#include <complex>
#include <numbers>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

PotentialSpec potential(const std::string& type, double stiffness) {
  return {type, {{"stiffness", Track<double>(stiffness)}}};
}
PotentialSpec membrane(double mu) { return {"tri_strain", {{"mu", Track<double>(mu)}}}; }

/// A strip along x, its first two columns held.
Scene cantilever(int columns, int rows, double width, std::vector<PotentialSpec> potentials) {
  BodySpec body = generated_body(
      "cloth", {{"width", {1}}, {"length", {width}}, {"columns", {double(columns)}}, {"rows", {double(rows)}}},
      potentials[0]);
  body.potentials = std::move(potentials);
  body.density = 0.2;
  Scene scene = scene_of(body, "pd");
  scene.gravity = {0, -0.01, 0};  // small, or the clamp is not stiff beside the strip
  AnchorSpec clamp;
  clamp.body = "cloth";
  clamp.vertices.box = {{Vec3{-1, -1, -1}, Vec3{-0.5 + 1.01 / (columns - 1), 1, 1}}};
  clamp.stiffness = Track<double>(1e6);
  scene.anchors.push_back(clamp);
  return scene;
}

/// How far the middle of the free end has come down.
double sag(const Simulation& sim, int columns, int rows) {
  return -sim.positions()[(rows / 2) * columns + columns - 1].y;
}

/// Implicit Euler over steps much longer than any period: at rest in a few.
double static_sag(Scene scene, int columns, int rows) {
  scene.step = 100;
  scene.solver.iterations = 200;
  Simulation sim = make(scene);
  for (int i = 0; i < 6; ++i) REQUIRE(sim.step());
  return sag(sim, columns, rows);
}

/// rho g L^4 / 8 w of a beam whose clamp reaches to half of the cell between the first two columns.
double beam_sag(double w, int columns) {
  const double free_length = 1 - 0.5 / (columns - 1);
  return 0.2 * 0.01 * std::pow(free_length, 4) / (8 * w);
}

}  // namespace

TEST_CASE("a clamped strip sags by rho g L^4 / 8 w, in both models (Inventory P13)") {
  // Hinges of a grid with one diagonal per cell measure (Hxx + Hxz)^2 + (Hzz + Hxz)^2 + 4 Hxz^2: a strip with free
  // edges twists a little and is 4/5 as stiff.
  struct Model {
    std::string name;
    double softness;
  };
  const int columns = 41, rows = 9;
  for (const Model& model : {Model{"bending", 1}, Model{"hinge_bending", 1.25}}) {
    CAPTURE(model.name);
    std::vector<double> sags;
    for (const double w : {0.25, 0.5, 1.0})
      sags.push_back(static_sag(cantilever(columns, rows, 0.2, {potential(model.name, w)}), columns, rows));
    // 1/w: sags of 1e-3 are linear up to their square, clamps of 1e6 N/m give by as much again
    CHECK(sags[1] == doctest::Approx(sags[0] / 2).epsilon(1e-3));
    CHECK(sags[2] == doctest::Approx(sags[0] / 4).epsilon(1e-3));
    // edges and clamp: a cell in 8 across the width, a cell in 40 along it
    CHECK(sags[0] == doctest::Approx(model.softness * beam_sag(0.25, columns)).epsilon(0.04));
  }
}

TEST_CASE("the published energy alone lets a strip with free edges curl and sag") {
  const int columns = 41, rows = 9;
  PotentialSpec published = potential("bending", 1);
  published.parameters["poisson"] = Track<double>(1);
  // the reason for the plate energy of `bending`: only in-plane stiffness, absent here, resists saddles
  CHECK(static_sag(cantilever(columns, rows, 0.2, {published}), columns, rows) > 2 * beam_sag(1, columns));
}

TEST_CASE("the sag of a sheet laid over a bar does not depend on its mesh (Inventory P28)") {
  // Held at the middle column alone: both halves hang alike, which is a clamp without an error of half a cell.
  for (const char* model : {"bending", "hinge_bending"}) {
    CAPTURE(model);
    std::vector<double> sags;
    for (const int cells : {10, 20, 40}) {
      const int columns = cells + 1, rows = cells / 5 + 1;
      BodySpec body = generated_body(
          "cloth", {{"width", {2}}, {"length", {0.4}}, {"columns", {double(columns)}}, {"rows", {double(rows)}}},
          membrane(50));
      body.potentials.push_back(potential(model, 0.5));
      body.density = 0.2;
      Scene scene = scene_of(body, "pd");
      scene.gravity = {0, -9.81, 0};
      AnchorSpec bar;
      bar.body = "cloth";
      bar.vertices.box = {{Vec3{-0.01, -1, -1}, Vec3{0.01, 1, 1}}};
      scene.anchors.push_back(bar);
      scene.step = 0.25;  // a lot of numerical damping
      scene.solver.iterations = 100;
      Simulation sim = make(scene);
      for (int i = 0; i < 30; ++i) REQUIRE(sim.step());
      CHECK(norm(sim.velocities()[0]) < 1e-3);
      sags.push_back(sag(sim, columns, rows));
    }
    CHECK(sags[2] > 0.1);  // of a length of 1
    CHECK(sags[0] == doctest::Approx(sags[2]).epsilon(0.05));
    CHECK(sags[1] == doctest::Approx(sags[2]).epsilon(0.02));
  }
}

namespace {

/// Half a circle of radius 0.5 around an axis along z, 0.8 m long.
Mesh half_pipe(int columns, int rows) {
  Mesh mesh = generate_mesh("cloth", {{"columns", {double(columns)}}, {"rows", {double(rows)}}}).value();
  for (Vec3& v : mesh.vertices) {
    const double angle = std::numbers::pi * v.x;
    v = {0.5 * std::sin(angle), 0.5 * std::cos(angle), 0.8 * v.z};
  }
  return mesh;
}

}  // namespace

TEST_CASE("half a pipe stays at rest for 1000 frames") {
  for (const char* model : {"bending", "hinge_bending"})
    for (const char* method : {"pd", "cpd"}) {
      CAPTURE(model);
      CAPTURE(method);
      BodySpec body = mesh_body(half_pipe(13, 7), {membrane(100), potential(model, 0.5)});
      body.density = 0.5;
      Simulation sim = make(scene_of(body, method));
      const auto rest = sim.positions();
      for (int i = 0; i < 1000; ++i) REQUIRE(sim.step());
      double worst = 0;
      const auto now = sim.positions();
      for (size_t v = 0; v < rest.size(); ++v) worst = std::max(worst, norm(now[v] - rest[v]));
      CHECK(worst < 1e-10);  // round-off of forces of up to w/h^2 over masses of 1e-3 kg, not growing
    }
}

TEST_CASE("a bent, thrown and spinning sheet or rope keeps its momenta and energy") {
  Mesh rope = generate_mesh("chain", {{"length", {1}}, {"vertices", {21}}}).value();
  for (Vec3& v : rope.vertices) v.y = 0.4 * v.x * v.x;
  for (const char* model : {"bending", "hinge_bending", "rod_bending"}) {
    CAPTURE(model);
    const bool line = std::string(model) == "rod_bending";
    BodySpec body = line
                        ? mesh_body(rope, {{"edge_strain", {{"stiffness", Track<double>(200)}}}, potential(model, 0.1)})
                        : mesh_body(half_pipe(9, 5), {membrane(50), potential(model, 0.2)});
    body.density = 0.5;
    body.initial.stretch = {1.2, 0.8, 1};
    body.initial.noise = 0.01;
    body.initial.velocity = {1, 2, 3};
    body.initial.angular_velocity = {1, 2, 0.5};
    Simulation held = make(scene_of(body, "cpd"));
    const Run run_held = run(held, 200);
    CHECK(largest(run_held.energy_error) < 1e-5);  // tolerance 1e-6 of the energy scale, and what later frames repay
    CHECK(largest(run_held.momentum_error) < 1e-12);
    CHECK(largest(run_held.spin_error) < 1e-10);
    Simulation plain = make(scene_of(body, "pd"));
    CHECK(largest(run(plain, 100).momentum_error) < 1e-12);  // translations cost nothing (Inventory P04)
  }
}

namespace {

/// Mean wave number of the radial displacement of a tube, by its power over waves around and along.
double wave_number(const Simulation& sim, double radius, double height) {
  const Mesh& mesh = sim.mesh(0);
  const auto x = sim.positions();
  double power = 0, sum = 0;
  for (int k = 0; k <= 20; ++k)
    for (int m = 0; m <= 20; ++m) {
      if (k + m == 0) continue;
      std::complex<double> c = 0;
      for (size_t v = 0; v < x.size(); ++v) {
        const Vec3& r = mesh.vertices[v];
        const double bulge = std::hypot(x[v].x, x[v].z) - radius, s = (r.y / height + 0.5);
        c += bulge * std::polar(1.0, k * std::atan2(r.z, r.x)) * std::cos(std::numbers::pi * m * s);
      }
      const double p = std::norm(c), wave = std::hypot(k / radius, std::numbers::pi * m / height);
      power += p, sum += p * wave;
    }
  return sum / power;
}

}  // namespace

TEST_CASE("a tube pressed together buckles in longer waves the stiffer it is in bending (Inventory P13, PD Fig. 9)") {
  for (const char* model : {"bending", "hinge_bending"}) {
    CAPTURE(model);
    std::vector<double> waves;
    for (const double w : {0.05, 0.2, 0.8}) {
      BodySpec body = generated_body("tube", {{"radius", {0.5}}, {"height", {1.2}}, {"columns", {48}}, {"rows", {24}}},
                                     membrane(1000));
      body.potentials.push_back(potential(model, w));
      body.density = 0.2;
      body.initial.noise = 1e-3;
      Scene scene = scene_of(body, "pd");
      scene.solver.iterations = 15;
      for (const double side : {-1.0, 1.0}) {
        AnchorSpec end;
        end.body = "tube";
        end.vertices.box = {{Vec3{-1, std::min(side * 0.59, side), -1}, Vec3{1, std::max(side * 0.59, side), 1}}};
        end.stiffness = Track<double>(1000);
        if (side > 0) end.path.keys = {{0, Vec3{0, 0, 0}}, {20, Vec3{0, -1.2, 0}}};
        scene.anchors.push_back(end);
      }
      Simulation sim = make(scene);
      // Where it buckles: later on, dents grow together. The critical strain is 2 sqrt(w / 2 mu) / R, up to 8 %.
      double dent = 0;
      while (dent < 0.03 && sim.frame() < 120) {
        REQUIRE(sim.step());
        for (const Vec3& v : sim.positions()) dent = std::max(dent, std::abs(std::hypot(v.x, v.z) - 0.5));
      }
      REQUIRE(finite(sim));
      REQUIRE(dent < 0.25);
      REQUIRE(sim.frame() < 120);
      waves.push_back(wave_number(sim, 0.5, 1.2));
    }
    // classical theory: proportional to w^(-1/4), 0.71 from one to the next; ends, noise and grid blur that
    for (const int k : {0, 1}) {
      CHECK(waves[k + 1] / waves[k] < 0.85);
      CHECK(waves[k + 1] / waves[k] > 0.55);
    }
  }
}
