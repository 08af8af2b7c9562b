// The files that a run leaves, and snapshots, with any bytes in them.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

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
    std::atexit([] { std::error_code ignored; fs::remove_all(folder(), ignored); });
    return out;
  }();
  return path;
}

void put(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

constexpr const char* small = R"({"version": 1, "name": "small", "frames": 4, "bodies": [{"name": "rope",
  "mesh": {"generator": "chain", "vertices": 5}, "potentials": [{"type": "spring", "stiffness": 100}]}]})";

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

/// Bytes of a snapshot changed at some places (place and value, three bytes each) or cut off. What is behind a right
/// checksum is trusted (SECURITY.md).
void snapshot(std::string_view bytes) {
  static Simulation simulation = [] {
    Simulation out = Simulation::create(*parse_scene(small, "small.json")).value();
    out.step();
    return out;
  }();
  static const std::vector<unsigned char> sound = simulation.save().bytes();
  Bytes in(bytes);
  std::vector<unsigned char> changed = sound;
  const int cut = in.below(4) == 0 ? in.below(256) : 0;
  changed.erase(changed.end() - std::min<std::ptrdiff_t>(cut, std::ptrdiff_t(changed.size())), changed.end());
  while (!in.empty() && !changed.empty()) {
    const size_t at = (in.byte() << 8 | in.byte()) % changed.size();
    changed[at] = static_cast<unsigned char>(in.byte());
  }
  const Expected<Snapshot> read = Snapshot::from_bytes(changed, "fuzzed");
  if (!read) return hold(read.diagnostics().has_errors(), "a snapshot that is refused has a problem");
  const std::uint64_t before = simulation.state_hash();
  if (simulation.restore(*read).has_errors()) {
    hold(simulation.state_hash() == before, "a snapshot that is refused changes nothing");
    return;
  }
  hold(!simulation.restore(*Snapshot::from_bytes(sound, "sound")).has_errors(), "a sound snapshot restores");
}

}  // namespace verve::fuzz
