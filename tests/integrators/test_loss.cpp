// H corrected along what the base step has lost (docs/cpd.md, "Along the loss"): its algebra, its books, its motion
// beside fine steps, and that no step gains however it is cut short.
#include <doctest/doctest.h>

#include "dense.h"
#include "integrators/loss_direction.h"

using namespace verve;
using namespace verve::test;

namespace {

/// A sheet stretched by 1.6 and thrown upwards, held at its corners: most of its energy is in modes that frames of 1/30
/// s do not resolve.
Scene small_trampoline(const std::string& method, double stiffness = 10) {
  Scene scene =
      scene_of(generated_body("cloth", {{"width", {1.9}}, {"length", {1.9}}, {"columns", {16}}, {"rows", {16}}},
                              springs(stiffness)),
               method);
  scene.bodies[0].density = 0.2;
  scene.bodies[0].initial.stretch = {1.6, 1, 1.6}, scene.bodies[0].initial.velocity = {0, 3, 0};
  AnchorSpec corners;
  corners.name = "corners", corners.body = "cloth", corners.stiffness = Track<double>(1000);
  corners.vertices.indices = {0, 15, 240, 255};
  scene.anchors.push_back(corners);
  scene.solver.tolerance = 1e-4;
  return scene;
}

Scene falling_cloth(const std::string& method) {
  Scene scene = small_trampoline(method, 40);
  scene.bodies[0].initial = {};
  scene.gravity = {0, -9.81, 0};
  return scene;
}

/// Root mean square over all vertices and frames of the way between two runs.
double distance(const std::vector<std::vector<Vec3>>& a, const std::vector<std::vector<Vec3>>& b) {
  double sum = 0;
  for (size_t f = 0; f < a.size(); ++f)
    for (size_t i = 0; i < a[f].size(); ++i) sum += dot(a[f][i] - b[f][i], a[f][i] - b[f][i]) / double(a[f].size());
  return std::sqrt(sum / double(a.size()));
}

std::vector<std::vector<Vec3>> run(const Scene& scene, int frames) {
  Simulation sim = make(scene);
  std::vector<std::vector<Vec3>> out;
  for (int f = 0; f < frames; ++f) {
    const StepReport report = sim.step();
    REQUIRE_MESSAGE(report, report.message);
    out.push_back(sim.positions());
  }
  return out;
}

/// Fine steps of the trapezoidal kind, which hold nothing.
std::vector<std::vector<Vec3>> truth(Scene scene, int frames) {
  scene.solver = {};
  scene.solver.method = "pd_alpha", scene.solver.substeps = 16, scene.solver.iterations = 200;
  return run(scene, frames);
}

/// A random positive definite matrix of this size.
Matrix random_matrix(int n, unsigned seed) {
  std::srand(seed);
  const Matrix b = Matrix::Random(n, n);
  return b * b.transpose() + 0.5 * Matrix::Identity(n, n);
}

Vec6 six(const Vector& v) { return {v(0), v(1), v(2), v(3), v(4), v(5)}; }

}  // namespace

