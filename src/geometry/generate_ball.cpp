// Balls: a geodesic sphere joined to its centre, in concentric layers, and one stuffed from the lattice.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "geometry/generators.h"

namespace verve {

namespace {

struct Sphere {
  std::vector<Vec3> vertices;  // unit length
  std::vector<std::array<int, 3>> triangles;
};

/// Each face of the octahedron cut into frequency^2 triangles: 4 f^2 + 2 vertices, 8 f^2 triangles, outward.
Sphere geodesic_sphere(int f) {
  Sphere sphere;
  std::map<std::array<int, 3>, int> index;  // by integer position on the octahedron |x| + |y| + |z| = f
  const auto vertex = [&](const std::array<int, 3>& p) {
    const auto [entry, fresh] = index.try_emplace(p, int(sphere.vertices.size()));
    if (fresh) {
      // equal steps of angle instead of equal steps on the flat face: triangles of more even size
      Vec3 q;
      for (int k = 0; k < 3; ++k) q[k] = std::sin(1.5707963267948966 * p[k] / f);
      sphere.vertices.push_back(q / norm(q));
    }
    return entry->second;
  };
  for (int face = 0; face < 8; ++face) {
    const int s[3] = {face & 1 ? -1 : 1, face & 2 ? -1 : 1, face & 4 ? -1 : 1};
    const bool mirrored = s[0] * s[1] * s[2] < 0;
    const auto at = [&](int i, int j) { return vertex({s[0] * i, s[1] * j, s[2] * (f - i - j)}); };
    // corners are numbered one after the other, last first: as arguments of a call every compiler has its own order
    const auto add = [&](const std::array<int, 2>& p, const std::array<int, 2>& q, const std::array<int, 2>& r) {
      int c = at(r[0], r[1]), b = at(q[0], q[1]);
      const int a = at(p[0], p[1]);
      if (mirrored) std::swap(b, c);
      sphere.triangles.push_back({a, b, c});
    };
    for (int i = 0; i < f; ++i)
      for (int j = 0; i + j < f; ++j) {
        add({i, j}, {i + 1, j}, {i, j + 1});
        if (i + j + 2 <= f) add({i + 1, j}, {i + 1, j + 1}, {i, j + 1});
      }
  }
  return sphere;
}

/// Layers of prisms between concentric spheres, and a cone of tetrahedra around the centre.
Expected<Mesh> make_ball(const Arguments& a) {
  const int layers = a.whole("layers");
  const double radius = 0.5 * a.number("size");
  const double frequency = a.number("frequency");
  if (4 * frequency * frequency * layers > 5e6) {
    Diagnostics out;
    out.error("ball", "found frequency " + format_number(frequency) + " and " + std::to_string(layers) +
                          " layers, expected at most 5000000 vertices (4 frequency^2 layers)");
    return out;
  }
  const Sphere sphere = geodesic_sphere(int(frequency));
  const int n = int(sphere.vertices.size());
  Mesh mesh;
  for (int layer = layers; layer >= 1; --layer)
    for (const Vec3& p : sphere.vertices) mesh.vertices.push_back(p * (radius * layer / layers));
  const int centre = int(mesh.vertices.size());
  mesh.vertices.push_back({});

  for (int layer = 0; layer + 1 < layers; ++layer)
    for (auto t : sphere.triangles) {
      // from the lowest corner on, so that both prisms of a side cut it by the diagonal of its lower corner
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      const int outer = layer * n, inner = outer + n;
      const int o0 = outer + t[0], o1 = outer + t[1], o2 = outer + t[2];
      const int i0 = inner + t[0], i1 = inner + t[1], i2 = inner + t[2];
      mesh.tetrahedra.push_back({i0, i1, i2, o0});
      if (t[1] < t[2]) {
        mesh.tetrahedra.push_back({o0, i1, i2, o1});
        mesh.tetrahedra.push_back({o0, o1, i2, o2});
      } else {
        mesh.tetrahedra.push_back({o0, i1, i2, o2});
        mesh.tetrahedra.push_back({o0, i1, o2, o1});
      }
    }
  const int inner = (layers - 1) * n;
  for (const auto& t : sphere.triangles) mesh.tetrahedra.push_back({centre, inner + t[0], inner + t[1], inner + t[2]});

  // every tetrahedron above was written outward or inward consistently per kind; orient them all alike
  const auto& x = mesh.vertices;
  for (auto& t : mesh.tetrahedra)
    if (tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) < 0) std::swap(t[2], t[3]);
  return mesh;
}

Expected<Mesh> make_sphere(const Arguments& a) {
  const Sphere sphere = geodesic_sphere(a.whole("frequency"));
  Mesh mesh;
  for (const Vec3& p : sphere.vertices) mesh.vertices.push_back(p * (0.5 * a.number("size")));
  mesh.triangles = sphere.triangles;
  return mesh;
}

}  // namespace

// The ball of Constrained Projective Dynamics has 889 vertices and 1772 = 2 (889 - 1) - 4 tetrahedra: a triangulated
// sphere of 888 vertices joined to its centre. Frequency 15 gives 903 and 1800.
Generator ball_generator() {
  return {{"ball",
           "a geodesic sphere in concentric layers around its centre",
           {length_parameter("size", "diameter", 1),
            count_parameter("frequency", "edges along a quarter of a great circle", {15}, 1, 1000),
            count_parameter("layers", "concentric layers; 1 joins the skin to the centre", {1}, 1, 1000)}},
          make_ball};
}

Generator sphere_generator() {
  return {{"sphere",
           "a closed sheet: the skin of a geodesic ball",
           {length_parameter("size", "diameter", 1),
            count_parameter("frequency", "edges along a quarter of a great circle", {12}, 1, 1000)}},
          make_sphere};
}

Generator stuffed_ball_generator() {
  return {
      {"stuffed_ball", "a ball of evenly sized tetrahedra", implicit_parameters("diameter", 10)},
      [](const Arguments& a) {
        return generate_implicit([](const Vec3& p) { return norm(p) - 0.5; }, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}, a);
      }};
}

}  // namespace verve
