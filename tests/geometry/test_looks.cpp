// What a file says of a surface beside its shape, and the objects in it, by name.
#include <cmath>

#include "geometry/mesh_checks.h"
#include "geometry/shading_normals.h"

using namespace verve;
using namespace verve::test;

namespace {

const std::string two_objects =
    "o floor\nv 0 0 0\nv 9 0 0\nv 9 0 9\nv 0 0 9\nf 1 2 3 4\n"
    "o my cup\nv 1 1 1\nv 2 1 1\nv 1 2 1\nv 1 1 2\nvt 0 0\nvt 1 0\nvt 0 1\nf 5/1 6/2 7/3\nf 5 7 8\n"
    "g handle\nf 6 8 7\no wire\nv 5 5 5\nv 6 5 5\nl 9 10\n";

const std::string named_usda = R"(#usda 1.0
def Xform "World"
{
    def Xform "table"
    {
        def Mesh "top"
        {
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 0, 1)]
        }
    }
    def Mesh "cup"
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 5, 0), (1, 5, 0), (1, 5, 1), (0, 5, 1)]
    }
}
)";

Mesh box() { return skin_of(generate_mesh("box", {{"cells", {2, 2, 2}}}).value()); }

}  // namespace

TEST_CASE("one object of a file is read by its name, with the vertices that it uses") {
  const auto all = parse_mesh(two_objects, "a.obj");
  REQUIRE(all);
  CHECK(all->triangles.size() == 5);
  CHECK(all->edges.size() == 1);
  const auto cup = parse_mesh(two_objects, "a.obj", MeshRepair::repair, "my cup");
  INFO(cup.diagnostics().text());
  REQUIRE(cup);
  CHECK(cup->vertices == std::vector<Vec3>{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}});
  CHECK(cup->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}, {1, 3, 2}});
  REQUIRE(cup->look);
  CHECK(cup->look->vertex == std::vector<int>{0, 1, 2, 0, 2, 3, 1, 3, 2});
  CHECK(parse_mesh(two_objects, "a.obj", MeshRepair::repair, "handle")->triangles.size() == 1);
  const auto wire = parse_mesh(two_objects, "a.obj", MeshRepair::repair, "wire");
  CHECK((wire->vertices.size() == 2 && wire->edges == std::vector<std::array<int, 2>>{{0, 1}}));
  CHECK(parse_mesh(named_usda, "a.usda", MeshRepair::repair, "cup")->vertices[0] == Vec3{0, 5, 0});
  CHECK(parse_mesh(named_usda, "a.usda", MeshRepair::repair, "table")->triangles.size() == 1);  // with all below it
  const auto wrong = parse_mesh(two_objects, "a.obj", MeshRepair::repair, "my cap");
  CHECK(mentions(wrong.diagnostics(), Severity::error,
                 "found no object \"my cap\", expected one of floor, my cup, handle, wire (nearest: my cup)"));
  CHECK(mentions(parse_mesh("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "a.off", MeshRepair::repair, "x").diagnostics(),
                 Severity::error, "found no objects with names"));
  TemporaryFolder folder;
  const auto names = mesh_objects(folder.write("a.obj", two_objects));
  CHECK(*names == std::vector<std::string>{"floor", "my cup", "handle", "wire"});
}

TEST_CASE("normals are shared where the file says so, and else where faces meet at less than 45 degrees") {
  // two faces at a right angle: sharp by their angle, smooth by the file
  const std::string bend = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0 1 0\nv 0 1 1\n";
  const auto sharp = parse_mesh(bend + "f 1 4 3 2\nf 1 5 6 4\n", "a.obj");
  const auto smooth = parse_mesh(bend + "vn 1 1 0\nvn 0 1 0\nf 1//1 4//1 3//2 2//2\nf 1//1 5//2 6//2 4//1\n", "a.obj");
  REQUIRE((sharp && smooth));
  CHECK(ShadingNormals(*sharp).at(sharp->vertices).size() == 8);
  const ShadingNormals normals(*smooth);
  const auto n = normals.at(smooth->vertices);
  CHECK(n.size() == 6);
  CHECK(norm(n[normals.of_corner()[0]] - Vec3{std::sqrt(0.5), std::sqrt(0.5), 0}) < 1e-12);
  CHECK(norm(n[normals.of_corner()[2]] - Vec3{0, 1, 0}) < 1e-12);
  // a box has its six sides, however many faces; each corner and each middle of an edge has one for each side
  const Mesh cube = box();
  const ShadingNormals sides(cube);
  const auto found = sides.at(cube.vertices);
  CHECK(found.size() == 8 * 3 + 12 * 2 + 6);
  int corner = 0;
  for (const auto& t : surface(cube)) {
    const Vec3 face = cross(cube.vertices[t[1]] - cube.vertices[t[0]], cube.vertices[t[2]] - cube.vertices[t[0]]);
    for (int k = 0; k < 3; ++k) CHECK(dot(found[sides.of_corner()[corner++]], face / norm(face)) > 1 - 1e-12);
  }
  // a ball is smooth everywhere, also along a seam of vertices that are there twice; turned, its normals turn
  Mesh ball = generate_mesh("sphere", {{"frequency", {8}}}).value();
  const std::size_t once = ball.vertices.size();
  for (auto& t : ball.triangles)
    if (ball.vertices[t[0]].x > 0) ball.vertices.push_back(ball.vertices[t[0]]), t[0] = int(ball.vertices.size()) - 1;
  const ShadingNormals round(ball);
  CHECK(round.at(ball.vertices).size() == once);
  for (Vec3& p : ball.vertices) p = {-p.y, p.x, p.z};
  const auto turned = round.at(ball.vertices);
  corner = 0;
  for (const auto& t : ball.triangles)
    for (const int v : t) CHECK(dot(turned[round.of_corner()[corner++]], ball.vertices[v]) > 0.99 * norm(ball.vertices[v]));
}

TEST_CASE("colours of vertices go in and out of .obj and .ply") {
  TemporaryFolder folder;
  const auto mesh = parse_mesh("v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0.2 0.4 0.6\nf 1 2 3\n", "a.obj");
  REQUIRE((mesh && mesh->look));
  CHECK(mesh->look->colors[2] == std::array<double, 4>{0.2, 0.4, 0.6, 1});
  for (const char* name : {"b.obj", "b.ply"}) {
    REQUIRE(write_mesh(*mesh, folder.path() / name));
    const auto back = read_mesh(folder.path() / name);
    REQUIRE((back && back->look));
    CHECK(back->look->colors == mesh->look->colors);
    CHECK(back->vertices == mesh->vertices);
  }
  REQUIRE(write_mesh(*mesh, folder.path() / "b.stl"));
  CHECK(read_mesh(folder.path() / "b.stl")->triangles.size() == 1);
}
