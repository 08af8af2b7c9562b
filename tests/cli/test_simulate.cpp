#include <doctest/doctest.h>

#include "process.h"

namespace {

const char* const metrics_head =
    "frame,time,body,px,py,pz,lx,ly,lz,kinetic,elastic,contact,external,total,target_total,booked_loss,multiplier,"
    "iterations,error_p,error_l,error_h,com_x,com_y,com_z,step_ms,heat,work";

/// Every line without its last column but two, step_ms, which is a time measured on a clock.
std::vector<std::string> without_times(const std::string& csv) {
  std::vector<std::string> lines = lines_of(csv);
  for (std::string& line : lines) {  // step_ms is the last but two
    const size_t last = line.rfind(',', line.rfind(',') - 1), time = line.rfind(',', last - 1);
    line.erase(time, last - time);
  }
  return lines;
}

}  // namespace

TEST_CASE("simulate leaves metrics, positions, the resolved scene and a report") {
  const Folder folder;
  folder.write("in.json", small_scene());
  const Outcome outcome = run(folder, {"simulate", "in.json"});
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");

  const std::vector<std::string> metrics = lines_of(read_file(folder.path("runs/small/metrics.csv")));
  REQUIRE(metrics.size() == 1 + 2 * 21);  // the head, then `block` and `all` for frames 0 … 20
  CHECK(metrics[0] == metrics_head);
  CHECK(metrics[1].starts_with("0,0,"));
  CHECK(metrics.back().starts_with("20,"));
  const NpyInfo positions = read_npy_info(folder.path("runs/small/positions.npy"));
  CHECK(positions.type == "<f4");
  CHECK(positions.shape == std::vector<long>{21, 8, 3});
  CHECK(positions.whole);
  CHECK(contains(read_file(folder.path("runs/small/scene.json")), "\"small\""));
  CHECK(contains(read_file(folder.path("runs/small/report.html")), "<html"));

  CHECK(contains(outcome.out, "frame 10 of 20, 50 %"));
  CHECK(contains(outcome.out, "energy [J]"));
  CHECK(contains(outcome.out, "runs/small/report.html"));
  CHECK(lines_of(outcome.out).size() <= 20);
  CHECK_FALSE(contains(outcome.out, "\r"));
  CHECK_FALSE(contains(outcome.out, "\033"));
}

TEST_CASE("the scene.json of a run reruns to the same numbers, on any number of threads") {
  const Folder folder;
  folder.write("in.json", small_scene());
  CHECK(run(folder, {"simulate", "in.json", "--out", "a", "--set", "solver.tolerance=1e-8", "--frames", "30"}).code ==
        0);
  CHECK(run(folder, {"simulate", "a/scene.json", "--out", "b", "--threads", "3"}).code == 0);
  CHECK(without_times(read_file(folder.path("a/metrics.csv"))).size() == 1 + 2 * 31);
  CHECK(without_times(read_file(folder.path("a/metrics.csv"))) ==
        without_times(read_file(folder.path("b/metrics.csv"))));
  CHECK(read_file(folder.path("a/positions.npy")) == read_file(folder.path("b/positions.npy")));
  CHECK(read_file(folder.path("a/scene.json")) == read_file(folder.path("b/scene.json")));
}

TEST_CASE("a rerun finds a mesh file from wherever it is started") {
  const Folder folder;
  std::filesystem::create_directories(folder.path("meshes"));
  CHECK(run(folder, {"mesh", "tetrahedron", "--out", "meshes/one.mesh"}).code == 0);
  folder.write("meshes/in.json", R"({"version": 1, "name": "one", "frames": 3, "bodies": [
    {"name": "t", "mesh": {"file": "one.mesh"}, "potentials": [{"type": "tet_strain"}]}]})");
  CHECK(run(folder, {"simulate", "meshes/in.json", "--out", "deep/a"}).code == 0);
  const Outcome again = run(folder, {"simulate", "deep/a/scene.json", "--out", "b"});
  CHECK(again.err == "");
  CHECK(again.code == 0);
  CHECK(read_file(folder.path("deep/a/positions.npy")) == read_file(folder.path("b/positions.npy")));
}

TEST_CASE("--frames, --method and --precision override the scene and end up in scene.json") {
  const Folder folder;
  folder.write("in.json", small_scene());
  CHECK(
      run(folder, {"simulate", "in.json", "--out", "flags", "--frames", "4", "--method", "pd", "--precision", "float"})
          .code == 0);
  CHECK(run(folder, {"simulate", "in.json", "--out", "sets", "--set", "frames=4", "--set", "solver.method=pd", "--set",
                     "solver.precision=float"})
            .code == 0);
  CHECK(read_file(folder.path("flags/scene.json")) == read_file(folder.path("sets/scene.json")));
  CHECK(read_npy_info(folder.path("flags/positions.npy")).shape == std::vector<long>{5, 8, 3});
  CHECK(contains(read_file(folder.path("flags/scene.json")), "\"pd\""));
}

