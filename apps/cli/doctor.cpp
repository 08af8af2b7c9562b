// verve doctor: what a report of a fault should say of the program and the machine, and a test of both in seconds.
#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/parallel.h"
#include "commands.h"
#include "flags.h"
#include "potentials/tet_strain.h"
#include "terminal.h"
#include "verve/convert.h"
#include "verve/record.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"
#include "verve/version.h"

namespace verve::cli {

namespace {

namespace fs = std::filesystem;

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string system_name() {
  utsname name{};
  uname(&name);
  std::string out = std::string(name.sysname) + " " + name.release + ", " + name.machine;
  std::ifstream release("/etc/os-release");
  for (std::string line; std::getline(release, line);)
    if (line.starts_with("PRETTY_NAME=")) out += ", " + line.substr(13, line.size() - 14);
  return out;
}

std::string memory() {
  const double pages = double(sysconf(_SC_PHYS_PAGES)), free = double(sysconf(_SC_AVPHYS_PAGES));
  const double size = double(sysconf(_SC_PAGESIZE)) / (1 << 30);
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GiB, %.1f free", pages * size, free * size);
  return text;
}

Simulation built_in(const std::string& name, int threads) {
  return Simulation::create(read_scene(name).value(), {.threads = threads}).value();
}

/// The largest change of the energy in `frames` of a free body, in units of itself.
double energy_error(Simulation& simulation, int frames) {
  const double start = simulation.measure().total;
  double worst = 0;
  for (int frame = 0; frame < frames; ++frame) {
    if (!simulation.step()) return INFINITY;
    worst = std::max(worst, std::abs(simulation.measure().total - start) / std::abs(start));
  }
  return worst;
}

/// Each gives what it has found; what did not hold begins with "not ".
struct Check {
  const char* name;
  std::function<std::string()> run;
};

std::string keeps_energy() {
  Simulation simulation = built_in("cube", 1);
  const double error = energy_error(simulation, 30);
  char text[64];
  std::snprintf(text, sizeof text, "%sby %.1e in 30 frames", error < 1e-5 ? "" : "not ", error);
  return text;
}

std::string same_bits() {
  Simulation one = built_in("bear", 1), many = built_in("bear", std::max(2, hardware_threads()));
  for (int frame = 0; frame < 3; ++frame)
    if (!one.step() || !many.step()) return "not run: a step failed";
  char text[64];
  std::snprintf(text, sizeof text, "%s%016llx", one.state_hash() == many.state_hash() ? "" : "not the same, by one ",
                static_cast<unsigned long long>(one.state_hash()));
  return text;
}

std::string goes_on() {
  Simulation simulation = built_in("stack", 1);
  for (int frame = 0; frame < 2; ++frame) simulation.step();
  const Snapshot saved = simulation.save();
  simulation.step();
  const std::uint64_t straight = simulation.state_hash();
  if (simulation.restore(Snapshot::from_bytes(saved.bytes(), "saved").value()).has_errors()) return "not restored";
  simulation.step();
  return simulation.state_hash() == straight ? "bit for bit" : "not bit for bit";
}

std::string writes_and_reads() {
  std::string folder = (fs::temp_directory_path() / "verve_doctor_XXXXXX").string();
  if (!mkdtemp(folder.data())) return "not written: no folder can be made in " + fs::temp_directory_path().string();
  std::string found = "in " + fs::temp_directory_path().string();
  Simulation simulation = built_in("pendulum", 1);
  {
    Expected<Recorder> recorder = Recorder::open(folder, simulation, true);
    if (!recorder) {
      found = "not written: " + recorder.diagnostics().text();
    } else {
      const StepReport report = simulation.step();
      recorder->frame(simulation, report);
      const Expected<RecordedPositions> read = RecordedPositions::open(fs::path(folder) / "positions.npy");
      if (!read || read->frames() != 2) {
        found = "not read back";
      } else {
        const std::vector<Vec3> x = read->frame(1), y = simulation.positions();
        for (size_t i = 0; i < x.size(); ++i)
          if (norm(x[i] - y[i]) != 0) found = "not read back as it was";
      }
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return found;
}

}  // namespace

int doctor(Diagnostics problems) {
  if (problems.has_errors()) return refuse(problems, "nothing was tested");
#ifdef NDEBUG
  const std::string kind = "release";
#else
  const std::string kind = "with assertions";
#endif
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  print_columns({{"verve", VERVE_VERSION ", " + kind + ", " + compiler + ", C++ library " +
                               std::to_string(_GLIBCXX_RELEASE)},
                 {"instructions", block_loops<TetStrain>().instructions},
                 {"processor", processor() + ", " + count(hardware_threads(), "thread", "threads")},
                 {"memory", memory()},
                 {"system", system_name()}},
                2);
  std::printf("\n");
  const Style style = style_of(stdout);
  int failed = 0;
  for (const Check& check : {Check{"a cube keeps its energy", keeps_energy},
                             Check{"the same bits on one thread and on all", same_bits},
                             Check{"a snapshot goes on", goes_on}, Check{"a run is written and read", writes_and_reads}}) {
    std::string found;
    try {
      found = check.run();
    } catch (const std::exception& error) {
      found = std::string("not run: ") + error.what();
    }
    const bool bad = found.starts_with("not ");
    failed += bad;
    std::printf("  %s%s%s  %s: %s\n", bad ? style.red : style.green, bad ? "FAILED" : "ok    ", style.reset, check.name,
                found.c_str());
    std::fflush(stdout);
  }
  return failed ? exit_failed : exit_done;
}

}  // namespace verve::cli
