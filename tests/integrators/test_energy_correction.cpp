// The energy of a motion in closed form, on motions made by hand.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "integrators/energy_correction.h"
#include "integrators/turn.h"

using namespace verve;

namespace {

/// Eight vertices of a box with random masses and velocities.
struct Motion8 {
  std::array<double, 8> mass;
  std::array<Vec4, 8> x, v;
  Masses masses{};

  explicit Motion8(std::uint64_t seed) {
    double total = 0;
    for (int i = 0; i < 8; ++i) {
      mass[i] = 1 + norm(random_in_ball(seed + 1, i)), total += mass[i];
      x[i] = Vec4(Vec3{double(i & 1), double(i & 2), double(i & 4)} + random_in_ball(seed + 2, i) * 0.2);
      v[i] = Vec4(random_in_ball(seed + 3, i) * 3.0 + Vec3{5, -2, 1});
    }
    masses = {mass.data(), 8, total};
  }
  Motion8(const Motion8& o) : mass(o.mass), x(o.x), v(o.v), masses{mass.data(), 8, o.masses.total} {}

  Vec3 center() const {
    Vec3 sum{};
    for (int i = 0; i < 8; ++i) sum += x[i].xyz() * (mass[i] / masses.total);
    return sum;
  }
  Vec3 momentum() const {
    Vec3 sum{};
    for (int i = 0; i < 8; ++i) sum += v[i].xyz() * mass[i];
    return sum;
  }
  Vec3 spin(const Vec3& about) const {
    Vec3 sum{};
    for (int i = 0; i < 8; ++i) sum += cross(x[i].xyz() - about, v[i].xyz()) * mass[i];
    return sum;
  }
  double kinetic() const { return kinetic_energy(masses, v.data()); }
  RigidMotion held(const HeldMomenta& momenta) const { return held_motion(masses, momenta, x.data(), v.data()); }
  double relative(const HeldMomenta& momenta, std::array<Vec4, 8>& out) const {
    return relative_motion(masses, held(momenta), x.data(), v.data(), out.data());
  }
  void add(const std::array<Vec4, 8>& dv) {
    for (int i = 0; i < 8; ++i) v[i] += dv[i];
  }
};

HeldMomenta all() {
  HeldMomenta out;
  out.count = 6;
  return out;
}

}  // namespace

TEST_CASE("a change of energy: gains go, a share of losses comes back, and what is owed") {
  CHECK(energy_level(10, 2, 0, 0.25) == 10);     // gained
  CHECK(energy_level(10, -2, 0, 0.25) == 8.5);   // lost, restitution 0.5: of 8 up to 8.5
  CHECK(energy_level(10, -2, 0, 1) == 10);
  CHECK(energy_level(10, -3, 3, 0) == 10);  // it has kept what it had, and is owed 3
  CHECK(energy_level(10, -5, 3, 0) == 8);
  CHECK(energy_level(10, -5, 3, 1) == 10);
  CHECK(energy_level(10, 4, -1, 1) == 10);  // gained 3, and 1 too much before
}

TEST_CASE("the held motion of a straight chain has no more energy than its motion, whatever momenta are held") {
  // Its moment about itself is round-off, and so is its angular momentum about that: the one over the other turned it by
  // 1e15 rad/s where some of the momenta were held, and not all (a step of a rope that slides went from 1.7 to 398 J).
  Motion8 m(5);
  const Vec3 axis = Vec3{1, 2, 0.5} / norm(Vec3{1, 2, 0.5});
  for (int i = 0; i < 8; ++i) m.x[i] = Vec4(Vec3{0.3, 1, -2} + axis * (0.1 * i));
  for (int i = 0; i < 8; ++i) m.v[i] = Vec4(Vec3{1, -2, 0.5} + cross(Vec3{0.3, -2, 1}, m.x[i].xyz() - m.center()));
  HeldMomenta some;  // P along x and z, L about y and the chain
  some.count = 4;
  some.basis[0][0] = some.basis[1][2] = some.basis[2][4] = 1;
  some.basis[3] = {0, 0, 0, axis.x, axis.y, axis.z};
  const RigidMotion held = m.held(some);
  CHECK(held.kinetic <= m.kinetic());
  for (int i = 0; i < 8; ++i) CHECK(norm(cross(held.turn, m.x[i].xyz() - m.center())) < 10);
  std::array<Vec4, 8> relative{};
  CHECK(held.kinetic + m.relative(some, relative) == doctest::Approx(m.kinetic()).epsilon(1e-9));
}

