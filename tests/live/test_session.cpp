// A session as the page sees it: messages in, texts and frames out.
#include <doctest/doctest.h>

#include <cstring>

#include "live/session.h"

using namespace verve;
using live::Session;

namespace {

struct Frame {
  std::uint32_t generation = 0, number = 0, lanes = 0, vertices = 0;
  double time = 0;
  std::vector<std::vector<double>> metrics;
  std::vector<std::vector<float>> positions;
  double value(const std::string& name, int lane = 0) const {
    for (size_t i = 0; i < live::metric_names().size(); ++i)
      if (live::metric_names()[i] == name) return metrics[lane][i];
    FAIL("no metric " << name);
    return 0;
  }
  Vec3 at(int vertex, int lane = 0) const {
    const float* p = positions[lane].data() + 3 * vertex;
    return {p[0], p[1], p[2]};
  }
};

template <class T>
T take(const std::string& bytes, size_t& at) {
  T value;
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

/// As docs/live.md has it.
Frame read(const std::string& bytes) {
  Frame out;
  size_t at = 0;
  REQUIRE(take<std::uint32_t>(bytes, at) == 0x46525656);
  out.generation = take<std::uint32_t>(bytes, at), out.number = take<std::uint32_t>(bytes, at);
  out.lanes = take<std::uint32_t>(bytes, at), out.vertices = take<std::uint32_t>(bytes, at);
  const std::uint32_t count = take<std::uint32_t>(bytes, at);
  REQUIRE(count == live::metric_names().size());
  out.time = take<double>(bytes, at);
  out.metrics.resize(out.lanes), out.positions.resize(out.lanes);
  for (auto& lane : out.metrics)
    for (std::uint32_t i = 0; i < count; ++i) lane.push_back(take<double>(bytes, at));
  for (auto& lane : out.positions)
    for (std::uint32_t i = 0; i < 3 * out.vertices; ++i) lane.push_back(take<float>(bytes, at));
  return out;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}
bool says(const std::vector<std::string>& texts, const std::string& part) {
  return joined(texts).find(part) != std::string::npos;
}
bool refused(const std::vector<std::string>& texts) { return says(texts, "\"type\": \"error\""); }

Frame frames(Session& session, int count) {
  for (int i = 0; i < count; ++i) {
    const auto told = session.advance();
    CHECK_MESSAGE(told.empty(), joined(told));
  }
  return read(session.frame());
}

int vertex_near(const Session& session, const Vec3& point) {
  const std::vector<Vec3> x = session.simulation().positions();
  int best = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (norm(x[i] - point) < norm(x[best] - point)) best = int(i);
  return best;
}

}  // namespace

TEST_CASE("a scene is told in full and its frames advance") {
  Session session;
  CHECK(session.frame().empty());
  CHECK(!session.running());
  const auto told = session.handle(R"({"type": "load", "scene": "cube"})");
  CHECK(says(told, "\"type\": \"scene\""));
  CHECK(says(told, "\"type\": \"state\""));
  CHECK(says(told, "soft cube"));
  CHECK(session.take_changed());
  CHECK(!session.take_changed());
  CHECK(session.running());
  CHECK(session.interval() == doctest::Approx(1.0 / 30));
  const Frame start = read(session.frame());
  CHECK(start.number == 0);
  CHECK(start.vertices == std::uint32_t(session.simulation().vertices()));
  const Frame later = frames(session, 10);
  CHECK(later.number == 10);
  CHECK(later.time == doctest::Approx(1.0 / 3));
  CHECK(later.positions != start.positions);
  // the frame is the simulation, rounded to float
  const std::vector<Vec3> x = session.simulation().positions();
  for (size_t i = 0; i < x.size(); i += 17) CHECK(norm(later.at(int(i)) - x[i]) <= 1e-6);
  CHECK(later.value("total") == session.simulation().measure().total);
  CHECK(later.value("kinetic") + later.value("elastic") + later.value("external") + later.value("contact") ==
        doctest::Approx(later.value("total")));
}

TEST_CASE("frames tell the accounts of the ledger: heat, what is owed, what was taken on purpose") {
  Scene scene = read_scene("trampoline").value();
  scene.solver.method = "cpd", scene.solver.hold = EnergyHold::resolved;
  std::string text;
  for (const char c : write_scene(scene)) text += c == '"' ? "\\\"" : c == '\n' ? " " : std::string(1, c);
  Session session;
  REQUIRE(!refused(session.handle(R"({"type": "load", "text": ")" + text + "\"}")));
  const Frame later = frames(session, 10);
  const Measures m = session.simulation().measure();
  CHECK(m.heat > 0);  // stiff springs, whose vibration no frame resolves
  CHECK(later.value("heat") == m.heat);
  CHECK(later.value("work") == m.work);
  CHECK(later.value("owed") == m.owed);
  CHECK(later.value("loss") == m.booked_loss);
}

