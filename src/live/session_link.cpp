// Links: a scene, its methods and its dials as the text behind the # of an address, the same for the page and for
// `verve link`. What the page alone knows (camera, look, lesson) stays in the text and is passed over here.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/text.h"
#include "live/session.h"

namespace verve::live {

namespace {

/// Keys of a link that the page reads.
const std::vector<std::string> page_keys = {"s", "camera", "look", "ui", "theme", "lesson", "accounts"};
/// Dials that a link may turn; those of bodies with ".N" for others than the first.
const std::vector<std::string> link_dials = {"energy",   "momentum",  "spin", "half_life",  "gravity", "wind",
                                             "friction", "stiffness", "step", "iterations", "budget"};

int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0)
      out += char(16 * hex_digit(text[i + 1]) + hex_digit(text[i + 2])), i += 2;
    else
      out += text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (true) {
    const size_t at = text.find(separator);
    out.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

/// A number, three of them, or null for "off".
std::optional<Json> dial_value(const std::string& text) {
  if (text == "off") return Json();
  Json numbers = Json::array();
  for (const std::string& part : parts(text, ',')) {
    std::vector<JsonProblem> faults;
    Json value = parse_json(part, 0, faults);
    if (!faults.empty() || !value.is(Json::Kind::number)) return std::nullopt;
    numbers.items.push_back(std::move(value));
  }
  if (numbers.items.size() == 1) return numbers.items.front();
  return numbers;
}

std::string joined(const Vec3& v) {
  return shortest_number(v.x) + "," + shortest_number(v.y) + "," + shortest_number(v.z);
}

}  // namespace

std::vector<LinkItem> parse_link(std::string_view link) {
  if (const size_t hash = link.find('#'); hash != std::string_view::npos) link.remove_prefix(hash + 1);
  std::vector<LinkItem> out;
  for (const std::string& part : parts(link, '&')) {
    const size_t equal = part.find('=');
    if (part.empty()) continue;
    out.push_back({decoded(part.substr(0, equal)), equal == std::string::npos ? "" : decoded(part.substr(equal + 1))});
  }
  return out;
}

/// Opens what a link names, or turns the scene that is there to what it says. Everything is read before anything is
/// done.
void Session::open_link(const Json& message) {
  const std::vector<LinkItem> items = parse_link(text(message, "link"));
  Json load = Json::object(), floor;
  std::vector<Json> dials;
  std::optional<double> speed;
  std::vector<int> pins;
  bool duel = true, paused = message.find("paused") && message.find("paused")->boolean;
  load.set("type", "load");
  for (const char* part : {"text", "name", "motion", "time", "frame", "snapshots"})  // a scene that came with the link
    if (const Json* given = message.find(part)) load.set(part, *given);
  for (const auto& [key, value] : items) {
    const size_t dot = key.find('.');
    const std::string name = key.substr(0, dot);
    const auto refuse = [&, &key = key, &value = value](const std::string& expected) {
      return Refusal{"link: " + key.substr(0, 100) + ": found \"" + value.substr(0, 100) + "\", expected " + expected};
    };
    if (key == "scene") {
      load.set("scene", value);
    } else if (key == "methods") {
      Json names = Json::array();
      for (const std::string& method : parts(value, ',')) names.items.push_back(method);
      load.set("methods", std::move(names));
    } else if (key == "duel") {
      duel = value != "off";
    } else if (key == "floor") {
      if (value != "on" && value != "off") throw refuse("on or off");
      floor = Json::object({{"type", "floor", {}}, {"on", value == "on", {}}});
    } else if (key == "play") {
      if (value != "0" && value != "1") throw refuse("0 or 1");
      paused = value == "0";
    } else if (key == "pins") {
      for (const std::string& part : parts(value, ',')) {
        const std::optional<Json> vertex = dial_value(part);
        if (!vertex || !vertex->is(Json::Kind::number) || !(vertex->number >= 0 && vertex->number < 1e9))
          throw refuse("vertices by their numbers, with commas between");
        pins.push_back(int(vertex->number));
      }
    } else if (key == "speed") {
      const std::optional<Json> number = dial_value(value);
      if (!number || !number->is(Json::Kind::number)) throw refuse("a number");
      speed = number->number;
    } else if (std::find(link_dials.begin(), link_dials.end(), name) != link_dials.end()) {
      const std::optional<Json> number = dial_value(value);
      if (!number) throw refuse("a number, three of them with commas between, or off");
      Json dial = Json::object();
      dial.set("type", "dial"), dial.set("name", name), dial.set("value", *number);
      if (dot != std::string::npos) {
        const std::optional<Json> body = dial_value(key.substr(dot + 1));
        if (!body || !body->is(Json::Kind::number)) throw refuse("the number of a body after the full stop");
        dial.set("body", *body);
      }
      if (name == "step" && number->is(Json::Kind::number)) load.set("step", *number);
      dials.push_back(std::move(dial));
    } else if (std::find(page_keys.begin(), page_keys.end(), key) == page_keys.end()) {
      std::vector<std::string> known = {"scene", "methods", "duel", "floor", "speed", "play", "pins"};
      known.insert(known.end(), link_dials.begin(), link_dials.end());
      known.insert(known.end(), page_keys.begin(), page_keys.end());
      throw Refusal{"link: found \"" + key.substr(0, 100) + "\", " + expected_one_of(key.substr(0, 100), known)};
    }
  }
  load.set("duel", duel);
  if (load.find("scene") || load.find("text"))
    load_message(load);
  else if (lanes_.empty())
    throw Refusal{std::any_of(items.begin(), items.end(), [](const LinkItem& item) { return item.key == "s"; })
                      ? "link: found a scene of a page, compressed (s=), expected scene=NAME; save its state there"
                      : "link: found no scene, expected scene=NAME"};
  else if (message.find("snapshots"))
    throw Refusal{"link: found a motion without a scene, expected the text of both"};
  if (!floor.is(Json::Kind::null) && floor.find("on")->boolean != (floor_.has_value() || own_floor())) set_floor(floor);
  for (const Json& dial : dials) turn_dial(dial);
  for (const int vertex : pins) grab(Json::object({{"vertex", vertex, {}}}), true);
  if (speed) speed_ = std::clamp(*speed, 0.01, 10.0);
  if (message.find("snapshots")) take_state(message);
  before_.clear();  // what the link says is where undo ends
  paused_ = paused;
  tell_state();
}

/// Methods, dials and pins as they are, to go behind the name of the scene. Pins hold their spots where the scene
/// starts.
std::string Session::link_text(bool with_pins) const {
  std::string out = "methods=";
  for (size_t i = 0; i < lanes_.size(); ++i) out += (i ? "," : "") + lanes_[i]->method;
  const auto add = [&](const std::string& key, const std::string& value) { out += "&" + key + "=" + value; };
  if (turned_.gravity) add("gravity", joined(*turned_.gravity));
  if (turned_.wind) add("wind", joined(*turned_.wind));
  if (turned_.step) add("step", shortest_number(*turned_.step));
  if (turned_.friction) add("friction", shortest_number(*turned_.friction));
  if (turned_.budget) add("budget", *turned_.budget > 0 ? shortest_number(*turned_.budget) : "off");
  if (turned_.iterations) add("iterations", std::to_string(*turned_.iterations));
  if (turned_.stiffness != 1) add("stiffness", shortest_number(turned_.stiffness));
  for (const auto& [body, seconds] : turned_.half_life)
    add("half_life" + (body ? "." + std::to_string(body) : ""),
        seconds < std::numeric_limits<double>::infinity() ? shortest_number(seconds) : "off");
  std::string pins;
  for (auto it = hands_.rbegin(); with_pins && it != hands_.rend(); ++it)  // their numbers go downwards
    if (const Hand& hand = it->second; hand.pin)
      pins += (pins.empty() ? "" : ",") + std::to_string(lanes_[0]->simulation->first_vertex(hand.body) + hand.vertex);
  if (!pins.empty()) add("pins", pins);
  if (speed_ != 1) add("speed", shortest_number(speed_));
  if (!lifted_.empty() || (!floor_ && !own_floor() && norm(scene_.gravity) == 0 && scene_.colliders.empty()))
    add("floor", "off");
  if (floor_ && norm(scene_.gravity) != 0) add("floor", "on");
  return out;
}

/// Where every lane is, bit by bit.
void Session::tell_hash() {
  Json lanes = Json::array(), out = Json::object();
  for (const auto& lane : lanes_) {
    char digits[20];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(lane->simulation->state_hash()));
    lanes.items.push_back(std::string(digits));
  }
  out.set("type", "hash");
  out.set("frame", lanes_[0]->simulation->frame());
  out.set("lanes", std::move(lanes));
  answers_.push_back(write_json(out));
}

}  // namespace verve::live
