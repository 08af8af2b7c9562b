// Simulation::save and restore: restored and stepped is never stopped, bit for bit, whatever happens around it.
#include <doctest/doctest.h>

#include <functional>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// What a frame leaves: the bits of the motion, and of everything that is measured.
struct Trace {
  std::uint64_t hash;
  double total, target, loss, heat, multiplier;
  int iterations, substeps, torn;
  bool operator==(const Trace&) const = default;
};

Trace look(const Simulation& sim) {
  const Measures m = sim.measure();
  return {sim.state_hash(), m.total, m.target_total, m.booked_loss, m.heat, m.multiplier, m.iterations, m.substeps,
          m.torn};
}

/// Runs `scene` with `before` called ahead of every frame, saving at some of them; each snapshot is taken on by a new
/// simulation, through bytes, and by the one that it was taken of. The first frame that differs, or -1.
int first_difference(const Scene& scene, int frames, const std::vector<int>& at,
                     const std::function<void(Simulation&, int)>& before = [](Simulation&, int) {}) {
  Simulation sim = make(scene);
  std::vector<Trace> traces;
  std::vector<Snapshot> saved;
  for (int f = 0; f < frames; ++f) {
    if (std::find(at.begin(), at.end(), f) != at.end()) saved.push_back(sim.save());
    before(sim, f);
    sim.step();
    traces.push_back(look(sim));
  }
  const auto goes_on = [&](Simulation& other, const Snapshot& from) {
    CHECK_MESSAGE(!other.restore(from).has_errors(), other.restore(from).text());
    CHECK(other.frame() == from.frame());
    CHECK(other.save().bytes() == from.bytes());
    for (int f = from.frame(); f < frames; ++f) {
      before(other, f);
      other.step();
      if (!(look(other) == traces[f])) return f;
    }
    return -1;
  };
  for (const Snapshot& s : saved) {
    const Expected<Snapshot> read = Snapshot::from_bytes(s.bytes(), "memory");
    REQUIRE(read);
    Simulation fresh = make(scene);
    if (const int f = goes_on(fresh, *read); f >= 0) return f;
    if (const int f = goes_on(sim, s); f >= 0) return f;
  }
  return -1;
}

/// Three bodies that fall on a floor, each other and a sphere, sliding and turning.
Scene pile(const std::string& method) {
  Scene scene = scene_of(box_body(2, 2e5, "low"), method);
  scene.bodies.push_back(box_body(2, 5e4, "high"));
  scene.bodies.push_back(box_body(3, 1e5, "aside"));
  scene.bodies[0].place.translate = {0, 0.55, 0};
  scene.bodies[1].place.translate = {0.3, 1.7, 0.1};
  scene.bodies[2].place.translate = {2.2, 1.2, 0};
  scene.bodies[1].initial.angular_velocity = {0.5, 0, 2};
  scene.bodies[2].initial.velocity = {-3, 0, 0};
  scene.gravity = {0, -9.81, 0};
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane", floor.friction = 0.4, floor.restitution = 0.6;
  scene.colliders.push_back(floor);
  scene.contact.emplace();
  for (BodySpec& body : scene.bodies) body.friction = 0.4, body.restitution = 0.6;
  return scene;
}

}  // namespace

TEST_CASE("every method goes on from a snapshot as if it had not been stopped") {
  for (const MethodInfo& method : method_infos()) {
    INFO(method.name);
    Scene scene = scene_of(generated_body("chain", {{"length", {1}}, {"vertices", {13}}}, springs(2e3)), method.name);
    scene.gravity = {0, -9.81, 0};
    AnchorSpec anchor;
    anchor.body = "chain", anchor.vertices.indices = {0}, anchor.name = "hand";
    anchor.hard = method.integrator == "hard";
    anchor.path.keys = {{0.1, Vec3{}}, {0.5, Vec3{0.1, 0.2, 0}}};
    scene.anchors.push_back(anchor);
    if (!Simulation::create(scene)) scene.anchors.clear();
    if (Simulation::create(scene)) CHECK(first_difference(scene, 18, {0, 7, 13}) == -1);
    if (!drives_solids(method)) continue;
    CHECK(first_difference(cube_scene(method.name), 12, {5}) == -1);
    if (Simulation::create(pile(method.name))) CHECK(first_difference(pile(method.name), 30, {21}) == -1);
  }
}

TEST_CASE("in the middle of contact, at rest and asleep") {
  std::vector<int> at;
  for (int f = 3; f < 150; f += 21) at.push_back(f);
  CHECK(first_difference(pile("cpd"), 150, at) == -1);
  Scene planes = pile("pd");  // whose matrix has the active contacts in it
  planes.contact->response = ContactResponse::planes, planes.contact->bodies = false;
  for (BodySpec& body : planes.bodies) body.friction = 0, body.restitution = 1;
  planes.colliders[0].friction = 0, planes.colliders[0].restitution = 1;
  CHECK(first_difference(planes, 60, {20, 40}) == -1);
}

