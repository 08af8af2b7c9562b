// A closed surface of triangles as a rigid collider.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "base/parallel.h"
#include "contact/shape_registry.h"
#include "contact/shapes.h"
#include "contact/surface_normals.h"
#include "contact/surface_tree.h"

namespace verve {

namespace {

class MeshShape final : public Shape {
 public:
  MeshShape(const std::vector<Vec3>& vertices, std::vector<std::array<int, 3>> triangles) {
    // the skin of a solid, by construction rather than by its tetrahedra
    surface_ = make_surface(int(vertices.size()), {}, std::move(triangles), {});
    surface_.solid_faces = int(surface_.faces.size());
    for (const Vec3& v : vertices) x_.push_back(Vec4(v));
    for (const int r : surface_.vertices) bounds_.add(vertices[r]);
    tree_.build(surface_, x_.data());
  }
  MeshShape(const MeshShape&) = delete;
  MeshShape& operator=(const MeshShape&) = delete;

  Touch touch(const Vec3& x) const override {
    const ClosestPoint p = closest(tree_, x);
    return p.face < 0 ? Touch{NAN, {0, 1, 0}} : Touch{p.distance, p.normal};
  }
  void touch(const Vec4* x, int count, Touch* out) const override {
    parallel_for(count, 64, [&](int begin, int end, int) {
      ClosestPoint found[64];
      closest(tree_, {x + begin, x + end}, INFINITY, found);
      for (int i = begin; i < end; ++i) {
        const ClosestPoint& p = found[i - begin];
        out[i] = p.face < 0 ? Touch{NAN, {0, 1, 0}} : Touch{p.distance, p.normal};
      }
    });
  }
  Box bounds() const override { return bounds_; }
  ShapeTriangles tessellate(double) const override {
    ShapeTriangles out{{}, surface_.faces};
    for (const Vec4& x : x_) out.points.push_back(x.xyz());
    return out;
  }
  ShapeFeatures features() const override {
    ShapeFeatures out;
    std::vector<int> place(x_.size(), -1);
    const auto point = [&](int row) {
      if (place[row] >= 0) return place[row];
      out.points.push_back(x_[row].xyz());
      out.outward.push_back(vertex_normal(surface_, x_.data(), surface_.vertex_of_row[row]));
      return place[row] = int(out.points.size()) - 1;
    };
    SurfaceNormals normals;
    normals.bind(surface_, x_.data());
    for (int e = 0; e < int(surface_.edges.size()); ++e) {
      const auto faces = surface_.faces_of_edge[e];
      const Vec3 n1 = normals.of_face(faces[0]), n2 = normals.of_face(faces[1]);
      // in a plane there is nothing that could get between vertices
      if (!(dot(n1, n2) < 1 - 1e-9) || !normals.looks_towards(e, direction(n1 + n2, n1), 0)) continue;
      out.edges.push_back({point(surface_.edges[e][0]), point(surface_.edges[e][1])}), out.sides.push_back({n1, n2});
    }
    return out;
  }

 private:
  Surface surface_;
  std::vector<Vec4> x_;
  SurfaceTree tree_;
  Box bounds_;
};

/// Counts faults of one kind and remembers the first.
struct Fault {
  long count = 0;
  std::string first;
  void add(const std::string& place) {
    if (count++ == 0) first = place;
  }
};

void find_faults(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles,
                 const std::string& where, Diagnostics& out) {
  const auto report = [&](const Fault& f, const std::string& what) {
    if (f.count > 0) out.error(where, "found " + std::to_string(f.count) + " " + what + ", the first " + f.first);
  };
  if (triangles.empty()) out.error(where, "found no triangles, expected a closed surface");
  Fault infinite, range, repeated;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (!std::isfinite(vertices[v].x) || !std::isfinite(vertices[v].y) || !std::isfinite(vertices[v].z))
      infinite.add(std::to_string(v));
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto& [a, b, c] = triangles[t];
    bool in_range = true;
    for (const int v : triangles[t]) in_range = in_range && v >= 0 && std::size_t(v) < vertices.size();
    if (!in_range) range.add("triangle " + std::to_string(t));
    if (a == b || b == c || c == a) repeated.add(std::to_string(t));
  }
  report(infinite, "vertices that are not finite");
  report(range, "triangles with vertices out of range, expected 0 to " + std::to_string(long(vertices.size()) - 1));
  report(repeated, "triangles that use a vertex twice");
  if (out.has_errors()) return;

  struct Side {
    std::uint64_t ends;
    bool forward;
    int triangle;
  };
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  double volume = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto& c = triangles[t];
    for (int k = 0; k < 3; ++k) {
      const int a = c[k], b = c[(k + 1) % 3];
      sides.push_back({std::uint64_t(std::min(a, b)) << 32 | std::uint64_t(std::max(a, b)), a < b, int(t)});
    }
    const Vec3& o = vertices[triangles[0][0]];
    volume += dot(cross(vertices[c[0]] - o, vertices[c[1]] - o), vertices[c[2]] - o) / 6;
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.ends != b.ends ? a.ends < b.ends : a.triangle < b.triangle; });
  Fault open, crowded, turned;
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t j = i;
    while (j < sides.size() && sides[j].ends == sides[i].ends) ++j;
    Fault* fault = j - i == 1                                 ? &open
                   : j - i > 2                                ? &crowded
                   : sides[i].forward == sides[i + 1].forward ? &turned
                                                              : nullptr;
    if (fault)
      fault->add("between vertices " + std::to_string(sides[i].ends >> 32) + " and " +
                 std::to_string(sides[i].ends & 0xffffffffu) + " at triangle " + std::to_string(sides[i].triangle));
    i = j;
  }
  report(open, "edges with one triangle, expected two at each (a hole, or vertices that should be one)");
  report(crowded, "edges with more than two triangles, expected two at each");
  report(turned, "edges along which both triangles run the same way, expected opposite ways (one normal is inward)");
  if (out.has_errors()) return;
  if (!(volume > 0))
    out.error(where,
              "found normals inward or no volume, expected triangles that are counter-clockwise seen from outside");
}

}  // namespace

void check_closed(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles,
                  const std::string& where, Diagnostics& all) {
  Diagnostics out;
  find_faults(vertices, triangles, where, out);
  all.append(out);
}
std::unique_ptr<Shape> make_mesh_shape(std::vector<Vec3> vertices, std::vector<std::array<int, 3>> triangles) {
  Diagnostics problems;
  check_closed(vertices, triangles, "mesh", problems);
  if (problems.has_errors()) throw std::invalid_argument(problems.text());
  return std::make_unique<MeshShape>(vertices, std::move(triangles));
}

ShapeEntry mesh_entry() {
  return {
      {"mesh", "a closed surface of triangles", {{"mesh", "its surface, or tetrahedra"}}},
      [](const ColliderSpec&, const Mesh* surface) { return make_mesh_shape(surface->vertices, surface->triangles); }};
}

}  // namespace verve
