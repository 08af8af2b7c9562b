// Surfaces that bodies carry, from the scene file to the moving positions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "scenes.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

std::string caged(const std::string& mesh, const std::string& body_keys) {
  return "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": " + mesh +
         (body_keys.empty() ? "" : ", " + body_keys) + "}]}";
}
const std::string cage = "{\"generator\": \"cage\", \"cell\": 0.2}";

/// What Simulation::create says about a text that is read without complaint.
std::string create_says(const std::string& text) {
  const Expected<Scene> scene = parse_scene(text, "test.json");
  REQUIRE_MESSAGE(scene.has_value(), scene.diagnostics().text());
  return Simulation::create(*scene).diagnostics().text();
}
Simulation create(const std::string& text) {
  return Simulation::create(parse_scene(text, "test.json").value()).value();
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Vec3 normal(const std::vector<Vec3>& x, const std::array<int, 3>& t) {
  return cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]);
}

/// Cofactors of the deformation gradient of a tetrahedron: they carry area vectors (Nanson). And its determinant.
struct Map {
  Mat3 cofactors;
  double determinant;
};
Map map_of(const std::array<int, 4>& t, const std::vector<Vec3>& rest, const std::vector<Vec3>& x) {
  const auto edges = [&](const std::vector<Vec3>& p) {
    Mat3 m;
    for (int c = 0; c < 3; ++c) m.col[c] = p[t[c + 1]] - p[t[0]];
    return m;
  };
  const Mat3 d = edges(rest), e = edges(x);
  const double volume = dot(cross(d.col[0], d.col[1]), d.col[2]);
  Mat3 inverse_rows;  // column i is row i of the inverse of d
  for (int i = 0; i < 3; ++i) inverse_rows.col[i] = cross(d.col[(i + 1) % 3], d.col[(i + 2) % 3]) / volume;
  Mat3 f;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i) f.col[c] += e.col[i] * inverse_rows.col[i][c];
  Map map;
  for (int c = 0; c < 3; ++c) map.cofactors.col[c] = cross(f.col[(c + 1) % 3], f.col[(c + 2) % 3]);
  map.determinant = dot(f.col[0], map.cofactors.col[0]);
  return map;
}

}  // namespace

TEST_CASE("a carried surface is placed with its body and follows its initial state") {
  Simulation simulation =
      create(caged(cage,
                   "\"embed\": {\"generator\": \"bear\", \"resolution\": 30}, "
                   "\"place\": {\"scale\": 2, \"rotate\": [0, 90, 0], \"translate\": [1, 2, 3]}, "
                   "\"initial\": {\"stretch\": [1, 0.5, 2]}, \"potentials\": [{\"type\": \"tet_strain\"}]"));
  const Mesh bear = skin_of(generate_mesh("bear", {{"resolution", {30}}}).value());
  const Mesh* surface = simulation.embedded_mesh(0);
  REQUIRE(surface);
  REQUIRE(simulation.embedding(0));
  REQUIRE(surface->triangles.size() == bear.triangles.size());
  CHECK(surface->tetrahedra.empty());
  CHECK(simulation.embedding(0)->farthest < 1e-12);
  const std::vector<Vec3> x = simulation.embedded_positions(0);
  REQUIRE(x.size() == bear.vertices.size());
  const Vec3 c = simulation.measure(0).center;
  double worst = 0, worst_rest = 0;
  for (size_t i = 0; i < bear.triangles.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const Vec3& p = bear.vertices[bear.triangles[i][k]];
      const int v = surface->triangles[i][k];
      const Vec3 placed = Vec3{p.z, p.y, -p.x} * 2 + Vec3{1, 2, 3};  // a quarter turn about y
      const Vec3 d = placed - c;
      worst_rest = std::max(worst_rest, norm(surface->vertices[v] - placed));
      worst = std::max(worst, norm(x[v] - (c + Vec3{d.x, 0.5 * d.y, 2 * d.z})));
    }
  CHECK(worst_rest < 1e-12);  // the bear is centred by a sum over some 1e4 tetrahedra or triangles
  CHECK(worst < 1e-12);

  // and it goes on following: the map of the frame carries it
  for (int i = 0; i < 3; ++i) REQUIRE(simulation.step());
  CHECK(simulation.embedded_positions(0) == carry(*simulation.embedding(0), simulation.positions()));
  CHECK(simulation.embedded_positions(0) != x);
}

