// Sheets, nets, lines and single elements: cloth, net, tube, chain, spring, tetrahedron.
#include <numbers>

#include "base/text.h"
#include "geometry/generators.h"

namespace verve {

namespace {

Expected<Mesh> make_cloth(const Arguments& a) {
  const int n = a.whole("columns"), m = a.whole("rows");
  const double width = a.number("width"), length = a.number("length");
  Mesh mesh;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i)
      mesh.vertices.push_back({width * (double(i) / (n - 1) - 0.5), 0, length * (double(j) / (m - 1) - 0.5)});
  for (int j = 0; j + 1 < m; ++j)
    for (int i = 0; i + 1 < n; ++i) {
      const int v = j * n + i;
      mesh.triangles.push_back({v, v + n, v + n + 1});  // normals up, +y
      mesh.triangles.push_back({v, v + n + 1, v + 1});
    }
  return mesh;
}

/// Edges along x and z and no diagonals: what keeps its lengths can still shear, fold and roll up.
Expected<Mesh> make_net(const Arguments& a) {
  const int n = a.whole("columns"), m = a.whole("rows");
  Mesh mesh;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      mesh.vertices.push_back(
          {a.number("width") * (double(i) / (n - 1) - 0.5), 0, a.number("length") * (double(j) / (m - 1) - 0.5)});
      if (i > 0) mesh.edges.push_back({j * n + i - 1, j * n + i});
      if (j > 0) mesh.edges.push_back({(j - 1) * n + i, j * n + i});
    }
  return mesh;
}

/// Every other ring is turned by half a cell: triangles nearly equilateral, and no direction around better than its
/// mirror image.
Expected<Mesh> make_tube(const Arguments& a) {
  const int n = a.whole("columns"), m = a.whole("rows");
  const double radius = a.number("radius"), height = a.number("height");
  Mesh mesh;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * (i + 0.5 * (j % 2)) / n;
      mesh.vertices.push_back(
          {radius * std::cos(angle), height * (double(j) / (m - 1) - 0.5), -radius * std::sin(angle)});
    }
  for (int j = 0; j + 1 < m; ++j)
    for (int i = 0; i < n; ++i) {
      // normals outward
      const int next = (i + 1) % n, a0 = j * n + i, a1 = j * n + next, b0 = a0 + n, b1 = a1 + n;
      if (j % 2 == 0) {
        mesh.triangles.push_back({a0, a1, b0});
        mesh.triangles.push_back({a1, b1, b0});
      } else {
        mesh.triangles.push_back({a0, a1, b1});
        mesh.triangles.push_back({a0, b1, b0});
      }
    }
  return mesh;
}

Expected<Mesh> make_chain(const Arguments& a) {
  const int n = a.whole("vertices");
  Mesh mesh;
  for (int i = 0; i < n; ++i) mesh.vertices.push_back({a.number("length") * (double(i) / (n - 1) - 0.5), 0, 0});
  for (int i = 0; i + 1 < n; ++i) mesh.edges.push_back({i, i + 1});
  return mesh;
}

Expected<Mesh> make_tetrahedron(const Arguments& a) {
  // alternate corners of a cube: its edges are the diagonals of the cube's faces
  const double s = a.number("size") / std::sqrt(8.0);
  Mesh mesh;
  mesh.vertices = {{s, s, s}, {s, -s, -s}, {-s, s, -s}, {-s, -s, s}};
  mesh.tetrahedra = {{0, 1, 3, 2}};
  return mesh;
}

Expected<Mesh> make_spring(const Arguments& a) {
  const double half = 0.5 * a.number("length");
  Mesh mesh;
  mesh.vertices = {{-half, 0, 0}, {half, 0, 0}};
  mesh.edges = {{0, 1}};
  return mesh;
}

}  // namespace

Generator cloth_generator() {
  return {{"cloth",
           "a flat sheet in the xz plane, one diagonal per cell",
           {length_parameter("width", "along x", 1), length_parameter("length", "along z", 1),
            count_parameter("columns", "vertices along x", {60}, 2, 3000),
            count_parameter("rows", "vertices along z", {60}, 2, 3000)}},
          make_cloth};
}
Generator net_generator() {
  return {{"net",
           "vertices in a flat grid in the xz plane, joined by edges without diagonals",
           {length_parameter("width", "along x", 1), length_parameter("length", "along z", 1),
            count_parameter("columns", "vertices along x", {25}, 2, 3000),
            count_parameter("rows", "vertices along z", {25}, 2, 3000)}},
          make_net};
}
Generator tube_generator() {
  return {{"tube",
           "an open cylinder of triangles around the y axis",
           {length_parameter("radius", "of the circle", 0.5), length_parameter("height", "along y", 1.5),
            count_parameter("columns", "vertices around", {48}, 3, 3000),
            count_parameter("rows", "rings of vertices", {28}, 2, 3000)}},
          make_tube};
}
Generator chain_generator() {
  return {{"chain",
           "vertices in a line along x, joined by edges",
           {length_parameter("length", "from end to end", 1),
            count_parameter("vertices", "number of vertices", {21}, 2, 1e6)}},
          make_chain};
}
Generator tetrahedron_generator() {
  return {{"tetrahedron", "one regular tetrahedron", {length_parameter("size", "edge length", 1)}}, make_tetrahedron};
}
Generator spring_generator() {
  return {{"spring", "two vertices and one edge along x", {length_parameter("length", "distance of the vertices", 1)}},
          make_spring};
}

}  // namespace verve
