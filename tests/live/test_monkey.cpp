// A monkey at the controls: random gestures and dials turned to anywhere, through the session as the page drives it.
// VERVE_MONKEY=N: so many gestures in each scene, in every scene or in VERVE_MONKEY_SCENE; VERVE_MONKEY_SEED: others;
// VERVE_MONKEY_SECONDS: no longer than that. scripts/monkey runs it over all scenes.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>

#include "live/session.h"

using namespace verve;
using live::Session;

namespace {

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

std::string text(double value) { return std::to_string(value); }
std::string text(const Vec3& v) { return "[" + text(v.x) + ", " + text(v.y) + ", " + text(v.z) + "]"; }

struct Monkey {
  Session session{RunOptions{.threads = 1}};
  std::mt19937 random;
  std::string scene, last, stopped;  // where it is, what it did last, and why a method stopped
  int gestures = 0, notices = 0;
  bool held = false;
  Vec3 hand;

  // not those of the library, which differ from one to another
  double real(double low, double high) { return low + (high - low) * double(random() >> 5) / double(1u << 27); }
  int whole(int count) { return int(random() % unsigned(count)); }
  Vec3 way(double size) { return {real(-size, size), real(-size, size), real(-size, size)}; }

  void say(const std::string& message) {
    last = message;
    for (const std::string& answer : session.handle(message)) {
      // what is refused is refused in words, and that is all
      if (answer.find("\"type\": \"error\"") != std::string::npos)
        CHECK(answer.find("\"text\": \"\"") == std::string::npos);
    }
  }

  /// One thing that a person may do.
  void act() {
    ++gestures;
    const Simulation& sim = session.simulation();
    const int vertex = whole(sim.vertices());
    const std::string at = ", \"vertex\": " + std::to_string(vertex);
    switch (whole(12)) {
      case 0:
      case 1:
        return say("{\"type\": \"push\"" + at + ", \"direction\": " + text(way(1)) + "}");
      case 2:
        return say("{\"type\": \"push\"" + at + ", \"direction\": " + text(way(1)) +
                   ", \"speed\": " + text(real(0, 10)) + "}");
      case 3:
        return say("{\"type\": \"spin\", \"body\": " + std::to_string(whole(sim.bodies())) +
                   ", \"omega\": " + text(way(8)) + "}");
      case 4:
        return say("{\"type\": \"pin\"" + at + "}");
      case 5:
      case 6:
        if (!held) {
          held = true, hand = sim.positions()[size_t(vertex)];
          return say("{\"type\": \"grab\", \"id\": 1" + at + "}");
        }
        hand += way(whole(4) ? 0.5 : 5);
        return say("{\"type\": \"drag\", \"id\": 1, \"to\": " + text(hand) + "}");
      case 7:
        held = false;
        return say(R"({"type": "release", "id": 1})");
      case 8:
        return say(R"({"type": "undo"})");
      case 9:
        return say(whole(4) ? R"({"type": "reset"})" : R"({"type": "floor", "on": true})");
      default:
        return turn();
    }
  }

  /// A dial, to either end or somewhere between.
  void turn() {
    struct Dial {
      const char* name;
      double low, high;
      bool vector;
    };
    static const Dial dials[] = {
        {"energy", 0, 1000, false},     {"momentum", 0, 100, false},   {"spin", 0, 20, false},
        {"half_life", 0.05, 20, false}, {"gravity", -20, 20, true},    {"stiffness", 0.1, 10, false},
        {"step", 0.002, 0.1, false},    {"iterations", 1, 100, false}, {"friction", 0, 1.5, false}};
    const Dial& dial = dials[whole(std::size(dials))];
    const int place = whole(4);
    const double value = place == 0 ? dial.low : place == 1 ? dial.high : real(dial.low, dial.high);
    say("{\"type\": \"dial\", \"name\": \"" + std::string(dial.name) +
        "\", \"value\": " + (dial.vector ? text(Vec3{0, -value, 0}) : text(value)) + "}");
  }

  /// A frame, and what must hold after it.
  void frame() {
    for (const std::string& answer : session.advance()) {
      const bool stops = answer.find("\"type\": \"stopped\"") != std::string::npos;
      notices += stops || answer.find("\"type\": \"notice\"") != std::string::npos;
      if (stops) stopped = answer.substr(answer.find("\"text\""), 200);
    }
    const Simulation& sim = session.simulation();
    bool finite = true;
    for (const Vec3& x : sim.positions()) finite = finite && std::isfinite(x.x + x.y + x.z);
    for (const Vec3& v : sim.velocities()) finite = finite && std::isfinite(v.x + v.y + v.z);
    CHECK_MESSAGE(finite, scene << ": numbers that are not finite after " << last);
    CHECK_MESSAGE((session.off(0) <= 0.05 || session.warned(0)),
                  scene << ": H is off by " << session.off(0) << " without a word after " << last);
  }

  /// Dials and pins, for whoever looks for the reason.
  std::string state() {
    for (const std::string& answer : session.handle(R"({"type": "speed", "value": 1})")) {
      std::string out;
      for (const char c : answer.substr(answer.find("\"gravity\"")))
        if (c != '\n' && c != ' ') out += c;
      return out;
    }
    return "";
  }