TEST_CASE("a body without a surface has none") {
  const Simulation simulation = create(small_scene("", "\"embed\": null"));
  CHECK(simulation.embedded_mesh(0) == nullptr);
  CHECK(simulation.embedding(0) == nullptr);
  CHECK(simulation.embedded_positions(0).empty());
  CHECK_THROWS_AS(simulation.embedded_mesh(1), std::invalid_argument);
  CHECK_THROWS_AS(simulation.embedded_positions(-1), std::invalid_argument);
}

TEST_CASE("the second of two bodies carries by its own vertices") {
  const std::string body =
      "\"mesh\": {\"generator\": \"box\", \"cells\": [2, 2, 2]}, "
      "\"potentials\": [{\"type\": \"tet_strain\"}], "
      "\"embed\": {\"generator\": \"ball\", \"size\": 0.9}";
  Simulation simulation = create("{\"version\": 1, \"bodies\": [{\"name\": \"a\", " + body + "}, {\"name\": \"b\", " +
                                 body + ", \"initial\": {\"velocity\": [3, 0, 0]}}]}");
  for (int i = 0; i < 30; ++i) REQUIRE(simulation.step());
  const auto a = simulation.embedded_positions(0), b = simulation.embedded_positions(1);
  // the velocity 3 m/s for 1 s, held by the conservation of momentum to rounding
  for (size_t i = 0; i < a.size(); ++i) CHECK(norm(b[i] - a[i] - Vec3{3, 0, 0}) < 1e-9);
}

TEST_CASE("carried surfaces that make no sense are refused, each with its place") {
  CHECK(contains(complaints(caged(cage, "")),
                 "test.json:1:63: bodies[0].mesh.generator: found \"cage\" and no embed, expected the surface to build "
                 "around in bodies[0].embed"));
  CHECK(contains(complaints(caged(cage, "\"embed\": " + cage)),
                 "bodies[0].embed.generator: found \"cage\", which is built around a surface, expected the surface"));
  CHECK(contains(complaints(caged(cage, "\"embed\": {\"generator\": \"beer\"}")),
                 "bodies[0].embed.generator: found \"beer\", expected one of"));
  CHECK(contains(complaints(caged(cage, "\"embed\": {\"generator\": \"bear\", \"seize\": 1}")),
                 "bodies[0].embed.seize: unknown key, expected one of"));
  CHECK(contains(complaints(caged(cage, "\"embed\": {\"generator\": \"bear\", \"size\": -1}")),
                 "bodies[0].embed.size: "));
  CHECK(contains(complaints(caged(cage, "\"embed\": {}")),
                 "bodies[0].embed: found no mesh, expected one of generator, file, data"));
  CHECK(contains(complaints(caged(cage, "\"embed\": {\"file\": \"nowhere.obj\"}")),
                 "bodies[0].embed.file: found \"nowhere.obj\", expected a file that exists"));
  CHECK(contains(complaints(caged(cage, "\"embed\": 3")), "bodies[0].embed: found 3, expected an object"));
  CHECK(contains(complaints(caged("{\"generator\": \"cage\", \"cell\": 0}", "\"embed\": {\"generator\": \"bear\"}")),
                 "bodies[0].mesh.cell: found 0, expected a number > 0 [m]"));

  CHECK(contains(create_says(caged("{\"generator\": \"cloth\"}", "\"embed\": {\"generator\": \"bear\"}")),
                 "bodies[0].embed: found a surface to carry and a body \"a\" without tetrahedra"));
  CHECK(contains(create_says(caged(cage, "\"embed\": {\"generator\": \"chain\"}")),
                 "bodies[0].embed: found a mesh without triangles and tetrahedra, expected a surface"));
  CHECK(
      contains(create_says(caged("{\"generator\": \"cage\", \"cell\": 1e-5}", "\"embed\": {\"generator\": \"ball\"}")),
               "bodies[0].mesh.cell: found 1e-05, which makes a lattice of 1e+15 cells"));
  CHECK(contains(create_says(caged("{\"generator\": \"cube\", \"size\": 0.2}", "\"embed\": {\"generator\": \"ball\"}")),
                 "bodies[0].embed: warning: the surface reaches 0.4 m beyond the body"));
  CHECK(contains(create_says(caged(cage, "\"embed\": {\"generator\": \"cloth\"}")),
                 "bodies[0].mesh: warning: the surface is not closed"));
}

