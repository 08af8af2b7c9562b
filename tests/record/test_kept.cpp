#include "record/kept.h"

#include <cmath>

#include <doctest/doctest.h>

using namespace verve;

namespace {

Scene plain_scene() {
  Scene scene;
  scene.step = 0.1;
  scene.bodies.emplace_back().name = "b";
  return scene;
}

Track<bool> switched_on_at(double time) {
  Track<bool> track;
  track.keys = {{0, false}, {time, true}};
  return track;
}

/// A body of 2 kg that slides and spins; kinetic energy and momenta shrink by `factor` per frame.
History sliding(int frames, double factor) {
  History history;
  history.radius = 1;
  double share = 1;
  for (int i = 0; i <= frames; ++i, share *= factor) {
    Measures m;
    m.mass = 2;
    m.kinetic = m.total = 4 * share;
    m.momentum = {3 * share, 0, 0};
    m.spin = {0, 0, -1 * share};
    history.frames.push_back(m);
  }
  return history;
}

}  // namespace

TEST_CASE("without outside influence everything is to be kept from first to last frame") {
  const Spans spans = undisturbed_spans(plain_scene(), 50);
  for (const Span& span : {spans.energy, spans.momentum, spans.spin}) {
    CHECK(span.from == 0);
    CHECK(span.to == 50);
  }
}

TEST_CASE("after pushes the longest undisturbed span counts") {
  Scene scene = plain_scene();
  scene.pushes.resize(2);
  scene.pushes[0].time = 0.55, scene.pushes[1].time = 1.05;
  const Spans spans = undisturbed_spans(scene, 50);
  CHECK(spans.energy.from == 11);  // the step from 1.0 s to 1.1 s has the second push
  CHECK(spans.energy.to == 50);
}

TEST_CASE("an anchor to the world takes momenta, but energy only by moving or being released") {
  Scene scene = plain_scene();
  scene.anchors.emplace_back().active = switched_on_at(2);
  Spans spans = undisturbed_spans(scene, 50);
  CHECK(spans.energy.from == 0);
  CHECK(spans.energy.to == 50);
  CHECK(spans.momentum.from == 0);
  CHECK(spans.momentum.to == 19);
  CHECK(spans.spin.to == 19);

  scene.anchors[0].active = true;
  spans = undisturbed_spans(scene, 50);
  CHECK(spans.momentum.empty());
  CHECK(spans.momentum.why_not == "exchanged with an anchor");

  scene.anchors[0].path.keys = {{0, Vec3{0, 0, 0}}, {5, Vec3{1, 0, 0}}};
  CHECK(undisturbed_spans(scene, 50).energy.empty());
}

TEST_CASE("an anchor between bodies leaves the momenta of the whole alone") {
  Scene scene = plain_scene();
  scene.anchors.emplace_back().to_body = "c";
  CHECK(undisturbed_spans(scene, 50).momentum.to == 50);
}

TEST_CASE("gravity changes momentum, dials and materials change what they name") {
  Scene scene = plain_scene();
  scene.gravity = {0, -9.81, 0};
  CHECK(undisturbed_spans(scene, 50).momentum.why_not == "changed by gravity");
  CHECK(undisturbed_spans(scene, 50).spin.to == 50);

  scene = plain_scene();
  scene.bodies[0].dials.half_life = 2.0;
  CHECK(undisturbed_spans(scene, 50).energy.why_not == "set by a dial");
  CHECK(undisturbed_spans(scene, 50).momentum.to == 50);

  scene = plain_scene();
  Track<double> ramp;
  ramp.keys = {{0, 1e4}, {1, 1e4}, {2, 2e4}};
  scene.bodies[0].potentials.push_back({"tet_strain", {{"mu", ramp}}});
  CHECK(undisturbed_spans(scene, 50).energy.from == 20);
}

TEST_CASE("what is kept is told with its values and as a share") {
  const Span span{0, 10, ""};
  CHECK(kept_energy(sliding(10, 1), span, 4).text == "4 → 4 J (100.0 %)");
  CHECK(kept_energy(sliding(10, 0.9), span, 4).text == "4 → 1.395 J (34.9 %)");  // 0.9^10 = 0.3487
  CHECK(kept_momentum(sliding(10, 0.9), span).text == "3 → 1.046 kg m/s (34.9 %)");
  CHECK(kept_spin(sliding(10, 1), span).text == "1 → 1 kg m²/s (100.0 %)");
  CHECK(kept_energy(sliding(10, 1.1), span, 4).text == "4 → 10.37 J (259.4 %)");  // a gain is no less a fault
  CHECK(kept_spin(sliding(10, 1), Span{0, 0, "set by a dial"}).text == "set by a dial");
}

