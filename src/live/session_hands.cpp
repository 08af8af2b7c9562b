// Hands: what pulls, pushes, spins and pins. Each is set by speed and energy, so that the same gesture is as strong on
// a toy as on a house, and no gesture is an explosion.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "live/session.h"

namespace verve::live {

namespace {

/// A body held by a hand swings about it this often [1/s], held by a pin more often: soft enough to be thrown, stiff
/// enough to be led.
constexpr double hand_frequency = 2.2, pin_frequency = 6;
/// Share of the rigid motion against the hand that a frame of 1/30 s takes away at the hand: without it a body led
/// about keeps all the work that was done on it and circles the pointer for ever.
constexpr double hand_damping = 0.2;
/// Springs are not stretched beyond this many sizes of the body: a pointer flung across the screen is no explosion.
constexpr double farthest_pull = 0.3;
/// Sizes of the body that a hand moves in a second at most; a body that is thrown leaves it no faster.
constexpr double fastest_hand = 1.5;
/// A hand goes on to where the pointer was in the time since it spoke before, at most [s].
constexpr double slowest_pointer = 0.25;
/// Of the body's size: how much of it a hand holds.
constexpr double hand_size = 0.12;
/// A click gives a body this speed [m/s], smaller ones than a metre as many sizes in a second. (A cube of a tonne: 61
/// J.)
constexpr double nudge_speed = 0.35;
/// What a long drag of Push gives at most, in terms of a click.
constexpr double strongest_push = 6;
/// Share of a push that the body takes as if it were rigid; the rest goes into a patch of half its size.
constexpr double rigid_share = 0.85, push_patch = 0.5;
/// What a drag of Spin adds at most [rad/s].
constexpr double fastest_spin = 6;
/// A push on a body that moves already may do more work than on one at rest, by this share of its kinetic energy.
constexpr double share_of_motion = 0.1;

double angular(double frequency) { return 2 * std::numbers::pi * frequency; }

/// Moments of inertia about the centre of mass, a hair above singular.
Mat3 inertia_of(const std::vector<Vec3>& x, const std::vector<double>& masses, int first, int count,
                const Vec3& center) {
  Mat3 out;
  double trace = 0;
  for (int i = first; i < first + count; ++i) {
    const Vec3 r = x[i] - center;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) out(a, b) += masses[i] * ((a == b ? dot(r, r) : 0) - r[a] * r[b]);
    trace += masses[i] * dot(r, r);
  }
  for (int a = 0; a < 3; ++a) out(a, a) += 1e-9 * trace + 1e-300;
  return out;
}

/// Changes velocities by `kick(s)`, linear in s, with the largest s <= 1 that adds no more than `most` [J] to the
/// kinetic energy, which is quadratic in s.
void kick_within(const Simulation& sim, int body, double most, const std::function<void(double)>& kick) {
  const double before = sim.measure(body).kinetic;
  most = std::max(most, share_of_motion * before);
  kick(1);
  const double ahead = sim.measure(body).kinetic - before;
  if (ahead <= most) return;
  kick(-2);
  const double back = sim.measure(body).kinetic - before;
  const double along = (ahead - back) / 2, square = (ahead + back) / 2;
  const double s = square > 0 ? (-along + std::sqrt(along * along + 4 * square * most)) / (2 * square) : 0;
  kick(1 + std::clamp(s, 0.0, 1.0));
}

}  // namespace

/// Vertices with mass near one, by the shape at rest: folds do not stick together.
std::vector<int> Session::patch_around(int body, int vertex, double radius) const {
  const Simulation& sim = *lanes_[0]->simulation;
  const std::vector<Vec3>& rest = sim.mesh(body).vertices;
  const int first = sim.first_vertex(body);
  std::vector<int> out;
  for (size_t i = 0; i < rest.size(); ++i)
    if (masses_[first + i] > 0 && norm(rest[i] - rest[vertex]) <= radius) out.push_back(int(i));
  if (out.empty()) {  // a vertex that no element uses: the nearest that is used
    int best = -1;
    for (size_t i = 0; i < rest.size(); ++i)
      if (masses_[first + i] > 0 && (best < 0 || norm(rest[i] - rest[vertex]) < norm(rest[best] - rest[vertex])))
        best = int(i);
    out.push_back(best);
  }
  return out;
}

/// Anchors the vertices in a lane: where they are, or, in a lane that was restarted, where they were held.
void Session::attach(Hand& hand, size_t lane) {
  Simulation& sim = *lanes_[lane]->simulation;
  AnchorSpec spec;
  spec.body = sim.body_name(hand.body);
  spec.vertices.indices = hand.vertices;
  spec.stiffness = hand.stiffness;
  hand.start[lane] = sim.positions()[sim.first_vertex(hand.body) + hand.vertex];
  hand.from = hand.wanted = hand.place = hand.velocity = {};
  hand.anchors[lane] = sim.add_anchor(spec);
}

