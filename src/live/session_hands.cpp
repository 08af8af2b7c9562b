// Hands: what pulls, pushes, spins and pins.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "live/session.h"

namespace verve::live {

namespace {

/// A body held by a hand swings about it this often [1/s], held by a pin more often: soft enough to be thrown, stiff
/// enough to be led.
constexpr double hand_frequency = 2.2, pin_frequency = 6;
/// Share of the rigid motion against the hand that a frame takes away at the hand: without it a body led about keeps
/// all the work that was done on it and circles the pointer for ever.
constexpr double grip_damping = 0.2;
/// Springs are not stretched beyond this many sizes of the body: a pointer flung across the screen is no explosion.
constexpr double farthest_pull = 0.75;
/// Of the body's size: how much of it a hand holds.
constexpr double hand_size = 0.09;

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
  hand.wanted = hand.reached = {};
  hand.anchors[lane] = sim.add_anchor(spec);
}

void Session::grab(const Json& message, bool pin) {
  const int id = pin ? next_pin_-- : int(number(message, "id", 0, 1000));
  const auto [body, vertex] = body_and_vertex(message);
  if (const auto it = hands_.find(id); it != hands_.end()) {
    for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->simulation->remove_anchor(it->second.anchors[i]);
    hands_.erase(it);
  }
  Hand hand;
  hand.body = body, hand.vertex = vertex, hand.pin = pin;
  hand.vertices = patch_around(body, vertex, hand_size * shapes_[body].size);
  const double omega = angular(pin ? pin_frequency : hand_frequency);
  hand.stiffness = lanes_[0]->simulation->measure(body).mass * omega * omega / double(hand.vertices.size());
  hand.anchors.resize(lanes_.size()), hand.start.resize(lanes_.size());
  for (size_t i = 0; i < lanes_.size(); ++i) attach(hand, i);
  hands_[id] = hand;
}

void Session::drag(const Json& message) {
  const auto it = hands_.find(int(number(message, "id", 0, 1000)));
  if (it == hands_.end()) throw Refusal{"drag: this hand holds nothing, expected a grab before"};
  it->second.wanted = vector(message, "to") - it->second.start[0];
}

void Session::release(const Json& message) {
  const auto it = hands_.find(int(number(message, "id", 0, 1000)));
  if (it == hands_.end()) return;  // released already, by a reset
  for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->simulation->remove_anchor(it->second.anchors[i]);
  hands_.erase(it);
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
    for (const auto& lane : lanes_) lane->simulation->set_anchor(int(a), false);
    return tell_state();
  }
  grab(message, true);
  tell_state();
}

void Session::push(const Json& message) {
  const auto [body, vertex] = body_and_vertex(message);
  const Vec3 impulse = vector(message, "impulse");
  const double radius = message.find("radius") ? number(message, "radius", 0, 1e6) : 0.25 * shapes_[body].size;
  for (const auto& lane : lanes_) {
    Simulation& sim = *lane->simulation;
    sim.add_impulse(body, impulse, sim.positions()[sim.first_vertex(body) + vertex], radius);
  }
  changed_ = true;
}

/// A turn of the whole body about its centre, on top of its own, with an angular velocity [rad/s].
void Session::spin(const Json& message) {
  const int body = body_of(message);
  const Vec3 omega = vector(message, "omega");
  for (const auto& lane : lanes_) {
    Simulation& sim = *lane->simulation;
    const Measures m = sim.measure(body);
    const Mat3 inertia =
        inertia_of(sim.positions(), masses_, sim.first_vertex(body), int(sim.mesh(body).vertices.size()), m.center);
    sim.set_spin(body, m.spin + inertia * omega);
  }
  changed_ = true;
}

/// Before a frame: hands move on towards where they should be, and brake what swings about them.
void Session::pull(size_t index) {
  Simulation& sim = *lanes_[index]->simulation;
  if (std::all_of(hands_.begin(), hands_.end(), [](const auto& h) { return h.second.pin; })) return;
  const std::vector<Vec3> x = sim.positions();
  for (auto& [id, hand] : hands_) {
    if (hand.pin) continue;
    const int first = sim.first_vertex(hand.body), count = int(sim.mesh(hand.body).vertices.size());
    const Vec3 at = x[first + hand.vertex];
    Vec3 stretch = hand.start[index] + hand.wanted - at;
    const double most = farthest_pull * shapes_[hand.body].size, length = norm(stretch);
    if (length > most) stretch = stretch * (most / length);
    const Vec3 displacement = at + stretch - hand.start[index];
    sim.move_anchor(hand.anchors[index], displacement);
    // a dashpot on the rigid motion: v and w of a rigid body with this P and L, at the hand
    const Measures m = sim.measure(hand.body);
    const Mat3 turn = inverse(inertia_of(x, masses_, first, count, m.center));
    const Vec3 arm = at - m.center, velocity = m.momentum / m.mass + cross(turn * m.spin, arm);
    const double step = sim.scene().step;
    Vec3 lead = index == 0 ? (displacement - hand.reached) / step : Vec3{};
    const double fastest = 4 * shapes_[hand.body].size;  // [m/s]
    if (norm(lead) > fastest) lead = lead * (fastest / norm(lead));
    const Vec3 against = velocity - lead;
    const double speed = norm(against);
    if (speed > 0) {
      const Vec3 along = against / speed, torque = cross(arm, along);
      const double mobility = 1 / m.mass + dot(torque, turn * torque);
      sim.add_impulse(hand.body, along * (-grip_damping * speed / mobility), at, 0);
    }
    if (index + 1 == lanes_.size()) hand.reached = displacement;
  }
}

}  // namespace verve::live
