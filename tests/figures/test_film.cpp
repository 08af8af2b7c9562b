// Runs and the arithmetic over them, beside closed forms.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "figures/film.h"
#include "figures/solids.h"

using namespace verve;
using namespace verve::figures;

TEST_CASE("means, deviations, slopes and spreads of simple sequences") {
  const std::vector<double> v{1, 2, 3, 4};
  CHECK(mean(v) == doctest::Approx(2.5));
  CHECK(deviation(v) == doctest::Approx(std::sqrt(1.25)));
  CHECK(slope(v) == doctest::Approx(1));
  CHECK(spread(v) == doctest::Approx(3 / 2.5));
  CHECK(largest(v) == 4);
  CHECK(least(v) == 1);
  const std::vector<double> bad{1, std::nan(""), 3};
  CHECK(!(largest(bad) <= 10));  // a run that went wrong passes no bound
}

TEST_CASE("peaks of a sampled cosine are found between the frames, to the third order of the step") {
  std::vector<double> y;
  for (int i = 0; i < 100; ++i) y.push_back(std::cos(2 * std::numbers::pi * (i - 7.3) / 25));
  const std::vector<Peak> p = peaks(y);
  REQUIRE(p.size() == 4);
  CHECK(p[0].frame == 7);
  // the parabola through three points of a cosine of 25 steps: off by (2 pi / 25)^4 / 24 or less
  for (const Peak& peak : p) CHECK(peak.value == doctest::Approx(1).epsilon(2e-4));
  CHECK(peaks(y, 1.1).empty());
}

TEST_CASE("a film has the start and every frame, and departures are those of its measures") {
  Context context;
  Scene scene = small_cube("cpd");
  const Film f = whole_film(context, scene, {.frames = 12, .keep_poses = true, .roughness = true, .each_body = true});
  CHECK(f.frames() == 12);
  REQUIRE(f.shots.size() == 13);
  REQUIRE(f.poses.size() == 13);
  CHECK(f.shots[12].time == doctest::Approx(0.4));
  CHECK(f.off_energy() <= 2e-6);
  CHECK(f.off_spin() <= 1e-12);
  CHECK(f.shots[5].bodies.at(0).total == f.shots[5].all.total);
  CHECK(f.mean_iterations() >= 1);
  const Film pd = film(context, by_method(scene, "pd"), {.frames = 12});
  CHECK(pd.label == "pd");
  double most = 0;
  for (const Shot& s : pd.shots) most = std::max(most, std::abs(s.all.total / pd.shots[0].all.total - 1));
  CHECK(pd.off_energy() == doctest::Approx(most));
  CHECK(pd.off_energy() > 0.1);
}

TEST_CASE("a run that cannot be finished says why, and who needs it whole is told") {
  Context context;
  Scene scene = small_cube("explicit_euler", 1e14);
  const Film f = film(context, scene, {.frames = 50});
  CHECK(f.frames() < 50);
  CHECK(!f.failure.empty());
  CHECK_THROWS_AS(whole_film(context, scene, {.frames = 50}), std::runtime_error);
}

TEST_CASE("the least energy of a rigid motion is its kinetic energy, wherever it is") {
  Scene scene = scene_with(box(2, 1e4), "cpd");
  scene.bodies[0].place.translate = {5, -3, 2};
  scene.bodies[0].initial.velocity = {1, 2, -1};
  scene.bodies[0].initial.angular_velocity = {0.3, -1, 2};
  const Simulation sim = simulation(scene);
  CHECK(least_energy(sim, 0) == doctest::Approx(sim.measure(0).kinetic).epsilon(1e-10));
}

TEST_CASE("a strip of frames is a PNG on request and nothing without pictures") {
  Context context;
  const Film f = whole_film(context, small_cube("pd"), {.frames = 2, .keep_poses = true});
  Result with, without;
  strip(context, with, "frames", "a caption", spread_looks(f, 2), {.columns = 2, .width = 40, .height = 30});
  REQUIRE(with.pictures.size() == 1);
  CHECK(with.pictures[0].name == "frames.png");
  CHECK(with.pictures[0].bytes.substr(1, 3) == "PNG");
  context.pictures = false;
  strip(context, without, "frames", "a caption", spread_looks(f, 2));
  CHECK(without.pictures.empty());
}

namespace {

/// Width and height as the PNG says.
std::array<int, 2> size_of(const Picture& picture) {
  const auto number = [&](size_t at) {
    int out = 0;
    for (size_t k = 0; k < 4; ++k) out = out << 8 | std::uint8_t(picture.bytes[at + k]);
    return out;
  };
  return {number(16), number(20)};
}

}  // namespace

TEST_CASE("labels and the colour scale have room of their own, and a body that has blown up does not shrink the rest") {
  Context context;
  const Film f = whole_film(context, small_cube("pd"), {.frames = 2, .keep_poses = true});
  Result r;
  strip(context, r, "plain", "", spread_looks(f, 2), {.columns = 2, .width = 60, .height = 40});
  strip(context, r, "strain", "", spread_looks(f, 2), {.columns = 2, .width = 60, .height = 40, .strain = true});
  CHECK(size_of(r.pictures[0])[0] == 2 * 60 + 4);
  CHECK(size_of(r.pictures[0])[1] > 40);
  CHECK(size_of(r.pictures[1])[1] > size_of(r.pictures[0])[1] + 30);

  // framed with it, the first would be a dot
  Film burst = f;
  for (auto& pose : burst.poses)
    for (Vec3& p : pose) p = p * 1e6;
  const auto alone = [&](const Film& other, double reach) {
    Result one;
    strip(context, one, "both", "", {{&f, 0, "a"}, {&other, 0, "b"}},
          {.columns = 1, .width = 60, .height = 40, .reach = reach});
    return one.pictures[0].bytes;
  };
  CHECK(alone(f, 1e300) == alone(f, 3));
  CHECK(alone(burst, 3) != alone(burst, 1e300));
}
