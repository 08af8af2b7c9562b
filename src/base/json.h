// JSON with places: every value knows where it was written, so that each problem can be reported with line and column.
// Comments (// and /* */) are allowed; what JSON forbids (NaN, trailing commas, ...) is named and skipped where
// possible.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace verve {

/// A byte of a text; texts are numbered by whoever reads them (0: the scene file, 1 …: overrides).
struct Place {
  int text = 0;
  size_t offset = 0;
};

struct JsonMember;

struct Json {
  enum class Kind { null, boolean, number, string, array, object, invalid };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string text;                 ///< of a string; of a number as it was written
  std::vector<Json> items;          ///< of an array
  std::vector<JsonMember> members;  ///< of an object, in order, duplicates included
  Place place;

  Json();
  Json(bool value);
  Json(double value);
  Json(int value);
  Json(std::string value);
  Json(const char* value);
  static Json array();
  static Json array(std::vector<Json> items);
  static Json object();
  static Json object(std::vector<JsonMember> members);

  bool is(Kind k) const { return kind == k; }
  const Json* find(std::string_view key) const;  ///< null when there is no such member
  Json* find(std::string_view key);
  Json& set(std::string key, Json value);  ///< replaces or appends; returns the value
};

struct JsonMember {
  std::string key;
  Json value;
  Place place;  ///< of the key
};

// here, where a member is known whole
inline Json::Json() = default;
inline Json::Json(bool value) : kind(Kind::boolean), boolean(value) {}
inline Json::Json(int value) : Json(double(value)) {}
inline Json::Json(std::string value) : kind(Kind::string), text(std::move(value)) {}
inline Json::Json(const char* value) : Json(std::string(value)) {}
inline Json Json::array() { return array(std::vector<Json>()); }
inline Json Json::object() { return object(std::vector<JsonMember>()); }

struct JsonProblem {
  Place place;
  std::string path;  ///< "bodies[0].density"
  std::string what;
};

/// The whole text as one value. The problems found are in order; a value of kind invalid stands in for what could not
/// be read. Never throws; nesting is limited.
Json parse_json(std::string_view text, int text_number, std::vector<JsonProblem>& problems);
/// Indented by two spaces; values that fit on a line stay on it. Ends without a line break.
std::string write_json(const Json& value);

/// One value in a message: "stiff", 12, [1, 2], an object.
std::string describe_found(const Json& value);
/// Shortest decimal form that reads back as the same double, whatever the locale.
std::string shortest_number(double value);
std::string quote_json(std::string_view text);

/// "path.key", "path[3]"
std::string join_path(const std::string& path, const std::string& key);
std::string join_path(const std::string& path, size_t index);

/// Line and column (in characters, from 1) of a byte.
std::pair<int, int> line_and_column(std::string_view text, size_t offset);

}  // namespace verve