TEST_CASE("dials, live anchors, materials and steps are part of a snapshot") {
  Scene scene = pile("cpd");
  scene.bodies[0].potentials[0].parameters["mu"].keys = {{0, 2e5}, {0.8, 4e4}};
  const auto turn = [](Simulation& sim, int frame) {
    if (frame == 4) {
      AnchorSpec hand;
      hand.name = "hand", hand.body = "aside", hand.vertices.nearest = Vec3{2.2, 1.7, 0}, hand.stiffness = 2e4;
      sim.add_anchor(hand);
    }
    if (frame >= 5 && frame < 15) sim.move_anchor(sim.find_anchor("hand"), Vec3{0.02, 0.03, 0} * (frame - 4));
    if (frame == 6) sim.set_parameter(1, 0, "mu", 9e4);
    if (frame == 8) sim.set_gravity({0, -5, 0}), sim.set_friction(0.1);
    if (frame == 9) sim.set_iterations(12), sim.set_half_life(1, 0.7);
    if (frame == 11) sim.set_step(1 / 45.0);
    if (frame == 12) sim.hold_energy(2, 900), sim.add_impulse(0, {0, 300, 0}, {0, 0.5, 0}, 0.3);
    if (frame == 15) sim.remove_anchor(sim.find_anchor("hand"));
    if (frame == 17) sim.set_spin(1, {0, 200, 0}), sim.hold_momentum(0, Vec3{100, 0, 0});
  };
  std::vector<int> at;
  for (int f = 0; f < 24; ++f) at.push_back(f);
  CHECK(first_difference(scene, 30, at, turn) == -1);
}

TEST_CASE("a frame that fails leaves no trace") {
  Scene scene = scene_of(generated_body("chain", {{"length", {1}}, {"vertices", {9}}}, springs(1e6)), "hard");
  scene.gravity = {0, -9.81, 0};
  AnchorSpec anchor;
  anchor.body = "chain", anchor.vertices.indices = {0}, anchor.hard = true;
  scene.anchors.push_back(anchor);
  Simulation never = make(scene), failed = make(scene);
  for (int f = 0; f < 20; ++f) {
    if (f == 9) {
      const Snapshot before = failed.save();
      AnchorSpec other = anchor;
      other.to_point = Vec3{3, 3, 3};  // out of reach of an inextensible chain
      other.vertices.indices = {8};
      const int a = failed.add_anchor(other);
      const StepReport report = failed.step();
      CHECK(report.status == StepStatus::infeasible);
      failed.remove_anchor(a);
      CHECK(failed.positions() == never.positions());
      Simulation again = make(scene);
      REQUIRE_FALSE(again.restore(failed.save()).has_errors());
      again.step();
      never.step(), failed.step();
      CHECK(look(again) == look(failed));
      CHECK(look(failed) == look(never));
      REQUIRE_FALSE(failed.restore(before).has_errors());
      failed.step();
      CHECK(look(failed) == look(never));
      continue;
    }
    never.step(), failed.step();
    CHECK(look(never) == look(failed));
  }
}

TEST_CASE("what is no snapshot, or one of another scene, is refused and changes nothing") {
  const Simulation sim = make(cube_scene());
  const std::vector<unsigned char> good = sim.save().bytes();
  const auto refused = [](std::vector<unsigned char> bytes) {
    const Expected<Snapshot> read = Snapshot::from_bytes(bytes, "a.verve");
    REQUIRE_FALSE(read);
    return read.diagnostics().text();
  };
  CHECK(refused({}) == "a.verve: found no snapshot, expected a file that verve simulate --snapshot-every wrote");
  std::vector<unsigned char> bytes = good;
  bytes[8] += 1;
  CHECK(refused(bytes).find("found version 9 of the format, expected 8") != std::string::npos);
  for (const size_t left : {size_t(20), good.size() / 2, good.size() - 1})
    CHECK(refused({good.begin(), good.begin() + left}).find("cut short") != std::string::npos);
  for (const size_t place : {size_t(28), good.size() / 3, good.size() - 1}) {
    bytes = good;
    bytes[place] ^= 1;
    CHECK(refused(bytes).find("checksum") != std::string::npos);
  }
  Simulation other = make(pile("cpd_bdf2"));
  const std::uint64_t hash = other.state_hash();
  const std::string text = other.restore(sim.save()).text();
  CHECK(text.find("found body \"box\" of 125 vertices") != std::string::npos);
  CHECK(text.find("found method \"cpd\" in double, expected method \"cpd_bdf2\" in double") != std::string::npos);
  CHECK(other.state_hash() == hash);
}

TEST_CASE("a state set from outside is free of the contact that the last one had") {
  Scene scene = scene_of(box_body(3, 2e4), "cpd");
  scene.bodies[0].place.translate = {0, 0.6, 0};
  scene.bodies[0].initial.velocity = {0, -4, 0};
  scene.gravity = {0, -9.81, 0};
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane";
  scene.colliders.push_back(floor);
  Simulation sim = make(scene);
  double pressed = 0;
  for (int f = 0; f < 12 && pressed == 0; ++f) sim.step(), pressed = sim.measure().contact;
  REQUIRE(pressed > 0.1);
  std::vector<Vec3> x = sim.mesh(0).vertices, v(x.size());
  for (Vec3& p : x) p += Vec3{0, 5, 0};
  sim.set_state(x, v);
  const double start = sim.measure().total;
  CHECK(sim.measure().contact == 0);
  for (int f = 0; f < 10; ++f) {
    sim.step();
    // free fall at rest in itself: nothing is owed, and nothing comes from the contact that is gone
    CHECK(std::abs(sim.measure().total - start) <= 1e-9 * std::abs(start));
  }
}
