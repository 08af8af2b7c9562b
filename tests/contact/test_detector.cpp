// Which candidates a step gets, without anything that steps.
#include <cmath>

#include "contact/contact_detector.h"
#include "contact/detection.h"

using namespace verve;
using namespace verve::test;

namespace {

Pose at(const Vec3& position) { return {Mat3::identity(), position}; }

/// A box of half a metre above a floor, its underside at `height`.
struct BoxOnFloor : Arrangement {
  explicit BoxOnFloor(double height, double friction = 0) {
    const Mesh mesh = box_mesh({0.5, 0.5, 0.5}, 2);
    add_body(mesh, placed(mesh.vertices, Mat3::identity(), {0, 0.25 + height, 0}), 0, friction);
    add_collider(make_plane({0, 1, 0}, 0), {}, friction);
    compile();
  }
};

}  // namespace

TEST_CASE("what two surfaces say of a pair, and what the scene says instead") {
  Scene scene;
  scene.bodies.resize(2), scene.colliders.resize(1), scene.contact.emplace();
  scene.bodies[0].name = "a", scene.bodies[1].name = "b", scene.colliders[0].name = "floor";
  scene.bodies[0].friction = 0.2, scene.bodies[1].friction = 0.8, scene.colliders[0].friction = 0.45;
  scene.bodies[0].restitution = 0.5, scene.bodies[1].restitution = 0.7, scene.colliders[0].restitution = 0.9;
  ContactPairSpec rule;
  rule.a = "floor", rule.b = "b", rule.friction = 0.1;
  scene.contact->pairs.push_back(rule);
  rule.a = rule.b = "a", rule.friction.reset(), rule.touch = false;
  scene.contact->pairs.push_back(rule);
  PairTable table;
  table.compile(scene);
  CHECK(table.of(0, 1).friction == doctest::Approx(0.4));  // geometric mean
  CHECK(table.of(0, 1).restitution == 0.5);                // the lesser
  CHECK(table.of(0, 2).friction == doctest::Approx(0.3));
  CHECK(table.of(1, 2).friction == 0.1);
  CHECK(table.of(2, 1).friction == 0.1);
  CHECK(table.of(1, 2).restitution == 0.7);
  CHECK(table.of(0, 1).touch);
  CHECK(!table.of(0, 0).touch);
  CHECK(table.of(1, 1).touch);
  CHECK(table.of(1, 2, 0.6).friction == 0.6);
  scene.contact->bodies = false;
  CHECK(!table.of(0, 1).touch);
  CHECK(table.of(0, 2).touch);
}

TEST_CASE("vertices near a collider are candidates, deep ones touch, and what is far has none") {
  {
    BoxOnFloor near(0.01);
    const Contacts c = near.contacts();
    CHECK(c.on_shapes.size() == 9);  // the underside; the next layer is a quarter of a metre higher
    CHECK(!c.touching());
    REQUIRE(c.touching_pairs.size() == 1);
    CHECK(c.touching_pairs[0].collider == 0);
    CHECK(c.touching_pairs[0].weight == 0);
  }
  {
    BoxOnFloor deep(-0.01);
    double energy = 0;
    const Contacts c = deep.contacts(&energy);
    CHECK(c.rows().size() == 9);
    CHECK(c.depth() == doctest::Approx(0.01));
    CHECK(energy == doctest::Approx(9 * 0.5 * Arrangement::stiffness * 1e-4));
    const Vec3 n = c.touching_pairs[0].normal;
    CHECK(norm(n / norm(n) - Vec3{0, 1, 0}) < 1e-14);
  }
  BoxOnFloor far(3);
  CHECK(far.contacts().on_shapes.empty());
  // unless it comes near within the step, or the collider does
  Contacts c;
  far.predicted = far.x;
  for (Vec4& p : far.predicted) p -= Vec4(Vec3{0, 3.2, 0});
  far.detector.detect(far.moving(), far.colliders, {&far.cached, &far.anchors}, far.settings, false, c);
  CHECK(!c.on_shapes.empty());
  far.predicted.clear();
  far.colliders[0].end = at({0, 3.1, 0});
  const auto found =
      far.detector.detect(far.moving(), far.colliders, {&far.cached, &far.anchors}, far.settings, false, c);
  CHECK(!c.on_shapes.empty());
  CHECK(found.moving_collider);
  far.colliders[0].active = false;
  far.detector.detect(far.moving(), far.colliders, {&far.cached, &far.anchors}, far.settings, false, c);
  CHECK(c.empty());
}

