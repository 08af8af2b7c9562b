#include <cstring>

#include "geometry/mesh_checks.h"
#include "geometry/polygons.h"

using namespace verve;
using namespace verve::test;

namespace {

double area(const Mesh& mesh) {
  double sum = 0;
  for (const auto& [a, b, c] : mesh.triangles)
    sum += norm(cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a])) / 2;
  return sum;
}

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool big = false) {
  std::string out;
  for (const T v : values) {
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v);
    if (big) std::reverse(raw, raw + sizeof v);
    out.append(raw, sizeof v);
  }
  return out;
}

/// The first message of a file that is refused.
std::string refusal(const std::string& bytes, const std::string& name) {
  const auto mesh = parse_mesh(bytes, name);
  if (mesh) return "";
  int errors = 0;
  std::string out;
  for (const Diagnostic& d : mesh.diagnostics().items())
    if (d.severity == Severity::error && ++errors == 1) out = d.where + ": " + d.what;
  CAPTURE(mesh.diagnostics().text());
  CHECK(errors > 0);
  return out;
}
void check_refused(const std::string& bytes, const std::string& name, const std::string& expected) {
  const std::string found = refusal(bytes, name);
  CAPTURE(found);
  CAPTURE(expected);
  CHECK(found.find(expected) != std::string::npos);
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

const std::string square_ply =
    "ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n"
    "property uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n4 0 1 2 3\n";
const std::string square_off = "OFF\n# a square\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n";
const std::string triangle_stl =
    "solid a name\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 1 0\n endloop\n endfacet\n"
    " facet normal nan nan nan\n outer loop\n vertex 1 0 0\n vertex 1 1 0\n vertex 0 1 0\n endloop\n endfacet\n"
    "endsolid a name\n";
const std::string square_usda = R"(#usda 1.0
(
    doc = "a (strange) text"
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Z"
)

def Xform "World" (
    kind = "component"
)
{
    def "Scope" { }
    def Mesh "square" (prepend apiSchemas = ["MaterialBindingAPI"])
    {
        uniform bool doubleSided = 1
        float3[] extent = [(0, 0, 0), (100, 100, 0)]
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        normal3f[] normals
        point3f[] points.timeSamples = {
            1: [(0, 0, 0), (100, 0, 0), (100, 100, 0), (0, 100, 0)],
            2: [(0, 0, 9), (100, 0, 9), (100, 100, 9), (0, 100, 9)],
        }
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (
            interpolation = "vertex"
        )
        double3 xformOp:translate = (0, 0, 300)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    double xformOp:rotateZ = 90
    uniform token[] xformOpOrder = ["xformOp:rotateZ"]
}
)";

/// A square of two triangles in the xy plane, in a node that is turned about z, moved and scaled.
std::string square_gltf(const std::string& uri, const std::string& more = "") {
  return R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [1]}],
    "nodes": [{"mesh": 0, "scale": [2, 2, 2]},
              {"children": [0], "translation": [0, 0, 5], "rotation": [0, 0, 0.70710678118654752, 0.70710678118654752]}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 2}, "indices": 1, "material": 0}]}],
    "materials": [{"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                  {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"},
                  {"bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC2"}],
    "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 12},
                    {"buffer": 0, "byteOffset": 60, "byteLength": 32}],
    "buffers": [{"byteLength": 92)" +
         uri + "}]" + more + "}";
}
std::string square_bin(std::uint16_t last = 3) {
  return bytes_of<float>({0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}) + bytes_of<std::uint16_t>({0, 1, 2, 0, 2, last}) +
         bytes_of<float>({0, 1, 1, 1, 1, 0, 0, 0});
}
std::string glb(std::string json, std::string bin) {
  while (json.size() % 4) json += ' ';
  while (bin.size() % 4) bin += '\0';
  return "glTF" + bytes_of<std::uint32_t>({2, std::uint32_t(28 + json.size() + bin.size()), std::uint32_t(json.size())}) +
         "JSON" + json + bytes_of<std::uint32_t>({std::uint32_t(bin.size())}) + std::string("BIN\0", 4) + bin;
}

}  // namespace

