#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>

#include "process.h"

namespace {

const std::string header =
    "group,name,vertices,elements,threads,precision,ms_min,ms_median,ratio_textbook,ratio_scalar,error_h,hash";

using Cells = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream in(line + ",");
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Rows of a table by column, after checking its header and its last line.
std::vector<Cells> read_table(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::vector<std::string> lines = lines_of(text);
  REQUIRE(lines.size() > 0);
  CHECK(lines[0] == header);
  CHECK(text.back() == '\n');
  const std::vector<std::string> names = split(header);
  std::vector<Cells> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = split(lines[i]);
    REQUIRE(cells.size() == names.size());
    Cells& row = rows.emplace_back();
    for (size_t k = 0; k < names.size(); ++k) row[names[k]] = cells[k];
  }
  return rows;
}

double number(const Cells& row, const std::string& column) { return std::atof(row.at(column).c_str()); }

void check_measured(const Cells& row) {
  CHECK(number(row, "ms_min") > 0);
  CHECK(number(row, "ms_median") >= 0.999 * number(row, "ms_min"));  // both are rounded to six digits
  CHECK(row.at("hash").size() == 16);
  CHECK(row.at("hash").find_first_not_of("0123456789abcdef") == std::string::npos);
}

/// Files in a folder, apart from those of the test itself.
std::vector<std::string> files_in(const Folder& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.path().filename().string()[0] != '.') out.push_back(entry.path().lexically_relative(folder.path()));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("bench measures one kernel of one case beside both baselines") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--only", "local", "--quick", "--name", "cube", "--csv", "speed.csv"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  CHECK_FALSE(contains(outcome.out, "\033"));
  CHECK(contains(outcome.out, "bench: 1 of 1, cube\n"));
  for (const char* word :
       {"local", "global", "rest", "textbook", "scalar", "residual", "same bits", "speed.csv: 4 rows"})
    CHECK(contains(outcome.out, word));
  CHECK_FALSE(contains(outcome.out, "NO"));  // of the column "same bits"

  const std::vector<Cells> rows = read_table(folder.path("speed.csv"));
  REQUIRE(rows.size() == 4);
  std::map<std::string, std::string> hash_of;  // by precision
  std::vector<std::string> variants;
  for (const Cells& row : rows) {
    CHECK(row.at("group") == "local");
    CHECK(row.at("name") == "cube");
    CHECK(row.at("vertices") == "810");
    CHECK(row.at("elements") == "2880");
    check_measured(row);
    CHECK(number(row, "ratio_textbook") > 0);
    CHECK(number(row, "ratio_scalar") > 0);
    CHECK(number(row, "error_h") > 0);  // plain PD loses energy
    const auto [place, first] = hash_of.try_emplace(row.at("precision"), row.at("hash"));
    CHECK((first || place->second == row.at("hash")));
    variants.push_back(row.at("precision") + row.at("threads"));
  }
  CHECK(variants == std::vector<std::string>{"float1", "float2", "double1", "double2"});
  CHECK(hash_of["float"] != hash_of["double"]);

  const std::string plot = read_file(folder.path("speed.svg"));
  CHECK(plot.starts_with("<svg"));
  CHECK(plot.ends_with("</svg>\n"));
  CHECK(files_in(folder) == std::vector<std::string>{"speed.csv", "speed.svg"});
}

TEST_CASE("bench leaves ratios empty where there is no baseline") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--only", "frame,growth_iteration,growth_factor", "--quick", "--name",
                                       "colliding_bears,box1k", "--threads", "1"});
  CHECK(outcome.code == 0);
  for (const char* word :
       {"Table 1", "set-up", "at paper's it.", "without contact", "nonzeros", "memory [MB]", "direct"})
    CHECK(contains(outcome.out, word));
  const std::vector<Cells> rows = read_table(folder.path("runs/bench/bench.csv"));
  REQUIRE(rows.size() == 4);
  for (const Cells& row : rows) {
    check_measured(row);
    CHECK(row.at("threads") == "1");
    CHECK(row.at("ratio_textbook") == "");
    CHECK(row.at("ratio_scalar") == "");
  }
  CHECK(rows[0].at("group") == "frame");
  CHECK(rows[0].at("name") == "colliding_bears");
  CHECK(number(rows[0], "error_h") <= 1e-4);  // the tolerance of the frames
  CHECK(rows[2].at("group") == "growth_iteration");
  CHECK(rows[2].at("elements") == "1296");
  CHECK(rows[3].at("group") == "growth_factor");
  CHECK(files_in(folder) ==
        std::vector<std::string>{"runs", "runs/bench", "runs/bench/bench.csv", "runs/bench/bench.svg"});
}

TEST_CASE("bench finds the same pairs by every way of finding them") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--only", "pairs", "--quick", "--name", "stack_1k", "--threads", "2"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "Finding pairs that may touch"));
  CHECK(!contains(outcome.out, "NO"));
  const std::vector<Cells> rows = read_table(folder.path("runs/bench/bench.csv"));
  REQUIRE(rows.size() == 5);
  for (const Cells& row : rows) {
    CHECK(row.at("group") == "pairs");
    CHECK(row.at("hash") == rows[0].at("hash"));
    CHECK(number(row, "ms_min") > 0);
  }
  CHECK(rows[0].at("name") == "stack_1k_tree");
  CHECK(rows[4].at("name") == "stack_1k_brute_force");
}

