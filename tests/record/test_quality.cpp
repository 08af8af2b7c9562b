// Roughness, constraint error and distance against closed forms.
#include <cmath>

#include <doctest/doctest.h>

#include "fixtures.h"

using namespace record_test;

namespace {

/// Rounding of sums over a handful of vertices with coordinates of about 1.
constexpr double round_off = 1e-14;

Scene still(std::vector<BodySpec> bodies) {
  for (BodySpec& body : bodies) body.initial = {};
  return scene_of(std::move(bodies));
}

/// A rope of five vertices at x = -2 … 2, springs of stiffness 1.
BodySpec rope(const std::string& name, double density = 1) {
  auto mesh = std::make_shared<Mesh>();
  for (int i = -2; i <= 2; ++i) mesh->vertices.push_back({double(i), 0, 0});
  for (int i = 0; i < 4; ++i) mesh->edges.push_back({i, i + 1});
  BodySpec body;
  body.name = name;
  body.mesh.mesh = mesh;
  body.density = density;
  body.potentials = {{"spring", {{"stiffness", Track<double>(1.0)}}}};
  return body;
}

/// Of the rope: masses 1/2, 1, 1, 1, 1/2 at -2 … 2.
const double rope_size = std::sqrt((0.5 * 4 + 1 + 0 + 1 + 0.5 * 4) / 4);

Mat3 turned(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}}};
}

}  // namespace

TEST_CASE("masses are those of the convention and sum to the measured mass") {
  const Simulation sim = simulate(still({rope("rope", 2), tetrahedron("tet", 5)}));
  const std::vector<double> mass = sim.masses();
  REQUIRE(mass.size() == 9);
  const double of_rope[] = {1, 2, 2, 2, 1};  // rho l / 2 from each side
  for (int i = 0; i < 5; ++i) CHECK(mass[i] == doctest::Approx(of_rope[i]).epsilon(round_off));
  for (int i = 5; i < 9; ++i) CHECK(mass[i] == doctest::Approx(1000.0 / 6 / 4).epsilon(round_off));  // rho V / 4
}

TEST_CASE("a zigzag of a rope has twice its amplitude as Laplacian at every vertex") {
  const Simulation sim = simulate(still({rope("rope")}));
  const QualityMeter meter(sim);
  std::vector<Vec3> x = sim.positions();
  CHECK(meter.roughness(x) <= round_off);
  const double a = 0.05;  // symmetric and without a mean: the best rigid fit is the rest shape itself
  for (int i = 0; i < 5; ++i) x[i].y += i % 2 ? -a : a;
  CHECK(meter.roughness(x) == doctest::Approx(2 * a / rope_size).epsilon(1e-13));
}

TEST_CASE("roughness does not see rigid motions, and a bend less than a zigzag") {
  Simulation sim = simulate(scene_of({tetrahedron("tet")}));  // stretched
  const QualityMeter meter(sim);
  std::vector<Vec3> x = sim.positions(), moved = x;
  const Mat3 R = turned(2.5);
  for (Vec3& p : moved) p = R * p + Vec3{3, -4, 5};
  CHECK(meter.roughness(x) > 0.01);
  CHECK(meter.roughness(moved) == doctest::Approx(meter.roughness(x)).epsilon(1e-13));

  const Simulation line = simulate(still({rope("rope")}));
  const QualityMeter along(line);
  std::vector<Vec3> bent = line.positions(), zigzag = bent;
  for (int i = 0; i < 5; ++i) bent[i].y += 0.1 * std::cos(M_PI * (i - 2) / 4), zigzag[i].y += i % 2 ? -0.1 : 0.1;
  CHECK(along.roughness(bent) < 0.5 * along.roughness(zigzag));
}

TEST_CASE("distance is the root mean square over the mass, in units of each body's size") {
  const Simulation sim = simulate(still({rope("light", 1), rope("heavy", 3)}));
  const QualityMeter meter(sim);
  const std::vector<Vec3> x = sim.positions();
  std::vector<Vec3> all = x, one = x, end = x;
  for (Vec3& p : all) p += {0, 3, 4};
  for (int i = 5; i < 10; ++i) one[i] += {0, 3, 4};
  end[0] += {0, 3, 4};
  CHECK(meter.distance(x, x) == 0);
  CHECK(meter.distance(all, x) == doctest::Approx(5 / rope_size).epsilon(round_off));
  CHECK(meter.distance(x, one) == doctest::Approx(std::sqrt(0.75) * 5 / rope_size).epsilon(round_off));  // 3/4 of mass
  // an end of the lighter rope has 1/8 of its mass, which is 1/4 of all
  CHECK(meter.distance(end, x) == doctest::Approx(std::sqrt(0.25 / 8) * 5 / rope_size).epsilon(round_off));
  all.pop_back();
  CHECK_THROWS_AS(meter.distance(all, x), std::invalid_argument);
  CHECK_THROWS_AS(meter.roughness(all), std::invalid_argument);
}

TEST_CASE("the constraint error of a stretched tetrahedron is its strain, of springs their relative lengthening") {
  BodySpec body = tetrahedron("tet");
  Simulation sim = simulate(scene_of({body}));  // F = diag(1.2, 1, 1), |F| at rest is sqrt(3)
  CHECK(sim.constraint_error() == doctest::Approx(0.2 / std::sqrt(3.0)).epsilon(1e-13));
  body.initial = {};
  CHECK(simulate(scene_of({body})).constraint_error() <= round_off);

  Simulation line = simulate(still({rope("rope")}));
  std::vector<Vec3> x = line.positions(), v(x.size());
  for (Vec3& p : x) p = turned(1) * (p * 1.1);
  line.set_state(x, v);
  CHECK(line.constraint_error() == doctest::Approx(0.1).epsilon(1e-13));
}

TEST_CASE("potentials of one body are weighed by what they hold it with") {
  BodySpec body = rope("rope");
  body.potentials.push_back({"spring", {{"stiffness", Track<double>(3.0)}}});
  body.potentials.back().region.emplace().indices = {0, 1};  // one of the four edges is four times as stiff
  Simulation sim = simulate(still({body}));
  std::vector<Vec3> x = sim.positions();
  x[0].x -= 0.3;
  sim.set_state(x, std::vector<Vec3>(x.size()));
  // sum of k (change of length)^2 over sum of k length^2
  CHECK(sim.constraint_error() == doctest::Approx(std::sqrt(4 * 0.09 / 7)).epsilon(1e-13));
}

TEST_CASE("what was not measured is not a number, and means are over what was") {
  Simulation sim = simulate(still({rope("rope")}));
  ReportRun plain("plain", sim, 1);
  CHECK(std::isnan(plain.summary().quality.roughness));
  CHECK(std::isnan(plain.summary().last_distance));

  FrameQuality q{1, 2, 0};
  ReportRun run("measured", sim, 5, 600, q);
  for (int frame = 1; frame <= 5; ++frame) {
    q = {1.0 + frame, 2, double(frame)};
    if (frame == 5) q.distance = std::numeric_limits<double>::quiet_NaN();  // the reference ended before
    run.frame(sim, {}, q);
  }
  const RunSummary summary = run.summary();
  CHECK(summary.quality.roughness == doctest::Approx(5.5));  // of frames 4 and 5, the last third of six
  CHECK(summary.quality.constraint_error == doctest::Approx(2));
  CHECK(summary.quality.distance == doctest::Approx(2));
  CHECK(summary.last_distance == 4);
}