TEST_CASE("polygons are cut by ear clipping: a concave pentagon keeps its area") {
  // an arrow: as a fan from its first corner it has 3.8 m2
  const std::string arrow = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.2 0\nv 0 2 0\n";
  for (const char* face : {"f 1 2 3 4 5\n", "f 2 3 4 5 1\n", "f 3 4 5 1 2\n", "f 4 5 1 2 3\n", "f 5 4 3 2 1\n"}) {
    const auto mesh = parse_mesh(arrow + face, "a.obj");
    REQUIRE(mesh);
    CHECK(mesh->triangles.size() == 3);
    CHECK(area(*mesh) == doctest::Approx(2.2));
  }
  CHECK(area(*parse_mesh(arrow + "f 5 4 3 2 1\n", "a.obj")) == doctest::Approx(2.2));
}

TEST_CASE("random star-shaped polygons in any plane are cut into triangles of the same area and sense") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int n = 4; n < 60; ++n) {
    CAPTURE(n);
    const Vec3 u = Vec3{unit(random) - 0.5, unit(random) - 0.5, unit(random) + 0.1};
    const Vec3 e1 = cross(u, {1, 0.3, 0.2}) / norm(cross(u, {1, 0.3, 0.2})), e2 = cross(u, e1) / norm(u);
    std::vector<Vec3> corners;
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * 3.14159265358979 * i / n, radius = 0.2 + unit(random);
      corners.push_back(e1 * (radius * std::cos(angle)) + e2 * (radius * std::sin(angle)) + Vec3{3, 4, 5});
    }
    std::vector<std::array<int, 3>> triangles;
    triangulate(corners, triangles);
    CHECK(triangles.size() == std::size_t(n - 2));
    double expected = 0, found = 0;
    for (int i = 0; i < n; ++i)
      expected += dot(u, cross(corners[i] - corners[0], corners[(i + 1) % n] - corners[0])) / 2;
    for (const auto& [a, b, c] : triangles) {
      const double signed_area = dot(u, cross(corners[b] - corners[a], corners[c] - corners[a])) / 2;
      CHECK(signed_area > 0);
      found += signed_area;
    }
    CHECK(found == doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("polygons, texture coordinates and materials of an .obj are kept beside its triangles") {
  TemporaryFolder folder;
  folder.write("m.mtl", "newmtl wood\nKd 0.5 0.25 0\nd 0.5\n");
  const auto mesh = read_mesh(folder.write("a.obj",
                                           "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n"
                                           "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl wood\nf 1/1 2/2 3/3 4/4\n"
                                           "usemtl plain\nf 1//1 -1//2 2//3\n"));
  REQUIRE(mesh);
  REQUIRE(mesh->look);
  const SurfaceLook& look = *mesh->look;
  CHECK(mesh->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}, {0, 4, 1}});
  CHECK(look.first == std::vector<int>{0, 4, 7});
  CHECK(look.vertex == std::vector<int>{0, 1, 2, 3, 0, 4, 1});
  CHECK(look.uv == std::vector<int>{0, 1, 2, 3, -1, -1, -1});
  CHECK(look.uvs[2] == std::array<double, 2>{1, 1});
  CHECK(look.material == std::vector<int>{0, 1});
  CHECK(look.materials[0].name == "wood");
  CHECK(look.materials[0].color == std::array<double, 4>{0.5, 0.25, 0, 0.5});
  CHECK(!parse_mesh("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", "a.obj")->look);  // says nothing more
  CHECK(skin_of(*mesh).look == mesh->look);
  check_refused("v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nf 1/1 2/2 3/1\n", "a.obj",
                "a.obj:5: found texture coordinate number 2, expected 1 to 1");
}

