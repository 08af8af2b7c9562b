// Links as the session reads and writes them (docs/live.md).
#include <doctest/doctest.h>

#include "live/session.h"

using namespace verve;
using live::Session;

namespace {

std::vector<std::string> open(Session& session, const std::string& link) {
  Json message = Json::object();
  message.set("type", "open"), message.set("link", link);
  return session.handle(write_json(message));
}

/// What a state message has under "link".
std::string link_of(Session& session) {
  for (const std::string& answer : session.handle(R"({"type": "hello"})")) {
    std::vector<JsonProblem> faults;
    const Json said = parse_json(answer, 0, faults);
    if (const Json* link = said.find("link")) return link->text;
  }
  return "";
}

}  // namespace

TEST_CASE("a link is the part after the #, decoded") {
  const std::vector<live::LinkItem> items = live::parse_link("http://x/?a=b#scene=a%20b&methods=cpd%2Cpd&&play");
  REQUIRE(items.size() == 3);
  CHECK(items[0].value == "a b");
  CHECK(items[1].value == "cpd,pd");
  CHECK(items[2].key == "play");
  CHECK(items[2].value.empty());
  CHECK(live::parse_link("scene=100%").front().value == "100%");
}

TEST_CASE("a link opens methods and dials, is written back, and leads to the same bits") {
  Session first({.threads = 1}), second({.threads = 1});
  open(first,
       "scene=cube&methods=cpd,pd&gravity=0,-3,0&step=0.02&iterations=30&stiffness=2&half_life=2.5&camera=1,0,1");
  REQUIRE(first.lanes() == 2);
  CHECK(link_of(first) == "methods=cpd,pd&gravity=0,-3,0&step=0.02&iterations=30&stiffness=2&half_life=2.5");
  open(second, "scene=cube&" + link_of(first));
  for (int i = 0; i < 20; ++i) first.advance(), second.advance();
  for (int lane = 0; lane < 2; ++lane)
    CHECK(first.simulation(lane).state_hash() == second.simulation(lane).state_hash());
  // what a link says counts: half the stiffness is another motion
  open(second, "scene=cube&methods=cpd,pd&gravity=0,-3,0&step=0.02&iterations=30&stiffness=1&half_life=2.5");
  for (int i = 0; i < 20; ++i) second.advance();
  CHECK(first.simulation().state_hash() != second.simulation().state_hash());
  // without a scene it turns the one that is there
  open(second, "half_life=off&speed=0.5");
  CHECK(link_of(second).ends_with("half_life=off&speed=0.5"));
}

TEST_CASE("what is said about a step is said of the one that the link asks for") {
  const auto warns = [](const std::string& link) {
    Session session({.threads = 1});
    for (const std::string& answer : session.handle("{\"type\": \"open\", \"link\": \"" + link + "\"}"))
      if (answer.find("stable below that only") != std::string::npos) return true;
    return false;
  };
  CHECK(warns("scene=cube_rest&methods=symplectic_euler"));
  CHECK(!warns("scene=cube_rest&methods=symplectic_euler&step=0.01"));
  Session session({.threads = 1});
  open(session, "scene=cube_rest&methods=symplectic_euler&step=0.01");
  CHECK(session.simulation().scene().step == 0.01);
  session.handle(R"({"type": "load", "scene": "no such scene"})");  // refused: what was turned stays
  CHECK(link_of(session).find("step=0.01") != std::string::npos);
}

TEST_CASE("a link holds pins, and opens paused without a frame in between") {
  Session session({.threads = 1});
  const std::vector<std::string> said = open(session, "scene=cube_rest&methods=cpd,pd&pins=5,40&play=0");
  CHECK(!session.running());
  CHECK(link_of(session) == "methods=cpd,pd&pins=5,40");
  session.handle(R"({"type": "pause", "on": false})");
  const Vec3 before = session.simulation().positions()[5];
  session.handle(R"({"type": "push", "vertex": 300, "direction": [1, 0, 0]})");
  for (int i = 0; i < 30; ++i) session.advance();
  CHECK(norm(session.simulation().positions()[5] - before) < 0.1);
  CHECK(norm(session.simulation().measure().center - Vec3{}) < 0.3);
  // a page whose person asked for less motion
  Session calm({.threads = 1});
  calm.handle(R"({"type": "open", "link": "scene=cube", "paused": true})");
  CHECK(!calm.running());
  calm.handle(R"({"type": "load", "scene": "cube", "paused": true})");
  CHECK(!calm.running());
  calm.handle(R"({"type": "open", "link": "scene=cube&play=1", "paused": true})");
  CHECK(calm.running());
}

TEST_CASE("what is wrong with a link is said, and nothing is opened") {
  for (const auto& [link, word] :
       std::vector<std::pair<std::string, std::string>>{{"scene=cubb", "nearest: cube"},
                                                        {"scene=cube&stifness=2", "nearest: stiffness"},
                                                        {"scene=cube&gravity=down", "gravity"},
                                                        {"scene=cube&floor=maybe", "on or off"},
                                                        {"scene=cube&play=maybe", "0 or 1"},
                                                        {"scene=cube&pins=here", "vertices"},
                                                        {"s=abc", "save its state"},
                                                        {"scene=cube&methods=magic", "magic"},
                                                        {"stiffness=2", "scene=NAME"}}) {
    Session session({.threads = 1});
    const std::vector<std::string> answers = open(session, link);
    REQUIRE(answers.size() == 1);
    CAPTURE(answers[0]);
    CHECK(answers[0].find("\"type\": \"error\"") != std::string::npos);
    CHECK(answers[0].find(word) != std::string::npos);
    CHECK(!session.loaded());
  }
}

TEST_CASE("a step is explained without moving the session") {
  Session session({.threads = 1});
  open(session, "scene=cube&methods=cpd");
  for (int i = 0; i < 10; ++i) session.advance();
  const std::uint64_t before = session.simulation().state_hash();
  const std::vector<std::string> answers = session.handle(R"({"type": "explain"})");
  REQUIRE(answers.size() == 1);
  std::vector<JsonProblem> faults;
  const Json said = parse_json(answers[0], 0, faults);
  CHECK(session.simulation().state_hash() == before);
  session.advance();
  // what was foretold comes, to the last bit of H
  CHECK(said.find("after")->find("total")->number == session.simulation().measure().total);
  CHECK(said.find("pd")->items.size() == 10);
}

TEST_CASE("the multiplier of L turns a body back by what plain PD loses of L; P needs none") {
  Session session({.threads = 1});
  open(session, "scene=cube&methods=cpd_euler");
  for (int i = 0; i < 40; ++i) session.advance();
  const std::vector<std::string> answers = session.handle(R"({"type": "explain"})");
  std::vector<JsonProblem> faults;
  const Json said = parse_json(answers.back(), 0, faults);
  const auto vec = [](const Json* v) {
    return Vec3{v->items[0].number, v->items[1].number, v->items[2].number};
  };
  const Vec3 lost = vec(said.find("before")->find("spin")) - vec(said.find("pd")->items.back().find("spin"));
  const Vec3 turn = vec(said.find("after")->find("multiplier_l")), push = vec(said.find("after")->find("multiplier_p"));
  CHECK(norm(push) < 1e-12);
  CHECK(dot(lost, turn) < -0.99 * norm(lost) * norm(turn));
  const double inertia = session.simulation().measure(0).mass / 6;  // about any axis, at rest; it pulsates
  CHECK(norm(lost) / norm(turn) == doctest::Approx(inertia).epsilon(0.5));
}
