#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "process.h"

namespace {

/// Exit 2, every expected phrase on stderr, nothing on stdout and nothing written.
void check_refused(const Folder& folder, std::vector<std::string> words, const std::vector<std::string>& phrases) {
  words.insert(words.end(), {"--out", "out"});
  const Outcome outcome = run(folder, words);
  std::string line;
  for (const std::string& word : words) line += word + " ";
  CAPTURE(line);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.out == "");
  for (const std::string& phrase : phrases) {
    CAPTURE(phrase);
    CHECK(contains(outcome.err, phrase));
  }
  CHECK_FALSE(std::filesystem::exists(folder.path("out")));
  CHECK_FALSE(std::filesystem::exists(folder.path("runs")));
}

}  // namespace

TEST_CASE("flags out of range or unknown are refused, each with one message") {
  const Folder folder;
  folder.write("in.json", small_scene());
  check_refused(folder, {"simulate", "in.json", "--frames", "0"},
                {"--frames: found 0, expected a whole number >= 1\n"});
  check_refused(folder, {"simulate", "in.json", "--frames", "-3"}, {"--frames: found -3"});
  check_refused(folder, {"simulate", "in.json", "--frames", "ten"}, {"--frames: found ten"});
  check_refused(folder, {"simulate", "in.json", "--frames", "1.5"}, {"--frames: found 1.5"});
  check_refused(folder, {"simulate", "in.json", "--frames", "99999999999"}, {"--frames: found 99999999999"});
  check_refused(folder, {"simulate", "in.json", "--frames", ""}, {"--frames: found \"\""});
  check_refused(folder, {"simulate", "in.json", "--threads", "0"}, {"--threads: found 0"});
  check_refused(folder, {"simulate", "in.json", "--precision", "half"},
                {"--precision: found \"half\", expected one of double, float"});
  check_refused(folder, {"simulate", "in.json", "--record", "int"}, {"--record: found \"int\""});
  check_refused(folder, {"simulate", "in.json", "--method", "cpdd"}, {"--method: found \"cpdd\"", "(nearest: cpd)"});
  check_refused(folder, {"simulate", "in.json", "--frmes", "3"}, {"--frmes: unknown option", "(nearest: --frames)"});
  check_refused(folder, {"simulate", "in.json", "other.json"}, {"other.json: one argument too many"});
  check_refused(folder, {"simulate"}, {"SCENE: nothing given"});
  check_refused(folder, {"simulate", "cubee"}, {"cubee", "nearest: cube"});
  check_refused(folder, {"demo", "--scene", "nowhere.json"}, {"nowhere.json"});
  check_refused(folder, {"demo", "--scene", "in.json", "--frames", "0"}, {"--frames: found 0"});
}

TEST_CASE("compare refuses methods and modes that it does not know, all at once") {
  const Folder folder;
  folder.write("in.json", small_scene());
  check_refused(folder, {"compare", "in.json", "--methods", "cpdd,pd"},
                {"--methods: found \"cpdd\"", "(nearest: cpd)", "1 problem; nothing was written"});
  check_refused(folder, {"compare", "in.json", "--methods", "pd+fper"},
                {"--methods: found \"pd+fper\"", "(nearest: pd+fepr)"});
  check_refused(folder, {"compare", "in.json", "--methods", "pd,,cpd"}, {"--methods: found \"\""});
  check_refused(folder, {"compare", "in.json", "--methods", "pd,cpd,pd"}, {"--methods: found \"pd\" twice"});
  check_refused(folder, {"compare", "in.json", "--methods", "pd:0,cpd:"},
                {"--methods: pd:0: found 0, expected a whole number >= 1", "expected a number of iterations after"});
  check_refused(folder, {"compare", "in.json", "--methods", "pd:3", "--iterations", "5"}, {"beside --iterations"});
  check_refused(folder, {"compare", "in.json", "--methods", "pd", "--iterations", "5", "--budget", "2"},
                {"--budget: found beside --iterations"});
  check_refused(folder, {"compare"}, {"SCENE: nothing given"});
  check_refused(folder, {"compare",      "in.json",       "--methods", "dp,pbdd", "--frames",    "0",
                         "--iterations", "none",          "--budget",  "-1ms",    "--reference", "1",
                         "--precision",  "half",          "--threads", "no",      "--set",       "solver.method=pd",
                         "--set",        "gravty=[0,1,0]"},
                {"--methods: found \"dp\"", "--methods: found \"pbdd\"", "--frames: found 0",
                 "--iterations: found none", "--budget: found -1ms, expected a number > 0",
                 "--reference: found 1, expected none or a whole number", "--precision: found \"half\"",
                 "--threads: found no", "--set: found solver.method=pd", "gravty", "nothing was written"});
}

