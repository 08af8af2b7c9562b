// What the page draws beside bodies: what anchors hang on, and floors.
#include <doctest/doctest.h>

#include <cstring>

#include "live/session.h"

using namespace verve;
using live::Session;

namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}

Json message(const std::vector<std::string>& texts, const std::string& type) {
  for (const std::string& text : texts) {
    std::vector<JsonProblem> faults;
    Json out = parse_json(text, 0, faults);
    if (out.find("type")->text == type) return out;
  }
  return {};
}

/// How far the last of the supports of a frame has moved: the end of its bytes.
Vec3 last_moved(const std::string& frame) {
  float out[3];
  REQUIRE(frame.size() > sizeof out);
  std::memcpy(out, frame.data() + frame.size() - sizeof out, sizeof out);
  return {out[0], out[1], out[2]};
}

}  // namespace

TEST_CASE("the page is told where anchors hold, and how far they have moved since") {
  Session session({.threads = 1});
  const Json supports = message(session.handle(R"({"type": "load", "scene": "inextensible_cloth"})"), "supports");
  REQUIRE(supports.is(Json::Kind::object));
  REQUIRE(supports.find("list")->items.size() == 2);
  CHECK(supports.find("list")->items[1].find("anchor")->number == 1);
  CHECK(norm(last_moved(session.frame())) == 0);
  // its path goes to -0.1 m in half a second
  while (session.simulation().time() < 0.55) session.advance();
  CHECK(norm(last_moved(session.frame()) - Vec3{-0.1, 0, 0}) < 1e-6);
  // what is told anew begins where it is then
  const Json again = message(session.handle(R"({"type": "hello"})"), "supports");
  CHECK(again.find("list")->items.size() == 2);
  CHECK(norm(last_moved(session.frame())) == 0);
}

TEST_CASE("an anchor that becomes active later is told then") {
  Session session({.threads = 1});
  const std::string scene = R"({\"version\": 1, \"bodies\": [{\"name\": \"b\", \"mesh\": {\"generator\": \"box\"}, )"
                            R"(\"density\": 1000, \"potentials\": [{\"type\": \"tet_strain\", \"mu\": 1e4}]}], )"
                            R"(\"anchors\": [{\"body\": \"b\", \"vertices\": {\"indices\": [0]}, )"
                            R"(\"active\": {\"keys\": [[0, false], [0.1, true], [0.5, false]]}}]})";
  const std::vector<std::string> told =
      session.handle(R"({"type": "load", "name": "late", "text": ")" + scene + R"("})");
  REQUIRE_MESSAGE(session.loaded(), joined(told));
  CHECK(message(told, "supports").is(Json::Kind::null));
  int count = 0, first = -1;
  for (int i = 1; i <= 20; ++i)
    if (!message(session.advance(), "supports").is(Json::Kind::null)) ++count, first = first < 0 ? i : first;
  CHECK(count == 1);
  CHECK(first >= 3);
  CHECK(first <= 5);
}

TEST_CASE("every floor can be switched off and on, also one that the scene came with") {
  Session session({.threads = 1});
  CHECK(message(session.handle(R"({"type": "load", "scene": "stack"})"), "state").find("floor")->number == 0);
  const double before = session.simulation().measure().total;
  const Json off = message(session.handle(R"({"type": "floor", "on": false})"), "state");
  CHECK(off.find("floor")->is(Json::Kind::null));
  CHECK(off.find("link")->text.find("floor=off") != std::string::npos);
  CHECK(session.simulation().measure().total == before);
  for (int i = 0; i < 60; ++i) session.advance();
  CHECK(session.simulation().measure().center.y < -5);  // it falls for ever
  // below where its own was, another one carries it
  CHECK(message(session.handle(R"({"type": "floor", "on": true})"), "state").find("floor")->number < -5);
  session.handle(R"({"type": "floor", "on": false})");
  session.handle(R"({"type": "load", "scene": "stack"})");
  session.handle(R"({"type": "floor", "on": false})");
  const Json on = message(session.handle(R"({"type": "floor", "on": true})"), "state");
  CHECK(on.find("floor")->number == 0);
  REQUIRE(session.simulation().scene().colliders.size() == 1);
  CHECK(session.simulation().scene().colliders[0].friction == 0.5);  // the same as before
}