TEST_CASE("the held motion of a rigid motion is that motion, with nothing beside it") {
  Motion8 m(1);
  const Vec3 drift{1, 2, -3}, turn{0.3, -2, 1};
  for (int i = 0; i < 8; ++i) m.v[i] = Vec4(drift + cross(turn, m.x[i].xyz() - m.center()));
  const RigidMotion held = m.held(all());
  CHECK(norm(held.velocity - drift) <= 1e-13);
  CHECK(norm(held.turn - turn) <= 1e-13);
  CHECK(held.kinetic == doctest::Approx(m.kinetic()).epsilon(1e-13));
  std::array<Vec4, 8> rest;
  CHECK(m.relative(all(), rest) <= 1e-25);
  // a body that is not held has no rigid motion
  CHECK(m.held({}).kinetic == 0);
}

TEST_CASE("two masses on a stick: turning is held, the vibration along it is the rest") {
  const double mass[2] = {1, 3};
  const Vec4 x[2] = {Vec4(Vec3{-3, 0, 0}), Vec4(Vec3{1, 0, 0})};
  // a turn by 2 about z, and 6 and 2 apart along x
  const Vec4 v[2] = {Vec4(Vec3{-6, -6, 0}), Vec4(Vec3{2, 2, 0})};
  const Masses masses{mass, 2, 4};
  const RigidMotion held = held_motion(masses, all(), x, v);
  CHECK(norm(held.turn - Vec3{0, 0, 2}) <= 1e-14);
  CHECK(held.kinetic == doctest::Approx(0.5 * 12 * 4));
  Vec4 rest[2];
  CHECK(relative_motion(masses, held, x, v, rest) == doctest::Approx(0.5 * 36 + 0.5 * 3 * 4));
  CHECK(norm(rest[0].xyz() - Vec3{-6, 0, 0}) <= 1e-14);
}

TEST_CASE("about a pivot L about it is held, or its part along an axis") {
  const Motion8 m(2);
  HeldMomenta pivot;
  pivot.count = 3, pivot.pivot = Vec3{0.5, -1, 2};
  for (int k = 0; k < 3; ++k) pivot.basis[k][3 + k] = 1;
  const RigidMotion held = m.held(pivot);
  CHECK(norm(held.velocity) == 0);
  Motion8 rigid(m);
  for (int i = 0; i < 8; ++i) rigid.v[i] = held.at(m.x[i]);
  CHECK(norm(rigid.spin(*pivot.pivot) - m.spin(*pivot.pivot)) <= 1e-11);
  CHECK(held.kinetic == doctest::Approx(rigid.kinetic()));
  pivot.count = 1;
  const RigidMotion about_x = m.held(pivot);
  CHECK(about_x.turn.y == 0);
  CHECK(about_x.turn.x * held.turn.x != 0);
  CHECK(about_x.kinetic < held.kinetic);
}

TEST_CASE("energy given and taken is exact, and changes none of the held momenta") {
  // all; on a plane with normal y without friction: P along it and L about y
  HeldMomenta plane;
  plane.count = 3, plane.basis[0][0] = plane.basis[1][2] = plane.basis[2][4] = 1;
  for (const HeldMomenta& momenta : {all(), plane, HeldMomenta{}})
    for (const double change : {-5.0, -0.1, 0.1, 20.0}) {
      CAPTURE(momenta.count);
      CAPTURE(change);
      Motion8 m(3);
      const double before = m.kinetic();
      const Vec3 p = m.momentum(), l = m.spin(m.center());
      std::array<Vec4, 8> dv;
      const double relative = m.relative(momenta, dv);
      REQUIRE(relative > 6);
      CHECK(scale_relative(m.masses, dv.data(), relative, change, 10) == change);  // to the last bit
      m.add(dv);
      CHECK(m.kinetic() - before == doctest::Approx(change).epsilon(1e-11));
      const Vec3 dp = m.momentum() - p, dl = m.spin(m.center()) - l;
      const Vec6 momentum_change = {dp.x, dp.y, dp.z, dl.x, dl.y, dl.z};
      for (int k = 0; k < momenta.count; ++k) {
        Vec6 row = momenta.basis[k];
        if (momenta.count == 6) row = {}, row[k] = 1;
        CHECK(std::abs(dot(row, momentum_change)) <= 1e-11);
      }
    }
}

TEST_CASE("no more is taken than there is, and no more given than the growth allows") {
  Motion8 m(4);
  std::array<Vec4, 8> dv;
  const double relative = m.relative(all(), dv);
  CHECK(scale_relative(m.masses, dv.data(), relative, -2 * relative, 1) == doctest::Approx(-relative));
  m.add(dv);
  CHECK(m.kinetic() == doctest::Approx(m.held(all()).kinetic).epsilon(1e-12));

  Motion8 n(4);
  n.relative(all(), dv);
  CHECK(scale_relative(n.masses, dv.data(), relative, 100 * relative, 2) == doctest::Approx(3 * relative));
  const double before = n.kinetic();
  n.add(dv);
  CHECK(n.kinetic() - before == doctest::Approx(3 * relative));

  std::array<Vec4, 8> nothing{};
  CHECK(scale_relative(m.masses, nothing.data(), 0, 5, 3) == 0);
}

