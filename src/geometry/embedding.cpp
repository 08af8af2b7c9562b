// A fine surface carried by a coarse volume (Bouaziz et al. 2014, Sec. 7.1): barycentric coordinates in the tetrahedron
// that holds a point, found with a tree of bounding boxes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "geometry/box.h"
#include "geometry/point_triangle.h"
#include "verve/mesh.h"

namespace verve {

namespace {

// Tetrahedra whose distances from a point differ by less than this fraction of the mesh's bounding box are equally
// near: a point on a common face belongs to both sides, and rounding must not choose.
constexpr double equally_near = 1e-10;

class Carrier {
 public:
  explicit Carrier(const Mesh& mesh) : mesh_(mesh), order_(mesh.tetrahedra.size()), centre_(order_.size()) {
    Box all;
    for (std::size_t t = 0; t < order_.size(); ++t) {
      const auto& tet = mesh.tetrahedra[t];
      for (const int v : tet) centre_[t] += mesh.vertices[v] * 0.25, all.add(mesh.vertices[v]);
    }
    tolerance_ = equally_near * norm(all.high - all.low);
    std::iota(order_.begin(), order_.end(), 0);
    nodes_.reserve(order_.size());
    build(0, int(order_.size()));
  }

  /// The nearest tetrahedron and its distance, 0 inside. Among equally near ones that in which the point has the
  /// largest least weight, so that as little as possible is extrapolated; then the first.
  std::pair<int, double> nearest(const Vec3& p) {
    near_.clear();
    double best = INFINITY;
    visit(0, nodes_[0].box.distance(p), p, best);
    int chosen = -1;
    double inmost = -INFINITY;
    for (const auto& [tet, distance] : near_) {
      if (distance > best + tolerance_) continue;
      const auto w = weights(tet, p);
      const double least = *std::min_element(w.begin(), w.end());
      if (least > inmost || (least == inmost && tet < chosen)) chosen = tet, inmost = least;
    }
    return {chosen, best};
  }

  std::array<double, 4> weights(int tet, const Vec3& p) const {
    const auto& [a, b, c, d] = mesh_.tetrahedra[tet];
    const Vec3& o = mesh_.vertices[a];
    const Vec3 e1 = mesh_.vertices[b] - o, e2 = mesh_.vertices[c] - o, e3 = mesh_.vertices[d] - o;
    const Vec3 n1 = cross(e2, e3), n2 = cross(e3, e1), n3 = cross(e1, e2);
    const double volume = dot(n1, e1);
    Vec3 w, rest = p - o;
    for (int pass = 0; pass < 2; ++pass) {  // the second pass takes away most of the rounding of flat tetrahedra
      w += Vec3{dot(n1, rest), dot(n2, rest), dot(n3, rest)} / volume;
      rest = p - o - e1 * w.x - e2 * w.y - e3 * w.z;
    }
    return {1 - (w.x + w.y + w.z), w.x, w.y, w.z};
  }

 private:
  struct Node {
    Box box;
    int first = 0, count = 0;  // tetrahedra of a leaf, in order_
    int right = 0;             // the left child follows its parent
  };

  int build(int first, int last) {
    const int self = int(nodes_.size());
    nodes_.emplace_back();
    Box box, centres;
    for (int i = first; i < last; ++i) {
      for (const int v : mesh_.tetrahedra[order_[i]]) box.add(mesh_.vertices[v]);
      centres.add(centre_[order_[i]]);
    }
    nodes_[self].box = box;
    if (last - first <= 4) {
      nodes_[self].first = first, nodes_[self].count = last - first;
      return self;
    }
    const Vec3 extent = centres.high - centres.low;
    const int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
    const int middle = (first + last) / 2;
    std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last, [&](int a, int b) {
      return centre_[a][axis] != centre_[b][axis] ? centre_[a][axis] < centre_[b][axis] : a < b;
    });
    build(first, middle);
    nodes_[self].right = build(middle, last);
    return self;
  }

  void visit(int n, double box_distance, const Vec3& p, double& best) {
    if (box_distance > best + tolerance_) return;
    const Node& node = nodes_[n];
    for (int i = node.first; i < node.first + node.count; ++i) {
      const double d = distance(order_[i], p);
      if (d > best + tolerance_) continue;
      best = std::min(best, d);
      near_.emplace_back(order_[i], d);
    }
    if (node.count > 0) return;
    const double left = nodes_[n + 1].box.distance(p), right = nodes_[node.right].box.distance(p);
    if (right < left) {
      visit(node.right, right, p, best);
      visit(n + 1, left, p, best);
    } else {
      visit(n + 1, left, p, best);
      visit(node.right, right, p, best);
    }
  }

  double distance(int tet, const Vec3& p) const {
    const auto w = weights(tet, p);
    if (*std::min_element(w.begin(), w.end()) >= 0) return 0;
    const auto& t = mesh_.tetrahedra[tet];
    const auto& x = mesh_.vertices;
    double least = INFINITY;
    for (int f = 0; f < 4; ++f)  // only a face that the point looks at can be the nearest
      if (!(w[f] >= 0))
        least = std::min(least,
                         point_triangle(p, x[t[(f + 1) % 4]], x[t[(f + 2) % 4]], x[t[(f + 3) % 4]]).squared_distance);
    return std::sqrt(least);
  }

  const Mesh& mesh_;
  std::vector<int> order_;
  std::vector<Vec3> centre_;
  std::vector<Node> nodes_;
  std::vector<std::pair<int, double>> near_;
  double tolerance_ = 0;
};

}  // namespace

Embedding embed(const Mesh& carrier, const std::vector<Vec3>& points) {
  if (carrier.tetrahedra.empty())
    throw std::invalid_argument("embed: found a carrier without tetrahedra, expected at least one");
  Embedding out;
  out.vertices.reserve(points.size());
  out.weights.reserve(points.size());
  Carrier search(carrier);
  for (const Vec3& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
      throw std::invalid_argument("embed: found a point that is not finite, expected coordinates [m]");
    const auto [tet, distance] = search.nearest(p);
    out.vertices.push_back(carrier.tetrahedra[tet]);
    out.weights.push_back(search.weights(tet, p));
    out.farthest = std::max(out.farthest, distance);
  }
  return out;
}

void carry(const Embedding& embedding, const Vec3* carrier, Vec3* out) {
  for (std::size_t i = 0; i < embedding.vertices.size(); ++i) {
    const auto& v = embedding.vertices[i];
    const auto& w = embedding.weights[i];
    out[i] = (carrier[v[0]] * w[0] + carrier[v[1]] * w[1]) + (carrier[v[2]] * w[2] + carrier[v[3]] * w[3]);
  }
}

std::vector<Vec3> carry(const Embedding& embedding, const std::vector<Vec3>& carrier) {
  for (const auto& v : embedding.vertices)
    for (const int i : v)
      if (i < 0 || std::size_t(i) >= carrier.size())
        throw std::invalid_argument("carry: found " + std::to_string(carrier.size()) +
                                    " positions, expected one for each vertex of the carrier");
  std::vector<Vec3> out(embedding.vertices.size());
  carry(embedding, carrier.data(), out.data());
  return out;
}

}  // namespace verve
