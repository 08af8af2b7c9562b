#include "model/tearing.h"

#include <algorithm>

#include "base/parallel.h"
#include "model/model.h"

namespace verve {

namespace {

constexpr int grain = 256;  // elements per chunk
// faces of a positively oriented tetrahedron, seen from outside; as in surface()
constexpr int outward[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

template <size_t n>
std::array<int, n> sorted(std::array<int, n> a) {
  std::sort(a.begin(), a.end());
  return a;
}

/// Places of elements by their vertices, whatever the order of these.
template <size_t n>
std::vector<std::pair<std::array<int, n>, int>> by_vertices(const std::vector<std::array<int, n>>& elements) {
  std::vector<std::pair<std::array<int, n>, int>> out;
  for (size_t e = 0; e < elements.size(); ++e) out.emplace_back(sorted(elements[e]), int(e));
  std::sort(out.begin(), out.end());
  return out;
}
template <size_t n>
int find(const std::vector<std::pair<std::array<int, n>, int>>& places, const std::array<int, n>& vertices) {
  const auto it = std::lower_bound(places.begin(), places.end(), std::pair{sorted(vertices), 0});
  return it != places.end() && it->first == sorted(vertices) ? it->second : -1;
}

/// Across each of the four faces of each tetrahedron.
std::vector<int> neighbours(const std::vector<std::array<int, 4>>& tetrahedra) {
  std::vector<std::pair<std::array<int, 3>, int>> faces;
  for (size_t t = 0; t < tetrahedra.size(); ++t)
    for (int f = 0; f < 4; ++f) {
      const auto& v = tetrahedra[t];
      faces.emplace_back(sorted(std::array{v[outward[f][0]], v[outward[f][1]], v[outward[f][2]]}), int(4 * t + f));
    }
  std::sort(faces.begin(), faces.end());
  std::vector<int> out(faces.size(), -1);
  for (size_t k = 0; k + 1 < faces.size(); ++k)
    if (faces[k].first == faces[k + 1].first)
      out[faces[k].second] = faces[k + 1].second / 4, out[faces[k + 1].second] = faces[k].second / 4;
  return out;
}

}  // namespace

Tearing::Tearing(const Body& body, std::span<const std::unique_ptr<Potential>> potentials, const BodySpec& spec,
                 const std::string& where, Diagnostics& out)
    : tetrahedra_(body.mesh.tetrahedra),
      triangles_(body.mesh.triangles),
      edges_(unique_edges(body.mesh)),
      listed_(edges_.size(), -1),
      across_(neighbours(tetrahedra_)) {
  const auto& ropes = body.mesh.edges;
  for (size_t e = 0; e < ropes.size(); ++e) listed_[edge(ropes[e][0], ropes[e][1])] = int(e);
  std::vector<std::vector<int>> around(edges_.size()), at_vertex(body.mesh.vertices.size());
  for (size_t t = 0; t < tetrahedra_.size(); ++t)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j) around[edge(tetrahedra_[t][i], tetrahedra_[t][j])].push_back(int(t));
  for (size_t t = 0; t < triangles_.size(); ++t)
    for (int i = 0; i < 3; ++i) {
      around[edge(triangles_[t][i], triangles_[t][(i + 1) % 3])].push_back(first_triangle() + int(t));
      at_vertex[triangles_[t][i]].push_back(first_triangle() + int(t));
    }
  for (const std::vector<int>& cells : around) {
    at_edge_.cells.insert(at_edge_.cells.end(), cells.begin(), cells.end());
    at_edge_.end();
  }

