#include "geometry/mesh_checks.h"
#include "source_dir.h"

using namespace verve;
using namespace verve::test;

namespace {

const std::string good =
    "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n"
    "Tetrahedra\n2\n1 2 3 4 1\n2 5 3 4 1\nEnd\n";

Expected<Mesh> read(const std::string& text) {
  TemporaryFolder folder;
  return read_mesh(folder.write("test.mesh", text));
}

void check_error(const std::string& text, const std::string& expected) {
  const auto mesh = read(text);
  INFO(mesh.diagnostics().text());
  CAPTURE(text);
  CHECK(!mesh);
  CHECK(mentions(mesh.diagnostics(), Severity::error, expected));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a Medit file is read, indices from 1, vertex order kept") {
  const auto mesh = read(good);
  REQUIRE(mesh);
  CHECK(mesh.diagnostics().empty());
  CHECK(mesh->vertices.size() == 5);
  CHECK(mesh->vertices[3] == Vec3{0, 0, 1});
  CHECK(mesh->tetrahedra == std::vector<std::array<int, 4>>{{0, 1, 2, 3}, {1, 4, 2, 3}});
}

TEST_CASE("a Medit file may have comments, any layout, any section order, unused sections and no End") {
  const auto mesh = read(
      "# made by hand\nMeshVersionFormatted\n\n2 # version\nDimension\n3\n"
      "Tetrahedra 2 1 2 3 4 1 # all in one line\n 2 5\t3 4\r\n1\n"
      "Corners\n2\n1\n2\nRequiredVertices 1 3\nHexahedra\n0\n"
      "Quadrilaterals 1 1 2 3 4 0\n"
      "Triangles\n1\n1 3 2 7\nEdges 2 1 2 0 4 5 0\n"
      "Vertices\n5 0 0 0 0 1 0 0 0 0 1 0 0\n0 0\n1 0 1.0e0 1 +1 0");
  INFO(mesh.diagnostics().text());
  REQUIRE(mesh);
  CHECK(mesh->tetrahedra.size() == 2);
  CHECK(mesh->triangles.empty());  // a face of a tetrahedron
  CHECK(mesh->edges.empty());      // both are edges of tetrahedra
  CHECK(mesh->vertices[4] == Vec3{1, 1, 1});
  CHECK(mentions(mesh.diagnostics(), Severity::note, "test.mesh:10: 2 Corners are not used"));
  CHECK(mentions(mesh.diagnostics(), Severity::note, "1 Quadrilaterals are not used"));
  CHECK(mentions(mesh.diagnostics(), Severity::note, "1 triangles are faces of tetrahedra"));
  CHECK(mentions(mesh.diagnostics(), Severity::note, "2 edges belong to tetrahedra"));
}

TEST_CASE("triangles and edges that no tetrahedron has are kept") {
  const auto mesh = read(
      "MeshVersionFormatted 1 Dimension 3 Vertices 4 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 Triangles 1 1 2 3 0 Edges 1 3 4 0 "
      "End");
  REQUIRE(mesh);
  CHECK(mesh->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}});
  CHECK(mesh->edges == std::vector<std::array<int, 2>>{{2, 3}});
}

TEST_CASE("faults of a Medit file are reported with file, line, what was found and what was expected") {
  check_error("", "found an empty file");
  check_error("\n  # nothing\n", "expected MeshVersionFormatted");
  check_error("solid box", "test.mesh:1: found \"solid\", expected MeshVersionFormatted");
  check_error(replaced(good, "Formatted 1", "Formatted 9"), "found version 9, expected 1 to 4");
  check_error(replaced(good, "Dimension 3", "Dimension 2"), "test.mesh:2: found Dimension 2, expected 3");
  check_error(replaced(good, "1 0 0 0", "1 zero 0 0"), "test.mesh:6: found \"zero\", expected a number");
  check_error(replaced(good, "1 0 0 0", "1 nan 0 0"), "test.mesh:6: found \"nan\", expected a finite number");
  check_error(replaced(good, "1 0 0 0", "1 1e999 0 0"), "expected a finite number");
  check_error(replaced(good, "1 0 0 0", "1 0x 0 0"), "found \"0x\", expected a number");
  check_error(replaced(good, "Vertices\n5", "Vertices\n6"),
              "found \"Tetrahedra\" after 5 of 6 rows, expected another row of Vertices");
  check_error(replaced(good, "Vertices\n5", "Vertices\n4"), "test.mesh:9: found \"1\" after the 4 rows of Vertices");
  check_error(replaced(good, "Vertices\n5", "Vertices\nfive"), "found \"five\", expected a number of Vertices");
  check_error(replaced(good, "Vertices\n5", "Vertices\n-5"), "found -5 Vertices, expected a number >= 0");
  check_error(replaced(good, "Vertices\n5", "Vertices\n2000000000"), "what the rest of the file can hold");
  check_error(replaced(good, "Vertices\n5", "Vertices\n99999999999999999999"), "expected a number of Vertices");
  check_error(replaced(good, "Tetrahedra\n2", "Tetrahedra\n3"), "after 2 of 3 rows");
  check_error(replaced(good, "Tetrahedra", "Tetraheda"),
              "test.mesh:10: found \"Tetraheda\", expected a section name (nearest: Tetrahedra)");
  check_error(replaced(good, "2 5 3 4 1", "2 6 3 4 1"), "Tetrahedra row 2: found vertex number 6, expected 1 to 5");
  check_error(replaced(good, "2 5 3 4 1", "2 0 3 4 1"),
              "found a vertex number 0 in Tetrahedra, expected a whole number >= 1");
  check_error(replaced(good, "2 5 3 4 1", "2 1.5 3 4 1"), "found a vertex number 1.5");
  check_error(replaced(good, "End", "Vertices 1 0 0 0 0 End"),
              "found a second section Vertices, the first is in line 3");
  check_error("MeshVersionFormatted 1 Dimension 3 Tetrahedra 1 1 2 3 4 0 End", "found no section Vertices");
  check_error("MeshVersionFormatted 1 Dimension 3 Vertices 1 0 0 0 0 End", "empty mesh");
}

