// What makes a session safe to play with: a guard that watches the energy of every lane and says when it was broken,
// and a way back to before the last gesture.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "live/session.h"
#include "verve/registry.h"

namespace verve::live {

namespace {

/// H may miss its target by this share of the energy that moves before the person is told; told again when it has not
/// for so many frames.
constexpr double most_off = 0.05;
constexpr int good_again = 60;
/// Bodies that move by less than this many sizes in a second are at rest, as far as the guard goes.
constexpr double still_speed = 1e-3;
/// Gestures that can be undone.
constexpr size_t most_remembered = 12;

template <class T>
bool changes(const Track<T>& track, double from, double to) {
  return track.keys.size() > 1 && track.keys.back().time >= from && track.keys.front().time <= to;
}

/// Energy with all that was taken on purpose: constant while nothing comes in.
double account_of(const Measures& m) { return m.total + m.booked_loss + m.heat - m.work; }
double moving_energy(const Measures& m) { return m.kinetic + std::abs(m.elastic) + std::abs(m.contact); }

std::string percent(double share) { return format_value(std::round(1000 * share) / 10) + " %"; }
std::string joules(double energy) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g J", energy);
  return text;
}

Json offer(const std::string& label, Json message) {
  Json out = Json::object();
  out.set("label", label);
  out.set("message", std::move(message));
  return out;
}

Json dial(const char* name, Json value) {
  Json out = Json::object();
  out.set("type", "dial"), out.set("name", name), out.set("value", std::move(value));
  return out;
}

}  // namespace

// ---- the guard

/// Something changes the energy in ways that the next frame will show: what is kept is counted from there on.
void Session::touched() {
  for (const auto& lane : lanes_) lane->watch.rebase = true;
  changed_ = true;
}

/// Velocities were changed: what came in by that is known.
void Session::kicked() {
  for (const auto& lane : lanes_) {
    Watch& w = lane->watch;
    const Measures m = lane->simulation->measure();
    const double account = account_of(m);
    w.given += account - w.account, w.account = account;
    w.scale = std::max(w.scale, moving_energy(m));
  }
  changed_ = true;
}

/// Whether the scene pushes, or takes or drops an anchor, between two moments.
bool Session::struck_in(double from, double to) const {
  for (const PushSpec& push : scene_.pushes)
    if (push.time >= from - 1e-9 && push.time <= to) return true;
  return std::any_of(scene_.anchors.begin(), scene_.anchors.end(),
                     [&](const AnchorSpec& a) { return changes(a.active, from, to); });
}

/// Whether the scene itself moves a body meanwhile: by colliders, by anchors on paths, by muscles, by dials.
bool Session::driven(int index, double from, double to) const {
  for (const ColliderSpec& c : scene_.colliders)
    if (changes(c.position, from, to) || changes(c.rotation, from, to) || changes(c.active, from, to)) return true;
  const BodySpec& body = scene_.bodies[size_t(index)];
  for (const AnchorSpec& a : scene_.anchors)
    if (a.body == lanes_[0]->simulation->body_name(index) &&
        (changes(a.path, from, to) || changes(a.stiffness, from, to)))
      return true;
  for (const PotentialSpec& potential : body.potentials)
    for (const auto& [name, track] : potential.parameters)
      if (changes(track, from, to)) return true;
  return !body.dials.energy.empty() || !body.dials.momentum.empty() || !body.dials.spin.empty();
}

/// Whether it goes on putting energy in or taking it meanwhile.
bool Session::driven_in(double from, double to) const {
  if (!scene_.winds.empty()) return true;
  for (int b = 0; b < int(scene_.bodies.size()); ++b)
    if (driven(b, from, to)) return true;
  for (const ForceSpec& f : scene_.forces)
    if (changes(f.active, from, to)) return true;
  return false;
}

/// Whether energy goes or comes on purpose, in ways that no account has: by a half-life, or by a lock.
bool Session::goes_on_purpose() const {
  for (int b = 0; b < int(scene_.bodies.size()); ++b) {
    const Dials& dials = scene_.bodies[b].dials;
    const auto turned = turned_.half_life.find(b);
    const bool damped = turned != turned_.half_life.end() ? std::isfinite(turned->second)
                                                          : !dials.half_life.empty() || !dials.damping.empty();
    const auto held = turned_.held.find(b);
    if (damped || (held != turned_.held.end() && (held->second.energy || held->second.momentum || held->second.spin)))
      return true;
  }
  return false;
}

/// Then a method that conserves is judged by its target, others still by what they have lost.
bool Session::aimed(const Lane& lane) const {
  return find_method(lane.method)->conservation != "none" && goes_on_purpose();
}

