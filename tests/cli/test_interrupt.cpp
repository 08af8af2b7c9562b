#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "process.h"

namespace {

/// A run far too long to end by itself, once it has recorded a few frames.
struct LongRun {
  Folder folder;
  Process process;

  LongRun()
      : process(folder, {"simulate", folder.write("in.json", small_scene()), "--frames", "1000000", "--out", "o"}) {
    for (int i = 0; i < 6000 && rows().size() < 20 && process.running(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(process.running());
  }
  std::vector<std::string> rows() const { return lines_of(read_file(folder.path("o/metrics.csv"))); }

  /// The last frame in metrics.csv, after checking that every line is whole.
  long last_frame() const {
    const std::string text = read_file(folder.path("o/metrics.csv"));
    REQUIRE(text.size() > 0);
    CHECK(text.back() == '\n');
    const std::vector<std::string> lines = lines_of(text);
    for (const std::string& line : lines) CHECK(std::count(line.begin(), line.end(), ',') == 26);
    CHECK((lines.size() - 1) % 2 == 0);  // `block` and `all` of every frame
    return std::atol(lines.back().c_str());
  }
};

}  // namespace

TEST_CASE("Ctrl-C finishes the frame, writes the report and says how far it came") {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    LongRun run;
    run.process.send(signal);
    const Outcome outcome = run.process.wait();
    CHECK(outcome.code == code);
    const long frames = run.last_frame();
    CHECK(contains(outcome.err, "interrupted after " + std::to_string(frames) + " of 1000000 frames"));
    const NpyInfo positions = read_npy_info(run.folder.path("o/positions.npy"));
    CHECK(positions.shape == std::vector<long>{frames + 1, 8, 3});
    CHECK(positions.whole);
    CHECK(contains(read_file(run.folder.path("o/report.html")), "</html>"));
  }
}

TEST_CASE("a killed run leaves readable metrics and positions and the scene") {
  LongRun run;
  run.process.send(SIGKILL);
  CHECK(run.process.wait().signal == SIGKILL);
  const long frames = run.last_frame();
  const NpyInfo positions = read_npy_info(run.folder.path("o/positions.npy"));
  REQUIRE(positions.shape.size() == 3);
  CHECK(positions.whole);
  CHECK(std::abs(positions.shape[0] - 1 - frames) <= 1);  // the kill may fall between the two files
  CHECK_FALSE(std::filesystem::exists(run.folder.path("o/report.html")));
  // what is left starts again
  CHECK(::run(run.folder, {"simulate", "o/scene.json", "--frames", "2", "--out", "again"}).code == 0);
}

TEST_CASE("a second run into the folder of one that goes on is refused, and changes nothing") {
  LongRun first;
  const Outcome second = run(first.folder, {"simulate", "in.json", "--frames", "2", "--out", "o"});
  CHECK(second.code == 2);
  CHECK(contains(second.err, "o: found another run that is being written here, expected a folder of its own"));
  CHECK(contains(second.err, "nothing was written"));
  first.process.send(SIGINT);
  CHECK(first.process.wait().code == 130);
  CHECK(first.last_frame() >= 9);  // of twenty rows
  CHECK(run(first.folder, {"simulate", "in.json", "--frames", "2", "--out", "o"}).code == 0);
}
