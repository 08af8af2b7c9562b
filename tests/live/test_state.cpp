// Motions to come back to: moments that are kept, and states that are saved.
#include <doctest/doctest.h>

#include <algorithm>

#include "live/session.h"

using namespace verve;
using live::Session;

namespace {

Json parsed(const std::string& text) {
  std::vector<JsonProblem> faults;
  Json out = parse_json(text, 0, faults);
  REQUIRE(faults.empty());
  return out;
}

/// The last answer of a type.
Json answer(const std::vector<std::string>& texts, const std::string& type) {
  Json out;
  for (const std::string& text : texts)
    if (Json said = parsed(text); said.find("type")->text == type) out = std::move(said);
  return out;
}

Json state_of(Session& session) { return answer(session.handle(R"({"type": "speed", "value": 1})"), "state"); }

/// What a page sends that was given the file.
std::string opening(const Json& saved) {
  Json message = Json::object();
  message.set("type", "open"), message.set("name", "it.verve"), message.set("text", saved.find("scene")->text);
  for (const char* key : {"link", "motion", "time", "frame", "snapshots", "pins", "held"})
    message.set(key, *saved.find(key));
  return write_json(message);
}

std::vector<std::uint64_t> hashes(const Session& session) {
  std::vector<std::uint64_t> out;
  for (int lane = 0; lane < session.lanes(); ++lane) out.push_back(session.simulation(lane).state_hash());
  return out;
}

void advance(Session& session, int frames) {
  for (int i = 0; i < frames; ++i) session.advance();
}

/// A session in the middle of a motion, with dials turned, a pin and a lock.
void play(Session& session, const std::string& scene) {
  session.handle("{\"type\": \"load\", \"scene\": \"" + scene + "\", \"methods\": [\"cpd\", \"pd\"]}");
  advance(session, 8);
  session.handle(R"({"type": "push", "vertex": 3, "direction": [1, 1, 0]})");
  session.handle(R"({"type": "dial", "name": "gravity", "value": [0, -1, 0]})");
  session.handle(R"({"type": "dial", "name": "half_life", "value": 3})");
  session.handle(R"({"type": "pin", "vertex": 5})");
  session.handle(R"({"type": "lock", "name": "energy", "on": true})");
  advance(session, 5);
}

}  // namespace

TEST_CASE("a saved state goes on bit by bit in every lane, with its dials, pins and locks") {
  for (const char* scene : {"cube", "ball"}) {
    CAPTURE(scene);
    Session first({.threads = 1}), second({.threads = 1});
    play(first, scene);
    const Json saved = answer(first.handle(R"({"type": "save"})"), "saved");
    const auto said = second.handle(opening(saved));
    REQUIRE_MESSAGE(answer(said, "error").is(Json::Kind::null), said.back());
    CHECK(answer(said, "notice").is(Json::Kind::null));
    CHECK(hashes(first) == hashes(second));
    advance(first, 15), advance(second, 15);
    CHECK(hashes(first) == hashes(second));
    const Json one = state_of(first), other = state_of(second);
    for (const char* key : {"lanes", "gravity", "half_life", "held", "pins", "frame", "floor", "stiffness"})
      CHECK_MESSAGE(write_json(*one.find(key)) == write_json(*other.find(key)), key);
    // the pin is one: a click on it takes it off, and both fly on alike
    for (Session* session : {&first, &second}) {
      session->handle(R"({"type": "pin", "vertex": 5})");
      CHECK(state_of(*session).find("pins")->items.empty());
    }
    advance(first, 5), advance(second, 5);
    CHECK(hashes(first) == hashes(second));
  }
}

TEST_CASE("a state that is saved while a hand holds a body is free of it, and the hand goes on") {
  for (const char* scene : {"cube", "pendulum"}) {
    CAPTURE(scene);
    Session first({.threads = 1}), second({.threads = 1});
    play(first, scene);
    first.handle(R"({"type": "grab", "id": 1, "vertex": 2})");
    advance(first, 3);
    const auto before = hashes(first);
    const Json saved = answer(first.handle(R"({"type": "save"})"), "saved");
    CHECK(hashes(first) == before);
    REQUIRE(answer(second.handle(opening(saved)), "error").is(Json::Kind::null));
    first.handle(R"({"type": "release", "id": 1})");
    advance(first, 5), advance(second, 5);
    CHECK(hashes(first) == hashes(second));
  }
}

