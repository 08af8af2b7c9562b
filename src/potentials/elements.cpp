#include "potentials/elements.h"

#include <algorithm>

namespace verve {

namespace {

/// An edge as a triangle runs along it, with the vertex across.
struct Side {
  int low, high, across;
  bool up;  // from low to high
};

std::vector<Side> sides_of(const Mesh& mesh) {
  std::vector<Side> sides;
  for (const auto& t : mesh.triangles)
    for (int i = 0; i < 3; ++i) {
      const int a = t[i], b = t[(i + 1) % 3], c = t[(i + 2) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), c, a < b});
    }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.low != b.low ? a.low < b.low : a.high < b.high; });
  return sides;
}

bool same_edge(const Side& a, const Side& b) { return a.low == b.low && a.high == b.high; }

}  // namespace

std::vector<std::array<int, 4>> Hinges::of(const Mesh& mesh) {
  std::vector<std::array<int, 4>> hinges;
  const std::vector<Side> sides = sides_of(mesh);
  for (size_t k = 0; k + 1 < sides.size(); ++k) {
    if (!same_edge(sides[k], sides[k + 1])) continue;
    // the triangle that runs upward lies on the left
    const Side &left = sides[k].up ? sides[k] : sides[k + 1], &right = sides[k].up ? sides[k + 1] : sides[k];
    hinges.push_back({left.low, left.high, left.across, right.across});
    ++k;
  }
  return hinges;
}

std::string Hinges::fault(const Mesh& mesh) {
  const std::vector<Side> sides = sides_of(mesh);
  int crowded = 0, twisted = 0;
  const Side *first_crowded = nullptr, *first_twisted = nullptr;
  for (size_t k = 0; k < sides.size();) {
    size_t end = k + 1;
    while (end < sides.size() && same_edge(sides[k], sides[end])) ++end;
    if (end - k > 2) {
      if (!crowded++) first_crowded = &sides[k];
    } else if (end - k == 2 && sides[k].up == sides[k + 1].up) {
      if (!twisted++) first_twisted = &sides[k];
    }
    k = end;
  }
  const auto edge = [](const Side& s) { return std::to_string(s.low) + "-" + std::to_string(s.high); };
  std::string out;
  if (crowded)
    out = "found " + std::to_string(crowded) + " edges with more than two triangles (the first is " +
          edge(*first_crowded) + "), expected a manifold sheet";
  if (twisted)
    out += (out.empty() ? "" : "; ") + std::string("found ") + std::to_string(twisted) +
           " edges whose two triangles are wound against each other (the first is " + edge(*first_twisted) +
           "), expected all triangles wound alike";
  return out;
}

std::vector<std::array<int, 3>> Joints::of(const Mesh& mesh) {
  std::vector<std::array<int, 2>> ends;  // vertex, neighbour
  for (const auto& [a, b] : mesh.edges) ends.push_back({a, b}), ends.push_back({b, a});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::vector<std::array<int, 3>> joints;
  for (size_t i = 0; i < ends.size(); ++i)
    for (size_t j = i + 1; j < ends.size() && ends[j][0] == ends[i][0]; ++j)
      joints.push_back({ends[i][0], ends[i][1], ends[j][1]});
  return joints;
}

}  // namespace verve
