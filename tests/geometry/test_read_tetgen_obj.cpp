#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

namespace {

const std::string node0 = "# points\n4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n";
const std::string ele0 = "1 4 0\n0 0 1 2 3\n# done\n";

Expected<Mesh> read_pair(const std::string& node, const std::string& ele, const std::string& given = "test.node") {
  TemporaryFolder folder;
  folder.write("test.node", node);
  folder.write("test.ele", ele);
  return read_mesh(folder.path() / given);
}
Expected<Mesh> read_obj_text(const std::string& text) {
  TemporaryFolder folder;
  return read_mesh(folder.write("test.obj", text));
}
void check_error(const Expected<Mesh>& mesh, const std::string& expected) {
  INFO(mesh.diagnostics().text());
  CAPTURE(expected);
  CHECK(!mesh);
  CHECK(mentions(mesh.diagnostics(), Severity::error, expected));
}

}  // namespace

TEST_CASE("TetGen files are read from 0 or 1, by either name, with attributes and markers") {
  for (const char* given : {"test.node", "test.ele"}) {
    const auto zero = read_pair(node0, ele0, given);
    REQUIRE(zero);
    CHECK(zero->tetrahedra == std::vector<std::array<int, 4>>{{0, 1, 2, 3}});
  }
  const auto one =
      read_pair("4 3 2 1\n1 0 0 0 .5 .5 1\n2 1 0 0 .5 .5 0 # comment\n\n3 0 1 0 .5 .5 -1\n4 0 0 1 .5 .5 1\n",
                "1 4 1\n1 1 2 3 4 -7\n");
  INFO(one.diagnostics().text());
  REQUIRE(one);
  CHECK(one->tetrahedra == std::vector<std::array<int, 4>>{{0, 1, 2, 3}});
  CHECK(one->vertices[3] == Vec3{0, 0, 1});
  CHECK(read_pair("4 3\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4\n0 0 1 2 3\n"));  // columns left out
}

TEST_CASE("second-order TetGen tetrahedra keep their corners, with a note") {
  std::string node = "10 3 0 0\n";
  const char* points[10] = {"0 0 0",  "1 0 0",  "0 1 0",   "0 0 1",   ".5 0 0",
                            "0 .5 0", "0 0 .5", ".5 .5 0", ".5 0 .5", "0 .5 .5"};
  for (int i = 0; i < 10; ++i) node += std::to_string(i) + " " + points[i] + "\n";
  const auto mesh = read_pair(node, "1 10 0\n0 0 1 2 3 4 5 6 7 8 9\n");
  REQUIRE(mesh);
  CHECK(mentions(mesh.diagnostics(), Severity::note, "only their 4 corners are used"));
  CHECK(mentions(mesh.diagnostics(), Severity::warning, "6 unreferenced vertices"));
}

TEST_CASE("faults of TetGen files are reported with file and line") {
  check_error(read_pair("", ele0), "test.node: found an empty file");
  check_error(read_pair("x", ele0), "test.node:1: found \"x\", expected a number of points");
  check_error(read_pair("9999 3 0 0\n", ele0), "expected at most");
  check_error(read_pair("1 2 0 0\n0 0 0\n", ele0), "found dimension 2, expected 3");
  check_error(read_pair("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n", ele0), "found the end of the file after 3 of 4 points");
  check_error(read_pair("4 3 0 0\n0 0 0 0\n1 1 x 0\n2 0 1 0\n3 0 0 1\n", ele0),
              "test.node:3: found \"x\", expected a coordinate");
  check_error(read_pair("4 3 0 0\n0 0 0 0\n1 1 inf 0\n2 0 1 0\n3 0 0 1\n", ele0), "expected a finite coordinate");
  check_error(read_pair("4 3 0 0\n0 0 0 0\n2 1 0 0\n2 0 1 0\n3 0 0 1\n", ele0), "found point number 2, expected 1");
  check_error(read_pair("4 3 0 0\n7 0 0 0\n8 1 0 0\n9 0 1 0\n10 0 0 1\n", ele0), "found point number 7, expected 0");
  check_error(read_pair(node0 + "4 1 1 1\n", ele0), "test.node:7: found \"4\" after the 4 points");
  check_error(read_pair("4 3 99999 0\n" + node0, ele0), "expected a number of attributes from 0 to 1000");
  check_error(read_pair(node0, "1 4 0\n0 0 1 2 4\n"), "test.ele:2: found point number 4, expected 0 to 3");
  check_error(read_pair(node0, "1 5 0\n0 0 1 2 3 4\n"), "found 5 nodes per tetrahedron, expected 4 or 10");
  check_error(read_pair(node0, "2 4 0\n0 0 1 2 3\n"), "found the end of the file after 1 of 2 tetrahedra");
  check_error(read_pair(node0, "1000000000 4 0\n0 0 1 2 3\n"), "what the rest of the file can hold");
  check_error(read_pair(node0, "1 4 0\n0 0 1 2 three\n"), "found \"three\", expected a point number");
}

