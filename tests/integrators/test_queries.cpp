// What a caller asks of a running simulation, and the forces that it applies.
#include <doctest/doctest.h>

#include <algorithm>
#include <numbers>
#include <thread>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// A unit cube about the origin, at rest.
Scene cube() {
  Scene scene = scene_of(box_body(2, 1e6));
  return scene;
}

Vec3 corner_least(const std::vector<Vec3>& x) {
  Vec3 low = x[0];
  for (const Vec3& p : x)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]);
  return low;
}

}  // namespace

TEST_CASE("a ray meets the nearest surface, with the element and the weights of the point") {
  Scene scene = cube();
  BodySpec far = box_body(1, 1e6, "far");
  far.place.translate = {3, 0, 0};
  scene.bodies.push_back(far);
  ColliderSpec ball;
  ball.name = "ball", ball.shape = "sphere", ball.radius = 0.5, ball.position = Vec3{6, 0, 0};
  scene.colliders.push_back(ball);
  Simulation sim = make(scene);
  const Vec3 low = corner_least(sim.positions());
  const double y = low.y + 0.3, z = low.z + 0.4;
  const auto hit = sim.cast_ray({-5, y, z}, {2, 0, 0});
  REQUIRE(hit);
  CHECK(hit->body == sim.find_body("box"));
  CHECK(hit->point.x == doctest::Approx(low.x));
  CHECK(hit->distance == doctest::Approx(low.x + 5));
  CHECK(norm(hit->normal - Vec3{-1, 0, 0}) < 1e-12);
  Vec3 carried{};
  for (int k = 0; k < 3; ++k) carried += sim.positions()[hit->vertices[k]] * hit->weights[k];
  CHECK(norm(carried - hit->point) < 1e-12);
  REQUIRE(hit->tetrahedron >= 0);
  const auto& tet = sim.mesh(0).tetrahedra[hit->tetrahedron];
  for (const int v : hit->vertices) CHECK(std::find(tet.begin(), tet.end(), v) != tet.end());
  CHECK(sim.cast_ray({10, y, z}, {-1, 0, 0}, 3.6).value().collider == sim.find_collider("ball"));
  CHECK(!sim.cast_ray({10, y, z}, {-1, 0, 0}, 3));
  CHECK(!sim.cast_ray({-5, 5, z}, {1, 0, 0}));
  CHECK_THROWS_AS(sim.cast_ray({}, {}), std::invalid_argument);
  const auto near = sim.closest_point({low.x - 0.5, y, z});
  REQUIRE(near);
  CHECK(near->distance == doctest::Approx(0.5));
  CHECK(norm(near->point - Vec3{low.x, y, z}) < 1e-12);
  CHECK(!sim.closest_point({low.x - 0.5, y, z}, 0.4));
  CHECK(sim.closest_point({-5, 0, 0}, 1e300, sim.find_body("far"))->body == 1);
  const Vec3 middle = low + Vec3{0.5, 0.5, 0.5};
  CHECK(sim.overlap_ball(middle, 0.01) == std::vector<BodyId>{sim.body_id(0)});  // inside
  CHECK(sim.overlap_ball(middle, 10).size() == 2);
  CHECK(sim.overlap_box(middle - Vec3{.01, .01, .01}, middle + Vec3{.01, .01, .01}).size() == 1);
  CHECK(sim.overlap_box(low - Vec3{1, 1, 1}, low - Vec3{.1, .1, .1}).empty());
}

