// Damaged scene files: whatever the bytes, the reader answers with a scene or with problems.
#include <doctest/doctest.h>

#include <random>

#include "scenes.h"

using namespace verve;

namespace {

/// A few random edits: bytes changed, dropped, doubled, or swapped for pieces that JSON readers stumble over.
std::string damaged(std::string text, std::mt19937& random) {
  static const std::vector<std::string> pieces = {
      "{",        "}",    "[",   "]",       "\"",   ",",    ":",
      "null",     "true", "-",   "1e999",   "NaN",  "0",    "-1",
      "//",       "/*",   "\\u", "\\ud800", "\xff", "\xc3", std::string(1, '\0'),
      "\"keys\"", "[[",   "1e9", "{}",      "[]",   "\"\""};
  const auto below = [&](size_t n) { return size_t(random() % std::uint32_t(n)); };
  const size_t edits = 1 + below(4);
  for (size_t i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = char(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(12));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(40)));
        break;
      case 3:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      default:
        text.replace(at, 1 + below(4), pieces[below(pieces.size())]);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a damaged scene file is refused or read, and what is read can be written and read again") {
  std::mt19937 random(20240229);
  int refused = 0, accepted = 0;
  for (const BuiltinScene& scene : builtin_scenes())
    for (int i = 0; i < 400; ++i) {
      const std::string text = damaged(scene.text, random);
      const Expected<Scene> read = parse_scene(text, "damaged.json");
      if (!read) {
        ++refused;
        REQUIRE(read.diagnostics().has_errors());
        continue;
      }
      ++accepted;
      const std::string written = write_scene(*read);
      const Expected<Scene> again = parse_scene(written, "written.json");
      REQUIRE_MESSAGE(again.has_value(), again.diagnostics().text());
      REQUIRE(write_scene(*again) == written);
    }
  CHECK(refused > 1000);  // most edits hit something that matters
  CHECK(accepted > 100);  // some fall into comments, texts and numbers
}

TEST_CASE("a damaged override is refused or applied") {
  std::mt19937 random(7);
  const std::vector<Override> sound = {{"bodies[0].potentials[0].mu", "{\"keys\": [[0, 1], [1, 2]]}"},
                                       {"solver", "{\"method\": \"pd\", \"rho\": 0.5}"},
                                       {"bodies.bear.initial.velocity", "[1, 2, 3]"}};
  const std::string text = builtin_scenes()[6].text;
  for (int i = 0; i < 3000; ++i) {
    Override set = sound[size_t(i) % sound.size()];
    if (random() % 2) set.first = damaged(set.first, random);
    if (random() % 2) set.second = damaged(set.second, random);
    const Expected<Scene> read = parse_scene(text, "bear.json", {set});
    if (!read) REQUIRE(read.diagnostics().has_errors());
  }
}
