#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <thread>

#include "process.h"
#include "source_dir.h"
#include "verve/record.h"
#include "verve/registry.h"
#include "verve/scene_file.h"

namespace {

const std::string metrics_columns =
    "frame,time,body,px,py,pz,lx,ly,lz,kinetic,elastic,contact,external,total,target_total,booked_loss,multiplier,"
    "iterations,error_p,error_l,error_h,com_x,com_y,com_z,step_ms,heat,work";

using Cells = std::vector<std::string>;

/// No field of these tables that is looked at holds a comma.
Cells split(const std::string& line) {
  Cells cells(1);
  for (const char c : line) c == ',' ? void(cells.emplace_back()) : void(cells.back() += c);
  return cells;
}

struct Table {
  std::string head;
  std::vector<Cells> rows;
  explicit Table(const std::filesystem::path& file) {
    const std::vector<std::string> lines = lines_of(read_file(file));
    REQUIRE(!lines.empty());
    head = lines[0];
    for (size_t i = 1; i < lines.size(); ++i) rows.push_back(split(lines[i]));
  }
  size_t column(const std::string& name) const {
    const Cells names = split(head);
    const auto at = std::find(names.begin(), names.end(), name);
    REQUIRE(at != names.end());
    return size_t(at - names.begin());
  }
  /// Rows that begin with this method.
  std::vector<Cells> of(const std::string& method) const {
    std::vector<Cells> out;
    for (const Cells& row : rows)
      if (row[0] == method) out.push_back(row);
    return out;
  }
};

/// Lines without the last column but two, step_ms, which is measured on a clock, from column `from` on.
std::vector<std::string> without_times(const std::vector<Cells>& rows, size_t from) {
  std::vector<std::string> out;
  for (const Cells& row : rows) {
    std::string& line = out.emplace_back();
    for (size_t i = from; i < row.size(); ++i)
      if (i + 3 != row.size()) line += row[i] + ",";
  }
  return out;
}
std::vector<std::string> without_times(const std::filesystem::path& file, size_t from = 0) {
  return without_times(Table(file).rows, from);
}

/// Asks a conserving method, and no other, for more energy than doubles can hold: it diverges some frames later.
std::string bursting_scene() {
  std::string text = small_scene("\"frames\": 20");
  const std::string at = "\"potentials\"";
  return text.insert(text.find(at), "\"dials\": {\"energy\": {\"keys\": [[0.2, 1e308]]}},\n    ");
}

}  // namespace

TEST_CASE("compare writes the columns of metrics.csv behind the method, from the same start for all") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 6"));
  const Outcome outcome = run(folder, {"compare", "in.json", "--methods", "cpd,pd,published", "--out", "o"});
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  const Table table(folder.path("o/compare.csv"));
  CHECK(table.head == "method," + metrics_columns);
  CHECK(table.rows.size() == 3 * 7 * 2);  // methods, frames 0 … 6, `block` and `all`
  std::vector<std::string> order;
  for (const Cells& row : table.rows)
    if (order.empty() || order.back() != row[0]) order.push_back(row[0]);
  CHECK(order == std::vector<std::string>{"cpd", "pd", "published"});
  for (const char* method : {"pd", "published"})
    for (const size_t row : {0, 1}) {
      Cells first = table.of("cpd")[row], other = table.of(method)[row];
      first[0] = other[0] = "";
      CHECK(first == other);
    }
  for (const char* file : {"quality.csv", "methods.csv", "reference.csv", "compare.html"})
    CHECK(std::filesystem::exists(folder.path("o") / file));
  // only what cpd holds says how many sub-steps a frame needs
  const Table methods(folder.path("o/methods.csv"));
  for (const auto& [method, substeps] :
       {std::pair{"cpd", "auto"}, {"pd", "1"}, {"published", "1"}, {"reference", "16"}})
    CHECK(methods.of(method).at(0)[methods.column("substeps")] == substeps);
  for (const char* word :
       {"reference", "cpd", "pd", "published", "energy from 0 s to 0.2 s", "|L|", "largest departure",
        "elastic oscillation", "roughness", "constraint error", "distance to reference", "iteration cap",
        "iterations per frame", "time per frame", "status", "o/compare.html"})
    CHECK(contains(outcome.out, word));
}

