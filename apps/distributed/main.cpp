// verve on several ranks (docs/distributed.md): verve-distributed, which `verve` starts in its place under mpirun.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "commands.h"

namespace {

using namespace verve;
using namespace verve::distributed;

constexpr const char* help_text =
    "usage: mpirun -n RANKS verve simulate SCENE [options] [options of PETSc]\n"
    "       mpirun -n RANKS verve bench --only distributed [--quick] [--csv FILE]\n"
    "\n"
    "SCENE               a built-in scene or a JSON file\n"
    "--out DIR           where metrics.csv, positions.npy and scene.json go (runs/SCENE)\n"
    "--frames N          in place of the scene's\n"
    "--method NAME       pd, pd_bdf2, pd_alpha, cpd, cpd_bdf2 or cpd_euler\n"
    "--set PATH=VALUE    any key of the scene\n"
    "--precision NAME    of the local step: double or float\n"
    "--record NAME       of positions.npy: float or double\n"
    "--threads N         of each rank (1)\n"
    "--snapshot-every N  a checkpoint every N frames, in DIR/snapshots\n"
    "--resume FILE       go on from a checkpoint, on any number of ranks\n"
    "--pieces-every N    every N frames the pieces of all ranks for ParaView, in DIR/pieces\n"
    "--quiet             no progress\n"
    "\n"
    "Options with one dash are PETSc's: -ksp_monitor, -log_view, -pc_type hypre (docs/distributed.md)\n";

Options read_options(int count, char** words, Diagnostics& problems) {
  Options o;
  const std::map<std::string, std::string*> values = {{"--out", &o.out},
                                                      {"--frames", &o.frames},
                                                      {"--method", &o.method},
                                                      {"--threads", &o.threads},
                                                      {"--record", &o.record},
                                                      {"--precision", &o.precision},
                                                      {"--snapshot-every", &o.snapshot_every},
                                                      {"--resume", &o.resume},
                                                      {"--csv", &o.csv},
                                                      {"--pieces-every", &o.pieces_every}};
  std::string only;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i], value;
    const size_t equals = word.find('=');
    const bool inline_value = word.starts_with("--") && equals != std::string::npos;
    if (inline_value) value = word.substr(equals + 1), word.resize(equals);
    const auto take = [&](std::string& into) {
      if (inline_value) {
        into = value;
      } else if (i + 1 < count) {
        into = words[++i];
      } else {
        problems.error(word, "found nothing, expected a value");
      }
    };
    if (word.starts_with("-") && !word.starts_with("--") && word.size() > 1) {
      o.petsc.assign(words + i, words + count);  // from here on they are PETSc's
      break;
    }
    if (const auto known = values.find(word); known != values.end()) {
      take(*known->second);
    } else if (word == "--set") {
      take(o.set.emplace_back());
    } else if (word == "--only") {
      take(only);
    } else if (word == "--quiet") {
      o.quiet = true;
    } else if (word == "--quick") {
      o.quick = true;
    } else if (word == "--help") {
      o.help = true;
    } else if (word == "--no-report") {  // there is none on several ranks
    } else if (word.starts_with("--")) {
      std::string all = "--set, --quiet";
      for (const auto& [name, into] : values) all += ", " + name;
      problems.error(word, "unknown option on several ranks, expected one of " + all);
    } else if (o.command.empty()) {
      o.command = word;
    } else if (o.scene.empty() && o.command == "simulate") {
      o.scene = word;
    } else {
      problems.error(word, "one argument too many for verve " + o.command);
    }
  }
  for (const std::string& word : o.petsc)
    if (word.starts_with("--"))
      problems.error(word, "found it behind an option of PETSc, expected those of Verve first");
  if (!o.help && o.command != "simulate" && o.command != "bench")
    problems.error("COMMAND", "found \"" + o.command + "\", expected simulate or bench on several ranks");
  if (o.command == "bench" && !only.empty() && only != "distributed")
    problems.error("--only", "found \"" + only + "\", expected distributed on several ranks");
  return o;
}

/// Ends all ranks. What goes wrong on all of them is said by the first; on another alone, by that.
[[noreturn]] void end_all(const MpiRanks& ranks, const std::string& message) {
  if (ranks.rank() > 0) sleep(3);
  std::fprintf(stderr, "verve: rank %d of %d: %s\n", ranks.rank(), ranks.size(), message.c_str());
  std::fflush(stderr);
  MPI_Abort(PETSC_COMM_WORLD, exit_failed);
  std::abort();
}

}  // namespace

namespace verve::distributed {

void report(const Diagnostics& problems, const MpiRanks& ranks) {
  if (ranks.rank() > 0) return;
  for (const Diagnostic& d : problems.items())
    std::fprintf(stderr, "%s%s%s%s\n", d.where.c_str(), d.where.empty() ? "" : ": ",
                 d.severity == Severity::warning ? "warning: "
                 : d.severity == Severity::note  ? "note: "
                                                 : "",
                 d.what.c_str());
}

int refuse(const Diagnostics& problems, const MpiRanks& ranks) {
  report(problems, ranks);
  const auto errors = std::count_if(problems.items().begin(), problems.items().end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (ranks.rank() == 0)
    std::fprintf(stderr, "verve: %ld problem%s; nothing was written\n", long(errors), errors == 1 ? "" : "s");
  return exit_bad_input;
}

}  // namespace verve::distributed

int main(int count, char** words) {
  Diagnostics problems;
  const Options options = read_options(count, words, problems);
  try {
    if (options.command == "bench" && !problems.has_errors() && !std::getenv("OMPI_COMM_WORLD_SIZE") &&
        !std::getenv("PMI_SIZE"))
      return bench_on_one_and_two(options);
    PetscSession session(options.petsc);
    const MpiRanks ranks;
    set_ranks(&ranks);
    int code = exit_done;
    try {
      if (options.help) {
        if (ranks.rank() == 0) std::fputs(help_text, stdout);
      } else if (problems.has_errors()) {
        code = refuse(problems, ranks);
      } else {
        code = options.command == "bench" ? bench(options, ranks, problems) : simulate(options, ranks, problems);
      }
    } catch (const std::exception& error) {
      end_all(ranks, error.what());
    }
    set_ranks(nullptr);
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "verve: %s\n", error.what());
    return exit_failed;
  }
}
