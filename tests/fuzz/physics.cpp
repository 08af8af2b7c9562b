// Scenes from a grammar, and what has to hold of each: bodies, materials, colliders, dials, pushes and anchors are chosen
// by the bytes, so that every scene can be read and built. VERVE_FUZZ_SCENE=FILE writes the scene down.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "targets.h"
#include "verve/material.h"
#include "verve/record.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::fuzz {

namespace {

constexpr int frames = 24;
/// Of E, the largest kinetic, elastic and contact energy: what the account may gain, and of a body's size: what may be
/// below a floor (docs/contact.md).
constexpr double most_gain = 1e-3, most_below = 0.05;
constexpr double most_momentum = 1e-9;  // round-off of sums over vertices, in units of what they consist of
constexpr double most_work = 2000;      // [ms] of a frame, by its count: a hang

Vec3 vector(Bytes& in, double size) { return {in.between(-size, size), in.between(-size, size), in.between(-size, size)}; }

BodySpec body_of(Bytes& in, int number) {
  BodySpec body;
  body.name = "body " + std::to_string(number);
  const double size = in.between(0.2, 0.6);
  switch (in.below(4)) {
    case 0: {
      static const char* const sheets[] = {"cotton", "silk", "denim", "paper"};
      body.mesh.generator = "cloth";
      const double cells = 3 + in.below(5);
      body.mesh.parameters = {{"width", {size}}, {"length", {size}}, {"columns", {cells}}, {"rows", {cells}}};
      set_material(body, in.pick(sheets));
      break;
    }
    case 1:
      body.mesh.generator = "chain";
      body.mesh.parameters = {{"length", {2 * size}}, {"vertices", {double(3 + in.below(8))}}};
      set_material(body, "rope");
      break;
    default: {
      static const char* const solids[] = {"jelly", "rubber", "gummy", "foam", "muscle", "fat", "sponge"};
      body.mesh.generator = in.chance() ? "box" : "ball";
      if (body.mesh.generator == "box")
        body.mesh.parameters = {{"size", {size, size * in.between(0.3, 1), size}},
                                {"cells", {double(1 + in.below(3)), double(1 + in.below(3)), double(1 + in.below(3))}}};
      else
        body.mesh.parameters = {{"size", {size}}, {"frequency", {double(1 + in.below(2))}}};
      set_material(body, in.pick(solids));
    }
  }
  body.place.rotate = in.chance() ? vector(in, 90) : Vec3{};
  // in a grid, so that none begins within another
  body.place.translate = {1.3 * (number % 2), 0.9 + 1.3 * (number / 2), in.between(-0.1, 0.1)};
  body.initial.velocity = vector(in, in.chance() ? 6 : 0.5);
  body.initial.angular_velocity = in.chance() ? vector(in, 5) : Vec3{};
  body.friction = in.chance() ? in.between(0, 1) : 0;
  body.restitution = in.chance() ? in.between(0, 1) : 1;
  return body;
}

/// What a scene has that takes or gives energy or momentum on purpose.
struct Drawn {
  Scene scene;
  bool free = false, pushed = false;
};

Drawn draw(Bytes& in) {
  Drawn out;
  Scene& scene = out.scene;
  scene.name = "fuzzed";
  scene.step = 1.0 / 60;
  scene.frames = frames;
  const int bodies = 1 + in.below(3);
  out.free = in.below(4) == 0;
  for (int b = 0; b < bodies; ++b) scene.bodies.push_back(body_of(in, b));
  if (in.chance()) scene.contact.emplace();
  if (scene.contact) scene.contact->self = in.below(4) == 0;
  if (out.free) {
    scene.gravity = {};
    return out;
  }
  scene.gravity = {0, -9.81, 0};
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane";
  floor.friction = in.chance() ? in.between(0, 1) : 0;
  scene.colliders.push_back(floor);
  if (in.chance()) {
    static const char* const shapes[] = {"sphere", "box", "capsule", "cylinder"};
    ColliderSpec obstacle;
    obstacle.name = "obstacle", obstacle.shape = in.pick(shapes);
    obstacle.radius = in.between(0.05, 0.2), obstacle.length = in.between(0.1, 0.6);
    obstacle.size = {in.between(0.1, 0.5), in.between(0.1, 0.4), in.between(0.1, 0.5)};
    obstacle.position = Track<Vec3>({in.between(-0.3, 0.3), 0.2, in.between(-0.3, 0.3)});
    obstacle.rotation = Track<Vec3>(vector(in, 90));
    scene.colliders.push_back(obstacle);
  }
  if (in.below(4) == 0) {
    PushSpec push;
    push.body = scene.bodies[size_t(in.below(bodies))].name;
    push.time = in.between(0, 0.3);
    push.impulse = vector(in, 2);
    scene.pushes.push_back(push), out.pushed = true;
  }
  if (in.below(4) == 0) {
    AnchorSpec anchor;
    anchor.name = "anchor", anchor.body = scene.bodies.front().name;
    anchor.vertices.indices = {0};
    anchor.stiffness = Track<double>(in.between(10, 1e4));
    scene.anchors.push_back(anchor);
  }
  if (in.below(4) == 0) {
    static const char* const methods[] = {"cpd", "cpd_gradient", "cpd_euler"};
    scene.solver.method = in.pick(methods);
  }
  return out;
}

double extent(const Mesh& mesh) {
  Vec3 low = mesh.vertices[0], high = low;
  for (const Vec3& x : mesh.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], x[k]), high[k] = std::max(high[k], x[k]);
  return std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}

