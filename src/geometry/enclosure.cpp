#include "geometry/enclosure.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "geometry/surface_repair.h"

namespace verve {

namespace {

// Below this level what a surface goes around is no more than what it leaves out by chance: a sheet has 0, a closed
// surface 0.5, one with three of ten triangles turned at random 0.2.
constexpr double lowest_level = 0.1;
constexpr int level_samples = 2000;
// Points along an axis of the grid that is flooded.
constexpr double most_flood_points = 100;

std::vector<TriangleTree::Triangle> soup_of(const Mesh& mesh) {
  const WeldedSurface welded = weld(mesh.vertices, surface(mesh));
  std::vector<TriangleTree::Triangle> out;
  for (const auto& [a, b, c] : welded.triangles)
    out.push_back({welded.vertices[a], welded.vertices[b], welded.vertices[c]});
  return out;
}

}  // namespace

Enclosure::Enclosure(const Mesh& surface, double cell) {
  auto soup = soup_of(surface);
  if (soup.empty()) {  // all without area, but at some place
    for (const auto& t : verve::surface(surface))
      soup.push_back({surface.vertices[t[0]], surface.vertices[t[1]], surface.vertices[t[2]]});
  }
  tree_ = std::make_unique<TriangleTree>(std::move(soup));
  find_level();
  if (level_ == 0) flood(cell);
}

/// On the surface the winding number is half of what it is inside: the median over the surface, by area, is the level.
/// Where a surface lies inside of another it counts as one half.
void Enclosure::find_level() {
  const auto& triangles = tree_->triangles();
  const std::size_t stride = std::max<std::size_t>(1, triangles.size() / level_samples);
  std::vector<std::pair<double, double>> found;  // level, area
  double total = 0;
  for (std::size_t i = 0; i < triangles.size(); i += stride) {
    const auto& [a, b, c] = triangles[i];
    const Vec3 n = cross(b - a, c - a);
    const double area = norm(n) / 2;
    if (!(area > 0)) continue;
    const Vec3 step = n * (1e-4 / std::sqrt(norm(n))), middle = (a + b + c) / 3;
    const double w = 0.5 * (tree_->winding(middle + step) + tree_->winding(middle - step));
    found.emplace_back(std::min(std::abs(w), 0.5), area);
    total += area;
  }
  std::sort(found.begin(), found.end());
  double below = 0;
  for (const auto& [level, area] : found)
    if ((below += area) >= 0.5 * total) {
      level_ = level >= lowest_level ? level : 0;
      return;
    }
}

/// Points that a walk from outside reaches without coming near the surface are outside; those that it does not reach,
/// inside; those near the surface belong with the nearest of either.
void Enclosure::flood(double cell) {
  const Box& box = tree_->box();
  const Vec3 extent = box.high - box.low;
  spacing_ = std::max({cell / 2, extent.x / most_flood_points, extent.y / most_flood_points, extent.z / most_flood_points});
  const double near = 1.5 * spacing_;
  for (int k = 0; k < 3; ++k) {
    points_[k] = int(std::ceil(extent[k] / spacing_)) + 9;
    origin_[k] = 0.5 * (box.low[k] + box.high[k]) - 0.5 * (points_[k] - 1) * spacing_;
  }
  const auto id = [&](int i, int j, int k) { return (std::size_t(k) * points_[1] + j) * points_[0] + i; };
  const std::size_t count = std::size_t(points_[0]) * points_[1] * points_[2];
  std::vector<char> blocked(count, 0);
  for (int k = 0; k < points_[2]; ++k)
    for (int j = 0; j < points_[1]; ++j)
      for (int i = 0; i < points_[0]; ++i)
        blocked[id(i, j, k)] = std::isfinite(tree_->distance(origin_ + Vec3{double(i), double(j), double(k)} * spacing_, near));
  const auto spread = [&](std::deque<std::array<int, 3>> front, bool through) {
    while (!front.empty()) {
      const auto at = front.front();
      front.pop_front();
      for (int axis = 0; axis < 3; ++axis)
        for (const int step : {-1, 1}) {
          auto next = at;
          next[axis] += step;
          if (next[axis] < 0 || next[axis] >= points_[axis]) continue;
          const std::size_t n = id(next[0], next[1], next[2]);
          if (side_[n] != 0 || (blocked[n] && !through)) continue;
          side_[n] = side_[id(at[0], at[1], at[2])];
          front.push_back(next);
        }
    }
  };
  side_.assign(count, 0);
  side_[0] = 1;
  spread({{0, 0, 0}}, false);
  nothing_ = true;
  std::deque<std::array<int, 3>> both;
  for (int k = 0; k < points_[2]; ++k)
    for (int j = 0; j < points_[1]; ++j)
      for (int i = 0; i < points_[0]; ++i) {
        const std::size_t n = id(i, j, k);
        if (blocked[n]) continue;
        if (side_[n] == 0) side_[n] = -1, nothing_ = false;
        both.push_back({i, j, k});
      }
  spread(std::move(both), true);
}

double Enclosure::operator()(const Vec3& p) const {
  if (level_ > 0) {
    const double w = std::abs(tree_->winding(p));
    return tree_->distance(p) * std::clamp((level_ - w) / level_, -1.0, 1.0);
  }
  if (nothing_) return tree_->distance(p);
  // between the points of the grid
  double sum = 0;
  Vec3 u;
  int at[3];
  for (int k = 0; k < 3; ++k) {
    const double t = (p[k] - origin_[k]) / spacing_;
    if (!(t >= 0 && t < points_[k] - 1)) return tree_->distance(p);
    at[k] = int(t), u[k] = t - at[k];
  }
  for (int c = 0; c < 8; ++c) {
    double weight = 1;
    int corner[3];
    for (int k = 0; k < 3; ++k) {
      const int up = c >> k & 1;
      corner[k] = at[k] + up, weight *= up ? u[k] : 1 - u[k];
    }
    sum += weight * side_[(std::size_t(corner[2]) * points_[1] + corner[1]) * points_[0] + corner[0]];
  }
  return sum * spacing_;
}

}  // namespace verve
