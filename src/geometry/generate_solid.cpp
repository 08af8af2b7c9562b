// Tetrahedra that fill a surface, whatever its faults, and that follow it more closely than the cells of a cage.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "geometry/enclosure.h"
#include "geometry/generators.h"

namespace verve {

namespace {

using Triangle = TriangleTree::Triangle;
using Cell = std::array<int, 3>;

// No point is further than this from a point of the lattice, in spacings (√5/4 of a body-centred cubic one): around
// every point of a sheet thickened by it there is a lattice point inside.
constexpr double covering_radius = 0.56;
constexpr double most_pieces = 4e6;

/// Pieces of the surface that the body does not come near: sheets, fins and wires thinner than a cell.
class ThinParts {
 public:
  ThinParts(const std::vector<Triangle>& triangles, double spacing, const Mesh* body)
      : spacing_(spacing), triangles_(triangles) {
    std::set<Cell> near;
    if (body)
      for (const Vec3& p : body->vertices)
        around(cell(p), 1, [&](const Cell& c) { near.insert(c); });
    for_each_piece([&](const Triangle& t) {
      const Cell c = cell(middle(t));
      total_ += area(t);
      if (!near.count(c)) lost_ += area(t), cells_.insert(c);
    });
  }
  double share() const { return total_ > 0 ? lost_ / total_ : 1; }
  bool empty() const { return cells_.empty(); }
  /// With a rim of two cells, so that they are joined to the body.
  std::vector<Triangle> pieces() const {
    std::set<Cell> wide;
    for (const Cell& c : cells_) around(c, 2, [&](const Cell& n) { wide.insert(n); });
    std::vector<Triangle> out;
    for_each_piece([&](const Triangle& t) {
      if (wide.count(cell(middle(t)))) out.push_back(t);
    });
    return out;
  }

 private:
  static Vec3 middle(const Triangle& t) { return (t[0] + t[1] + t[2]) / 3; }
  static double area(const Triangle& t) { return norm(cross(t[1] - t[0], t[2] - t[0])) / 2; }
  Cell cell(const Vec3& p) const {
    return {int(std::floor(p.x / spacing_)), int(std::floor(p.y / spacing_)), int(std::floor(p.z / spacing_))};
  }
  template <class F>
  static void around(const Cell& c, int rings, const F& f) {
    for (int i = -rings; i <= rings; ++i)
      for (int j = -rings; j <= rings; ++j)
        for (int k = -rings; k <= rings; ++k) f(Cell{c[0] + i, c[1] + j, c[2] + k});
  }
  /// The triangles, halved at their longest edge until that is no longer than the spacing.
  template <class F>
  void for_each_piece(const F& f) const {
    std::vector<Triangle> stack;
    for (const Triangle& t : triangles_) {
      stack.push_back(t);
      while (!stack.empty()) {
        const Triangle piece = stack.back();
        stack.pop_back();
        int longest = 0;
        double length = 0;
        for (int i = 0; i < 3; ++i)
          if (const double l = norm(piece[(i + 1) % 3] - piece[i]); l > length) length = l, longest = i;
        if (length <= spacing_) {
          f(piece);
          continue;
        }
        const Vec3 &a = piece[longest], &b = piece[(longest + 1) % 3], &c = piece[(longest + 2) % 3], half = (a + b) * 0.5;
        stack.push_back({a, half, c});
        stack.push_back({half, b, c});
      }
    }
  }

  double spacing_, total_ = 0, lost_ = 0;
  const std::vector<Triangle>& triangles_;
  std::set<Cell> cells_;
};

Expected<Mesh> make_solid(const Arguments& arguments, const Mesh& around) {
  Diagnostics out;
  const auto triangles = surface(around);
  if (triangles.empty()) {
    out.error("solid", "found a surface without triangles, expected at least one");
    return out;
  }
  Box box;
  for (const auto& t : triangles)
    for (const int v : t) {
      const Vec3& p = around.vertices[v];
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
        out.error("solid", "found a surface with a vertex that is not finite, expected coordinates [m]");
        return out;
      }
      box.add(p);
    }
  const Vec3 extent = box.high - box.low;
  const double longest = std::max({extent.x, extent.y, extent.z});
  if (!(longest > 0)) {
    out.error("solid", "found a surface of no size, expected one that is larger than a point");
    return out;
  }
  const double cell = arguments.number("cell"), spacing = cell > 0 ? cell : longest / arguments.number("cells");
  if (const double cells = longest / spacing; cells > 400) {
    out.error("cell", "found " + format_number(spacing) + ", which is " + format_value(cells) +
                          " cells along the surface, expected at most 400");
    return out;
  }
  // unit spacing about the origin: the same bits for every size
  Mesh scaled = around;
  const Vec3 centre = (box.low + box.high) * 0.5;
  for (Vec3& p : scaled.vertices) p = (p - centre) / spacing;
  const Vec3 reach = extent / (2 * spacing);
  const Enclosure enclosure(scaled, 1);

  const auto fill = [&](const std::function<double(const Vec3&)>& f, double margin) {
    const Vec3 bound = reach + Vec3{margin, margin, margin};
    return tetrahedralize(
        [&](const Vec3& p) {
          double outside = -INFINITY;
          for (int k = 0; k < 3; ++k) outside = std::max(outside, std::abs(p[k]) - bound[k]);
          return outside > 0 ? outside : f(p);
        },
        -1.0 * bound - Vec3{0.1, 0.1, 0.1}, bound + Vec3{0.1, 0.1, 0.1}, 1);
  };
  // nothing inside is no fault: the surface may be a sheet
  std::optional<Mesh> body;
  if (!enclosure.encloses_nothing())
    if (Expected<Mesh> filled = fill([&](const Vec3& p) { return enclosure(p); }, 1e-3)) body = std::move(*filled);
  const ThinParts thin(enclosure.tree().triangles(), 1, body ? &*body : nullptr);
  if (!thin.empty()) {
    const auto pieces = thin.pieces();
    if (double(pieces.size()) > most_pieces) {
      out.error("cells", "found thin parts in more than " + format_number(most_pieces) + " pieces, expected fewer cells");
      return out;
    }
    const TriangleTree sheet(pieces);
    Expected<Mesh> filled = fill(
        [&](const Vec3& p) {
          const double d = sheet.distance(p, 4);
          const double shell = std::isfinite(d) ? d - covering_radius : 3;
          return body ? std::min(enclosure(p), shell) : shell;
        },
        covering_radius);
    if (!filled) return filled.diagnostics();
    body = std::move(*filled);
    out.note("solid", format_value(100 * thin.share()) + " % of the surface is thinner than a cell of " +
                          format_value(spacing) + " m: thickened to about one there");
  }
  for (Vec3& p : body->vertices) p = p * spacing + centre;
  return {std::move(*body), std::move(out)};
}

}  // namespace

Generator solid_generator() {
  ParameterInfo cells = count_parameter("cells", "lattice cells along the longest side of the surface", {24}, 4, 400);
  cells.integer = false;
  ParameterInfo cell{"cell", "m", "edge of a lattice cell, in place of `cells`; 0: as these say", {0}};
  cell.minimum = 0;
  return {{"solid",
           "tetrahedra that fill the surface that the body carries (`embed`), open, doubled or broken as it may be",
           {cells, cell},
           true},
          nullptr,
          make_solid};
}

}  // namespace verve
