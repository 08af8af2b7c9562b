#include <doctest/doctest.h>

#include "process.h"
#include "verve/scene_file.h"

namespace {

/// A tetrahedron without one of its faces, in millimetres.
const char* open_surface = "v 0 0 0\nv 90 0 0\nv 0 0 90\nv 30 90 30\nf 1 2 3\nf 1 4 2\nf 2 4 3\n";

}  // namespace

TEST_CASE("drop makes an open surface solid and leaves run, report, picture and a scene that runs again") {
  const Folder folder;
  folder.write("my cup.obj", open_surface);
  const Outcome dropped = run(folder, {"drop", "my cup.obj", "--cells", "8", "--frames", "4", "--material", "rubber", "--out", "cup"});
  CAPTURE(dropped.err);
  REQUIRE(dropped.code == 0);
  for (const char* file : {"metrics.csv", "positions.npy", "report.html", "picture.png", "scene.json"})
    CHECK_MESSAGE(std::filesystem::exists(folder.path("cup") / file), file);
  const verve::Scene scene = verve::read_scene(folder.text("cup/scene.json")).value();
  CHECK(scene.bodies[0].name == "my_cup");
  CHECK(scene.bodies[0].place.size == 0.3);
  CHECK(scene.gravity.y < 0);
  REQUIRE(run(folder, {"simulate", "cup/scene.json", "--out", "again", "--quiet"}).code == 0);
  CHECK(read_file(folder.path("again/positions.npy")) == read_file(folder.path("cup/positions.npy")));
  // the same by the name of the file alone, with keys of the scene overridden
  REQUIRE(run(folder, {"simulate", "my cup.obj", "--frames", "2", "--set", "bodies[0].mesh.cells=6", "--out", "plain", "--quiet"}).code == 0);
  CHECK(read_npy_info(folder.path("plain/positions.npy")).shape[0] == 3);
}

TEST_CASE("drop refuses what it cannot fill, with one message each, and writes nothing") {
  const Folder folder;
  folder.write("short.ply", "ply\nformat ascii 1.0\nelement vertex 3\n");
  folder.write("wrong.stl", "OFF\n1 0 0\n0 0 0\n");
  folder.write("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  folder.write("rope.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
  const auto refused = [&](const std::string& file, const std::string& message) {
    CAPTURE(file);
    const Outcome outcome = run(folder, {"drop", file, "--out", "out"});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, message));
    CHECK(contains(outcome.err, "verve: 1 problem; nothing was written"));
    CHECK(!std::filesystem::exists(folder.path("out")));
  };
  refused("short.ply", "short.ply:3: found the end of the file, expected end_header");
  refused("wrong.stl", "rename it to .off");
  refused("nan.obj", "nan.obj:1: found \"nan\", expected a finite coordinate");
  refused("rope.obj", "found edges only");
  refused("none.obj", "none.obj: file not found");
  CHECK(contains(run(folder, {"drop", "rope.obj", "--material", "jely"}).err, "(nearest: jelly)"));
}

TEST_CASE("mesh info counts what is wrong with a surface and doubts its unit") {
  const Folder folder;
  folder.write("a.obj", open_surface);
  const Outcome info = run(folder, {"mesh", "info", "a.obj"});
  CHECK(info.code == 0);
  CHECK(contains(info.out, "large for metres: in centimetres it would be 0.9 m"));
  for (const char* row : {"parts               1\n", "open edges          3\n", "flipped faces       0\n",
                          "self-intersections  0 pairs of faces\n"})
    CHECK_MESSAGE(contains(info.out, row), info.out);
}
