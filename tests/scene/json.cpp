#include <doctest/doctest.h>

#include <stdexcept>

#include "base/json.h"

using namespace verve;

namespace {

std::string problems(const std::string& text) {
  std::vector<JsonProblem> found;
  parse_json(text, 0, found);
  std::string out;
  for (const JsonProblem& problem : found) {
    const auto [line, column] = line_and_column(text, problem.place.offset);
    out += std::to_string(line) + ":" + std::to_string(column) + ": " +
           (problem.path.empty() ? "" : problem.path + ": ") + problem.what + "\n";
  }
  return out;
}
Json parsed(const std::string& text) {
  std::vector<JsonProblem> found;
  return parse_json(text, 0, found);
}

}  // namespace

TEST_CASE("syntax errors name the place, what was found and what was expected") {
  CHECK(problems("") == "1:1: found the end of the file, expected a value\n");
  CHECK(problems("{\"a\": 1,\n \"b\" 2}") == "2:6: b: found 2, expected a colon after the key\n");
  CHECK(problems("{a: 1}") == "1:2: found a, expected a key in double quotes\n");
  CHECK(problems("{\"a\": 'x'}") == "1:7: a: found ''', expected a value\n");
  CHECK(problems("{\"a\": x}") == "1:7: a: found x, expected a value (a text goes in double quotes)\n");
  CHECK(problems("{\"a\": [1, 2}") == "1:12: a: found '}', expected a comma or ]\n");
  CHECK(problems("[1] 2") == "1:5: found 2, expected the end of the file\n");
  CHECK(problems("[\"a\nb\"]") == "1:2: [0]: found a text without an end, expected \" before the end of the line\n");
  CHECK(problems("[\"\\x\"]") == "1:3: [0]: found a \\ that escapes nothing, expected \\\\ or a JSON escape\n");
  CHECK(problems("/* [1]") == "1:1: found a comment without an end, expected */\n");
  CHECK(problems("[\"\xff\"]") == "1:3: [0]: found a byte that is not UTF-8, expected UTF-8 text\n");
}

TEST_CASE("small slips do not hide the problems after them") {
  CHECK(problems("[1 2, 03, .5, NaN, 1,]") ==
        "1:4: found 2, expected a comma before it\n"
        "1:7: [2]: found 03, expected a number as JSON writes it: 12, -0.5, 1e-3\n"
        "1:11: [3]: found .5, expected a number as JSON writes it: 12, -0.5, 1e-3\n"
        "1:15: [4]: found NaN, expected a finite number (JSON has no NaN and no Infinity)\n"
        "1:21: found a comma after the last value, expected none\n");
}

TEST_CASE("endless nesting is refused, not followed") {
  CHECK(problems(std::string(100000, '[')).find("levels of nesting") != std::string::npos);
  std::string objects;
  for (int i = 0; i < 50000; ++i) objects += "{\"a\":";
  CHECK(problems(objects).find("levels of nesting") != std::string::npos);
}

TEST_CASE("escapes and characters beyond ASCII are read and written") {
  const Json value = parsed(R"(["\u00e9\u20ac\ud83d\ude00\n\"\\\/", "é€😀"])");
  REQUIRE(value.items.size() == 2);
  CHECK(value.items[0].text == "é€😀\n\"\\/");
  CHECK(value.items[1].text == "é€😀");
  CHECK(parsed(write_json(value)).items[0].text == value.items[0].text);
  CHECK_FALSE(problems(R"(["\ud83d"])").empty());
  CHECK_FALSE(problems(R"(["\udc00"])").empty());
}

TEST_CASE("numbers are written in the shortest form that reads back as the same double") {
  CHECK(shortest_number(0.1) == "0.1");
  CHECK(shortest_number(1.0 / 3) == "0.3333333333333333");
  CHECK(shortest_number(1e4) == "10000");
  CHECK(shortest_number(-0.0) == "-0");
  for (const double value : {0.1 + 0.2, 1e-308, 5e-324, 1.7976931348623157e308, 123456789.123456789, 2.0 / 3})
    CHECK(parsed(shortest_number(value)).number == value);
  CHECK_THROWS_AS(Json(1e308 * 10), std::invalid_argument);
}
