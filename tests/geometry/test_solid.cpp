#include <numbers>

#include "geometry/enclosure.h"
#include "geometry/mesh_checks.h"
#include "geometry/surface_repair.h"

using namespace verve;
using namespace verve::test;

namespace {

Mesh skin(const char* name, double resolution = 16) {
  if (std::string(name) == "sphere") return generate_mesh("sphere", {{"frequency", {resolution}}}).value();
  return skin_of(generate_mesh(name, {{"resolution", {resolution}}}).value());
}
/// Relative; doctest's Approx is to an absolute part, too.
double difference(double found, double expected) { return std::abs(found / expected - 1); }
Mesh moved(Mesh mesh, double scale, const Vec3& by) {
  for (Vec3& p : mesh.vertices) p = p * scale + by;
  return mesh;
}
Mesh joined(Mesh a, const Mesh& b) {
  const int n = int(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (const auto& [i, j, k] : b.triangles) a.triangles.push_back({n + i, n + j, n + k});
  return a;
}
Mesh deleted(Mesh mesh, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::erase_if(mesh.triangles, [&](const auto&) { return double(random()) / 4294967296.0 < share; });
  return mesh;
}
Mesh flipped(Mesh mesh, double share, unsigned seed) {
  std::mt19937 random(seed);
  for (auto& t : mesh.triangles)
    if (double(random()) / 4294967296.0 < share) std::swap(t[1], t[2]);
  return mesh;
}
Mesh unwelded(const Mesh& mesh, double jitter = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  Mesh out;
  for (const auto& t : mesh.triangles) {
    const int n = int(out.vertices.size());
    for (const int v : t) {
      Vec3 p = mesh.vertices[v];
      for (int k = 0; k < 3; ++k) p[k] += jitter * (double(random()) / 4294967296.0 - 0.5);
      out.vertices.push_back(p);
    }
    out.triangles.push_back({n, n + 1, n + 2});
  }
  return out;
}

/// Cells that resolve a shape: the tube of the torus is a fifth of its size.
double cells_for(const std::string& name) { return name == "torus" ? 24 : 16; }

/// A sound solid of bounded angles that the surface is near to.
Mesh solid_of(const Mesh& surface, double cells = 16) {
  const auto solid = generate_mesh("solid", {{"cells", {cells}}}, &surface);
  INFO(solid.diagnostics().text());
  REQUIRE(solid);
  check_solid(*solid);
  const auto [least, most] = dihedral_range(*solid);
  CHECK(least > 9.2);  // of isosurface stuffing, for any function
  CHECK(most < 161.7);
  Vec3 low = surface.vertices[0], high = low;
  for (const Vec3& p : surface.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  const Vec3 extent = high - low;
  const double cell = std::max({extent.x, extent.y, extent.z}) / cells;
  CHECK(embed(*solid, surface.vertices).farthest < 3.5 * cell);  // two rings of cells around what is thin, and corners
  return *solid;
}

}  // namespace

TEST_CASE("winding numbers by a tree of dipoles are those of the sum over all triangles") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> unit(-0.7, 0.7);
  for (const char* name : {"bear", "torus", "sphere"}) {
    CAPTURE(name);
    const Mesh mesh = deleted(skin(name, 16), 0.1, 3);
    std::vector<TriangleTree::Triangle> triangles;
    for (const auto& [a, b, c] : mesh.triangles)
      triangles.push_back({mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]});
    const TriangleTree tree(triangles);
    double worst = 0, farthest = 0;
    for (int i = 0; i < 300; ++i) {
      const Vec3 p{unit(random), unit(random), unit(random)};
      double exact = 0, nearest = INFINITY;
      for (const auto& t : triangles) {
        const Vec3 a = t[0] - p, b = t[1] - p, c = t[2] - p;
        const double la = norm(a), lb = norm(b), lc = norm(c);
        exact += std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
        // points of the triangle, which can only be further
        for (const Vec3& q : {a, b, c, (a + b + c) / 3}) nearest = std::min(nearest, norm(q));
      }
      worst = std::max(worst, std::abs(tree.winding(p) - exact / (2 * std::numbers::pi)));
      const double d = tree.distance(p);
      CHECK(d <= nearest);
      farthest = std::max(farthest, nearest - d);
    }
    CHECK(worst < 0.025);  // 0.020 was found, a twentieth of the half that decides
    CHECK(farthest < 0.08);  // the size of a triangle
  }
}

