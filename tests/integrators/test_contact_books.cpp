// What contact may neither make nor take: energy out of friction, restitution, tears and depths that nobody came to by
// moving.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Over a run: how far `total` was above its start, how far the books fell, total + booked_loss strayed and rose.
struct Books {
  double grown = 0, fallen = 0, off = 0, gained = 0, start = 0, kinetic = 0;
};

Books run(Simulation& sim, int frames) {
  Books out;
  out.start = sim.measure().total;
  double booked = sim.measure().booked_loss;
  const double kept = kept_energy(sim.measure());
  for (int frame = 0; frame < frames; ++frame) {
    REQUIRE(sim.step());
    const Measures m = sim.measure();
    out.grown = std::max(out.grown, m.total - out.start);
    out.fallen = std::max(out.fallen, booked - m.booked_loss), booked = m.booked_loss;
    out.off = std::max(out.off, std::abs(kept_energy(m) - kept));
    out.gained = std::max(out.gained, kept_energy(m) - kept);
    out.kinetic = std::max(out.kinetic, m.kinetic);
  }
  return out;
}

BodySpec tetrahedron(const std::string& name, const Vec3& at, const Vec3& turned, const Vec3& v, const Vec3& w) {
  BodySpec body = generated_body("tetrahedron", {{"size", {1}}}, strain(1e6));
  body.name = name, body.place.translate = at, body.place.rotate = turned;
  body.initial.velocity = v, body.initial.angular_velocity = w;
  body.friction = 0.4;
  return body;
}

BodySpec moving(BodySpec body, const Vec3& at, const Vec3& turned, const Vec3& v, const Vec3& w, double e) {
  body.place.translate = at, body.place.rotate = turned;
  body.initial.velocity = v, body.initial.angular_velocity = w;
  body.restitution = e;
  return body;
}

BodySpec hard(const std::string& name, const std::string& generator, const Parameters& parameters, double mu) {
  BodySpec body = generated_body(generator, parameters, strain(mu));
  body.name = name;
  return body;
}

ColliderSpec collider(const std::string& shape, const Vec3& at, const Vec3& turned, double e) {
  ColliderSpec out;
  out.name = shape, out.shape = shape, out.restitution = e;
  out.position = Track<Vec3>(at), out.rotation = Track<Vec3>(turned);
  return out;
}

BodySpec cloth(int vertices, double mu, double bending, double thickness, const Vec3& turned) {
  BodySpec body = generated_body("cloth", {{"columns", {double(vertices)}}, {"rows", {double(vertices)}}},
                                 {"tri_strain", {{"mu", Track<double>(mu)}}});
  body.potentials.push_back({"bending", {{"stiffness", Track<double>(bending)}}});
  body.density = 0.3, body.thickness = thickness, body.restitution = 0;
  body.place.translate = {0, 0.6, 0}, body.place.rotate = turned;
  return body;
}

}  // namespace

