// Random contact scenes with consecutive seeds: bounds of the contact step where nobody chose the scene by its result.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr int scenes = 24, frames = 60;

/// Numbers of one scene, drawn in order from streams that no other test uses.
class Draw {
 public:
  explicit Draw(int seed) : numbers_(4711000u + unsigned(seed)), points_(4712000u + unsigned(seed)) {}
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
  double softest = 0, hardest = 0;  ///< mu [Pa]
  bool free() const { return scene.colliders.empty(); }

  std::string text() const {
    std::string out = colliders + ":";
    for (const BodySpec& body : scene.bodies) out += " " + body.name;
    const auto number = [](double value) { return std::to_string(value).substr(0, 4); };
    return out + ", friction " + number(friction) + ", restitution " + number(restitution) + ", mu 10^" +
           number(std::log10(softest)) + " to 10^" + number(std::log10(hardest));
  }
};

/// A body at the origin with the radius of a sphere about its centre that it fits in.
struct SizedBody {
  BodySpec spec;
  double radius = 0;
};

SizedBody random_body(Draw& draw, double mu) {
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

/// At rest, slow or fast, sideways or down.
Vec3 random_velocity(Draw& draw) {
  const double fastest = draw.pick({0.0, 0.0, 4.0, 10.0});
  const Vec3 v = draw.in_ball(fastest);
  return {v.x, -std::abs(v.y), v.z};
}

/// With its highest point below 1.25 m.
ColliderSpec random_obstacle(Draw& draw, const std::string& shape) {
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

/// One above the other over floor and obstacle.
void drop(Draw& draw, std::vector<SizedBody>& bodies) {
  double height = 1.25;
  for (SizedBody& body : bodies) {
    body.spec.place.translate = {draw.between(-0.3, 0.3), height + body.radius + draw.between(0.02, 0.3),
                                 draw.between(-0.3, 0.3)};
    height = body.spec.place.translate.y + body.radius;
    body.spec.initial.velocity = random_velocity(draw);
  }
}

/// In two columns, those of one flying towards those of the other, the upper ones also towards the lower.
void collide(Draw& draw, std::vector<SizedBody>& bodies) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    const double side = i % 2 == 0 ? -1 : 1, speed = draw.between(1, 8);
    // farther apart than the longest bars are long
    bodies[i].spec.place.translate = {0.75 * side, i < 2 ? 0 : 1.5, draw.between(-0.2, 0.2)};
    bodies[i].spec.initial.velocity = {-side * speed, i < 2 ? draw.between(-1, 1) : -speed, draw.between(-0.5, 0.5)};
  }
}

RandomScene random_scene(int seed) {
  Draw draw(seed);
  RandomScene out;
  const int count = draw.pick({1, 1, 1, 2, 2, 3, 4});
  out.restitution = draw.pick({1.0, 1.0, 1.0, 0.0, 0.3, 0.5, 0.8});
  out.friction = draw.pick({0.0, 0.0, 0.1, 0.3, 0.5, 0.8});
  out.colliders = draw.pick({"plane", "plane", "box", "sphere", "capsule", "free"});
  if (out.colliders == "free" && count == 1) out.colliders = "plane";
  std::vector<SizedBody> bodies;
  for (int i = 0; i < count; ++i) {
    const double mu = std::pow(10.0, draw.between(3.5, 8));
    out.softest = i > 0 ? std::min(out.softest, mu) : mu, out.hardest = std::max(out.hardest, mu);
    bodies.push_back(random_body(draw, mu));
    BodySpec& spec = bodies.back().spec;
    spec.name += " " + std::to_string(i), spec.friction = out.friction, spec.restitution = out.restitution;
  }
  if (out.colliders == "free") {
    collide(draw, bodies);
  } else {
    drop(draw, bodies);
    out.scene = grounded({}, {floor_plane(out.friction)});
    if (out.colliders != "plane") out.scene.colliders.push_back(random_obstacle(draw, out.colliders));
    for (ColliderSpec& collider : out.scene.colliders) collider.friction = out.friction;
  }
  for (const SizedBody& body : bodies) out.scene.bodies.push_back(body.spec);
  if (count > 1) out.scene.contact.emplace();
  return out;
}

/// Over a run; energies in units of E, the largest kinetic + |elastic| + |contact| energy or change of the external
/// one.
struct Judgement {
  std::string failure;                   ///< message of the first step that failed
  double gain = 0;                       ///< of total + booked_loss + heat over its start
  double below = 0;                      ///< the floor, in units of the least of the body's size and 0.6 m
  double momentum = 0, angular = 0;      ///< largest change of P and L of all bodies, in units of what they consist of
  double milliseconds = 0, longest = 0;  ///< of all frames, of one
};

