// The commands of several ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "distributed/petsc.h"
#include "verve/scene_file.h"

namespace verve::distributed {

inline constexpr int exit_done = 0, exit_failed = 1, exit_bad_input = 2;

struct Options {
  std::string command, scene;
  std::string out, frames, method, precision, record, threads, snapshot_every, resume, pieces_every;
  std::vector<std::string> set;
  bool quiet = false, help = false, quick = false;
  std::string csv;
  std::vector<std::string> petsc;  // from the first option with one dash on
};

int simulate(const Options& options, const MpiRanks& ranks, Diagnostics problems);
int bench(const Options& options, const MpiRanks& ranks, Diagnostics problems);
/// Not under mpirun: starts that.
int bench_on_one_and_two(const Options& options);

/// Says everything, on the first rank.
int refuse(const Diagnostics& problems, const MpiRanks& ranks);
void report(const Diagnostics& problems, const MpiRanks& ranks);

}  // namespace verve::distributed
