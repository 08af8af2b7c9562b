// What a person turns: targets and their locks, and what the bodies are made of and move in.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "live/session.h"
#include "verve/registry.h"

namespace verve::live {

namespace {

/// Iterations that a step of a method which holds the energy may be cut to: with fewer it ends before it has it.
/// (Over 60 frames of the built-in scenes H misses by more than 5 % with up to 7 in six of them, with 10 in two, by 6
/// and 9 %.)
constexpr int least_iterations = 10;

/// A parameter that makes a potential stiffer in proportion.
bool is_stiffness(const ParameterInfo& info) {
  return info.default_value.size() <= 1 && !info.list &&
         (info.unit == "Pa" || info.unit == "N/m" || info.unit == "N m" || info.unit == "N");
}

}  // namespace

/// What a dial can be turned to: as far as a body can be brought back from.
std::array<double, 2> Session::range(const std::string& dial, int body) const {
  const auto& [size, mass, dimension] = shapes_[body];
  const Lane& lane = *lanes_[0];
  // six sizes in a second, and as much energy again above what there is
  const double fastest = 6 * size, total = lane.simulation->measure(body).total;
  if (dial == "energy") {
    const double most = 0.5 * mass * fastest * fastest;
    return {std::min(0.0, total) - most, std::max(0.0, total) + most};
  }
  if (dial == "momentum") return {0, mass * fastest};
  if (dial == "spin") return {0, 0.6 * mass * size * size};  // of a cube: eleven radians in a second
  if (dial == "half_life") return {0.02, 1e9};
  if (dial == "gravity") return {-30, 30};
  if (dial == "wind") return {-40, 40};
  if (dial == "friction") return {0, 2};
  if (dial == "stiffness") return {0.1, 10};
  if (dial == "step") return {std::min(0.002, scene_.step), std::max(0.1, scene_.step)};
  if (dial == "iterations") {
    const MethodInfo& method = *find_method(lane.method);
    const int own = scene_.solver.iterations.value_or(method.iterations);
    const int least = method.conservation == "none" ? 1 : std::min(own, least_iterations);
    return {double(least), double(std::max(200, own))};
  }
  return {0.1, 1e6};  // budget
}

double Session::half_life_of(int body, double time) const {
  if (const auto turned = turned_.half_life.find(body); turned != turned_.half_life.end()) return turned->second;
  const Dials& dials = scene_.bodies[body].dials;
  if (const auto damping = dials.damping.at(time); damping && *damping > 0) return std::log(2.0) / *damping;
  return dials.half_life.at(time).value_or(HUGE_VAL);
}

/// A vector, or a length along what there is already.
Vec3 Session::vector_or_length(const Json& message, double most, const Vec3& present, const Vec3& otherwise) const {
  const Json* value = message.find("value");
  if (!value || !value->is(Json::Kind::number)) {
    const Vec3 out = vector(message, "value");
    if (norm(out) > most)
      throw Refusal{"value: found a vector of length " + format_value(norm(out)) + ", expected at most " +
                    format_value(most)};
    return out;
  }
  const double length = number(message, "value", 0, most), now = norm(present);
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
  static const std::vector<std::string> known = {"energy", "momentum",   "spin",   "half_life", "gravity", "stiffness",
                                                 "step",   "iterations", "budget", "wind",      "friction"};
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Refusal{"name: found \"" + name.substr(0, 100) + "\", " + expected_one_of(name.substr(0, 100), known)};
  const int body = body_of(message);
  const auto [low, high] = range(name, body);
  const Json* value = message.find("value");
  const bool off = value && value->is(Json::Kind::null);
  const auto each = [&](auto&& act) {
    for (const auto& lane : lanes_) act(*lane->simulation);
  };
  const auto remember_dial = [&] { remember("the dial " + name); };
  if (name == "energy") {
    const double energy = number(message, "value", low, high);
    remember_dial();
    each([&](Simulation& sim) { sim.set_energy(body, energy); });
    if (turned_.held[body].energy) {
      turned_.held[body].energy = energy;
      each([&](Simulation& sim) { sim.hold_energy(body, energy); });
    }
  } else if (name == "momentum") {
    const Vec3 to = vector_or_length(message, high, lanes_[0]->simulation->measure(body).momentum, {1, 0, 0});
    remember_dial();
    each([&](Simulation& sim) { sim.set_momentum(body, to); });
    if (turned_.held[body].momentum) {
      turned_.held[body].momentum = to;
      each([&](Simulation& sim) { sim.hold_momentum(body, to); });
    }
  } else if (name == "spin") {
    const Vec3 to = vector_or_length(message, high, lanes_[0]->simulation->measure(body).spin, {0, 1, 0});
    remember_dial();
    each([&](Simulation& sim) { sim.set_spin(body, to); });
    if (turned_.held[body].spin) {
      turned_.held[body].spin = to;
      each([&](Simulation& sim) { sim.hold_spin(body, to); });
    }
  } else if (name == "half_life") {
    const double seconds = off ? std::numeric_limits<double>::infinity() : number(message, "value", low, high);
    remember_dial();
    turned_.half_life[body] = seconds;
    each([&](Simulation& sim) { sim.set_half_life(body, seconds); });
  } else if (name == "gravity") {
    const Vec3 gravity = vector(message, "value");
    if (norm(gravity) > high)
      throw Refusal{"value: found " + format_value(norm(gravity)) + " m/s^2, expected at most " + format_value(high)};
    remember_dial();
    turned_.gravity = gravity;
    each([&](Simulation& sim) { sim.set_gravity(*turned_.gravity); });
  } else if (name == "stiffness") {
    const double factor = number(message, "value", low, high);
    remember_dial();
    turned_.stiffness = factor;
    for (const auto& lane : lanes_) apply_stiffness(*lane);
  } else if (name == "step") {
    const double step = number(message, "value", low, high);
    remember_dial();
    turned_.step = step;
    each([&](Simulation& sim) { sim.set_step(*turned_.step); });
  } else if (name == "iterations") {
    const int iterations = int(number(message, "value", low, high));
    remember_dial();
    turned_.iterations = iterations;
    each([&](Simulation& sim) { sim.set_iterations(*turned_.iterations); });
  } else if (name == "budget") {
    const double budget = off ? 0 : number(message, "value", low, high);
    remember_dial();
    turned_.budget = budget;
    for (const auto& lane : lanes_) apply_budget(*lane);
  } else if (name == "wind") {
    const Vec3 wind = vector(message, "value");
    if (norm(wind) > high)
      throw Refusal{"value: found " + format_value(norm(wind)) + " m/s, expected at most " + format_value(high)};
    need_winds();
    remember_dial();
    turned_.wind = wind;
    each([&](Simulation& sim) {
      for (int w = 0; w < sim.winds(); ++w) sim.set_wind(w, wind);
    });
  } else if (name == "friction") {
    const double friction = number(message, "value", low, high);
    remember_dial();
    turned_.friction = friction;
    each([&](Simulation& sim) { sim.set_friction(*turned_.friction); });
  }
  // one that stopped is where it was before that step, and tries again
  for (const auto& lane : lanes_) lane->failed = false;
  touched();
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
  remember("the lock");
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
  remake(windy);
}

}  // namespace verve::live