TEST_CASE("a contact finds the friction anchor that it had") {
  BoxOnFloor arrangement(-0.01, 0.5);
  Contacts c = arrangement.contacts();
  REQUIRE(c.friction_anchors.size() == 9);
  for (FrictionAnchor& a : c.friction_anchors) CHECK(a.cap == FrictionAnchor::fresh);
  std::vector<double> energies(1), losses(1);
  std::vector<Vec4> change(arrangement.x.size());
  c.follow_pressure(Contacts::Follow::both, arrangement.x.data(), change.data(), energies);
  c.apply_slip(arrangement.x.data(), losses);
  arrangement.anchors = c.friction_anchors;
  sort_by_key(arrangement.anchors);
  c = arrangement.contacts();
  REQUIRE(c.friction_anchors.size() == 9);
  for (const FrictionAnchor& a : c.friction_anchors)
    CHECK(a.cap == doctest::Approx(0.5 * Arrangement::stiffness * 0.01));  // mu times the force of each vertex
}

TEST_CASE("a vertex that came through a thin plate is pushed back by the side it came in by") {
  const Mesh mesh = box_mesh({0.5, 0.5, 0.5}, 1);
  Arrangement arrangement;
  arrangement.add_body(mesh, placed(mesh.vertices, Mat3::identity(), {0, 0.25 - 0.015, 0}));
  arrangement.add_collider(make_box({1, 0.01, 1}), at({0, -0.01, 0}));
  arrangement.compile();
  // its underside is 15 mm below the upper side of a plate of 20 mm, and nearer to the lower one
  Contacts c = arrangement.contacts();
  for (const Contacts::OnShape& on : c.on_shapes) CHECK(on.row.direction.y == -1);
  for (const Contacts::OnShape& on : c.on_shapes)
    arrangement.cached.push_back({on.key, 0.005, 0, {0, 1, 0}, {0, 0.01, 0}});
  sort_by_key(arrangement.cached);
  c = arrangement.contacts();
  REQUIRE(c.rows().size() == 4);
  for (const ContactRow& row : c.rows()) CHECK(row.direction.y == 1);
  CHECK(c.depth() == doctest::Approx(0.015));
}

TEST_CASE("boxes on each other touch by vertices and crossing edges, and pushes add up to nothing") {
  const Mesh mesh = box_mesh({0.5, 0.5, 0.5}, 1);
  const double c45 = std::sqrt(0.5);
  const Mat3 turn{{Vec3{c45, 0, -c45}, Vec3{0, 1, 0}, Vec3{c45, 0, c45}}};
  Arrangement arrangement;
  arrangement.add_body(mesh, mesh.vertices);
  arrangement.add_body(mesh, placed(mesh.vertices, turn, {0, 0.49, 0}));
  arrangement.compile();
  const Contacts c = arrangement.contacts();
  // an eighth of a turn: each corner of a face is outside of the other one, eight edges cross
  CHECK(c.on_edges.size() >= 8);
  int crossing = 0;
  Vec3 sum{};
  for (const ContactRow& row : c.rows()) {
    REQUIRE(row.count == 4);
    Vec3 total{};
    for (int i = 0; i < 4; ++i) total += row.slope(i);
    CHECK(norm(total) < 1e-14);
    crossing += row.share[1] > 0;
    sum += row.direction * row.force;
  }
  CHECK(crossing >= 8);
  REQUIRE(c.touching_pairs.size() == 1);
  CHECK(c.touching_pairs[0].other == 1);
}

TEST_CASE("a ball smaller than the cells of a sheet touches its faces") {
  const Mesh mesh = sheet_mesh(1, 1);
  Arrangement arrangement;
  arrangement.add_body(mesh, mesh.vertices);
  arrangement.add_collider(make_sphere(0.1), at({0.2, -0.09, -0.1}));
  arrangement.compile();
  Contacts c = arrangement.contacts();
  REQUIRE(c.rows().size() == 1);
  CHECK(c.depth() == doctest::Approx(0.01));
  CHECK(std::abs(c.rows()[0].direction.y) == doctest::Approx(1));
  CHECK(c.rows()[0].count == 3);
  arrangement.settings.features = false;
  CHECK(arrangement.contacts().rows().empty());
}

