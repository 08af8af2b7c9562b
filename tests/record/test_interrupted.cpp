#include <random>

#include <sys/wait.h>
#include <csignal>

#include <doctest/doctest.h>

#include "fixtures.h"
#include "record/output_file.h"

using namespace record_test;

namespace {

/// A grid of vertices under few tetrahedra: frames of more than a memory page, so that a kill can fall inside one.
Scene wide_scene() {
  auto mesh = std::make_shared<Mesh>();
  for (int i = 0; i < 500; ++i) {
    const int first = int(mesh->vertices.size());
    const double x = 2.0 * i;
    mesh->vertices.insert(mesh->vertices.end(), {{x, 0, 0}, {x + 1, 0, 0}, {x, 1, 0}, {x, 0, 1}});
    mesh->tetrahedra.push_back({first, first + 1, first + 2, first + 3});
  }
  BodySpec body = tetrahedron("body");
  body.mesh.mesh = mesh;
  return scene_of({body});
}

/// Every coordinate of frame n is n: whoever reads the file can tell whether a frame is whole.
void pose(Simulation& sim, int frame) {
  std::vector<Vec3> x(size_t(sim.vertices()), Vec3{double(frame), double(frame), double(frame)});
  sim.set_state(x, std::vector<Vec3>(x.size()));
  sim.set_time(frame / 30.0, frame);
}

}  // namespace

TEST_CASE("a run killed at any moment leaves whole frames: counted positions are there, and so are their metrics") {
  Folder folder;
  Simulation sim = simulate(wide_scene());
  std::mt19937 random(20240501);
  std::int64_t most = 0;
  for (int trial = 0; trial < 50; ++trial) {
    CAPTURE(trial);
    const fs::path directory = folder.path / ("run" + std::to_string(trial % 7));  // some into an earlier run's folder
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      pose(sim, 0);
      auto recorder = Recorder::open(directory, sim);
      if (!recorder || ::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (int frame = 1; frame < 1000000; ++frame) {
        pose(sim, frame);
        recorder->frame(sim, {});
      }
      ::_exit(0);
    }
    char byte = 0;
    ::close(ready[1]);
    const ssize_t got = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::usleep(std::uniform_int_distribution<unsigned>(0, 20000)(random));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(got == 1);
    REQUIRE(WIFSIGNALED(status));

    const Npy npy = read_npy(directory / "positions.npy");
    most = std::max(most, npy.frames);
    REQUIRE(npy.frames >= 1);
    REQUIRE(npy.frames * npy.vertices * 3 * npy.item() <= npy.data_bytes);
    bool whole = true;
    for (std::int64_t f = 0; f < npy.frames; ++f)
      for (std::int64_t v = 0; v < npy.vertices; ++v)
        for (int a = 0; a < 3; ++a) whole = whole && npy.at(f, v, a) == double(f);
    CHECK(whole);

    const auto rows = read_csv(directory / "metrics.csv");
    CHECK(std::int64_t(rows.size()) >= 1 + 2 * npy.frames);  // metrics are written before the count
    CHECK(std::int64_t(rows.size()) <= 1 + 2 * (npy.frames + 1));
    for (size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(rows[i].size() == 27);
      if (i > 0) REQUIRE(rows[i][0] == std::to_string((i - 1) / 2));
    }
  }
  CHECK(most > 5);  // the children did record
}

TEST_CASE("a file that grows can be read after every piece, and appears only when its head could be written") {
  Folder folder;
  GrowingFile file;
  write_text(folder.path / "t.csv", "old");
  CHECK(file.create(folder.path / "t.csv", "a,b\n") == "");
  CHECK(folder.entries() == std::vector<std::string>{"t.csv"});
  CHECK(read_text(folder.path / "t.csv") == "a,b\n");
  CHECK(file.append("1,2\n") == "");
  CHECK(file.append("3,4\n") == "");
  CHECK(read_text(folder.path / "t.csv") == "a,b\n1,2\n3,4\n");
  GrowingFile other;
  CHECK(other.create(folder.path / "missing/t.csv", "a\n") == "No such file or directory");
  fs::create_directories(folder.path / "taken/inside");
  CHECK(other.create(folder.path / "taken", "a\n") != "");
  CHECK(folder.entries().size() == 3);  // nothing of the attempts is left
}