TEST_CASE("a Medit file cut off anywhere is an error or a valid mesh, never a crash") {
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto mesh = read(good.substr(0, length));
    if (mesh) {
      CHECK(mesh->tetrahedra.size() == 2);
    } else {
      CHECK(mesh.diagnostics().has_errors());
    }
  }
}

TEST_CASE("a Medit file with any byte changed is an error or a mesh that passes the checks") {
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const char c : {'\0', '-', '9', 'x', '#', '\n', '\xff'}) {
      std::string text = good;
      text[i] = c;
      auto mesh = read(text);
      if (!mesh) continue;
      Diagnostics out;
      check_mesh(*mesh, MeshRepair::repair, "again", out);
      CHECK(!out.has_errors());
    }
}

TEST_CASE("a file that is broken throughout is reported in a screenful") {
  std::string text = "MeshVersionFormatted 1\nDimension 3\nVertices\n1000\n";
  for (int i = 0; i < 1000; ++i) text += "a b c d\n";
  const auto mesh = read(text);
  CHECK(!mesh);
  CHECK(mesh.diagnostics().items().size() < 30);
}

TEST_CASE("missing files, folders and unknown extensions are named") {
  TemporaryFolder folder;
  CHECK(mentions(read_mesh(folder.path() / "no.mesh").diagnostics(), Severity::error, "no.mesh: file not found"));
  CHECK(mentions(read_mesh(folder.path()).diagnostics(), Severity::error, "found a directory"));
  std::filesystem::create_directories(folder.path() / "folder.mesh");
  CHECK(mentions(read_mesh(folder.path() / "folder.mesh").diagnostics(), Severity::error, "found a directory"));
  CHECK(mentions(read_mesh(folder.write("a.mash", "x")).diagnostics(), Severity::error,
                 "found the extension \".mash\", expected one of .mesh, .obj, .stl"));
  CHECK(mentions(read_mesh(folder.write("b.mash", "x")).diagnostics(), Severity::error, "(nearest: .mesh)"));
  CHECK(mentions(read_mesh(folder.write("plain", "x")).diagnostics(), Severity::error, "found the extension \"\""));
}

TEST_CASE("refusing a mesh turns each repair into an error") {
  TemporaryFolder folder;
  const auto file = folder.write("test.mesh", replaced(good, "2 5 3 4 1", "5 2 3 4 1"));
  const auto repaired = read_mesh(file, MeshRepair::repair);
  REQUIRE(repaired);
  CHECK(mentions(repaired.diagnostics(), Severity::warning, "1 inverted tetrahedra"));
  CHECK(smallest_volume(*repaired) > 0);
  const auto refused = read_mesh(file, MeshRepair::refuse);
  CHECK(!refused);
  CHECK(mentions(refused.diagnostics(), Severity::error, "1 inverted tetrahedra"));
}

TEST_CASE("a mesh written to .mesh comes back bit by bit") {
  TemporaryFolder folder;
  for (const char* name : {"bear", "cloth", "chain", "tetrahedron"}) {
    Mesh mesh = generate_mesh(name).value();
    for (Vec3& p : mesh.vertices) p = p * (1.0 / 3) + Vec3{1e-7, 1e5, 0.1};
    const auto file = folder.path() / (std::string(name) + ".mesh");
    REQUIRE(write_mesh(mesh, file));
    const auto back = read_mesh(file, MeshRepair::refuse);
    INFO(back.diagnostics().text());
    REQUIRE(back);
    CHECK(back->vertices == mesh.vertices);
    CHECK(back->tetrahedra == mesh.tetrahedra);
    CHECK(back->triangles == mesh.triangles);
    CHECK(back->edges == mesh.edges);
  }
}

TEST_CASE("writing to an unknown extension or a missing folder is an error") {
  TemporaryFolder folder;
  const Mesh mesh = generate_mesh("spring").value();
  CHECK(mentions(write_mesh(mesh, folder.path() / "a.stl").diagnostics(), Severity::error,
                 "expected one of .mesh, .obj"));
  CHECK(
      mentions(write_mesh(mesh, folder.path() / "no" / "a.mesh").diagnostics(), Severity::error, "cannot be written"));
}

TEST_CASE("meshes made by others can be read") {
  const std::filesystem::path folder = verve::test::in_sources("../shared/meshes");
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("SKIPPED: no folder ../shared/meshes beside the sources");
    return;
  }
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".mesh") continue;
    const auto mesh = read_mesh(entry.path());
    INFO(mesh.diagnostics().text());
    REQUIRE(mesh);
    CHECK(smallest_volume(*mesh) > 0);
    CHECK(conforming(*mesh));
    MESSAGE(entry.path().filename().string()
            << ": " << mesh->vertices.size() << " vertices, " << mesh->tetrahedra.size() << " tetrahedra. "
            << mesh.diagnostics().text());
    ++count;
  }
  if (count == 0) MESSAGE("SKIPPED: no .mesh files in ../shared/meshes");
}
