#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

#include "process.h"

namespace {

struct Closing {
  int passed = -1, failed = -1;
};
Closing closing(const Outcome& outcome) {
  Closing out;
  const std::vector<std::string> lines = lines_of(outcome.out);
  REQUIRE(!lines.empty());
  char rest = 0;
  CHECK_MESSAGE(std::sscanf(lines.back().c_str(), "%d passed, %d failed%c", &out.passed, &out.failed, &rest) == 2,
                lines.back());
  return out;
}

}  // namespace

TEST_CASE("one figure leaves its page and files, and closes with the count") {
  const Folder folder;
  const Outcome outcome = run(folder, {"figures", "pd-fig3", "--out", "out"});
  const Closing c = closing(outcome);
  CHECK(outcome.code == 0);
  CHECK(c.failed == 0);
  CHECK(c.passed >= 5);
  CHECK(contains(outcome.out, "pass  pd:"));
  CHECK(contains(read_file(folder.path("out/index.html")), "id=\"pd-fig3\""));
  CHECK(contains(read_file(folder.path("out/pd-fig3/length.svg")), "</svg>"));
  CHECK(lines_of(read_file(folder.path("out/pd-fig3/length.csv"))).size() > 10);
  CHECK(int(lines_of(read_file(folder.path("out/checks.csv"))).size()) == 1 + c.passed);
}

TEST_CASE("a method that does not keep its energy fails the same checks, and the program says so by its exit code") {
  const Folder folder;
  const Outcome outcome =
      run(folder, {"figures", "float", "--quick", "--method", "pd", "--out", "out", "--no-pictures"});
  const Closing c = closing(outcome);
  CHECK(outcome.code == 1);
  CHECK(c.failed >= 1);
  CHECK(contains(outcome.out, "FAIL  "));
  CHECK(contains(read_file(folder.path("out/index.html")), "FAIL"));
  const Outcome quiet = run(folder, {"figures", "float", "--quick", "--out", "out", "--no-pictures", "--quiet"});
  CHECK(quiet.code == 0);
  CHECK(lines_of(quiet.out).size() == 1);
}

TEST_CASE("figures that do not exist, bad methods and places that cannot be written are refused before anything runs") {
  const Folder folder;
  const Outcome outcome = run(folder, {"figures", "cpd-fig77", "--method", "cdp", "--threads", "0", "--out", "out"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "cpd-fig77: no such figure, expected one of"));
  CHECK(contains(outcome.err, "nearest: cpd-fig7"));
  CHECK(contains(outcome.err, "--method"));
  CHECK(contains(outcome.err, "--threads"));
  CHECK(!std::filesystem::exists(folder.path("out")));
  folder.write("file", "");
  CHECK(run(folder, {"figures", "pd-fig3", "--out", "file"}).code == 2);
}

TEST_CASE("--list names every figure and runs none") {
  const Folder folder;
  const Outcome outcome = run(folder, {"figures", "--list"});
  CHECK(outcome.code == 0);
  for (const char* name : {"cpd-table1", "cpd-fig13", "pd-fig12", "long-run"}) CHECK(contains(outcome.out, name));
  CHECK(!std::filesystem::exists(folder.path("runs")));
}

TEST_CASE("the quick figures hold, but for those that docs/figures.md tells of") {
  // what does not hold, by figure and beginning of the check; one that is mended is to be taken off here and there
  const std::vector<std::string> known{
      "cpd-fig2,\"cpd: oscillation, std of W",         // stiff cube, two frames per period
      "cpd-fig13,\"cpd, h = 1/30: oscillation",        // likewise
      "cpd-fig8,\"cpd: frame at whose end they are apart",
      "cpd-fig10,\"cpd: amplitude of the middle vertex",
      "cpd-fig10,\"PD10 + FEPR is bumpier than ours",  // truth is bumpier than PD10 + FEPR
      "cpd-fig12,\"cpd, cloth: amplitude",  // 0.69 after 4.5 periods
      "cpd-fig12,\"cpd, cloth: its phase"};  // 14 degrees
  const Folder folder;
  const Outcome outcome = run(folder, {"figures", "--quick", "--out", "out"});
  const Closing c = closing(outcome);
  CHECK(c.passed >= 150);
  std::string failed;
  for (const std::string& line : lines_of(read_file(folder.path("out/checks.csv")))) {
    if (!line.ends_with(",0")) continue;
    failed += line + "\n";
    CHECK_MESSAGE(std::any_of(known.begin(), known.end(), [&](const std::string& k) { return line.starts_with(k); }),
                  line);
  }
  for (const std::string& k : known) CHECK_MESSAGE(contains(failed, k), "holds now: ", k);
  CHECK(outcome.code == (known.empty() ? 0 : 1));
  CHECK(std::filesystem::exists(folder.path("out/cpd-fig2/frames.png")));
  CHECK(contains(read_file(folder.path("out/index.html")), "data:image/png;base64,"));
}
