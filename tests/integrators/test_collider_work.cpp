// Colliders that move: their work is an account of the ledger, and H is held beside them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Along a straight line at a velocity that changes evenly, from `from`.
ColliderSpec carried(ColliderSpec collider, const Vec3& from, const Vec3& velocity, const Vec3& acceleration = {},
                     double until = 10, double step = 1.0 / 30) {
  collider.position.keys.clear();
  const int keys = norm(acceleration) > 0 ? int(std::round(until / step)) : 1;
  for (int k = 0; k <= keys; ++k) {
    const double t = until * k / keys;
    collider.position.keys.push_back({t, from + velocity * t + acceleration * (0.5 * t * t)});
  }
  return collider;
}

ColliderSpec plate(const Vec3& normal) {
  ColliderSpec out = floor_plane();
  out.name = "plate", out.normal = normal;
  return out;
}

/// Over a run, in units of the largest of its energies.
struct Books {
  double off = 0;   // of the books: |total + booked_loss - work - start|
  double gain = 0;  // likewise, upwards
  double scale = 0;
  Measures last;
};

Books keep_books(Simulation& sim, int frames) {
  Books out;
  const double start = kept_energy(sim.measure());
  double least = sim.measure().external, most = least, off = 0, gain = 0;
  for (int frame = 0; frame < frames; ++frame) {
    REQUIRE(sim.step());
    const Measures m = out.last = sim.measure();
    off = std::max(off, std::abs(kept_energy(m) - start)), gain = std::max(gain, kept_energy(m) - start);
    least = std::min(least, m.external), most = std::max(most, m.external);
    out.scale = std::max({out.scale, m.kinetic + m.elastic + m.contact, most - least});
  }
  out.off = off / out.scale, out.gain = gain / out.scale;
  return out;
}

Scene weightless(std::vector<BodySpec> bodies, std::vector<ColliderSpec> colliders) {
  Scene scene = grounded(std::move(bodies), std::move(colliders));
  scene.gravity = {};
  return scene;
}

}  // namespace


// Books: what a step has gained or lost by itself is corrected to round-off or booked; where a body comes to touch for
// the first time the search for H in the air leaves solver.tolerance (1e-6) of E.
constexpr double closed = 1e-6;

TEST_CASE("a plate at a constant speed does its speed times the momentum that it gives, whatever the restitution") {
  const double speed = 2;
  for (const double e : {0.0, 0.5, 1.0})
    for (const double mu : {1e5, 1e6, 1e7}) {
      CAPTURE(e);
      CAPTURE(mu);
      BodySpec box = box_body(3, mu);
      box.place.translate = {0.6, 0, 0}, box.restitution = e;
      Simulation sim = make(weightless({box}, {carried(plate({1, 0, 0}), {}, {speed, 0, 0})}));
      const Books books = keep_books(sim, 90);
      const Measures& m = books.last;
      MESSAGE("work ", m.work, " J, speed times momentum ", speed * m.momentum.x, ", leaves at ", m.momentum.x / m.mass,
              " m/s, loss ", m.booked_loss, ", books to ", books.off);
      CHECK(books.off <= closed);
      CHECK(m.work == doctest::Approx(speed * m.momentum.x).epsilon(1e-9));
      // seen from the plate it comes at the speed of the plate and leaves at e times that, less what it vibrates with
      const double leaves = m.momentum.x / m.mass - speed;
      CHECK(leaves <= e * speed + 1e-3);
      if (e < 1) CHECK(leaves >= e * speed - 1e-3);
      if (e == 1) CHECK(leaves >= 0.8 * speed);
      if (e == 1) CHECK(m.booked_loss == 0);
    }
}

TEST_CASE("a plate that accelerates does what the body has, and loses half of m times its leaps of speed squared") {
  const double a = 3, h = 1.0 / 30;
  const int frames = 60;
  BodySpec box = box_body(3, 1e6);
  box.place.translate = {0.5, 0, 0}, box.restitution = 0;
  Simulation sim = make(weightless({box}, {carried(plate({1, 0, 0}), {}, {}, {a, 0, 0}, 4)}));
  const Books books = keep_books(sim, frames);
  const Measures& m = books.last;
  MESSAGE("work ", m.work, " J, kinetic ", m.kinetic, ", loss ", m.booked_loss, ", books to ", books.off);
  CHECK(books.off <= closed);
  // keys are a frame apart: it goes at an even speed in each, a h more than in the last, and without restitution each
  // is an impact of that speed
  const double speed = a * (frames - 0.5) * h;
  CHECK(m.momentum.x / m.mass == doctest::Approx(speed).epsilon(2e-3));
  CHECK(m.kinetic == doctest::Approx(0.5 * m.mass * speed * speed).epsilon(4e-3));
  CHECK(m.booked_loss <= frames * 0.5 * m.mass * a * a * h * h);
}