TEST_CASE("hard bodies gain nothing by an impact, nor in their flight after it (P16)") {
  // Steps that ended at a bound of their multiplier, at a kink of the contact energy or after 40 iterations were taken
  // as they were, at the shortest length; and backward Euler, the last resort in free flight, left turning bodies the
  // velocity of a chord. These three gained 140 times their energy for a frame, 2.3 % and 3.3 %.
  const double e = 1;
  BodySpec ball = moving(hard("ball", "ball", {{"size", {0.31}}, {"frequency", {2}}}, 6.9e7), {0.24, 1.5, -0.0043},
                         {-58, 160, -33}, {0.52, -0.57, -0.012}, {2.3, -3.1, -1.3}, 0);
  ColliderSpec cylinder = collider("cylinder", {0, -0.47, 0}, {90, 0, 0}, 1), floor = floor_plane();
  cylinder.radius = 0.42, cylinder.length = 0.94, floor.position = Track<Vec3>({0, -2.5, 0}), floor.restitution = 0.87;
  Scene falls = grounded({ball}, {cylinder, floor});
  falls.gravity = {0, -9.8, 0}, falls.solver.tolerance = 1e-5;
  Scene meet, tetrahedra;
  meet.bodies = {moving(hard("a", "ball", {{"size", {0.37}}, {"frequency", {2}}}, 6.9e7), {-0.14, 0.22, -0.33},
                        {-110, 29, 2.7}, {0.47, -1.1, 1.8}, {-0.64, -0.22, 0.66}, e),
                 moving(hard("b", "tetrahedron", {{"size", {0.37}}}, 1.4e7), {0.11, -0.27, 0.43}, {22, -120, 88},
                        {-0.47, 1.1, -1.8}, {-0.18, -1.6, -1.9}, 0.31)};
  tetrahedra.bodies = {moving(hard("a", "tetrahedron", {{"size", {0.52}}}, 3e7), {0.082, -0.39, -0.27}, {-43, -120, 37},
                              {-0.39, 0.78, 1}, {1.7, 0.29, -0.27}, e),
                       moving(hard("b", "tetrahedron", {{"size", {0.36}}}, 1.3e7), {-0.17, 0.35, 0.45},
                              {-170, -19, 110}, {0.39, -0.78, -1}, {0.61, 1.3, -1.4}, e)};
  meet.contact.emplace(), tetrahedra.contact.emplace();
  for (const Scene& scene : {falls, meet, tetrahedra}) {
    CAPTURE(scene.bodies[0].name);
    CAPTURE(scene.bodies.size());
    Simulation sim = make(scene);
    const Books books = run(sim, 90);
    MESSAGE("gained ", books.gained / books.start, ", off by ", books.off / books.start);
    // while they touch, E_ref has all of their motion in it, and is several times the start afterwards
    CHECK(books.gained <= 1e-4 * books.start);
  }
}

TEST_CASE("edges and corners of a collider that are found inside a body do not throw it out (N30)") {
  // They had no rest penetration, as features of other bodies have: what a step saw of them deep in a body was there at
  // once. The ball and the tetrahedron gained 27 %, the box on the edge of a mesh 1.8 %.
  std::vector<BodySpec> bodies = {moving(hard("ball", "ball", {{"size", {0.3}}, {"frequency", {3}}}, 3e6),
                                         {-0.095, 0.4, -0.097}, {26, -31, -84}, {}, {}, 1),
                                  moving(hard("tetrahedron", "tetrahedron", {{"size", {0.3}}}, 2.2e4),
                                         {0.0047, 0.9, 0.089}, {-4.9, -95, 100}, {}, {}, 1)};
  ColliderSpec block = collider("box", {0.5, 0, 0}, {}, 1), edge = collider("mesh", {0, -0.8, 0}, {45, 0, 0}, 0.41);
  block.size = {1.2, 1.6, 1.7};
  edge.mesh.emplace(), edge.mesh->generator = "box";
  edge.mesh->parameters = {{"size", {1, 1, 1}}, {"cells", {1, 1, 1}}};
  edge.friction = 0.072;
  Scene inside = grounded(bodies, {floor_plane(), block});
  inside.gravity = {0, -9.8, 0}, inside.step = 1.0 / 60, inside.contact.emplace();
  BodySpec box = moving(hard("box", "box", {{"size", {0.78, 0.76, 0.78}}, {"cells", {2, 2, 2}}}, 6.8e6),
                        {0.017, 0.9, -0.021}, {0, 38, 0}, {}, {}, 1);
  box.friction = 0.55;
  ColliderSpec floor = floor_plane(0.72);
  floor.position = Track<Vec3>({0, -3, 0}), floor.restitution = 0.48;
  Scene falls = grounded({box}, {edge, floor});
  falls.gravity = {0, -9.8, 0}, falls.solver.tolerance = 1e-5;
  for (const Scene& scene : {inside, falls}) {
    CAPTURE(scene.bodies[0].name);
    Simulation sim = make(scene);
    const Books books = run(sim, 90);
    MESSAGE("gained ", books.gained / books.start, ", off by ", books.off / books.start);
    CHECK(books.gained <= 1e-4 * books.start);
  }
}

