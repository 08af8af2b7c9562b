#include "geometry/surface_repair.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "geometry/triangle_tree.h"

namespace verve {

namespace {

Vec3 doubled_area(const std::vector<Vec3>& x, const std::array<int, 3>& t) {
  return cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]);
}

struct EdgeUse {
  int low, high, triangle;
  bool forward;  // the triangle goes from low to high
};

/// Number of each vertex among the places.
std::vector<int> places(const std::vector<Vec3>& vertices, double size, std::vector<Vec3>& out) {
  std::map<std::array<long long, 3>, int> known;
  std::vector<int> number;
  for (const Vec3& p : vertices) {
    std::array<long long, 3> key{};
    for (int k = 0; k < 3; ++k) key[k] = size > 0 ? std::llround(p[k] / size) : 0;
    const auto [entry, fresh] = known.try_emplace(key, int(out.size()));
    if (fresh) out.push_back(p);
    number.push_back(entry->second);
  }
  return number;
}

/// Turns triangles until all of a patch look the same way: as most of it did; or outward, where that says little.
class Orientation {
 public:
  Orientation(WeldedSurface& surface, const std::vector<std::array<std::pair<int, bool>, 3>>& neighbours)
      : surface_(surface), neighbours_(neighbours), turn_(surface.triangles.size(), 0) {}

  void run() {
    surface_.patch.assign(turn_.size(), -1);
    for (std::size_t t = 0; t < turn_.size(); ++t)
      if (surface_.patch[t] < 0) patch(int(t));
  }

 private:
  void patch(int seed) {
    std::vector<int> members{seed};
    surface_.patch[seed] = surface_.patches;
    for (std::size_t i = 0; i < members.size(); ++i)
      for (const auto& [other, alike] : neighbours_[members[i]]) {
        if (other < 0 || surface_.patch[other] >= 0) continue;
        surface_.patch[other] = surface_.patches;
        turn_[other] = char(turn_[members[i]] != !alike);
        members.push_back(other);
      }
    ++surface_.patches;
    double area = 0, turned = 0;
    Vec3 centre;
    for (const int t : members) {
      const double a = norm(doubled_area(surface_.vertices, surface_.triangles[t]));
      area += a, turned += turn_[t] ? a : 0;
      for (const int v : surface_.triangles[t]) centre += surface_.vertices[v] * (a / 3);
    }
    centre = area > 0 ? centre / area : centre;
    bool invert = turned > 0.5 * area;
    if (turned > 0.35 * area && turned < 0.65 * area) {  // the file does not know
      double volume = 0;
      for (const int t : members) {
        const auto& [a, b, c] = surface_.triangles[t];
        const auto& x = surface_.vertices;
        volume += (turn_[t] ? -1 : 1) * dot(x[a] - centre, cross(x[b] - centre, x[c] - centre));
      }
      invert = volume < 0;
    }
    for (const int t : members) {
      if (bool(turn_[t]) == invert) continue;
      std::swap(surface_.triangles[t][1], surface_.triangles[t][2]);
      ++surface_.turned;
    }
  }

  WeldedSurface& surface_;
  const std::vector<std::array<std::pair<int, bool>, 3>>& neighbours_;
  std::vector<char> turn_;
};

/// Whether the segment from p to q passes through the triangle, not along it.
bool pierces(const Vec3& p, const Vec3& q, const TriangleTree::Triangle& t) {
  const auto volume = [](const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    return dot(cross(b - a, c - a), d - a);
  };
  const double above = volume(t[0], t[1], t[2], p), below = volume(t[0], t[1], t[2], q);
  if (!(above * below < 0)) return false;
  const double u = volume(p, q, t[0], t[1]), v = volume(p, q, t[1], t[2]), w = volume(p, q, t[2], t[0]);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

}  // namespace

WeldedSurface weld(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles,
                   double tolerance) {
  WeldedSurface out;
  Box box;
  for (const Vec3& p : vertices) box.add(p);
  const std::vector<int> number = places(vertices, vertices.empty() ? 0 : tolerance * norm(box.high - box.low), out.vertices);
  std::set<std::array<int, 3>> seen;
  for (const auto& t : triangles) {
    const std::array<int, 3> w{number[t[0]], number[t[1]], number[t[2]]};
    std::array<int, 3> key = w;
    std::sort(key.begin(), key.end());
    if (key[0] == key[1] || key[1] == key[2])
      ++out.degenerate;
    else if (!seen.insert(key).second)
      ++out.doubled;
    else
      out.triangles.push_back(w);
  }

  std::vector<EdgeUse> edges;
  std::vector<int> parent(out.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (std::size_t t = 0; t < out.triangles.size(); ++t)
    for (int i = 0; i < 3; ++i) {
      const int a = out.triangles[t][i], b = out.triangles[t][(i + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), int(t), a < b});
      parent[root(a)] = root(b);
    }
  std::set<int> roots;
  for (const auto& t : out.triangles) roots.insert(root(t[0]));
  out.parts = int(roots.size());
  std::sort(edges.begin(), edges.end(), [](const EdgeUse& a, const EdgeUse& b) {
    return std::array{a.low, a.high, a.triangle} < std::array{b.low, b.high, b.triangle};
  });
  std::vector<std::array<std::pair<int, bool>, 3>> neighbours(
      out.triangles.size(), {std::pair{-1, true}, std::pair{-1, true}, std::pair{-1, true}});
  std::vector<char> filled(out.triangles.size(), 0);
  for (std::size_t i = 0, j = 0; i < edges.size(); i = j) {
    while (j < edges.size() && edges[j].low == edges[i].low && edges[j].high == edges[i].high) ++j;
    if (j - i == 1) ++out.open_edges;
    if (j - i > 2) ++out.branching_edges;
    if (j - i != 2) continue;
    const EdgeUse &a = edges[i], &b = edges[i + 1];
    neighbours[a.triangle][filled[a.triangle]++] = {b.triangle, a.forward != b.forward};
    neighbours[b.triangle][filled[b.triangle]++] = {a.triangle, a.forward != b.forward};
  }
  Orientation(out, neighbours).run();
  return out;
}

int count_self_intersections(const WeldedSurface& surface) {
  if (surface.triangles.empty()) return 0;
  // the tree sorts triangles: their numbers are found again by their corners
  std::vector<TriangleTree::Triangle> soup;
  for (const auto& [a, b, c] : surface.triangles) soup.push_back({surface.vertices[a], surface.vertices[b], surface.vertices[c]});
  const TriangleTree tree(std::move(soup));
  int count = 0;
  tree.for_each_pair([&](int i, int j) {
    const auto &s = tree.triangles()[i], &t = tree.triangles()[j];
    for (const Vec3& p : s)
      for (const Vec3& q : t)
        if (p == q) return;
    bool cut = false;
    for (int k = 0; k < 3 && !cut; ++k)
      cut = pierces(s[k], s[(k + 1) % 3], t) || pierces(t[k], t[(k + 1) % 3], s);
    count += cut;
  });
  return count;
}

}  // namespace verve
