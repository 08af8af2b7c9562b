#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>

#include "process.h"

namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::vector<std::map<std::string, std::string>> table(const std::filesystem::path& file) {
  std::vector<std::map<std::string, std::string>> out;
  const std::vector<std::string> lines = lines_of(read_file(file)), head = cells(lines.at(0));
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> row = cells(lines[i]);
    REQUIRE(row.size() == head.size());
    for (size_t c = 0; c < head.size(); ++c) out.resize(i), out.back()[head[c]] = row[c];
  }
  return out;
}

}  // namespace

TEST_CASE("verve truth --quick leaves tables, a plot and a page that agree, and closes with the count") {
  const Folder folder;
  const Outcome outcome = run(folder, {"truth", "--quick", "--random", "1", "--seed", "3", "--out", "out"});
  int passed = -1, failed = -1;
  char rest = 0;
  const std::vector<std::string> lines = lines_of(outcome.out);
  REQUIRE(!lines.empty());
  CHECK(std::sscanf(lines.back().c_str(), "%d passed, %d failed%c", &passed, &failed, &rest) == 2);
  CHECK(outcome.code == (failed ? 1 : 0));
  CHECK(contains(outcome.out, "random scenes: "));
  CHECK(passed >= 6);  // H and distance of three scenes: these hold
  const auto runs = table(folder.path("out/runs.csv")), scenes = table(folder.path("out/scenes.csv")),
             checks = table(folder.path("out/checks.csv"));
  CHECK(scenes.size() == 4);
  CHECK(std::count_if(scenes.begin(), scenes.end(), [](const auto& s) { return s.at("set") == "random"; }) == 1);
  // the line of the distance, judged anew from the table
  int judged = 0;
  for (const auto& scene : scenes) {
    double ours = NAN, least = INFINITY;
    for (const auto& r : runs) {
      if (r.at("scene") != scene.at("scene") || r.at("default") != "1" || r.at("status") != "done") continue;
      const double d = std::stod(r.at("judged_distance"));
      CHECK(r.at("judged_distance") == r.at(scene.at("judged_by")));
      r.at("method") == "cpd" ? ours = d : least = std::min(least, d);
    }
    for (const auto& check : checks)
      if (check.at("figure") == scene.at("scene") && contains(check.at("check"), "over the least")) {
        ++judged;
        CHECK((check.at("passed") == "1") == (ours <= 1.05 * least));
      }
  }
  CHECK(judged >= 3);
  for (const auto& r : runs)
    if (r.at("method") == "cpd" && r.at("default") == "1") CHECK(std::stod(r.at("energy_error")) <= 1e-4);
  CHECK(read_file(folder.path("out/profiles.png")).starts_with("\x89PNG"));
  CHECK(read_file(folder.path("out/random_profiles.png")).starts_with("\x89PNG"));
  const std::string page = read_file(folder.path("out/index.html"));
  for (const char* part :
       {"id=\"profiles\"", "id=\"cube\"", "id=\"bars\"", "id=\"random-1\"", "data:image/png;base64,"})
    CHECK_MESSAGE(contains(page, part), part);
  CHECK(contains(read_file(folder.path("out/truth.json")), "\"checks\":["));
  CHECK(table(folder.path("out/bars.csv")).size() == 2);
  CHECK(table(folder.path("out/profiles.csv")).size() == 2 * 3 * 6 * 8);
}

TEST_CASE("a method that loses its motion fails the lines") {
  const Folder folder;
  const Outcome outcome = run(folder, {"truth", "cube", "--method", "pd", "--methods", "pd_bdf2,cpd_gradient",
                                       "--budgets", "0.1", "--out", "out", "--quiet"});
  CHECK(outcome.code == 1);
  CHECK(lines_of(outcome.out).size() == 1);
  for (const auto& check : table(folder.path("out/checks.csv")))
    if (contains(check.at("check"), "over the least") || contains(check.at("check"), "booked loss"))
      CHECK_MESSAGE(check.at("passed") == "0", check.at("check"));
}

TEST_CASE("a variant is judged by the lines, by its iterations too, and by no budget") {
  const Folder folder;
  const Outcome outcome = run(folder, {"truth", "cube-x10", "--out", "out", "--quiet"});
  CHECK(outcome.code <= 1);
  int distances = 0, iterations = 0;
  for (const auto& check : table(folder.path("out/checks.csv"))) {
    distances += contains(check.at("check"), "over the least");
    iterations += contains(check.at("check"), "over cpd_gradient's");
  }
  CHECK(distances == 1);
  CHECK(iterations == 2);
  const auto runs = table(folder.path("out/runs.csv"));
  CHECK(runs.size() == 6);
  for (const auto& r : runs) {
    CHECK(r.at("set") == "variants");
    CHECK(r.at("default") == "1");
  }
}

TEST_CASE("scenes, methods, budgets and seeds that cannot be meant are refused before anything runs") {
  const Folder folder;
  const Outcome outcome = run(folder, {"truth", "cubes", "--method", "cpdd", "--methods", "pd,xpdb", "--budgets",
                                       "1,,x", "--seed", "3", "--threads", "0", "--out", "out"});
  CHECK(outcome.code == 2);
  for (const char* part : {"cubes: no such scene, expected one of", "nearest: cube", "--method: found \"cpdd\"",
                           "--methods: found \"xpdb\"", "--budgets: ", "--seed: found without --random", "--threads: "})
    CHECK_MESSAGE(contains(outcome.err, part), part, outcome.err);
  CHECK_FALSE(std::filesystem::exists(folder.path("out")));
  CHECK(run(folder, {"truth", "--random", "0"}).code == 2);
  const Outcome listed = run(folder, {"truth", "--list"});
  CHECK(listed.code == 0);
  for (const char* name : {"trampoline", "ball-stiff", "bars", "variants", "cloth-x100"}) CHECK(contains(listed.out, name));
  CHECK_FALSE(std::filesystem::exists(folder.path("runs")));
}

TEST_CASE("Ctrl-C ends verve truth with a page of the scenes that were finished") {
  const Folder folder;
  Process process(folder, {"truth", "--out", "out"});  // minutes
  for (int i = 0; i < 1000 && !std::filesystem::exists(folder.path("out")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  CHECK(outcome.code == 130);
  CHECK(contains(outcome.err, "interrupted after 0 of 12 scenes"));
  CHECK(contains(outcome.out, "0 passed, 0 failed"));
  CHECK(contains(read_file(folder.path("out/index.html")), "</html>"));
}
