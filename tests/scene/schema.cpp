// The schema against an independent validator, and against the reader.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "scene/document.h"
#include "scenes.h"
#include "source_dir.h"

using namespace verve;

namespace {

class Validator {
 public:
  Validator() {
    const nlohmann::json document = nlohmann::json::parse(scene_schema());
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
  }
  bool accepts(const std::string& text) {
    const nlohmann::json scene = nlohmann::json::parse(text, nullptr, true, true);  // comments ignored
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(scene), nullptr);
  }

 private:
  valijson::Schema schema_;
};

const std::string schema_file = verve::test::in_sources("scenes/schema.json");
const std::string docs_file = verve::test::in_sources("docs/scenes.md");

/// Where the key table stands in docs/scenes.md.
std::pair<size_t, size_t> table_in(const std::string& docs) {
  const std::string begin = "<!-- keys: made from the tables of the reader -->\n", end = "<!-- end of keys -->";
  const size_t start = docs.find(begin), stop = docs.find(end);
  REQUIRE(start != std::string::npos);
  REQUIRE(stop != std::string::npos);
  return {start + begin.size(), stop};
}

}  // namespace

TEST_CASE("scenes/schema.json is what the tables say (VERVE_UPDATE=1 rewrites it)") {
  if (update_files()) std::ofstream(schema_file, std::ios::binary) << scene_schema();
  CHECK(read_text(schema_file) == scene_schema());
}

TEST_CASE("docs/scenes.md lists every key (VERVE_UPDATE=1 rewrites the list)") {
  std::string docs = read_text(docs_file);
  const auto [start, stop] = table_in(docs);
  if (update_files()) {
    docs.replace(start, stop - start, scene_reference());
    std::ofstream(docs_file, std::ios::binary) << docs;
  } else {
    CHECK(docs.substr(start, stop - start) == scene_reference());
  }
  const nlohmann::json schema = nlohmann::json::parse(scene_schema());
  const auto listed = [&](const nlohmann::json& object) {
    for (const auto& [key, ignored] : object.at("properties").items())
      CHECK_MESSAGE(docs.find("| `" + key + "` |") != std::string::npos, key);
  };
  listed(schema);
  for (const auto& [name, definition] : schema.at("definitions").items())
    if (definition.contains("properties")) listed(definition);
}

TEST_CASE("every built-in scene is valid by the schema, also when fully written out") {
  Validator schema;
  for (const BuiltinScene& builtin : builtin_scenes()) {
    CAPTURE(builtin.name);
    CHECK(schema.accepts(builtin.text));
    CHECK(schema.accepts(write_scene(read_scene(builtin.name).value())));
  }
}

TEST_CASE("the schema refuses what the reader refuses") {
  Validator schema;
  const std::string anchor = "\"anchors\": [{\"body\": \"cube\", \"vertices\": ";
  const std::vector<std::string> bad = {
      small_scene("\"framez\": 3"),
      small_scene("\"frames\": 0"),
      small_scene("\"frames\": 2.5"),
      small_scene("\"step\": \"fast\""),
      small_scene("\"step\": 0"),
      small_scene("\"gravity\": [0, 1]"),
      small_scene("\"solver\": {\"method\": \"magic\"}"),
      small_scene("\"solver\": {\"substeps\": \"many\"}"),
      small_scene("\"solver\": {\"substeps\": 65}"),
      small_scene("\"solver\": {\"rho\": 1.5}"),
      small_scene("\"solver\": {\"precision\": \"half\"}"),
      small_scene("", "\"mass\": -1"),
      small_scene("", "\"place\": {\"scale\": 0}"),
      small_scene("", "\"potentials\": [{\"type\": \"tet_strian\"}]"),
      small_scene("", "\"potentials\": [{\"mu\": 3}]"),
      small_scene("", "\"potentials\": [{\"type\": \"tet_strain\", \"mu\": -3}]"),
      small_scene("", "\"potentials\": [{\"type\": \"tet_strain\", \"mu\": {\"keys\": [[0, -3]]}}]"),
      small_scene("", "\"dials\": {\"energy\": {\"keys\": []}}"),
      small_scene("", "\"dials\": {\"half_life\": 0}"),
      small_scene(anchor + "{\"indices\": [-1]}}]"),
      small_scene(anchor + "{\"sphere\": {\"center\": [0, 0, 0]}}}]"),
      small_scene(anchor + "{\"all\": true}, \"active\": {\"keys\": [[0, 1]]}}]"),
      small_scene("\"forces\": [{\"body\": \"cube\", \"vertices\": {\"all\": true}}]"),
      "{\"version\": 2, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\"}}]}",
      "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"qube\"}}]}",
      "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\", \"sighs\": 1}}]}",
      "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"cube\", \"size\": -1}}]}",
      "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {}}]}",
      "{\"version\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"cube\"}}]}",
      "{\"version\": 1, \"bodies\": []}",
      "{\"version\": 1}",
      "[]",
  };
  CHECK(schema.accepts(small_scene()));
  for (const std::string& text : bad) {
    CAPTURE(text);
    CHECK_FALSE(schema.accepts(text));
    CHECK_FALSE(parse_scene(text, "bad.json").has_value());
  }
}

TEST_CASE("texts are JSON to this reader exactly when they are to another one") {
  const std::vector<std::string> texts = {"0",
                                          "-0",
                                          "00",
                                          "1.",
                                          ".1",
                                          "1.5e",
                                          "1e5",
                                          "1E+5",
                                          "1e-05",
                                          "+1",
                                          "0x1",
                                          "\"\"",
                                          "\"a\tb\"",
                                          "\"\\u0041\"",
                                          "\"\\u004\"",
                                          "\"\\ud83d\\ude00\"",
                                          "\"\\ud83d\"",
                                          "[]",
                                          "[,]",
                                          "[1,]",
                                          "[1,,2]",
                                          "{}",
                                          "{\"a\":1,}",
                                          "{\"a\" 1}",
                                          "{\"a\":}",
                                          "{1:2}",
                                          "tru",
                                          "true",
                                          "nul",
                                          "null ",
                                          " \n\t\r null",
                                          "[1] []",
                                          "{\"a\":{\"b\":[1,{\"c\":null}]}}",
                                          "\"\xc3\xa9\"",
                                          "\"\xc3\"",
                                          "\"\xed\xa0\x80\"",
                                          "\"\xf4\x90\x80\x80\"",
                                          "\"\xc0\x80\"",
                                          "[1e400]",
                                          "NaN",
                                          "-",
                                          "\"",
                                          "\\",
                                          "// c\n1",
                                          "/* c */ 1",
                                          "1 // c",
                                          "/* c",
                                          "\"\\/\"",
                                          "\"\x7f\""};
  for (const std::string& text : texts) {
    CAPTURE(text);
    std::vector<JsonProblem> problems;
    const Json value = parse_json(text, 0, problems);
    const nlohmann::json other = nlohmann::json::parse(text, nullptr, false, true);
    CHECK(problems.empty() == !other.is_discarded());
    if (problems.empty() && !other.is_discarded()) CHECK(nlohmann::json::parse(write_json(value)) == other);
  }
}
