#include <algorithm>
#include <cmath>

#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

namespace {

double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * double(random() >> 11) * 0x1p-53;
}
Vec3 point_in(std::mt19937_64& random, double half) {
  const double x = uniform(random, -half, half), y = uniform(random, -half, half);
  return {x, y, uniform(random, -half, half)};
}

/// Distance to a tetrahedron, written differently from the code under test: the nearest of the points that are interior
/// to a face, to an edge, or a corner.
double distance_to(const Mesh& mesh, int t, const Vec3& p) {
  const auto& tet = mesh.tetrahedra[t];
  const auto at = [&](int i) -> const Vec3& { return mesh.vertices[tet[i]]; };
  bool inside = true;
  double least = 1e300;
  for (int i = 0; i < 4; ++i) {
    const Vec3 &a = at((i + 1) % 4), &b = at((i + 2) % 4), &c = at((i + 3) % 4);
    const Vec3 n = cross(b - a, c - a) / norm(cross(b - a, c - a));
    const double height = dot(p - a, n);
    if (height * dot(at(i) - a, n) < 0) inside = false;
    const Vec3 q = p - n * height;
    if (dot(cross(b - a, q - a), n) >= 0 && dot(cross(c - b, q - b), n) >= 0 && dot(cross(a - c, q - c), n) >= 0)
      least = std::min(least, std::abs(height));
    least = std::min(least, norm(p - at(i)));
    for (int j = 0; j < i; ++j) {
      const Vec3 e = at(j) - at(i);
      const double s = dot(p - at(i), e) / dot(e, e);
      if (s > 0 && s < 1) least = std::min(least, norm(p - at(i) - e * s));
    }
  }
  return inside ? 0 : least;
}

int find_tet(const Mesh& mesh, const std::array<int, 4>& vertices) {
  const auto found = std::find(mesh.tetrahedra.begin(), mesh.tetrahedra.end(), vertices);
  return found == mesh.tetrahedra.end() ? -1 : int(found - mesh.tetrahedra.begin());
}

}  // namespace

TEST_CASE("carried points follow any affine map to 1e-12, inside and outside") {
  std::mt19937_64 random(3);
  for (const char* name : {"bear", "box", "ball", "tetrahedron"}) {
    CAPTURE(name);
    const Mesh mesh =
        generate_mesh(name, std::string(name) == "bear" ? Parameters{{"resolution", {12}}} : Parameters{}).value();
    std::vector<Vec3> points;
    for (int i = 0; i < 2000; ++i) points.push_back(point_in(random, 0.8));  // the bodies have size 1
    points.insert(points.end(), mesh.vertices.begin(), mesh.vertices.end());
    const Embedding embedding = embed(mesh, points);
    REQUIRE(embedding.vertices.size() == points.size());
    for (int trial = 0; trial < 5; ++trial) {
      Mat3 a;
      for (int c = 0; c < 3; ++c) a.col[c] = point_in(random, 2);
      if (trial == 0) a = Mat3::identity();
      const Vec3 b = point_in(random, 3);
      std::vector<Vec3> moved = mesh.vertices;
      for (Vec3& x : moved) x = a * x + b;
      const std::vector<Vec3> carried = carry(embedding, moved);
      double worst = 0;
      for (size_t i = 0; i < points.size(); ++i) worst = std::max(worst, norm(carried[i] - (a * points[i] + b)));
      // Coordinates are about 5 and weights below 1e3 (points at 0.8 beside tetrahedra of edge 0.1): some 1e3 roundings
      // of 5e-16 at the worst; what the inventory (P22) asks for is 1e-12.
      CHECK(worst < 1e-12);
    }
    for (const auto& w : embedding.weights) CHECK(std::abs(w[0] + w[1] + w[2] + w[3] - 1) < 1e-12);
  }
}

