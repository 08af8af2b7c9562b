#include "potentials/closed_surfaces.h"

#include <algorithm>

namespace verve {

namespace {

struct Side {
  int low, high, triangle;
  bool up;  // its triangle runs from low to high
};

bool same_edge(const Side& a, const Side& b) { return a.low == b.low && a.high == b.high; }

std::string edges(int count, const Side& first) {
  return "found " + std::to_string(count) + (count == 1 ? " edge" : " edges") + " (the first is " +
         std::to_string(first.low) + "-" + std::to_string(first.high) + ") ";
}

}  // namespace

double enclosed_volume(const ClosedSurface& surface, const std::vector<Vec3>& x) {
  const Vec3 o = x[surface[0][0]];
  double sum = 0;
  for (const auto& t : surface) sum += dot(x[t[0]] - o, cross(x[t[1]] - o, x[t[2]] - o));
  return sum / 6;
}

std::vector<ClosedSurface> closed_surfaces(const Mesh& mesh, const std::vector<char>& region, std::string& fault) {
  const bool solid = mesh.triangles.empty();
  std::vector<std::array<int, 3>> triangles;
  for (const auto& t : solid ? surface(mesh) : mesh.triangles)
    if (region.empty() || (region[t[0]] && region[t[1]] && region[t[2]])) triangles.push_back(t);

  std::vector<Side> sides;
  for (size_t t = 0; t < triangles.size(); ++t)
    for (int i = 0; i < 3; ++i) {
      const int a = triangles[t][i], b = triangles[t][(i + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), int(t), a < b});
    }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.low != b.low ? a.low < b.low : a.high < b.high; });

  // pieces: triangles joined by their edges
  std::vector<int> root(triangles.size());
  for (size_t t = 0; t < root.size(); ++t) root[t] = int(t);
  const auto find = [&](int t) {
    while (root[t] != t) t = root[t] = root[root[t]];
    return t;
  };
  int open = 0, crowded = 0, twisted = 0;
  const Side *first_open = nullptr, *first_crowded = nullptr, *first_twisted = nullptr;
  for (size_t k = 0; k < sides.size();) {
    size_t end = k + 1;
    while (end < sides.size() && same_edge(sides[k], sides[end])) ++end;
    if (end - k == 1) {
      if (!open++) first_open = &sides[k];
    } else if (end - k > 2) {
      if (!crowded++) first_crowded = &sides[k];
    } else {
      if (sides[k].up == sides[k + 1].up && !twisted++) first_twisted = &sides[k];
      const int a = find(sides[k].triangle), b = find(sides[k + 1].triangle);
      root[std::max(a, b)] = std::min(a, b);
    }
    k = end;
  }
  const auto add = [&](const std::string& text) { fault += (fault.empty() ? "" : "; ") + text; };
  if (open) add(edges(open, *first_open) + "with one triangle only, expected a closed surface");
  if (crowded) add(edges(crowded, *first_crowded) + "with more than two triangles, expected a manifold surface");
  if (twisted)
    add(edges(twisted, *first_twisted) + "whose two triangles are wound against each other, expected all wound alike");
  if (!fault.empty()) return {};

  std::vector<ClosedSurface> pieces;
  std::vector<int> piece(triangles.size(), -1);
  for (size_t t = 0; t < triangles.size(); ++t) {
    int& p = piece[find(int(t))];
    if (p < 0) p = int(pieces.size()), pieces.emplace_back();
    pieces[p].push_back(triangles[t]);
  }
  // the skin of a solid is wound outward from the material: into its cavities
  if (solid) std::erase_if(pieces, [&](const ClosedSurface& s) { return enclosed_volume(s, mesh.vertices) >= 0; });
  for (ClosedSurface& s : pieces)
    if (enclosed_volume(s, mesh.vertices) < 0)
      for (auto& t : s) std::swap(t[1], t[2]);
  return pieces;
}

}  // namespace verve