TEST_CASE("pause, step, reset and slow motion") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube"})");
  const std::string start = session.frame();
  frames(session, 3);
  session.handle(R"({"type": "pause", "on": true})");
  CHECK(!session.running());
  session.advance();
  CHECK(read(session.frame()).number == 3);
  session.handle(R"({"type": "step"})");
  CHECK(session.running());
  session.advance();
  CHECK(!session.running());
  CHECK(read(session.frame()).number == 4);
  session.handle(R"({"type": "pause", "on": false})");
  session.handle(R"({"type": "speed", "value": 0.25})");
  CHECK(session.interval() == doctest::Approx(4.0 / 30));
  session.handle(R"({"type": "reset"})");
  CHECK(read(session.frame()).number == 0);
  CHECK(read(session.frame()).positions == read(start).positions);
}

TEST_CASE("dragging moves the grabbed vertex and adds energy; releasing leaves H, P and L flat") {
  Session session;
  session.handle(R"({"type": "load", "scene": "bear"})");
  session.handle(R"({"type": "watch", "body": 0})");
  const Frame start = frames(session, 1);
  const int vertex = vertex_near(session, {0.46, 0.1, 0.02});
  const Vec3 before = start.at(vertex);
  CHECK(session.handle("{\"type\": \"grab\", \"id\": 1, \"vertex\": " + std::to_string(vertex) + "}").empty());
  for (int i = 1; i <= 12; ++i) {
    const std::string to = "[" + std::to_string(before.x + 0.05 * i) + ", " + std::to_string(before.y) + ", " +
                           std::to_string(before.z) + "]";
    CHECK(session.handle("{\"type\": \"drag\", \"id\": 1, \"to\": " + to + "}").empty());
    session.advance();
  }
  const Frame held = read(session.frame());
  CHECK(held.at(vertex).x - before.x > 0.3);  // of 0.6 m
  CHECK(held.value("total") > start.value("total") + 1);
  CHECK(session.handle(R"({"type": "release", "id": 1})").empty());
  const Frame thrown = frames(session, 1);
  CHECK(thrown.value("momentum") > 1);  // it flies on
  for (int i = 0; i < 10; ++i) {        // the pushes of the scene come later
    const Frame now = frames(session, 1);
    // the scene's tolerance is 1e-4 of the energy scale; momenta are held to rounding
    CHECK(std::abs(now.value("total") - thrown.value("total")) <= 2e-4 * thrown.value("total"));
    CHECK(std::abs(now.value("momentum") - thrown.value("momentum")) <= 1e-6 * thrown.value("momentum"));
    CHECK(std::abs(now.value("spin") - thrown.value("spin")) <= 1e-6 * std::max(1.0, thrown.value("spin")));
    if (now.time > 0.45) break;
  }
}

TEST_CASE("half the energy is there within a few frames, and a half-life halves H - K in the time it says") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube"})");
  const double before = frames(session, 5).value("total");
  CHECK(!refused(
      session.handle("{\"type\": \"dial\", \"name\": \"energy\", \"value\": " + std::to_string(before / 2) + "}")));
  CHECK(frames(session, 3).value("total") == doctest::Approx(before / 2).epsilon(1e-4));
  session.handle(R"({"type": "reset"})");
  CHECK(!refused(session.handle(R"({"type": "dial", "name": "half_life", "value": 0.5})")));
  const Frame from = frames(session, 1);
  const Frame to = frames(session, 15);  // 0.5 s
  const double above = from.value("total") - from.value("rigid"), left = to.value("total") - to.value("rigid");
  // Eq. 24 takes (1 - gamma h)^15 = 0.4885 in place of one half; K moves a little with the shape
  CHECK(left / above == doctest::Approx(0.4885).epsilon(0.02));
}

