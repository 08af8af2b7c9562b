// Calm: brings every body to rest. What carries no load, and solids that are crumpled, go to their shape at rest; what
// hangs, lies or has weight goes to its equilibrium, by damping.
#include <algorithm>
#include <cmath>

#include "live/session.h"
#include "potentials/polar.h"
#include "verve/registry.h"

namespace verve::live {

namespace {

/// How long Calm takes, and for how long solids that are crumpled and have weight are brought to their shape [s].
constexpr double calm_time = 2.5, shaping_time = 1;
/// Rates at which it takes velocities of what is free, and brings vertices to the shape at rest [1/s].
constexpr double calm_rate = 5, shaping_rate = 8;
/// A solid whose vertices are this far from its shape at rest, root mean square in sizes, does not come back by itself.
constexpr double crumpled = 0.08;

/// Half-life of the energy of what carries a load, so long after Calm began. It stands for a damping of 3/t: the flow
/// of Nesterov's accelerated descent (Su, Boyd and Candes 2016), x'' + 3/t x' + grad W = 0, which brings modes of every
/// frequency down as 1/t^2. One rate for all would leave fast modes swinging or slow ones creeping.
double relaxing_half_life(double time) { return std::log(2.0) * time / 3; }

/// The rest shape, moved and turned to where the body is.
std::vector<Vec3> rigid_fit(const std::vector<Vec3>& rest, const Vec3* x, const double* masses) {
  Vec3 from, to;
  double mass = 0;
  for (size_t i = 0; i < rest.size(); ++i) from += rest[i] * masses[i], to += x[i] * masses[i], mass += masses[i];
  from = from / mass, to = to / mass;
  Mat3 moment;
  double square = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    moment = moment + outer(x[i] - to, (rest[i] - from) * masses[i]);
    square += masses[i] * norm(x[i] - to) * norm(rest[i] - from);
  }
  const Mat3 turn = square > 0 ? nearest_rotation(moment * (1 / square)) : Mat3::identity();
  std::vector<Vec3> out;
  for (const Vec3& r : rest) out.push_back(to + turn * (r - from));
  return out;
}

/// Mean square distance from a shape, by mass.
double distance_squared(const std::vector<Vec3>& goal, const Vec3* x, const double* masses) {
  double sum = 0, mass = 0;
  for (size_t i = 0; i < goal.size(); ++i) sum += masses[i] * dot(goal[i] - x[i], goal[i] - x[i]), mass += masses[i];
  return mass > 0 ? sum / mass : 0;
}

}  // namespace

bool Session::weightless() const {
  return norm(turned_.gravity.value_or(scene_.gravity)) == 0 && scene_.winds.empty() && scene_.forces.empty();
}

/// Whether the scene holds it.
bool Session::anchored(int body, int lane) const {
  const Simulation& sim = *lanes_[lane]->simulation;
  for (size_t a = 0; a < scene_.anchors.size(); ++a)
    for (const std::string& name : {scene_.anchors[a].body, scene_.anchors[a].to_body})
      if (sim.anchor_active(int(a)) && name == sim.body_name(body)) return true;
  return false;
}

bool Session::free(int body, int lane) const {
  return !anchored(body, lane) &&
         std::none_of(hands_.begin(), hands_.end(), [&](const auto& h) { return h.second.body == body; });
}

/// From now on every frame takes velocities and brings bodies nearer to where they rest, until they are still.
void Session::calm() {
  remember("Calm");
  for (auto& [id, hand] : hands_)
    if (!hand.pin)
      for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->simulation->remove_anchor(hand.anchors[i]);
  std::erase_if(hands_, [](const auto& h) { return !h.second.pin; });
  turned_.held.clear();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    Simulation& sim = *lane.simulation;
    lane.failed = false;
    sim.set_step(scene_.step);  // that of the dial may be too long for what is crumpled, or take a thousand frames
    lane.shaped.assign(sim.bodies(), false);
    const std::vector<Vec3> x = sim.positions();
    for (int b = 0; b < sim.bodies(); ++b) {
      sim.hold_energy(b, {});
      sim.hold_momentum(b, {});
      sim.hold_spin(b, {});
      if (anchored(b, int(i))) continue;  // it has its shape from the scene's anchors
      const double far = crumpled * shapes_[b].size;
      const std::vector<Vec3> goal = shape_near(b, x);
      if (shapes_[b].dimension == 3 &&
          distance_squared(goal, &x[sim.first_vertex(b)], &masses_[sim.first_vertex(b)]) > far * far)
        lift_pins(b, i);
    }
  }
  calming_ = std::max(1, int(std::ceil(calm_time / scene_.step)));
  paused_ = false;
  touched();
  tell_state();
}