TEST_CASE("each method runs as verve simulate runs it") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 8"));
  CHECK(run(folder, {"compare", "in.json", "--methods", "pd,cpd", "--out", "o", "--reference", "none"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path("o/reference.csv")));
  const Table table(folder.path("o/compare.csv"));
  for (const char* method : {"pd", "cpd"}) {
    CHECK(run(folder, {"simulate", "in.json", "--method", method, "--out", method}).code == 0);
    CHECK(without_times(table.of(method), 1) == without_times(folder.path(method) / "metrics.csv"));
  }
}

TEST_CASE("quality.csv holds what a direct computation gives") {
  const Folder folder;
  const std::string file = folder.write("in.json", small_scene("\"frames\": 10"));
  CHECK(run(folder, {"compare", "in.json", "--methods", "pd", "--out", "o", "--reference", "8"}).code == 0);
  const Table table(folder.path("o/quality.csv"));
  CHECK(table.head == "method,frame,time,roughness,constraint_error,distance,slow_distance");
  REQUIRE(table.rows.size() == 2 * 11);

  verve::Scene scene = verve::read_scene(file).value();
  verve::Scene fine = scene;
  scene.solver.method = "pd";
  fine.solver.integrator = "generalized_alpha", fine.solver.rho = 0.8;
  fine.solver.conservation = "none";
  fine.solver.iterations = 1000;
  fine.solver.substeps = 8;
  verve::Simulation sim = verve::Simulation::create(scene).value(), truth = verve::Simulation::create(fine).value();
  const verve::QualityMeter meter(sim);
  const std::vector<double> mass = sim.masses();
  double total = 0, second = 0;
  verve::Vec3 center{};
  for (size_t i = 0; i < mass.size(); ++i) total += mass[i], center += sim.mesh(0).vertices[i] * mass[i];
  center = center / total;
  for (size_t i = 0; i < mass.size(); ++i) {
    const verve::Vec3 r = sim.mesh(0).vertices[i] - center;
    second += mass[i] * dot(r, r);
  }
  double farthest = 0;
  for (int frame = 0; frame <= 10; ++frame) {
    CAPTURE(frame);
    const auto x = sim.positions(), y = truth.positions();
    double sum = 0;
    for (size_t i = 0; i < mass.size(); ++i) sum += mass[i] * dot(x[i] - y[i], x[i] - y[i]);
    const Cells row = table.of("pd")[size_t(frame)];
    CHECK(std::stoi(row[1]) == frame);
    CHECK(std::stod(row[2]) == sim.time());
    // the same doubles but for the order of sums
    CHECK(std::stod(row[3]) == doctest::Approx(meter.roughness(x)).epsilon(1e-12));
    CHECK(std::stod(row[4]) == doctest::Approx(sim.constraint_error()).epsilon(1e-12));
    CHECK(std::stod(row[5]) == doctest::Approx(std::sqrt(sum / second)).epsilon(1e-12));
    farthest = std::max(farthest, std::stod(row[5]));
    CHECK(table.of("reference")[size_t(frame)][5] == "0");
    REQUIRE(sim.step());
    REQUIRE(truth.step());
  }
  CHECK(farthest > 0.01);  // backward Euler at 30 Hz is visibly not the truth
}

TEST_CASE("two comparisons give the same numbers, on any number of threads") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 10"));
  CHECK(run(folder, {"compare", "in.json", "--methods", "cpd,pd", "--out", "a"}).code == 0);
  CHECK(run(folder, {"compare", "a/scene.json", "--methods", "cpd,pd", "--out", "b", "--threads", "3"}).code == 0);
  for (const char* file : {"compare.csv", "reference.csv"})
    CHECK(without_times(folder.path("a") / file) == without_times(folder.path("b") / file));
  CHECK(read_file(folder.path("a/quality.csv")) == read_file(folder.path("b/quality.csv")));
}

TEST_CASE("with equal iterations every method takes the number asked for, in one step") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 5"));
  // a tolerance that is never met: the cap alone ends a step
  const Outcome outcome = run(folder, {"compare", "in.json", "--methods", "cpd,cpd_euler,pd,pd_alpha", "--iterations",
                                       "3", "--set", "solver.tolerance=1e-15", "--out", "o"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "Equal iterations: at most 3 per step."));
  const Table table(folder.path("o/compare.csv")), methods(folder.path("o/methods.csv"));
  const size_t iterations = table.column("iterations");
  for (const Cells& row : table.rows)
    if (row[1] != "0") CHECK(row[iterations] == "3");
  for (const char* method : {"cpd", "cpd_euler", "pd", "pd_alpha"}) {
    const Cells row = methods.of(method).at(0);
    CHECK(row[methods.column("iteration_cap")] == "3");
    CHECK(row[methods.column("substeps")] == "1");
    CHECK(row[methods.column("iterations")] == "3");
    CHECK(row.back() == "done");
  }
}