/// What it would hold, and how stiffly; not anchored yet.
Session::Hand Session::new_hand(int body, int vertex, bool pin) const {
  Hand hand;
  hand.body = body, hand.vertex = vertex, hand.pin = pin;
  hand.vertices = patch_around(body, vertex, hand_size * shapes_[body].size);
  const double omega = angular(pin ? pin_frequency : hand_frequency);
  hand.stiffness = lanes_[0]->simulation->measure(body).mass * omega * omega / double(hand.vertices.size());
  hand.anchors.resize(lanes_.size()), hand.start.resize(lanes_.size());
  return hand;
}

void Session::grab(const Json& message, bool pin) {
  const int given = pin ? 0 : int(number(message, "id", 0, 1000));
  const auto [body, vertex] = body_and_vertex(message);
  remember(pin ? "the pin" : "the drag");
  const int id = pin ? next_pin_-- : given;
  if (const auto it = hands_.find(id); it != hands_.end()) {
    for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->simulation->remove_anchor(it->second.anchors[i]);
    hands_.erase(it);
  }
  Hand hand = new_hand(body, vertex, pin);
  for (size_t i = 0; i < lanes_.size(); ++i) attach(hand, i);
  hands_[id] = hand;
}

void Session::drag(const Json& message) {
  const auto it = hands_.find(int(number(message, "id", 0, 1000)));
  if (it == hands_.end()) throw Refusal{"drag: this hand holds nothing, expected a grab before"};
  Hand& hand = it->second;
  hand.wanted = vector(message, "to") - hand.start[0];
  if (hand.silent == 0) return;  // several within a frame: the last one counts
  hand.from = hand.place;
  hand.duration = std::min(hand.silent, slowest_pointer);
  hand.travelled = hand.silent = 0;
}

/// What was held flies on: at least as fast as the hand went.
void Session::release(const Json& message) {
  const auto it = hands_.find(int(number(message, "id", 0, 1000)));
  if (it == hands_.end()) return;  // released already, by a reset
  const Hand hand = it->second;
  const double speed = norm(hand.velocity);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Simulation& sim = *lanes_[i]->simulation;
    sim.remove_anchor(hand.anchors[i]);
    if (speed == 0 || hand.pin) continue;
    const Vec3 along = hand.velocity / speed;
    const Measures m = sim.measure(hand.body);
    const double missing = speed - dot(m.momentum, along) / m.mass;
    if (missing > 0) sim.set_momentum(hand.body, m.momentum + along * (missing * m.mass));
  }
  hands_.erase(it);
  // a click: nothing was dragged, the push that follows is the gesture
  if (norm(hand.wanted) == 0 && !before_.empty() && before_.back().what == "the drag") before_.pop_back();
  touched();
}

void Session::drop_hands() {
  for (auto& [id, hand] : hands_)
    for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->simulation->remove_anchor(hand.anchors[i]);
  hands_.clear();
}

void Session::toggle_pin(const Json& message) {
  const auto [body, vertex] = body_and_vertex(message);
  for (auto it = hands_.begin(); it != hands_.end(); ++it) {
    const Hand& hand = it->second;
    if (!hand.pin || hand.body != body ||
        std::find(hand.vertices.begin(), hand.vertices.end(), vertex) == hand.vertices.end())
      continue;
    remember("the release of a pin");
    for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->simulation->remove_anchor(hand.anchors[i]);
    hands_.erase(it);
    return tell_state();
  }
  // the scene's own anchors are released too
  const Simulation& sim = *lanes_[0]->simulation;
  const std::vector<Vec3>& rest = sim.mesh(body).vertices;
  for (size_t a = 0; a < scene_.anchors.size(); ++a) {
    if (!sim.anchor_active(int(a)) || scene_.anchors[a].body != sim.body_name(body)) continue;
    const Selection& s = scene_.anchors[a].vertices;
    const Vec3& x = rest[vertex];
    const double near = hand_size * shapes_[body].size;
    bool in = s.all || (s.sphere && norm(x - s.sphere->first) <= s.sphere->second + near) ||
              (s.nearest && norm(x - *s.nearest) <= near);
    for (const int v : s.indices) in = in || norm(rest[v] - x) <= near;
    if (s.box) {
      bool inside = true;
      for (int k = 0; k < 3; ++k) inside = inside && x[k] >= (*s.box)[0][k] - near && x[k] <= (*s.box)[1][k] + near;
      in = in || inside;
    }
    if (!in) continue;
    remember("the release of an anchor");
    for (const auto& lane : lanes_) lane->simulation->set_anchor(int(a), false);
    return tell_state();
  }
  grab(message, true);
  tell_state();
}

