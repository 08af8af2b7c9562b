// What a person turns: targets and their locks, and what the bodies are made of and move in.
#include <algorithm>
#include <cmath>
#include <limits>

#include "live/session.h"
#include "verve/registry.h"

namespace verve::live {

namespace {

/// A parameter that makes a potential stiffer in proportion.
bool is_stiffness(const ParameterInfo& info) {
  return info.default_value.size() <= 1 && !info.list &&
         (info.unit == "Pa" || info.unit == "N/m" || info.unit == "N m" || info.unit == "N");
}

}  // namespace

/// A vector, or a length along what there is already.
Vec3 Session::vector_or_length(const Json& message, const Vec3& present, const Vec3& otherwise) const {
  const Json* value = message.find("value");
  if (!value || !value->is(Json::Kind::number)) return vector(message, "value");
  const double length = number(message, "value", 0, 1e12), now = norm(present);
  return now > 0 ? present * (length / now) : otherwise * length;
}

/// What is refused says which dial it was.
void Session::turn_dial(const Json& message) {
  const std::string name = text(message, "name");
  try {
    turn_dial(name, message);
  } catch (const Refusal& refusal) {
    throw Refusal{"dial " + name.substr(0, 100) + ": " + refusal.text};
  }
}

void Session::turn_dial(const std::string& name, const Json& message) {
  const int body = body_of(message);
  const auto each = [&](auto&& act) {
    for (const auto& lane : lanes_) act(*lane->simulation);
  };
  static const std::vector<std::string> known = {"energy", "momentum",   "spin",   "half_life", "gravity", "stiffness",
                                                 "step",   "iterations", "budget", "wind",      "friction"};
  if (name == "energy") {
    const double energy = number(message, "value", -1e12, 1e12);
    each([&](Simulation& sim) { sim.set_energy(body, energy); });
    if (turned_.held[body].energy) {
      turned_.held[body].energy = energy;
      each([&](Simulation& sim) { sim.hold_energy(body, energy); });
    }
  } else if (name == "momentum") {
    const Vec3 to = vector_or_length(message, lanes_[0]->simulation->measure(body).momentum, {1, 0, 0});
    each([&](Simulation& sim) { sim.set_momentum(body, to); });
    if (turned_.held[body].momentum) {
      turned_.held[body].momentum = to;
      each([&](Simulation& sim) { sim.hold_momentum(body, to); });
    }
  } else if (name == "spin") {
    const Vec3 to = vector_or_length(message, lanes_[0]->simulation->measure(body).spin, {0, 1, 0});
    each([&](Simulation& sim) { sim.set_spin(body, to); });
    if (turned_.held[body].spin) {
      turned_.held[body].spin = to;
      each([&](Simulation& sim) { sim.hold_spin(body, to); });
    }
  } else if (name == "half_life") {
    const Json* value = message.find("value");
    const bool off = value && value->is(Json::Kind::null);
    const double seconds = off ? std::numeric_limits<double>::infinity() : number(message, "value", 1e-4, 1e9);
    turned_.half_life[body] = seconds;
    each([&](Simulation& sim) { sim.set_half_life(body, seconds); });
  } else if (name == "gravity") {
    turned_.gravity = vector(message, "value");
    each([&](Simulation& sim) { sim.set_gravity(*turned_.gravity); });
  } else if (name == "stiffness") {
    turned_.stiffness = number(message, "value", 1e-3, 1e3);
    for (const auto& lane : lanes_) apply_stiffness(*lane);
  } else if (name == "step") {
    turned_.step = number(message, "value", 1e-4, 1);
    each([&](Simulation& sim) { sim.set_step(*turned_.step); });
  } else if (name == "iterations") {
    turned_.iterations = int(number(message, "value", 1, 10000));
    each([&](Simulation& sim) { sim.set_iterations(*turned_.iterations); });
  } else if (name == "budget") {
    const Json* value = message.find("value");
    turned_.budget = value && value->is(Json::Kind::null) ? 0 : number(message, "value", 1e-3, 1e6);
    for (const auto& lane : lanes_) apply_budget(*lane);
  } else if (name == "wind") {
    const Vec3 wind = vector(message, "value");
    need_winds();
    turned_.wind = wind;
    each([&](Simulation& sim) {
      for (int w = 0; w < sim.winds(); ++w) sim.set_wind(w, wind);
    });
  } else if (name == "friction") {
    turned_.friction = number(message, "value", 0, 100);
    each([&](Simulation& sim) { sim.set_friction(*turned_.friction); });
  } else {
    throw Refusal{"name: found \"" + name.substr(0, 100) + "\", " + expected_one_of(name.substr(0, 100), known)};
  }
  tell_state();
}

void Session::turn_lock(const Json& message) {
  static const std::vector<std::string> known = {"energy", "momentum", "spin"};
  const std::string name = text(message, "name");
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Refusal{"name: found \"" + name.substr(0, 100) + "\", " + expected_one_of(name.substr(0, 100), known)};
  const Json* on = message.find("on");
  if (!on || !on->is(Json::Kind::boolean)) throw Refusal{"on: expected true or false"};
  const int body = body_of(message);
  const Measures now = lanes_[0]->simulation->measure(body);
  Turned::Held& held = turned_.held[body];
  if (name == "energy") held.energy = on->boolean ? std::optional(now.total) : std::nullopt;
  if (name == "momentum") held.momentum = on->boolean ? std::optional(now.momentum) : std::nullopt;
  if (name == "spin") held.spin = on->boolean ? std::optional(now.spin) : std::nullopt;
  for (const auto& lane : lanes_) {
    lane->simulation->hold_energy(body, held.energy);
    lane->simulation->hold_momentum(body, held.momentum);
    lane->simulation->hold_spin(body, held.spin);
  }
  tell_state();
}

void Session::apply_stiffness(Lane& lane) {
  Simulation& sim = *lane.simulation;
  for (size_t b = 0; b < scene_.bodies.size(); ++b) {
    const std::vector<PotentialSpec>& potentials = scene_.bodies[b].potentials;
    for (size_t k = 0; k < potentials.size(); ++k) {
      const auto info = std::find_if(potential_infos().begin(), potential_infos().end(),
                                     [&](const PotentialInfo& i) { return i.name == potentials[k].type; });
      // lists of values for each element stay as they are
      bool given = false;
      for (const ParameterInfo& parameter : info->parameters) {
        if (!is_stiffness(parameter)) continue;
        const auto track = potentials[k].parameters.find(parameter.name);
        if (track == potentials[k].parameters.end()) continue;
        given = true;
        const double own = track->second.at(sim.time()).value_or(track->second.keys.front().value.value_or(0));
        sim.set_parameter(int(b), int(k), parameter.name, own * turned_.stiffness);
      }
      if (given) continue;
      for (const ParameterInfo& parameter : info->parameters) {
        if (!is_stiffness(parameter) || parameter.optional || parameter.default_value.empty() ||
            potentials[k].arrays.contains(parameter.name))
          continue;
        sim.set_parameter(int(b), int(k), parameter.name, parameter.default_value[0] * turned_.stiffness);
      }
    }
  }
}

/// Methods whose work is not counted go on as they are.
void Session::apply_budget(Lane& lane) {
  if (turned_.budget && keeps_budgets(lane.simulation->scene().solver)) lane.simulation->set_budget(*turned_.budget);
}

void Session::apply_turned(Lane& lane) {
  Simulation& sim = *lane.simulation;
  if (turned_.gravity) sim.set_gravity(*turned_.gravity);
  if (turned_.step) sim.set_step(*turned_.step);
  if (turned_.iterations) sim.set_iterations(*turned_.iterations);
  apply_budget(lane);
  if (turned_.friction) sim.set_friction(*turned_.friction);
  if (turned_.wind)
    for (int w = 0; w < sim.winds(); ++w) sim.set_wind(w, *turned_.wind);
  for (const auto& [body, seconds] : turned_.half_life) sim.set_half_life(body, seconds);
  for (const auto& [body, held] : turned_.held) {
    sim.hold_energy(body, held.energy);
    sim.hold_momentum(body, held.momentum);
    sim.hold_spin(body, held.spin);
  }
  if (turned_.stiffness != 1) apply_stiffness(lane);
}

/// A wind for every body that has faces, where the scene has none: the motion goes on in lanes that have it.
void Session::need_winds() {
  if (!scene_.winds.empty()) return;
  const Simulation& sim = *lanes_[0]->simulation;
  Scene windy = scene_;
  for (int b = 0; b < sim.bodies(); ++b) {
    if (surface(sim.mesh(b)).empty()) continue;
    WindSpec wind;
    wind.name = "wind " + std::to_string(b);
    wind.body = sim.body_name(b);
    wind.velocity = Vec3{};
    windy.winds.push_back(wind);
  }
  if (windy.winds.empty()) throw Refusal{"wind: found no body with faces, expected one that wind can act on"};
  if (sim.measure().torn > 0) throw Refusal{"wind: found a body that has torn, expected wind before that"};
  Diagnostics notes;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const auto& lane : lanes_) {
    lanes.push_back(make_lane(windy, lane->method == scene_.solver.method ? "" : lane->method, notes));
    if (!lanes.back()) throw Refusal{notes.text()};
    Simulation &to = *lanes.back()->simulation, &from = *lane->simulation;
    to.set_step(from.scene().step);
    to.set_state(from.positions(), from.velocities());
    to.set_time(from.time(), from.frame());
    lanes.back()->report = lane->report;
  }
  scene_ = windy;
  lanes_ = std::move(lanes);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    apply_turned(*lanes_[i]);
    for (auto& [id, hand] : hands_) attach(hand, i);
  }
}

}  // namespace verve::live