TEST_CASE("STL is read as text and as bytes, with corners at one place as one vertex") {
  const auto text = parse_mesh(triangle_stl, "a.stl");
  INFO(text.diagnostics().text());
  REQUIRE(text);
  CHECK(text->vertices.size() == 4);
  CHECK(text->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {1, 3, 2}});
  // a binary file that begins as one of text does
  std::string binary = "solid, but not text" + std::string(61, ' ') + bytes_of<std::uint32_t>({2});
  for (const auto& t : text->triangles) {
    binary += bytes_of<float>({0, 0, 1});
    for (const int v : t)
      binary += bytes_of<float>({float(text->vertices[v].x), float(text->vertices[v].y), float(text->vertices[v].z)});
    binary += std::string(2, '\0');
  }
  const auto read = parse_mesh(binary, "b.STL");
  REQUIRE(read);
  CHECK(read->vertices == text->vertices);
  CHECK(read->triangles == text->triangles);
  check_refused(binary.substr(0, binary.size() - 3), "b.stl", "b.stl:");
  check_refused(std::string(80, 'x') + bytes_of<std::uint32_t>({4000000000u}), "b.stl", "found a count of 4000000000 triangles");
  check_refused("x", "b.stl", "found 1 bytes");
  check_refused(replaced(triangle_stl, "vertex 1 1 0", "vertex 1 inf 0"), "a.stl", "a.stl:12: found \"inf\", expected a finite");
  check_refused(triangle_stl.substr(0, 100), "a.stl", "a.stl:8: found \"end\", expected \"endfacet\"");
}

TEST_CASE("PLY is read as text and as bytes of either order, with what is not known read past") {
  const auto text = parse_mesh(square_ply, "a.ply");
  INFO(text.diagnostics().text());
  REQUIRE(text);
  CHECK(text->triangles.size() == 2);
  CHECK(text->look->polygons() == 1);
  for (const bool big : {false, true}) {
    std::string binary = replaced(square_ply.substr(0, square_ply.find("0 0 0 9")), "ascii",
                                  big ? "binary_big_endian" : "binary_little_endian");
    for (const Vec3& p : text->vertices) binary += bytes_of<double>({p.x, p.y, p.z}, big) + "\t";
    binary += '\4' + bytes_of<std::int32_t>({0, 1, 2, 3}, big);
    const auto read = parse_mesh(binary, "b.ply");
    INFO(read.diagnostics().text());
    REQUIRE(read);
    CHECK(read->vertices == text->vertices);
    CHECK(read->triangles == text->triangles);
    check_refused(binary.substr(0, binary.size() - 1), "b.ply", "found the end of the file, expected an int");
  }
  check_refused(replaced(square_ply, "vertex 4", "vertex 400000000"), "a.ply", "found a count of 400000000 of element");
  check_refused(replaced(square_ply, "2 3\n", "2 4\n"), "a.ply", "found vertex number 4 in row 0");
  check_refused(replaced(square_ply, "1 1 0 9", "1 nan 0 9"), "a.ply", "vertex 2 that is not finite");
  check_refused(replaced(square_ply, "double y", "double w"), "a.ply", "without a property \"y\"");
  check_refused(replaced(square_ply, "double y", "complex y"), "a.ply", "a.ply:6: found the type \"complex\"");
  check_refused(square_ply.substr(0, square_ply.find("end_header")), "a.ply", "expected end_header");
  check_refused(replaced(square_ply, "1 1 0 9", "1 one 0 9"), "a.ply", "a.ply:14: found \"one\", expected a number");
}