/// Along a direction, as strong as a click, or with the speed that is asked for, up to what a push may be.
void Session::push(const Json& message) {
  const auto [body, vertex] = body_and_vertex(message);
  const Vec3 way = vector(message, "direction");
  if (!(norm(way) > 0)) throw Refusal{"direction: found a vector without length, expected one with"};
  const double size = shapes_[body].size, nudge = nudge_speed * std::min(1.0, size);
  const double speed =
      std::min(message.find("speed") ? number(message, "speed", 0, 1e6) : nudge, strongest_push * nudge);
  remember("the push");
  for (const auto& lane : lanes_) {
    Simulation& sim = *lane->simulation;
    const double mass = sim.measure(body).mass;
    const Vec3 impulse = way * (mass * speed / norm(way)), at = sim.positions()[sim.first_vertex(body) + vertex];
    const int index = body;  // what a lambda may capture
    kick_within(sim, body, 0.5 * mass * speed * speed, [&](double s) {
      sim.add_impulse(index, impulse * (rigid_share * s), at, 0);
      sim.add_impulse(index, impulse * ((1 - rigid_share) * s), at, push_patch * size);
    });
  }
  kicked();
}

/// A turn of the whole body about its centre, on top of its own, with an angular velocity [rad/s].
void Session::spin(const Json& message) {
  const int body = body_of(message);
  Vec3 omega = vector(message, "omega");
  if (norm(omega) > fastest_spin) omega = omega * (fastest_spin / norm(omega));
  remember("the spin");
  for (const auto& lane : lanes_) {
    Simulation& sim = *lane->simulation;
    const Mat3 inertia = inertia_of(sim.positions(), masses_, sim.first_vertex(body),
                                    int(sim.mesh(body).vertices.size()), sim.measure(body).center);
    const Vec3 change = inertia * omega;
    kick_within(sim, body, 0.5 * dot(omega, change),
                [&](double s) { sim.set_spin(body, sim.measure(body).spin + change * s); });
  }
  kicked();
}

/// Once before a frame: hands go on towards where the pointer was.
void Session::move_hands() {
  const double step = lanes_[0]->simulation->scene().step;
  for (auto& [id, hand] : hands_) {
    if (hand.pin) continue;
    hand.travelled += step, hand.silent += step;
    const double share = hand.duration > 0 ? std::min(1.0, hand.travelled / hand.duration) : 1;
    Vec3 way = hand.from + (hand.wanted - hand.from) * share - hand.place;
    const double most = fastest_hand * shapes_[hand.body].size * step;
    if (norm(way) > most) way = way * (most / norm(way));
    hand.place += way;
    hand.velocity = (hand.velocity + way / step) * 0.5;
  }
}

/// Before a frame of a lane: the springs of hands, and a brake on what swings about them.
void Session::pull(size_t index) {
  Simulation& sim = *lanes_[index]->simulation;
  if (std::all_of(hands_.begin(), hands_.end(), [](const auto& h) { return h.second.pin; })) return;
  const std::vector<Vec3> x = sim.positions();
  for (auto& [id, hand] : hands_) {
    if (hand.pin) continue;
    const int first = sim.first_vertex(hand.body), count = int(sim.mesh(hand.body).vertices.size());
    const Vec3 at = x[first + hand.vertex];
    Vec3 stretch = hand.start[index] + hand.place - at;
    const double most = farthest_pull * shapes_[hand.body].size, length = norm(stretch);
    if (length > most) stretch = stretch * (most / length);
    sim.move_anchor(hand.anchors[index], at + stretch - hand.start[index]);
    // a dashpot on the rigid motion: v and w of a rigid body with this P and L, at the hand
    const Measures m = sim.measure(hand.body);
    const Mat3 turn = inverse(inertia_of(x, masses_, first, count, m.center));
    const Vec3 arm = at - m.center, velocity = m.momentum / m.mass + cross(turn * m.spin, arm);
    const Vec3 against = velocity - hand.velocity;
    const double speed = norm(against);
    if (!(speed > 0)) continue;
    const Vec3 along = against / speed, torque = cross(arm, along);
    const double mobility = 1 / m.mass + dot(torque, turn * torque);
    const double taken = 1 - std::pow(1 - hand_damping, 30 * sim.scene().step);
    sim.add_impulse(hand.body, along * (-taken * speed / mobility), at, 0);
  }
}

}  // namespace verve::live
