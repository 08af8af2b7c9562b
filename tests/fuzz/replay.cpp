// Every target on its corpus, and on as many changed copies of each file as asked for; for any compiler.
//   fuzz_replay CORPUS [COPIES] [TARGET...]
// VERVE_FUZZ_LAST=FILE has the bytes of the execution that goes on: of the one that ended the program.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "targets.h"

using namespace verve::fuzz;
namespace fs = std::filesystem;

namespace {

/// A few bytes changed, left out, doubled or put elsewhere.
std::string changed(std::string text, std::mt19937& random) {
  const auto below = [&](size_t n) { return size_t(random() % std::uint32_t(n)); };
  for (size_t i = 1 + below(4); i > 0 && !text.empty(); --i) {
    const size_t at = below(text.size());
    switch (below(4)) {
      case 0: text[at] = char(below(256)); break;
      case 1: text.erase(at, 1 + below(16)); break;
      case 2: text.insert(at, text.substr(below(text.size()), 1 + below(40))); break;
      default: text.resize(at);
    }
  }
  return text;
}

void run(const Target& target, const std::string& bytes) {
  if (const char* last = std::getenv("VERVE_FUZZ_LAST")) std::ofstream(last, std::ios::binary) << bytes;
  target.run(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: fuzz_replay CORPUS [COPIES] [TARGET...]\n"), 2;
  const int copies = argc > 2 ? std::atoi(argv[2]) : 0;
  for (const Target& target : targets()) {
    if (argc > 3 && std::none_of(argv + 3, argv + argc, [&](const char* n) { return !std::strcmp(n, target.name); }))
      continue;
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& file : fs::directory_iterator(fs::path(argv[1]) / target.name, none)) files.push_back(file.path());
    std::sort(files.begin(), files.end());
    if (files.empty()) return std::fprintf(stderr, "%s: found no corpus in %s\n", target.name, argv[1]), 1;
    std::mt19937 random(20261119);
    long runs = 0;
    for (const fs::path& file : files) {
      std::ifstream in(file, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      std::fprintf(stderr, "%s %s\n", target.name, file.filename().c_str());  // which it was, if it is the last
      run(target, bytes), ++runs;
      for (int i = 0; i < copies; ++i) run(target, changed(bytes, random)), ++runs;
    }
    std::printf("%s: %ld executions, %zu files\n", target.name, runs, files.size());
    std::fflush(stdout);
  }
}
