#include "verve/mesh.h"

#include <algorithm>
#include <cstdint>
#include <numbers>

namespace verve {

double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return dot(cross(b - a, c - a), d - a) / 6;
}

std::vector<std::array<int, 3>> surface(const Mesh& mesh) {
  struct Face {
    std::array<int, 3> key;
    std::size_t place;  // 4 * tetrahedron + face: the order of the result
    bool operator<(const Face& other) const { return key != other.key ? key < other.key : place < other.place; }
  };
  // with a, b, c, d positively oriented, these look outward
  constexpr int outward[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

  std::vector<Face> faces;
  faces.reserve(4 * mesh.tetrahedra.size());
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t)
    for (int f = 0; f < 4; ++f) {
      const auto& tet = mesh.tetrahedra[t];
      Face face{{tet[outward[f][0]], tet[outward[f][1]], tet[outward[f][2]]}, 4 * t + f};
      std::sort(face.key.begin(), face.key.end());
      faces.push_back(face);
    }
  std::sort(faces.begin(), faces.end());

  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t j = i + 1;
    while (j < faces.size() && faces[j].key == faces[i].key) ++j;
    if (j == i + 1) open.push_back(faces[i].place);
    i = j;
  }
  std::sort(open.begin(), open.end());

  std::vector<std::array<int, 3>> result;
  result.reserve(open.size() + mesh.triangles.size());
  for (const std::size_t place : open) {
    const auto& tet = mesh.tetrahedra[place / 4];
    const auto& f = outward[place % 4];
    result.push_back({tet[f[0]], tet[f[1]], tet[f[2]]});
  }
  result.insert(result.end(), mesh.triangles.begin(), mesh.triangles.end());
  return result;
}

Mesh skin_of(const Mesh& mesh) {
  Mesh out;
  out.triangles = surface(mesh);
  if (mesh.tetrahedra.empty()) {
    out.vertices = mesh.vertices, out.look = mesh.look;
    return out;
  }
  std::vector<int> number(mesh.vertices.size(), -1);
  for (const auto& t : out.triangles)
    for (const int v : t) number[v] = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = int(out.vertices.size());
    out.vertices.push_back(mesh.vertices[v]);
  }
  for (auto& t : out.triangles)
    for (int& v : t) v = number[v];
  return out;
}

std::vector<std::array<int, 2>> unique_edges(const Mesh& mesh) {
  std::vector<std::array<int, 2>> edges;
  edges.reserve(6 * mesh.tetrahedra.size() + 3 * mesh.triangles.size() + mesh.edges.size());
  const auto add = [&](int a, int b) { edges.push_back({std::min(a, b), std::max(a, b)}); };
  for (const auto& t : mesh.tetrahedra)
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) add(t[i], t[j]);
  for (const auto& t : mesh.triangles) add(t[0], t[1]), add(t[1], t[2]), add(t[2], t[0]);
  for (const auto& e : mesh.edges) add(e[0], e[1]);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

namespace {

/// The elements that are not in an ascending list.
template <class Element>
std::vector<Element> others(const std::vector<Element>& elements, const std::vector<int>& removed) {
  std::vector<Element> out;
  auto next = removed.begin();
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (next != removed.end() && *next == int(e)) {
      ++next;
    } else {
      out.push_back(elements[e]);
    }
  }
  return out;
}

}  // namespace

Mesh without(const Mesh& mesh, const RemovedElements& removed) {
  return {mesh.vertices, others(mesh.tetrahedra, removed.tetrahedra), others(mesh.triangles, removed.triangles),
          others(mesh.edges, removed.edges)};
}

Mesh without(const Mesh& surface, const Embedding& embedding, const Mesh& carrier, const RemovedElements& removed) {
  const auto sorted = [](std::array<int, 4> vertices) {
    std::sort(vertices.begin(), vertices.end());
    return vertices;
  };
  std::vector<std::array<int, 4>> gone;
  for (const int t : removed.tetrahedra) gone.push_back(sorted(carrier.tetrahedra[t]));
  std::sort(gone.begin(), gone.end());
  std::vector<char> loose(surface.vertices.size());
  for (std::size_t v = 0; v < loose.size(); ++v)
    loose[v] = std::binary_search(gone.begin(), gone.end(), sorted(embedding.vertices[v]));
  RemovedElements lost;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t)
    if (const auto& [a, b, c] = surface.triangles[t]; loose[a] || loose[b] || loose[c])
      lost.triangles.push_back(int(t));
  return without(surface, lost);
}

std::array<double, 2> dihedral_range(const Mesh& mesh) {
  if (mesh.tetrahedra.empty()) return {0, 0};
  double smallest = 180, largest = 0;
  for (const auto& t : mesh.tetrahedra)
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) {
        // the angle at edge ij is the one between the other two vertices, seen along the edge
        const int k = i == 0 ? (j == 1 ? 2 : 1) : 0, l = 6 - i - j - k;
        const Vec3 &a = mesh.vertices[t[i]], &b = mesh.vertices[t[j]];
        const Vec3 n1 = cross(b - a, mesh.vertices[t[k]] - a), n2 = cross(b - a, mesh.vertices[t[l]] - a);
        const double angle = std::atan2(norm(cross(n1, n2)), dot(n1, n2)) * 180 / std::numbers::pi;
        smallest = std::min(smallest, angle);
        largest = std::max(largest, angle);
      }
  return {smallest, largest};
}

}  // namespace verve
