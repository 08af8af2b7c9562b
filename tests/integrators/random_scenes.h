// Contact scenes that nobody chose by their result: drawn from a seed, to judge the contact step on fresh ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "integrators/contact_scenes.h"
#include "verve/material.h"

namespace verve::test {

/// Numbers of one scene, drawn in order from streams that no other test uses.
class Draw {
 public:
  explicit Draw(int seed, int stream = 0)
      : numbers_(4711000u + 2000000u * unsigned(stream) + unsigned(seed)),
        points_(4712000u + 2000000u * unsigned(stream) + unsigned(seed)) {}
  double between(double low, double high) {
    return low + (high - low) * 0.5 * (1 + random_signed(numbers_, number_++));
  }
  bool chance(double share) { return between(0, 1) < share; }
  Vec3 in_ball(double radius) { return random_in_ball(points_, point_++) * radius; }
  template <class T, size_t n>
  T pick(const T (&choices)[n]) {
    return choices[std::min(size_t(between(0, double(n))), n - 1)];
  }

 private:
  std::uint64_t numbers_, points_, number_ = 0, point_ = 0;
};

struct RandomScene {
  Scene scene;
  std::string colliders;  ///< what is there besides the floor, "free" without any
  double friction = 0, restitution = 1;
  double softest = 0, hardest = 0;  ///< mu of solids that are no material by name [Pa]
  bool moves = false;               ///< the obstacle
  bool free() const { return scene.colliders.empty(); }

  std::string text() const {
    std::string out = colliders + ":";
    for (const BodySpec& body : scene.bodies) out += " " + body.name;
    const auto number = [](double value) { return std::to_string(value).substr(0, 4); };
    out += ", friction " + number(friction) + ", restitution " + number(restitution);
    if (hardest > 0) out += ", mu 10^" + number(std::log10(softest)) + " to 10^" + number(std::log10(hardest));
    return out + (moves ? ", the obstacle moves" : "");
  }
};

/// A body at the origin with the radius of a sphere about its centre that it fits in.
struct SizedBody {
  BodySpec spec;
  double radius = 0;
};

inline SizedBody random_body(Draw& draw, double mu) {
  const double size = draw.between(0.25, 0.6);
  SizedBody out;
  const std::string shape = draw.pick({"box", "box", "ball", "bar"});
  if (shape == "ball") {
    out.spec = ball_body(size, 3, mu, {});
    out.radius = size / 2;
  } else {
    const bool bar = shape == "bar";
    const Vec3 sides = bar ? Vec3{2.2 * size, 0.6 * size, 0.6 * size} : Vec3{size, size, size};
    const std::vector<double> cells = bar ? std::vector<double>{6, 2, 2} : std::vector<double>{3, 3, 3};
    out.spec = generated_body("box", {{"size", {sides.x, sides.y, sides.z}}, {"cells", cells}}, strain(mu));
    out.radius = norm(sides) / 2;
  }
  out.spec.name = shape;
  if (draw.chance(0.7)) out.spec.place.rotate = draw.in_ball(100);
  if (draw.chance(0.5)) out.spec.initial.angular_velocity = draw.in_ball(6);
  return out;
}

/// A solid of a material by name, a sheet or a rope. Friction and restitution are those of the scene.
inline SizedBody random_material_body(Draw& draw) {
  const std::string shape = draw.pick({"solid", "solid", "sheet", "rope"});
  if (shape == "solid") {
    SizedBody out = random_body(draw, 1e5);
    const std::string material = draw.pick({"jelly", "rubber", "gummy", "foam", "muscle", "fat", "sponge"});
    set_material(out.spec, material);
    out.spec.name = material + " " + out.spec.name;
    return out;
  }
  SizedBody out;
  const double size = draw.between(0.3, 0.7);
  if (shape == "sheet") {
    out.spec = generated_body("cloth", {{"width", {size}}, {"length", {size}}, {"columns", {9}}, {"rows", {9}}}, {});
    set_material(out.spec, draw.pick({"cotton", "silk", "denim", "leather", "paper"}));
    out.radius = size * std::sqrt(0.5);
  } else {
    out.spec = generated_body("chain", {{"length", {2 * size}}, {"vertices", {13}}}, {});
    set_material(out.spec, "rope");
    out.radius = size;
  }
  out.spec.name = shape;
  if (draw.chance(0.7)) out.spec.place.rotate = draw.in_ball(100);
  if (draw.chance(0.3)) out.spec.initial.angular_velocity = draw.in_ball(3);
  return out;
}

/// At rest, slow or fast, sideways or down.
inline Vec3 random_velocity(Draw& draw) {
  const double fastest = draw.pick({0.0, 0.0, 4.0, 10.0});
  const Vec3 v = draw.in_ball(fastest);
  return {v.x, -std::abs(v.y), v.z};
}

/// With its highest point below 1.25 m.
inline ColliderSpec random_obstacle(Draw& draw, const std::string& shape) {
  ColliderSpec out;
  out.name = "obstacle", out.shape = shape, out.position = Track<Vec3>({0, 0.5, 0});
  if (shape == "box") {
    out.size = {draw.between(0.2, 1), draw.between(0.2, 0.8), draw.between(0.2, 1)};
    out.rotation = Track<Vec3>({0, 0, draw.pick({0.0, 20.0, 45.0})});
  } else if (shape == "sphere") {
    out.radius = draw.between(0.1, 0.5);
  } else {
    out.radius = draw.between(0.05, 0.3), out.length = draw.between(0.3, 1.5);
    out.rotation = Track<Vec3>(draw.pick({Vec3{90, 0, 0}, Vec3{0, 0, 90}}));
  }
  return out;
}

/// To and fro or round and round, at up to 1.5 m/s, with rests.
inline void set_in_motion(Draw& draw, ColliderSpec& obstacle) {
  const Vec3 at = *obstacle.position.at(0), turned = *obstacle.rotation.at(0);
  const Vec3 way = draw.in_ball(0.4), turn = draw.in_ball(60);
  const bool turns = draw.chance(0.4);
  obstacle.position.keys.clear(), obstacle.rotation.keys.clear();
  for (int k = 0; k < 12; ++k) {
    const double time = 0.4 * k, phase = k % 4 == 0 ? 0 : k % 4 == 1 ? 1 : k % 4 == 2 ? 1 : -1;
    obstacle.position.keys.push_back({time, at + (turns ? Vec3{} : Vec3{way.x, std::abs(way.y), way.z}) * phase});
    obstacle.rotation.keys.push_back({time, turned + (turns ? turn : Vec3{}) * phase});
  }
}

/// One above the other over floor and obstacle.
inline void drop(Draw& draw, std::vector<SizedBody>& bodies) {
  double height = 1.25;
  for (SizedBody& body : bodies) {
    body.spec.place.translate = {draw.between(-0.3, 0.3), height + body.radius + draw.between(0.02, 0.3),
                                 draw.between(-0.3, 0.3)};
    height = body.spec.place.translate.y + body.radius;
    body.spec.initial.velocity = random_velocity(draw);
  }
}

/// In two columns, those of one flying towards those of the other, the upper ones also towards the lower.
inline void collide(Draw& draw, std::vector<SizedBody>& bodies) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    const double side = i % 2 == 0 ? -1 : 1, speed = draw.between(1, 8);
    // farther apart than the longest bars are long
    bodies[i].spec.place.translate = {0.75 * side, i < 2 ? 0 : 1.5, draw.between(-0.2, 0.2)};
    bodies[i].spec.initial.velocity = {-side * speed, i < 2 ? draw.between(-1, 1) : -speed, draw.between(-0.5, 0.5)};
  }
}

