// What makes a mesh sound, measured independently of the code under test where that is possible.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>

#include "verve/mesh.h"

namespace verve::test {

inline double volume_of(const Mesh& mesh, int t) {
  const auto& x = mesh.vertices;
  const auto& tet = mesh.tetrahedra[t];
  return tet_volume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]);
}
inline double volume(const Mesh& mesh) {
  double sum = 0;
  for (int t = 0; t < int(mesh.tetrahedra.size()); ++t) sum += volume_of(mesh, t);
  return sum;
}
inline double smallest_volume(const Mesh& mesh) {
  double least = 1e300;
  for (int t = 0; t < int(mesh.tetrahedra.size()); ++t) least = std::min(least, volume_of(mesh, t));
  return least;
}
/// Volume enclosed by a triangulated surface, by the divergence theorem.
inline double enclosed_volume(const Mesh& mesh, const std::vector<std::array<int, 3>>& skin) {
  double sum = 0;
  for (const auto& t : skin) sum += dot(mesh.vertices[t[0]], cross(mesh.vertices[t[1]], mesh.vertices[t[2]])) / 6;
  return sum;
}

/// Every face belongs to one or two tetrahedra, which lie on its two sides.
inline bool conforming(const Mesh& mesh) {
  std::map<std::array<int, 3>, std::pair<int, int>> sides;  // even and odd permutations of the sorted face
  constexpr int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  for (const auto& t : mesh.tetrahedra)
    for (const auto& f : faces) {
      std::array<int, 3> face{t[f[0]], t[f[1]], t[f[2]]}, sorted = face;
      std::sort(sorted.begin(), sorted.end());
      const bool even = face == sorted || (face[1] == sorted[0] && face[2] == sorted[1]) ||
                        (face[2] == sorted[0] && face[0] == sorted[1]);
      auto& count = sides[sorted];
      ++(even ? count.first : count.second);
    }
  for (const auto& [face, count] : sides)
    if (count.first > 1 || count.second > 1) return false;
  return true;
}

struct SkinCheck {
  bool closed = true;    ///< each directed edge as often as its reverse
  bool manifold = true;  ///< ... namely once, and the triangles around each vertex form a single ring
  int euler = 0;         ///< V - E + F
};
inline SkinCheck check_skin(const std::vector<std::array<int, 3>>& skin) {
  SkinCheck result;
  std::map<std::array<int, 2>, int> edges;
  std::map<int, std::map<int, int>> rings;  // vertex -> next vertex of its ring, by vertex
  for (const auto& t : skin)
    for (int i = 0; i < 3; ++i) {
      ++edges[{t[i], t[(i + 1) % 3]}];
      rings[t[i]][t[(i + 1) % 3]] = t[(i + 2) % 3];
    }
  for (const auto& [edge, count] : edges) {
    const auto reverse = edges.find({edge[1], edge[0]});
    if (reverse == edges.end() || reverse->second != count) result.closed = false;
    if (count != 1) result.manifold = false;
  }
  for (const auto& [vertex, ring] : rings) {
    std::size_t steps = 0;
    for (int v = ring.begin()->first; steps <= ring.size();) {
      const auto next = ring.find(v);
      if (next == ring.end()) break;
      v = next->second, ++steps;
      if (v == ring.begin()->first) break;
    }
    if (steps != ring.size()) result.manifold = false;
  }
  result.euler = int(rings.size()) - int(edges.size()) / 2 + int(skin.size());
  return result;
}

inline int unreferenced(const Mesh& mesh) {
  std::set<int> used;
  for (const auto& t : mesh.tetrahedra) used.insert(t.begin(), t.end());
  for (const auto& t : mesh.triangles) used.insert(t.begin(), t.end());
  for (const auto& e : mesh.edges) used.insert(e.begin(), e.end());
  return int(mesh.vertices.size()) - int(used.size());
}

/// Positive volumes, conforming, no loose vertices, closed skin that encloses the same volume.
inline void check_solid(const Mesh& mesh) {
  CHECK(smallest_volume(mesh) > 0);
  CHECK(conforming(mesh));
  CHECK(unreferenced(mesh) == 0);
  const auto skin = surface(mesh);
  CHECK(check_skin(skin).closed);
  // sums of some 1e4 terms in double
  CHECK(enclosed_volume(mesh, skin) == doctest::Approx(volume(mesh)).epsilon(1e-10));
}

/// A folder of its own for the test's files, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("verve_geometry_" + std::to_string(std::hash<std::string>{}(std::to_string(std::random_device{}()))) +
             "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline bool mentions(const Diagnostics& diagnostics, Severity severity, const std::string& text) {
  for (const Diagnostic& d : diagnostics.items())
    if (d.severity == severity && (d.where + ": " + d.what).find(text) != std::string::npos) return true;
  return false;
}

}  // namespace verve::test
