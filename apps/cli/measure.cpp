// verve bench, figures, truth: the work is done by verve-measure, the same program with what they need; this starts it.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "commands.h"
#include "flags.h"

namespace verve::cli {

namespace {

int start_measuring(Diagnostics problems) {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string measure = (program.parent_path() / "verve-measure").string();
  execv(measure.c_str(), arguments);
  problems.error(measure, std::string("cannot be started: ") + std::strerror(errno) +
                              "; it is built by scripts/build measure, and belongs beside verve");
  return refuse(problems, "nothing was run");
}

}  // namespace

int bench(const BenchOptions&, Diagnostics problems) { return start_measuring(std::move(problems)); }
int figures(const FiguresOptions&, Diagnostics problems) { return start_measuring(std::move(problems)); }
int truth(const TruthOptions&, Diagnostics problems) { return start_measuring(std::move(problems)); }

}  // namespace verve::cli