TEST_CASE("--set reaches any key: numbers, lists, words and keys of list items") {
  const Folder folder;
  folder.write("in.json", small_scene());
  const Outcome outcome =
      run(folder, {"simulate", "in.json", "--out", "o", "--set", "gravity=[0,-9.81,0]", "--set", "name=renamed",
                   "--set", "bodies[0].density=500", "--set", "bodies[0].potentials[0].mu=2e5"});
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  const std::string scene = read_file(folder.path("o/scene.json"));
  for (const char* word : {"-9.81", "\"renamed\"", "500", "200000"}) CHECK(contains(scene, word));
}

TEST_CASE("--record double stores float64") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 3"));
  CHECK(run(folder, {"simulate", "in.json", "--out", "o", "--record", "double"}).code == 0);
  const NpyInfo positions = read_npy_info(folder.path("o/positions.npy"));
  CHECK(positions.type == "<f8");
  CHECK(positions.shape == std::vector<long>{4, 8, 3});
  CHECK(positions.whole);
}

TEST_CASE("--quiet prints nothing") {
  const Folder folder;
  folder.write("in.json", small_scene());
  const Outcome outcome = run(folder, {"simulate", "in.json", "--quiet"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "");
  CHECK(outcome.err == "");
}

TEST_CASE("a built-in scene runs by its name") {
  const Folder folder;
  const Outcome outcome = run(folder, {"simulate", "cube", "--frames", "2"});
  CHECK(outcome.code == 0);
  CHECK(read_npy_info(folder.path("runs/cube/positions.npy")).shape[0] == 3);
}

TEST_CASE("a second run in the same folder replaces the first") {
  const Folder folder;
  folder.write("in.json", small_scene());
  CHECK(run(folder, {"simulate", "in.json", "--out", "o"}).code == 0);
  CHECK(run(folder, {"simulate", "in.json", "--out", "o", "--frames", "2"}).code == 0);
  CHECK(read_npy_info(folder.path("o/positions.npy")).shape[0] == 3);
  CHECK(lines_of(read_file(folder.path("o/metrics.csv"))).size() == 1 + 2 * 3);
}

TEST_CASE("a run without a report leaves none, and none of an earlier run") {
  const Folder folder;
  folder.write("in.json", small_scene());
  CHECK(run(folder, {"simulate", "in.json", "--out", "o"}).code == 0);
  CHECK(std::filesystem::exists(folder.path("o/report.html")));
  const Outcome bare = run(folder, {"simulate", "in.json", "--out", "o", "--frames", "2", "--no-report"});
  CHECK(bare.code == 0);
  CHECK(contains(bare.out, "o/metrics.csv"));
  CHECK_FALSE(std::filesystem::exists(folder.path("o/report.html")));
  CHECK(lines_of(read_file(folder.path("o/metrics.csv"))).size() == 1 + 2 * 3);
}

TEST_CASE("a run resumed from a snapshot writes what the whole run wrote") {
  const Folder folder;
  folder.write("in.json", small_scene());
  CHECK(run(folder, {"simulate", "in.json", "--out", "all", "--snapshot-every", "6", "--record", "double"}).code == 0);
  CHECK(contains(read_file(folder.path("all/snapshots/000018.verve")), "VERVESNP"));
  CHECK_FALSE(std::filesystem::exists(folder.path("all/snapshots/000020.verve")));
  const Outcome resumed =
      run(folder, {"simulate", "in.json", "--resume", "all/snapshots/000012.verve", "--record", "double"});
  CHECK(resumed.code == 0);
  CHECK(resumed.err == "");
  const auto whole = without_times(read_file(folder.path("all/metrics.csv")));
  auto rest = without_times(read_file(folder.path("runs/small_from_12/metrics.csv")));
  REQUIRE(rest.size() == 1 + 2 * 9);  // the head, then `block` and `all` for frames 12 … 20
  // frame 12 is that of the snapshot, whose step took no time
  CHECK(std::equal(rest.begin() + 3, rest.end(), whole.end() - 16));
  const std::string a = read_file(folder.path("all/positions.npy")),
                    b = read_file(folder.path("runs/small_from_12/positions.npy"));
  const size_t frames = 9 * 8 * 3 * sizeof(double);
  CHECK(a.substr(a.size() - frames) == b.substr(b.size() - frames));

  // each with what was found and expected, and nothing written
  const auto refusal = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"simulate", "in.json"});
    const Outcome outcome = run(folder, flags);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "nothing was written"));
    return outcome.err;
  };
  CHECK(contains(refusal({"--resume", "none.verve"}), "none.verve: cannot be read, expected a snapshot"));
  CHECK(contains(refusal({"--resume", "in.json"}), "in.json: found no snapshot"));
  CHECK(contains(refusal({"--resume", "all/snapshots/000012.verve", "--frames", "12"}),
                 "--resume: found frame 12 in all/snapshots/000012.verve, expected one before the last frame, 12"));
  CHECK(contains(refusal({"--resume", "all/snapshots/000012.verve", "--method", "pd"}),
                 "all/snapshots/000012.verve: found method \"cpd\" in double, expected method \"pd\" in double"));
  CHECK(contains(refusal({"--resume", "all/snapshots/000012.verve", "--out", "all"}),
                 "--out: found the run that all/snapshots/000012.verve is of"));
  CHECK(contains(refusal({"--snapshot-every", "0"}), "--snapshot-every: found 0, expected a whole number >= 1"));
  CHECK_FALSE(std::filesystem::exists(folder.path("runs/small")));
}
