// Isosurface stuffing on a uniform lattice: sample, find cut points, warp, fill.
// Labelle and Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", SIGGRAPH 2007,
// section 3. Departures: cut points are found by bracketing instead of linear interpolation, since the function need
// not be a distance; vertices are warped in the order of how much they are violated.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "base/text.h"
#include "geometry/stuffing.h"
#include "geometry/stuffing_stencil.h"
#include "verve/mesh.h"

namespace verve {

namespace {

// Nine bytes each: the largest lattice takes some 200 MB and a few seconds.
constexpr double most_lattice_points = 24e6;

using Function = std::function<double(const Vec3&)>;
using Index3 = std::array<int, 3>;

// Half of the 14 lattice edges at a vertex, in half spacings; the other half are their negatives.
constexpr int directions[7][3] = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {1, -1, -1}};

class Stuffing {
 public:
  Stuffing(const Function& distance, const Vec3& lower, const Vec3& upper, double spacing, bool only_skin)
      : distance_(distance), lower_(lower), upper_(upper), spacing_(spacing), only_skin_(only_skin) {}

  Expected<Mesh> run() {
    if (!check_input()) return out_;
    sample();
    if (bad_value_) return out_;
    if (!any_inside_) {
      out_.error("tetrahedralize",
                 "found no lattice point inside, expected the function to be negative somewhere between " +
                     text(lower_) + " and " + text(upper_) + " (or a smaller spacing than " + format_number(spacing_) +
                     ")");
      return out_;
    }
    if (clipped_) out_.warning("tetrahedralize", "the body reaches the bounds and is cut off there");
    cut();
    if (bad_value_) return out_;
    warp();
    fill();
    if (only_skin_) keep_single_faces();
    return {std::move(mesh_), std::move(out_)};
  }

