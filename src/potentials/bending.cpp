// Bending of sheets by the Laplace-Beltrami operator: PD Eq. 19-21 and 28, over the inner vertices.
//
// What is bent is the second derivative of the surface, found at an inner vertex from its ring of triangles at rest as
// the weak derivative of the gradient,
//   H_i x = -1/A_i  sum over triangles t of |t|  grad(phi_i) grad(x)^T,
// A_i the (mixed) Voronoi area. Its trace is the cotangent Laplacian over A_i: the mean-curvature vector c of PD
// Eq. 21.
//
// PD Eq. 19 keeps the trace alone: w/2 (tr H)^2, a plate of Poisson's ratio 1. Where a sheet ends that is not enough.
// A saddle, x^2 - y^2, has no trace, and a strip clamped at one end avoids all cost by bending the opposite way across
// its width; only the in-plane stiffness could forbid that, and it does not notice small deflections. The energy of a
// plate,
//   w/2 [(tr H)^2 - 2 (1 - nu) det H]  =  w/2 [(1 + nu)/2 (tr H)^2 + (1 - nu)/2 ((Hxx - Hyy)^2 + 4 Hxy^2)],
// has two rows more per vertex, and the right conditions at free edges come by themselves: vertices of the border have
// no term of their own (Stein et al. 2018, "Natural boundary conditions for smoothing in geometry processing"). nu = 1
// is the energy as published. On a closed surface, or one that keeps its lengths, det H is Gauss' and all nu agree.
//
// A triangle without any inner vertex (at corners, or everywhere in a strip one cell wide) is in no ring. It is held at
// its inner edges by the hinge stencil of Bergou et al. 2006, "A quadratic bending model for inextensible surfaces":
// the same vector for two triangles, |z| = 2 sin(theta/2).
#include <algorithm>
#include <cmath>

#include "potentials/bending_patch.h"
#include "potentials/elements.h"
#include "potentials/parameters.h"
#include "potentials/patch_batch.h"
#include "potentials/sparse_potential.h"

namespace verve {

namespace {

using Coefficient = SparsePotential::Coefficient;

struct Params {
  double stiffness = 0.01, poisson = 0;
  static std::vector<Field<Params>> fields() {
    return {
        field("stiffness", &Params::stiffness, "N m", "bending stiffness: energy per area w/2 kappa^2"),
        field("poisson", &Params::poisson, "", "Poisson's ratio of the plate; 1 is the energy of PD Eq. 19", -1, 1)};
  }
  std::string check() const { return {}; }
};

/// A triangle at rest.
struct Facet {
  double area = 0;
  Vec3 normal;
  std::array<Vec3, 3> slope;     // gradients of the three hat functions
  std::array<double, 3> region;  // the part of the area that is nearest to each vertex

  Facet(const Vec3& a, const Vec3& b, const Vec3& c) {
    const std::array<Vec3, 3> x{a, b, c};
    const Vec3 n = cross(b - a, c - a);
    area = 0.5 * norm(n), normal = n / norm(n);
    std::array<double, 3> angle{}, side{};  // cosines times lengths, squares of the sides across
    for (int i = 0; i < 3; ++i) {
      const Vec3 u = x[(i + 1) % 3] - x[i], v = x[(i + 2) % 3] - x[i];
      slope[i] = cross(normal, v - u) / (2 * area);
      angle[i] = dot(u, v), side[i] = dot(v - u, v - u);
    }
    // Meyer et al. 2003: Voronoi in triangles without an obtuse angle, otherwise half of it to the obtuse corner
    const auto obtuse = std::find_if(angle.begin(), angle.end(), [](double cosine) { return cosine < 0; });
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      if (obtuse == angle.end()) {
        region[i] = (side[j] * angle[j] + side[k] * angle[k]) / (16 * area);
      } else {
        region[i] = angle[i] < 0 ? area / 2 : area / 4;
      }
    }
  }
};

/// v turned by the shortest way that takes `from` to `to`.
Vec3 turned(const Vec3& v, const Vec3& from, const Vec3& to) {
  const Vec3 axis = cross(from, to);
  return v + cross(axis, v) + cross(axis, cross(axis, v)) / std::max(1 + dot(from, to), 1e-12);
}

/// What bending needs to know of the sheets of a mesh.
class Sheets {
 public:
  explicit Sheets(const Mesh& mesh) : mesh_(mesh), ring_(mesh.vertices.size()), inner_(mesh.vertices.size(), 0) {
    for (size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto& [a, b, c] = mesh.triangles[t];
      facets_.emplace_back(mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]);
      for (const int v : mesh.triangles[t]) ring_[v].push_back(int(t)), inner_[v] = 1;
    }
    for (const auto& e : border_edges(mesh)) inner_[e[0]] = inner_[e[1]] = 0;
    share_areas();
  }