TEST_CASE("OFF is read with comments and colours") {
  const auto mesh = parse_mesh(square_off, "a.off");
  INFO(mesh.diagnostics().text());
  REQUIRE(mesh);
  CHECK(mesh->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}});
  check_refused(replaced(square_off, "4 0 1 2 3", "4 0 1 2 7"), "a.off", "a.off:8: found \"7\", expected a vertex number from 0 to 3");
  check_refused(replaced(square_off, "4 1 0", "4000000 1 0"), "a.off", "a.off:3: found a count of 4000000 vertices");
  check_refused(square_off.substr(0, square_off.find("0 1 0\n4")), "a.off", "found the end of the file after 3 of 4 vertices");
  check_refused(replaced(square_off, "1 1 0\n", "1 nan 0\n"), "a.off", "a.off:6: found \"nan\"");
}

TEST_CASE("glTF is read from one file or with its buffer beside it, where its nodes put it") {
  TemporaryFolder folder;
  folder.write("my data.bin", square_bin());
  const auto beside = read_mesh(folder.write("a.gltf", square_gltf(R"(, "uri": "my%20data.bin")")));
  const auto packed = read_mesh(folder.write("a.glb", glb(square_gltf(""), square_bin())));
  for (const auto* mesh : {&beside, &packed}) {
    INFO(mesh->diagnostics().text());
    REQUIRE(*mesh);
    CHECK((*mesh)->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}});
    // (1, 0, 0) scaled by two, turned by 90 degrees about z, lifted by five
    CHECK(norm((*mesh)->vertices[1] - Vec3{0, 2, 5}) < 1e-12);
    CHECK(norm((*mesh)->vertices[2] - Vec3{-2, 2, 5}) < 1e-12);
    REQUIRE((*mesh)->look);
    CHECK((*mesh)->look->materials[0].name == "red");
    CHECK((*mesh)->look->uvs[0] == std::array<double, 2>{0, 0});  // from the lower left corner
    CHECK((*mesh)->look->uvs[2] == std::array<double, 2>{1, 1});
  }
  const std::string good = glb(square_gltf(""), square_bin());
  check_refused(glb(square_gltf(""), square_bin(9)), "a.glb", "meshes[0].primitives[0].indices: found vertex number 9, expected 0 to 3");
  check_refused(good.substr(0, good.size() - 50), "a.glb", "a.glb: byte 8: found a length of");
  check_refused(glb(replaced(square_gltf(""), "\"count\": 6", "\"count\": 6000000"), square_bin()), "a.glb",
                "accessors[1]: found 6000000 values");
  check_refused(glb(replaced(square_gltf(""), "\"mesh\": 0", "\"mesh\": 3"), square_bin()), "a.glb", "nodes[0]: found number 3 of meshes");
  check_refused(glb(replaced(square_gltf(""), "\"children\": [0]", "\"children\": [1]"), square_bin()), "a.glb", "nodes[1]: found nodes that are their own children");
  check_refused(square_gltf(", \"uri\": \"x.bin\""), "a.gltf", "beside the file, expected all in one");
  check_refused(square_gltf("").substr(0, 300), "a.gltf", "a.gltf: ");
  check_refused(square_gltf("", R"(, "extensionsRequired": ["KHR_draco_mesh_compression"])"), "a.gltf", "found KHR_draco_mesh_compression");
  std::string nan = square_bin();
  nan.replace(0, 4, bytes_of<float>({std::nanf("")}));
  check_refused(glb(square_gltf(""), nan), "a.glb", "accessors[0]: found a value that is not finite in row 0");
}