TEST_CASE("every dial can be turned while it runs, and stays where it is through a reset") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube"})");
  frames(session, 2);
  session.handle(R"({"type": "dial", "name": "momentum", "value": 100})");
  CHECK(frames(session, 1).value("momentum") == doctest::Approx(100).epsilon(1e-6));
  for (const char* dial :
       {R"({"type": "dial", "name": "spin", "value": [0, 50, 0]})",
        R"({"type": "dial", "name": "gravity", "value": [0, -3, 0]})",
        R"({"type": "dial", "name": "stiffness", "value": 2})", R"({"type": "dial", "name": "step", "value": 0.01})",
        R"({"type": "dial", "name": "iterations", "value": 15})",
        R"({"type": "dial", "name": "budget", "value": 2})",
        R"({"type": "dial", "name": "wind", "value": [5, 0, 0]})",
        R"({"type": "dial", "name": "friction", "value": 0.5})",
        R"({"type": "dial", "name": "half_life", "value": null})"}) {
    CAPTURE(dial);
    const auto told = session.handle(dial);
    CHECK_MESSAGE(!refused(told), joined(told));
    frames(session, 1);
  }
  CHECK(session.interval() == doctest::Approx(0.01));
  const auto told = session.handle(R"({"type": "reset"})");
  CHECK(says(told, "\"stiffness\": 2"));
  CHECK(says(told, "\"step\": 0.01"));
  CHECK(says(told, "\"budget\": 2"));
  CHECK(says(session.handle(R"({"type": "dial", "name": "budget", "value": null})"), "\"budget\": null"));
  CHECK(refused(session.handle(R"({"type": "dial", "name": "budget", "value": -1})")));
  frames(session, 2);
}

TEST_CASE("a lock holds what it locked") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube"})");
  frames(session, 3);
  session.handle(R"({"type": "lock", "name": "energy", "on": true})");
  const double energy = session.simulation().measure().total;
  session.handle(R"({"type": "push", "vertex": 0, "impulse": [200, 0, 0]})");
  CHECK(frames(session, 4).value("total") == doctest::Approx(energy).epsilon(1e-4));
  session.handle(R"({"type": "lock", "name": "energy", "on": false})");
  session.handle(R"({"type": "lock", "name": "momentum", "on": true})");
  const double momentum = session.simulation().measure().momentum.x;
  session.handle(R"({"type": "dial", "name": "gravity", "value": [3, 0, 0]})");
  frames(session, 10);
  CHECK(session.simulation().measure().momentum.x == doctest::Approx(momentum).epsilon(1e-6));
}

TEST_CASE("push, spin, pin and unpin") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube_rest"})");
  frames(session, 1);
  session.handle(R"({"type": "push", "vertex": 0, "impulse": [50, 0, 0]})");
  CHECK(frames(session, 1).value("momentum") == doctest::Approx(50).epsilon(1e-6));
  const double spin = session.simulation().measure().spin.y;
  session.handle(R"({"type": "spin", "omega": [0, 2, 0]})");
  frames(session, 1);
  // a cube of a ton and a metre: m a^2 / 6, a little more for masses at the vertices
  CHECK(session.simulation().measure().spin.y - spin > 2 * 1000.0 / 6);
  CHECK(says(session.handle(R"({"type": "pin", "vertex": 0})"), "\"pins\": [0]"));
  const Vec3 pinned = session.simulation().positions()[0];
  frames(session, 60);
  CHECK(norm(session.simulation().positions()[0] - pinned) < 0.5);
  CHECK(norm(session.simulation().measure().center - pinned) < 2);
  CHECK(says(session.handle(R"({"type": "pin", "vertex": 0})"), "\"pins\": []"));
  frames(session, 1);
  const Measures free = session.simulation().measure();
  frames(session, 20);
  CHECK(norm(session.simulation().measure().momentum - free.momentum) <= 1e-6 * norm(free.momentum));
}

