#include "geometry/shading_normals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace verve {

namespace {

constexpr double smooth_cosine = 0.70710678118654752;  // of 45 degrees: bends look smooth, the edges of boxes do not

/// The same number for vertices at the same place.
std::vector<int> places(const std::vector<Vec3>& x) {
  std::vector<int> order(x.size()), out(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int v) { return std::array{x[v].x, x[v].y, x[v].z}; };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (std::size_t i = 0; i < order.size(); ++i)
    out[order[i]] = i > 0 && key(order[i]) == key(order[i - 1]) ? out[order[i - 1]] : order[i];
  return out;
}

}  // namespace

ShadingNormals::ShadingNormals(const Mesh& mesh) {
  if (mesh.look) {
    first_ = mesh.look->first, vertex_ = mesh.look->vertex;
  } else {
    for (const auto& t : surface(mesh)) {
      vertex_.insert(vertex_.end(), t.begin(), t.end());
      first_.push_back(int(vertex_.size()));
    }
  }
  const std::vector<int> place = places(mesh.vertices);
  if (mesh.look && !mesh.look->normal.empty())
    group_by_file(*mesh.look, place);
  else
    group_by_angle(mesh.vertices, place);
}

void ShadingNormals::group_by_file(const SurfaceLook& look, const std::vector<int>& place) {
  std::map<std::pair<int, int>, int> known;
  for (std::size_t i = 0; i < vertex_.size(); ++i)
    normal_.push_back(known.try_emplace({place[vertex_[i]], look.normal[i]}, int(known.size())).first->second);
  count_ = int(known.size());
}

void ShadingNormals::group_by_angle(const std::vector<Vec3>& x, const std::vector<int>& place) {
  struct Side {
    int low, high;        // places
    int at_low, at_high;  // corners there
    int face;
  };
  std::vector<Side> sides;
  std::vector<Vec3> normals;
  for (int f = 0; f + 1 < int(first_.size()); ++f) {
    const Vec3 n = area(x, f);
    normals.push_back(norm(n) > 0 ? n / norm(n) : n);
    for (int i = first_[f]; i < first_[f + 1]; ++i) {
      const int j = i + 1 < first_[f + 1] ? i + 1 : first_[f], a = place[vertex_[i]], b = place[vertex_[j]];
      sides.push_back(a < b ? Side{a, b, i, j, f} : Side{b, a, j, i, f});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::array{a.low, a.high, a.face} < std::array{b.low, b.high, b.face};
  });
  std::vector<int> root(vertex_.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  const auto join = [&](int a, int b) {
    a = find(a), b = find(b);
    root[std::max(a, b)] = std::min(a, b);
  };
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    const Side &a = sides[i], &b = sides[i + 1];
    if (a.low != b.low || a.high != b.high || dot(normals[a.face], normals[b.face]) < smooth_cosine) continue;
    join(a.at_low, b.at_low), join(a.at_high, b.at_high);
  }
  std::vector<int> number(vertex_.size(), -1);
  for (std::size_t i = 0; i < vertex_.size(); ++i) {
    int& n = number[find(int(i))];
    if (n < 0) n = count_++;
    normal_.push_back(n);
  }
}

Vec3 ShadingNormals::area(const std::vector<Vec3>& x, int face) const {
  Vec3 sum;
  const Vec3& o = x[vertex_[first_[face]]];
  for (int i = first_[face] + 1; i + 1 < first_[face + 1]; ++i) sum += cross(x[vertex_[i]] - o, x[vertex_[i + 1]] - o);
  return sum;
}

std::vector<Vec3> ShadingNormals::at(const std::vector<Vec3>& x) const {
  std::vector<Vec3> out(count_);
  for (int f = 0; f + 1 < int(first_.size()); ++f) {
    const Vec3 n = area(x, f);
    for (int i = first_[f]; i < first_[f + 1]; ++i) out[normal_[i]] += n;
  }
  for (Vec3& n : out) {
    const double length = norm(n);
    n = length > 0 && std::isfinite(length) ? n / length : Vec3{0, 1, 0};
  }
  return out;
}

}  // namespace verve
