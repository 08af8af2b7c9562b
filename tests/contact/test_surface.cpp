#include <algorithm>
#include <stdexcept>

#include "base/parallel.h"
#include "contact/points.h"
#include "contact/surface_tree.h"

using namespace verve;
using namespace verve::test;

namespace {

void check_lists(const Surface& s) {
  for (size_t v = 0; v < s.vertices.size(); ++v) {
    CHECK(s.vertex_of_row[s.vertices[v]] == int(v));
    for (const int f : s.faces_of_vertex[int(v)]) CHECK(s.is_corner(s.vertices[v], f));
  }
  size_t sides = 0;
  for (size_t e = 0; e < s.edges.size(); ++e) {
    CHECK(s.edges[e][0] < s.edges[e][1]);
    sides += s.faces_of_edge[int(e)].size();
    for (const int f : s.faces_of_edge[int(e)])
      CHECK(std::count(s.face_edges[f].begin(), s.face_edges[f].end(), int(e)) == 1);
  }
  CHECK(sides == 3 * s.faces.size());
  for (size_t f = 0; f < s.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) {
      const auto& e = s.edges[s.face_edges[f][k]];
      const int a = s.faces[f][k], b = s.faces[f][(k + 1) % 3];
      CHECK((e == std::array{std::min(a, b), std::max(a, b)}));
    }
}

}  // namespace

TEST_CASE("the skin of a solid is closed, outward and as in the mesh; its inner vertices are not part of it") {
  const Mesh ball = generate_mesh("ball", {{"frequency", {3}}}).value();
  const Surface s = make_surface(ball);
  check_lists(s);
  CHECK(s.solid_faces == int(s.faces.size()));
  CHECK(s.faces == surface(ball));
  CHECK(s.vertices.size() < ball.vertices.size());
  // Euler: V - E + F = 2 for a ball
  CHECK(int(s.vertices.size()) - int(s.edges.size()) + int(s.faces.size()) == 2);
  const std::vector<Vec4> x = rows_of(ball.vertices);
  for (size_t f = 0; f < s.faces.size(); ++f) CHECK(dot(face_normal(s, x.data(), int(f)), x[s.faces[f][0]].xyz()) > 0);
  for (size_t v = 0; v < s.vertices.size(); ++v)
    CHECK(dot(vertex_normal(s, x.data(), int(v)), x[s.vertices[v]].xyz()) > 0);
}

TEST_CASE("sheets, ropes and loose vertices make surfaces; springs inside of elements do not") {
  Mesh cloth = generate_mesh("cloth", {{"columns", {4}}, {"rows", {3}}}).value();
  cloth.edges.clear();
  const Surface sheet = make_surface(cloth);
  check_lists(sheet);
  CHECK(sheet.solid_faces == 0);
  CHECK(sheet.faces.size() == cloth.triangles.size());
  CHECK(sheet.edges.size() == unique_edges(cloth).size());
  const int n = int(cloth.vertices.size());
  for (int k = 0; k < 3; ++k) cloth.vertices.push_back({2, double(k), 0});
  cloth.edges = {{0, n - 1}, {n, 0}, {n, n + 1}};  // a spring across the sheet, and a rope tied to it
  const Surface tied = make_surface(cloth);
  check_lists(tied);
  CHECK(tied.edges.size() == sheet.edges.size() + 2);
  CHECK(tied.vertices.size() == size_t(n) + 2);
  CHECK(make_surface(cloth, true).vertices.size() == size_t(n) + 3);
  const Surface none = make_surface(Mesh{});
  CHECK(none.vertices.empty());
  CHECK_THROWS_AS(make_surface(3, {}, {{0, 1, 3}}, {}), std::invalid_argument);
}

TEST_CASE("what is left of a torn body has a closed surface of its own, over the same rows") {
  Mesh box = generate_mesh("ball", {{"frequency", {3}}}).value();
  const Surface whole = make_surface(box);
  box.tetrahedra.resize(box.tetrahedra.size() / 2);
  const Surface left = make_surface(int(box.vertices.size()), box.tetrahedra, {}, {});
  check_lists(left);
  CHECK(left.rows == whole.rows);
  double volume = 0, enclosed = 0;
  for (const auto& t : box.tetrahedra)
    volume += tet_volume(box.vertices[t[0]], box.vertices[t[1]], box.vertices[t[2]], box.vertices[t[3]]);
  for (const auto& f : left.faces)
    enclosed += tet_volume({}, box.vertices[f[0]], box.vertices[f[1]], box.vertices[f[2]]);
  CHECK(enclosed == doctest::Approx(volume).epsilon(1e-12));
}

