// Carried surfaces in a report: from the bytes of the page back to positions, as the browser does it.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <doctest/doctest.h>

#include "fixtures.h"

using namespace record_test;

namespace {

BodySpec caged_ball(double size) {
  BodySpec body;
  body.name = "ball";
  body.mesh.generator = "cage";
  body.mesh.parameters = {{"cell", {0.25}}};
  body.embed = MeshSpec{};
  body.embed->generator = "ball";
  body.embed->parameters = {{"frequency", {20}}, {"size", {size}}};
  body.potentials = {{"tet_strain", {}}};
  body.initial.stretch = {1.3, 0.9, 1};
  body.initial.velocity = {5, 1, 0};
  body.initial.angular_velocity = {0, 3, 1};
  return body;
}

std::string page_of(const std::vector<const ReportRun*>& runs) {
  const Folder folder;
  REQUIRE(write_report(folder.path / "report.html", "title", "", runs));
  return read_text(folder.path / "report.html");
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The text of the nth (from 0) value of a name.
std::string value_of(const std::string& page, const std::string& name, int n, char open, char close) {
  const std::string key = "\"" + name + "\":" + open;
  size_t at = page.find(key);
  for (; n > 0 && at != std::string::npos; --n) at = page.find(key, at + 1);
  REQUIRE(at != std::string::npos);
  at += key.size();
  return page.substr(at, page.find(close, at) - at);
}

template <class T>
std::vector<T> base64_of(const std::string& page, const std::string& name, int n = 0) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned word = 0;
  int bits = 0;
  for (const char c : value_of(page, name, n, '"', '"')) {
    if (c == '=') break;
    word = word << 6 | unsigned(digits.find(c));
    bits += 6;
    if (bits >= 8) bytes += char(word >> (bits -= 8) & 255);
  }
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

std::vector<double> numbers_of(const std::string& page, const std::string& name, int n) {
  std::string text = value_of(page, name, n, '[', ']');
  text.erase(std::remove(text.begin(), text.end(), '['), text.end());
  std::vector<double> out;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end + 1) {
    out.push_back(std::strtod(at, &end));
    if (*end != ',') return out;
  }
}

}  // namespace

TEST_CASE("a report holds what carries a surface, and its frames give the surface back") {
  Simulation sim = simulate(scene_of({caged_ball(1)}));
  ReportRun run("cpd", sim, 10);
  std::vector<std::vector<Vec3>> truth{sim.embedded_positions(0)};
  for (int i = 0; i < 10; ++i) {
    run.frame(sim, sim.step());
    truth.push_back(sim.embedded_positions(0));
  }
  const std::string page = page_of({&run});
  CHECK(count(page, "\"surface\":{") == 1);
  const auto carriers = base64_of<std::uint32_t>(page, "carriers");
  const auto weights = base64_of<float>(page, "weights");
  const size_t points = truth[0].size();
  REQUIRE(carriers.size() == 4 * points);
  REQUIRE(weights.size() == 4 * points);
  const auto triangles = base64_of<std::uint32_t>(page, "triangles", 1);  // 0: of the cage
  CHECK(triangles.size() == 3 * sim.embedded_mesh(0)->triangles.size());
  CHECK(*std::max_element(triangles.begin(), triangles.end()) == points - 1);

  for (int frame = 0; frame <= 10; ++frame) {
    CAPTURE(frame);
    const auto box = numbers_of(page, "boxes", frame), shown = numbers_of(page, "shown", frame);
    const auto fractions = base64_of<std::uint16_t>(page, "positions", frame);
    REQUIRE(box.size() == 6);
    double worst = 0, low = 1e300, high = -1e300;
    for (size_t i = 0; i < points; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        double x = 0;
        for (int k = 0; k < 4; ++k)
          x += double(weights[4 * i + k]) *
               (box[axis] + box[axis + 3] * fractions[3 * carriers[4 * i + k] + axis] / 65535);
        worst = std::max(worst, std::abs(x - truth[frame][i][axis]));
        if (axis == 1) low = std::min(low, truth[frame][i].y), high = std::max(high, truth[frame][i].y);
      }
    // half a step of the 16-bit fractions, weights being positive and of sum 1; float weights at coordinates below 4
    const double step = *std::max_element(box.begin() + 3, box.end()) / 65535;
    CHECK(worst < 0.5 * step + 4 * 1.2e-7 + 1e-7);
    CHECK(shown[1] == doctest::Approx(low).epsilon(1e-6));  // numbers are written with limited digits
    CHECK(shown[4] == doctest::Approx(high - low).epsilon(1e-6));
    CHECK(box[1] <= shown[1] + 1e-9);  // the cage is around it
  }
  // the frames are those of the cage: finer surfaces do not make them larger
  CHECK(base64_of<std::uint16_t>(page, "positions").size() <= 3 * size_t(sim.vertices()));
  CHECK(sim.vertices() < int(points) / 4);
}

TEST_CASE("a report without carried surfaces has nothing of them") {
  Simulation sim = simulate(scene_of({tetrahedron("body")}));
  const ReportRun run("cpd", sim, 1);
  const std::string page = page_of({&run});
  CHECK(count(page, "\"surface\"") == 0);
  CHECK(count(page, "\"shown\"") == 0);
}

TEST_CASE("runs share a carried surface only when it is the same") {
  const Simulation one = simulate(scene_of({caged_ball(1)})), other = simulate(scene_of({caged_ball(0.98)}));
  REQUIRE(one.vertices() == other.vertices());
  const ReportRun a("a", one, 1), b("b", one, 1), c("c", other, 1);
  CHECK(count(page_of({&a, &b}), "\"surface\":{") == 1);
  CHECK(count(page_of({&a, &c}), "\"surface\":{") == 2);
}

TEST_CASE("positions.npy holds the vertices that are simulated, also under a carried surface") {
  const Folder folder;
  Simulation sim = simulate(scene_of({caged_ball(1)}));
  Recorder recorder = Recorder::open(folder.path, sim).value();
  recorder.frame(sim, sim.step());
  CHECK(read_npy(folder.path / "positions.npy").vertices == sim.vertices());
}