  double rest_energy(int body) const {  // of a body that goes its own size in a second
    const Simulation& sim = session.simulation();
    Vec3 low = sim.mesh(body).vertices.front(), high = low;
    for (const Vec3& v : sim.mesh(body).vertices)
      for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], v[k]), high[k] = std::max(high[k], v[k]);
    return 0.5 * sim.measure(body).mass * dot(high - low, high - low);
  }

  void turn_back(const std::string& name, const Scene& own) {
    const std::string value = name == "gravity"     ? text(own.gravity)
                              : name == "stiffness" ? text(1)
                              : name == "step"      ? text(own.step)
                                                    : text(own.solver.iterations.value_or(100));
    say("{\"type\": \"dial\", \"name\": \"" + name + "\", \"value\": " + value + "}");
  }

  /// Calm leaves bodies at rest, and those that carry nothing in their shape at rest.
  void calm() {
    say(R"({"type": "calm"})");
    held = false;
    stopped.clear();
    const Simulation& sim = session.simulation();
    const double until = sim.time() + 3;
    while (session.calming() && sim.time() < until) frame();
    CHECK(!session.calming());
    for (int b = 0; b < sim.bodies(); ++b) CHECK(sim.measure(b).kinetic == 0);
    while (session.running() && sim.time() < until - 1e-9) frame();  // and they stay so
    // A method that finds no step with the dials as they are says so; turned back, they let it go on.
    if (!session.running()) {
      CHECK_MESSAGE(!stopped.empty(), scene << ": stopped after Calm without a word");
      const Scene own = read_scene(scene).value();
      for (const char* name : {"gravity", "stiffness", "step", "iterations"}) turn_back(name, own);
      for (int f = 0; f < 15; ++f) frame();
      CHECK_MESSAGE(session.running(), scene << ": stopped after Calm and all dials turned back: " << stopped
                                             << ", after " << gestures << " gestures, with " << state());
    }
    const bool weightless = session.weightless();
    for (int b = 0; b < sim.bodies(); ++b) {
      const Measures m = sim.measure(b);
      const double unit = rest_energy(b);
      // Weight moves them again: what nothing holds falls, and what is held upside down swings, as it should. Those
      // that hang are in a test of their own.
      if (!weightless || session.driven(b, until - 3, until)) continue;
      const double moving = m.kinetic;
      // a seventh of its size in a second
      CHECK_MESSAGE(moving <= 0.02 * unit, scene << ": body " << b << " moves on, " << moving << " J, W = " << m.elastic
                                                 << ", of " << unit << ", after " << gestures << " gestures, with "
                                                 << state());
      if (!session.anchored(b))  // pins are put on again where the spots are then
        CHECK_MESSAGE(m.elastic <= 1e-3 * unit, scene << ": body " << b << " is out of shape, W = " << m.elastic
                                                      << " of " << unit << ", with " << state());
    }
  }
};

}  // namespace

TEST_CASE("random gestures and dials never break a scene without a word, and Calm brings every body back") {
  const int wanted = setting("VERVE_MONKEY", 0), seed = setting("VERVE_MONKEY_SEED", 1);
  const char* only = std::getenv("VERVE_MONKEY_SCENE");
  const int seconds = setting("VERVE_MONKEY_SECONDS", 0);  // then it goes home, with what it has done by then
  const auto start = std::chrono::steady_clock::now();
  struct Visit {
    std::string name;
    int gestures, seed;
  };
  std::vector<Visit> visits;
  for (const BuiltinScene& scene : builtin_scenes())
    if (wanted > 0 && (!only || scene.name == std::string(only))) visits.push_back({scene.name, wanted, seed});
  if (wanted == 0)
    visits = {{"cube", 400, seed}, {"car", 300, seed},  {"chain", 300, seed}, {"pendulum", 30, seed},
              {"ball", 30, seed},  {"rope", 100, seed}, {"cube", 50, 21},  // pinned in its middle, out of shape: pins
                                                                           // held it so
              {"cube", 50, 3}};  // pinned four times: pins and the way to its shape worked against each other
  int gestures = 0, notices = 0;
  for (const auto& [name, count, own_seed] : visits) {
    Monkey monkey;
    monkey.scene = name;
    monkey.random.seed(unsigned(own_seed));
    monkey.say("{\"type\": \"load\", \"scene\": \"" + name + "\"}");
    for (int i = 1; i <= count; ++i) {
      if (seconds > 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(seconds)) break;
      monkey.act();
      for (int f = monkey.whole(4); f >= 0; --f) monkey.frame();
      if (i % 50 == 0 || i == count) {
        monkey.calm();
        if (i % 100 == 0) monkey.say("{\"type\": \"load\", \"scene\": \"" + name + "\"}");  // dials as they were
      }
    }
    gestures += monkey.gestures, notices += monkey.notices;
  }
  MESSAGE(gestures << " gestures, " << notices << " notices");
}
