#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <filesystem>

#include "process.h"

namespace {

namespace fs = std::filesystem;

/// Width and height of a PNG.
std::array<int, 2> size_of(const std::string& png) {
  std::array<int, 2> out{};
  for (size_t k = 0; k < 8; ++k) out[k / 4] = out[k / 4] << 8 | int(std::uint8_t(png.at(16 + k)));
  return out;
}

const char* const scene = R"({
  "version": 1, "name": "two", "frames": 8, "gravity": [0, -9.81, 0],
  "bodies": [
    {"name": "block", "mesh": {"generator": "cube", "size": 0.5, "cells": [3, 3, 3]},
     "place": {"translate": [0, 0.6, 0]}, "potentials": [{"type": "tet_strain", "mu": 1e4, "tear": 1.3}],
     "initial": {"stretch": [1.35, 1, 1]}},
    {"name": "rope", "mesh": {"generator": "chain", "vertices": 5}, "place": {"translate": [0, 1.5, 0]},
     "potentials": [{"type": "spring", "stiffness": 100}]}
  ],
  "colliders": [{"shape": "plane"}]
})";

size_t files_in(const fs::path& folder) {
  size_t out = 0;
  for (const auto& file : fs::directory_iterator(folder)) out += file.path().filename().string()[0] != '.';
  return out;
}

}  // namespace

TEST_CASE("picture draws the same strip from a run and from its scene") {
  const Folder folder;
  folder.write("in.json", scene);
  REQUIRE(run(folder, {"simulate", "in.json", "--out", "a", "--record", "double"}).code == 0);
  const std::vector<std::string> how{"--frames", "0,3:6", "--size", "80x60", "--columns", "3"};
  const auto picture = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "picture");
    arguments.insert(arguments.end(), how.begin(), how.end());
    return run(folder, arguments);
  };
  const Outcome of_run = picture({"a"});
  CHECK(of_run.code == 0);
  CHECK(contains(of_run.out, "picture.png: 5 frames of 80 x 60 pixels"));
  CHECK(picture({"in.json", "--out", "deep/er/scene.png", "--quiet"}).out == "");
  const std::string one = read_file(folder.path("a/picture.png")), two = read_file(folder.path("deep/er/scene.png"));
  CHECK(size_of(one) == std::array{3 * 80 + 2 * 4, 2 * 60 + 4});
  CHECK((one == two));  // what has torn included
  CHECK(picture({"a", "--threads", "1", "--out", "again.png"}).code == 0);
  CHECK((read_file(folder.path("again.png")) == one));
  CHECK(picture({"a", "--color", "strain", "--camera", "80,5", "--out", "strain.png"}).code == 0);
  CHECK((read_file(folder.path("strain.png")) != one));
}

TEST_CASE("picture makes a movie of all frames, alone or beside a strip") {
  const Folder folder;
  folder.write("in.json", scene);
  const Outcome alone = run(folder, {"picture", "in.json", "--movie", "m.gif", "--size", "64x48", "--color", "speed"});
  CHECK(alone.code == 0);
  CHECK(contains(alone.out, "m.gif: 5 frames"));  // every other of 0 … 8: at most 25 per second
  CHECK(read_file(folder.path("m.gif")).substr(0, 6) == "GIF89a");
  CHECK(!fs::exists(folder.path("runs")));
  const Outcome both = run(folder, {"picture", "in.json", "--movie", "n.gif", "--out", "n.png", "--size", "64x48",
                                    "--frames", "2:4", "--fps", "5", "--wireframe", "--plain"});
  CHECK(both.code == 0);
  CHECK(contains(both.out, "n.gif: 3 frames"));
  CHECK(contains(both.out, "n.png: 3 frames"));
}

TEST_CASE("picture reports everything that is wrong at once and writes nothing") {
  const Folder folder;
  folder.write("in.json", scene);
  const size_t before = files_in(folder.path());
  const Outcome bad =
      run(folder, {"picture", "in.json", "--frames", "3,99,,5:2", "--size", "80", "--color", "sped", "--camera", "1",
                   "--columns", "0", "--fps", "-3", "--out", "a.jpg", "--movie", "b.png", "--wire"});
  CHECK(bad.code == 2);
  for (const char* part :
       {"--frames: found 99", "nothing between commas", "--frames: found 5:2", "--size: found \"80\"",
        "--color: found \"sped\"", "nearest: speed", "--camera: found \"1\"", "--columns: found", "--fps: found",
        "--out: found \"a.jpg\", expected a file that ends with .png", "--movie: found \"b.png\"",
        "--wire: unknown option", "nearest: --wireframe", "nothing was written"}) {
    CAPTURE(part);
    CHECK(contains(bad.err, part));
  }
  CHECK(run(folder, {"picture"}).code == 2);
  const Outcome unknown = run(folder, {"picture", "cubr"});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "nearest: cube"));
  fs::create_directory(folder.path("empty"));
  const Outcome empty = run(folder, {"picture", "empty", "--set", "frames=3"});
  CHECK(empty.code == 2);
  CHECK(contains(empty.err, "--set: found with the folder of a run"));
  CHECK(contains(empty.err, "positions.npy"));
  CHECK(files_in(folder.path()) == before + 1);
  CHECK(files_in(folder.path("empty")) == 0);
}