/// A body that is brought to its shape is not held meanwhile: pins that were put on it out of shape would pull against
/// that, and keep it out of shape for ever.
void Session::lift_pins(int body, size_t lane) {
  lanes_[lane]->shaped[body] = true;
  for (const auto& [id, hand] : hands_)
    if (hand.body == body) lanes_[lane]->simulation->remove_anchor(hand.anchors[lane]);
}

/// Pins hold their spots again, where these are now.
void Session::put_pins(int body, size_t lane) {
  lanes_[lane]->shaped[body] = false;
  for (auto& [id, hand] : hands_)
    if (hand.body == body) attach(hand, lane);
}

/// The shape at rest, turned as the body is, where its pins are, or else where its centre of mass is.
std::vector<Vec3> Session::shape_near(int body, const std::vector<Vec3>& x) const {
  const Simulation& sim = *lanes_[0]->simulation;
  const int first = sim.first_vertex(body);
  std::vector<Vec3> goal = rigid_fit(sim.mesh(body).vertices, &x[first], &masses_[first]);
  Vec3 away;
  int pinned = 0;
  for (const auto& [id, hand] : hands_)
    if (hand.body == body)
      for (const int i : hand.vertices) away += x[first + i] - goal[i], ++pinned;
  if (pinned > 0)
    for (Vec3& g : goal) g += away / double(pinned);
  return goal;
}

void Session::end_calm() {
  if (calming_ == 0) return;
  calming_ = 0;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Simulation& sim = *lanes_[i]->simulation;
    sim.set_step(turned_.step.value_or(scene_.step));
    for (int b = 0; b < sim.bodies(); ++b) {
      sim.set_half_life(b, half_life_of(b, sim.time()));
      if (lanes_[i]->shaped[b]) put_pins(b, i);
    }
  }
  touched();
}

/// After a frame. True once it was the last one.
bool Session::calm_frame() {
  const double step = scene_.step, since = std::max(step, calm_time - (calming_ - 1) * step);
  const bool last = calming_ == 1;
  for (size_t i = 0; i < lanes_.size(); ++i) calm_lane(i, since, last);
  if (last) end_calm();
  return last || --calming_ == 0;
}

/// A frame of a lane, so long after Calm began.
void Session::calm_lane(size_t index, double since, bool last) {
  Lane& lane = *lanes_[index];
  Simulation& sim = *lane.simulation;
  lane.failed = false;
  const bool conserves = find_method(lane.method)->conservation != "none";
  const double step = sim.scene().step, slower = last ? 0 : std::exp(-calm_rate * step);
  const double nearer = last ? 1 : 1 - std::exp(-shaping_rate * step);
  std::vector<Vec3> x = sim.positions(), v = sim.velocities();
  bool changed = last || !conserves;
  for (int b = 0; b < sim.bodies(); ++b) {
    const int first = sim.first_vertex(b), count = int(sim.mesh(b).vertices.size());
    // (carries nothing, or nothing any more: the scene's anchors may have let go meanwhile)
    if (!lane.shaped[b] && weightless() && !anchored(b, int(index))) lift_pins(b, index);
    if (lane.shaped[b] && !weightless() && since >= shaping_time) put_pins(b, index);
    if (lane.shaped[b]) {
      const std::vector<Vec3> goal = shape_near(b, x);
      for (int i = 0; i < count; ++i) x[first + i] += (goal[i] - x[first + i]) * nearer, v[first + i] *= slower;
      changed = true;
      continue;
    }
    const double left = last ? 0 : std::exp(-3 * step / since);  // of velocities, for methods without half-lives
    for (int i = first; i < first + count; ++i) v[i] *= left;
    if (!conserves) continue;
    sim.set_half_life(b, relaxing_half_life(since));
    if (!free(b, int(index))) continue;
    sim.set_momentum(b, sim.measure(b).momentum * slower);
    sim.set_spin(b, sim.measure(b).spin * slower);
  }
  if (changed) sim.set_state(x, v);
}

}  // namespace verve::live