TEST_CASE("a flag without its value, no command and an unknown command are bad input") {
  const Folder folder;
  const Outcome missing = run(folder, {"simulate", "cube", "--frames"});
  CHECK(missing.code == 2);
  CHECK(contains(missing.err, "--frames: nothing found after it"));
  const Outcome nothing = run(folder, {});
  CHECK(nothing.code == 2);
  CHECK(contains(nothing.err, "no command given, expected one of demo, list"));
  const Outcome unknown = run(folder, {"simulat", "cube"});
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "simulat: unknown command"));
  CHECK(contains(unknown.err, "(nearest: simulate)"));
}

TEST_CASE("flags, overrides and the scene file are reported together") {
  const Folder folder;
  folder.write("bad.json", small_scene("\"stepp\": 0.1,\n  \"gravity\": \"down\""));
  check_refused(folder,
                {"simulate", "bad.json", "--frames", "0", "--threads", "-1", "--precision", "half", "--method", "cpdd",
                 "--colour", "--set", "solver.tolerence=1", "--set", "broken"},
                {"--frames: found 0", "--threads: found -1", "--precision: found \"half\"", "--method: found \"cpdd\"",
                 "--colour: unknown option", "solver.tolerence", "nearest: tolerance", "--set: found \"broken\"",
                 "stepp", "nearest: step", "gravity", "problems; nothing was written"});
}

TEST_CASE("problems of a scene file come with file, line and column") {
  const Folder folder;
  folder.write("bad.json", small_scene("\"frames\": 0"));
  check_refused(folder, {"simulate", "bad.json"}, {"bad.json:13:13: frames"});
}

TEST_CASE("--set follows the rules of the file") {
  const Folder folder;
  folder.write("in.json", small_scene());
  check_refused(folder, {"simulate", "in.json", "--set", "bodies[0].density=-1"}, {"bodies[0].density", "-1"});
  check_refused(folder, {"simulate", "in.json", "--set", "bodies[0].density=nan"}, {"bodies[0].density"});
  check_refused(folder, {"simulate", "in.json", "--set", "bodies[7].density=1"}, {"bodies[7]"});
  check_refused(folder, {"simulate", "in.json", "--set", "frames=0"}, {"frames"});
  check_refused(folder, {"simulate", "in.json", "--set", "solver.method=cpdd"}, {"solver.method", "nearest: cpd"});
  check_refused(folder, {"simulate", "in.json", "--set", "gravity=[0,1]"}, {"gravity"});
}

TEST_CASE("meshes that cannot be simulated are refused by name") {
  const Folder folder;
  const auto scene = [](const std::string& mesh) {
    return R"({"version": 1, "bodies": [{"name": "b", "potentials": [{"type": "tet_strain"}], "mesh": )" + mesh + "}]}";
  };
  const std::string corners = R"("vertices": [[0,0,0], [1,0,0], [0,1,0], [0,0,1]])";
  folder.write("missing.json", scene(R"({"file": "nowhere.mesh"})"));
  folder.write("empty.json", scene(R"({"data": {"vertices": []}})"));
  folder.write("range.json", scene(R"({"data": {)" + corners + R"(, "tetrahedra": [[0, 1, 2, 9]]}})"));
  folder.write("inverted.json",
               scene(R"({"repair": "refuse", "data": {)" + corners + R"(, "tetrahedra": [[0, 2, 1, 3]]}})"));
  check_refused(folder, {"simulate", "missing.json"}, {"nowhere.mesh"});
  check_refused(folder, {"simulate", "empty.json"}, {"mesh"});
  check_refused(folder, {"simulate", "range.json"}, {"9"});
  check_refused(folder, {"simulate", "inverted.json"}, {"inverted"});
}

TEST_CASE("an output folder that cannot be written to is refused") {
  const Folder folder;
  folder.write("in.json", small_scene());
  folder.write("file", "not a folder");
  for (const char* out : {"file", "file/below", "/proc/verve/out"}) {
    CAPTURE(out);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"simulate", "in.json", "--out", out},
          std::vector<std::string>{"compare", "in.json", "--frames", "2", "--out", out},
          std::vector<std::string>{"demo", "--scene", "in.json", "--frames", "2", "--out", out}}) {
      const Outcome outcome = run(folder, words);
      CHECK(outcome.code == 2);
      CHECK(contains(outcome.err, out));
      CHECK(outcome.out == "");
    }
  }
  CHECK(read_file(folder.path("file")) == "not a folder");
}

TEST_CASE("a read-only output folder is refused and left as it was" * doctest::skip(geteuid() == 0)) {
  // root may write anywhere, so there is nothing to refuse
  const Folder folder;
  folder.write("in.json", small_scene());
  std::filesystem::create_directory(folder.path("locked"));
  std::filesystem::permissions(folder.path("locked"),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Outcome outcome = run(folder, {"simulate", "in.json", "--out", "locked"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "locked"));
  CHECK(std::filesystem::is_empty(folder.path("locked")));
}
