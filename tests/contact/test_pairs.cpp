#include <algorithm>

#include "base/parallel.h"
#include "contact/frames.h"
#include "geometry/box.h"

using namespace verve;
using namespace verve::test;

namespace {

std::shared_ptr<const Surface> shared(const Mesh& mesh) { return std::make_shared<const Surface>(make_surface(mesh)); }

struct Bodies {
  Mesh cloth = generate_mesh("cloth", {{"columns", {13}}, {"rows", {11}}}).value();
  Mesh ball = generate_mesh("ball", {{"frequency", {2}}}).value();
  Mesh rope = generate_mesh("chain", {{"vertices", {20}}}).value();
  std::shared_ptr<const Surface> cloth_surface, ball_surface = shared(ball), rope_surface = shared(rope);
  Bodies() {
    cloth.edges.clear();
    cloth_surface = shared(cloth);
  }
};

/// A cloth crumpled anew, balls through each other, a rope; with motion from none to many lengths of an edge.
Frame random_frame(const Bodies& b, int number) {
  Frame frame;
  const double motion = number % 4 == 0 ? 0 : std::pow(10.0, -4 + number % 5);
  const Vec3 far = number % 10 == 9 ? Vec3{1000, -2000, 500} : Vec3{};  // floats are coarse there
  const auto add = [&](std::shared_ptr<const Surface> surface, std::vector<Vec3> from, int k) {
    from = moved(from, Mat3::identity(), far);
    std::vector<Vec3> to = moved(from, Mat3::identity(), random_point(number, 7 + k, motion));
    for (size_t v = 0; v < to.size(); ++v) to[v] += random_point(number + 1000, v + 100 * k, 0.3 * motion);
    frame.add(std::move(surface), from, to, k == 1 ? 0 : 0.004 * (1 + k));
  };
  add(b.cloth_surface, crumpled(b.cloth.vertices, number, 1 + number % 7), 0);
  for (int k = 0; k < 3; ++k)
    add(b.ball_surface, moved(b.ball.vertices, random_rotation(number + k), random_point(number, k, 0.7)), 1 + k);
  add(b.rope_surface, crumpled(b.rope.vertices, number + 50, 6), 4);
  return frame;
}

/// By definition, in double: features that share no vertex and whose boxes are no farther apart than `slack`.
PairLists by_definition(const std::vector<SweptSurface>& surfaces, bool self, double slack) {
  const auto box_of = [&](const SweptSurface& s, auto&& rows) {
    Box box;
    for (const int r : rows) box.add(s.from[r].xyz()), box.add(s.to[r].xyz());
    const Vec3 m{s.margin + 0.5 * slack, s.margin + 0.5 * slack, s.margin + 0.5 * slack};
    return Box{box.low - m, box.high + m};
  };
  PairLists out;
  const int n = int(surfaces.size());
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      if (a == b && !self) continue;
      const Surface &sa = *surfaces[a].surface, &sb = *surfaces[b].surface;
      for (int v = 0; v < int(sa.vertices.size()); ++v) {
        const Box box = box_of(surfaces[a], std::array{sa.vertices[v]});
        for (int f = 0; f < int(sb.faces.size()); ++f)
          if (!(a == b && sb.is_corner(sa.vertices[v], f)) && box.overlaps(box_of(surfaces[b], sb.faces[f])))
            out.vertex_face.push_back({a, v, b, f});
      }
      for (int e = 0; a <= b && e < int(sa.edges.size()); ++e) {
        const Box box = box_of(surfaces[a], sa.edges[e]);
        for (int f = a == b ? e + 1 : 0; f < int(sb.edges.size()); ++f)
          if (!(a == b && sa.share_corner(e, f)) && box.overlaps(box_of(surfaces[b], sb.edges[f])))
            out.edge_edge.push_back({a, e, b, f});
      }
    }
  std::sort(out.vertex_face.begin(), out.vertex_face.end());
  std::sort(out.edge_edge.begin(), out.edge_edge.end());
  return out;
}

bool contains(const PairLists& all, const PairLists& some) {
  return std::includes(all.vertex_face.begin(), all.vertex_face.end(), some.vertex_face.begin(),
                       some.vertex_face.end()) &&
         std::includes(all.edge_edge.begin(), all.edge_edge.end(), some.edge_edge.begin(), some.edge_edge.end());
}

const BroadPhaseKind kinds[] = {BroadPhaseKind::tree, BroadPhaseKind::hash, BroadPhaseKind::brute_force};

}  // namespace

