#include <cmath>
#include <cstdlib>

#include <doctest/doctest.h>

#include "fixtures.h"
#include "source_dir.h"

using namespace record_test;

namespace {

/// Whether a text is JSON: RFC 8259 without regard to duplicate names.
class JsonCheck {
 public:
  static bool valid(const std::string& text) {
    JsonCheck check{text};
    return check.value() && (check.space(), check.at_ == text.size());
  }

 private:
  explicit JsonCheck(const std::string& text) : text_(text) {}
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
  }
  bool take(char c) { return space(), peek() == c ? ++at_, true : false; }
  bool word(const char* w) {
    const size_t n = std::strlen(w);
    return text_.compare(at_, n, w) == 0 ? at_ += n, true : false;
  }
  bool string() {
    if (!take('"')) return false;
    for (; at_ < text_.size(); ++at_) {
      if ((unsigned char)text_[at_] < 0x20) return false;
      if (text_[at_] == '"') return ++at_, true;
      if (text_[at_] == '\\') ++at_;
    }
    return false;
  }
  bool digits() {
    const size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }
  bool number() {
    if (peek() == '-') ++at_;
    if (!digits()) return false;
    if (peek() == '.' && (++at_, !digits())) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      return digits();
    }
    return true;
  }
  bool value() {
    space();
    if (peek() == '"') return string();
    if (peek() == '{' || peek() == '[') {
      const bool object = peek() == '{';
      const char close = object ? '}' : ']';
      ++at_;
      if (take(close)) return true;
      do {
        if (object && (space(), !string() || !take(':'))) return false;
        if (!value()) return false;
      } while (take(','));
      return take(close);
    }
    return word("true") || word("false") || word("null") || number();
  }
  const std::string& text_;
  size_t at_ = 0;
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

std::string embedded_data(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::string report_of(const Simulation&, const std::vector<const ReportRun*>& runs, const std::string& title = "Title",
                      const std::string& description = "Description") {
  Folder folder;
  write_report(folder.path / "report.html", title, description, runs).value();
  CHECK(folder.entries() == std::vector<std::string>{"report.html"});
  return read_text(folder.path / "report.html");
}

}  // namespace

TEST_CASE("a report is one page that fetches nothing from outside") {
  Simulation sim = simulate(scene_of({tetrahedron("left"), tetrahedron("right", 3)}));
  ReportRun run("cpd", sim, 10);
  for (int i = 0; i < 10; ++i) run.frame(sim, sim.step());
  const std::string page = report_of(sim, {&run, &run});
  CHECK(page.find("http://") == std::string::npos);
  CHECK(page.find("https://") == std::string::npos);
  for (const char* reference : {" src=", " href=", "url(", "@import", "import(", "fetch(", "XMLHttpRequest"}) {
    CAPTURE(reference);
    CHECK(page.find(reference) == std::string::npos);
  }
  CHECK(page.find("{{") == std::string::npos);  // every asset was found
  CHECK(count(page, "<script") == count(page, "</script>"));
  CHECK(JsonCheck::valid(embedded_data(page)));
}

TEST_CASE("a report holds frames, curves and meshes of each run, and shares equal meshes") {
  Simulation sim = simulate(scene_of({tetrahedron("left"), tetrahedron("right", 3)}));
  ReportRun first("first", sim, 10), second("second", sim, 10);
  for (int i = 0; i < 10; ++i) {
    const StepReport report = sim.step();
    first.frame(sim, report);
    second.frame(sim, report);
  }
  const std::string data = embedded_data(report_of(sim, {&first, &second}));
  CHECK(count(data, "\"restBox\"") == 2);  // two bodies, once
  CHECK(count(data, "\"positions\"") == 22);
  CHECK(count(data, "\"frame\":10,") == 2);
  for (const char* curve :
       {"kinetic", "elastic", "external", "total", "target", "momentum", "spin", "iterations", "milliseconds"})
    CHECK(data.find(std::string("\"") + curve + "\":[") != std::string::npos);
  CHECK(data.find("\"label\":\"first\"") != std::string::npos);
  CHECK(data.find("\"label\":\"second\"") != std::string::npos);
}

TEST_CASE("the table of a report says what ReportRun::summary says") {
  Scene scene = scene_of({tetrahedron("body")});
  scene.gravity = {0, -9.81, 0};
  Simulation sim = simulate(scene);
  ReportRun run("cpd", sim, 5), shorter("short", sim, 5);
  for (int i = 0; i < 5; ++i) {
    run.frame(sim, sim.step());
    if (i < 2) shorter.frame(sim, {});
  }
  const std::vector<const ReportRun*> runs{&run, &shorter};
  const std::string data = embedded_data(report_of(sim, runs));
  for (const ReportRun* one : runs) {
    const RunSummary summary = one->summary(runs);
    CHECK(summary.momentum.text == "changed by gravity");
    for (const auto& [name, kept] :
         {std::pair{"energy", summary.energy}, {"momentum", summary.momentum}, {"spin", summary.spin}})
      CHECK(data.find(std::string("\"") + name + "\":{\"text\":\"" + kept.text + "\",\"span\":\"" + kept.span +
                      "\"}") != std::string::npos);
  }
}