TEST_CASE("contacts carry the weight of what rests, and events say when they begin and end") {
  Scene scene = cube();
  scene.bodies[0].friction = 0.5, scene.bodies[0].restitution = 0;
  scene.bodies[0].place.translate = {0, 2, 0};
  scene.gravity = {0, -9.81, 0};
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane", floor.friction = 0.5, floor.restitution = 0;
  scene.colliders.push_back(floor);
  Simulation sim = make(scene);
  int begun = 0, ended = 0, asleep = 0;
  double impulse = 0, resting = 0;
  for (int f = 0; f < 120; ++f) {
    REQUIRE(sim.step());
    for (const Event& e : sim.events()) {
      begun += e.kind == EventKind::contact_begin, ended += e.kind == EventKind::contact_end;
      asleep += e.kind == EventKind::asleep;
      if (e.kind == EventKind::contact_begin) CHECK(e.collider == sim.find_collider("floor"));
    }
    for (const Contact& c : sim.contacts()) impulse += c.impulse, resting = c.impulse;
  }
  CHECK(begun == ended + 1);
  CHECK(asleep == 1);
  const std::vector<Contact> now = sim.contacts();
  REQUIRE(now.size() == 1);
  const double weight = sim.measure().mass * 9.81;
  CHECK(now[0].force == doctest::Approx(weight).epsilon(0.02));
  CHECK(norm(now[0].normal - Vec3{0, 1, 0}) < 1e-3);
  CHECK(std::abs(now[0].point.y) < 0.02);
  CHECK(resting == doctest::Approx(weight / 30).epsilon(0.02));
  // of the whole fall and rest what gravity has given, but for what the correction of H does in the impacts (a seventh)
  CHECK(impulse == doctest::Approx(weight * 120 / 30).epsilon(0.15));
  sim.add_impulse(0, {0, 6 * sim.measure().mass, 0}, sim.measure().center);
  bool woke = false, left = false;
  for (int f = 0; f < 5; ++f) {
    REQUIRE(sim.step());
    for (const Event& e : sim.events()) woke |= e.kind == EventKind::awake, left |= e.kind == EventKind::contact_end;
  }
  CHECK(woke);
  CHECK(left);
  CHECK(sim.contacts().empty());
}

TEST_CASE("what friction takes of a body that slides is in its contact") {
  Scene scene = cube();
  scene.bodies[0].friction = 0.3, scene.bodies[0].restitution = 0, scene.bodies[0].potentials[0] = strain(1e7);
  scene.gravity = {0, -9.81, 0};
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane", floor.friction = 0.3, floor.restitution = 0;
  Simulation probe = make(scene);
  floor.position = Vec3{0, corner_least(probe.positions()).y, 0};
  scene.bodies[0].initial.velocity = {2, 0, 0};
  scene.colliders.push_back(floor);
  Simulation sim = make(scene);
  double loss = 0;
  for (int f = 0; f < 60; ++f) {
    REQUIRE(sim.step());
    for (const Contact& c : sim.contacts()) loss += c.friction_loss;
  }
  const double kinetic = 0.5 * sim.measure().mass * 4;
  CHECK(sim.measure().momentum.x < 1e-3 * sim.measure().mass);
  CHECK(loss > 0.7 * kinetic);
  CHECK(loss < 1.1 * kinetic);
}

TEST_CASE("forces of a frame: at the centre, at a point, a torque, a region, each vertex, a field") {
  const double h = 1.0 / 30, mass = 1000;
  const auto after = [&](auto&& apply, int frames = 1) {
    Simulation sim = make(cube());
    for (int f = 0; f < frames; ++f) {
      apply(sim);
      REQUIRE(sim.step());
    }
    return sim.measure();
  };
  const Vec3 push{300, 0, 0};
  const auto momentum = [&](const Measures& m) { return m.momentum.x; };
  CHECK(momentum(after([&](Simulation& s) { s.add_force(0, push); })) == doctest::Approx(300 * h));
  CHECK(momentum(after([&](Simulation& s) { s.add_force(0, push); }, 10)) == doctest::Approx(3000 * h));
  const Measures turned = after([&](Simulation& s) { s.add_force(0, push, s.measure().center + Vec3{0, 0.5, 0}); });
  CHECK(turned.momentum.x == doctest::Approx(300 * h));
  CHECK(turned.spin.z == doctest::Approx(-150 * h).epsilon(1e-4));
  CHECK(after([&](Simulation& s) { s.add_torque(0, {0, 40, 0}); }).spin.y == doctest::Approx(40 * h).epsilon(1e-4));
  Selection top;
  top.indices = {0, 1, 2};
  CHECK(momentum(after([&](Simulation& s) { s.add_force(0, push, top); })) == doctest::Approx(300 * h));
  CHECK(momentum(after([&](Simulation& s) { s.add_force(0, push, s.positions()[0], 0.6); })) == doctest::Approx(300 * h));
  const Measures each = after([&](Simulation& s) {
    const std::vector<double> m = s.masses();
    std::vector<Vec3> f;
    for (const double of : m) f.push_back({0, of * 2, 0});
    s.add_forces(0, f);
  });
  CHECK(each.momentum.y == doctest::Approx(mass * 2 * h));
  // its work is booked, and nothing else is
  Simulation sim = make(cube());
  const double start = sim.measure().total;
  for (int f = 0; f < 30; ++f) {
    sim.add_force(0, {1000, 0, 0});
    REQUIRE(sim.step());
  }
  const Measures now = sim.measure();
  CHECK(now.total - start == doctest::Approx(0.5 * mass * 1).epsilon(1e-3));  // 1 m/s2 for 1 s
  CHECK(std::abs(now.total + now.booked_loss - start + now.owed) < 1e-6 * now.total);
  // a field that draws to a point is a spring: the centre swings about it
  Simulation drawn = make(cube());
  const Vec3 to = drawn.measure().center + Vec3{1, 0, 0};
  const double rate = 2 * std::numbers::pi;  // once a second
  drawn.set_field([&](const FieldSample& s) {
    for (size_t v = 0; v < s.positions.size(); ++v) s.forces[v] = (to - s.positions[v]) * (rate * rate * s.masses[v]);
  });
  for (int f = 0; f < 15; ++f) REQUIRE(drawn.step());
  CHECK(drawn.measure().center.x - to.x > 0.5);  // on the other side
  drawn.set_field([](const FieldSample&) { throw std::runtime_error("no such field"); });
  const std::uint64_t before = drawn.state_hash();
  const StepReport failed = drawn.step();
  CHECK(failed.status == StepStatus::callback_failed);
  CHECK(failed.message == "no such field");
  CHECK(drawn.state_hash() == before);
  drawn.set_field({});
  CHECK(drawn.step());
}

