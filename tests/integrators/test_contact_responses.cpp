// The other ways to push back: the repulsion springs of the CPD paper and the half-spaces of the PD paper.
#include <doctest/doctest.h>

#include <cmath>

#include "base/random.h"
#include "contact/repulsion.h"
#include "integrators/contact_scenes.h"
#include "integrators/step_solver.h"
#include "integrators/world.h"
#include "linear/cholesky.h"
#include "linear/sparse.h"

using namespace verve;
using namespace verve::test;

namespace {

std::unique_ptr<World> world_of(const Scene& scene) {
  const Diagnostics problems = check_scene(scene);
  REQUIRE_MESSAGE(!problems.has_errors(), problems.text());
  Expected<CompiledScene> model = compile(scene);
  REQUIRE_MESSAGE(model.has_value(), model.diagnostics().text());
  return std::make_unique<World>(scene, std::move(*model), 1);
}

Scene responding(Scene scene, ContactResponse response) {
  if (!scene.contact) scene.contact.emplace();
  scene.contact->response = response;
  scene.contact->stiffness = 1000;  // what the bounds below were measured with, before the default became 4000
  return scene;
}

struct Drop {
  double deepest = 0, grown = -1e9, off = 0, up = 0;
  long iterations = 0;
  int off_again = 0;  // frames without contact after the first with
};
/// A ball of 0.6 m dropped from one metre.
Drop dropped(ContactResponse response, const std::string& method, int frames, double tolerance = 1e-6) {
  Scene scene = responding(grounded({ball_body(0.6, 6, 1e5, {0, 1.3, 0})}, {floor_plane()}), response);
  scene.solver.method = method, scene.solver.tolerance = tolerance;
  if (tolerance < 1e-6) scene.solver.iterations = 2000;
  Simulation sim = make(scene);
  const double start = kept_energy(sim.measure());
  Drop out;
  for (int frame = 0; frame < frames; ++frame) {
    const StepReport report = sim.step();
    REQUIRE(report);
    const Measures m = sim.measure();
    out.deepest = std::max(out.deepest, -lowest(sim)), out.up = std::max(out.up, m.momentum.y / m.mass);
    if (m.contact == 0) out.grown = std::max(out.grown, m.total / start - 1);
    out.off = std::max(out.off, std::abs(kept_energy(m) / start - 1));
    out.iterations += report.iterations;
    out.off_again += out.deepest > 0 && m.contact == 0;
  }
  return out;
}

}  // namespace

TEST_CASE("the repulsion spring is cubic, and once differentiable where it begins (C15)") {
  const double k = 7;
  CHECK(repulsion(k, 0).energy == 0);
  CHECK(repulsion(k, -0.1).energy == 0);
  CHECK(repulsion(k, -0.1).force == 0);
  for (const double d : {1e-3, 0.1, 2.0}) {
    CHECK(repulsion(k, d).energy == doctest::Approx(k * d * d * d / 3).epsilon(1e-14));
    // central differences of a cubic are off by k e^2/3
    const double e = 1e-4 * d, slope = (repulsion(k, d + e).energy - repulsion(k, d - e).energy) / (2 * e);
    CHECK(slope == doctest::Approx(repulsion(k, d).force).epsilon(1e-7));
  }
  // the force and its slope go to 0 from inside
  CHECK(repulsion(k, 1e-9).force <= k * 1e-18 * (1 + 1e-12));
}

TEST_CASE("the forces of repulsion springs are minus the gradient of their energy, and cancel between bodies (C15)") {
  Scene scene = responding({}, ContactResponse::explicit_force);
  scene.bodies = {ball_body(0.6, 3, 1e5, {0, 0, 0}, "a"), ball_body(0.6, 3, 1e5, {0.5, 0.1, 0.05}, "b")};
  ColliderSpec ball;
  ball.name = "ball", ball.shape = "sphere", ball.radius = 0.4, ball.position = Vec3{0, -0.65, 0};
  scene.colliders = {ball};
  const auto w = world_of(scene);
  std::vector<Vec4> x = w->state.x, force, unused;
  for (size_t i = 0; i < x.size(); ++i) x[i] += Vec4(random_in_ball(1, int(i)) * 0.003);
  const double energy = w->repel(x, force);
  REQUIRE(energy > 0);
  Vec3 sum{}, on_a{};
  double size = 0, worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += force[i].xyz(), size = std::max(size, norm(force[i].xyz()));
    if (int(i) < w->model.bodies[1].first) on_a += force[i].xyz();
  }
  const double e = 1e-6;
  int pushed = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (norm(force[i].xyz()) == 0) continue;
    ++pushed;
    for (int k = 0; k < 3; ++k) {
      const Vec4 kept = x[i];
      Vec3 moved = kept.xyz();
      moved[k] += e, x[i] = Vec4(moved);
      const double more = w->repel(x, unused);
      moved[k] -= 2 * e, x[i] = Vec4(moved);
      const double less = w->repel(x, unused);
      x[i] = kept;
      worst = std::max(worst, std::abs((less - more) / (2 * e) - force[i].xyz()[k]) / size);
    }
  }
  MESSAGE(pushed, " vertices pushed, slope off by ", worst);
  CHECK(pushed >= 8);
  CHECK(worst <= 1e-6);  // (e / depth)^2, depths of some centimetres, and the round-off of E over e
  // only the collider takes momentum: without it the sum is 0
  Scene alone = scene;
  alone.colliders.clear();
  const auto v = world_of(alone);
  v->repel(x, force);
  Vec3 total{}, torque{};
  for (size_t i = 0; i < x.size(); ++i) total += force[i].xyz(), torque += cross(x[i].xyz(), force[i].xyz());
  CHECK(norm(total) <= 1e-12 * size);
  CHECK(norm(torque) <= 1e-12 * size);
}

