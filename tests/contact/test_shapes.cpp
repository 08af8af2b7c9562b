#include <stdexcept>

#include "base/parallel.h"
#include "contact/points.h"
#include "contact/shape_registry.h"
#include "contact/shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

struct Named {
  std::string name;
  std::unique_ptr<Shape> shape;
};

std::vector<Named> shapes() {
  std::vector<Named> out;
  const Mesh bear = skin_of(generate_mesh("bear", {{"resolution", {12}}}).value());
  ColliderSpec spec;
  spec.normal = {1, 2, -3}, spec.size = {0.6, 1, 1.6}, spec.radius = 0.4, spec.length = 1.1;
  for (const ShapeEntry& entry : shape_registry())  // new ones are covered at once
    out.push_back({entry.info.name, entry.make(spec, &bear)});
  out.push_back({"plane off the origin", make_plane({1, 2, -3}, 0.3)});
  return out;
}

/// Where to put points so that many are inside and many outside.
double size_of(const Shape& shape) {
  const Box b = shape.bounds();
  return std::isfinite(b.low.x) && std::isfinite(b.high.x) ? 0.5 * norm(b.high - b.low) : 1.5;
}
Vec3 centre_of(const Shape& shape) {
  const Box b = shape.bounds();
  return std::isfinite(b.low.x) && std::isfinite(b.high.x) ? (b.low + b.high) * 0.5 : Vec3{};
}

}  // namespace

TEST_CASE("distances of the shapes are those of their formulas at chosen points") {
  CHECK(make_plane({0, 2, 0}, 0.5)->touch(Vec3{3, 2, 1}).distance == 1.5);
  const Touch centre = make_sphere(2)->touch(Vec3{});
  CHECK(centre.distance == -2);
  CHECK(centre.normal == Vec3{0, 1, 0});
  const auto box = make_box({1, 2, 3});
  CHECK(box->touch(Vec3{2, 3, 4}).distance == doctest::Approx(std::sqrt(3)).epsilon(1e-15));
  CHECK(box->touch(Vec3{0.9, 0, 0}).distance == doctest::Approx(-0.1).epsilon(1e-14));
  CHECK(box->touch(Vec3{}).distance == -1);
  CHECK(box->touch(Vec3{}).normal == Vec3{1, 0, 0});
  CHECK(box->touch(Vec3{1, 2, 3}).distance == 0);  // a corner
  CHECK(norm(box->touch(Vec3{1, 2, 3}).normal) == 1);
  CHECK(box->touch(Vec3{0, -2, 0}).normal == Vec3{0, -1, 0});
  const auto capsule = make_capsule(0.5, 1);
  CHECK(capsule->touch(Vec3{0, 2, 0}).distance == 0.5);
  CHECK(capsule->touch(Vec3{0, 0.3, 0}).distance == -0.5);
  CHECK(capsule->touch(Vec3{0, 0.3, 0}).normal == Vec3{1, 0, 0});
  const auto cylinder = make_cylinder(1, 2);
  CHECK(cylinder->touch(Vec3{0, 0, 0}).distance == -1);
  CHECK(cylinder->touch(Vec3{0, 1.5, 0}).distance == -0.5);
  CHECK(cylinder->touch(Vec3{0, 1.5, 0}).normal == Vec3{0, 1, 0});
  CHECK(cylinder->touch(Vec3{4, 6, 0}).distance == 5);
  CHECK(cylinder->touch(Vec3{4, 6, 0}).normal == Vec3{0.6, 0.8, 0});
}

TEST_CASE("a mesh of a box has the box's distance, at its corners and edges too") {
  const Vec3 half{0.3, 0.5, 0.8};
  const Mesh mesh = cuboid(half);
  const auto exact = make_box(half), shape = make_mesh_shape(mesh.vertices, mesh.triangles);
  for (int i = 0; i < 5000; ++i) {
    const Vec3 x = random_point(5, i, 1.2);
    CHECK(std::abs(shape->touch(x).distance - exact->touch(x).distance) < 1e-15);
  }
  // points on corners, edges and faces, moved outward and inward by so little that only the pseudonormal can tell
  for (const double out : {1e-3, 1e-9, -1e-9, -1e-3})
    for (int c = 0; c < 27; ++c) {
      const int i = c % 3 - 1, j = c / 3 % 3 - 1, k = c / 9 - 1;
      if (i == 0 && j == 0 && k == 0) continue;
      const Vec3 away{double(i), double(j), double(k)};
      const Vec3 x = Vec3{i * half.x, j * half.y, k * half.z} + away * out;
      const Touch t = shape->touch(x), e = exact->touch(x);
      CHECK(std::abs(t.distance - e.distance) < 1e-15);
      CHECK(dot(t.normal, away) > 0);
    }
}

