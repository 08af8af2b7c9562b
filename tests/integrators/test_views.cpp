// Solvers that the literature sets beside Projective Dynamics, written out here over the projections of the potentials.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "integrators/rig.h"

using namespace verve;
using namespace verve::test;

namespace {

using Points = Eigen::Matrix<double, Eigen::Dynamic, 3>;

struct Edge {
  int a, b;
  double length;
};

Eigen::RowVector3d at_length(const Eigen::RowVector3d& z, double length) { return z * (length / z.norm()); }

}  // namespace

TEST_CASE("the local/global solver for springs of Liu et al. 2013 is PD restricted to edges (Inventory N06)") {
  Rig rig(generated("cloth", {{"columns", {8}}, {"rows", {7}}}), {springs(300)});
  rig.shake(0.02, 1, 7);
  rig.push(1, 9);
  const Motion start = rig.island->motion;
  const Potential& potential = *rig.matter.bodies[0].potentials[0];
  const int n = rig.rows();
  // their Eq. 12 and 13: L and J over all springs, x = (M + h^2 L)^-1 (h^2 J d + M y)
  const double h = frame;
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n, n), J = Eigen::MatrixXd::Zero(n, potential.elements());
  for (int e = 0; e < potential.elements(); ++e) {
    const int a = potential.vertex(e, 0), b = potential.vertex(e, 1);
    const double k = 300 * h * h;
    system(a, a) += k, system(b, b) += k, system(a, b) -= k, system(b, a) -= k;
    J(b, e) += k, J(a, e) -= k;
  }
  Points y(n, 3), x;
  for (int r = 0; r < n; ++r) {
    system(r, r) += rig.mass(r);
    const Vec4 s = start.x[r] + (start.v[r] + rig.island->forcing.acceleration[r] * h) * h;
    y.row(r) << s.x, s.y, s.z;
  }
  const Eigen::LDLT<Eigen::MatrixXd> factor(system);
  x = y;
  std::vector<double> length(potential.elements());
  for (int e = 0; e < potential.elements(); ++e)
    length[e] = norm(
        (rig.model.bodies[0].rest[potential.vertex(e, 1)] - rig.model.bodies[0].rest[potential.vertex(e, 0)]).xyz());
  for (int k = 1; k <= 5; ++k) {
    Points d(potential.elements(), 3), rhs = y;
    for (int e = 0; e < potential.elements(); ++e)
      d.row(e) = at_length(x.row(potential.vertex(e, 1)) - x.row(potential.vertex(e, 0)), length[e]);
    for (int r = 0; r < n; ++r) rhs.row(r) *= rig.mass(r);
    x = factor.solve(J * d + rhs);
    rig.step_from(start, settings_for("pd", k));
    double off = 0;
    for (int r = 0; r < n; ++r) {
      const Vec4& v = rig.island->motion.x[r];
      off = std::max(off, (x.row(r) - Eigen::RowVector3d(v.x, v.y, v.z)).norm());
    }
    CHECK(off <= 1e-12);  // of a cloth of about 1 m
  }
}

namespace {

/// Edges of given lengths with A = B = sqrt(M_i), the masses of their two ends: what is nearest is so by mass, and the
/// matrix of the global step is diagonal.
class WeighedEdges final : public Potential {
 public:
  WeighedEdges(std::vector<Edge> edges, std::vector<double> mass, double weight)
      : edges_(std::move(edges)), mass_(std::move(mass)), weight_(weight) {}
  std::string_view name() const override { return "weighed_edges"; }
  int elements() const override { return int(edges_.size()); }
  double add_gradient(const Vec4* x, Vec4* gradient, Precision) override {
    double sum = 0;
    for (int e = 0; e < elements(); ++e)
      for (int c = 0; c < 2; ++c) {
        const Vec4 d(x[vertex(e, c)].xyz() - nearest(e, x)[c]);
        gradient[vertex(e, c)] += d * (weight_ * mass_[vertex(e, c)]);
        sum += 0.5 * weight_ * mass_[vertex(e, c)] * dot(d, d);
      }
    return sum;
  }
  double energy(const Vec4* x, Precision precision) override {
    std::vector<Vec4> ignored(mass_.size());
    return add_gradient(x, ignored.data(), precision);
  }
  bool has_projection() const override { return true; }
  int rows(int) const override { return 2; }
  void project(const Vec4* x, Vec3* z, Vec3* projected) const override {
    for (int e = 0; e < elements(); ++e)
      for (int c = 0; c < 2; ++c) {
        z[2 * e + c] = x[vertex(e, c)].xyz() * coefficient(e, c, c);
        projected[2 * e + c] = nearest(e, x)[c] * coefficient(e, c, c);
      }
  }
  double weight(int) const override { return weight_; }
  double coefficient(int e, int row, int corner) const override {
    return row == corner ? std::sqrt(mass_[vertex(e, corner)]) : 0;
  }
  int corners(int) const override { return 2; }
  int vertex(int e, int corner) const override { return corner == 0 ? edges_[e].a : edges_[e].b; }
  void add_weights(SymmetricAssembly& matrix, int offset, double scale) const override {
    for (int e = 0; e < elements(); ++e)
      for (int c = 0; c < 2; ++c) {
        const int v = vertex(e, c);
        matrix.add(offset + v, offset + v, scale * weight_ * mass_[v]);
      }
  }
  double reference_energy() const override { return 1; }
  void set_parameters(const ParameterValues&) override {}