TEST_CASE("a state whose snapshots do not fit goes on from its places and velocities, and says so") {
  Session first({.threads = 1}), second({.threads = 1});
  play(first, "cube");
  Json saved = answer(first.handle(R"({"type": "save"})"), "saved");
  Json cut = Json::array();
  for (const Json& each : saved.find("snapshots")->items) cut.items.push_back(each.text.substr(0, 400));
  saved.set("snapshots", cut);
  const auto said = second.handle(opening(saved));
  const Json notice = answer(said, "notice");
  REQUIRE(!notice.is(Json::Kind::null));
  CHECK(notice.find("text")->text.find("cut short") != std::string::npos);
  CHECK(second.simulation().frame() == first.simulation().frame());
  CHECK(norm(second.simulation().positions()[0] - first.simulation().positions()[0]) == 0);
  advance(second, 3);
  CHECK(second.simulation().frame() == first.simulation().frame() + 3);
}

TEST_CASE("moments that are kept can be returned to again and again, and forgotten") {
  Session session({.threads = 1});
  play(session, "cube");
  const auto then = hashes(session);
  const Json state = answer(session.handle(R"({"type": "keep"})"), "state");
  REQUIRE(state.find("kept")->items.size() == 1);
  const Json& moment = state.find("kept")->items[0];
  CHECK(moment.find("frame")->number == session.simulation().frame());
  const std::string id = std::to_string(int(moment.find("id")->number));
  advance(session, 10);
  const auto later = hashes(session);
  for (int turn = 0; turn < 2; ++turn) {
    session.handle(R"({"type": "dial", "name": "gravity", "value": [0, 9, 0]})");
    session.handle("{\"type\": \"return\", \"id\": " + id + "}");
    CHECK(hashes(session) == then);
    CHECK(write_json(*state_of(session).find("gravity")) == write_json(*state.find("gravity")));
    advance(session, 10);
    CHECK(hashes(session) == later);
  }
  // the return is a gesture, too
  session.handle("{\"type\": \"return\", \"id\": " + id + "}");
  session.handle(R"({"type": "undo"})");
  CHECK(hashes(session) == later);
  session.handle("{\"type\": \"forget\", \"id\": " + id + "}");
  CHECK(state_of(session).find("kept")->items.empty());
  CHECK(!answer(session.handle("{\"type\": \"return\", \"id\": " + id + "}"), "error").is(Json::Kind::null));
  // lanes that are gone take their moments along; there is an end to their number
  session.handle(R"({"type": "keep"})");
  session.handle(R"({"type": "methods", "names": ["cpd"]})");
  CHECK(state_of(session).find("kept")->items.empty());
  for (int i = 0; i < 20; ++i) session.handle(R"({"type": "keep"})");
  CHECK(!answer(session.handle(R"({"type": "keep"})"), "error").is(Json::Kind::null));
}

TEST_CASE("what a half-life takes is judged by the target, and told to be so") {
  Session session({.threads = 1});
  session.handle(R"({"type": "open", "link": "scene=cube&methods=cpd,pd&half_life=1"})");
  advance(session, 20);
  const std::string bytes = session.frame();
  const auto& names = live::metric_names();
  const auto value = [&](const char* name, size_t lane) {
    const size_t at = size_t(std::find(names.begin(), names.end(), name) - names.begin());
    double out;
    // the last of 20 rows, behind its number and its time
    std::copy_n(bytes.data() + 40 + 8 * (19 * (2 + 2 * names.size()) + 2 + lane * names.size() + at), 8,
                reinterpret_cast<char*>(&out));
    return out;
  };
  CHECK(value("aimed", 0) == 1);
  CHECK(value("kept", 0) == doctest::Approx(1).epsilon(0.01));
  CHECK(value("aimed", 1) == 0);  // pd aims at nothing: what it has lost it has lost
  CHECK(value("kept", 1) < 0.9);
}

TEST_CASE("a scene whose motion cannot be read leaves the session as it was") {
  Session session;
  play(session, "pendulum");
  const Json saved = answer(session.handle(R"({"type": "save"})"), "saved");
  const std::vector<std::uint64_t> before = hashes(session);
  const Scene& scene = session.simulation().scene();
  const std::string name = scene.name;
  for (const char* motion : {"", "AAAA", "no base64"}) {
    CAPTURE(motion);
    for (const char* type : {"load", "open"}) {
      Json message = parsed(opening(saved));
      message.set("type", type), message.set("motion", motion), message.set("snapshots", Json::array());
      message.find("text")->text = "{\"version\": 1, \"bodies\": [{\"name\": \"other\", \"mesh\": {\"generator\": \"chain\"}}]}";
      const std::vector<std::string> answers = session.handle(write_json(message));
      REQUIRE(!answers.empty());
      CHECK(answer(answers, "error").find("text"));
      CHECK(session.simulation().scene().name == name);
      CHECK(hashes(session) == before);
    }
  }
}
