#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("the volume of a tetrahedron changes sign with its orientation") {
  const Vec3 a{1, 1, 1}, b{3, 1, 1}, c{1, 4, 1}, d{1, 1, 5};
  CHECK(tet_volume(a, b, c, d) == doctest::Approx(2 * 3 * 4 / 6.0));
  CHECK(tet_volume(a, c, b, d) == doctest::Approx(-2 * 3 * 4 / 6.0));
}

TEST_CASE("the surface of one tetrahedron is its four faces, looking outward") {
  const Mesh mesh = generate_mesh("tetrahedron").value();
  const auto skin = surface(mesh);
  REQUIRE(skin.size() == 4);
  for (const auto& t : skin) {
    const Vec3 a = mesh.vertices[t[0]], b = mesh.vertices[t[1]], c = mesh.vertices[t[2]];
    CHECK(dot(cross(b - a, c - a), a + b + c) > 0);  // the centre is the origin
  }
}

TEST_CASE("the surface leaves out shared faces and appends the mesh's own triangles") {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {5, 0, 0}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  mesh.triangles = {{0, 1, 5}};
  const auto skin = surface(mesh);
  REQUIRE(skin.size() == 7);
  CHECK(skin.back() == std::array{0, 1, 5});
  for (auto t : skin) {
    std::sort(t.begin(), t.end());
    CHECK(t != std::array{1, 2, 3});
  }
  CHECK(surface(mesh) == skin);
}

TEST_CASE("every edge is listed once, lower vertex first, sorted") {
  Mesh mesh;
  mesh.vertices.resize(6);
  mesh.tetrahedra = {{3, 1, 2, 0}};
  mesh.triangles = {{3, 2, 4}};
  mesh.edges = {{5, 4}, {4, 5}};
  const std::vector<std::array<int, 2>> expected = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3},
                                                    {2, 3}, {2, 4}, {3, 4}, {4, 5}};
  CHECK(unique_edges(mesh) == expected);
}

TEST_CASE("dihedral angles: 70.53 degrees in the regular tetrahedron, 54.74 and 90 in a cube's corner") {
  const double regular = std::acos(1.0 / 3) * 180 / std::acos(-1.0);
  const auto range = dihedral_range(generate_mesh("tetrahedron").value());
  CHECK(range[0] == doctest::Approx(regular));
  CHECK(range[1] == doctest::Approx(regular));

  Mesh corner;
  corner.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  corner.tetrahedra = {{0, 1, 2, 3}};
  CHECK(dihedral_range(corner)[0] == doctest::Approx(std::acos(1 / std::sqrt(3.0)) * 180 / std::acos(-1.0)));
  CHECK(dihedral_range(corner)[1] == doctest::Approx(90));
  CHECK(dihedral_range(Mesh{}) == std::array<double, 2>{0, 0});
}