TEST_CASE("the sign of a mesh's distance is right at reflex corners and where nearest faces look away") {
  // a needle-like tetrahedron: at its tip, normals of single faces give both signs (Baerentzen and Aanaes 2005)
  const std::vector<Vec3> v{{0, 0, 0}, {1, 0, 0}, {0.5, 0.1, 0}, {0.5, 0.05, 8}};
  const auto needle = make_mesh_shape(v, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}});
  for (int i = 0; i < 2000; ++i) {
    const Vec3 x = v[3] + random_in_ball(7, i) * 0.5;
    // inside: on the inner side of all four planes
    bool inside = true;
    for (const auto& f : {std::array{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}})
      inside = inside && dot(cross(v[f[1]] - v[f[0]], v[f[2]] - v[f[0]]), x - v[f[0]]) < 0;
    CHECK((needle->touch(x).distance < 0) == inside);
  }
}

TEST_CASE("a placed shape is the shape moved and turned") {
  const auto box = make_box({0.3, 0.5, 0.8});
  const PlacedShape placed{box.get(), {random_rotation(4), {1, 2, 3}}};
  const Box bounds = placed.bounds();
  std::vector<Vec4> x, local;
  for (int i = 0; i < 200; ++i) {
    const Vec3 at = random_point(9, i, 1.2), world = placed.pose.to_world(at);
    CHECK(norm(placed.pose.to_local(world) - at) < 1e-14);
    const Touch own = box->touch(at), there = placed.touch(world);
    CHECK(std::abs(own.distance - there.distance) < 1e-14);
    CHECK(norm(placed.pose.direction_to_local(there.normal) - own.normal) < 1e-12);
    if (own.distance <= 0) CHECK(bounds.distance(world) < 1e-14);
    x.push_back(Vec4(world));
  }
  std::vector<Touch> out(x.size());
  placed.touch(x.data(), int(x.size()), local, out.data());
  for (size_t i = 0; i < x.size(); ++i) CHECK(out[i].distance == placed.touch(x[i].xyz()).distance);
  const auto plane = make_plane({0, 1, 0}, 0);
  const Box half_space = PlacedShape{plane.get(), {Mat3::identity(), {0, 2, 0}}}.bounds();
  CHECK(half_space.high.y == 2);
  CHECK(half_space.low.y == -INFINITY);
  const Pose from{Mat3::identity(), {0, 1, 0}}, to{random_rotation(6), {1, 0, 0}};
  CHECK(norm(carried_back(from, to, to.to_world({1, 2, 3})) - Vec3{1, 3, 3}) < 1e-14);
}

