// The bits of every scene in the tree after a few frames, beside a table: a change of results is a decision, made by
// scripts/state-hashes, which writes the table anew. Bits are those of a set of SIMD instructions (AVX-512 has those of
// AVX2): a processor with another one finds no lines of its own, and says so.
#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "source_dir.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

constexpr int frames = 2;

std::string instructions() {
  const std::int64_t supported = hwy::SupportedTargets();
  return supported & (HWY_AVX3 | HWY_AVX2) ? "AVX2" : supported & HWY_SSE4 ? "SSE4" : supported & HWY_NEON ? "NEON" : "SCALAR";
}

std::string hash_of(const Scene& scene, int threads, int count = frames) {
  Simulation simulation = Simulation::create(scene, {.threads = threads}).value();
  for (int frame = 0; frame < count; ++frame) REQUIRE(simulation.step());
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(simulation.state_hash()));
  return text;
}

/// "AVX2 cube" -> hash
std::map<std::string, std::string> read_table(const std::string& file) {
  std::map<std::string, std::string> out;
  std::ifstream in(file);
  for (std::string set, scene, hash; in >> set >> scene >> hash;) out[set + " " + scene] = hash;
  return out;
}

}  // namespace

TEST_CASE("every scene has the bits of the table, and the same on 1, 2, 3 and 16 threads") {
  const std::string file = test::in_sources("tests/scene/state_hashes.txt"), set = instructions();
  std::map<std::string, std::string> table = read_table(file);
  const bool renew = std::getenv("VERVE_RENEW_HASHES") != nullptr;
  int known = 0, number = 0;
  for (const BuiltinScene& builtin : builtin_scenes()) {
    CAPTURE(builtin.name);
    const Scene scene = parse_scene(builtin.text, builtin.name).value();
    const std::string hash = hash_of(scene, 1);
    CHECK(hash_of(scene, std::array{2, 3, 16}[number++ % 3]) == hash);
    std::string& expected = table[set + " " + builtin.name];
    known += !expected.empty();
    if (!renew && !expected.empty() && expected != hash)
      FAIL_CHECK(builtin.name, ": found ", hash, ", expected ", expected, " (", set,
                 "). If results are meant to change: scripts/state-hashes");
    expected = hash;
  }
  if (renew) {
    std::ofstream out(file);
    for (const auto& [key, hash] : table) out << key << ' ' << hash << '\n';
  } else if (known == 0) {
    MESSAGE("THE TABLE OF STATE HASHES HAS NO LINES FOR ", set, ": compared between threads alone");
  }
}

TEST_CASE("AVX-512 has the bits of AVX2") {
  if (!(hwy::SupportedTargets() & HWY_AVX3)) {
    MESSAGE("no AVX-512 here: nothing to compare");
    return;
  }
  const auto among = [](std::int64_t sets) {
    hwy::SetSupportedTargetsForTest(sets);
    hwy::GetChosenTarget().DeInit();
  };
  for (const auto& [name, method] : {std::pair{"pendulum", "cpd"}, {"stack", "cpd"}, {"cloth", "newton"}, {"rope", "cpd"}}) {
    CAPTURE(name);
    const Scene scene = read_scene(name, {{"solver.method", method}}).value();
    among(HWY_AVX2 | HWY_SSE4 | HWY_SCALAR);
    const std::string by_avx2 = hash_of(scene, 1, 8);
    among(0);
    CHECK(hash_of(scene, 1, 8) == by_avx2);
  }
}
