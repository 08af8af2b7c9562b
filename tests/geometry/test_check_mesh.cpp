#include <limits>

#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

namespace {

Mesh two_tets() {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {1, 4, 2, 3}};
  return mesh;
}

/// Checks a copy each way: refused as an error, repaired as a warning; returns the repaired mesh.
Mesh check_fault(const Mesh& mesh, const std::string& text) {
  Mesh strict = mesh, repaired = mesh;
  Diagnostics refused, warned;
  check_mesh(strict, MeshRepair::refuse, "test", refused);
  check_mesh(repaired, MeshRepair::repair, "test", warned);
  INFO("refused: " << refused.text());
  INFO("warned: " << warned.text());
  CHECK(mentions(refused, Severity::error, text));
  CHECK(mentions(warned, Severity::warning, text));
  CHECK(refused.items().size() == 1);
  CHECK(warned.items().size() == 1);
  CHECK(strict.tetrahedra == mesh.tetrahedra);  // refusing changes nothing
  return repaired;
}

void check_always_error(Mesh mesh, const std::string& text) {
  for (const MeshRepair repair : {MeshRepair::refuse, MeshRepair::repair}) {
    Mesh copy = mesh;
    Diagnostics out;
    check_mesh(copy, repair, "test", out);
    INFO(out.text());
    CHECK(mentions(out, Severity::error, text));
  }
}

}  // namespace

TEST_CASE("a sound mesh passes without a word") {
  Mesh mesh = two_tets();
  Diagnostics out;
  check_mesh(mesh, MeshRepair::refuse, "test", out);
  CHECK(out.text() == "");
}

TEST_CASE("inverted tetrahedra are counted and flipped") {
  Mesh mesh = two_tets();
  std::swap(mesh.tetrahedra[1][0], mesh.tetrahedra[1][1]);
  const Mesh repaired = check_fault(mesh, "1 inverted tetrahedra (negative volume), first at index 1");
  CHECK(smallest_volume(repaired) > 0);
  CHECK(repaired.tetrahedra.size() == 2);
}

TEST_CASE("degenerate tetrahedra are counted and dropped, whatever the scale") {
  for (const double scale : {1e-120, 1e-6, 1.0, 1e6, 1e90}) {
    CAPTURE(scale);
    Mesh mesh = two_tets();
    mesh.vertices.push_back({1, 1, 1e-12});
    mesh.tetrahedra.insert(mesh.tetrahedra.begin(), {0, 1, 2, 5});  // flat
    mesh.tetrahedra.push_back({0, 1, 5, 5});                        // a vertex twice
    mesh.triangles = {{0, 1, 5}};                                   // keeps vertex 5 in use
    for (Vec3& p : mesh.vertices) p *= scale;
    const Mesh repaired = check_fault(mesh, "2 degenerate tetrahedra");
    CHECK(repaired.tetrahedra == two_tets().tetrahedra);
  }
}

TEST_CASE("a tetrahedron that is small but well shaped is not degenerate") {
  Mesh mesh = two_tets();
  for (int i = 0; i < 4; ++i) mesh.vertices.push_back(mesh.vertices[i] * 1e-5);
  mesh.vertices[4] += Vec3{0, 0, 0};
  mesh.tetrahedra.push_back({5, 6, 7, 8});
  Diagnostics out;
  check_mesh(mesh, MeshRepair::refuse, "test", out);
  CHECK(out.text() == "");
}

TEST_CASE("degenerate triangles and edges are dropped by name") {
  Mesh sheet;
  sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}};
  sheet.triangles = {{0, 1, 3}, {0, 1, 2}, {1, 2, 3}};
  CHECK(check_fault(sheet, "1 degenerate triangles (area").triangles.size() == 2);
  Mesh rope;
  rope.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  rope.edges = {{0, 1}, {0, 2}, {1, 2}};
  CHECK(
      check_fault(rope, "1 degenerate edges (length below 1e-10 of the bounding box), first at index 2").edges.size() ==
      2);
}

TEST_CASE("duplicated elements are found in any vertex order and dropped") {
  Mesh mesh = two_tets();
  mesh.tetrahedra.push_back({3, 2, 1, 0});
  CHECK(check_fault(mesh, "1 duplicated tetrahedra (same vertices as an earlier one), first at index 2").tetrahedra ==
        two_tets().tetrahedra);
  Mesh rope;
  rope.vertices = {{0, 0, 0}, {1, 0, 0}};
  rope.edges = {{0, 1}, {1, 0}};
  CHECK(check_fault(rope, "1 duplicated edges").edges.size() == 1);
}

TEST_CASE("unreferenced vertices are counted and kept") {
  Mesh mesh = two_tets();
  mesh.vertices.push_back({7, 7, 7});
  CHECK(check_fault(mesh, "1 unreferenced vertices (used by no element), first at index 5").vertices.size() == 6);
}

TEST_CASE("non-finite vertices, indices out of range and empty meshes are always errors") {
  Mesh mesh = two_tets();
  mesh.vertices[2].y = std::numeric_limits<double>::quiet_NaN();
  check_always_error(mesh, "1 non-finite vertices, first at index 2");
  mesh = two_tets();
  mesh.vertices[4].x = std::numeric_limits<double>::infinity();
  check_always_error(mesh, "first at index 4");
  mesh = two_tets();
  mesh.tetrahedra[1][2] = 99;
  check_always_error(mesh,
                     "1 tetrahedra with an index out of range, first at index 1: found vertex 99, expected 0 to 4");
  mesh = two_tets();
  mesh.edges = {{0, -1}};
  check_always_error(mesh, "edges with an index out of range");
  check_always_error({}, "empty mesh");
  mesh = two_tets();
  mesh.tetrahedra.clear();
  check_always_error(mesh, "empty mesh");
}

TEST_CASE("a mesh of nothing but degenerate elements is empty after repair") {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  mesh.triangles = {{0, 1, 2}};
  Diagnostics out;
  check_mesh(mesh, MeshRepair::repair, "test", out);
  CHECK(mentions(out, Severity::error, "every element was degenerate"));
}

TEST_CASE("all faults of a mesh are reported at once") {
  Mesh mesh = two_tets();
  std::swap(mesh.tetrahedra[0][0], mesh.tetrahedra[0][1]);
  mesh.tetrahedra.push_back(mesh.tetrahedra[1]);
  mesh.tetrahedra.push_back({0, 0, 1, 2});
  mesh.vertices.push_back({3, 3, 3});
  Diagnostics out;
  check_mesh(mesh, MeshRepair::refuse, "test", out);
  CHECK(out.items().size() == 4);
}