TEST_CASE("a step along the loss holds the momenta, meets H as far as it is quadratic, and has the length it says") {
  constexpr int n = 14;
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Matrix a = random_matrix(n, seed), inverse = a.inverse();
    const Vector gg = Vector::Random(n), lin = Vector::Random(n), l = lin + 0.5 * Vector::Random(n);
    const Matrix c = Matrix::Random(n, 6);
    const Vector c_q = Vector::Random(6);
    StepProducts step;
    const Matrix s_qq = c.transpose() * inverse * c;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) step.s_qq[i][j] = s_qq(i, j);
    step.s_qq_inverse = pseudo_inverse(step.s_qq, 1e-12);
    step.q_lin = six(c.transpose() * inverse * l), step.lin_lin = l.dot(inverse * l);
    IterationProducts k;
    k.gg_gg = gg.dot(inverse * gg), k.lin_gg = l.dot(inverse * gg), k.h_Ag = lin.dot(inverse * gg);
    k.q_gg = six(c.transpose() * inverse * gg);
    LossColumn loss;
    loss.h_e = lin.dot(inverse * l), loss.y_lin = six(c.transpose() * inverse * lin);
    const Quantities residual{{c_q(0), c_q(1), c_q(2)}, {c_q(3), c_q(4), c_q(5)}, 0};
    const double now = 3;
    const Direction plain = plain_direction(step, k, residual);
    const auto moved = [&](const Direction& d) {
      Vector lambda_q(6);
      for (int i = 0; i < 6; ++i) lambda_q(i) = d.lambda_q[i];
      return Vector(-(d.g * inverse * gg + d.l * inverse * l + inverse * c * lambda_q));
    };
    const double ahead = now + (gg + lin).dot(moved(plain));
    // round-off of sums of some dozens of products of order 1 through a matrix of condition 1e2
    const double close = 1e-9;
    const LossStep next = loss_step(step, k, loss, residual, now, ahead + 0.5 * plain.norm2 + 0.1, 0);
    const Vector dx = moved(next.direction);
    CHECK((c.transpose() * dx + c_q).norm() < close);
    CHECK(std::abs(next.direction.norm2 - dx.dot(a * dx)) < close * (1 + next.direction.norm2));
    CHECK(std::abs(next.plain - ahead - 0.5 * moved(plain).dot(a * moved(plain))) < close * (1 + std::abs(next.plain)));
    const auto model = [&](const Vector& step) { return now + (gg + lin).dot(step) + 0.5 * step.dot(a * step); };
    CHECK(std::abs(model(dx) - next.reached) < close * (1 + std::abs(next.reached)));
    if (!next.at_bound) CHECK(std::abs(next.reached - (next.plain + 0.1)) < close * (1 + std::abs(next.plain)));
    CHECK(next.heat == 0);
    // too far: at the bound of mu, and what is reached is what it says
    const LossStep far = loss_step(step, k, loss, residual, now, ahead + 1e6, 0);
    CHECK(far.at_bound);
    CHECK(std::abs(far.mu) == doctest::Approx(most_mu));
    CHECK(std::abs(model(moved(far.direction)) - far.reached) < close * (1 + std::abs(far.reached)));
    // what is not resolved is heat, of what is missing alone
    loss.share = 0.25;
    const LossStep warm = loss_step(step, k, loss, residual, now, next.plain + 0.4, 0);
    CHECK(warm.heat == doctest::Approx(0.3));
    CHECK(loss_step(step, k, loss, residual, now, next.plain - 0.4, 0).heat == 0);
  }
}

TEST_CASE("sheets move as with fine steps, nearer than by any other method of the same step") {
  // 45 frames: 1.5 s, three swings of the trampoline
  constexpr int frames = 45;
  for (const bool falls : {false, true}) {
    const auto scene = [&](const std::string& method) {
      return falls ? falling_cloth(method) : small_trampoline(method);
    };
    const auto fine = truth(scene("cpd"), frames);
    const double here = distance(run(scene("cpd"), frames), fine);
    double least = 1e300;
    std::string best;
    for (const char* other : {"cpd_gradient", "cpd_bdf2", "pd", "pd_bdf2", "pd_alpha"}) {
      const double d = distance(run(scene(other), frames), fine);
      if (d < least) least = d, best = other;
    }
    CAPTURE(falls);
    CAPTURE(best);
    // The bound that the default method is held to is 1.05 of the best. A sheet of 16 by 16 that falls from rest has
    // little in modes that frames do not resolve: all that hold H are within 0.025, and 1.05 of these is chance.
    CHECK(here <= (falls ? 1.15 : 1.05) * least);
  }
}

TEST_CASE("P, L and H are held along the loss: free, linked, of consistent mass, in float, damped or not") {
  struct Kind {
    const char* name;
    bool consistent, linked, narrow;
    double half_life;
  };
  for (const Kind& kind : {Kind{"free", false, false, false, 0}, Kind{"consistent", true, false, false, 0},
                           Kind{"linked", false, true, false, 0}, Kind{"float", false, false, true, 0},
                           Kind{"damped", false, false, false, 3}}) {
    CAPTURE(std::string(kind.name));
    Scene scene = cube_scene("cpd", 3e4);
    if (kind.consistent) scene.bodies[0].mass_matrix = MassMatrix::consistent;
    if (kind.half_life > 0) scene.bodies[0].dials.half_life = Track<double>(kind.half_life);
    if (kind.narrow) scene.solver.precision = Precision::float32;
    if (kind.narrow) scene.solver.tolerance = 1e-4;
    if (kind.linked) {
      scene.bodies.push_back(box_body(2, 1e4, "other"));
      scene.bodies[1].place.translate = {1.2, 0, 0};
      AnchorSpec link;
      link.name = "link", link.body = "box", link.to_body = "other", link.stiffness = Track<double>(1e4);
      link.vertices.indices = {0};
      scene.anchors.push_back(link);
    }
    Simulation sim = make(scene);
    const Measures start = sim.measure();
    const double scale_p = std::sqrt(2 * start.mass * start.total);
    double off_p = 0, off_l = 0, off_h = 0;
    for (int f = 0; f < 60; ++f) {
      const StepReport report = sim.step();
      REQUIRE_MESSAGE(report, report.message);
      const Measures m = sim.measure();
      off_p = std::max(off_p, norm(m.momentum - start.momentum) / scale_p);
      off_l = std::max(off_l, norm(m.angular_momentum - start.angular_momentum) / scale_p);  // of about 1 m
      off_h = std::max(off_h, std::abs(m.total - m.target_total) / start.total);
    }
    // linear in x; in float the last step, 1e-2 at most, has 1e-7 of it
    CHECK(off_p < (kind.narrow ? 1e-9 : 1e-12));
    CHECK(off_l < (kind.narrow ? 1e-9 : 1e-12));
    CHECK(off_h <= 2 * scene.solver.tolerance);  // E_ref may be twice what there is
    CHECK(sim.measure().heat == 0);
  }
}

