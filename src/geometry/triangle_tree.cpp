#include "geometry/triangle_tree.h"

#include <algorithm>
#include <numbers>
#include <stdexcept>

#include "geometry/point_triangle.h"

namespace verve {

namespace {

constexpr int most_in_leaf = 8;
// A node whose centre is further than this many of its radii is taken for a dipole. Trades time for error, where one half
// has to be told from nothing: 2 gave 0.050 at worst on the shapes of the tests, 3 gives 0.020.
constexpr double far_away = 3.0;

/// Van Oosterom and Strackee, "The solid angle of a plane triangle", 1983; half of it.
double half_solid_angle(const TriangleTree::Triangle& t, const Vec3& p) {
  const Vec3 a = t[0] - p, b = t[1] - p, c = t[2] - p;
  const double la = norm(a), lb = norm(b), lc = norm(c);
  return std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

Vec3 centroid(const TriangleTree::Triangle& t) { return (t[0] + t[1] + t[2]) / 3; }

}  // namespace

TriangleTree::TriangleTree(std::vector<Triangle> triangles) : triangles_(std::move(triangles)) {
  if (triangles_.empty()) throw std::invalid_argument("TriangleTree: found no triangles, expected at least one");
  nodes_.reserve(triangles_.size());
  build(0, int(triangles_.size()));
}

int TriangleTree::build(int first, int last) {
  const int self = int(nodes_.size());
  nodes_.emplace_back();
  Node node;
  node.first = first, node.last = last;
  Box centres;
  double area = 0;
  for (int i = first; i < last; ++i) {
    const Triangle& t = triangles_[i];
    node.box.add(box_of(t));
    centres.add(centroid(t));
    const Vec3 n = cross(t[1] - t[0], t[2] - t[0]) * 0.5;
    node.normal += n;
    node.centre += centroid(t) * norm(n), area += norm(n);
  }
  node.centre = area > 0 ? node.centre / area : (node.box.low + node.box.high) * 0.5;
  for (int i = first; i < last; ++i)
    for (const Vec3& p : triangles_[i]) node.radius = std::max(node.radius, norm(p - node.centre));
  nodes_[self] = node;
  if (last - first <= most_in_leaf) return self;
  const Vec3 extent = centres.high - centres.low;
  const int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
  const int middle = (first + last) / 2;
  std::nth_element(triangles_.begin() + first, triangles_.begin() + middle, triangles_.begin() + last,
                   [&](const Triangle& a, const Triangle& b) { return centroid(a)[axis] < centroid(b)[axis]; });
  build(first, middle);
  const int right = build(middle, last);
  nodes_[self].right = right;
  return self;
}

double TriangleTree::winding(const Vec3& p) const {
  double near = 0, far = 0;
  int stack[128], size = 0;  // a median split is never deeper than the logarithm of what an int counts, twice
  stack[size++] = 0;
  while (size > 0) {
    const int n = stack[--size];
    const Node& node = nodes_[n];
    const Vec3 d = node.centre - p;
    const double squared = dot(d, d);
    if (squared > far_away * far_away * node.radius * node.radius) {
      far += dot(d, node.normal) / (squared * std::sqrt(squared));
    } else if (!node.right) {
      for (int i = node.first; i < node.last; ++i) near += half_solid_angle(triangles_[i], p);
    } else {
      stack[size++] = node.right, stack[size++] = n + 1;
    }
  }
  return (2 * near + far) / (4 * std::numbers::pi);
}

double TriangleTree::distance(const Vec3& p, double most) const {
  double best = most;
  int stack[128], size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const int n = stack[--size];
    const Node& node = nodes_[n];
    if (!(node.box.distance(p) < best)) continue;
    if (!node.right) {
      for (int i = node.first; i < node.last; ++i) {
        const auto& [a, b, c] = triangles_[i];
        best = std::min(best, std::sqrt(point_triangle(p, a, b, c).squared_distance));
      }
      continue;
    }
    const bool left_first = nodes_[n + 1].box.distance(p) <= nodes_[node.right].box.distance(p);
    stack[size++] = left_first ? node.right : n + 1;
    stack[size++] = left_first ? n + 1 : node.right;
  }
  return best < most ? best : INFINITY;
}

}  // namespace verve