TEST_CASE("nothing is repelled that does not touch: a free body falls as it would") {
  Scene scene =
      responding(grounded({ball_body(0.6, 3, 1e5, {0, 9, 0})}, {floor_plane()}), ContactResponse::explicit_force);
  Simulation sim = make(scene);
  for (int frame = 0; frame < 20; ++frame) REQUIRE(sim.step());
  const double t = sim.time();
  CHECK(std::abs(sim.measure().center.y - (9 - 0.5 * earth * t * t)) <= 1e-10);
  CHECK(sim.measure().booked_loss == 0);
}

TEST_CASE("by explicit repulsion a ball bounces, and gains what the length of steps makes it late by (C15)") {
  const auto gain = [](int n, ContactResponse response) {
    Scene scene = responding(grounded({ball_body(0.6, 3, 1e5, {0, 1.3, 0})}, {floor_plane()}), response);
    scene.step /= n;
    scene.contact->repulsion /= double(n) * n, scene.contact->stiffness /= double(n) * n;  // the same in N/m^2, N/m
    Simulation sim = make(scene);
    const double start = sim.measure().total;
    bool touched = false;
    double deepest = 0;
    for (int frame = 0; frame < 30 * n; ++frame) {
      REQUIRE(sim.step());
      const double low = lowest(sim);
      touched |= low < 0, deepest = std::max(deepest, -low);
      if (!touched || low < 0 || sim.measure().momentum.y < 0) continue;
      // off again: what it has more is the work of a force that stayed behind, and is booked
      CHECK(std::abs(kept_energy(sim.measure()) - start) <= 1e-2 * start);  // H may be owed for a frame
      MESSAGE(choice_name(response), ", ", n, " times finer: ", deepest, " m deep, total / start - 1 ",
              sim.measure().total / start - 1);
      return sim.measure().total / start - 1;
    }
    FAIL("it does not come back");
    return 0.0;
  };
  const double four = gain(4, ContactResponse::explicit_force), sixteen = gain(16, ContactResponse::explicit_force);
  CHECK(gain(1, ContactResponse::explicit_force) > 0.1);
  CHECK(std::abs(gain(1, ContactResponse::implicit_penalty)) <= 1e-4);
  // of the first order in the step: a quarter of it; between a half of that and twice as much
  CHECK(four / sixteen > 2);
  CHECK(four / sixteen < 8);
}

TEST_CASE("two balls that repel each other keep P, and part (C16)") {
  Scene scene = responding({}, ContactResponse::explicit_force);
  scene.bodies = {ball_body(0.6, 6, 1e5, {-0.6, 0, 0}, "a"), ball_body(0.6, 6, 1e5, {0.6, 0.1, 0}, "b")};
  scene.bodies[0].initial.velocity = {2, 0, 0}, scene.bodies[1].initial.velocity = {-2, 0, 0};
  Simulation sim = make(scene);
  const Measures m0 = sim.measure();
  const double p = norm(sim.measure(0).momentum);
  for (int frame = 0; frame < 30; ++frame) {
    REQUIRE(sim.step());
    CHECK(norm(sim.measure().momentum - m0.momentum) <= 1e-12 * p);
  }
  // each force goes along with its body: 1/2 h^2 (v_a - v_b) x f of L per frame is not held
  MESSAGE("L off by ", norm(sim.measure().angular_momentum - m0.angular_momentum) / norm(m0.angular_momentum));
  CHECK(sim.measure(0).momentum.x < 0);  // they have parted
  CHECK(sim.measure(1).momentum.x > 0);
}

