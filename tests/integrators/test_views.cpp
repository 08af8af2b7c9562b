// Solvers that the literature sets beside Projective Dynamics, written out here over the projections of the potentials.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "integrators/rig.h"

using namespace verve;
using namespace verve::test;

namespace {

using Points = Eigen::Matrix<double, Eigen::Dynamic, 3>;

struct Spring2 {
  int a, b;
  double length, stiffness;
};

std::vector<Spring2> springs_of(const Mesh& mesh, double stiffness) {
  std::vector<Spring2> out;
  for (const auto& e : unique_edges(mesh))
    out.push_back({e[0], e[1], norm(mesh.vertices[e[1]] - mesh.vertices[e[0]]), stiffness});
  return out;
}

Eigen::RowVector3d at_length(const Eigen::RowVector3d& z, double length) { return z * (length / z.norm()); }

}  // namespace

TEST_CASE("the local/global solver for springs of Liu et al. 2013 is PD restricted to edges (Inventory N06)") {
  Rig rig(generated("cloth", {{"columns", {8}}, {"rows", {7}}}), {springs(300)});
  rig.shake(0.02, 1, 7);
  rig.push(1, 9);
  const Motion start = rig.island->motion;
  const Potential& potential = *rig.model.bodies[0].potentials[0];
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

TEST_CASE("PD with A = B = sqrt(M_i) is the Jacobi solver (Inventory P06, PD Sec. 4.2)") {
  const Mesh mesh = generated("cloth", {{"columns", {6}}, {"rows", {5}}});
  const std::vector<Spring2> edges = springs_of(mesh, 0);
  const int n = int(mesh.vertices.size());
  const double h = frame, w = 900;
  Eigen::VectorXd mass(n);
  Points s(n, 3);
  for (int v = 0; v < n; ++v) {
    mass[v] = 0.1 + 0.05 * (v % 3);
    const Vec3 x = mesh.vertices[v] + random_in_ball(11, v) * 0.03;
    s.row(v) << x.x, x.y, x.z;
  }
  // general form (PD Eq. 10): A_i, B_i, S_i as matrices, p_i the point of the set nearest in the norm of B
  Eigen::MatrixXd system = (mass / (h * h)).asDiagonal();
  for (const Spring2& e : edges) {
    Eigen::Matrix2d A = Eigen::Vector2d(std::sqrt(mass[e.a]), std::sqrt(mass[e.b])).asDiagonal();
    Eigen::MatrixXd S = Eigen::MatrixXd::Zero(2, n);
    S(0, e.a) = S(1, e.b) = 1;
    system += w * S.transpose() * A.transpose() * A * S;
  }
  const Eigen::PartialPivLU<Eigen::MatrixXd> factor(system);
  const auto nearest = [&](const Spring2& e, const Points& q) {
    // least mass-weighted motion that gives the edge its length: along it, in inverse proportion to the masses
    Eigen::Matrix<double, 2, 3> p;
    const Eigen::RowVector3d z = q.row(e.b) - q.row(e.a), change = at_length(z, e.length) - z;
    const double sum = 1 / mass[e.a] + 1 / mass[e.b];
    p.row(0) = q.row(e.a) - change / (mass[e.a] * sum);
    p.row(1) = q.row(e.b) + change / (mass[e.b] * sum);
    return p;
  };
  Points general = s, jacobi = s;
  for (int k = 0; k < 20; ++k) {
    Points rhs = (mass / (h * h)).asDiagonal() * s;
    for (const Spring2& e : edges) {
      const Eigen::Matrix2d B = Eigen::Vector2d(std::sqrt(mass[e.a]), std::sqrt(mass[e.b])).asDiagonal();
      const Eigen::Matrix<double, 2, 3> part = w * B.transpose() * B * nearest(e, general);
      rhs.row(e.a) += part.row(0), rhs.row(e.b) += part.row(1);
    }
    general = factor.solve(rhs);
    // Eq. 14: each point goes to the mean of where it would be and where the constraints want it
    Points sum = (mass / (h * h)).asDiagonal() * s;
    Eigen::VectorXd weight = mass / (h * h);
    for (const Spring2& e : edges) {
      const double C = (jacobi.row(e.b) - jacobi.row(e.a)).norm() - e.length;
      const Eigen::RowVector3d g = (jacobi.row(e.b) - jacobi.row(e.a)).normalized();
      const double lambda = C / (1 / mass[e.a] + 1 / mass[e.b]);  // Eq. 13
      sum.row(e.a) += w * mass[e.a] * (jacobi.row(e.a) + g * (lambda / mass[e.a]));
      sum.row(e.b) += w * mass[e.b] * (jacobi.row(e.b) - g * (lambda / mass[e.b]));
      weight[e.a] += w * mass[e.a], weight[e.b] += w * mass[e.b];
    }
    for (int v = 0; v < n; ++v) jacobi.row(v) = sum.row(v) / weight[v];
    CHECK((general - jacobi).cwiseAbs().maxCoeff() <= 1e-12);
  }
  CHECK((general - s).cwiseAbs().maxCoeff() > 1e-3);
}