  /// One element of bending: rows over the vertices of the mesh.
  struct Stencil {
    int vertex;   // that its parameters are counted at
    double size;  // times the stiffness: its weight
    std::vector<std::vector<Coefficient>> rows;

    bool inside(const std::vector<char>& region) const {
      return region.empty() || std::all_of(rows[0].begin(), rows[0].end(), [&](auto& c) { return region[c.vertex]; });
    }
  };

  std::vector<Stencil> stencils() const {
    std::vector<Stencil> out;
    for (int v = 0; v < int(inner_.size()); ++v)
      if (inner_[v]) out.push_back({v, area_[v], rows(v)});
    const auto ear = [&](int a, int b, int c) { return !inner_[a] && !inner_[b] && !inner_[c]; };
    for (const auto& h : Hinges::of(mesh_))
      if (ear(h[0], h[1], h[2]) || ear(h[0], h[1], h[3])) out.push_back(hinge(h));
    return out;
  }

 private:
  /// tr H, Hxx - Hyy and 2 Hxy over the ring of an inner vertex, as rows over the vertices of the mesh.
  std::vector<std::vector<Coefficient>> rows(int v) const {
    Vec3 normal{};
    for (const int t : ring_[v]) normal += facets_[t].normal * facets_[t].area;
    if (!(norm(normal) > 0)) normal = facets_[ring_[v][0]].normal;
    normal = normal / norm(normal);
    const Vec3 axis = std::abs(normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    Vec3 along = cross(axis, normal);
    along = along / norm(along);

    double voronoi = 0;
    for (const int t : ring_[v]) voronoi += facets_[t].region[corner(t, v)];
    std::vector<int> ring;
    std::vector<std::array<double, 3>> sum;
    for (const int t : ring_[v]) {
      const Facet& f = facets_[t];
      const Vec3 e1 = turned(along, normal, f.normal), e2 = cross(f.normal, e1);
      const Vec3& mine = f.slope[corner(t, v)];
      const double m1 = dot(mine, e1), m2 = dot(mine, e2), share = -f.area / voronoi;
      for (int i = 0; i < 3; ++i) {
        const int u = mesh_.triangles[t][i];
        if (u == v) continue;  // the rows sum to zero: it gets what is left
        size_t k = std::find(ring.begin(), ring.end(), u) - ring.begin();
        if (k == ring.size()) ring.push_back(u), sum.push_back({});
        const double u1 = dot(f.slope[i], e1), u2 = dot(f.slope[i], e2);
        sum[k][0] += share * (m1 * u1 + m2 * u2);
        sum[k][1] += share * (m1 * u1 - m2 * u2);
        sum[k][2] += share * (m1 * u2 + m2 * u1);
      }
    }
    std::vector<std::vector<Coefficient>> rows(3);
    for (int r = 0; r < 3; ++r) {
      rows[r].push_back({v, 0});  // first: differences to it are the shortest
      for (size_t k = 0; k < ring.size(); ++k) rows[r].push_back({ring[k], sum[k][r]}), rows[r][0].value -= sum[k][r];
    }
    return rows;
  }

  Stencil hinge(const std::array<int, 4>& h) const {
    const auto& x = mesh_.vertices;
    const Vec3 e = x[h[1]] - x[h[0]];
    const double l2 = dot(e, e);
    std::array<double, 4> k{};
    double area = 0;
    for (const int side : {2, 3}) {
      const Vec3 a = x[h[side]] - x[h[0]];
      const double twice = norm(cross(e, a)), height = twice / std::sqrt(l2), foot = dot(a, e) / l2;
      k[side] = 1 / height, k[1] -= foot / height;
      area += 0.5 * twice;
    }
    k[0] = -(k[1] + k[2] + k[3]);
    return {h[0], l2 / area, {{{h[0], k[0]}, {h[1], k[1]}, {h[2], k[2]}, {h[3], k[3]}}}};
  }

  static std::vector<std::array<int, 2>> border_edges(const Mesh& mesh) {
    std::vector<std::array<int, 2>> sides, border;
    for (const auto& t : mesh.triangles)
      for (int i = 0; i < 3; ++i) sides.push_back({std::min(t[i], t[(i + 1) % 3]), std::max(t[i], t[(i + 1) % 3])});
    std::sort(sides.begin(), sides.end());
    for (size_t k = 0, end = 0; k < sides.size(); k = end) {
      for (end = k; end < sides.size() && sides[end] == sides[k];) ++end;
      if (end - k == 1) border.push_back(sides[k]);
    }
    return border;
  }

  int corner(int t, int v) const {
    const auto& triangle = mesh_.triangles[t];
    return triangle[0] == v ? 0 : triangle[1] == v ? 1 : 2;
  }

  /// The area of the border goes to the inner vertices of its triangles, or a narrow strip would lose the outer half
  /// cells of its width.
  void share_areas() {
    area_.assign(mesh_.vertices.size(), 0);
    for (size_t t = 0; t < facets_.size(); ++t) {
      const auto& triangle = mesh_.triangles[t];
      const Facet& f = facets_[t];
      double left = f.area;
      std::vector<int> heirs;
      for (int i = 0; i < 3; ++i)
        if (inner_[triangle[i]]) area_[triangle[i]] += f.region[i], left -= f.region[i], heirs.push_back(triangle[i]);
      if (heirs.size() == 3) continue;
      for (const int v : heirs) area_[v] += left / double(heirs.size());
    }
  }

  const Mesh& mesh_;
  std::vector<Facet> facets_;
  std::vector<std::vector<int>> ring_;  // triangles at each vertex
  std::vector<char> inner_;
  std::vector<double> area_;
};

class Bending final : public ProjectedPotential {
 public:
  Bending(const std::vector<Sheets::Stencil>& stencils, const PotentialInput& in, ElementParameters<Params> own)
      : own_(std::move(own)) {
    std::vector<Vec4> rest(in.mesh.vertices.size());
    for (size_t v = 0; v < rest.size(); ++v)
      if (in.index[v] >= 0) rest[in.index[v]] = Vec4(in.mesh.vertices[v]);
    for (const Sheets::Stencil& s : stencils) {
      auto rows = s.rows;
      for (auto& row : rows)
        for (Coefficient& c : row) c.vertex = in.index[c.vertex];
      add_element(1, rows);
      size_.push_back(s.size);
    }
    finish(rest.data());
    element_.resize(size_.size());
    std::vector<PatchBatch<BendingPatch>::Patch> patches(size_.size());
    for (int e = 0; e < elements(); ++e)
      for (int c = 0; c < corners(e); ++c)
        patches[e].rows.push_back(vertex(e, c)), patches[e].rest.push_back(rest[vertex(e, c)].xyz());
    packed_ = packs_.build(patches);
    set_parameters(in.values);
  }