TEST_CASE("a carried surface is written and read, also with all its vertices") {
  Scene scene = parse_scene(caged(cage, "\"embed\": {\"generator\": \"ball\", \"frequency\": 3}"), "test.json").value();
  CHECK(scene.bodies[0].embed->generator == "ball");
  std::string written = write_scene(scene);
  CHECK(write_scene(parse_scene(written, "scene.json").value()) == written);
  scene.bodies[0].embed = MeshSpec{};
  scene.bodies[0].embed->mesh =
      std::make_shared<const Mesh>(skin_of(generate_mesh("ball", {{"frequency", {3}}}).value()));
  written = write_scene(scene);
  const Scene again = parse_scene(written, "scene.json").value();
  CHECK(again.bodies[0].embed->mesh->vertices == scene.bodies[0].embed->mesh->vertices);
  CHECK(write_scene(again) == written);
  scene.bodies[0].embed.reset();
  CHECK(contains(write_scene(scene), "\"embed\": null"));
}

// Inventory P22. A triangle is flipped when it looks against the area vector that the map of one of the tetrahedra
// carrying its corners gives it, or when such a tetrahedron is itself turned inside out.
TEST_CASE("no triangle of the car flips while it tumbles") {
  Simulation simulation = Simulation::create(read_scene("car").value()).value();
  const Embedding& embedding = *simulation.embedding(0);
  const Mesh& surface = *simulation.embedded_mesh(0);
  const std::vector<Vec3>& rest = simulation.mesh(0).vertices;
  std::map<std::array<int, 4>, int> number;
  std::vector<std::array<int, 4>> tets;
  std::vector<int> tet_of(embedding.vertices.size());
  for (size_t i = 0; i < tet_of.size(); ++i) {
    const auto [entry, fresh] = number.try_emplace(embedding.vertices[i], int(tets.size()));
    if (fresh) tets.push_back(entry->first);
    tet_of[i] = entry->second;
  }
  std::vector<Vec3> rest_normal;
  for (const auto& t : surface.triangles) rest_normal.push_back(normal(surface.vertices, t));

  long flipped = 0;
  double least = 1, least_cosine = 1, largest_change = 0;
  std::vector<Map> maps(tets.size());
  for (int frame = 0; frame <= simulation.scene().frames; ++frame) {
    if (frame > 0) REQUIRE(simulation.step());
    const std::vector<Vec3> x = simulation.positions(), y = simulation.embedded_positions(0);
    for (size_t i = 0; i < tets.size(); ++i) {
      maps[i] = map_of(tets[i], rest, x);
      least = std::min(least, maps[i].determinant);
      largest_change = std::max(largest_change, maps[i].determinant);
    }
    for (size_t i = 0; i < surface.triangles.size(); ++i) {
      const auto& t = surface.triangles[i];
      const Vec3 n = normal(y, t);
      for (const int v : t) {
        const Map& map = maps[tet_of[v]];
        const Vec3 expected = map.cofactors * rest_normal[i];
        const double along = dot(n, expected);
        least_cosine = std::min(least_cosine, along / (norm(n) * norm(expected)));
        if (!(along > 0) || !(map.determinant > 0)) ++flipped;
      }
    }
  }
  INFO("volumes of tetrahedra from " << least << " to " << largest_change << " of those at rest, least cosine "
                                     << least_cosine);
  CHECK(flipped == 0);
  CHECK(largest_change > 1.05);  // it does wobble
}