TEST_CASE("USDA is read in metres and y up, where its transforms put it, in its first sample") {
  const auto mesh = parse_mesh(square_usda, "a.usda");
  INFO(mesh.diagnostics().text());
  REQUIRE(mesh);
  CHECK(mesh->triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}});
  // (100, 0, 0) lifted by 300, turned about z, in centimetres with z up
  CHECK(norm(mesh->vertices[1] - Vec3{0, 3, -1}) < 1e-12);
  CHECK(norm(mesh->vertices[3] - Vec3{-1, 3, 0}) < 1e-12);
  REQUIRE(mesh->look);
  CHECK(mesh->look->uvs[2] == std::array<double, 2>{1, 1});
  CHECK(mesh->look->uv == std::vector<int>{0, 1, 2, 3});
  check_refused(replaced(square_usda, "[0, 1, 2, 3]", "[0, 1, 2, 4]"), "a.usda", "a.usda:19: found point number 4, expected 0 to 3");
  check_refused(replaced(square_usda, "Counts = [4]", "Counts = [5]"), "a.usda", "a.usda:18: found a face of 5 corners");
  check_refused(square_usda.substr(0, 700), "a.usda", "found the end of the file");
  check_refused(replaced(square_usda, "points.time", "point.time"), "a.usda", "without points");
  check_refused(replaced(square_usda, "rotateZ = 90", "rotateQ = 90"), "a.usda", "found");
}

TEST_CASE("a file that is not what its extension says, or cut short anywhere, is refused with one message") {
  check_refused(square_ply, "a.off", "a.off: found a file that begins as Stanford, text or binary, expected Object File Format");
  check_refused(square_off, "a.msh", "rename it to .off");
  check_refused(triangle_stl, "a.glb", "rename it to .stl");
  check_refused(square_usda, "a.stl", "rename it to .usda");
  check_refused("nothing", "a.msh", "a.msh:1: found \"nothing\", expected a section like $Nodes");
  check_refused("nothing", "a.vtk", "a.vtk:1: found \"nothing\", expected \"# vtk DataFile Version\"");
  check_refused("nothing", "a.vtu", "a.vtu:1: found no tag VTKFile");
  check_refused("nothing", "a.gltf", "a.gltf: 1:1");
  CHECK(parse_mesh(square_off, "what is this"));  // the content decides where the extension says nothing
  for (const std::string* text : {&square_ply, &square_off, &square_usda, &triangle_stl})
    for (std::size_t n = 1; n < text->size(); n += 3) {
      const char* name = text == &square_ply ? "a.ply" : text == &square_off ? "a.off" : text == &square_usda ? "a.usda" : "a.stl";
      const auto mesh = parse_mesh(text->substr(0, n), name);
      if (mesh) continue;  // nothing but the end was lost
      CAPTURE(n);
      CHECK(mesh.diagnostics().has_errors());
    }
}

TEST_CASE("files with a byte changed are read or refused, and never more") {
  std::mt19937 random(3);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.ply", square_ply}, {"a.off", square_off}, {"a.stl", triangle_stl}, {"a.usda", square_usda},
      {"a.glb", glb(square_gltf(""), square_bin())},
      {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
                "$Elements\n1\n1 4 2 0 0 1 2 3 4\n$EndElements\n"},
      {"b.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
                "$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n"},
      {"a.vtk", "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 "
                "0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"},
      {"a.vtu", "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">"
                "<Points><DataArray type=\"Float64\" format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points><Cells>"
                "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray><DataArray "
                "type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray><DataArray type=\"UInt8\" Name=\"types\" "
                "format=\"ascii\">10</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"}};
  for (const auto& [name, text] : files) {
    CAPTURE(name);
    const auto whole = parse_mesh(text, name);
    INFO(whole.diagnostics().text());
    REQUIRE(whole);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
      std::string broken = text;
      for (int k = 0; k < 1 + i % 3; ++k) broken[random() % broken.size()] = char(random() % 256);
      if (i % 5 == 0) broken.resize(random() % broken.size());
      const auto mesh = parse_mesh(broken, name);
      if (!mesh) {
        ++refused;
        CHECK(mesh.diagnostics().has_errors());
        continue;
      }
      for (const auto& t : mesh->triangles)
        for (const int v : t) CHECK((v >= 0 && v < int(mesh->vertices.size())));
      for (const Vec3& p : mesh->vertices) CHECK(std::isfinite(p.x + p.y + p.z));
    }
    CHECK(refused > 20);
  }
}
