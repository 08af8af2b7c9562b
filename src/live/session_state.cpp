// Motions to come back to: moments that a person keeps, and states that are saved, to go on from on another day or on
// another machine, bit by bit.
#include <algorithm>

#include "live/session.h"
#include "record/report_data.h"
#include "verve/scene_file.h"

namespace verve::live {

namespace {

/// Moments that are kept at a time: each is a copy of all that moves.
constexpr size_t most_kept = 20;

/// Base64 as bytes; empty when it is none.
std::vector<unsigned char> decoded(const std::string& text) {
  const auto digit = [](char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
  };
  std::vector<unsigned char> bytes;
  unsigned word = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    if (digit(c) < 0) return {};
    word = word << 6 | unsigned(digit(c)), bits += 6;
    if (bits >= 8) bits -= 8, bytes.push_back(static_cast<unsigned char>(word >> bits & 255));
  }
  return bytes;
}

template <class T>
Json encoded(const std::vector<T>& values) {
  std::string out;
  append_base64(out, values.data(), values.size() * sizeof(T));
  return out;
}

Json numbers_of(const Vec3& v) { return Json::array({v.x, v.y, v.z}); }

/// Three numbers, or none.
std::optional<Vec3> read_vec(const Json* value) {
  if (!value || !value->is(Json::Kind::array) || value->items.size() != 3) return std::nullopt;
  for (const Json& item : value->items)
    if (!item.is(Json::Kind::number)) return std::nullopt;
  return Vec3{value->items[0].number, value->items[1].number, value->items[2].number};
}

}  // namespace

// ---- moments

Session::Before Session::present(const std::string& what) const {
  Before now;
  now.what = what, now.hands = hands_, now.turned = turned_, now.next_pin = next_pin_;
  for (const auto& lane : lanes_) now.lanes.push_back(lane->simulation->save());
  return now;
}

void Session::go_back(const Before& then) {
  calming_ = 0;
  hands_ = then.hands, turned_ = then.turned, next_pin_ = then.next_pin;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    lane.simulation->restore(then.lanes[i]);
    lane.failed = false, lane.watch = {};
    for (const auto& [id, hand] : hands_)
      if (!hand.pin) lane.simulation->remove_anchor(hand.anchors[i]);  // nobody holds it any more
    tell_elements(int(i), answers_);
  }
  std::erase_if(hands_, [](const auto& h) { return !h.second.pin; });
  touched();
  tell_state();
}

/// Of lanes that are gone nothing can be restored.
void Session::forget_past() {
  before_.clear(), kept_.clear(), rows_.clear();
  calming_ = 0;
}

void Session::keep_moment() {
  end_calm();
  if (kept_.size() >= most_kept)
    throw Refusal{"keep: found " + std::to_string(kept_.size()) + " moments, expected at most " +
                  std::to_string(most_kept) + "; forget one of them before"};
  const Simulation& sim = *lanes_[0]->simulation;
  kept_.push_back({next_kept_++, sim.frame(), sim.time(), present("a moment")});
  tell_state();
}

std::vector<Session::Kept>::iterator Session::kept_of(const Json& message) {
  const int id = int(number(message, "id", 1, 1e9));
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.id == id; });
  if (found == kept_.end())
    throw Refusal{"id: found " + std::to_string(id) + ", expected that of a moment that is kept"};
  return found;
}

void Session::return_to(const Json& message) {
  const Before then = kept_of(message)->then;
  remember("the return");
  go_back(then);
}

void Session::forget_moment(const Json& message) {
  kept_.erase(kept_of(message));
  tell_state();
}

// ---- saved states

/// Whoever opens a saved state has no pointers on it: what hands hold is free there.
Snapshot Session::without_hands(size_t lane) {
  Simulation& sim = *lanes_[lane]->simulation;
  const Snapshot now = sim.save();
  if (std::none_of(hands_.begin(), hands_.end(), [](const auto& hand) { return !hand.second.pin; })) return now;
  for (const auto& [id, hand] : hands_)
    if (!hand.pin) sim.remove_anchor(hand.anchors[lane]);
  const Snapshot free = sim.save();
  sim.restore(now);
  return free;
}

/// The scene, dials and methods as a link has them, and all that every lane remembers. `motion` is for programs that
/// cannot read these snapshots: where the first lane is, and how fast.
void Session::save() {
  end_calm();
  const Simulation& sim = *lanes_[0]->simulation;
  std::vector<double> motion;
  for (const std::vector<Vec3>& part : {sim.positions(), sim.velocities()})
    for (const Vec3& v : part) motion.insert(motion.end(), {v.x, v.y, v.z});
  Json snapshots = Json::array(), pins = Json::array(), held = Json::array();
  for (size_t i = 0; i < lanes_.size(); ++i) snapshots.items.push_back(encoded(without_hands(i).bytes()));
  for (const auto& [id, hand] : hands_) {
    if (!hand.pin) continue;
    Json pin = Json::object(), anchors = Json::array(), start = Json::array();
    for (const int anchor : hand.anchors) anchors.items.push_back(anchor);
    for (const Vec3& at : hand.start) start.items.push_back(numbers_of(at));
    pin.set("body", hand.body), pin.set("vertex", hand.vertex);
    pin.set("anchors", std::move(anchors)), pin.set("start", std::move(start));
    pins.items.push_back(std::move(pin));
  }
  for (const auto& [body, lock] : turned_.held) {
    Json one = Json::object();
    one.set("body", body);
    one.set("energy", lock.energy ? Json(*lock.energy) : Json());
    one.set("momentum", lock.momentum ? numbers_of(*lock.momentum) : Json());
    one.set("spin", lock.spin ? numbers_of(*lock.spin) : Json());
    held.items.push_back(std::move(one));
  }
  Json out = Json::object();
  out.set("type", "saved");
  out.set("scene", write_scene(scene_)), out.set("link", link_text(false));
  out.set("time", sim.time()), out.set("frame", sim.frame()), out.set("paused", paused_);
  out.set("motion", encoded(motion));
  out.set("snapshots", std::move(snapshots)), out.set("pins", std::move(pins)), out.set("held", std::move(held));
  answers_.push_back(write_json(out));
}

