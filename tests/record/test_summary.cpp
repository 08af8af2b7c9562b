#include <doctest/doctest.h>

#include "base/text.h"
#include "fixtures.h"

using namespace record_test;

namespace {

/// Moves the simulation by hand to a rigid translation with this speed.
void move(Simulation& sim, int frame, double speed) {
  std::vector<Vec3> x = sim.mesh(0).vertices, v(x.size(), Vec3{speed, 0, 0});
  sim.set_state(x, v);
  sim.set_time(frame / 30.0, frame);
}

Scene resting_scene() {
  BodySpec body = tetrahedron("body");
  body.initial = {};
  return scene_of({body});
}

}  // namespace

TEST_CASE("a body that slows to half its speed has kept half its momentum and a quarter of its energy") {
  Simulation sim = simulate(resting_scene());
  move(sim, 0, 2);
  ReportRun run("slower", sim, 2);
  StepReport report;
  report.iterations = 3, report.milliseconds = 0.5;
  move(sim, 1, 1.5);
  run.frame(sim, report);
  report.iterations = 6, report.milliseconds = 1.5;
  move(sim, 2, 1);
  run.frame(sim, report);
  const RunSummary summary = run.summary();
  const double mass = sim.measure().mass;
  CHECK(summary.energy.text == format_value(2 * mass) + " → " + format_value(mass / 2) + " J (25.0 %)");
  CHECK(summary.energy.span == "from 0 s to 0.0667 s");
  CHECK(summary.momentum.text == format_value(2 * mass) + " → " + format_value(mass) + " kg m/s (50.0 %)");
  CHECK(summary.spin.text == "none to keep");  // it never turned: rounding is not reported as a share
  CHECK(summary.elastic_oscillation == doctest::Approx(0));
  CHECK(summary.mean_iterations == doctest::Approx(4.5));
  CHECK(summary.mean_milliseconds == doctest::Approx(1));
}

TEST_CASE("after a push of the scene a run is measured from then on, and one that never moves against nothing") {
  Scene scene = resting_scene();
  scene.pushes.emplace_back().time = 0.02;
  scene.pushes[0].body = "body";
  Simulation sim = simulate(scene);
  ReportRun pushed("pushed", sim, 3), still("still", sim, 0);
  for (int frame = 1; frame <= 3; ++frame) {
    move(sim, frame, frame == 1 ? 2 : 1);
    pushed.frame(sim, {});
  }
  CHECK(pushed.summary().momentum.span == "from 0.0333 s to 0.1 s");
  CHECK(pushed.summary().momentum.text.find("(50.0 %)") != std::string::npos);
  CHECK(pushed.summary().energy.text.find("(25.0 %)") != std::string::npos);
  CHECK(still.summary().energy.text == "no frames");
  CHECK(still.summary().energy.span == "");
  CHECK(still.summary().elastic_oscillation == 0);
}

TEST_CASE("what an anchor or gravity changes is not called kept or lost") {
  Scene scene = resting_scene();
  scene.gravity = {0, -9.81, 0};
  scene.anchors.emplace_back().body = "body";
  scene.anchors[0].vertices.all = true;
  Simulation sim = simulate(scene);
  ReportRun run("held", sim, 2);
  for (int i = 0; i < 2; ++i) run.frame(sim, sim.step());
  CHECK(run.summary().momentum.text == "exchanged with an anchor");
  CHECK(run.summary().spin.text == "exchanged with an anchor");
  CHECK(run.summary().momentum.span == "");
  CHECK(run.summary().energy.span == "from 0 s to 0.0667 s");
}

TEST_CASE("runs beside each other share the unit in which falling energy is counted") {
  Scene scene = resting_scene();
  scene.gravity = {0, 0, -10};
  Simulation sim = simulate(scene);
  move(sim, 0, 1);
  ReportRun slow("slow", sim, 1);
  move(sim, 1, 0);  // loses m/2
  slow.frame(sim, {});
  move(sim, 0, 2);
  ReportRun fast("fast", sim, 1);  // has 2 m
  move(sim, 1, 2);
  fast.frame(sim, {});
  CHECK(slow.summary().energy.text.find("(0 %)") != std::string::npos);
  CHECK(slow.summary({&slow, &fast}).energy.text.find("(75.0 %)") != std::string::npos);
  CHECK(fast.summary({&slow, &fast}).energy.text.find("(100.0 %)") != std::string::npos);
}

TEST_CASE("a run that blew up is no unit for those beside it") {
  Scene scene = resting_scene();
  scene.gravity = {0, 0, -10};
  Simulation sim = simulate(scene);
  move(sim, 0, 1);
  ReportRun slow("slow", sim, 1);
  move(sim, 1, 0);  // loses all of its m/2
  slow.frame(sim, {});
  move(sim, 0, 1e6);
  ReportRun wild("wild", sim, 0);
  CHECK(slow.summary({&slow, &wild}).energy.text.find("(100.0 %)") != std::string::npos);
  wild.mark_as_failed();
  CHECK(slow.summary({&slow, &wild}).energy.text.find("(0 %)") != std::string::npos);
}
