// verve study: many runs of a scene. The work is done by the Python package (python/verve/study.py); this finds it.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "commands.h"
#include "flags.h"

namespace verve::cli {

int study(const std::vector<std::string>& arguments) {
  namespace fs = std::filesystem;
  // beside the program, in the build folder or where it is installed; else where Python looks by itself
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  const fs::path package = program.parent_path().parent_path() / "python";
  if (!unknown && fs::exists(package / "verve" / "study.py", unknown)) {
    const char* before = std::getenv("PYTHONPATH");
    setenv("PYTHONPATH", (package.string() + (before && *before ? ":" + std::string(before) : "")).c_str(), 1);
  }
  setenv("VERVE_STUDY_COMMAND", "verve study", 1);  // as messages and job files call it
  const char* chosen = std::getenv("VERVE_PYTHON");
  // Debian's: another one that comes first on the path has not what Debian's packages bring
  std::string python = chosen ? chosen : fs::exists("/usr/bin/python3", unknown) ? "/usr/bin/python3" : "python3";
  std::vector<std::string> words{python, "-m", "verve.study"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  Diagnostics problems;
  problems.error("verve study", "cannot start " + python + ": " + std::strerror(errno) +
                                    "; expected Python 3.11 with NumPy (VERVE_PYTHON names another)");
  return refuse(problems, "nothing was run");
}

}  // namespace verve::cli