TEST_CASE("intact surfaces are filled: the volume is that of the shape") {
  for (const char* name : {"sphere", "torus", "bear"}) {
    CAPTURE(name);
    const Mesh surface = skin(name);
    const double expected = enclosed_volume(surface, surface.triangles);
    CHECK(difference(volume(solid_of(surface, cells_for(name))), expected) < 0.025);
  }
}

TEST_CASE("a surface turned inside out is filled as it would be the right way round") {
  const Mesh surface = skin("bear", 12), inside_out = flipped(surface, 1, 1);
  CHECK(difference(volume(solid_of(inside_out, 10)), volume(solid_of(surface, 10))) < 1e-3);
}

TEST_CASE("surfaces with faults give the volume of the intact shape within 5 %") {
  for (const char* name : {"sphere", "torus", "bear"})
    for (const unsigned seed : {2u}) {
      CAPTURE(name);
      CAPTURE(seed);
      const Mesh surface = skin(name);
      const double expected = enclosed_volume(surface, surface.triangles);
      CHECK(difference(volume(solid_of(deleted(surface, 0.2, seed), cells_for(name))), expected) < 0.05);
      const auto check = [&](const char* fault, const Mesh& broken) {
        CAPTURE(fault);
        const auto found = generate_mesh("solid", {{"cells", {16}}}, &broken);
        REQUIRE(found);
        CHECK(smallest_volume(*found) > 0);
        CHECK(difference(volume(*found), expected) < 0.05);
      };
      if (std::string(name) != "bear") continue;
      check("30 % flipped", flipped(surface, 0.3, seed));
      check("doubled inside out", joined(surface, flipped(surface, 1, 1)));
      check("20 % deleted, 30 % flipped, unwelded", unwelded(flipped(deleted(surface, 0.2, 5), 0.3, 6)));
    }
}

TEST_CASE("soups whose orientation is hopeless are filled up to what a walk from outside reaches") {
  const Mesh surface = skin("sphere", 16);
  const double expected = enclosed_volume(surface, surface.triangles);
  // no corner meets another, and half of the triangles look inward
  const Mesh soup = flipped(unwelded(surface, 1e-3), 0.5, 9);
  CHECK(Enclosure(soup, 0.05).level() == 0);
  // half a cell is a quarter of the radius' tenth: the sides of the walk's grid are rough
  CHECK(difference(volume(solid_of(soup)), expected) < 0.15);
}

TEST_CASE("nested, crossing and separate surfaces are filled as one") {
  const Mesh ball = skin("sphere", 10);
  const double one = enclosed_volume(ball, ball.triangles);
  CHECK(difference(volume(solid_of(joined(ball, moved(ball, 0.5, {})))), one) < 0.03);
  // a cavity that looks inward stays one
  CHECK(difference(volume(solid_of(joined(ball, flipped(moved(ball, 0.6, {}), 1, 1)))), one * (1 - 0.216)) < 0.04);
  // two balls of radius 1/2 at a distance of 1/2: less than two by the lens, pi/12 (4 + 1/2) (1/2)^2 (1 - 1/2)^2 ...
  const double r = 0.5, d = 0.5, lens = std::numbers::pi * (4 * r + d) * (2 * r - d) * (2 * r - d) / 12;
  CHECK(difference(volume(solid_of(joined(ball, moved(ball, 1, {d, 0, 0})), 16)), 2 * one - lens) < 0.03);
  CHECK(difference(volume(solid_of(joined(ball, moved(ball, 1, {1.4, 0, 0})), 16)), 2 * one) < 0.03);
}