TEST_CASE("a twin by plain PD starts from the same motion and loses what the other keeps") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube"})");
  frames(session, 5);
  const std::vector<Vec3> before = session.simulation().positions();
  const auto told = session.handle(R"({"type": "methods", "names": ["cpd", "pd"]})");
  CHECK_MESSAGE(!refused(told), joined(told));
  CHECK(session.lanes() == 2);
  const Frame start = read(session.frame());
  CHECK(start.positions[0] == start.positions[1]);
  CHECK(norm(start.at(3) - before[3]) <= 1e-6);
  CHECK(start.number == 5);
  const Frame end = frames(session, 60);
  CHECK(end.value("total", 0) == doctest::Approx(start.value("total", 0)).epsilon(1e-4));
  CHECK(end.value("total", 1) < 0.5 * start.value("total", 1));
  CHECK(
      !refused(session.handle(R"({"type": "methods", "names": ["cpd", "pd", "cpd_euler", "xpbd"], "restart": true})")));
  CHECK(read(session.frame()).number == 0);
  CHECK(read(session.frame()).lanes == 4);
}

/// A session that goes on from what another saved.
void go_on(Session& from, Session& to) {
  const auto saved = from.handle(R"({"type": "save"})");
  REQUIRE(saved.size() == 1);
  std::string load = saved[0];
  const auto replace = [&](const std::string& old, const std::string& with) {
    REQUIRE_MESSAGE(load.find(old) != std::string::npos, load.substr(0, 300));
    load.replace(load.find(old), old.size(), with);
  };
  replace("\"type\": \"saved\"", "\"type\": \"load\"");
  replace("\"scene\":", "\"text\":");
  const auto told = to.handle(load);
  CHECK_MESSAGE(!refused(told), joined(told));
  CHECK(read(to.frame()).positions == read(from.frame()).positions);
  CHECK(read(to.frame()).number == read(from.frame()).number);
  CHECK(to.simulation().measure().total == doctest::Approx(from.simulation().measure().total).epsilon(1e-12));
}

TEST_CASE("a saved state goes on where it was") {
  Session session, other;
  session.handle(R"({"type": "load", "scene": "cube"})");
  frames(session, 7);
  go_on(session, other);
}

TEST_CASE("meshes dropped onto the page become bodies") {
  Session session;
  const std::string sheet = R"(v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n)";
  auto told = session.handle("{\"type\": \"load\", \"name\": \"sheet.obj\", \"mesh\": \"" + sheet + "\"}");
  CHECK_MESSAGE(!refused(told), joined(told));
  frames(session, 2);
  Session other;
  go_on(session, other);
  const std::string tet = R"(v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n)";
  told = session.handle("{\"type\": \"load\", \"name\": \"closed.obj\", \"mesh\": \"" + tet + "\"}");
  CHECK_MESSAGE(!refused(told), joined(told));
  CHECK(says(told, "\"surface\""));
  frames(session, 2);
  go_on(session, other);  // with the surface that the lattice carries
  CHECK(other.simulation().embedded_mesh(0)->triangles.size() == 4);
  told = session.handle(R"({"type": "load", "name": "sheet.png", "mesh": "x"})");
  CHECK(says(told, "expected one of .mesh, .obj"));
  told = session.handle(R"({"type": "load", "name": "broken.obj", "mesh": "v 1 2\nf 1 2 3\n"})");
  CHECK(says(told, "broken.obj:1"));
}

