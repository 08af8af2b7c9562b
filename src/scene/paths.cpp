// Paths like bodies[0].density and bodies.cube.density: setting a value by its path, and finding where one was written.
#include <algorithm>

#include "scene/document.h"
#include "verve/material.h"

namespace verve {

namespace {

struct Segment {
  std::string key;
  bool position = false;  ///< [3] rather than a key
  size_t index = 0;
};

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
size_t to_index(const std::string& text) {
  size_t value = 0;
  for (const char c : text) value = value * 10 + size_t(c - '0');
  return value;
}

/// "a.b[3]" -> a, b, 3; an explanation instead when it is no path.
std::vector<Segment> split(const std::string& path, std::string& fault) {
  std::vector<Segment> out;
  for (size_t i = 0; i < path.size();) {
    if (path[i] == '[') {
      const size_t close = path.find(']', i);
      const std::string digits = close == std::string::npos ? path.substr(i + 1) : path.substr(i + 1, close - i - 1);
      if (close == std::string::npos || !all_digits(digits) || out.empty()) {
        fault =
            "found " + quote_json(path.substr(i)) + ", expected a position in brackets after a key, such as bodies[0]";
        return {};
      }
      out.push_back({"", true, to_index(digits)});
      i = close + 1;
      if (i < path.size() && path[i] != '[' && path[i] != '.') {
        fault = "found " + quote_json(path.substr(i)) + ", expected a dot before the next key";
        return {};
      }
      continue;
    }
    if (path[i] == '.' && !out.empty()) ++i;
    const size_t end = std::min(path.find_first_of(".[", i), path.size());
    if (end == i) {
      fault = "found " + quote_json(path) + ", expected keys with dots between them, such as solver.tolerance";
      return {};
    }
    out.push_back({path.substr(i, end - i)});
    i = end;
  }
  if (out.empty()) fault = "found no path, expected one such as solver.tolerance";
  return out;
}

std::string name_of(const Json& item) {
  for (const char* key : {"name", "type"})
    if (const Json* name = item.find(key); name && name->is(Json::Kind::string)) return name->text;
  return "";
}

std::string kind_of(const Json& value) {
  switch (value.kind) {
    case Json::Kind::array:
      return "a list";
    case Json::Kind::object:
      return "an object";
    default:
      return describe_found(value);
  }
}

/// The element of a list that a segment names; null, and an explanation, when there is none.
Json* element(Json& list, const Segment& segment, const std::string& path, size_t& index, std::string& fault) {
  std::vector<std::string> names;
  if (segment.position || all_digits(segment.key)) {
    index = segment.position ? segment.index : to_index(segment.key);
    if (index < list.items.size()) return &list.items[index];
  } else {
    for (index = 0; index < list.items.size(); ++index) {
      const std::string name = name_of(list.items[index]);
      if (name == segment.key) return &list.items[index];
      if (!name.empty()) names.push_back(name);
    }
    if (!names.empty()) {
      fault = "found " + quote_json(segment.key) + " in " + path + ", " + expected_one_of(segment.key, names);
      return nullptr;
    }
  }
  const std::string found = segment.position ? std::to_string(segment.index) : quote_json(segment.key);
  const size_t n = list.items.size();
  fault = "found position " + found + " in " + path + ", expected " +
          (n == 0   ? "none: the list is empty"
           : n == 1 ? "0: the list holds one"
                    : "0 to " + std::to_string(n - 1));
  return nullptr;
}

/// A material that is set takes the place of what the file says of it: what was set before by an override stays.
void replace_material(Json& body, const Json& name) {
  const MaterialInfo* preset = name.is(Json::Kind::string) ? find_material(name.text) : nullptr;
  if (!preset) return;
  const auto drop = [](Json& from, std::initializer_list<std::string_view> keys) {
    const auto stays = [&](const JsonMember& member) {
      return member.value.place.text != 0 || std::find(keys.begin(), keys.end(), member.key) == keys.end();
    };
    from.members.erase(std::stable_partition(from.members.begin(), from.members.end(), stays), from.members.end());
  };
  drop(body, {"density", "mass", "potentials", "friction", "restitution", "color"});
  if (preset->dimension < 3) drop(body, {"thickness"});
  if (Json* dials = body.find("dials")) drop(*dials, {"half_life", "damping"});
}

}  // namespace

std::string apply_override(Json& root, const Override& set, int text_number, std::vector<Problem>& problems) {
  const Place here{text_number, 0};
  std::string fault;
  const auto fail = [&](std::string what) {
    problems.push_back({here, "", std::move(what), false});
    return std::string();
  };

  const std::vector<Segment> segments = split(set.first, fault);
  if (!fault.empty()) return fail(fault);

  // A value that does not begin like JSON is a bare word.
  std::vector<JsonProblem> syntax;
  Json value = parse_json(set.second, text_number, syntax);
  if (!syntax.empty()) {
    const size_t start = set.second.find_first_not_of(" \t");
    if (start != std::string::npos && std::string_view("{[\"").find(set.second[start]) != std::string_view::npos) {
      for (const JsonProblem& problem : syntax) problems.push_back({problem.place, problem.path, problem.what, false});
      return "";
    }
    value = Json(set.second);
    value.place = here;
  }

  Json* node = &root;
  Json* owner = nullptr;
  std::string path;
  for (const Segment& segment : segments) {
    if (node->is(Json::Kind::array)) {
      size_t index = 0;
      node = element(*node, segment, path, index, fault);
      if (!node) return fail(fault);
      path = join_path(path, index);
      continue;
    }
    if (node->is(Json::Kind::null)) {
      const Place place = node->place;
      *node = Json::object();
      node->place = place;
    }
    if (segment.position) return fail("found " + kind_of(*node) + " at " + path + ", expected a list");
    if (!node->is(Json::Kind::object)) return fail("found " + kind_of(*node) + " at " + path + ", expected an object");
    path = join_path(path, segment.key);
    Json* next = node->find(segment.key);
    if (!next) {
      Json fresh;
      fresh.place = here;
      next = &node->set(segment.key, fresh);
    }
    owner = node, node = next;
  }
  *node = std::move(value);
  // bodies[0].material
  if (segments.size() == 3 && segments[0].key == "bodies" && segments[2].key == "material" && owner)
    replace_material(*owner, Json(*node));
  return path;
}

Place locate(const Json& root, const std::string& path) {
  std::string fault;
  const Json* node = &root;
  for (const Segment& segment : split(path, fault)) {
    const Json* next = nullptr;
    if (segment.position) {
      if (segment.index < node->items.size()) next = &node->items[segment.index];
    } else {
      next = node->find(segment.key);
    }
    if (!next) break;
    node = next;
  }
  return node->place;
}

}  // namespace verve