TEST_CASE("meshes that bound nothing are refused, each fault with its count and first place") {
  Mesh mesh = cuboid({1, 1, 1});
  const auto text = [](const Mesh& m) {
    Diagnostics problems;
    check_closed(m.vertices, m.triangles, "ground.obj", problems);
    return problems.text();
  };
  CHECK(text(mesh).empty());
  Mesh hole = mesh;
  hole.triangles.pop_back();
  CHECK(text(hole).find("ground.obj: found 3 edges with one triangle") != std::string::npos);
  CHECK(text(hole).find("between vertices 4 and 6 at triangle 0") != std::string::npos);
  Mesh turned = mesh;
  std::swap(turned.triangles[3][0], turned.triangles[3][1]);
  CHECK(text(turned).find("found 3 edges along which both triangles run the same way") != std::string::npos);
  Mesh inverted = mesh;
  for (auto& t : inverted.triangles) std::swap(t[0], t[1]);
  CHECK(text(inverted).find("normals inward") != std::string::npos);
  Mesh crowded = mesh;
  crowded.triangles.push_back({0, 4, 7});
  CHECK(text(crowded).find("more than two triangles") != std::string::npos);
  Mesh broken = mesh;
  broken.triangles[2][1] = 8, broken.triangles[4][0] = broken.triangles[4][1], broken.vertices[3].y = NAN;
  CHECK(text(broken).find("found 1 vertices that are not finite, the first 3") != std::string::npos);
  CHECK(text(broken).find("expected 0 to 7, the first triangle 2") != std::string::npos);
  CHECK(text(broken).find("use a vertex twice, the first 4") != std::string::npos);
  CHECK(text({}).find("found no triangles") != std::string::npos);
  CHECK_THROWS_AS(make_mesh_shape(hole.vertices, hole.triangles), std::invalid_argument);
  CHECK_THROWS_AS(make_sphere(0), std::invalid_argument);
  CHECK_THROWS_AS(make_sphere(NAN), std::invalid_argument);
  CHECK_THROWS_AS(make_box({1, -1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(make_plane({0, 0, 0}, 1), std::invalid_argument);
}

TEST_CASE("corners and edges of a shape lie on its surface, or its radius below, and look outward") {
  Mesh box;
  for (int i = 0; i < 8; ++i) box.vertices.push_back({i & 1 ? 0.5 : -0.5, i & 2 ? 0.7 : -0.7, i & 4 ? 0.3 : -0.3});
  box.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  CHECK(make_plane({0, 1, 0}, 0)->features().points.empty());
  struct Case {
    std::unique_ptr<Shape> shape;
    size_t points, edges;
  };
  std::vector<Case> cases;
  cases.push_back({make_sphere(0.4), 1, 0});
  cases.push_back({make_capsule(0.4, 0.7), 2, 1});
  cases.push_back({make_box({0.5, 0.7, 0.3}), 8, 12});
  cases.push_back({make_mesh_shape(box.vertices, box.triangles), 8, 12});
  cases.push_back({make_cylinder(0.4, 0.7), 64, 64});
  ColliderSpec cone;
  cone.radius = 0.4, cone.length = 1.4;
  cases.push_back({find_shape("cone")->make(cone, nullptr), 33, 32});
  for (const Case& c : cases) {
    const ShapeFeatures f = c.shape->features();
    CHECK(f.points.size() == c.points);
    CHECK(f.outward.size() == c.points);
    CHECK(f.edges.size() == c.edges);
    CHECK(f.sides.size() == c.edges);
    for (size_t i = 0; i < f.points.size(); ++i) {
      CHECK(std::abs(c.shape->touch(f.points[i]).distance + f.radius) <= 1e-12);
      if (f.radius == 0) CHECK(c.shape->touch(f.points[i] + f.outward[i] * 0.01).distance > 0);
    }
    for (size_t e = 0; e < f.edges.size(); ++e) {
      const Vec3 middle = (f.points[f.edges[e][0]] + f.points[f.edges[e][1]]) * 0.5;
      CHECK(std::abs(c.shape->touch(middle).distance + f.radius) <= 1e-12);
      if (f.radius > 0) continue;
      // along either side it is as far away as it has come, and inside the other way
      for (const Vec3& n : f.sides[e]) {
        CHECK(c.shape->touch(middle + n * 0.1).distance == doctest::Approx(0.1).epsilon(0.03));
        CHECK(f.looks_towards(int(e), n, 0));
        CHECK(!f.looks_towards(int(e), -n, 0));
      }
      CHECK(c.shape->touch(middle - (f.sides[e][0] + f.sides[e][1]) * 0.05).distance < 0);
    }
  }
}

TEST_CASE("every shape has a name, a help text and keys of a collider, and half-spaces alone are unbounded") {
  CHECK(find_shape("blob") == nullptr);
  REQUIRE(shape_infos().size() == shape_registry().size());
  for (const auto& [name, shape] : shapes()) {
    CAPTURE(name);
    const Box box = shape->bounds();
    const bool bounded = std::isfinite(norm(box.low)) && std::isfinite(norm(box.high));
    CHECK(bounded == !shape->flat_normal().has_value());
  }
  for (const ShapeInfo& info : shape_infos()) {
    CHECK(find_shape(info.name)->info.name == info.name);
    CHECK(!info.help.empty());
    REQUIRE(!info.keys.empty());
    CHECK(info.reads(info.keys[0].name));
    CHECK(!info.reads("friction"));
  }
}