TEST_CASE("P20: bench tells frames in which something tears from the others") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--only", "tearing", "--quick", "--name", "flag_torn"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "Frames of bodies that tear"));
  const std::vector<Cells> rows = read_table(folder.path("runs/bench/bench.csv"));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("group") == "tearing");
  CHECK(rows[0].at("name") == "flag_torn");
  CHECK(number(rows[0], "ms_min") > 0);
  CHECK(number(rows[0], "ms_median") > 0);
}

TEST_CASE("bench measures frames in which things touch") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--only", "contact", "--quick", "--name", "stack"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "Frames in which things touch"));
  CHECK(contains(outcome.out, "finding pairs"));
  const std::vector<Cells> rows = read_table(folder.path("runs/bench/bench.csv"));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("group") == "contact");
  CHECK(rows[0].at("name") == "stack");
  CHECK(number(rows[0], "ms_min") > 0);
  CHECK(number(rows[0], "ms_median") >= number(rows[0], "ms_min"));  // the longest, and the mean
}

TEST_CASE("bench measures the same frames within a budget") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--only", "budget", "--quick", "--name", "stack"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "The same, each frame within the mean"));
  const std::vector<Cells> rows = read_table(folder.path("runs/bench/bench.csv"));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("group") == "budget");
  CHECK(rows[0].at("name") == "stack");
  CHECK(number(rows[0], "ms_min") > 0);
  CHECK(number(rows[0], "ms_median") >= number(rows[0], "ms_min"));
}

TEST_CASE("bench refuses bad flags and unwritable files before it measures anything") {
  const Folder folder;
  folder.write("file", "not a folder");
  std::filesystem::create_directory(folder.path("folder"));
  const std::vector<std::string> before = files_in(folder);
  const auto check_refused = [&](std::vector<std::string> words, const std::vector<std::string>& phrases) {
    words.insert(words.begin(), {"bench", "--quick"});
    std::string line;
    for (const std::string& word : words) line += word + " ";
    CAPTURE(line);
    const Outcome outcome = run(folder, words);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    for (const std::string& phrase : phrases) CHECK(contains(outcome.err, phrase));
    CHECK(contains(outcome.err, "nothing was measured"));
    CHECK(files_in(folder) == before);
  };
  check_refused({"--only", "locl"}, {"--only: found \"locl\"", "(nearest: local)"});
  check_refused({"--only", "local,,global"}, {"--only: found \"local,,global\""});
  check_refused({"--name", "cube,hipo"}, {"--name: found \"hipo\"", "(nearest: hippo)"});
  check_refused({"--only", "frame", "--name", "box105k"}, {"found nothing to measure"});
  check_refused({"--only", "growth_factor", "--name", "box1M"}, {"found nothing to measure", "with --quick"});
  check_refused({"--threads", "0"}, {"--threads: found 0"});
  check_refused({"--threads", "5000"}, {"--threads: found 5000, expected at most 1024"});
  check_refused({"--csv", "no/such/folder/x.csv"}, {"no/such/folder/x.csv: cannot be written"});
  check_refused({"--csv", "file/x.csv"}, {"file/x.csv: cannot be written"});
  check_refused({"--csv", "folder"}, {"folder: is a directory"});
  check_refused({"--csv", "x.csv", "--plot", "no/x.svg"}, {"no/x.svg: cannot be written"});
  check_refused({"--csv", "x.svg"}, {"expected two files"});
  check_refused({"cube"}, {"cube: one argument too many"});
  check_refused({"--quik"}, {"--quik: unknown option", "(nearest: --quick)"});
  check_refused({"--only", "locl", "--name", "hipo", "--threads", "x"}, {"locl", "hipo", "--threads: found x"});
  CHECK(read_file(folder.path("file")) == "not a folder");
}

TEST_CASE("an interrupted bench writes what it has measured") {
  const Folder folder;
  Process process(folder, {"bench", "--only", "frame", "--name", "ball,strip", "--threads", "1", "--csv", "speed.csv"});
  const auto second_begun = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      if (contains(read_file(entry.path()), "bench: 2 of 2, strip")) return true;
    return false;
  };
  for (int i = 0; i < 6000 && !second_begun() && process.running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(process.running());
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  CHECK(outcome.code == 130);
  CHECK(contains(outcome.err, "interrupted; what was measured is in speed.csv"));
  const std::vector<Cells> rows = read_table(folder.path("speed.csv"));
  REQUIRE(rows.size() == 2);
  for (const Cells& row : rows) CHECK(row.at("name") == "ball");
}

TEST_CASE("bench --help tells its usage, its groups and examples") {
  const Folder folder;
  const Outcome outcome = run(folder, {"bench", "--help"});
  CHECK(outcome.code == 0);
  for (const char* word : {"Usage: verve bench", "--quick", "--csv", "pd_iteration", "Examples:\n  verve bench"})
    CHECK(contains(outcome.out, word));
}
