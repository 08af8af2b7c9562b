// Groups that keep their shape: Müller, Heidelberger, Teschner, Gross 2005, "Meshless deformations based on shape
// matching"; Rivers, James 2007, "FastLSM: fast lattice shape matching for robust real-time deformation"; and the
// similarity of Bouaziz et al. 2012, "Shape-Up: shaping discrete geometry with projections".
#include "linear/small.h"
#include "potentials/group_batch.h"
#include "potentials/polar.h"
#include "potentials/shape_patch.h"

namespace verve {

namespace {

/// sum a_i b_i^T
Mat3 products(int n, const Vec3* a, const Vec3* b) {
  Mat3 sum{};
  for (int i = 0; i < n; ++i) sum = sum + outer(a[i], b[i]);
  return sum;
}

double squares(int n, const Vec3* a) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += dot(a[i], a[i]);
  return sum;
}

/// The rotation R with the least sum |z_i - R q_i|^2: the one nearest to sum z q^T (Müller Eq. 7), which is brought to
/// the size of a rotation first.
Mat3 best_rotation(int n, const Vec3* z, const Vec3* q, double size2) {
  return nearest_rotation(products(n, z, q) * (3 / size2));
}

std::string needs_extent(const GroupShape& group) {
  return squares(group.count, group.rest) > 0 ? "" : "found a group whose vertices all coincide at rest";
}

/// A group as the kernel over patches sees it: shares that add up to 1, lengths in units of `length`.
ShapePatch::Element<double> patch_of(const GroupShape& g, double weight, double length, double linear) {
  ShapePatch::Element<double> out{weight * g.total, length, linear, {}, {}};
  if (linear > 0) {
    const double size2 = squares(g.count, g.rest);
    out.moment = products(g.count, g.rest, g.rest) * (1 / size2);
    out.inverse_moment = pseudo_inverse(out.moment, 1e-12);
  }
  return out;
}
ShapePatch::Corner<double> corner_of(const GroupShape& g, double share, int i) {
  const double length = std::sqrt(squares(g.count, g.rest) / g.total);
  return {share / g.total, g.rest[i] / (std::sqrt(share) * length)};
}

/// Psi = w/2 min_R sum m_i |x_i - c - R q_i|^2, w = 2 mu V d / sum m |q|^2 with V = sum m in a mesh of dimension d: as
/// much as mu V |F - R|^2 of tet_strain for a group that is equally wide in all directions and stretched by one F.
struct ShapeMatching {
  static constexpr const char* name = "shape_matching";
  static constexpr const char* help = "best rigid fit of the rest shape of each group (Müller et al. 2005)";
  static constexpr bool slack = false, whole = true, by_volume = true;
  static constexpr int least = 2, most = 0;

  struct Params {
    double mu = 1e4, linear = 0;
    static std::vector<Field<Params>> fields() {
      return {field("mu", &Params::mu, "Pa", "shear modulus of a group that is stretched as a whole"),
              field("linear", &Params::linear, "", "beta: share of linear deformations that cost nothing", 0, 1)};
    }
    std::string check() const { return {}; }
  };

  double weight = 0, size2 = 0, linear = 0;
  Mat3 inverse_moment{};  // of sum q q^T

  static double unit(const GroupShape& g) { return 2 * g.total * g.dimension / squares(g.count, g.rest); }
  static ShapeMatching bind(const Params& p, const GroupShape& g) {
    // a flat or straight group has no moment across itself: pseudo-inverse
    return {p.mu * unit(g), squares(g.count, g.rest), p.linear,
            pseudo_inverse(products(g.count, g.rest, g.rest), 1e-12)};
  }
  static std::string fault(const GroupShape& g) { return needs_extent(g); }

  bool projects() const { return linear == 0; }
  void project(int n, const Vec3* z, const Vec3* q, Vec3* p, double*) const {
    const Mat3 R = best_rotation(n, z, q, size2);
    for (int i = 0; i < n; ++i) p[i] = R * q[i];
  }

  using Patch = ShapePatch;
  ShapePatch::Element<double> patch(const GroupShape& g) const {
    return patch_of(g, weight, std::sqrt(size2 / g.total), linear);
  }
  static ShapePatch::Corner<double> corner(const GroupShape& g, double share, int i) { return corner_of(g, share, i); }

  /// Goals (beta A + (1 - beta) R) q with the best linear map A = (sum z q^T)(sum q q^T)^-1 (Müller Sec. 4.2). They
  /// belong to an energy: z - A q is at right angles to all linear images of q, so |z - R q|^2 = |z - A q|^2 +
  /// |(A - R) q|^2, and Psi = w/2 (|z - A q|^2 + (1 - beta) |(A - R) q|^2) has the gradient w (z - goal). The paper's
  /// scaling of A to det A = 1 has no energy and is left out.
  double energy_gradient(int n, const Vec3* z, const Vec3* q, Vec3* gradient) const {
    const Mat3 A = products(n, z, q) * inverse_moment, R = best_rotation(n, z, q, size2);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      const Vec3 off = z[i] - A * q[i], turn = (A - R) * q[i];
      sum += dot(off, off) + (1 - linear) * dot(turn, turn);
      gradient[i] = (off + turn * (1 - linear)) * weight;
    }
    return 0.5 * weight * sum;
  }
};