TEST_CASE("colliders of shape mesh are told with their triangles") {
  Session session;
  const std::string text =
      R"({\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"box\"}, \"potentials\": [{\"type\": \"tet_strain\"}]}], )"
      R"(\"colliders\": [{\"shape\": \"mesh\", \"position\": [0, -3, 0], \"mesh\": {\"generator\": \"box\"}}]})";
  const auto told = session.handle(R"({"type": "load", "text": ")" + text + "\"}");
  REQUIRE_MESSAGE(!refused(told), joined(told));
  const std::string all = joined(told);
  const size_t colliders = all.find("\"colliders\":");
  REQUIRE(colliders != std::string::npos);
  for (const char* key : {"\"rest\": \"", "\"triangles\": \""}) CHECK(all.find(key, colliders) != std::string::npos);
}

TEST_CASE("rubbish comes back as words and changes nothing") {
  Session session;
  for (const char* message :
       {"", "null", "[]", "{", "\xff\xfe", "{\"type\": 3}", "{\"type\": \"lode\"}", "{\"type\": \"step\"}",
        "{\"type\": \"load\"}", "{\"type\": \"load\", \"scene\": \"beer\"}", "{\"type\": \"load\", \"scene\": 7}",
        "{\"type\": \"load\", \"text\": \"{}\"}"}) {
    CAPTURE(message);
    CHECK(refused(session.handle(message)));
  }
  CHECK(says(session.handle(R"({"type": "lod"})"), "nearest: load"));
  CHECK(says(session.handle(R"({"type": "load", "scene": "beer"})"), "nearest: bear"));
  CHECK(says(session.handle(R"({"type": "load", "text": "{\"version\": 1, \"bodis\": []}"})"), "bodis"));
  // files of the server are none of the page's business
  CHECK(says(
      session.handle(
          R"({"type": "load", "text": "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"file\": \"/etc/passwd.obj\"}, \"potentials\": [{\"type\": \"spring\"}]}]}"})"),
      "cannot read files by name"));
  session.handle(R"({"type": "load", "scene": "cube"})");
  const std::string before = session.frame();
  for (const char* message :
       {R"({"type": "grab", "id": 1, "vertex": 1e9})", R"({"type": "grab", "id": 1, "vertex": -1})",
        R"({"type": "grab", "id": 1, "vertex": 0.5})", R"({"type": "grab", "vertex": 0})",
        R"({"type": "drag", "id": 3, "to": [0, 0, 0]})", R"({"type": "push", "vertex": 0, "impulse": [1, 2]})",
        R"({"type": "push", "vertex": 0, "impulse": [1, 2, "x"]})",
        R"({"type": "push", "vertex": 0, "impulse": [1e300, 0, 0]})",
        R"({"type": "dial", "name": "enrgy", "value": 1})", R"({"type": "dial", "name": "step", "value": 0})",
        R"({"type": "dial", "name": "energy", "value": "much"})",
        R"({"type": "dial", "name": "energy", "value": 1, "body": 3})",
        R"({"type": "lock", "name": "mass", "on": true})", R"({"type": "methods", "names": []})",
        R"({"type": "methods", "names": ["cpd", "pd", "cpd", "pd", "cpd"]})",
        R"({"type": "methods", "names": ["cdp"]})", R"({"type": "speed", "value": -1})",
        R"({"type": "watch", "body": 9})", R"({"type": "load", "scene": "cube", "methods": ["nothing"]})"}) {
    CAPTURE(message);
    CHECK(refused(session.handle(message)));
  }
  CHECK(says(session.handle(R"({"type": "dial", "name": "enrgy", "value": 1})"), "nearest: energy"));
  CHECK(session.frame() == before);
  frames(session, 1);
}

TEST_CASE("a pointer flung far away is no explosion") {
  Session session;
  session.handle(R"({"type": "load", "scene": "cube_rest"})");
  session.handle(R"({"type": "grab", "id": 1, "vertex": 0})");
  for (int i = 0; i < 60; ++i) {
    session.handle(i % 2 ? R"({"type": "drag", "id": 1, "to": [1e6, 0, 0]})"
                         : R"({"type": "drag", "id": 1, "to": [-1e6, 1e6, 0]})");
    frames(session, 1);
  }
  // a spring of 2.2 Hz stretched by 0.75 of the diagonal at most: g's of tens, speeds of tens of m/s
  CHECK(norm(session.simulation().measure().momentum) / session.simulation().measure().mass < 100);
}
