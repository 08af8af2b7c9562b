#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

namespace {

Mesh cage_of(const Mesh& surface, double cell, int tets = 5) {
  auto cage = generate_mesh("cage", {{"cell", {cell}}, {"tets_per_cell", {double(tets)}}}, &surface);
  INFO(cage.diagnostics().text());
  REQUIRE(cage);
  return *cage;
}
int cells(const Mesh& cage, int tets = 5) { return int(cage.tetrahedra.size()) / tets; }

Mesh joined(Mesh a, const Mesh& b, bool flip) {
  const int n = int(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (auto [i, j, k] : b.triangles) {
    if (flip) std::swap(j, k);
    a.triangles.push_back({n + i, n + j, n + k});
  }
  return a;
}
Mesh ball_skin(double size) {
  Mesh skin = skin_of(generate_mesh("ball", {{"frequency", {12}}}).value());
  for (Vec3& p : skin.vertices) p = p * size;
  return skin;
}

}  // namespace

TEST_CASE("a cage is a sound solid that holds the whole surface") {
  for (const char* name : {"bear", "car", "torus"})
    for (const int tets : {5, 6})
      for (const double cell : {0.31, 0.1, 0.047}) {
        CAPTURE(name);
        CAPTURE(tets);
        CAPTURE(cell);
        const Mesh surface = skin_of(generate_mesh(name, {{"resolution", {24}}}).value());
        const Mesh cage = cage_of(surface, cell, tets);
        CHECK(smallest_volume(cage) > 0);
        CHECK(conforming(cage));
        CHECK(unreferenced(cage) == 0);
        CHECK(volume(cage) == doctest::Approx(cells(cage, tets) * cell * cell * cell).epsilon(1e-9));
        CHECK(embed(cage, surface.vertices).farthest < 1e-12);
        // no hollow: points inside the surface are inside the cage, too
        const Mesh solid = generate_mesh(name, {{"resolution", {24}}}).value();
        CHECK(embed(cage, solid.vertices).farthest < 1e-12);
        CHECK(volume(cage) > volume(solid));
        // nor more than the cells that touch: no corner is further from the surface than a diagonal, unless inside
        CHECK(embed(solid, cage.vertices).farthest < 1.7321 * cell);
      }
}

TEST_CASE("a cage keeps exactly the cells that the surface touches or encloses") {
  // a unit cube, off the lattice planes inside: 10 cells along each side, all touched or inside
  const Mesh cube = generate_mesh("box", {{"cells", {1, 1, 1}}}).value();
  CHECK(cells(cage_of(cube, 0.1)) == 1000);
  CHECK(cells(cage_of(cube, 0.3)) == 64);
  CHECK(cells(cage_of(cube, 2)) == 1);
  CHECK(cells(cage_of(skin_of(cube), 0.1)) == 1000);

  // a shell: a ball without a ball is hollow where no cell is touched
  const Mesh shell = joined(ball_skin(1), ball_skin(0.7), true);
  const Mesh cage = cage_of(shell, 0.05);
  CHECK(embed(cage, {{0, 0, 0}}).farthest > 0.25);
  CHECK(embed(cage, {{0.425, 0, 0}}).farthest == 0);
  // the volume between them, and at most about a cell and a half more on each side
  const double pi = 3.14159265358979;
  CHECK(volume(cage) > pi / 6 * (1 - 0.343));
  CHECK(volume(cage) < pi / 6 * (std::pow(1.15, 3) - std::pow(0.55, 3)));
}

TEST_CASE("a surface turned inside out, cutting through itself or without shared vertices is filled all the same") {
  const Mesh ball = ball_skin(1);
  const Mesh filled = cage_of(ball, 0.1);
  Mesh inside_out = ball;
  for (auto& t : inside_out.triangles) std::swap(t[1], t[2]);
  CHECK(cage_of(inside_out, 0.1).tetrahedra == filled.tetrahedra);

  Mesh loose;
  for (const auto& t : ball.triangles) {
    const int n = int(loose.vertices.size());
    for (const int v : t) loose.vertices.push_back(ball.vertices[v]);
    loose.triangles.push_back({n, n + 1, n + 2});
  }
  auto cage = generate_mesh("cage", {{"cell", {0.1}}}, &loose);
  CHECK(cage.diagnostics().empty());
  CHECK(cage->vertices == filled.vertices);

  Mesh other = ball;
  for (Vec3& p : other.vertices) p.x += 0.6;
  const Mesh two = cage_of(joined(ball, other, false), 0.1);
  for (const Vec3 p : {Vec3{-0.2, 0, 0}, Vec3{0.3, 0, 0}, Vec3{0.8, 0, 0}}) CHECK(embed(two, {p}).farthest == 0);
}

TEST_CASE("an open surface gets the cells that it touches, and a warning") {
  const Mesh sheet = generate_mesh("cloth", {{"columns", {20}}, {"rows", {20}}}).value();
  const auto cage = generate_mesh("cage", {{"cell", {0.1}}}, &sheet);
  REQUIRE(cage);
  CHECK(mentions(cage.diagnostics(), Severity::warning, "cage: the surface is not closed"));
  CHECK(cells(*cage) == 100);

  Mesh holed = ball_skin(1);
  holed.triangles.pop_back();
  const auto hollow = generate_mesh("cage", {{"cell", {0.1}}}, &holed);
  CHECK(mentions(hollow.diagnostics(), Severity::warning, "is not closed"));
  CHECK(embed(*hollow, {{0, 0, 0}}).farthest > 0.3);
}

TEST_CASE("a cage that cannot be built says why") {
  const Mesh ball = ball_skin(1);
  CHECK(mentions(generate_mesh("cage").diagnostics(), Severity::error, "cage: found no surface, expected one"));
  const auto fine = generate_mesh("cage", {{"cell", {1e-4}}}, &ball);
  CHECK_FALSE(fine);
  CHECK(mentions(fine.diagnostics(), Severity::error,
                 "cell: found 0.0001, which makes a lattice of 1e+12 cells, expected at most 2000000"));
  // the proposal is good enough
  CHECK(generate_mesh("cage", {{"cell", {0.0081}}}, &ball));
  CHECK_FALSE(generate_mesh("cage", {{"cell", {1e-300}}}, &ball));
  CHECK(mentions(generate_mesh("cage", {{"cell", {-1}}}, &ball).diagnostics(), Severity::error, "cage.cell"));
  const Mesh rope = generate_mesh("chain").value();
  CHECK(mentions(generate_mesh("cage", {}, &rope).diagnostics(), Severity::error, "without triangles"));
  Mesh broken = ball;
  broken.vertices[3].x = INFINITY;
  CHECK(mentions(generate_mesh("cage", {}, &broken).diagnostics(), Severity::error, "not finite"));
}

TEST_CASE("the same surface gets the same cage, wherever it stands and whatever its size") {
  const Mesh surface = skin_of(generate_mesh("bear", {{"resolution", {20}}}).value());
  const Mesh cage = cage_of(surface, 0.1);
  CHECK(cage_of(surface, 0.1).vertices == cage.vertices);
  Mesh large = surface;
  for (Vec3& p : large.vertices) p = p * 4.0;  // a power of two: the same bits
  CHECK(cage_of(large, 0.4).tetrahedra == cage.tetrahedra);
  Mesh away = surface;
  for (Vec3& p : away.vertices) p += Vec3{1e3, 0, -1e3};
  CHECK(cells(cage_of(away, 0.1)) == cells(cage));
}

TEST_CASE("the car's skin is closed, a manifold, outward and without slivers that look backwards") {
  for (const double resolution : {40.0, 47.3, 64.0}) {
    CAPTURE(resolution);
    const Mesh car = skin_of(generate_mesh("car", {{"resolution", {resolution}}}).value());
    const SkinCheck check = check_skin(car.triangles);
    CHECK(check.closed);
    CHECK(check.manifold);
    CHECK(check.euler == 2);
    CHECK(enclosed_volume(car, car.triangles) > 0);
    // Neighbours may meet at a sharp crease but never fold back onto each other.
    std::map<std::array<int, 2>, Vec3> normal_at;
    double sharpest = 1;
    for (const auto& t : car.triangles) {
      const Vec3 n = cross(car.vertices[t[1]] - car.vertices[t[0]], car.vertices[t[2]] - car.vertices[t[0]]);
      REQUIRE(norm(n) > 0);
      for (int i = 0; i < 3; ++i) normal_at[{t[i], t[(i + 1) % 3]}] = n / norm(n);
    }
    for (const auto& [edge, n] : normal_at) sharpest = std::min(sharpest, dot(n, normal_at.at({edge[1], edge[0]})));
    CHECK(sharpest > -0.5);  // 120 degrees: the edge of a deep groove, cut off by the lattice
  }
}