/// The motion of a saved state in lanes of its scene: bit by bit where its snapshots fit, from places and velocities
/// alone, with a word, where they do not (another version of Verve, a method that was left out).
void Session::take_state(const Json& message) {
  std::vector<Snapshot> snapshots;
  std::string fault;
  const Json* given = message.find("snapshots");
  if (!given || given->items.size() != lanes_.size())
    fault =
        given ? "found " + std::to_string(given->items.size()) + " snapshots, expected " + std::to_string(lanes_.size())
              : "found no snapshots";
  for (size_t i = 0; fault.empty() && i < lanes_.size(); ++i) {
    const Expected<Snapshot> read = Snapshot::from_bytes(decoded(given->items[i].text), "snapshot");
    if (!read) {
      fault = read.diagnostics().items().front().what;
    } else if (const Diagnostics told = read->unwritable(); !told.empty()) {  // files are none of a page's business
      fault = told.items().front().where + " " + told.items().front().what;
    } else {
      snapshots.push_back(*read);
    }
  }
  for (size_t i = 0; fault.empty() && i < lanes_.size(); ++i)
    if (const Diagnostics wrong = lanes_[i]->simulation->restore(snapshots[i]); wrong.has_errors())
      fault = wrong.items().front().what;
  if (!fault.empty()) {
    for (const auto& lane : lanes_) {  // some may have been restored
      lane->simulation->reset();
      apply_turned(*lane);
    }
    take_motion(message);
    Json notice = Json::object();
    notice.set("type", "notice");
    notice.set("text", "Only places and velocities of the state were taken over: " + fault + ".");
    notice.set("offers", Json::array());
    answers_.push_back(write_json(notice));
    return;
  }
  take_pins(message);
  take_locks(message);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->watch = {};
    tell_elements(int(i), answers_);
  }
  touched();
}

/// Pins whose springs the snapshots have brought.
void Session::take_pins(const Json& message) {
  const Json* pins = message.find("pins");
  if (!pins) return;
  for (const Json& pin : pins->items) {
    const Simulation& sim = *lanes_[0]->simulation;
    const int body = index(pin, "body", sim.bodies());
    Hand hand = new_hand(body, index(pin, "vertex", int(sim.mesh(body).vertices.size())), true);
    const Json *anchors = pin.find("anchors"), *start = pin.find("start");
    if (!anchors || !start || anchors->items.size() != lanes_.size() || start->items.size() != lanes_.size())
      throw Refusal{"pins: found one without an anchor for each method, expected those of a saved state"};
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const std::optional<Vec3> at = read_vec(&start->items[i]);
      const double anchor = anchors->items[i].number;
      if (!at || !(anchor >= 0 && anchor < lanes_[i]->simulation->anchors()))
        throw Refusal{"pins: found an anchor that no body has, expected those of a saved state"};
      hand.anchors[i] = int(anchor), hand.start[i] = *at;
    }
    hands_[next_pin_--] = hand;
  }
}

/// Locks, which the snapshots have set, as the page shows them.
void Session::take_locks(const Json& message) {
  const Json* held = message.find("held");
  if (!held) return;
  for (const Json& lock : held->items) {
    Turned::Held& own = turned_.held[index(lock, "body", lanes_[0]->simulation->bodies())];
    if (const Json* energy = lock.find("energy"); energy && energy->is(Json::Kind::number)) own.energy = energy->number;
    own.momentum = read_vec(lock.find("momentum")), own.spin = read_vec(lock.find("spin"));
  }
}

/// Places and velocities for every lane.
void Session::take_motion(const Json& message) {
  const std::vector<unsigned char> bytes = decoded(text(message, "motion"));
  std::vector<double> motion(bytes.size() / sizeof(double));
  std::copy_n(bytes.data(), motion.size() * sizeof(double), reinterpret_cast<unsigned char*>(motion.data()));
  const size_t n = size_t(lanes_[0]->simulation->vertices());
  if (motion.size() != 6 * n)
    throw Refusal{"motion: found " + std::to_string(motion.size()) + " numbers, expected " + std::to_string(6 * n) +
                  ": positions and velocities of every vertex"};
  std::vector<Vec3> x(n), v(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = {motion[3 * i], motion[3 * i + 1], motion[3 * i + 2]};
    v[i] = {motion[3 * (n + i)], motion[3 * (n + i) + 1], motion[3 * (n + i) + 2]};
  }
  for (const auto& lane : lanes_) {
    lane->simulation->set_state(x, v);
    lane->simulation->set_time(number(message, "time", 0, 1e9), int(number(message, "frame", 0, 1e9)));
  }
}

}  // namespace verve::live