TEST_CASE("a soft body that sticks in a hard one is not let out of it by energy from nowhere (P16)") {
  // At 14.6 m/s, twice its length a frame. By a fifth of an edge a second, whether it was paid for or not, that was 11
  // %.
  Scene scene;
  scene.bodies = {moving(hard("box", "box", {{"size", {0.204, 0.227, 0.332}}, {"cells", {2, 2, 1}}}, 2.08e4),
                         {0.389, 0.0587, -0.364}, {74.1, -150, 173}, {-5.37, -0.164, 4.93}, {1.35, 0.671, 1.19}, 0.29),
                  moving(hard("ball", "ball", {{"size", {0.414}}, {"frequency", {4}}}, 1.95e6),
                         {-0.379, -0.0116, 0.348}, {172, -68.6, 79.5}, {5.37, 0.164, -4.93}, {0.494, -1.18, -1.29}, 0)};
  scene.bodies[1].friction = 0.0433;
  scene.solver.tolerance = 1e-4, scene.contact.emplace();
  Simulation sim = make(scene);
  const Books books = run(sim, 90);
  MESSAGE("gained ", books.gained / books.start);
  CHECK(books.gained <= 1e-3 * books.start);  // the share of the motion that may be owed for it
}

TEST_CASE("sheets that touch and give back nothing gain nothing (P16)") {
  // Hung beside a post, one had 2.9 times its energy; one that fell on the edge of a block a sixth more. One with a
  // ball in it that had come to rest was let out of that by more than there was motion for, and gained 0.8 %.
  ColliderSpec post = collider("cylinder", {-0.25, -0.44, 0.22}, {}, 1), floor = floor_plane(),
               block = collider("mesh", {-0.077, -0.44, 0.35}, {-150, -2, -4.2}, 1);
  post.radius = 0.088, post.length = 1.3, floor.position = Track<Vec3>({0, -2.5, 0});
  block.mesh.emplace(), block.mesh->generator = "box";
  block.mesh->parameters = {{"size", {0.42, 1.9, 1.5}}, {"cells", {1, 1, 1}}};
  Scene hung = grounded({cloth(12, 560, 0.0072, 0.0078, {100, 79, 14})}, {post, floor});
  hung.step = 1.0 / 60, hung.solver.tolerance = 1e-4, hung.contact.emplace();
  AnchorSpec rail;
  rail.body = "cloth";
  for (int i = 0; i < 12; ++i) rail.vertices.indices.push_back(i);
  hung.anchors = {rail};
  Scene falls = grounded({cloth(6, 1300, 0.00029, 0.0076, {6.5, 19, -98})}, {block, floor});
  falls.contact.emplace(), falls.contact->self = true;
  ColliderSpec dome = collider("capsule", {-0.22, -0.79, 0.022}, {}, 1);
  dome.radius = 0.7, dome.length = 0.48, dome.friction = 0.5;
  BodySpec ball = moving(hard("ball", "ball", {{"size", {0.2}}, {"frequency", {3}}}, 1e5), {-0.22, 1.1, 0.036},
                         {44, -100, 110}, {}, {}, 0.5);
  ball.density = 100;
  Scene laden = grounded({cloth(8, 1000, 0.00027, 0.015, {90, 0, 0}), ball}, {dome, floor});
  laden.solver.tolerance = 1e-5, laden.contact.emplace();
  rail.vertices.indices.resize(8);
  laden.anchors = {rail};
  for (Scene scene : {hung, falls, laden}) {
    scene.gravity = {0, -9.8, 0};
    CAPTURE(scene.anchors.size());
    CAPTURE(scene.bodies.size());
    Simulation sim = make(scene);
    const Books books = run(sim, 90);
    // most of what the laden one begins with is in the height of the ball
    const double energy = scene.bodies.size() > 1 ? books.kinetic : books.start;
    MESSAGE("gained ", books.gained / energy);
    CHECK(books.gained <= 1e-4 * energy);
  }
}