TEST_CASE("a piston does the work of the compression") {
  const double young = 2e5, by = 0.2;  // tet_strain: twice mu, no Poisson's ratio
  for (const double e : {0.0, 1.0}) {
    CAPTURE(e);
    BodySpec box = box_body(3, 0.5 * young);
    box.place.translate = {0.5, 0, 0}, box.restitution = e;
    ColliderSpec wall = floor_plane();
    wall.name = "wall", wall.normal = {1, 0, 0};
    Simulation sim = make(weightless({box}, {wall, carried(plate({-1, 0, 0}), {1, 0, 0}, {-0.1, 0, 0})}));
    const Books books = keep_books(sim, 60);
    const Measures& m = books.last;
    MESSAGE("work ", m.work, " J, elastic ", m.elastic, ", loss ", m.booked_loss, ", books to ", books.off);
    CHECK(books.off <= closed);
    // a cube of 1 m; contact yields by 1e-3 of the way, and what moves is 1/2 m v^2 of the piston, a thousandth too
    CHECK(m.elastic + m.contact == doctest::Approx(0.5 * young * by * by).epsilon(5e-3));
    CHECK(m.work - m.booked_loss == doctest::Approx(0.5 * young * by * by).epsilon(5e-3));
    CHECK(m.booked_loss <= 0.02 * m.work);
  }
}

TEST_CASE("a lift under a resting block does m g times its way, and m v^2 to set it in motion") {
  BodySpec box = box_body(3, 1e6);
  box.place.translate = {0, 0.5, 0}, box.restitution = 0, box.friction = 0.5;
  Simulation sim = make(grounded({box}, {carried(floor_plane(0.5), {}, {0, 1, 0})}));
  const Books books = keep_books(sim, 90);
  const Measures& m = books.last;
  MESSAGE("work ", m.work, " J, loss ", m.booked_loss, ", books to ", books.off);
  CHECK(books.off <= closed);
  // speed times the momentum that it gives: m v, and m g t against the weight
  CHECK(m.work == doctest::Approx(m.mass * (1 + earth * 3)).epsilon(1e-6));
  CHECK(m.momentum.y == doctest::Approx(m.mass).epsilon(1e-6));
  // of m v^2 half is lost at the first touch; it is pressed in by its weight as before
  CHECK(m.booked_loss == doctest::Approx(0.5 * m.mass).epsilon(0.03));
}

TEST_CASE("a lift that is slower than what may sleep carries its block along") {
  BodySpec box = box_body(2, 1e6);
  box.place.translate = {0, 0.5, 0}, box.restitution = 0, box.friction = 0.5;
  Simulation sim = make(grounded({box}, {carried(floor_plane(0.5), {}, {0, 0.004, 0})}));
  for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
  const Vec3 before = sim.measure().center;
  for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
  CHECK(sim.measure().center.y - before.y == doctest::Approx(2 * 0.004).epsilon(0.05));
}

TEST_CASE("a belt brings a block to its speed: half of its work is kinetic energy, half of it friction's loss") {
  const double speed = 2;
  for (const double e : {0.0, 1.0})
    for (const double friction : {0.2, 0.5}) {
      CAPTURE(e);
      CAPTURE(friction);
      BodySpec box = box_body(3, 1e6);
      box.place.translate = {0, 0.5, 0}, box.restitution = e, box.friction = friction;
      Simulation sim = make(grounded({box}, {carried(floor_plane(friction), {}, {speed, 0, 0})}));
      const Books books = keep_books(sim, 90);
      const Measures& m = books.last;
      MESSAGE("work ", m.work, " J, speed times momentum ", speed * m.momentum.x, ", loss ", m.booked_loss,
              ", books to ", books.off);
      CHECK(books.off <= closed);
      CHECK(m.work == doctest::Approx(speed * m.momentum.x).epsilon(1e-9));
      // with restitution 1 it goes on vibrating on the springs of friction, which are 0.3 mm long: at 5 % of the speed
      CHECK(m.momentum.x == doctest::Approx(m.mass * speed).epsilon(e == 1 ? 0.06 : 1e-3));
      // its weight is pressed in without damping as it begins: 8 J
      CHECK(m.booked_loss == doctest::Approx(0.5 * m.mass * speed * speed).epsilon(0.01));
    }
}