TEST_CASE("the search finds what brute force finds, inside and outside") {
  std::mt19937_64 random(11);
  const Mesh mesh = generate_mesh("bear", {{"resolution", {10}}}).value();
  std::vector<Vec3> points;
  for (int i = 0; i < 400; ++i) points.push_back(point_in(random, 0.55));
  for (int i = 0; i < 100; ++i) points.push_back(point_in(random, 0.2));
  for (int i = 0; i < 50; ++i) points.push_back(point_in(random, 5));
  const Embedding embedding = embed(mesh, points);
  int inside = 0, outside = 0;
  double farthest = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    double least = 1e300, second = 1e300;
    int nearest = -1;
    for (int t = 0; t < int(mesh.tetrahedra.size()); ++t) {
      const double d = distance_to(mesh, t, points[i]);
      if (d < least)
        second = least, least = d, nearest = t;
      else
        second = std::min(second, d);
    }
    const int found = find_tet(mesh, embedding.vertices[i]);
    REQUIRE(found >= 0);
    CHECK(std::abs(distance_to(mesh, found, points[i]) - least) < 1e-9);
    if (second > least + 1e-9) CHECK(found == nearest);  // else several are equally near
    ++(least == 0 ? inside : outside);
    farthest = std::max(farthest, least);
    if (least == 0)
      for (const double w : embedding.weights[i]) CHECK(w > -1e-9);
  }
  CHECK(inside > 50);
  CHECK(outside > 50);
  CHECK(embedding.farthest == doctest::Approx(farthest).epsilon(1e-9));
}

TEST_CASE("among equally near tetrahedra the one that extrapolates least carries a point") {
  // two tetrahedra on one edge; the point beyond it is nearer to the middle of the first
  Mesh mesh;
  mesh.vertices = {{0, 0, -1}, {0, 0, 1}, {-1, 0.2, 0}, {-1, -0.2, 0}, {-1, 2, 0}};
  mesh.tetrahedra = {{0, 1, 2, 4}, {0, 1, 3, 2}};
  for (const auto& t : mesh.tetrahedra)
    REQUIRE(tet_volume(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]], mesh.vertices[t[3]]) != 0);
  const auto least = [&](const Embedding& e) { return *std::min_element(e.weights[0].begin(), e.weights[0].end()); };
  for (const Vec3 p : {Vec3{0.5, 0, 0}, Vec3{0.3, 0.01, 0.2}, Vec3{0.5, -0.02, -0.4}}) {
    double best = -1e300;
    for (const auto& t : mesh.tetrahedra) {
      Mesh one = mesh;
      one.tetrahedra = {t};
      best = std::max(best, least(embed(one, {p})));
    }
    CHECK(least(embed(mesh, {p})) == best);
  }
}

TEST_CASE("a point on a common face, edge or vertex is carried the same whatever the order of the tetrahedra") {
  Mesh mesh = generate_mesh("box", {{"cells", {3, 3, 3}}}).value();
  std::vector<Vec3> points = mesh.vertices;
  for (const auto& e : unique_edges(mesh)) points.push_back((mesh.vertices[e[0]] + mesh.vertices[e[1]]) * 0.5);
  for (const auto& t : mesh.tetrahedra)
    points.push_back((mesh.vertices[t[0]] + mesh.vertices[t[1]] + mesh.vertices[t[2]]) / 3);
  std::mt19937_64 random(5);
  std::vector<Vec3> moved = mesh.vertices;  // continuous across faces, though not affine
  for (Vec3& x : moved) x += point_in(random, 0.05);
  const std::vector<Vec3> one = carry(embed(mesh, points), moved);
  std::reverse(mesh.tetrahedra.begin(), mesh.tetrahedra.end());
  const std::vector<Vec3> other = carry(embed(mesh, points), moved);
  for (size_t i = 0; i < points.size(); ++i) CHECK(norm(one[i] - other[i]) < 1e-14);
}