/// Shape matching of overlapping regions: each vertex with its neighbours within `width` rings (Rivers & James Sec. 3).
/// A vertex shares its volume out among the regions it is part of (their Eq. 4), so that the regions' volumes add up to
/// that of the body, and mu means the same as for the whole.
struct LatticeShapeMatching : ShapeMatching {
  static constexpr const char* name = "lattice_shape_matching";
  static constexpr const char* help =
      "best rigid fits of overlapping regions around each vertex (Rivers and James 2007)";

  struct Params {
    double mu = 1e4, width = 1;
    static std::vector<Field<Params>> fields() {
      auto rings = field("width", &Params::width, "", "rings of neighbours in a region; fixed at the start", 1, 20);
      rings.info.integer = true;
      return {field("mu", &Params::mu, "Pa", "shear modulus of a region that is stretched as a whole"), rings};
    }
    std::string check() const { return {}; }
  };
  static LatticeShapeMatching bind(const Params& p, const GroupShape& g) {
    return {{p.mu * unit(g), squares(g.count, g.rest), 0, Mat3{}}};
  }

  static std::vector<std::vector<int>> groups_of(const PotentialInput& in, const Params& params) {
    const int n = int(in.mesh.vertices.size());
    const auto inside = [&](int v) { return in.region.empty() || in.region[v]; };
    std::vector<std::vector<int>> near(n), groups;
    for (const auto& [a, b] : unique_edges(in.mesh)) {
      if (!inside(a) || !inside(b)) continue;
      near[a].push_back(b), near[b].push_back(a);
    }
    std::vector<int> seen(n, -1);
    for (int v = 0; v < n; ++v) {
      if (near[v].empty()) continue;
      std::vector<int> group{v};
      seen[v] = v;
      size_t ring = 0;
      for (int w = 0; w < int(params.width); ++w)
        for (const size_t end = group.size(); ring < end; ++ring)
          for (const int u : near[group[ring]])
            if (seen[u] != v) seen[u] = v, group.push_back(u);
      groups.push_back(std::move(group));
    }
    return groups;
  }
  static void share_out(const std::vector<std::vector<int>>& groups, std::vector<std::vector<double>>& shares, int n) {
    std::vector<int> regions(n, 0);
    for (const auto& group : groups)
      for (const int v : group) ++regions[v];
    for (size_t g = 0; g < groups.size(); ++g)
      for (size_t i = 0; i < groups[g].size(); ++i) shares[g][i] /= regions[groups[g][i]];
  }
};

/// The rest shape at any size: p = s R q with s = tr(R^T sum z q^T) / sum |q|^2 (Umeyama 1991; Shape-Up Sec. 3).
struct Similarity {
  static constexpr const char* name = "similarity";
  static constexpr const char* help = "each group keeps its rest shape up to size (Shape-Up, Bouaziz et al. 2012)";
  static constexpr bool slack = true, whole = true, by_volume = false;
  static constexpr int least = 3, most = 0;

  struct Params {
    double stiffness = 1e3;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "of each vertex towards its place")};
    }
    std::string check() const { return {}; }
  };

  double weight = 0, size2 = 0;
  static Similarity bind(const Params& p, const GroupShape& g) { return {p.stiffness, squares(g.count, g.rest)}; }
  static std::string fault(const GroupShape& g) { return needs_extent(g); }

  using Patch = ShapePatch;
  ShapePatch::Element<double> patch(const GroupShape& g) const { return patch_of(g, weight, 0, 0); }
  static ShapePatch::Corner<double> corner(const GroupShape& g, double share, int i) { return corner_of(g, share, i); }

  void project(int n, const Vec3* z, const Vec3* q, Vec3* p, double*) const {
    // the best rotation does not depend on the size: measured by z itself, so that small ones are as exact as large
    const double now = squares(n, z);
    const Mat3 R = now > 0 ? best_rotation(n, z, q, std::sqrt(now * size2)) : Mat3::identity();
    double overlap = 0;
    for (int i = 0; i < n; ++i) overlap += dot(z[i], p[i] = R * q[i]);
    for (int i = 0; i < n; ++i) p[i] = p[i] * (overlap / size2);
  }
};

}  // namespace

PotentialEntry shape_matching_entry() { return group_entry<ShapeMatching>(); }
PotentialEntry lattice_shape_matching_entry() { return group_entry<LatticeShapeMatching>(); }
PotentialEntry similarity_entry() { return group_entry<Similarity>(); }

}  // namespace verve