TEST_CASE("hashing and trees find the pairs of brute force on 100 random frames (C16)") {
  const Bodies bodies;
  const auto tree = make_broad_phase(BroadPhaseKind::tree), hash = make_broad_phase(BroadPhaseKind::hash),
             brute = make_broad_phase(BroadPhaseKind::brute_force);
  size_t faces = 0, edges = 0;
  for (int number = 0; number < 100; ++number) {
    CAPTURE(number);
    const Frame frame = random_frame(bodies, number);
    const bool self = number % 3 != 0;
    const PairLists found = pairs(*brute, frame.surfaces(), self);
    CHECK(pairs(*tree, frame.surfaces(), self) == found);
    CHECK(pairs(*hash, frame.surfaces(), self) == found);
    CHECK(std::is_sorted(found.vertex_face.begin(), found.vertex_face.end()));
    CHECK(std::is_sorted(found.edge_edge.begin(), found.edge_edge.end()));
    faces += found.vertex_face.size(), edges += found.edge_edge.size();
  }
  CHECK(faces > 10000);
  CHECK(edges > 10000);
}

TEST_CASE("the pairs are those of the definition, and not one too many beyond the rounding of a float (C16)") {
  const Bodies bodies;
  const auto tree = make_broad_phase();
  for (const int number : {1, 2, 4, 9, 13, 19}) {
    CAPTURE(number);
    const Frame frame = random_frame(bodies, number);
    const PairLists found = pairs(*tree, frame.surfaces(), true);
    CHECK(contains(found, by_definition(frame.surfaces(), true, 0)));
    // within 10 m of the first vertex, where boxes are rounded by 2^-23 twice and to the nearest once
    const double rounding = 10 * 4 * 0x1p-23;
    CHECK(contains(by_definition(frame.surfaces(), true, rounding), found));
  }
}

TEST_CASE("pairs do not depend on the number of threads, nor on the frames before") {
  const Bodies bodies;
  for (const BroadPhaseKind kind : {BroadPhaseKind::tree, BroadPhaseKind::hash}) {
    CAPTURE(to_string(kind));
    const auto used = make_broad_phase(kind);
    for (int number = 0; number < 12; ++number) {
      const Frame frame = random_frame(bodies, number);
      const PairLists fresh = pairs(*make_broad_phase(kind), frame.surfaces(), true);
      for (const int threads : {1, 2, 3, 16}) {
        set_threads(threads);
        const PairLists again = pairs(*used, frame.surfaces(), true);
        set_threads(1);
        CHECK(again == fresh);
      }
      if (number % 4 == 3) {  // other surfaces, and back
        const PairLists other = pairs(*used, {frame.surfaces()[2], frame.surfaces()[0]}, true);
        CHECK(other == pairs(*make_broad_phase(kind), {frame.surfaces()[2], frame.surfaces()[0]}, true));
      }
    }
  }
}

TEST_CASE("surfaces of nothing, of one triangle, of one vertex") {
  Mesh triangle, vertex;
  triangle.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  triangle.triangles = {{0, 1, 2}};
  vertex.vertices = {{0.2, 0.2, 0.05}};
  const Surface one = make_surface(triangle), point = make_surface(vertex, true), none = make_surface(Mesh{});
  const std::vector<Vec4> x = rows_of(triangle.vertices), y = rows_of(vertex.vertices);
  std::vector<Vec4> above = x;
  for (Vec4& p : above) p.z += 0.1;
  for (const BroadPhaseKind kind : kinds) {
    CAPTURE(to_string(kind));
    const auto phase = make_broad_phase(kind);
    CHECK(pairs(*phase, {}, true) == PairLists{});
    CHECK(pairs(*phase, {{&none, nullptr, nullptr, 1, 0}}, true) == PairLists{});
    CHECK(pairs(*phase, {{&one, x.data(), x.data(), 1, 0}}, true) == PairLists{});
    CHECK(pairs(*phase,
                {{&one, x.data(), x.data(), 0.04, 0},
                 {&none, nullptr, nullptr, 1, 1},
                 {&one, above.data(), above.data(), 0.04, 2}},
                true) == PairLists{});
    const PairLists near =
        pairs(*phase, {{&one, x.data(), x.data(), 0.06, 0}, {&one, above.data(), above.data(), 0.06, 1}}, false);
    CHECK(near.vertex_face.size() == 6);
    CHECK(near.edge_edge.size() == 9);
    // the same body in two surfaces: rows are shared, so nothing is left of vertices and faces
    const PairLists own =
        pairs(*phase, {{&one, x.data(), x.data(), 0.06, 3}, {&one, x.data(), x.data(), 0.06, 3}}, true);
    CHECK(own == PairLists{});
    const PairLists dust =
        pairs(*phase, {{&one, x.data(), x.data(), 0.03, 0}, {&point, y.data(), y.data(), 0.03, 1}}, false);
    CHECK(dust.vertex_face == std::vector<Pair>{{1, 0, 0, 0}});
    // met on the way, at neither end
    std::vector<Vec4> below = y;
    below[0].z = -5;
    CHECK(pairs(*phase, {{&one, x.data(), x.data(), 0, 0}, {&point, y.data(), below.data(), 0, 1}}, false)
              .vertex_face.size() == 1);
    CHECK(pairs(*phase, {{&one, x.data(), x.data(), 0, 0}, {&point, y.data(), y.data(), 0, 1}}, false)
              .vertex_face.empty());
  }
}