TEST_CASE("friction of bodies that push askew, past the edges of each other, makes no energy (P16)") {
  // A friction anchor that slipped went to the foot of the face's normal, and was still stretched across what pushed.
  Scene scene;
  scene.bodies = {
      tetrahedron("a", {0.9, -0.14878, 0.0032653}, {78.5355, 82.3521, 73.6414}, {-0.2, 0, 0},
                  {-0.023565, -0.147059, 0.160218}),
      tetrahedron("b", {-0.9, 0, 0}, {58.5294, 66.5473, 21.3183}, {0.2, 0, 0}, {-0.154937, 0.179998, -0.0924288})};
  scene.contact.emplace();
  for (const double turned : {0.0, 40.0}) {
    CAPTURE(turned);
    scene.bodies[0].place.rotate.x = 78.5355 + turned;
    Simulation sim = make(scene);
    const Books books = run(sim, 165);
    MESSAGE("grown by ", books.grown / books.start, ", books fell by ", books.fallen / books.start, ", lost ",
            sim.measure().booked_loss / books.start);
    CHECK(books.grown <= 1e-4 * books.start);
    CHECK(books.fallen <= 1e-9 * books.start);
  }
}

TEST_CASE("restitution leaves the spin of a ball without friction alone, and takes nothing where it is 1 (P16)") {
  for (const double e : {0.5, 1.0})
    for (const double spin : {-60.0, 20.0}) {
      CAPTURE(e);
      CAPTURE(spin);
      BodySpec ball = ball_body(0.4, 4, 1e6, {0, 0.3, 0});
      ball.initial.velocity = {5, -2, 0}, ball.initial.angular_velocity = {0, 0, spin};
      ball.restitution = e;
      Scene scene = grounded({ball}, {floor_plane()});
      scene.gravity = {};
      scene.step /= 4;
      Simulation sim = make(scene);
      const Measures before = sim.measure();
      const Books books = run(sim, 60);
      const Measures after = sim.measure();
      MESSAGE("spin ", after.spin.z / before.spin.z, ", leaves at ", after.momentum.y / -before.momentum.y);
      // corners of a coarse ball lie beside the line through its centre, and pass on some of it (0.15 was asked while the
      // speed of approach was that of the start of the frame; at -60 rad/s and e = 0.5 0.83 of the spin is left)
      CHECK(after.spin.z == doctest::Approx(before.spin.z).epsilon(0.18));
      CHECK(after.momentum.x == doctest::Approx(before.momentum.x).epsilon(1e-6));
      CHECK(books.off <= 1e-4 * books.start);
      if (e == 1) CHECK(after.booked_loss == 0);
    }
}

TEST_CASE("hard bodies leave at the speed that restitution says (P16)") {
  for (const double stiffness : {1e8, 1e9})
    for (const double e : {0.9, 0.8, 0.3}) {
      CAPTURE(stiffness);
      CAPTURE(e);
      BodySpec box = generated_body("box", {{"size", {0.05, 0.05, 0.05}}, {"cells", {1, 1, 1}}}, strain(stiffness));
      box.place.translate = {0, 0.1, 0}, box.initial.velocity = {0, -2, 0};
      box.restitution = e;
      Scene scene = grounded({box}, {floor_plane()});
      scene.gravity = {};
      Simulation sim = make(scene);
      run(sim, 30);
      const double leaves = sim.measure().momentum.y / sim.measure().mass;
      MESSAGE("leaves at ", leaves / 2);
      CHECK(leaves == doctest::Approx(2 * e).epsilon(0.02));
    }
}