TEST_CASE("twenty thousand points in twenty thousand tetrahedra get the same bits twice") {
  const Mesh mesh = generate_mesh("box", {{"cells", {16, 16, 16}}}).value();
  REQUIRE(mesh.tetrahedra.size() > 20000);
  std::mt19937_64 random(1);
  std::vector<Vec3> points;
  for (int i = 0; i < 20000; ++i) points.push_back(point_in(random, 0.6));
  const Embedding a = embed(mesh, points), b = embed(mesh, points);
  CHECK(a.vertices == b.vertices);
  CHECK(a.weights == b.weights);
}

TEST_CASE("what cannot be carried is refused") {
  Mesh sheet = generate_mesh("cloth", {{"columns", {3}}, {"rows", {3}}}).value();
  CHECK_THROWS_WITH_AS(embed(sheet, {{0, 0, 0}}), "embed: found a carrier without tetrahedra, expected at least one",
                       std::invalid_argument);
  const Mesh box = generate_mesh("box").value();
  CHECK_THROWS_AS(embed(box, {{0, NAN, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(carry(embed(box, {{0, 0, 0}}), {{0, 0, 0}}), std::invalid_argument);
  CHECK(embed(box, {}).vertices.empty());
}

TEST_CASE("the skin of a solid is a surface of its own with only the vertices it needs, in their order") {
  const Mesh box = generate_mesh("box", {{"cells", {4, 4, 4}}}).value();
  const Mesh skin = skin_of(box);
  CHECK(skin.tetrahedra.empty());
  CHECK(skin.vertices.size() == 5 * 5 * 5 - 3 * 3 * 3);
  CHECK(unreferenced(skin) == 0);
  CHECK(enclosed_volume(skin, skin.triangles) == doctest::Approx(1));
  size_t at = 0;
  for (const Vec3& p : skin.vertices) {
    while (at < box.vertices.size() && !(box.vertices[at] == p)) ++at;
    CHECK(at < box.vertices.size());
  }
  const Mesh sheet = generate_mesh("cloth", {{"columns", {4}}, {"rows", {3}}}).value();
  CHECK(skin_of(sheet).vertices == sheet.vertices);
  CHECK(skin_of(sheet).triangles == sheet.triangles);
}

TEST_CASE("P20: a carried surface loses the triangles whose corners hung on what is gone") {
  const Mesh box = generate_mesh("box", {{"cells", {3, 3, 3}}}).value();
  const Mesh ball = generate_mesh("sphere", {{"frequency", {6}}, {"size", {0.9}}}).value();
  const Embedding embedding = embed(box, ball.vertices);
  CHECK(without(ball, embedding, box, {}).triangles == ball.triangles);
  RemovedElements all;
  for (int t = 0; t < int(box.tetrahedra.size()); ++t) all.tetrahedra.push_back(t);
  CHECK(without(ball, embedding, box, all).triangles.empty());
  CHECK(without(box, all).tetrahedra.empty());
  CHECK(without(box, all).vertices == box.vertices);

  RemovedElements some;
  for (int t = 0; t < int(box.tetrahedra.size()); t += 7) some.tetrahedra.push_back(t);
  const Mesh left = without(box, some), shell = without(ball, embedding, box, some);
  CHECK(left.tetrahedra.size() + some.tetrahedra.size() == box.tetrahedra.size());
  const auto carried = [&](int v) {  // by a tetrahedron that is left
    auto vertices = embedding.vertices[v];
    std::sort(vertices.begin(), vertices.end());
    for (auto t : left.tetrahedra) {
      std::sort(t.begin(), t.end());
      if (t == vertices) return true;
    }
    return false;
  };
  std::vector<std::array<int, 3>> expected;
  for (const auto& [a, b, c] : ball.triangles)
    if (carried(a) && carried(b) && carried(c)) expected.push_back({a, b, c});
  CHECK(shell.triangles == expected);
  CHECK(expected.size() < ball.triangles.size());
  CHECK(!expected.empty());
}
