#include <csignal>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>

#include <doctest/doctest.h>

#include "fixtures.h"
#include "record/metrics_table.h"

using namespace record_test;

namespace {

const char* const columns =
    "frame,time,body,px,py,pz,lx,ly,lz,kinetic,elastic,contact,external,total,target_total,booked_loss,multiplier,"
    "iterations,error_p,error_l,error_h,com_x,com_y,com_z,step_ms,heat,work";

int column(const std::vector<std::vector<std::string>>& rows, const std::string& name) {
  for (size_t i = 0; i < rows[0].size(); ++i)
    if (rows[0][i] == name) return int(i);
  FAIL("no column " << name);
  return -1;
}

/// A command that runs python3 with numpy, or nothing.
std::string numpy_python() {
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (std::system((python + " -c 'import numpy' >/dev/null 2>&1").c_str()) == 0) return python;
  return "";
}

}  // namespace

TEST_CASE("metrics.csv has the agreed columns, one row per body and one for all, from frame 0 on") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("left"), tetrahedron("right", 5)}));
  Recorder recorder = std::move(Recorder::open(folder.path / "run", sim).value());
  for (int i = 0; i < 5; ++i) recorder.frame(sim, sim.step());

  const std::string text = read_text(folder.path / "run/metrics.csv");
  CHECK(text.substr(0, text.find('\n')) == columns);
  CHECK(text.find('\r') == std::string::npos);
  const auto rows = read_csv(folder.path / "run/metrics.csv");
  REQUIRE(rows.size() == 1 + 6 * 3);
  for (size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == rows[0].size());
    CHECK(rows[i][0] == std::to_string((i - 1) / 3));
    CHECK(rows[i][2] == ((i - 1) % 3 == 0 ? "left" : (i - 1) % 3 == 1 ? "right" : "all"));
  }
}

TEST_CASE("numbers in metrics.csv give back the very same doubles") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  Recorder recorder = std::move(Recorder::open(folder.path, sim).value());
  const StepReport report = sim.step();
  recorder.frame(sim, report);

  const auto rows = read_csv(folder.path / "metrics.csv");
  REQUIRE(rows.size() == 5);
  const Measures one = sim.measure(0), all = sim.measure();
  const auto value = [&](int row, const char* name) {
    return std::strtod(rows[row][column(rows, name)].c_str(), nullptr);
  };
  CHECK(value(3, "time") == sim.time());
  CHECK(value(3, "px") == one.momentum.x);
  CHECK(value(3, "lz") == one.angular_momentum.z);
  CHECK(value(3, "kinetic") == one.kinetic);
  CHECK(value(3, "elastic") == one.elastic);
  CHECK(value(3, "target_total") == one.target_total);
  CHECK(value(3, "com_x") == one.center.x);
  CHECK(value(4, "total") == all.total);
  CHECK(value(4, "iterations") == report.iterations);
  CHECK(value(4, "error_h") == report.error_h);
  CHECK(value(4, "step_ms") == report.milliseconds);
  CHECK(one.kinetic > 0);
  CHECK(value(1, "step_ms") == 0);
}