TEST_CASE("with equal time the caps are told, and with them the comparison can be repeated") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 6"));
  const Outcome outcome = run(
      folder, {"compare", "in.json", "--methods", "cpd,pd", "--budget", "0.02", "--out", "o", "--reference", "none"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "Equal time: iterations chosen for 0.02 ms per frame."));
  const Table methods(folder.path("o/methods.csv"));
  std::string again;
  for (const char* method : {"cpd", "pd"}) {
    const Cells row = methods.of(method).at(0);
    CHECK(row[methods.column("budget_ms")] == "0.02");
    const std::string cap = row[methods.column("iteration_cap")];
    CHECK(std::stoi(cap) >= 1);
    again += (again.empty() ? "" : ",") + std::string(method) + ":" + cap;
  }
  CHECK(run(folder, {"compare", "in.json", "--methods", again, "--out", "p", "--reference", "none"}).code == 0);
  CHECK(without_times(folder.path("o/compare.csv"), 1) == without_times(folder.path("p/compare.csv"), 1));
}

TEST_CASE("one method with different caps, and keys that all methods share") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 4"));
  CHECK(run(folder, {"compare", "in.json", "--methods", "pd:1,pd:50", "--set", "bodies[0].density=500", "--precision",
                     "float", "--out", "o"})
            .code == 0);
  const Table table(folder.path("o/compare.csv"));
  const size_t iterations = table.column("iterations");
  for (const Cells& row : table.of("pd:1"))
    if (row[1] != "0") CHECK(row[iterations] == "1");
  CHECK(std::stoi(table.of("pd:50").back()[iterations]) > 1);
}

TEST_CASE("the table of many methods is cut into tables that fit") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 2"));
  std::string methods;
  for (int cap = 11; cap < 21; ++cap) methods += (cap > 11 ? ",pd:" : "pd:") + std::to_string(cap);
  const Outcome outcome = run(folder, {"compare", "in.json", "--methods", methods, "--out", "o"});
  CHECK(outcome.code == 0);
  int heads = 0;
  for (const std::string& line : lines_of(outcome.out)) {
    heads += line.starts_with("what each kept");
    CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <= 100);
  }
  CHECK(heads > 1);
  for (int cap = 11; cap < 21; ++cap) CHECK(contains(outcome.out, " pd:" + std::to_string(cap)));
}

TEST_CASE("a method that diverges keeps its rows up to there and does not spoil the others") {
  const Folder folder;
  folder.write("in.json", bursting_scene());
  const Outcome outcome = run(folder, {"compare", "in.json", "--methods", "cpd,pd,published", "--out", "o"});
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.err, "small (cpd): frame "));
  CHECK(contains(outcome.err, "failed: diverged"));
  const Table table(folder.path("o/compare.csv")), methods(folder.path("o/methods.csv"));
  CHECK(table.of("pd").size() == 2 * 21);
  CHECK(table.of("published").size() == 2 * 21);
  const long frames = std::stol(methods.of("cpd").at(0)[methods.column("frames")]);
  CHECK(frames > 5);
  CHECK(frames < 20);
  CHECK(table.of("cpd").size() == 2 * size_t(frames + 1));
  CHECK(contains(read_file(folder.path("o/methods.csv")),
                 "failed in frame " + std::to_string(frames + 1) + ": diverged"));
  CHECK(contains(outcome.out, "cpd: failed in frame " + std::to_string(frames + 1) + ": diverged"));
  CHECK(contains(read_file(folder.path("o/compare.html")), "failed in frame"));
  // pd as if it had been alone
  CHECK(run(folder, {"simulate", "in.json", "--method", "pd", "--out", "pd"}).code == 0);
  CHECK(without_times(table.of("pd"), 1) == without_times(folder.path("pd/metrics.csv")));
}