  const auto tetrahedra = by_vertices(tetrahedra_);
  const auto triangles = by_vertices(triangles_);
  const std::string tears = [&] {
    for (size_t k = 0; k < spec.potentials.size(); ++k)
      if (!spec.potentials[k].tear.empty()) return where + ".potentials[" + std::to_string(k) + "].tear";
    return std::string();
  }();
  for (size_t k = 0; k < potentials.size(); ++k) {
    const Potential& potential = *potentials[k];
    const std::string kind = find_potential(spec.potentials[k].type)->info.elements;
    CellLists& acts = acts_on_.emplace_back();
    if (!potential.can_lose_elements()) {
      std::string others;
      for (const PotentialEntry& e : potential_registry())
        if (e.info.elements == "edges" || e.info.elements == "triangles" || e.info.elements == "tetrahedra" ||
            e.info.elements == "hinges" || e.info.elements == "joints" || e.info.name == "bending")
          others += (others.empty() ? "" : ", ") + e.info.name;
      out.error(where + ".potentials[" + std::to_string(k) + "]",
                "\"" + std::string(potential.name()) +
                    "\" holds together more than single elements and cannot follow when the body tears (" + tears +
                    "); these can: " + others);
      continue;
    }
    for (int e = 0; e < potential.elements(); ++e) {
      const auto v = [&](int corner) { return body.vertex_of_row[potential.vertex(e, corner)]; };
      const auto triangle = [&](int a, int b, int c) {
        return first_triangle() + find(triangles, std::array{v(a), v(b), v(c)});
      };
      const auto rope = [&](int a, int b) { return first_edge() + edge(v(a), v(b)); };
      if (kind == "tetrahedra") {
        acts.cells.push_back(find(tetrahedra, std::array{v(0), v(1), v(2), v(3)}));
      } else if (kind == "triangles") {
        acts.cells.push_back(triangle(0, 1, 2));
      } else if (kind == "edges") {
        acts.cells.push_back(rope(0, 1));
      } else if (kind == "joints") {
        acts.cells.push_back(rope(0, 1)), acts.cells.push_back(rope(0, 2));
      } else if (kind == "hinges" || potential.rows(e) == 1) {
        acts.cells.push_back(triangle(0, 1, 2)), acts.cells.push_back(triangle(0, 1, 3));
      } else {  // bending, by the ring of its first vertex
        acts.cells.insert(acts.cells.end(), at_vertex[v(0)].begin(), at_vertex[v(0)].end());
      }
      acts.end();
    }
    if (spec.potentials[k].tear.empty()) continue;
    Test& test = tests_.emplace_back();
    test.potential = int(k);
    for (int e = 0; e < potential.elements(); ++e) {
      auto& g = test.rest.emplace_back();
      const Vec4 first = body.rest[potential.vertex(e, 0)];
      for (int i = 1, at = 0; i < potential.corners(e); ++i)
        for (int j = 1; j <= i; ++j)
          g[at++] = dot(body.rest[potential.vertex(e, i)] - first, body.rest[potential.vertex(e, j)] - first);
    }
  }
}

int Tearing::edge(int a, int b) const {
  const std::array<int, 2> ends{std::min(a, b), std::max(a, b)};
  return int(std::lower_bound(edges_.begin(), edges_.end(), ends) - edges_.begin());
}

/// The largest stretch is above t where t^2 D^T D - d^T d, of the differences D at rest and d now, is not positive
/// definite: its eigenvalues in the metric of D are t^2 - s_i^2. By leading minors, which need no square root and no
/// inverse of the rest shape.
void Tearing::find_over(int test, const Potential& potential, const Vec4* x, double limit,
                        const std::vector<char>& gone, std::vector<int>& torn, std::vector<char>& over) const {
  const Test& t = tests_[test];
  const CellLists& acts = acts_on_[t.potential];
  const int corners = potential.corners(0);
  const double square = limit * limit;
  over.assign(t.rest.size(), 0);
  parallel_for(int(t.rest.size()), grain, [&](int begin, int end, int) {
    for (int e = begin; e < end; ++e) {
      if (gone[acts[e][0]]) continue;
      const Vec4 first = x[potential.vertex(e, 0)];
      std::array<double, 6> m{};
      Vec4 d[3];
      for (int i = 0, at = 0; i < corners - 1; ++i) {
        d[i] = x[potential.vertex(e, i + 1)] - first;
        for (int j = 0; j <= i; ++j, ++at) m[at] = square * t.rest[e][at] - dot(d[i], d[j]);
      }
      const double two = m[0] * m[2] - m[1] * m[1];
      bool whole = m[0] > 0;
      if (corners > 2) whole = whole && two > 0;
      if (corners > 3)
        whole = whole && m[5] * two - m[4] * (m[0] * m[4] - m[1] * m[3]) - m[3] * (m[3] * m[2] - m[1] * m[4]) > 0;
      over[e] = !whole;
    }
  });
  for (size_t e = 0; e < over.size(); ++e)
    if (over[e]) torn.push_back(acts[int(e)][0]);
}

void Tearing::remove(std::span<const int> torn, std::vector<char>& gone) const {
  std::vector<int> lost;  // tetrahedra and triangles
  const auto lose = [&](int cell) {
    if (gone[cell]) return;
    gone[cell] = 1;
    lost.push_back(cell);
  };
  for (const int cell : torn) {
    if (cell < first_edge()) {
      lose(cell);
    } else {
      gone[cell] = 1;
      for (const int around : at_edge_[cell - first_edge()]) lose(around);
    }
  }
  const auto look_at = [&](int a, int b) {
    const int e = edge(a, b);
    const auto around = at_edge_[e];
    if (listed_[e] < 0 && std::all_of(around.begin(), around.end(), [&](int cell) { return gone[cell]; }))
      gone[first_edge() + e] = 1;
  };
  for (const int cell : lost) {
    if (cell < first_triangle()) {
      const auto& v = tetrahedra_[cell];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) look_at(v[i], v[j]);
    } else {
      const auto& v = triangles_[cell - first_triangle()];
      for (int i = 0; i < 3; ++i) look_at(v[i], v[(i + 1) % 3]);
    }
  }
}

void Tearing::find_elements(int potential, const std::vector<char>& gone, std::vector<char>& elements) const {
  const CellLists& acts = acts_on_[potential];
  elements.assign(acts.first.size() - 1, 0);
  for (size_t e = 0; e < elements.size(); ++e)
    for (const int cell : acts[int(e)]) elements[e] |= gone[cell];
}

RemovedElements Tearing::removed(const std::vector<char>& gone) const {
  RemovedElements out;
  for (size_t t = 0; t < tetrahedra_.size(); ++t)
    if (gone[t]) out.tetrahedra.push_back(int(t));
  for (size_t t = 0; t < triangles_.size(); ++t)
    if (gone[first_triangle() + t]) out.triangles.push_back(int(t));
  for (size_t e = 0; e < edges_.size(); ++e)
    if (gone[first_edge() + e] && listed_[e] >= 0) out.edges.push_back(listed_[e]);
  std::sort(out.edges.begin(), out.edges.end());
  return out;
}

std::vector<std::array<int, 3>> Tearing::surface(const std::vector<char>& gone) const {
  std::vector<std::array<int, 3>> out;
  for (size_t t = 0; t < tetrahedra_.size(); ++t) {
    if (gone[t]) continue;
    const auto& v = tetrahedra_[t];
    for (int f = 0; f < 4; ++f)
      if (const int other = across_[4 * t + f]; other < 0 || gone[other])
        out.push_back({v[outward[f][0]], v[outward[f][1]], v[outward[f][2]]});
  }
  for (size_t t = 0; t < triangles_.size(); ++t)
    if (!gone[first_triangle() + t]) out.push_back(triangles_[t]);
  return out;
}

}  // namespace verve
