#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/json.h"

namespace verve {

namespace {

constexpr size_t line_width = 100;

constexpr size_t object_width = 60;

int depth(const Json& value) {
  int inside = 0;
  for (const Json& item : value.items) inside = std::max(inside, depth(item));
  for (const JsonMember& member : value.members) inside = std::max(inside, depth(member.value));
  return inside + (value.is(Json::Kind::array) || value.is(Json::Kind::object));
}

/// Numbers, vectors, lists of vectors, small objects.
bool is_simple(const Json& value) { return depth(value) <= 2; }

bool holds_objects(const Json& value) {
  if (value.is(Json::Kind::object)) return true;
  for (const Json& item : value.items)
    if (item.is(Json::Kind::object)) return true;
  return false;
}

void write_flat(const Json& value, std::string& out) {
  switch (value.kind) {
    case Json::Kind::null:
    case Json::Kind::invalid:
      out += "null";
      return;
    case Json::Kind::boolean:
      out += value.boolean ? "true" : "false";
      return;
    case Json::Kind::number:
      out += shortest_number(value.number);
      return;
    case Json::Kind::string:
      out += quote_json(value.text);
      return;
    case Json::Kind::array: {
      out += '[';
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i) out += ", ";
        write_flat(value.items[i], out);
      }
      out += ']';
      return;
    }
    case Json::Kind::object: {
      out += '{';
      for (size_t i = 0; i < value.members.size(); ++i) {
        out += (i ? ", " : "") + quote_json(value.members[i].key) + ": ";
        write_flat(value.members[i].value, out);
      }
      out += '}';
      return;
    }
  }
}

void write(const Json& value, size_t indent, size_t taken, std::string& out) {
  const bool nested = value.is(Json::Kind::array) || value.is(Json::Kind::object);
  if (!nested || is_simple(value)) {
    std::string flat;
    write_flat(value, flat);
    const bool short_enough =
        indent + taken + flat.size() <= line_width && (flat.size() <= object_width || !holds_objects(value));
    if (!nested || short_enough || (value.items.empty() && value.members.empty())) {
      out += flat;
      return;
    }
  }
  const bool object = value.is(Json::Kind::object);
  const size_t count = object ? value.members.size() : value.items.size();
  out += object ? "{\n" : "[\n";
  for (size_t i = 0; i < count; ++i) {
    out.append(indent + 2, ' ');
    const std::string key = object ? quote_json(value.members[i].key) + ": " : "";
    out += key;
    write(object ? value.members[i].value : value.items[i], indent + 2, key.size(), out);
    out += i + 1 < count ? ",\n" : "\n";
  }
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

Json::Json(double value) : kind(Kind::number), number(value) {
  if (!std::isfinite(value))
    throw std::invalid_argument("JSON: found a number that is not finite, expected a finite one");
  text = shortest_number(value);
}

Json Json::array(std::vector<Json> items) {
  Json out;
  out.kind = Kind::array;
  out.items = std::move(items);
  return out;
}

Json Json::object(std::vector<JsonMember> members) {
  Json out;
  out.kind = Kind::object;
  out.members = std::move(members);
  return out;
}

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}
Json* Json::find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }

Json& Json::set(std::string key, Json value) {
  if (Json* existing = find(key)) return *existing = std::move(value);
  const Place place = value.place;
  members.push_back({std::move(key), std::move(value), place});
  return members.back().value;
}

std::string write_json(const Json& value) {
  std::string out;
  write(value, 0, 0, out);
  return out;
}

std::string shortest_number(double value) {
  char buffer[40];
  for (const int digits : {15, 16, 17}) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value) break;  // printed and read in the same locale
  }
  std::string out = buffer;
  const std::string point = std::localeconv()->decimal_point;
  if (const size_t at = point == "." ? std::string::npos : out.find(point); at != std::string::npos)
    out.replace(at, point.size(), ".");
  if (const size_t e = out.find('e'); e != std::string::npos) {  // 1e-06 -> 1e-6, 1e+20 -> 1e20
    size_t digits = e + 2;
    while (digits + 1 < out.size() && out[digits] == '0') ++digits;
    out = out.substr(0, e + 1) + (out[e + 1] == '-' ? "-" : "") + out.substr(digits);
  }
  return out;
}

std::string quote_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\u%04x", unsigned(static_cast<unsigned char>(c)));
          out += buffer;
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string describe_found(const Json& value) {
  constexpr size_t longest = 60;
  switch (value.kind) {
    case Json::Kind::object:
      return value.members.empty() ? "{}" : "an object";
    case Json::Kind::number:
      return value.text.size() <= longest ? value.text : shortest_number(value.number);
    case Json::Kind::array: {
      std::string flat;
      if (value.items.size() <= longest && !holds_objects(value) && is_simple(value)) write_flat(value, flat);
      if (!flat.empty() && flat.size() <= longest) return flat;
      return "a list of " + std::to_string(value.items.size());
    }
    case Json::Kind::string: {
      std::string text = value.text;
      if (text.size() > longest) {
        size_t cut = longest;
        while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // between characters
        text = text.substr(0, cut) + "...";
      }
      return quote_json(text);
    }
    default:
      break;
  }
  std::string flat;
  write_flat(value, flat);
  return flat;
}

std::string join_path(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }
std::string join_path(const std::string& path, size_t index) { return path + "[" + std::to_string(index) + "]"; }

}  // namespace verve