TEST_CASE("a turntable does its turn times the angular momentum that it gives, and keeps what turns along") {
  const double omega = 2, h = 1.0 / 30;
  BodySpec box = box_body(3, 1e6);
  box.place.scale = 0.3, box.place.translate = {0.5, 0.15, 0}, box.restitution = 0, box.friction = 0.8;
  ColliderSpec table;
  table.name = "table", table.shape = "cylinder", table.radius = 2, table.length = 1, table.friction = 0.8;
  table.position = Track<Vec3>({0, -0.5, 0});
  table.rotation.keys = {{0, Vec3{}}, {10, Vec3{0, 10 * omega * 180 / std::numbers::pi, 0}}};
  Simulation sim = make(grounded({box}, {table}));
  const Books books = keep_books(sim, 90);
  const Measures& m = books.last;
  const double radius = norm(Vec3{m.center.x, 0, m.center.z});
  MESSAGE("work ", m.work, " J, turn times angular momentum ", omega * m.angular_momentum.y, ", loss ", m.booked_loss,
          ", books to ", books.off, ", up by ", books.gain, ", at ", radius, " m");
  // a collider is carried from frame to frame along chords: what it turns meets leaps of its velocity by omega^2 r h,
  // and without restitution half of m times the square of that is lost in each
  const double leap = omega * omega * radius * h;
  CHECK(std::abs(m.work - omega * m.angular_momentum.y) <= 90 * 0.5 * m.mass * leap * leap);
  CHECK(m.angular_momentum.y == doctest::Approx(m.mass * omega * (radius * radius + 0.3 * 0.3 / 6)).epsilon(0.02));
  CHECK(books.gain <= 1e-3);
}

TEST_CASE("a paddle does its turn times the angular momentum that it gives a ball") {
  const double turn = 2 * std::numbers::pi / 3;
  for (const double e : {0.0, 1.0}) {
    CAPTURE(e);
    BodySpec ball = ball_body(0.4, 3, 1e6, {0.7, 0.5, 0});
    ball.restitution = e;
    ColliderSpec paddle;
    paddle.name = "paddle", paddle.shape = "box", paddle.size = {2, 0.2, 2};
    paddle.rotation.keys = {{0, Vec3{}}, {1, Vec3{0, 0, 120}}};
    Simulation sim = make(weightless({ball}, {paddle}));
    const Books books = keep_books(sim, 28);
    const Measures& m = books.last;
    MESSAGE("work ", m.work, " J, turn times angular momentum ", turn * m.angular_momentum.z, ", books to ", books.off);
    CHECK(books.gain <= 1e-5);
    CHECK(books.off <= 1e-3);
    // chords for arcs: (turn h)^2 / 2 of it in a step of a frame
    CHECK(m.work == doctest::Approx(turn * m.angular_momentum.z).epsilon(0.01));
  }
}

TEST_CASE("a collider that is switched on or off does the work by which the energy of contact changes") {
  ColliderSpec ground = floor_plane();
  ground.active = {}, ground.active.keys = {{0, true}, {1, false}, {1.5, true}};
  ground.active.interpolation = Interpolation::step;
  for (const double e : {0.0, 1.0}) {
    CAPTURE(e);
    BodySpec box = box_body(2, 1e4);  // pressed in by its weight
    box.place.translate = {0, 0.5, 0}, box.restitution = e;
    Simulation sim = make(grounded({box}, {ground}));
    const Books books = keep_books(sim, 90);
    MESSAGE("work ", books.last.work, " J, books to ", books.off);
    CHECK(books.last.work != 0);
    CHECK(books.gain <= closed);
  }
}

TEST_CASE("the work of a collider is an account of each body, and is there after a restore") {
  BodySpec box = box_body(2, 1e5), other = box_body(2, 1e5, "other");
  box.place.translate = {0.6, 0, 0}, other.place.translate = {0.6, 5, 0};
  ColliderSpec small = carried(floor_plane(), {}, {1, 0, 0});
  small.shape = "box", small.size = {0.1, 2, 2};
  Simulation sim = make(weightless({box, other}, {small})), later = make(weightless({box, other}, {small}));
  for (int frame = 0; frame < 20; ++frame) REQUIRE(sim.step());
  REQUIRE(later.restore(sim.save()).empty());
  for (int frame = 0; frame < 20; ++frame) {
    REQUIRE(sim.step());
    REQUIRE(later.step());
  }
  CHECK(sim.measure(0).work > 100);
  CHECK(sim.measure(1).work == 0);
  CHECK(sim.measure().work == sim.measure(0).work);
  CHECK(later.measure().work == sim.measure().work);
  CHECK(later.state_hash() == sim.state_hash());
}