  std::string_view name() const override { return "bending"; }

  void set_parameters(const ParameterValues& values) override {
    common_ = read_parameters<Params>(values);
    for (int e = 0; e < elements(); ++e) bind(e);
  }

  bool can_lose_elements() const override { return true; }
  const std::vector<char>& removed() const override { return gone_; }
  void set_removed(const std::vector<char>& gone) override {
    gone_.resize(gone.size());
    for (int e = 0; e < elements(); ++e)
      if (gone_[e] != gone[e]) gone_[e] = gone[e], bind(e);
  }

  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override {
    return packed_ ? packs_.evaluate(x, gradient, precision) : SparsePotential::add_gradient(x, gradient, precision);
  }
  double energy(const Vec4* x, Precision precision = Precision::float64) override {
    return packed_ ? packs_.evaluate(x, nullptr, precision) : SparsePotential::energy(x, precision);
  }

 protected:
  void element_projection(int e, const Vec3* z, Vec3* p) const override {
    const int count = rows(e);
    const auto goal =
        BendingPatch::project<double>(element_[e], z[0], count > 1 ? z[1] : Vec3{}, count > 2 ? z[2] : Vec3{});
    std::copy_n(goal.begin(), count, p);
  }

 private:
  void bind(int e) {
    const Params p = own_.at(common_, e);
    const double trace = std::sqrt(0.5 * (1 + p.poisson)), rest = std::sqrt(0.5 * (1 - p.poisson));
    const std::array<double, 3> scale{rows(e) == 1 ? 1 : trace, rest, rest};
    std::array<Vec3, 3> target{};
    for (int r = 0; r < rows(e); ++r) set_row_scale(e, r, scale[r]), target[r] = rest_z(e)[r] * scale[r];
    const bool gone = !gone_.empty() && gone_[e];
    element_[e] = bind(e, gone ? 0 : p.stiffness * size_[e], target);
    set_weight(e, element_[e].weight);
    if (!packed_) return;
    packs_.set(e, element_[e], corners(e), [&](int c) {
      const auto a = [&](int r) { return r < rows(e) ? coefficient(e, r, c) : 0.0; };
      return BendingPatch::Corner<double>{a(0), a(1), a(2)};
    });
  }