TEST_CASE("shares and largest departures are numbers too") {
  const Span span{0, 10, ""};
  const Kept energy = kept_energy(sliding(10, 0.9), span, 4);
  CHECK(energy.share == doctest::Approx(std::pow(0.9, 10)));
  CHECK(energy.departure == doctest::Approx(1 - std::pow(0.9, 10)));
  CHECK(kept_spin(sliding(10, 0.9), span).departure == doctest::Approx(1 - std::pow(0.9, 10)));
  History excursion = sliding(10, 1);
  excursion.frames[4].total = 5, excursion.frames[4].momentum = {3, 4, 0};  // there and back
  CHECK(kept_energy(excursion, span, 4).share == 1);
  CHECK(kept_energy(excursion, span, 4).departure == doctest::Approx(0.25));
  CHECK(kept_momentum(excursion, span).share == 1);
  CHECK(kept_momentum(excursion, span).departure == doctest::Approx(4.0 / 3));
  // of what is zero at the start, in units of what 4 J of kinetic energy could carry with 2 kg
  for (Measures& m : excursion.frames) m.momentum = {};
  excursion.frames[4].momentum = {1, 0, 0};
  CHECK(kept_momentum(excursion, span).departure == doctest::Approx(1 / std::sqrt(2 * 2 * 4.0)));
  CHECK(std::isnan(kept_momentum(excursion, span).share));
  CHECK(std::isnan(kept_spin(excursion, Span{0, 0, "set by a dial"}).departure));
}

TEST_CASE("energy below zero, as of a hanging body, is counted in units of the scale") {
  History hanging = sliding(10, 1);
  for (int i = 0; i <= 10; ++i) hanging.frames[i].total = -1e-12 - 0.1 * i;
  CHECK(kept_energy(hanging, {0, 10, ""}, 4).text == "0 → -1 J (75.0 %)");
}

TEST_CASE("energy from nothing is told without a share of it") {
  History pushed = sliding(10, 1);
  pushed.frames[0].total = pushed.frames[0].kinetic = 0;
  CHECK(kept_energy(pushed, {0, 10, ""}, 0).text == "0 → 4 J");
  for (Measures& m : pushed.frames) m = {};
  CHECK(kept_energy(pushed, {0, 10, ""}, 0).text == "none to keep");
}

TEST_CASE("values that are not finite are named, and a short excursion does not hide the rest") {
  History wild = sliding(10, 1);
  wild.frames[5].kinetic = wild.frames[5].total = INFINITY;
  CHECK(kept_energy(wild, {0, 10, ""}, 4).text == "4 → 4 J (100.0 %)");
  CHECK(kept_momentum(wild, {0, 10, ""}).text == "3 → 3 kg m/s (100.0 %)");
  CHECK(kept_energy(wild, {0, 5, ""}, 4).text == "4 → not finite");
  CHECK(kept_energy(wild, {5, 10, ""}, INFINITY).text == "not finite");
  wild.frames[10].momentum = {1e200, 0, 0};  // its square overflows
  CHECK(kept_momentum(wild, {0, 10, ""}).text == "3 → not finite");
  wild.frames[10].total = 4e99;
  CHECK(kept_energy(wild, {0, 10, ""}, 4).text == "4 → 4e+99 J (1e+101 %)");
}

TEST_CASE("a run that begins late in its scene is judged by what comes after") {
  Scene scene = plain_scene();
  scene.pushes.resize(2);
  scene.pushes[0].time = 0.55, scene.pushes[1].time = 3.05;
  const Spans spans = undisturbed_spans(scene, 50, 2.0);
  CHECK(spans.energy.from == 11);  // 2.0 s + 11 steps: the second push is over
  CHECK(spans.energy.to == 50);
  CHECK(undisturbed_spans(scene, 0).energy.why_not == "no frames");
}

TEST_CASE("rounding noise is nothing to keep") {
  History still = sliding(10, 1);
  for (Measures& m : still.frames) m.momentum = {1e-15, 0, 0}, m.spin = {};
  CHECK(kept_momentum(still, {0, 10, ""}).text == "none to keep");
  CHECK(kept_spin(still, {0, 10, ""}).text == "none to keep");
}

TEST_CASE("the elastic oscillation is the standard deviation over the last third") {
  History history = sliding(29, 1);
  for (int i = 0; i < 30; ++i) history.frames[i].elastic = i < 20 ? 100 * i : i % 2 ? 3 : 1;
  CHECK(elastic_oscillation(history) == doctest::Approx(1).epsilon(1e-12));  // ±1 about 2
}