TEST_CASE("rings count the edges between a vertex and a face") {
  Mesh strip;  // triangles in a row: vertex k and k + 1, k + 2
  for (int k = 0; k < 12; ++k) strip.vertices.push_back({0.5 * k, double(k % 2), 0});
  for (int k = 0; k + 2 < 12; ++k) strip.triangles.push_back({k, k + 1 + k % 2, k + 2 - k % 2});
  Surface s = make_surface(strip);
  for (int v = 0; v < 12; ++v)
    for (int f = 0; f < 10; ++f) {
      // edges join k with k + 1 and k + 2: as many steps of two as it takes
      const int away = v < f ? f - v : v > f + 2 ? v - f - 2 : 0;
      for (int rings = 0; rings < 4; ++rings) CHECK(within_rings(s, v, f, rings) == ((away + 1) / 2 <= rings));
    }
  never_within_rings(s, 2);
  for (int v = 0; v < 12; ++v)
    for (int f = 0; f < 10; ++f) CHECK(s.never_faces.contains(v, f) == within_rings(s, v, f, 2));
  int edge_pairs = 0;
  for (int e = 0; e < int(s.edges.size()); ++e)
    for (const int other : s.never_edges[e]) {
      CHECK(other > e);
      int least = 99;
      for (const int a : s.edges[e])
        for (const int b : s.edges[other]) least = std::min(least, std::abs(a - b));
      CHECK((least + 1) / 2 <= 2);
      ++edge_pairs;
    }
  CHECK(edge_pairs > 0);
}

TEST_CASE("features near each other at rest are never a pair, and the two ways of leaving out add up") {
  Mesh cloth = generate_mesh("cloth", {{"columns", {8}}, {"rows", {8}}}).value();
  const std::vector<Vec3>& x = cloth.vertices;
  Surface s = make_surface(cloth);
  const double distance = 2.3 * norm(x[1] - x[0]);
  never_near_at_rest(s, x, distance);
  for (int v = 0; v < int(s.vertices.size()); ++v)
    for (int f = 0; f < int(s.faces.size()); ++f) {
      const auto& [a, b, c] = s.faces[f];
      CHECK(s.never_faces.contains(v, f) ==
            (point_triangle(x[s.vertices[v]], x[a], x[b], x[c]).squared_distance < distance * distance));
    }
  for (int e = 0; e < int(s.edges.size()); ++e)
    for (int o = e + 1; o < int(s.edges.size()); ++o) {
      const auto &p = s.edges[e], &q = s.edges[o];
      CHECK(s.never_edges.contains(e, o) ==
            (segment_segment(x[p[0]], x[p[1]], x[q[0]], x[q[1]]).squared_distance < distance * distance));
    }
  const Surface near = s;
  never_within_rings(s, 4);
  CHECK(s.never_faces.items.size() > near.never_faces.items.size());
  for (int v = 0; v < int(s.vertices.size()); ++v)
    for (int f = 0; f < int(s.faces.size()); ++f)
      CHECK(s.never_faces.contains(v, f) == (near.never_faces.contains(v, f) || within_rings(s, v, f, 4)));
  CHECK_THROWS_AS(never_near_at_rest(s, std::span(x).first(3), 1), std::invalid_argument);
}

TEST_CASE("the nearest point of a deforming surface is that of all its faces, one by one or many at once") {
  const Mesh bear = generate_mesh("bear", {{"resolution", {12}}}).value();
  const Surface s = make_surface(bear);
  std::vector<Vec4> x = rows_of(bear.vertices);
  SurfaceTree tree;
  tree.build(s, x.data());
  for (int frame = 0; frame < 4; ++frame) {
    for (Vec4& p : x) p = Vec4(p.x + 0.3 * frame * p.y, p.y - 0.2 * frame * p.z, p.z + 0.25 * frame * p.x);
    tree.refit(x.data());
    std::vector<Vec4> points;
    for (int i = 0; i < 300; ++i) points.push_back(Vec4(random_point(20 + frame, i, 1.5 * (1 + frame))));
    std::vector<ClosestPoint> many(points.size());
    closest(tree, points, INFINITY, many.data());
    for (size_t i = 0; i < points.size(); ++i) {
      double least = INFINITY;
      for (const auto& [a, b, c] : s.faces)
        least = std::min(least, point_triangle(points[i].xyz(), x[a].xyz(), x[b].xyz(), x[c].xyz()).squared_distance);
      const ClosestPoint one = closest(tree, points[i].xyz());
      CHECK(std::abs(one.distance) == std::sqrt(least));
      CHECK(many[i].distance == one.distance);
      const auto& f = s.faces[one.face];
      const Vec3 foot =
          x[f[0]].xyz() * one.weights[0] + x[f[1]].xyz() * one.weights[1] + x[f[2]].xyz() * one.weights[2];
      CHECK(norm(points[i].xyz() - one.normal * one.distance - foot) < 1e-12 * (1 + frame));
      const ClosestPoint nothing = closest(tree, points[i].xyz(), 0.999 * std::sqrt(least));
      CHECK(nothing.face == -1);
      CHECK(closest(tree, points[i].xyz(), 1.001 * std::sqrt(least)).face == one.face);
    }
  }
}