TEST_CASE("solver.hold resolved: what steps cannot resolve becomes heat, and total + heat is held") {
  Scene scene = small_trampoline("cpd");
  scene.solver.hold = EnergyHold::resolved;
  Simulation sim = make(scene);
  const Measures start = sim.measure();
  double heat = 0, off = 0;
  for (int f = 0; f < 60; ++f) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    CHECK(m.heat >= heat);
    heat = m.heat;
    off = std::max(off, std::abs(m.total + m.heat - start.total) / start.total);
  }
  CHECK(heat > 1e-2 * start.total);  // stiff springs, whose vibration no frame resolves
  CHECK(off <= 2 * scene.solver.tolerance);
  // a soft body is resolved: hardly any heat
  Scene soft = cube_scene("cpd", 1e3);
  soft.solver.hold = EnergyHold::resolved;
  Simulation other = make(soft);
  const double all = other.measure().total;
  for (int f = 0; f < 60; ++f) REQUIRE(other.step());
  CHECK(other.measure().heat < 0.1 * all);
  CHECK(std::abs(other.measure().total + other.measure().heat - all) <= 1e-5 * all);
}

TEST_CASE("no step gains, however it is cut short: caps on iterations, one sub-step, loose tolerances, budgets") {
  const auto caps = [](Scene scene, std::uint64_t seed) {
    scene.solver.iterations = 1 + int((0.5 + 0.5 * random_signed(seed, 0)) * 10);
    if ((0.5 + 0.5 * random_signed(seed, 1)) < 0.5) scene.solver.substeps = 1;
    scene.solver.tolerance = std::pow(10.0, -6 + 4.5 * (0.5 + 0.5 * random_signed(seed, 2)));
    if (scene.solver.substeps == 0 && (0.5 + 0.5 * random_signed(seed, 3)) < 0.5) scene.solver.budget = 0.1;
    return scene;
  };
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const char* method = seed % 4 == 0   ? "cpd_gradient"
                         : seed % 4 == 1 ? "cpd_bdf2"
                         : seed % 4 == 2 ? "cpd_euler"
                                         : "cpd";
    Scene scene = seed % 3 == 0   ? cube_scene(method, 1e5)
                  : seed % 3 == 1 ? small_trampoline(method)
                                  : falling_cloth(method);
    scene = caps(scene, seed);
    CAPTURE(seed);
    CAPTURE(std::string(method));
    CAPTURE(*scene.solver.iterations);
    CAPTURE(scene.solver.substeps);
    CAPTURE(scene.solver.tolerance);
    CAPTURE(scene.solver.budget);
    Simulation sim = make(scene);
    const Measures start = sim.measure();
    double scale = start.kinetic + start.elastic, most = -1e300, off_l = 0;
    for (int f = 0; f < 60; ++f) {
      const StepReport report = sim.step();
      REQUIRE_MESSAGE(report, report.message);
      const Measures m = sim.measure();
      scale = std::max(scale, m.kinetic + m.elastic);
      most = std::max(most, std::max(m.total - m.target_total, m.total - start.total));
      off_l = std::max(off_l, norm(m.spin - start.spin));
    }
    CHECK(most <= 0.01 * scale);
    if (scene.anchors.empty()) CHECK(off_l <= 1e-12 * std::sqrt(2 * start.mass * start.total));
  }
}
