// What is recorded of bodies that tear (Inventory P20).
#include <algorithm>

#include <doctest/doctest.h>

#include "fixtures.h"
#include "record/kept.h"
#include "verve/convert.h"

using namespace record_test;

namespace {

/// A bar that flies apart, and a ball that does not.
Scene torn_scene() {
  Scene scene;
  scene.name = "torn";
  BodySpec bar;
  bar.name = "bar";
  bar.mesh.generator = "box";
  bar.mesh.parameters = {{"size", {2, 0.5, 0.5}}, {"cells", {8, 2, 2}}};
  bar.potentials = {{"tet_strain", {{"mu", Track<double>(1e4)}}}};
  bar.potentials[0].tear = 1.5;
  bar.initial.stretch = {1.35, 1, 1};
  bar.initial.angular_velocity = {0.1, 0.2, 4};
  scene.bodies = {tetrahedron("tet", 5), bar};
  return scene;
}

}  // namespace

TEST_CASE("P20: torn.csv names every element that is gone, from the frame on in which it went") {
  const Folder folder;
  Simulation simulation = Simulation::create(torn_scene()).value();
  std::vector<std::string> lines{"frame,body,kind,element"};
  RemovedElements before;
  {
    Recorder recorder = Recorder::open(folder.path, simulation).value();
    CHECK(read_text(folder.path / "torn.csv") == lines[0] + "\n");
    for (int i = 0; i < 15; ++i) {
      const StepReport report = simulation.step();
      REQUIRE(report);
      recorder.frame(simulation, report);
      const RemovedElements now = simulation.removed_elements(1);
      for (const int t : now.tetrahedra)
        if (std::find(before.tetrahedra.begin(), before.tetrahedra.end(), t) == before.tetrahedra.end())
          lines.push_back(std::to_string(simulation.frame()) + ",bar,tetrahedron," + std::to_string(t));
      before = now;
    }
  }
  REQUIRE(lines.size() > 5);
  std::string expected;
  for (const std::string& line : lines) expected += line + "\n";
  CHECK(read_text(folder.path / "torn.csv") == expected);

  const std::vector<TornElement> read = read_torn(folder.path / "torn.csv").value();
  REQUIRE(read.size() + 1 == lines.size());
  CHECK(read.back().body == "bar");
  CHECK(read.back().kind == "tetrahedron");
  CHECK(std::to_string(read.back().frame) + ",bar,tetrahedron," + std::to_string(read.back().element) == lines.back());
  // a last line that was cut short
  write_text(folder.path / "cut.csv", expected.substr(0, expected.size() - 3));
  CHECK(read_torn(folder.path / "cut.csv").value().size() + 1 == read.size());
  write_text(folder.path / "bad.csv", lines[0] + "\n3,bar,square,7\n");
  CHECK(read_torn(folder.path / "bad.csv")
            .diagnostics()
            .text()
            .find("bad.csv:2: found \"3,bar,square,7\", expected a frame, a body, one of tetrahedron, triangle, edge, "
                  "and a "
                  "number") != std::string::npos);
  CHECK(!read_torn(folder.path / "none.csv"));

  // a scene that cannot tear leaves none, and takes away that of an earlier run
  Scene whole = torn_scene();
  whole.bodies[1].potentials[0].tear = {};
  Simulation other = Simulation::create(whole).value();
  Recorder::open(folder.path, other).value();
  CHECK(!fs::exists(folder.path / "torn.csv"));
}

TEST_CASE("P20: a report knows when each triangle appears and when it is gone") {
  Simulation simulation = Simulation::create(torn_scene()).value();
  ReportRun run("cpd", simulation, 15);
  for (int i = 0; i < 15; ++i) {
    const StepReport report = simulation.step();
    REQUIRE(report);
    run.frame(simulation, report);
  }
  const Folder folder;
  REQUIRE(write_report(folder.path / "report.html", "title", "", {&run}));
  const std::string page = read_text(folder.path / "report.html");
  size_t lives = 0;
  for (size_t at = page.find("\"life\":\""); at != std::string::npos; at = page.find("\"life\":\"", at + 1)) ++lives;
  CHECK(lives == 1);  // of the bar alone
  // energy is kept between the frames that lose some
  CHECK(run.summary().energy.departure <= 1e-5);
  CHECK(run.summary().momentum.departure <= 1e-12);
}

TEST_CASE("P20: frames in which something tears end the span in which energy is to be kept") {
  const Spans spans = undisturbed_spans(torn_scene(), 50, 0, {20, 21});
  CHECK(spans.energy.from == 21);
  CHECK(spans.energy.to == 50);
  CHECK(spans.momentum.from == 0);
  CHECK(spans.momentum.to == 50);
  CHECK(undisturbed_spans(torn_scene(), 2, 0, {1, 2}).energy.why_not == "lost by tearing");
}