TEST_CASE("a TetGen file without its sibling says which one is missing") {
  TemporaryFolder folder;
  check_error(read_mesh(folder.write("lone.node", node0)), "lone.ele: file not found");
  check_error(read_mesh(folder.write("only.ele", ele0)), "only.node: file not found");
}

TEST_CASE("TetGen files cut off anywhere never crash") {
  for (std::size_t length = 0; length < node0.size(); ++length) (void)read_pair(node0.substr(0, length), ele0);
  for (std::size_t length = 0; length < ele0.size(); ++length) {
    const auto mesh = read_pair(node0, ele0.substr(0, length));
    CHECK((mesh.has_value() || mesh.diagnostics().has_errors()));
  }
}

TEST_CASE("an OBJ file gives fanned polygons, every form of index, negative indices and lines") {
  const auto mesh = read_obj_text(
      "# sheet\nmtllib x.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nusemtl red\ns off\n"
      "f 1/1/1 2/1/1 3//1 4/1\n"
      "v 2 0 0\nv 2 1 0\nf -5 -2 \\\n -1\nl 1 5 6\r\n");
  INFO(mesh.diagnostics().text());
  REQUIRE(mesh);
  CHECK(mesh->vertices.size() == 6);
  CHECK(mesh->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}, {1, 4, 5}});
  CHECK(mesh->edges == std::vector<std::array<int, 2>>{{0, 4}});  // 5 - 6 belongs to a triangle
}

TEST_CASE("faults of an OBJ file are reported with file and line") {
  const std::string v = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  check_error(read_obj_text(""), "found an empty file");
  check_error(read_obj_text(v), "empty mesh");
  check_error(read_obj_text(v + "f 1 2 4\n"), "test.obj:4: found vertex number 4, expected 1 to 3");
  check_error(read_obj_text(v + "f 1 2 -4\n"), "test.obj:4: found vertex number -4");
  check_error(read_obj_text(v + "f 1 2 0\n"), "found \"0\", expected a vertex number");
  check_error(read_obj_text(v + "f 1 2 x\n"), "found \"x\", expected a vertex number");
  check_error(read_obj_text(v + "f 1 2\n"), "found 2 vertices in a face, expected at least 3");
  check_error(read_obj_text(v + "l 1\n"), "found 1 vertices in a line, expected at least 2");
  check_error(read_obj_text("v 0 0\n" + v + "f 1 2 3"), "test.obj:1: found 2 coordinates, expected 3");
  check_error(read_obj_text("v 0 0 nan\n" + v + "f 2 3 4"), "found \"nan\", expected a finite coordinate");
  check_error(read_obj_text("v 0 0 1,5\n" + v + "f 2 3 4"), "found \"1,5\", expected a finite coordinate");
  const auto odd = read_obj_text(v + "f 1 2 3\ncurv 1 2\ncurv 3 4\n");
  REQUIRE(odd);
  CHECK(mentions(odd.diagnostics(), Severity::warning, "test.obj:5: found \"curv\", expected v, f or l"));
  CHECK(odd.diagnostics().items().size() == 1);
}

TEST_CASE("a sheet written to .obj comes back bit by bit, a solid leaves its skin with a note") {
  TemporaryFolder folder;
  Mesh cloth = generate_mesh("cloth", {{"columns", {7}}, {"rows", {5}}}).value();
  for (Vec3& p : cloth.vertices) p = p * (1.0 / 3);
  cloth.edges = {{0, 20}};
  REQUIRE(write_mesh(cloth, folder.path() / "cloth.obj"));
  const auto back = read_mesh(folder.path() / "cloth.obj", MeshRepair::refuse);
  REQUIRE(back);
  CHECK(back->vertices == cloth.vertices);
  CHECK(back->triangles == cloth.triangles);
  CHECK(back->edges == cloth.edges);

  const Mesh ball = generate_mesh("ball", {{"frequency", {4}}}).value();
  const auto written = write_mesh(ball, folder.path() / "ball.obj");
  CHECK(mentions(written.diagnostics(), Severity::note, "only the skin was written"));
  const auto skin = read_mesh(folder.path() / "ball.obj");
  REQUIRE(skin);
  CHECK(skin->vertices == skin_of(ball).vertices);
  CHECK(skin->triangles == skin_of(ball).triangles);
}