TEST_CASE("a number is written with 17 digits, a point, and words for what is not finite") {
  const auto text = [](double value) {
    std::string out;
    append_number(out, value);
    return out;
  };
  CHECK(text(0.1) == "0.10000000000000001");
  CHECK(text(-3e-300) == "-3.0000000000000002e-300");
  CHECK(text(0) == "0");
  CHECK(text(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(text(-std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("names with commas, quotes and line breaks survive the table, also in columns put before it") {
  CHECK(csv_field("plain name") == "plain name");
  const std::string name = "say \"hi\", twice\nplease";
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("two words")}));
  std::string table = "method," + metrics_header() + '\n';
  append_metrics_rows(table, sim, {}, csv_field(name) + ',');
  write_text(folder.path / "table.csv", table);
  const auto rows = read_csv(folder.path / "table.csv");
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  CHECK(rows[1][0] == name);
  CHECK(rows[1][3] == "two words");
  CHECK(rows[2][0] == name);
  CHECK(rows[2][3] == "all");
}

TEST_CASE("positions.npy holds every frame in the order of the meshes, as float32 or float64") {
  for (const bool float64 : {false, true}) {
    CAPTURE(float64);
    Folder folder;
    Simulation sim = simulate(scene_of({tetrahedron("left"), tetrahedron("right", 5)}));
    std::vector<std::vector<Vec3>> expected{sim.positions()};
    Recorder recorder = std::move(Recorder::open(folder.path, sim, float64).value());
    for (int i = 0; i < 12; ++i) {
      recorder.frame(sim, sim.step());
      expected.push_back(sim.positions());
    }
    const Npy npy = read_npy(folder.path / "positions.npy");
    CHECK(npy.descr == (float64 ? "<f8" : "<f4"));
    REQUIRE(npy.frames == 13);
    REQUIRE(npy.vertices == 8);
    REQUIRE(npy.axes == 3);
    REQUIRE(npy.data_bytes == 13 * 8 * 3 * npy.item());
    bool same = true;
    for (int f = 0; f < 13; ++f)
      for (int v = 0; v < 8; ++v)
        for (int a = 0; a < 3; ++a) {
          const double x = expected[f][v][a];
          same = same && npy.at(f, v, a) == (float64 ? x : double(float(x)));
        }
    CHECK(same);
  }
}

TEST_CASE("numpy loads positions.npy, also mapped into memory and with the bytes of an unfinished frame at its end") {
  const std::string python = numpy_python();
  if (python.empty()) {
    MESSAGE("SKIPPED: python3 with numpy is not installed");
    return;
  }
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  {
    Recorder recorder = std::move(Recorder::open(folder.path, sim, true).value());
    for (int i = 0; i < 3; ++i) recorder.frame(sim, sim.step());
  }
  std::ofstream(folder.path / "positions.npy", std::ios::binary | std::ios::app) << std::string(37, '\x7f');
  write_text(folder.path / "check.py",
             "import numpy, sys\n"
             "for mode in (None, 'r'):\n"
             "    a = numpy.load(sys.argv[1], mmap_mode=mode)\n"
             "    assert a.shape == (4, 4, 3) and a.dtype == numpy.float64, (a.shape, a.dtype)\n"
             "    print(repr(float(a[3, 2, 1])))\n");
  const auto quoted = [](const fs::path& p) { return "'" + p.string() + "'"; };
  const fs::path out = folder.path / "out.txt";
  const int status = std::system((python + " " + quoted(folder.path / "check.py") + " " +
                                  quoted(folder.path / "positions.npy") + " > " + quoted(out) + " 2>&1")
                                     .c_str());
  const std::string said = read_text(out);
  CAPTURE(said);
  REQUIRE(status == 0);
  double first = 0, second = 0;
  REQUIRE(std::sscanf(said.c_str(), "%lf %lf", &first, &second) == 2);
  CHECK(first == sim.positions()[2].y);
  CHECK(second == first);
}

TEST_CASE("recording into the folder of an earlier run replaces its files") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  {
    Recorder recorder = std::move(Recorder::open(folder.path, sim, true).value());
    for (int i = 0; i < 20; ++i) recorder.frame(sim, sim.step());
  }
  sim.reset();
  Recorder recorder = std::move(Recorder::open(folder.path, sim).value());
  recorder.frame(sim, sim.step());
  CHECK(read_npy(folder.path / "positions.npy").frames == 2);
  CHECK(read_npy(folder.path / "positions.npy").data_bytes == 2 * 4 * 3 * 4);
  CHECK(read_csv(folder.path / "metrics.csv").size() == 1 + 2 * 2);
  CHECK(folder.entries().size() == 2);
}

TEST_CASE("a folder that cannot be made or written to is reported, and nothing is left behind") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  write_text(folder.path / "taken", "a file");

  SUBCASE("a file in its place") {
    const auto result = Recorder::open(folder.path / "taken", sim);
    REQUIRE(!result);
    CHECK(result.diagnostics().items()[0].where == (folder.path / "taken").string());
    CHECK(result.diagnostics().items()[0].what.find("expected a folder") != std::string::npos);
  }
  SUBCASE("a file in the way") {
    const auto result = Recorder::open(folder.path / "taken/run/1", sim);
    REQUIRE(!result);
    const std::string place = (folder.path / "taken").string();
    CHECK(result.diagnostics().text().find(place + ", expected a folder") != std::string::npos);
  }
  SUBCASE("folders with the names of both files") {
    fs::create_directories(folder.path / "metrics.csv");
    fs::create_directories(folder.path / "positions.npy");
    const auto result = Recorder::open(folder.path, sim);
    REQUIRE(!result);
    CHECK(result.diagnostics().items().size() == 2);
    fs::remove(folder.path / "metrics.csv");
    fs::remove(folder.path / "positions.npy");
  }
  SUBCASE("a name that is too long, below folders that were missing") {
    const auto result = Recorder::open(folder.path / "new" / "newer" / std::string(300, 'x'), sim);
    REQUIRE(!result);
    CHECK(result.diagnostics().text().find("cannot create the folder: ") != std::string::npos);
  }
  CHECK(folder.entries() == std::vector<std::string>{"taken"});
  CHECK(read_text(folder.path / "taken") == "a file");
}

TEST_CASE("a folder without permission to write is reported with the system's reason") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  fs::permissions(folder.path, fs::perms(0555));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);  // root may write anywhere
    const auto here = Recorder::open(folder.path, sim);
    const auto below = Recorder::open(folder.path / "new", sim);
    const bool told = !here && !below && here.diagnostics().text().find("Permission denied") != std::string::npos &&
                      below.diagnostics().text().find("Permission denied") != std::string::npos &&
                      here.diagnostics().items().size() == 2;
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  fs::permissions(folder.path, fs::perms(0755));
  CHECK(folder.entries().empty());
}

TEST_CASE("a full disk stops the recording with a message and leaves the frames before it readable") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  // A limit on the size of files stands in for the full disk. metrics.csv reaches it first.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{6000, 6000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto recorder = Recorder::open(folder.path, sim);
    if (!recorder) ::_exit(2);
    try {
      for (int i = 0; i < 1000; ++i) recorder->frame(sim, sim.step());
    } catch (const std::runtime_error& error) {
      write_text(folder.path / "message", error.what());
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  const std::string message = read_text(folder.path / "message");
  CHECK(message.find("metrics.csv: File too large") != std::string::npos);
  const Npy npy = read_npy(folder.path / "positions.npy");
  const auto rows = read_csv(folder.path / "metrics.csv");
  CHECK(npy.frames > 1);
  CHECK(rows.size() == size_t(1 + 2 * npy.frames));
  CHECK(read_text(folder.path / "metrics.csv").back() == '\n');
  CHECK(message.find("the " + std::to_string(npy.frames) + " frames before it") != std::string::npos);
}

TEST_CASE("a recorder refuses frames of another simulation") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  Simulation other = simulate(scene_of({tetrahedron("left"), tetrahedron("right", 5)}));
  Recorder recorder = std::move(Recorder::open(folder.path, sim).value());
  CHECK_THROWS_AS(recorder.frame(other, {}), std::invalid_argument);
}