 private:
  static std::string text(const Vec3& p) { return format_numbers({p.x, p.y, p.z}); }
  static bool finite(const Vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

  bool check_input() {
    if (!distance_) out_.error("tetrahedralize.distance", "found no function");
    if (!finite(lower_) || !finite(upper_) || !(lower_.x < upper_.x && lower_.y < upper_.y && lower_.z < upper_.z))
      out_.error("tetrahedralize.bounds",
                 "found " + text(lower_) + " to " + text(upper_) +
                     ", expected finite corners, each coordinate of the first below the second's [m]");
    if (!(spacing_ > 0) || !std::isfinite(spacing_))
      out_.error("tetrahedralize.spacing", "found " + format_number(spacing_) + ", expected a number > 0 [m]");
    if (out_.has_errors()) return false;

    double points = 2;
    for (int k = 0; k < 3; ++k) {
      // a cell more on each side, so that the surface of a body that fills the bounds is cut, too
      const double cells = std::ceil((upper_[k] - lower_[k]) / spacing_ - 1e-9) + 2;
      points *= cells + 1;
      if (points > most_lattice_points) break;
      cells_[k] = int(cells);
      origin_[k] = 0.5 * (lower_[k] + upper_[k]) - 0.5 * cells * spacing_;
    }
    if (points > most_lattice_points) {
      out_.error("tetrahedralize.spacing", "found " + format_number(spacing_) +
                                               ", expected a spacing that needs at most " +
                                               format_number(most_lattice_points) + " lattice points between " +
                                               text(lower_) + " and " + text(upper_));
      return false;
    }
    for (int k = 0; k < 3; ++k) half_[k] = 2 * cells_[k] + 1;
    return true;
  }

  // --- lattice points: all coordinates even (corners) or all odd (centres), in half spacings ---

  std::size_t id(const Index3& p) const {
    const std::size_t nx = std::size_t(cells_[0]) + 1, ny = std::size_t(cells_[1]) + 1;
    return 2 * ((std::size_t(p[2] / 2) * ny + std::size_t(p[1] / 2)) * nx + std::size_t(p[0] / 2)) + (p[0] & 1);
  }
  bool inside_lattice(const Index3& p) const {
    for (int k = 0; k < 3; ++k)
      if (p[k] < 0 || p[k] >= half_[k]) return false;
    return true;
  }
  Vec3 position(const Index3& p) const {
    const double s = 0.5 * spacing_;
    return {origin_.x + s * p[0], origin_.y + s * p[1], origin_.z + s * p[2]};
  }
  template <class F>
  void for_each_point(const F& f) const {
    for (int k = 0; k < half_[2]; ++k)
      for (int j = k & 1; j < half_[1]; j += 2)
        for (int i = k & 1; i < half_[0]; i += 2) f(Index3{i, j, k});
  }

  double outside_bounds(const Vec3& p) const {
    double d = -1e300;
    for (int k = 0; k < 3; ++k) d = std::max({d, lower_[k] - p[k], p[k] - upper_[k]});
    return d;
  }
  double value(const Vec3& p) {
    const double f = distance_(p);
    if (std::isnan(f) && !bad_value_) {
      bad_value_ = true;
      out_.error("tetrahedralize.distance", "found NaN at " + text(p) + ", expected a number");
    }
    const double box = outside_bounds(p);
    if (f < 0 && box > 0) clipped_ = true;
    return std::max(f, box);
  }

  void sample() {
    values_.assign(2 * std::size_t(cells_[0] + 1) * std::size_t(cells_[1] + 1) * std::size_t(cells_[2] + 1), 1);
    for_each_point([&](const Index3& p) {
      if (bad_value_) return;
      const double f = value(position(p));
      values_[id(p)] = f;
      any_inside_ = any_inside_ || f < 0;
    });
    sign_.resize(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) sign_[i] = values_[i] < 0 ? 1 : values_[i] > 0 ? -1 : 0;
  }

  /// Where between p (t = 0) and q (t = 1) the function changes sign: regula falsi with the Illinois weights, and
  /// bisection whenever that is slow or the values are infinite.
  double root(const Vec3& p, const Vec3& q, double fp, double fq) {
    double a = 0, b = 1, fa = fp, fb = fq;
    int side = 0;
    for (int i = 0; i < 60 && b - a > 1e-10; ++i) {
      double t = (a * fb - b * fa) / (fb - fa);
      if (i % 3 == 2 || !(t > a && t < b)) t = 0.5 * (a + b);
      const double f = value(p + (q - p) * t);
      if (f == 0) return t;
      if ((f < 0) == (fp < 0)) {
        a = t, fa = f;
        if (side == 1) fb *= 0.5;
        side = 1;
      } else {
        b = t, fb = f;
        if (side == -1) fa *= 0.5;
        side = -1;
      }
    }
    return 0.5 * (a + b);
  }

  void cut() {
    for_each_point([&](const Index3& p) {
      const std::size_t i = id(p);
      if (sign_[i] == 0 || bad_value_) return;
      for (int d = 0; d < 7; ++d) {
        const Index3 q = shifted(p, d, 1);
        if (!inside_lattice(q)) continue;
        const std::size_t j = id(q);
        if (sign_[i] * sign_[j] < 0) cuts_[7 * i + d] = root(position(p), position(q), values_[i], values_[j]);
      }
    });
  }

  static Index3 shifted(const Index3& p, int d, int sign) {
    return {p[0] + sign * directions[d][0], p[1] + sign * directions[d][1], p[2] + sign * directions[d][2]};
  }

  /// Vertices move to cut points that lie too near, the nearest (in units of the limit) first: warping a vertex drops
  /// the cut points around it, so that a vertex that is barely violated often need not move any more.
  void warp() {
    struct Violation {
      double relative;
      std::size_t vertex, other;
      Vec3 target;
    };
    std::vector<Violation> violations;
    for_each_point([&](const Index3& p) {
      const std::size_t i = id(p);
      for (int d = 0; d < 7; ++d) {
        const Index3 q = shifted(p, d, 1);
        if (sign_[i] == 0 || !inside_lattice(q) || sign_[i] * sign_[id(q)] >= 0) continue;
        const double t = cuts_.at(7 * i + d), limit = d < 3 ? warp_long : warp_short;
        const Vec3 target = position(p) + (position(q) - position(p)) * t;
        if (t < limit) violations.push_back({t / limit, i, id(q), target});
        if (1 - t < limit) violations.push_back({(1 - t) / limit, id(q), i, target});
      }
    });
    std::stable_sort(violations.begin(), violations.end(),
                     [](const Violation& a, const Violation& b) { return a.relative < b.relative; });
    for (const Violation& v : violations) {
      if (sign_[v.vertex] == 0 || sign_[v.other] == 0) continue;
      sign_[v.vertex] = 0;
      warped_[v.vertex] = v.target;
    }
  }

  int lattice_vertex(const Index3& p) {
    const std::size_t i = id(p);
    const auto [entry, fresh] = vertex_.try_emplace(8 * i + 7, int(mesh_.vertices.size()));
    if (fresh) {
      const auto moved = warped_.find(i);
      mesh_.vertices.push_back(moved == warped_.end() ? position(p) : moved->second);
    }
    return entry->second;
  }
  int cut_vertex(Index3 p, Index3 q) {
    int d = 0;
    while (shifted(p, d, 1) != q) {
      if (++d == 7) std::swap(p, q), d = 0;
    }
    const std::size_t i = id(p);
    const auto [entry, fresh] = vertex_.try_emplace(8 * i + std::size_t(d), int(mesh_.vertices.size()));
    if (fresh) mesh_.vertices.push_back(position(p) + (position(q) - position(p)) * cuts_.at(7 * i + d));
    return entry->second;
  }

  /// Four tetrahedra around each face of the cubic cells: the centres of the two cells and one edge of the face.
  void fill() {
    std::vector<std::array<int, 4>> pieces;
    for (int k = 1; k < half_[2]; k += 2)
      for (int j = 1; j < half_[1]; j += 2)
        for (int i = 1; i < half_[0]; i += 2)
          for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            Index3 centre{i, j, k}, next = centre;
            next[axis] += 2;
            if (!inside_lattice(next)) continue;
            constexpr int ring[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
            for (int e = 0; e < 4; ++e) {
              Index3 a = centre, b = centre;
              a[axis] += 1, a[u] += ring[e][0], a[v] += ring[e][1];
              b[axis] += 1, b[u] += ring[e + 1][0], b[v] += ring[e + 1][1];
              fill_one({centre, next, a, b}, pieces);
            }
          }
  }

  void fill_one(const std::array<Index3, 4>& at, std::vector<std::array<int, 4>>& pieces) {
    LatticeTet tet{at, {}};
    for (int n = 0; n < 4; ++n) tet.sign[n] = sign_[id(at[n])];
    if (only_skin_ && tet.sign == std::array{1, 1, 1, 1}) return;
    pieces.clear();
    fill_stencil(tet, pieces);
    const auto vertex = [&](int n) {
      return n < 4 ? lattice_vertex(at[n])
                   : cut_vertex(at[stencil_edge_ends[n - 4][0]], at[stencil_edge_ends[n - 4][1]]);
    };
    for (const auto& piece : pieces) {
      if (only_skin_) {
        // the skin lies where the function is zero: all corners of its faces are cut points or vertices on the surface
        const auto zero = [&](int n) { return n >= 4 || tet.sign[n] == 0; };
        constexpr int outward[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};  // the order of surface()
        for (const auto& f : outward)
          if (zero(piece[f[0]]) && zero(piece[f[1]]) && zero(piece[f[2]]))
            mesh_.triangles.push_back({vertex(piece[f[0]]), vertex(piece[f[1]]), vertex(piece[f[2]])});
        continue;
      }
      mesh_.tetrahedra.push_back({vertex(piece[0]), vertex(piece[1]), vertex(piece[2]), vertex(piece[3])});
    }
  }

  /// Faces between two tetrahedra may have all their corners on the surface, too; those were found twice.
  void keep_single_faces() {
    auto& triangles = mesh_.triangles;
    std::vector<std::pair<std::array<int, 3>, std::size_t>> keys;
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      keys.emplace_back(triangles[i], i);
      std::sort(keys.back().first.begin(), keys.back().first.end());
    }
    std::sort(keys.begin(), keys.end());
    std::vector<char> twice(triangles.size(), 0);
    for (std::size_t i = 1; i < keys.size(); ++i)
      if (keys[i].first == keys[i - 1].first) twice[keys[i].second] = twice[keys[i - 1].second] = 1;
    std::vector<int> number(mesh_.vertices.size(), -1);
    std::vector<Vec3> used;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      if (twice[i]) continue;
      auto t = triangles[i];
      for (int& v : t) {
        if (number[v] < 0) number[v] = int(used.size()), used.push_back(mesh_.vertices[v]);
        v = number[v];
      }
      triangles[kept++] = t;
    }
    triangles.resize(kept);
    mesh_.vertices = std::move(used);
  }

  const Function& distance_;
  const Vec3 lower_, upper_;
  const double spacing_;
  const bool only_skin_;
  Diagnostics out_;
  std::array<int, 3> cells_{}, half_{};
  Vec3 origin_;
  std::vector<double> values_;
  std::vector<signed char> sign_;
  std::unordered_map<std::size_t, double> cuts_;  // 7 * point + direction -> fraction of the edge
  std::unordered_map<std::size_t, Vec3> warped_;  // point -> new position
  std::unordered_map<std::size_t, int> vertex_;   // 8 * point + direction (7: the point itself) -> mesh vertex
  Mesh mesh_;
  bool bad_value_ = false, any_inside_ = false, clipped_ = false;
};

}  // namespace

Expected<Mesh> tetrahedralize(const std::function<double(const Vec3&)>& distance, const Vec3& lower, const Vec3& upper,
                              double spacing) {
  return Stuffing(distance, lower, upper, spacing, false).run();
}

Expected<Mesh> stuffing_skin(const std::function<double(const Vec3&)>& distance, const Vec3& lower, const Vec3& upper,
                             double spacing) {
  return Stuffing(distance, lower, upper, spacing, true).run();
}

}  // namespace verve