TEST_CASE("what begins inside a collider, or comes to lie there by a tear, is not thrown out") {
  BodySpec box = box_body(2, 1e6);
  box.place.translate = {0, 0.48, 0};
  Scene deep = grounded({box}, {floor_plane()});
  deep.gravity = {};
  Simulation still = make(deep);
  CHECK(run(still, 20).kinetic <= 1e-12);

  BodySpec torn = generated_body("box", {{"size", {0.3, 0.3, 0.3}}, {"cells", {4, 4, 4}}}, strain(5e3));
  torn.potentials[0].tear = 1.2;
  torn.place.translate = {0, 0.4, 0}, torn.place.rotate = {0, 0, 45}, torn.initial.velocity = {0, -3, 0};
  Simulation falls = make(grounded({torn}, {floor_plane()}));
  const Books books = run(falls, 30);
  MESSAGE("torn ", falls.measure().torn, ", grown by ", books.grown / books.start);
  CHECK(falls.measure().torn > 0);
  CHECK(books.grown <= 1e-4 * books.start);
  CHECK(books.fallen <= 1e-9 * books.start);
}

TEST_CASE("boxes of single cells that settle on each other gain nothing from being let out") {
  // Edges as long as a body lie across each other by several millimetres where faces warp.
  for (const int substeps : {0, 1}) {
    CAPTURE(substeps);
    std::vector<BodySpec> boxes;
    for (int i = 0; i < 3; ++i) {
      BodySpec box = generated_body(
          "box", {{"size", {0.5, 0.5, 0.5}}, {"cells", {i ? 1. : 3., i ? 1. : 3., i ? 1. : 3.}}}, strain(1e6));
      box.name = "box " + std::to_string(i), box.friction = 0.8, box.restitution = 0;
      box.place.translate = {0.01 * i, 0.25 + 0.5 * i, 0.005 * i}, box.place.rotate = {0, i % 2 ? 3. : -7., 0};
      boxes.push_back(box);
    }
    ColliderSpec floor = floor_plane(0.8);
    floor.restitution = 0;
    Scene scene = grounded(boxes, {floor});
    scene.contact.emplace();
    if (substeps > 0) scene.solver.substeps = substeps;
    Simulation sim = make(scene);
    const double start = kept_energy(sim.measure());
    double most = 0, motion = 0;
    for (int frame = 0; frame < 75; ++frame) {
      REQUIRE(sim.step());
      most = std::max(most, kept_energy(sim.measure()) - start);
      motion = std::max(motion, sim.measure().kinetic);
    }
    MESSAGE("gained ", most, " J beside ", motion, " J of motion");
    CHECK(most <= 1e-4 * motion);  // what debts that go from one frame to the next leave; it was 4 J beside 27
  }
}

TEST_CASE("a half-life that cannot take the slide over a floor without friction is not owed what it missed") {
  BodySpec box = box_body(3, 1e6);
  box.friction = 0, box.dials.half_life = 0.1, box.place.translate = {0, 0.5, 0};
  box.initial.velocity = {2, 0, 0}, box.initial.angular_velocity = {0, 3, 0};
  Simulation sim = make(grounded({box}, {floor_plane(0)}));
  const double kinetic = sim.measure().kinetic;
  double owed = 0;
  for (int frame = 0; frame < 60; ++frame) {
    REQUIRE(sim.step());
    owed = std::min(owed, sim.measure().owed);
  }
  MESSAGE("owed ", owed, " J of ", kinetic, " J, ", sim.measure().kinetic, " J at the end");
  CHECK(owed >= -0.01 * kinetic);  // 20 half-lives of what no step can take would be ten times the slide
}

TEST_CASE("a half-life does not slow a body that falls onto something") {
  // In the frame or two before it touches, it took a share of all of its motion: 6 % of the speed with this half-life.
  BodySpec box = box_body(3, 1e6);
  box.dials.half_life = 0.1, box.place.translate = {0, 2.5, 0}, box.restitution = 0.5;
  Scene scene = grounded({box}, {floor_plane()});
  scene.step = 1.0 / 60;
  Simulation sim = make(scene);
  int frames = 0;
  for (; frames < 60; ++frames) {
    REQUIRE(sim.step());
    if (sim.measure().contact > 0) break;
    CHECK(sim.measure().momentum.y / sim.measure().mass == doctest::Approx(scene.gravity.y * sim.time()).epsilon(1e-6));
  }
  CHECK(frames > 30);
  CHECK(frames < 60);
}