TEST_CASE("a method that refuses the scene is told apart, and a scene that all refuse is bad input") {
  const Folder folder;
  const std::string file = folder.write("in.json", small_scene("\"frames\": 2"));
  verve::Scene scene = verve::read_scene(file).value();
  // any method that cannot drive strain of tetrahedra will do, or else stable Neo-Hookean
  std::string refusing;
  std::vector<std::string> set;
  for (const char* potential : {"tet_strain", "stable_neo_hookean"}) {
    if (!refusing.empty()) break;
    scene.bodies[0].potentials = {{potential, {}}};
    set = {"--set", std::string("bodies[0].potentials=[{\"type\": \"") + potential + "\"}]"};
    for (const verve::MethodInfo& info : verve::method_infos()) {
      scene.solver.method = info.name;
      if (!verve::Simulation::create(scene)) refusing = info.name;
    }
  }
  if (refusing.empty()) {
    MESSAGE("SKIPPED: every method takes both");
    return;
  }
  std::vector<std::string> words{"compare", "in.json", "--methods", "pd," + refusing, "--out", "o"};
  words.insert(words.end(), set.begin(), set.end());
  const Outcome outcome = run(folder, words);
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.err, refusing + ": refused: "));
  CHECK(Table(folder.path("o/compare.csv")).of("pd").size() == 2 * 3);
  CHECK(Table(folder.path("o/compare.csv")).of(refusing).empty());
  CHECK(contains(read_file(folder.path("o/compare.html")), "refused: "));
  words[3] = refusing, words[5] = "p";
  CHECK(run(folder, words).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.path("p")));
}

TEST_CASE("the page of a comparison has every run in its table, its views and its plots") {
  const Folder folder;
  folder.write("in.json", bursting_scene());
  CHECK(run(folder, {"compare", "in.json", "--methods", "cpd,pd,published", "--out", "o", "--quiet"}).code == 1);
  const std::string page = read_file(folder.path("o/compare.html"));
  for (const char* method : {"reference", "cpd", "pd", "published"})
    CHECK(contains(page, std::string("{\"label\":\"") + method + "\""));
  CHECK_FALSE(contains(page, "{{"));
  CHECK_FALSE(contains(page, "https://"));
  if (std::system("node --version >/dev/null 2>&1") != 0) {
    MESSAGE("SKIPPED: node is not installed");
    return;
  }
  const std::string command = "node '" + verve::test::in_sources("tests/record/report_page.js") + "' '" +
                              folder.text("o/compare.html") + "' > '" + folder.text("built") + "' 2>&1";
  const int status = std::system(command.c_str());
  const std::string built = read_file(folder.path("built"));
  CAPTURE(built);
  CHECK(status == 0);
  for (const char* part :
       {"table: reference | ", "table: cpd | ", "table: pd | ", "table: published | ", "| 10 | done",
        "view: reference\n", "view: cpd\n", "view: pd\n", "view: published\n",
        "plot: Total energy H: reference, cpd, pd, published\n",
        "plot: Distance to the reference: cpd, pd, published\n", "plot: Roughness: reference, cpd, pd, published\n",
        "plot: Constraint error: reference, cpd, pd, published\n", "plot: Iterations per frame: cpd, pd, published\n",
        "clock: 0.033 s · frame 1 of 20\n"})
    CHECK(contains(built, part));
}

TEST_CASE("Ctrl-C in a comparison leaves what has been computed, and tells what was not run") {
  const Folder folder;
  folder.write("in.json", small_scene());
  Process process(folder, {"compare", "in.json", "--methods", "pd,cpd", "--frames", "1000000", "--reference", "none",
                           "--out", "o"});
  const auto rows = [&] { return lines_of(read_file(folder.path("o/compare.csv"))); };
  for (int i = 0; i < 6000 && rows().size() < 20 && process.running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(process.running());
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  CHECK(outcome.code == 130);
  const std::vector<std::string> lines = rows();
  for (const std::string& line : lines) CHECK(std::count(line.begin(), line.end(), ',') == 27);
  const Table methods(folder.path("o/methods.csv"));
  const std::string frames = methods.of("pd").at(0)[methods.column("frames")];
  CHECK(lines.size() == 1 + 2 * (std::stoul(frames) + 1));
  CHECK(contains(outcome.err, "interrupted after " + frames + " of 1000000 frames"));
  CHECK(methods.of("pd").at(0).back() == "interrupted after frame " + frames);
  CHECK(methods.of("cpd").at(0).back() == "not run");
  CHECK(contains(read_file(folder.path("o/compare.html")), "not run"));
}

TEST_CASE("--quiet prints nothing, and without --methods the pair of the demo is compared") {
  const Folder folder;
  folder.write("in.json", small_scene("\"frames\": 2"));
  const Outcome outcome = run(folder, {"compare", "in.json", "--quiet"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "");
  CHECK(outcome.err == "");
  const Table table(folder.path("runs/compare/small/compare.csv"));
  CHECK(table.of("cpd").size() == 2 * 3);
  CHECK(table.of("pd").size() == 2 * 3);
}