TEST_CASE("a filtered search finds the nearest of the accepted faces") {
  const Mesh ball = generate_mesh("ball", {{"frequency", {3}}}).value();
  const Surface s = make_surface(ball);
  const std::vector<Vec4> x = rows_of(ball.vertices);
  SurfaceTree tree;
  tree.build(s, x.data());
  for (int v = 0; v < int(s.vertices.size()); ++v) {
    const int row = s.vertices[v];
    struct Context {
      const Surface& surface;
      int row;
    } context{s, row};
    const FaceFilter others{[](const void* raw, int face) {
                              const Context& c = *static_cast<const Context*>(raw);
                              return !c.surface.is_corner(c.row, face);
                            },
                            &context};
    double least = INFINITY;
    for (size_t f = 0; f < s.faces.size(); ++f) {
      const auto& [a, b, c] = s.faces[f];
      if (!s.is_corner(row, int(f)))
        least = std::min(least, point_triangle(x[row].xyz(), x[a].xyz(), x[b].xyz(), x[c].xyz()).squared_distance);
    }
    const ClosestPoint found = closest(tree, x[row].xyz(), INFINITY, others);
    CHECK(!s.is_corner(row, found.face));
    CHECK(std::abs(found.distance) == std::sqrt(least));
    CHECK(closest(tree, x[row].xyz()).distance == 0);
  }
}

TEST_CASE("inside and outside of a solid are told by its tetrahedra") {
  const Mesh bear = generate_mesh("bear", {{"resolution", {12}}}).value();
  const Surface s = make_surface(bear);
  const std::vector<Vec4> x = rows_of(bear.vertices);
  SurfaceTree tree;
  tree.build(s, x.data());
  std::vector<Vec3> points;
  Vec3 low = bear.vertices[0], high = low;
  for (const Vec3& v : bear.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], v[k]), high[k] = std::max(high[k], v[k]);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 u = random_point(30, i);
    points.push_back({low.x + (high.x - low.x) * (0.5 + 0.55 * u.x), low.y + (high.y - low.y) * (0.5 + 0.55 * u.y),
                      low.z + (high.z - low.z) * (0.5 + 0.55 * u.z)});
  }
  const Embedding held = embed(bear, points);
  int inside = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const bool in = *std::min_element(held.weights[i].begin(), held.weights[i].end()) >= 0;
    inside += in;
    CHECK((closest(tree, points[i]).distance < 0) == in);
  }
  CHECK(inside > 200);
}

TEST_CASE("positions that are not finite neither hang nor crash a search") {
  const Mesh ball = generate_mesh("ball", {{"frequency", {2}}}).value();
  const Surface s = make_surface(ball);
  std::vector<Vec4> x = rows_of(ball.vertices);
  SurfaceTree tree;
  x[s.vertices[0]].x = NAN, x[s.vertices[5]].y = INFINITY, x[s.vertices[7]].z = 1e200;
  tree.build(s, x.data());
  const ClosestPoint p = closest(tree, {2, 0, 0});
  CHECK(p.face >= 0);
  CHECK(std::isfinite(p.distance));
  for (const double bad : {NAN, INFINITY, -INFINITY}) CHECK(closest(tree, {0, bad, 0}).face == -1);
  closest(tree, {0, 1e200, 0});
  for (Vec4& v : x) v.x = NAN;
  tree.refit(x.data());
  CHECK(closest(tree, {0, 0, 0}).face == -1);
  SurfaceTree empty;
  const Surface none = make_surface(Mesh{});
  empty.build(none, nullptr);
  CHECK(closest(empty, {0, 0, 0}).face == -1);
}