double account(const Measures& m) { return m.total + m.booked_loss + m.heat - m.work; }

}  // namespace

void physics(std::string_view bytes) {
  Bytes in(bytes);
  const Drawn drawn = draw(in);
  if (const char* file = std::getenv("VERVE_FUZZ_SCENE")) std::ofstream(file) << write_scene(drawn.scene);
  Expected<Simulation> made = Simulation::create(drawn.scene, {.threads = 1});
  hold(made.has_value(), "a scene of the grammar can be built: " + made.diagnostics().text());
  Simulation& sim = *made;
  const Measures start = sim.measure();
  double scale_p = 0, scale_l = 0;  // sums of |m v| and |x| |m v|: the momenta may nearly cancel
  {
    const std::vector<Vec3> x = sim.positions(), v = sim.velocities();
    const std::vector<double> mass = sim.masses();
    for (size_t i = 0; i < x.size(); ++i)
      scale_p += mass[i] * norm(v[i]), scale_l += mass[i] * norm(v[i]) * norm(x[i]);
  }
  double energy = 0, gain = 0, least = start.external, most = start.external;
  const auto text = [](const char* what, double found, int frame) {
    return std::string(what) + ": " + std::to_string(found) + " in frame " + std::to_string(frame);
  };
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report = sim.step();
    hold(bool(report), "a step succeeds: " + report.message);
    hold(report.work <= most_work, text("work of a frame is bounded", report.work, frame));
    const std::vector<Vec3> x = sim.positions();
    for (const Vec3& p : x) hold(std::isfinite(p.x + p.y + p.z), "positions are finite");
    const Measures m = sim.measure();
    energy = std::max(energy, m.kinetic + std::abs(m.elastic) + std::abs(m.contact));
    least = std::min(least, m.external), most = std::max(most, m.external);
    gain = std::max(gain, account(m) - account(start));
    if (drawn.free) {
      hold(norm(m.momentum - start.momentum) <= most_momentum * scale_p,
           text("P is kept", norm(m.momentum - start.momentum) / scale_p, frame));
      hold(norm(m.angular_momentum - start.angular_momentum) <= most_momentum * scale_l,
           text("L is kept", norm(m.angular_momentum - start.angular_momentum) / scale_l, frame));
      continue;
    }
    for (int b = 0; b < sim.bodies(); ++b) {
      double lowest = 0;
      const size_t first = size_t(sim.first_vertex(b)), count = sim.mesh(b).vertices.size();
      for (size_t i = first; i < first + count; ++i) lowest = std::min(lowest, x[i].y);
      const double below = -lowest / std::min(extent(sim.mesh(b)), 0.6);
      hold(below <= most_below, text("nothing is below the floor", below, frame));
    }
  }
  const double scale = std::max(energy, most - least);
  if (!drawn.pushed) hold(gain <= most_gain * scale, text("the account of energy does not grow", gain / scale, frames));
}

}  // namespace verve::fuzz