double largest_extent(const Mesh& mesh) {
  Vec3 low = mesh.vertices[0], high = low;
  for (const Vec3& x : mesh.vertices) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  return std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}

Judgement judge(Simulation& sim) {
  Judgement out;
  const Measures m0 = sim.measure();
  const bool floor = !sim.scene().colliders.empty();
  const auto books = [](const Measures& m) { return kept_energy(m) + m.heat; };
  // sums of |m v| and |x| |m v| at the start: the momenta of bodies that fly towards each other nearly cancel
  double scale_p = 0, scale_l = 0;
  const std::vector<Vec3> x0 = sim.positions(), v0 = sim.velocities();
  const std::vector<double> mass = sim.masses();
  for (size_t i = 0; i < x0.size(); ++i) {
    scale_p += mass[i] * norm(v0[i]);
    scale_l += mass[i] * norm(v0[i]) * norm(x0[i]);
  }
  double gain = 0, energy = 0, least = m0.external, most = m0.external;
  for (int frame = 0; frame < frames; ++frame) {
    const StepReport report = sim.step();
    if (!report) {
      out.failure = "frame " + std::to_string(frame) + ": " + report.message;
      break;
    }
    out.milliseconds += report.milliseconds, out.longest = std::max(out.longest, report.milliseconds);
    const Measures m = sim.measure();
    gain = std::max(gain, books(m) - books(m0));
    energy = std::max(energy, m.kinetic + std::abs(m.elastic) + std::abs(m.contact));
    least = std::min(least, m.external), most = std::max(most, m.external);
    if (floor) {
      for (int b = 0; b < sim.bodies(); ++b)
        out.below = std::max(out.below, -lowest(sim, b) / std::min(largest_extent(sim.mesh(b)), 0.6));
    } else {
      out.momentum = std::max(out.momentum, norm(m.momentum - m0.momentum) / scale_p);
      out.angular = std::max(out.angular, norm(m.angular_momentum - m0.angular_momentum) / scale_l);
    }
  }
  out.gain = gain / std::max(energy, most - least);
  return out;
}

}  // namespace

TEST_CASE("random contact scenes gain no energy, stay above the floor and keep P and L when free") {
  int gained = 0;
  double time = 0;
  for (int seed = 0; seed < scenes; ++seed) {
    const RandomScene random = random_scene(seed);
    const std::string text = "seed " + std::to_string(seed) + ", " + random.text();
    CAPTURE(text);
    Simulation sim = make(random.scene);
    const Judgement found = judge(sim);
    MESSAGE(text, ": gain ", found.gain, ", below ", found.below, ", P ", found.momentum, ", L ", found.angular, ", ",
            found.milliseconds, " ms, longest ", found.longest);
    CHECK(found.failure == "");
    CHECK(finite(sim));
    // 1e-3 in any scene, 1e-4 in all but one of a hundred: steps that converge gain about solver.tolerance (1e-6), 5e-7
    // at most in 400 scenes. The method "published" gains more than 1e-4 in 10 of these.
    CHECK(found.gain <= 1e-3);
    gained += !(found.gain <= 1e-4);
    // A hard body of mass m that lands on one corner, its centre above, at speed v stops v step sqrt(m / (stiffness
    // m~)) deep, m~ the median mass of its vertices (docs/contact.md, Eq. 1): 4.7 mm for each m/s of a box of 64
    // vertices. At most 2.7 % in these scenes; three of the next 376 have 5.3 to 5.7 %, hard boxes at 5 to 9 m/s.
    CHECK(found.below <= 0.05);
    // forces of contact come in opposite pairs along one line: what remains is round-off of the sums over vertices
    CHECK(found.momentum <= 1e-10);
    CHECK(found.angular <= 1e-10);
    time += found.milliseconds;
  }
  MESSAGE(time, " ms in all");
  CHECK(gained <= scenes / 100);
}

TEST_CASE("random contact scenes have the same bits on 1 and 3 threads") {
  for (int seed = 0; seed < scenes; seed += 6) {
    CAPTURE(seed);
    const RandomScene random = random_scene(seed);
    Simulation one = make(random.scene, 1), three = make(random.scene, 3);
    int differs = -1;  // first frame
    for (int frame = 0; frame < frames && differs < 0; ++frame) {
      REQUIRE(one.step());
      REQUIRE(three.step());
      if (one.state_hash() != three.state_hash()) differs = frame;
    }
    CHECK(differs == -1);
  }
}