  BendingPatch::Element<double> bind(int e, double weight, const std::array<Vec3, 3>& target) const {
    BendingPatch::Element<double> out{weight, 0, {}, target[0], target[1], target[2]};
    // curvature times the size of a cell, or an angle: below this it is round-off
    const double cell = rows(e) == 1 ? 1 : std::sqrt(size_[e]);
    double size = 0, off = 0;
    for (const Vec3& t : target) size += norm(t);
    if (!(size * cell > 1e-12)) return out;
    const Vec3 longest = *std::max_element(target.begin(), target.end(),
                                           [](const Vec3& a, const Vec3& b) { return dot(a, a) < dot(b, b); });
    out.line = longest / norm(longest);
    for (const Vec3& t : target) off += norm(t - out.line * dot(t, out.line));
    out.shape = off * cell > 1e-14 && off > 1e-14 * size ? 2 : 1;
    return out;
  }

  Params common_;
  ElementParameters<Params> own_;
  std::vector<char> gone_;  // empty: none
  std::vector<double> size_;
  std::vector<BendingPatch::Element<double>> element_;
  PatchBatch<BendingPatch> packs_;
  bool packed_ = false;  // unless a vertex has too many neighbours
};

std::unique_ptr<Potential> make(const PotentialInput& in, const std::string& where, Diagnostics& notes) {
  const size_t problems = notes.items().size();
  if (in.mesh.triangles.empty()) {
    notes.error(where + ".type", "\"bending\" acts on sheets of triangles, and the mesh of the body has none");
    return nullptr;
  }
  if (const std::string fault = Hinges::fault(in.mesh); !fault.empty()) notes.error(where, fault);
  const std::vector<Sheets::Stencil> all = Sheets(in.mesh).stencils();
  std::vector<Sheets::Stencil> kept;
  std::vector<int> counted_at;
  for (const Sheets::Stencil& s : all)
    if (s.inside(in.region)) kept.push_back(s), counted_at.push_back(s.vertex);
  const bool none = kept.empty();
  if (!in.owned.empty()) {
    std::erase_if(kept, [&](const Sheets::Stencil& s) { return !in.owned[s.vertex]; });
    std::erase_if(counted_at, [&](int v) { return !in.owned[v]; });
  }
  ElementParameters<Params> own(in.arrays, int(in.mesh.vertices.size()), counted_at, where, notes);
  if (all.empty()) {
    notes.error(where, "found no two triangles with a common edge, expected a sheet");
  } else if (none) {
    notes.error(where + ".region",
                "found none of the inner vertices with all their triangles inside, expected at least one");
  }
  if (notes.items().size() > problems) return nullptr;
  return std::make_unique<Bending>(kept, in, std::move(own));
}

}  // namespace

PotentialEntry bending_entry() {
  PotentialEntry out;
  out.info = {"bending", "bending of sheets by the Laplace-Beltrami operator (PD Eq. 19-21, 28)", "vertices",
              parameter_infos<Params>()};
  out.info.slack = true;  // bending does not see most stretches
  out.check = [](const ParameterValues& values) { return read_parameters<Params>(values).check(); };
  out.make = make;
  out.shares = true;  // a stencil is the vertex and those around it
  return out;
}

}  // namespace verve