TEST_CASE("a push gives exactly what is missing, with and against the motion") {
  for (const double sense : {1.0, -1.0}) {
    Motion8 m(5);
    std::array<Vec4, 8> d, dv{};
    for (int i = 0; i < 8; ++i) d[i] = m.v[i] * sense;
    const double before = m.kinetic();
    CHECK(push_along(m.masses, m.v.data(), dv.data(), d.data(), 7) == 7);
    m.add(dv);
    CHECK(m.kinetic() - before == doctest::Approx(7).epsilon(1e-12));
    CHECK(dot(dv[0], d[0]) > 0);
  }
  const Motion8 m(5);
  std::array<Vec4, 8> none{}, dv{};
  CHECK(push_along(m.masses, m.v.data(), dv.data(), none.data(), 7) == 0);
  CHECK(dot(dv[0], dv[0]) == 0);
}

namespace {

/// A chain of 13 vertices, 1 m long, with `bend` in the middle [m], that turns about an axis across it.
struct Chain {
  std::vector<double> mass = std::vector<double>(13, 0.01);
  std::vector<Vec4> x, v;
  Masses masses{mass.data(), 13, 0.13};
  const Vec3 up = Vec3{5, 3, 0} / norm(Vec3{5, 3, 0});  // the axis

  explicit Chain(double bend) {
    const Vec3 along = Vec3{3, -5, 2} / norm(Vec3{3, -5, 2});
    for (int i = 0; i < 13; ++i) {
      const double s = i / 12.0 - 0.5;
      x.push_back(Vec4(along * s + up * (bend * (1 - 4 * s * s))));
      v.push_back(Vec4(cross(up * 3.0, x.back().xyz())));
    }
  }
  RigidMotion held() const { return held_motion(masses, all(), x.data(), v.data()); }
  double kinetic_after(const Mat3& turn) const {
    std::vector<Vec4> to = x;
    for (Vec4& y : to) y = Vec4(turn * y.xyz());
    const RigidMotion was = held();
    return rigid_motion(masses, all(), to.data(), was.momentum, was.spin).kinetic;
  }
};

}  // namespace

// An inverse matrix of its inertia has 1/I of the axis along it in every entry: by it L is 8e-7 off at a bend of 1e-5.
TEST_CASE("the held motion of a chain, however straight, has its angular momentum") {
  for (const double bend : {0.1, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-12, 0.0}) {
    CAPTURE(bend);
    Chain chain(bend);
    for (int i = 0; i < 13; ++i) chain.v[i] += Vec4(random_in_ball(5, i) * (1e-2 * bend));
    const RigidMotion held = chain.held();
    Vec3 spin{};
    for (int i = 0; i < 13; ++i)
      spin += cross(chain.x[i].xyz() - held.center, held.at(chain.x[i]).xyz()) * chain.mass[i];
    CHECK(norm(spin - held.spin) <= 1e-14 * norm(held.spin));
  }
}

TEST_CASE("a body carried by its held motion has no more rigid kinetic energy, however little inertia it has") {
  // turned by 0.1 rad a frame, and out of the plane across its spin by 0.001: it would have to whirl about itself
  for (const double bend : {0.1, 1e-3, 1e-5, 1e-8, 0.0}) {
    CAPTURE(bend);
    const Chain chain(bend);
    RigidMotion held = chain.held();
    const Vec3 beside = cross(chain.up, chain.x[0].xyz());
    held.turn += beside * (0.03 / norm(beside));
    const double before = chain.held().kinetic, h = 1.0 / 30;
    const Mat3 turn = carried_turn(chain.masses, all(), chain.x.data(), held, h);
    CHECK(chain.kinetic_after(turn) <= before * (1 + 1e-12));
    if (bend <= 1e-3) CHECK(chain.kinetic_after(Turn(held.turn * h).matrix()) > before * 1.1);
    // as good as by its turn, but for the 0.001
    CHECK(norm((turn - Turn(held.turn * h).matrix()) * chain.x[0].xyz()) <= 2e-3);
  }
  // bodies with three different moments tumble: the turn by the motion at its end is put right by a part of it
  for (int seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Motion8 m(100 + 10 * seed);
    const RigidMotion held = m.held(all());
    const double h = 0.3 / norm(held.turn);
    const Mat3 plain = Turn(held.turn * h).matrix(), turn = carried_turn(m.masses, all(), m.x.data(), held, h);
    const auto kinetic_after = [&](const Mat3& by) {
      std::array<Vec4, 8> to = m.x;
      for (Vec4& y : to) y = Vec4(held.center + by * (y.xyz() - held.center));
      return rigid_motion(m.masses, all(), to.data(), held.momentum, held.spin).kinetic;
    };
    CHECK(kinetic_after(turn) <= held.kinetic * (1 + 1e-12));
    double apart = 0;
    for (int k = 0; k < 3; ++k) apart = std::max(apart, norm(turn.col[k] - plain.col[k]));
    CHECK(apart <= 0.1);
  }
}