TEST_CASE("sub-steps grow with the speed of what may pass, and a missed collider is seen") {
  const Mesh mesh = box_mesh({0.5, 0.5, 0.1}, 2);
  Arrangement arrangement;
  arrangement.add_body(mesh, mesh.vertices);
  arrangement.add_body(mesh, placed(mesh.vertices, Mat3::identity(), {0, 0, 0.3}));
  arrangement.add_collider(make_sphere(0.05), at({0, 0, -0.3}));
  arrangement.compile();
  const auto between = [&](double way) {
    arrangement.predicted = arrangement.x;
    for (int i = arrangement.offsets[1]; i < int(arrangement.x.size()); ++i)
      arrangement.predicted[i] -= Vec4(Vec3{0, 0, way});
    return arrangement.detector.substeps_between_bodies(arrangement.moving(), arrangement.settings).substeps;
  };
  CHECK(between(0.01) == 1);
  CHECK(between(0.25) == 10);  // a quarter of 0.1 m in each
  CHECK(between(10) == 16);
  // half the radius of the ball in each
  arrangement.predicted = arrangement.x;
  for (Vec4& p : arrangement.predicted) p -= Vec4(Vec3{0, 0, 0.2});
  CHECK(arrangement.detector.substeps_for_features(arrangement.moving(), arrangement.colliders) == 8);
  arrangement.predicted.clear();
  CHECK(arrangement.detector.substeps_for_features(arrangement.moving(), arrangement.colliders) == 1);

  const Contacts none = [&] {
    Contacts c;
    arrangement.detector.detect(arrangement.moving(), arrangement.colliders,
                                {&arrangement.cached, &arrangement.anchors}, arrangement.settings, false, c);
    return c;
  }();
  CHECK(none.on_shapes.empty());
  CHECK(!arrangement.detector.missed(arrangement.moving(), arrangement.colliders, none));
  arrangement.colliders[0].end = at({0, 0, -0.06});
  CHECK(arrangement.detector.missed(arrangement.moving(), arrangement.colliders, none));
}

TEST_CASE("groups of bodies that meet on their way are found, each pair once") {
  const Mesh mesh = box_mesh({0.5, 0.5, 0.5}, 2);
  Arrangement arrangement;
  for (const double x : {0.0, 0.6, 1.2, 5.0})
    arrangement.add_body(mesh, placed(mesh.vertices, Mat3::identity(), {x, 0, 0}));
  arrangement.compile();
  std::vector<Vec4> to = arrangement.x;
  for (int i = arrangement.offsets[1]; i < arrangement.offsets[2]; ++i) to[i] -= Vec4(Vec3{0.15, 0, 0});
  std::vector<ContactDetector::SweptBody> swept;
  for (int b = 0; b < 4; ++b)
    swept.push_back({b, b, arrangement.x.data() + arrangement.offsets[b], to.data() + arrangement.offsets[b], 0});
  auto met = arrangement.detector.find_meeting(swept);
  REQUIRE(met.size() == 1);
  CHECK(met[0] == std::array{0, 1});
  for (auto& body : swept) body.slack = 0.15;  // 0.1 m between the second and the third at first, 0.25 at the end
  met = arrangement.detector.find_meeting(swept);
  CHECK(met.size() == 2);
  for (auto& body : swept) body.group = 0;
  CHECK(arrangement.detector.find_meeting(swept).empty());
}

// The planes that touch a ball at x_n would be entered by R (1 - cos angle): 138 J for a rope of 5 J that slid round
// it.
TEST_CASE("what is carried round the middle of a ball is as deep in it as it was, and what is carried along a plane") {
  const auto energy_after = [](std::unique_ptr<Shape> shape, const Pose& pose, const Mat3& turn, const Vec3& way,
                               double& before) {
    Arrangement arrangement;
    const Mesh sheet = sheet_mesh(0.4, 4);
    arrangement.add_body(sheet, placed(sheet.vertices, Mat3::identity(), {0.1, 0.29, 0.05}), 0.01);
    arrangement.add_collider(std::move(shape), pose);
    arrangement.compile();
    Contacts contacts = arrangement.contacts(&before);
    std::vector<Vec4> to = arrangement.x, gradient(to.size());
    std::vector<double> energies(1);
    for (Vec4& x : to) x = Vec4(pose.position + turn * (x.xyz() - pose.position) + way);
    contacts.carry(arrangement.x.data(), to.data(), turn);
    return contacts.add_gradient(to.data(), gradient.data(), energies);
  };
  double before = 0;
  const Mat3 turn = random_rotation(3);
  const double ball = energy_after(make_sphere(0.3), {Mat3::identity(), {0.05, 0, 0}}, turn, {}, before);
  CHECK(before > 0);
  CHECK(ball == doctest::Approx(before).epsilon(1e-9));
  const double plane = energy_after(make_plane({0, 1, 0}, 0.3), {}, Mat3::identity(), {0.3, 0, -0.2}, before);
  CHECK(before > 0);
  CHECK(plane == doctest::Approx(before).epsilon(1e-9));
  // no symmetry of it: the planes of x_n stay, and what goes up is out of them
  CHECK(energy_after(make_sphere(0.3), {}, Mat3::identity(), {0, 0.1, 0}, before) == 0);
}