enum class Kind {
  solids,  ///< boxes, balls and bars of tet_strain
  mixed,   ///< and materials by name, sheets and ropes
  moving   ///< and an obstacle that moves
};

inline RandomScene random_scene(int seed, Kind kind = Kind::solids) {
  Draw draw(seed, int(kind));
  RandomScene out;
  const int count = draw.pick({1, 1, 1, 2, 2, 3, 4});
  out.restitution = draw.pick({1.0, 1.0, 1.0, 0.0, 0.3, 0.5, 0.8});
  out.friction = draw.pick({0.0, 0.0, 0.1, 0.3, 0.5, 0.8});
  out.moves = kind == Kind::moving;
  out.colliders = out.moves ? draw.pick({"box", "sphere", "capsule"})
                            : draw.pick({"plane", "plane", "box", "sphere", "capsule", "free"});
  if (out.colliders == "free" && count == 1) out.colliders = "plane";
  std::vector<SizedBody> bodies;
  for (int i = 0; i < count; ++i) {
    if (kind != Kind::solids && draw.chance(0.7)) {
      bodies.push_back(random_material_body(draw));
    } else {
      const double mu = std::pow(10.0, draw.between(3.5, 8));
      out.softest = out.hardest > 0 ? std::min(out.softest, mu) : mu, out.hardest = std::max(out.hardest, mu);
      bodies.push_back(random_body(draw, mu));
    }
    BodySpec& spec = bodies.back().spec;
    spec.name += " " + std::to_string(i), spec.friction = out.friction, spec.restitution = out.restitution;
  }
  if (out.colliders == "free") {
    collide(draw, bodies);
  } else {
    drop(draw, bodies);
    out.scene = grounded({}, {floor_plane(out.friction)});
    if (out.colliders != "plane") out.scene.colliders.push_back(random_obstacle(draw, out.colliders));
    if (out.moves) set_in_motion(draw, out.scene.colliders.back());
    for (ColliderSpec& collider : out.scene.colliders) collider.friction = out.friction;
  }
  for (const SizedBody& body : bodies) out.scene.bodies.push_back(body.spec);
  if (count > 1) out.scene.contact.emplace();
  return out;
}

}  // namespace verve::test