/// After a frame of a lane.
void Session::watch(size_t index, std::vector<std::string>& out) {
  Lane& lane = *lanes_[index];
  Watch& w = lane.watch;
  const Simulation& sim = *lane.simulation;
  const Measures m = sim.measure();
  const double account = account_of(m), step = sim.scene().step, was = std::exchange(w.account, account);
  const bool pulled = std::any_of(hands_.begin(), hands_.end(), [](const auto& h) { return !h.second.pin; });
  const bool driven = pulled || calming_ > 0 || driven_in(sim.time() - 2 * step, sim.time());
  const bool struck = struck_in(sim.time() - 2 * step, sim.time());
  const bool conserves = find_method(lane.method)->conservation != "none", damped = goes_on_purpose();
  const Watch& first = lanes_[0]->watch;
  if (w.rebase || driven || (struck && index == 0)) {
    w.given = account, w.scale = index > 0 && struck ? first.scale : 0;
    if (index == 0) came_in_ = w.rebase || driven || !conserves ? 0 : account - was;
  } else if (struck) {  // a method that loses has lost some of it within the frame: what came in is what the first one
                        // has
    w.given += came_in_, w.scale = std::max(w.scale, first.scale);
  }
  w.rebase = false;
  double still = 0;  // what nobody sees
  for (const BodyShape& shape : shapes_) still += 0.5 * shape.mass * std::pow(still_speed * shape.size, 2);
  w.scale = std::max({w.scale, moving_energy(m), still});
  const double missed = conserves ? m.total - m.target_total : 0;
  const double drift = w.scale > 0 ? (account - w.given) / w.scale : 0;
  w.off = w.scale > 0 ? std::abs(missed) / w.scale : 0;
  w.kept = aimed(lane) ? (w.scale > 0 ? 1 + missed / w.scale : 1) : 1 + drift;
  w.kept = std::max(0.0, w.kept);
  const bool gains = !damped && drift > most_off, loses = conserves && !damped && drift < -most_off;
  if (w.off <= most_off && !gains && !loses) {
    if (++w.good >= good_again) w.warned = false;
    return;
  }
  w.good = 0;
  if (!w.warned && calming_ == 0) tell_broken(index, out);
  w.warned = true;
}

void Session::tell_broken(size_t index, std::vector<std::string>& out) const {
  const Lane& lane = *lanes_[index];
  const Simulation& sim = *lane.simulation;
  const Measures m = sim.measure();
  const bool missed = lane.watch.off > most_off;
  const double should = missed ? m.target_total : m.total - account_of(m) + lane.watch.given;
  const MethodInfo* method = find_method(lane.method);
  std::string text = lane.method + ": H is " + percent(std::abs(m.total - should) / lane.watch.scale) +
                     (m.total < should ? " below" : " above") + " what it should be (" + joules(m.total) + ", not " +
                     joules(should) + ") at " + format_value(std::round(100 * sim.time()) / 100) + " s: ";
  Json offers = Json::array();
  const int usual = scene_.solver.iterations.value_or(method->iterations), cap = turned_.iterations.value_or(usual);
  if (method->conservation == "none") {
    text += "this method does not hold the energy.";
    Json names = Json::array();
    names.items.push_back("cpd");
    Json message = Json::object();
    message.set("type", "methods"), message.set("names", std::move(names));
    offers.items.push_back(offer("Go on by cpd", std::move(message)));
  } else if (m.total > should && should - m.external < rigid(lane, -1)) {
    text += "no motion with this momentum and this rotation has so little energy; it is as low as it goes.";
  } else if (turned_.budget && *turned_.budget > 0) {
    text += "the budget ends its steps too soon; what is missing is owed to later frames.";
    offers.items.push_back(offer("No budget", dial("budget", Json())));
  } else if (cap < usual) {
    text += std::to_string(cap) + " iterations are too few for a step of this motion.";
    offers.items.push_back(offer(std::to_string(usual) + " iterations", dial("iterations", usual)));
  } else if (turned_.step && *turned_.step > scene_.step) {
    text += "the time step is too long for this motion.";
    offers.items.push_back(offer("The scene's time step", dial("step", scene_.step)));
  } else if (m.contact > 0) {
    text += "an impact was harder than a frame could resolve; what is missing comes back where it can.";
  } else {
    text += "the motion is too fast for a frame to resolve.";
    offers.items.push_back(offer("Half the time step", dial("step", sim.scene().step / 2)));
  }
  offer_ways_back(offers);
  Json message = Json::object();
  message.set("type", "notice"), message.set("lane", int(index));
  message.set("text", text), message.set("offers", std::move(offers));
  out.push_back(write_json(message));
}

/// A method that found no step: what may have asked too much of it, and the ways back.
void Session::tell_stopped(size_t index, std::vector<std::string>& out) const {
  const Lane& lane = *lanes_[index];
  Json message = Json::object(), offers = Json::array();
  const int usual = scene_.solver.iterations.value_or(find_method(lane.method)->iterations);
  if (turned_.step && *turned_.step > scene_.step)
    offers.items.push_back(offer("The scene's time step", dial("step", scene_.step)));
  if (turned_.iterations && *turned_.iterations < usual)
    offers.items.push_back(offer(std::to_string(usual) + " iterations", dial("iterations", usual)));
  if (turned_.stiffness != 1) offers.items.push_back(offer("Its own stiffness", dial("stiffness", 1)));
  offer_ways_back(offers);
  message.set("type", "stopped"), message.set("lane", int(index));
  message.set("text", "\"" + lane.method + "\" stopped at " + shortest_number(lane.simulation->time()) +
                          " s: " + lane.report.message);
  message.set("offers", std::move(offers));
  out.push_back(write_json(message));
}

void Session::offer_ways_back(Json& offers) const {
  offers.items.push_back(offer("Calm", Json::object({{"type", "calm", {}}})));
  if (!before_.empty())
    offers.items.push_back(offer("Undo " + before_.back().what, Json::object({{"type", "undo", {}}})));
}

// ---- the way back

/// Before a gesture. A dial that is being turned is one gesture, however many values it passes.
void Session::remember(const std::string& what) {
  if (!before_.empty() && before_.back().what == what && what.starts_with("the dial")) return;
  end_calm();
  Before now = present(what);
  if (before_.size() >= most_remembered) before_.erase(before_.begin());
  before_.push_back(std::move(now));
}

void Session::undo() {
  if (before_.empty()) throw Refusal{"undo: found no gesture before, expected one since the scene was opened"};
  const Before back = std::move(before_.back());
  before_.pop_back();
  go_back(back);
}

}  // namespace verve::live