TEST_CASE("by planes of PD a body lands and leaves freely, as deep as by the penalty (P15, P21)") {
  const Drop implicit = dropped(ContactResponse::implicit_penalty, "pd", 40),
             planes = dropped(ContactResponse::planes, "pd", 40);
  MESSAGE("implicit: ", implicit.deepest, " m deep, up at ", implicit.up, ", ", implicit.iterations,
          " iterations; planes: ", planes.deepest, " m deep, up at ", planes.up, ", ", planes.iterations);
  CHECK(planes.up > 0.2);
  CHECK(planes.deepest <= 0.01 * 0.6);
  const Drop bounce = dropped(ContactResponse::planes, "pd_bdf2", 30);
  MESSAGE("by pd_bdf2: ", bounce.deepest, " m deep, up at ", bounce.up, ", ", bounce.off_again, " frames in the air");
  CHECK(bounce.off_again > 2);  // it does not stick
  CHECK(planes.grown <= 1e-6);
  // on a flat collider both are the same energy, minimised with another matrix: far enough, they agree
  const Drop exact = dropped(ContactResponse::implicit_penalty, "pd", 20, 1e-10),
             other = dropped(ContactResponse::planes, "pd", 20, 1e-10);
  MESSAGE("to 1e-10: ", exact.deepest, " and ", other.deepest, " m deep, up at ", exact.up, " and ", other.up, ", ",
          exact.iterations, " and ", other.iterations, " iterations");
  CHECK(other.deepest == doctest::Approx(exact.deepest).epsilon(1e-6));
  CHECK(other.up == doctest::Approx(exact.up).epsilon(1e-6));
}

TEST_CASE("a factor that follows planes equals a fresh one, and is the old one when they are gone (P21)") {
  Scene scene = responding(grounded({ball_body(0.6, 6, 1e5, {0, 1.3, 0})}, {floor_plane()}), ContactResponse::planes);
  scene.solver.method = "pd_bdf2";
  const auto w = world_of(scene);
  const Island& island = w->island_of(0);
  REQUIRE(w->step());
  const int before = w->factorizations();
  bool followed = false, gone = false;
  int most = 0;
  for (int frame = 0; frame < 35; ++frame) {
    REQUIRE(w->step());
    most = std::max(most, int(island.matrix().planes().size()));
    if (island.matrix().planes().empty()) gone |= followed;
    followed |= !island.matrix().planes().empty();
    SymmetricAssembly assembly;
    bool has_pattern = false;
    island.matrix().assemble(assembly, has_pattern, island.solver().base().hh);
    Cholesky fresh;
    REQUIRE(fresh.factorize(assembly.matrix(), true, Precision::float64));
    std::vector<Vec4> b(island.rows()), x(island.rows()), y(island.rows());
    for (int i = 0; i < island.rows(); ++i) b[i] = Vec4(random_in_ball(3, i));
    island.solver().solve(b, x);
    fresh.solve(b.data(), y.data());
    double worst = 0, size = 0;
    for (int i = 0; i < island.rows(); ++i)
      worst = std::max(worst, norm((x[i] - y[i]).xyz())), size = std::max(size, norm(y[i].xyz()));
    CHECK(worst <= 1e-10 * size);
  }
  MESSAGE("up to ", most, " planes, factorisations: ", w->factorizations() - before);
  CHECK(followed);
  CHECK(gone);
  CHECK(most > 3);
}

TEST_CASE("what the other responses cannot do is refused, all at once") {
  Scene scene = responding(
      grounded({ball_body(0.6, 3, 1e5, {0, 1, 0}, "a"), ball_body(0.6, 3, 1e5, {0, 2, 0}, "b")}, {floor_plane()}),
      ContactResponse::planes);
  scene.bodies[0].friction = 0.5, scene.contact->self = true;
  const std::string text = check_scene(scene).text();
  CHECK(
      text.find("bodies[0].friction: found 0.5 with contact.response \"planes\", which has no friction, expected 0") !=
      std::string::npos);
  CHECK(text.find("contact.self: found true") != std::string::npos);
  CHECK(text.find("contact.bodies: found true") != std::string::npos);
  CHECK(text.find("solver.method: found \"cpd\" with contact.response \"planes\"") != std::string::npos);
  scene.contact->response = ContactResponse::explicit_force, scene.bodies[1].restitution = 0.5;
  const std::string other = check_scene(scene).text();
  CHECK(other.find("bodies[1].restitution: found 0.5") != std::string::npos);
  CHECK(other.find("solver.method") == std::string::npos);
  scene.contact->response = ContactResponse::implicit_penalty;
  CHECK(check_scene(scene).text().empty());
}