 private:
  /// Least motion by mass that gives the edge its length: along it, in inverse proportion to the masses.
  std::array<Vec3, 2> nearest(int e, const Vec4* x) const {
    const auto& [a, b, length] = edges_[e];
    const Vec3 z = (x[b] - x[a]).xyz(), change = z * (length / norm(z) - 1);
    const double sum = 1 / mass_[a] + 1 / mass_[b];
    return {x[a].xyz() - change / (mass_[a] * sum), x[b].xyz() + change / (mass_[b] * sum)};
  }
  std::vector<Edge> edges_;
  std::vector<double> mass_;
  double weight_;
};

}  // namespace

TEST_CASE("PD with A = B = sqrt(M_i) is the Jacobi solver (Inventory P06, PD Sec. 4.2)") {
  // The island's own step, with its assembly, factor and local step, on a potential with these A and B, beside Eq. 14.
  Rig rig(generated("cloth", {{"columns", {6}}, {"rows", {5}}}), {springs(1)});
  const int n = rig.rows();
  const double h = frame, w = 900;
  std::vector<double> mass(n);
  for (int r = 0; r < n; ++r) mass[r] = rig.mass(r);
  CHECK(*std::max_element(mass.begin(), mass.end()) > 1.5 * *std::min_element(mass.begin(), mass.end()));
  std::vector<Edge> edges;
  const std::vector<Vec4>& rest = rig.model.bodies[0].rest;
  std::unique_ptr<Potential>& potential = rig.matter.bodies[0].potentials[0];
  for (int e = 0; e < potential->elements(); ++e) {
    const int a = potential->vertex(e, 0), b = potential->vertex(e, 1);
    edges.push_back({a, b, norm((rest[b] - rest[a]).xyz())});
  }
  potential = std::make_unique<WeighedEdges>(edges, mass, w);
  rig.island = std::make_unique<Island>(rig.model, rig.matter, std::vector<int>{0}, std::vector<int>{});
  rig.island->motion.x = rig.model.initial_x;
  rig.shake(0.03, 1, 11);
  rig.push(1, 12);
  const Motion start = rig.island->motion;
  std::vector<Vec3> s(n), x;
  for (int r = 0; r < n; ++r) s[r] = (start.x[r] + (start.v[r] + rig.island->forcing.acceleration[r] * h) * h).xyz();
  x = s;
  const auto largest_distance = [&](const auto& other) {
    double most = 0;
    for (int r = 0; r < n; ++r) most = std::max(most, norm(x[r] - other(r)));
    return most;
  };
  for (int k = 1; k <= 20; ++k) {
    // Eq. 14: each point goes to the mean of where it would be and where the constraints want it
    std::vector<Vec3> sum(n);
    std::vector<double> weight(n);
    for (int r = 0; r < n; ++r) weight[r] = mass[r] / (h * h), sum[r] = s[r] * weight[r];
    for (const Edge& e : edges) {
      const Vec3 z = x[e.b] - x[e.a], g = z / norm(z);
      const double lambda = (norm(z) - e.length) / (1 / mass[e.a] + 1 / mass[e.b]);  // Eq. 13
      sum[e.a] += (x[e.a] + g * (lambda / mass[e.a])) * (w * mass[e.a]);
      sum[e.b] += (x[e.b] - g * (lambda / mass[e.b])) * (w * mass[e.b]);
      weight[e.a] += w * mass[e.a], weight[e.b] += w * mass[e.b];
    }
    for (int r = 0; r < n; ++r) x[r] = sum[r] / weight[r];
    rig.step_from(start, settings_for("pd", k));
    CHECK(largest_distance([&](int r) { return rig.island->motion.x[r].xyz(); }) <= 1e-12);
  }
  CHECK(largest_distance([&](int r) { return s[r]; }) > 1e-3);
}
