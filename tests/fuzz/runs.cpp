// The files that a run leaves, and snapshots, with any bytes in them.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "integrators/snapshot_content.h"
#include "targets.h"
#include "verve/convert.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::fuzz {

namespace {

namespace fs = std::filesystem;

/// In memory where the system has a place for that.
const fs::path& folder() {
  static const fs::path path = [] {
    std::error_code none;
    fs::path out = (fs::is_directory("/dev/shm", none) ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                   ("verve_fuzz_" + std::to_string(getpid()));
    fs::create_directories(out);
    std::atexit([] {
      std::error_code ignored;
      fs::remove_all(folder(), ignored);
    });
    return out;
  }();
  return path;
}

void put(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

/// Of everything that a state remembers something: contacts with friction, links, tearing, a wind, a force.
constexpr const char* small = R"({"version": 1, "name": "small", "frames": 4, "gravity": [0, -9.81, 0], "contact": {},
  "colliders": [{"name": "floor", "shape": "plane", "friction": 0.5},
                {"name": "ball", "shape": "sphere", "radius": 0.1, "position": [3, 0, 0]}],
  "bodies": [{"name": "rope", "mesh": {"generator": "chain", "vertices": 5}, "place": {"translate": [3, 1, 0]},
              "potentials": [{"type": "spring", "stiffness": 100}]},
             {"name": "block", "mesh": {"generator": "box", "cells": [1, 1, 1], "size": [0.4, 0.4, 0.4]},
              "place": {"translate": [0, 0.2, 0]}, "potentials": [{"type": "tet_strain", "mu": 1e4, "tear": 1.5}],
              "friction": 0.5, "restitution": 0.5},
             {"name": "upper", "mesh": {"generator": "box", "cells": [1, 1, 1], "size": [0.4, 0.4, 0.4]},
              "place": {"translate": [0.1, 0.61, 0]}, "material": "rubber", "friction": 0.5}],
  "anchors": [{"name": "link", "body": "rope", "to_body": "upper", "vertices": {"indices": [0]}},
              {"name": "pin", "body": "rope", "vertices": {"indices": [4]}}],
  "winds": [{"name": "wind", "body": "block", "velocity": [1, 0, 0]}],
  "forces": [{"body": "block", "vertices": {"all": true}, "force": [1, 0, 0]}]})";

/// A body, a collider and an anchor that were added are in it as well.
Simulation sample() {
  Simulation out = Simulation::create(parse_scene(small, "small.json").value(), {.threads = 1}).value();
  for (int f = 0; f < 3; ++f) out.step();
  BodySpec late = out.scene().bodies[1];
  late.name = "late";
  out.add_body(std::move(out.prepare(late).value()), {"", {{1, 0, 0}, {}}, {}, {}});
  ColliderSpec wall = out.scene().colliders[1];
  wall.name = "wall", wall.position = Vec3{-3, 0, 0};
  out.add_collider(wall).value();
  AnchorSpec hand;
  hand.name = "hand", hand.body = "late", hand.vertices.indices = {0};
  out.add_anchor(hand);
  for (int f = 0; f < 3; ++f) out.step();
  return out;
}

}  // namespace

/// The first byte: positions.npy or torn.csv.
void run_folder(std::string_view bytes) {
  Bytes in(bytes);
  if (in.chance()) {
    put(folder() / "torn.csv", in.rest());
    const auto torn = read_torn(folder() / "torn.csv");
    hold(torn.has_value() || torn.diagnostics().has_errors(), "a table that is refused has a problem");
    return;
  }
  put(folder() / "positions.npy", in.rest());
  const Expected<RecordedPositions> read = RecordedPositions::open(folder() / "positions.npy");
  if (!read) return hold(read.diagnostics().has_errors(), "positions that are refused have a problem");
  for (const int frame : {0, read->frames() / 2, read->frames() - 1})
    if (frame >= 0 && frame < read->frames())
      hold(read->frame(frame).size() == size_t(read->vertices()), "a frame has all vertices");
}

/// Bytes of a snapshot changed at some places, or cut off; most of the time under a checksum that is right again. What
/// is restored has to be something that can be stepped.
void snapshot(std::string_view bytes) {
  static Simulation simulation = sample();
  static const std::vector<unsigned char> sound = simulation.save().bytes();
  Bytes in(bytes);
  std::vector<unsigned char> changed = sound;
  const bool sealed = in.below(8) != 0;
  const int cut = in.below(4) == 0 ? in.below(256) : 0;
  changed.erase(changed.end() - std::min<std::ptrdiff_t>(cut, std::ptrdiff_t(changed.size())), changed.end());
  constexpr size_t header = 28;
  while (!in.empty() && changed.size() > header + 8) {
    const int how = in.below(4);
    const size_t at = header * sealed + (in.byte() << 16 | in.byte() << 8 | in.byte()) % (changed.size() - header - 8);
    const auto put = [&](const auto& value) { std::memcpy(changed.data() + at, &value, sizeof value); };
    static const int numbers[] = {
        -1, 0, 1, 2, 7, 255, 1 << 16, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    static const double reals[] = {0, -1, 1e-300, 1e300, 1e10, -1e10, NAN, INFINITY};
    if (how == 0) changed[at] = static_cast<unsigned char>(in.byte());
    if (how == 1) put(in.pick(numbers));
    if (how == 2) put(in.pick(reals));
    if (how == 3) put(in.below(64));
  }
  if (sealed) seal_snapshot(changed);
  const Expected<Snapshot> read = Snapshot::from_bytes(changed, "fuzzed");
  if (!read) return hold(read.diagnostics().has_errors(), "a snapshot that is refused has a problem");
  const std::uint64_t before = simulation.state_hash();
  if (simulation.restore(*read).has_errors()) {
    hold(simulation.state_hash() == before, "a snapshot that is refused changes nothing");
    return;
  }
  simulation.step();
  const Diagnostics back = simulation.restore(*Snapshot::from_bytes(sound, "sound"));
  hold(!back.has_errors(), "a sound snapshot restores: " + back.text());
}

}  // namespace verve::fuzz