TEST_CASE("sheets and fins thinner than a cell are thickened to one, and reported") {
  const Mesh sheet = generate_mesh("cloth", {{"columns", {9}}, {"rows", {9}}}).value();
  const auto slab = generate_mesh("solid", {{"cells", {20}}}, &sheet);
  REQUIRE(slab);
  CHECK(mentions(slab.diagnostics(), Severity::note, "100 % of the surface is thinner than a cell of 0.05 m"));
  check_solid(*slab);
  CHECK(volume(*slab) > 0.8 * 0.05);
  CHECK(volume(*slab) < 1.6 * 0.05);
  CHECK(embed(*slab, sheet.vertices).farthest < 0.03);
  // a ball with a fin: one body, joined
  const Mesh finned = joined(skin("sphere", 16), moved(sheet, 1, {0.9, 0, 0}));
  const auto body = generate_mesh("solid", {{"cells", {28}}}, &finned);
  REQUIRE(body);
  CHECK(weld(body->vertices, surface(*body)).parts == 1);
  CHECK(embed(*body, finned.vertices).farthest < 0.1);  // two cells from the body on a part counts as thin
  // a wire of long thin triangles
  Mesh wire;
  wire.vertices = {{0, 0, 0}, {3, 1, 0}, {0, 1e-3, 0}};
  wire.triangles = {{0, 1, 2}};
  check_solid(*generate_mesh("solid", {}, &wire));
}

TEST_CASE("the size and the place of a surface do not matter") {
  const Mesh bear = skin("bear", 12);
  const Mesh body = solid_of(bear, 12);
  for (const double scale : {1e-6, 1e9}) {
    CAPTURE(scale);
    const Mesh other = solid_of(moved(bear, scale, {}), 12);
    CHECK(difference(volume(other) / std::pow(scale, 3), volume(body)) < 1e-3);
  }
  const Mesh away = moved(bear, 1, {1e4, -1e4, 0});
  CHECK(difference(volume(*generate_mesh("solid", {{"cells", {12}}}, &away)), volume(body)) < 1e-3);
}

TEST_CASE("what a solid carries follows an affine map to 1e-12") {
  const Mesh surface = deleted(skin("bear", 16), 0.2, 4);
  const Mesh body = solid_of(surface, 16);
  const Embedding embedding = embed(body, surface.vertices);
  const Mat3 map{{Vec3{1.2, 0.1, -0.3}, Vec3{0.2, 0.8, 0.1}, Vec3{-0.1, 0.4, 1.1}}};
  std::vector<Vec3> x;
  for (const Vec3& p : body.vertices) x.push_back(map * p + Vec3{1, 2, 3});
  const auto carried = carry(embedding, x);
  double worst = 0;
  for (std::size_t v = 0; v < carried.size(); ++v)
    worst = std::max(worst, norm(carried[v] - (map * surface.vertices[v] + Vec3{1, 2, 3})));
  CHECK(worst < 1e-12);
}

TEST_CASE("surfaces that are nothing are refused with one message") {
  Mesh point;
  point.vertices = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  point.triangles = {{0, 1, 2}};
  auto solid = generate_mesh("solid", {}, &point);
  CHECK(mentions(solid.diagnostics(), Severity::error, "found a surface of no size"));
  const Mesh rope = generate_mesh("chain").value();
  solid = generate_mesh("solid", {}, &rope);
  CHECK(mentions(solid.diagnostics(), Severity::error, "without triangles"));
  const Mesh ball = skin("sphere", 6);
  solid = generate_mesh("solid", {{"cell", {1e-4}}}, &ball);
  CHECK(mentions(solid.diagnostics(), Severity::error, "expected at most 400"));
}

TEST_CASE("faults of surfaces are counted") {
  const Mesh ball = skin("sphere", 8);
  WeldedSurface found = weld(ball.vertices, ball.triangles);
  CHECK((found.parts == 1 && found.patches == 1 && found.open_edges == 0 && found.turned == 0 && found.doubled == 0));
  CHECK(count_self_intersections(found) == 0);
  Mesh broken = unwelded(ball);
  broken.triangles.pop_back();
  std::swap(broken.triangles[5][0], broken.triangles[5][1]);
  broken.triangles.push_back(broken.triangles[7]);
  found = weld(broken.vertices, broken.triangles);
  CHECK((found.parts == 1 && found.open_edges == 3 && found.turned == 1 && found.doubled == 1));
  const Mesh two = joined(ball, moved(ball, 1, {0.6, 0.01, 0.02}));
  found = weld(two.vertices, two.triangles);
  CHECK(found.parts == 2);
  // the circle in which they cut each other runs through each of them: some two pairs for each of its triangles
  const int cuts = count_self_intersections(found);
  CHECK(cuts > 30);
  CHECK(cuts < 300);
}