TEST_CASE("titles, descriptions, labels and body names cannot smuggle markup or scripts into a report") {
  const std::string evil = "</script><script>alert(\"x\")</script><!-- '&";
  Simulation sim = simulate(scene_of({tetrahedron("</script><script>alert(1)</script>")}));
  ReportRun run(evil, sim, 1);
  ReportRun plain("plain", sim, 1);
  const std::string page = report_of(sim, {&run}, evil, evil);
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("<!-- '") == std::string::npos);
  CHECK(page.find("&lt;/script&gt;&lt;script&gt;alert(&quot;x&quot;)") != std::string::npos);
  CHECK(count(page, "<script") == count(report_of(sim, {&plain}), "<script"));
  CHECK(JsonCheck::valid(embedded_data(page)));
  CHECK(embedded_data(page).find('<') == std::string::npos);
}

TEST_CASE("values that are not finite leave a report valid") {
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  ReportRun run("wild", sim, 3);
  StepReport report;
  report.milliseconds = std::numeric_limits<double>::quiet_NaN();
  run.frame(sim, report);
  report.milliseconds = std::numeric_limits<double>::infinity();
  run.frame(sim, report);
  std::vector<Vec3> x = sim.positions(), v(x.size(), Vec3{1e200, -1e200, 1e200});  // kinetic energy overflows
  x[0] = {1e300, -1e300, 0};
  sim.set_state(x, v);
  CHECK(!std::isfinite(sim.measure().kinetic));
  run.frame(sim, {});
  const std::string data = embedded_data(report_of(sim, {&run}));
  CHECK(JsonCheck::valid(data));
  CHECK(data.find("null") != std::string::npos);
  CHECK(data.find("nan") == std::string::npos);
  CHECK(data.find("inf") == std::string::npos);
}

TEST_CASE("long runs are thinned out evenly and keep their last frame") {
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  const auto shots = [](const std::string& data) {
    std::vector<int> frames;
    for (size_t at = data.find("{\"frame\":"); at != std::string::npos; at = data.find("{\"frame\":", at + 1)) {
      if (data[at + 9] != '[') frames.push_back(std::atoi(data.c_str() + at + 9));  // '[': the curves
    }
    return frames;
  };
  for (const int announced : {1000, 10}) {  // as announced, and much longer than announced
    CAPTURE(announced);
    ReportRun run("long", sim, announced, 50);
    for (int frame = 1; frame <= 1000; ++frame) {
      sim.set_time(frame / 30.0, frame);
      run.frame(sim, {});
    }
    sim.reset();
    const std::vector<int> frames = shots(embedded_data(report_of(sim, {&run})));
    CHECK(frames.size() > 20);
    CHECK(frames.size() <= 52);
    REQUIRE(frames.size() > 2);
    CHECK(frames.front() == 0);
    CHECK(frames.back() == 1000);
    for (size_t i = 2; i + 1 < frames.size(); ++i) CHECK(frames[i] - frames[i - 1] == frames[1] - frames[0]);
  }
}

TEST_CASE("a large mesh over many frames stays below 25 MB") {
  // A sheet of 160 x 160 vertices, 600 frames: 123 MB if nothing were left out.
  auto mesh = std::make_shared<Mesh>();
  const int n = 160;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) mesh->vertices.push_back({0.01 * i, 0, 0.01 * j});
  for (int i = 0; i + 1 < n; ++i)
    for (int j = 0; j + 1 < n; ++j) {
      mesh->triangles.push_back({i * n + j, i * n + j + 1, (i + 1) * n + j});
      mesh->edges.push_back({i * n + j, i * n + j + 1});
    }
  BodySpec sheet;
  sheet.name = "sheet";
  sheet.mesh.mesh = mesh;
  sheet.potentials = {{"spring", {}}};
  sheet.density = 1;
  Simulation sim = simulate(scene_of({sheet}));
  ReportRun first("first", sim, 600), second("second", sim, 600);
  for (int frame = 1; frame <= 600; ++frame) {
    sim.set_time(frame / 30.0, frame);
    first.frame(sim, {});
    second.frame(sim, {});
  }
  const std::string page = report_of(sim, {&first, &second});
  CHECK(page.size() < 25'000'000);
  CHECK(page.size() > 20'000'000);  // and uses the room
  CHECK(JsonCheck::valid(embedded_data(page)));
}

TEST_CASE("a report that cannot be written says why and leaves the old one alone") {
  Folder folder;
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  ReportRun run("cpd", sim, 1);
  const auto missing = write_report(folder.path / "missing/report.html", "t", "d", {&run});
  REQUIRE(!missing);
  CHECK(missing.diagnostics().text() ==
        (folder.path / "missing/report.html").string() + ": cannot be written: No such file or directory");
  fs::create_directories(folder.path / "report.html/inside");
  CHECK(!write_report(folder.path / "report.html", "t", "d", {&run}));
  CHECK(folder.entries().size() == 2);
  CHECK_THROWS_AS(write_report(folder.path / "r.html", "t", "d", {}), std::invalid_argument);
  CHECK_THROWS_AS(write_report(folder.path / "r.html", "t", "d", {nullptr}), std::invalid_argument);
}

TEST_CASE("the scripts of a report are free of syntax errors, and its geometry functions do what they say") {
  if (std::system("node --version >/dev/null 2>&1") != 0) {
    MESSAGE("SKIPPED: node is not installed");
    return;
  }
  Folder folder;
  const std::string command = "node '" + verve::test::in_sources("tests/record/report_scripts.js") + "' '" +
                              verve::test::in_sources("src/record/report") + "' > '" +
                              (folder.path / "out").string() + "' 2>&1";
  const int status = std::system(command.c_str());
  const std::string said = read_text(folder.path / "out");
  CAPTURE(said);
  CHECK(status == 0);
}
