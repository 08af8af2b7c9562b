// Those who talk to a simulation: the live page by messages, other languages by calls of the C interface.
#include <cmath>
#include <vector>

#include "live/session.h"
#include "targets.h"
#include "verve/c.h"

namespace verve::fuzz {

namespace {

constexpr const char* small = R"({"version": 1, "name": "small", "gravity": [0, -9.81, 0], "contact": {},
  "colliders": [{"name": "floor", "shape": "plane", "position": [0, -0.6, 0]}],
  "bodies": [{"name": "rope", "mesh": {"generator": "chain", "vertices": 4}, "material": "rope"},
             {"name": "block", "mesh": {"generator": "box", "cells": [1, 1, 1]}, "material": "rubber"}]})";

constexpr int most_frames = 4;

}  // namespace

/// A message in each line; an empty line is a frame.
void live(std::string_view bytes) {
  live::Session session({.threads = 1});
  {
    Json load = Json::object();
    load.set("type", "load"), load.set("text", small), load.set("name", "small.json");
    session.handle(write_json(load));
  }
  Bytes in(bytes);
  for (int frames = 0; !in.empty();) {
    const std::string_view message = in.until('\n');
    if (message.empty()) {
      if (++frames > most_frames) break;
      session.advance();
      session.frame();
      continue;
    }
    // scenes that take seconds to load are no fault
    if (message.find("\"scene\"") != message.npos || message.find("scene=") != message.npos) continue;
    for (const std::string& answer : session.handle(message)) {
      std::vector<JsonProblem> problems;
      parse_json(answer, 0, problems);
      hold(problems.empty(), "an answer is JSON: " + answer);
    }
  }
}

/// A byte chooses a call, those after it its arguments: numbers of bodies that are there and that are not, vectors that
/// are finite and that are not.
void c_calls(std::string_view bytes) {
  verve_options options = verve_default_options();
  options.threads = 1;
  verve_simulation* simulation = nullptr;
  hold(verve_create(small, &options, &simulation) == VERVE_OK, verve_last_error());
  verve_snapshot* saved = nullptr;
  std::vector<int> anchors;
  Bytes in(bytes);
  const auto number = [&] {
    static const double special[] = {0, -1, 1e-300, 1e300, NAN, INFINITY};
    return in.below(8) == 0 ? in.pick(special) : in.between(-2, 2);
  };
  const auto body = [&] { return in.below(5) - 1; };
  int frames = 0;
  for (int calls = 0; calls < 64 && !in.empty(); ++calls) {
    const int what = in.below(20);
    const double v[3] = {number(), number(), number()};
    int32_t out = 0;
    switch (what) {
      case 0:
        if (++frames <= most_frames) verve_step(simulation, nullptr);
        break;
      case 1: verve_add_impulse(simulation, body(), v, v, number()); break;
      case 2: verve_set_velocity(simulation, body(), v); break;
      case 3: verve_set_angular_velocity(simulation, body(), v); break;
      case 4: verve_add_force(simulation, body(), v, nullptr, number()); break;
      case 5: verve_add_torque(simulation, body(), v); break;
      case 6: verve_set_gravity(simulation, v); break;
      case 7: verve_set_friction(simulation, v[0]); break;
      case 8: verve_set_energy(simulation, body(), v[0]); break;
      case 9: verve_set_momentum(simulation, body(), v); break;
      case 10: verve_set_half_life(simulation, body(), v[0]); break;
      case 11: verve_remove_body(simulation, body()); break;
      case 12: verve_remove_collider(simulation, body()); break;
      case 13:
        verve_add_collider(simulation, R"({"name": "ball", "shape": "sphere", "radius": 0.2})", &out);
        break;
      case 14: {
        const int32_t vertex = in.below(10) - 1;
        if (verve_pin(simulation, body(), &vertex, 1, std::abs(v[0]), in.chance(), &out) == VERVE_OK) anchors.push_back(out);
        break;
      }
      case 15: verve_move_anchor(simulation, anchors.empty() ? body() : anchors.back(), v); break;
      case 16: verve_unpin(simulation, anchors.empty() ? body() : anchors.back()); break;
      case 17:
        verve_destroy_snapshot(saved);
        saved = nullptr;
        hold(verve_save(simulation, &saved) == VERVE_OK, verve_last_error());
        break;
      case 18:
        if (saved) verve_restore(simulation, saved);
        break;
      default: {
        verve_hit hit = verve_default_hit();
        verve_closest_point(simulation, v, std::abs(number()), body(), &hit);
        verve_hit ray = verve_default_hit();
        verve_cast_ray(simulation, v, v, number(), &ray);
      }
    }
  }
  const int count = verve_vertex_count(simulation);
  std::vector<double> x(size_t(count) * 3);
  if (count > 0) hold(verve_positions(simulation, x.data(), x.size(), 0) == VERVE_OK, verve_last_error());
  for (const double each : x) hold(std::isfinite(each), "positions are finite");
  verve_destroy_snapshot(saved);
  verve_destroy(simulation);
}

}  // namespace verve::fuzz
