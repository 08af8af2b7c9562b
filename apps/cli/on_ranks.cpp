// What mpirun starts is verve-distributed: `verve` puts it in its own place.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "commands.h"
#include "flags.h"

namespace verve::cli {

namespace {

/// Processes that an mpirun has started together with this one; 0: none did.
int started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 0;
}

}  // namespace

bool start_on_ranks(int count, char** words, int& code) {
  const int together = started_together();
  if (count < 2) return false;
  const std::string command = words[1];
  bool measures = false;  // bench --only distributed, which starts mpirun itself
  for (int i = 2; command == "bench" && i < count; ++i)
    measures = measures ||
               (words[i] == std::string("--only") && i + 1 < count && words[i + 1] == std::string("distributed")) ||
               words[i] == std::string("--only=distributed");
  if (!measures && (together == 0 || (command != "simulate" && command != "bench"))) return false;
  std::error_code unknown;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (own.parent_path() / "verve-distributed").string();
  if (!measures && together == 1 && !std::filesystem::exists(program, unknown)) return false;
  execv(program.c_str(), words);
  Diagnostics problems;
  problems.error(program, std::string("cannot be started: ") + std::strerror(errno) +
                              "; it is built with -DVERVE_PETSC=ON (docs/distributed.md), and "
                              "belongs beside verve");
  code = refuse(problems, "nothing was run");
  return true;
}

}  // namespace verve::cli