TEST_CASE("velocities are set in m/s and rad/s") {
  Simulation sim = make(cube());
  sim.set_velocity(0, {1, 2, 3}), sim.set_angular_velocity(0, {0, 4, 0});
  CHECK(norm(sim.measure().momentum / sim.measure().mass - Vec3{1, 2, 3}) < 1e-12);
  const std::vector<Vec3> x = sim.positions(), v = sim.velocities();
  for (size_t i = 0; i < x.size(); ++i)
    CHECK(norm(v[i] - Vec3{1, 2, 3} - cross(Vec3{0, 4, 0}, x[i] - sim.measure().center)) < 1e-9);
}

TEST_CASE("state is read into memory of the caller's, at any stride, and a view is renewed by every step") {
  Simulation sim = make(cube());
  sim.set_angular_velocity(0, {0, 4, 0});
  const std::span<const Vec3> view = sim.position_view();
  sim.step();
  const std::vector<Vec3> x = sim.positions();
  std::vector<float> wide(8 * x.size(), -1.f);
  sim.read_positions(wide.data(), 8 * sizeof(float));
  sim.read_normals(0, wide.data() + 4, 8 * sizeof(float));
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(norm(view[i] - x[i]) == 0);
    CHECK(wide[8 * i] == float(x[i].x));
    CHECK(wide[8 * i + 3] == -1.f);
    const Vec3 n{wide[8 * i + 4], wide[8 * i + 5], wide[8 * i + 6]};
    if (norm(n) > 0) CHECK(dot(n, x[i] - sim.measure().center) > 0);
  }
  CHECK_THROWS_AS(sim.read_positions(wide.data(), 10), std::invalid_argument);
  CHECK_THROWS_AS(sim.read_positions((float*)nullptr), std::invalid_argument);
}

TEST_CASE("the caller's own threads give the same bits, and so do simulations side by side") {
  Scene scene = scene_of(box_body(12, 1e5));
  scene.bodies[0].initial.stretch = {1, 1.3, 1};
  Simulation alone = make(scene, 1);
  for (int f = 0; f < 5; ++f) alone.step();
  int calls = 0;
  const TaskRunner tasks = [&](int count, const std::function<void(int)>& task) {
    ++calls;
    std::vector<std::thread> threads;
    for (int k = 0; k < count; ++k) threads.emplace_back(task, k);
    for (std::thread& t : threads) t.join();
  };
  Simulation other = std::move(Simulation::create(scene, {.threads = 3, .tasks = tasks}).value());
  for (int f = 0; f < 5; ++f) other.step();
  CHECK(calls > 0);
  CHECK(other.state_hash() == alone.state_hash());
  std::array<std::uint64_t, 3> hashes{};
  std::vector<std::thread> threads;
  for (auto& hash : hashes)
    threads.emplace_back([&] {
      Simulation mine = make(scene, 2);
      for (int f = 0; f < 5; ++f) mine.step();
      hash = mine.state_hash();
    });
  for (std::thread& t : threads) t.join();
  for (const std::uint64_t hash : hashes) CHECK(hash == alone.state_hash());
}
