// What is thin and fast: plates that meet at ten to seventy times their thickness in a frame, askew, hardly ever come out
// on the other side of each other. (docs/decisions/019-continuous-detection.md has the same for cloths and bars.)
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// 2 cm thick, across the way to the other, turned by up to 30 degrees about each axis.
BodySpec plate(std::uint64_t seed, double x, double speed) {
  const auto draw = [&](int n) { return random_signed(seed, n); };
  BodySpec body = generated_body("box", {{"size", {0.02, 0.5, 0.5}}, {"cells", {1, 6, 6}}}, strain(1e6));
  body.name = x < 0 ? "left" : "right";
  body.place.rotate = {20 * draw(1), 30 * draw(2), 30 * draw(3)};
  body.place.translate = {x, 0.05 * draw(4), 0.05 * draw(5)};
  body.initial.velocity = {x < 0 ? speed : -speed, 0, 0};
  return body;
}

}  // namespace

TEST_CASE("plates that meet at many times their thickness a frame stay on their sides, and gain nothing") {
  constexpr int count = 24;
  int passed = 0;
  for (int seed = 9001; seed < 9001 + count; ++seed) {
    CAPTURE(seed);
    const double speed = 5 * std::pow(4, 0.5 * (1 + random_signed(seed, 7)));  // to 20 m/s, each
    CAPTURE(speed);
    const double far = 0.35 + speed / 30 * (1 + random_signed(seed, 8));
    Scene scene;
    scene.bodies = {plate(seed, -far, speed), plate(seed + 1000, far, speed)};
    scene.contact.emplace();
    Simulation sim = make(scene);
    const double start = sim.measure().total;
    for (int frame = 0; frame < 8; ++frame) {
      REQUIRE(sim.step());
      CHECK(sim.measure().total <= start * (1 + 1e-4));
    }
    passed += sim.measure(0).center.x > sim.measure(1).center.x;
  }
  MESSAGE(passed, " of ", count, " pass");
  // Two here, none of 46 others at these speeds: where a pair ends a frame inside of each other. With stencils from where
  // the step begins and widths along the axes of the scene it was three of four.
  CHECK(passed <= 3);
}
