// A lattice of tetrahedra around a surface: every cubic cell that the surface touches or encloses.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "geometry/generators.h"

namespace verve {

namespace {

constexpr double most_cells = 2e6;
// A cell counts as touched from this fraction of its size on, so that no point of the surface is lost to rounding.
constexpr double margin = 1e-9;

using Triangle = std::array<Vec3, 3>;

/// Whether a triangle meets the cube of half edge `half` about the origin: no plane separates the two.
/// Akenine-Möller, "Fast 3D triangle-box overlap testing", 2001.
bool meets_cube(const Triangle& t, double half) {
  const auto separated = [&](const Vec3& axis) {
    const double a = dot(t[0], axis), b = dot(t[1], axis), c = dot(t[2], axis);
    const double reach = half * (std::abs(axis.x) + std::abs(axis.y) + std::abs(axis.z));
    return std::min({a, b, c}) > reach || std::max({a, b, c}) < -reach;
  };
  const Vec3 units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const Vec3 edges[3] = {t[1] - t[0], t[2] - t[1], t[0] - t[2]};
  for (const Vec3& u : units)
    if (separated(u)) return false;
  if (separated(cross(edges[0], edges[1]))) return false;
  for (const Vec3& u : units)
    for (const Vec3& e : edges)
      if (separated(cross(u, e))) return false;
  return true;
}

/// Every edge is met by as many triangles one way as the other. Vertices at the same place are one: files often hold
/// triangles that share no vertex numbers.
bool closed(const std::vector<Triangle>& triangles) {
  const auto less = [](const Vec3& a, const Vec3& b) {
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
  };
  struct Edge {
    Vec3 low, high;
    int way;
  };
  std::vector<Edge> edges;
  for (const Triangle& t : triangles)
    for (int i = 0; i < 3; ++i) {
      const Vec3 &a = t[i], &b = t[(i + 1) % 3];
      if (a == b) continue;
      edges.push_back(less(a, b) ? Edge{a, b, 1} : Edge{b, a, -1});
    }
  std::sort(edges.begin(), edges.end(),
            [&](const Edge& p, const Edge& q) { return p.low == q.low ? less(p.high, q.high) : less(p.low, q.low); });
  for (std::size_t i = 0; i < edges.size();) {
    int sum = 0;
    const Edge& first = edges[i];
    for (; i < edges.size() && edges[i].low == first.low && edges[i].high == first.high; ++i) sum += edges[i].way;
    if (sum != 0) return false;
  }
  return true;
}

/// How often the surface goes around a point: the sum of the solid angles.
/// Van Oosterom and Strackee, "The solid angle of a plane triangle", 1983.
double winding_number(const std::vector<Triangle>& triangles, const Vec3& p) {
  double sum = 0;
  for (const Triangle& t : triangles) {
    const Vec3 a = t[0] - p, b = t[1] - p, c = t[2] - p;
    const double la = norm(a), lb = norm(b), lc = norm(c);
    sum += std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return sum / (2 * std::numbers::pi);
}

class Cage {
 public:
  Cage(const std::vector<Triangle>& triangles, double cell) : triangles_(triangles), cell_(cell) {}

  Expected<Mesh> run(int tets_per_cell) {
    if (!measure()) return out_;
    touch();
    if (closed(triangles_))
      enclose();
    else
      out_.warning("cage",
                   "the surface is not closed, or its triangles do not all look the same way: cells that it "
                   "only encloses are left out");
    return {fill(tets_per_cell), std::move(out_)};
  }

 private:
  enum : char { unknown, outside, inside, touched };

  bool measure() {
    Vec3 low = triangles_[0][0], high = low;
    for (const Triangle& t : triangles_)
      for (const Vec3& p : t)
        for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
    double count = 1;
    double cells[3];
    for (int k = 0; k < 3; ++k) {
      cells[k] = std::max(1.0, std::ceil((high[k] - low[k]) / cell_ - margin));
      count *= cells[k];
    }
    if (!(count <= most_cells)) {
      std::string what = "found " + format_number(cell_) + ", which makes a lattice of " + format_value(count) +
                         " cells, expected at most " + format_number(most_cells);
      if (std::isfinite(count))
        what += ": a cell of about " + format_value(cell_ * std::cbrt(count / most_cells)) + " m or more";
      out_.error("cell", what);
      return false;
    }
    for (int k = 0; k < 3; ++k) {
      cells_[k] = int(cells[k]);
      origin_[k] = 0.5 * (low[k] + high[k]) - 0.5 * cells[k] * cell_;
    }
    state_.assign(std::size_t(count), unknown);
    return true;
  }

  std::size_t id(int i, int j, int k) const { return (std::size_t(k) * cells_[1] + j) * cells_[0] + i; }
  Vec3 centre(int i, int j, int k) const { return origin_ + Vec3{i + 0.5, j + 0.5, k + 0.5} * cell_; }
  template <class F>
  void for_each_cell(const F& f) const {
    for (int k = 0; k < cells_[2]; ++k)
      for (int j = 0; j < cells_[1]; ++j)
        for (int i = 0; i < cells_[0]; ++i) f(i, j, k);
  }

  void touch() {
    const double half = 0.5 * cell_ * (1 + margin);
    for (const Triangle& t : triangles_) {
      int from[3], to[3];
      for (int axis = 0; axis < 3; ++axis) {
        const double low = std::min({t[0][axis], t[1][axis], t[2][axis]}) - origin_[axis];
        const double high = std::max({t[0][axis], t[1][axis], t[2][axis]}) - origin_[axis];
        from[axis] = std::clamp(int(std::floor(low / cell_ - margin)), 0, cells_[axis] - 1);
        to[axis] = std::clamp(int(std::floor(high / cell_ + margin)), 0, cells_[axis] - 1);
      }
      for (int k = from[2]; k <= to[2]; ++k)
        for (int j = from[1]; j <= to[1]; ++j)
          for (int i = from[0]; i <= to[0]; ++i) {
            char& state = state_[id(i, j, k)];
            if (state == touched) continue;
            const Vec3 c = centre(i, j, k);
            if (meets_cube({t[0] - c, t[1] - c, t[2] - c}, half)) state = touched;
          }
    }
  }

  /// Cells that the surface does not touch and that are joined by faces lie on one side of it: one question for each
  /// such group, asked at the centre of a cell, where the answer is a whole number.
  void enclose() {
    std::vector<std::array<int, 3>> front;
    for_each_cell([&](int i, int j, int k) {
      if (state_[id(i, j, k)] != unknown) return;
      // a surface turned inside out encloses as much
      const char side = std::abs(winding_number(triangles_, centre(i, j, k))) > 0.5 ? inside : outside;
      state_[id(i, j, k)] = side;
      front.push_back({i, j, k});
      while (!front.empty()) {
        const auto at = front.back();
        front.pop_back();
        for (int axis = 0; axis < 3; ++axis)
          for (const int step : {-1, 1}) {
            auto next = at;
            next[axis] += step;
            if (next[axis] < 0 || next[axis] >= cells_[axis]) continue;
            char& state = state_[id(next[0], next[1], next[2])];
            if (state != unknown) continue;
            state = side;
            front.push_back(next);
          }
      }
    });
  }

  Mesh fill(int tets_per_cell) const {
    Mesh mesh;
    const int nx = cells_[0] + 1, ny = cells_[1] + 1;
    std::vector<int> number(std::size_t(nx) * ny * (cells_[2] + 1), -1);
    for_each_cell([&](int i, int j, int k) {
      if (state_[id(i, j, k)] < inside) return;
      std::array<int, 8> corner;
      for (int c = 0; c < 8; ++c) {
        const int x = i + (c & 1), y = j + (c >> 1 & 1), z = k + (c >> 2);
        int& vertex = number[(std::size_t(z) * ny + y) * nx + x];
        if (vertex < 0) {
          vertex = int(mesh.vertices.size());
          mesh.vertices.push_back(origin_ + Vec3{double(x), double(y), double(z)} * cell_);
        }
        corner[c] = vertex;
      }
      split_cell(corner, tets_per_cell, i + j + k, mesh.tetrahedra);
    });
    return mesh;
  }

  const std::vector<Triangle>& triangles_;
  const double cell_;
  Diagnostics out_;
  int cells_[3] = {};
  Vec3 origin_;
  std::vector<char> state_;
};

Expected<Mesh> make_cage(const Arguments& arguments, const Mesh& around) {
  std::vector<Triangle> triangles;
  Diagnostics out;
  for (const auto& t : surface(around)) {
    triangles.push_back({around.vertices[t[0]], around.vertices[t[1]], around.vertices[t[2]]});
    for (const Vec3& p : triangles.back())
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
        out.error("cage", "found a surface with a vertex that is not finite, expected coordinates [m]");
        return out;
      }
  }
  if (triangles.empty()) {
    out.error("cage", "found a surface without triangles, expected at least one");
    return out;
  }
  return Cage(triangles, arguments.number("cell")).run(arguments.whole("tets_per_cell"));
}

}  // namespace

Generator cage_generator() {
  return {{"cage",
           "a lattice of cells that touch or lie inside the surface that the body carries (`embed`)",
           {length_parameter("cell", "edge of a cell", 0.1), split_parameter(5)},
           true},
          nullptr,
          make_cage};
}

}  // namespace verve