TEST_CASE("positions that are not finite take their features out, and leave the others") {
  const Bodies bodies;
  for (const double bad : {double(NAN), double(INFINITY), -double(INFINITY), 1e300, -1e200, 1e25}) {
    CAPTURE(bad);
    Frame frame = random_frame(bodies, 6);
    for (const int row : {0, 7, 50, 51, 52}) (row % 2 ? frame.from(0) : frame.to(0))[row].y = bad;
    frame.to(2)[3].z = bad;
    const PairLists found = pairs(*make_broad_phase(BroadPhaseKind::brute_force), frame.surfaces(), true);
    CHECK(!found.vertex_face.empty());
    for (const Pair& p : found.vertex_face)
      if (p.surface_a == 0 && std::abs(bad) != 1e25) CHECK(p.feature_a != 50);
    CHECK(pairs(*make_broad_phase(BroadPhaseKind::tree), frame.surfaces(), true) == found);
    CHECK(pairs(*make_broad_phase(BroadPhaseKind::hash), frame.surfaces(), true) == found);
    for (Vec4& p : frame.from(0)) p.x = bad;
    for (Vec4& p : frame.from(1)) p.x = bad;
    const PairLists rest = pairs(*make_broad_phase(BroadPhaseKind::brute_force), frame.surfaces(), true);
    CHECK(pairs(*make_broad_phase(BroadPhaseKind::tree), frame.surfaces(), true) == rest);
    CHECK(pairs(*make_broad_phase(BroadPhaseKind::hash), frame.surfaces(), true) == rest);
  }
}

TEST_CASE("self pairs leave out what the surface never wants, and surfaces that do not want any") {
  const Bodies bodies;
  Surface filtered = *bodies.cloth_surface;
  const double distance = 2.5 * norm(bodies.cloth.vertices[1] - bodies.cloth.vertices[0]);
  never_near_at_rest(filtered, bodies.cloth.vertices, distance);
  const std::vector<Vec4> x = rows_of(crumpled(bodies.cloth.vertices, 3, 7));
  const SweptSurface plain{bodies.cloth_surface.get(), x.data(), x.data(), 0.02, 0};
  SweptSurface some = plain, none = plain;
  some.surface = &filtered;
  none.with_itself = false;
  for (const BroadPhaseKind kind : kinds) {
    CAPTURE(to_string(kind));
    const auto phase = make_broad_phase(kind);
    PairLists expected = pairs(*phase, {plain}, true);
    std::erase_if(expected.vertex_face,
                  [&](const Pair& p) { return filtered.never_faces.contains(p.feature_a, p.feature_b); });
    std::erase_if(expected.edge_edge,
                  [&](const Pair& p) { return filtered.never_edges.contains(p.feature_a, p.feature_b); });
    const PairLists left = pairs(*phase, {some}, true);
    CHECK(left == expected);
    CHECK(left.vertex_face.size() < pairs(*phase, {plain}, true).vertex_face.size());
    CHECK(pairs(*phase, {none}, true) == PairLists{});
    CHECK(pairs(*phase, {plain}, false) == PairLists{});

    // edges by themselves: not of one body, or not at all; another body's are met
    const PairLists all = pairs(*phase, {plain}, true);
    SweptSurface faces = plain, alone = plain, other = plain;
    faces.edges = EdgePairs::of_others, alone.edges = EdgePairs::none, other.body = 1;
    for (const SweptSurface& surface : {faces, alone}) {
      const PairLists found = pairs(*phase, {surface}, true);
      CHECK(found.vertex_face == all.vertex_face);
      CHECK(found.edge_edge.empty());
    }
    CHECK(!pairs(*phase, {faces, other}, false).edge_edge.empty());
    CHECK(pairs(*phase, {faces, other}, false) == pairs(*phase, {plain, other}, false));
    CHECK(pairs(*phase, {alone, other}, false).edge_edge.empty());
  }
}
