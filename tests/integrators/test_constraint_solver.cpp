// The linear systems of constraint-based methods against dense ones, and their forces against closed forms
// (docs/constraints.md).
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "integrators/constraint_solver.h"
#include "rig.h"

using namespace verve;
using namespace verve::test;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

namespace {

constexpr double gravity = 9.81;

PotentialSpec rods(double stiffness) { return {"spring", {{"stiffness", Track<double>(stiffness)}}}; }

AnchorSpec nail(const std::string& body, std::vector<int> vertices, bool hard = true) {
  AnchorSpec a;
  a.name = "nail", a.body = body, a.hard = hard;
  a.vertices.indices = std::move(vertices);
  return a;
}

Matrix jacobian(const ConstraintRows& rows, int vertices) {
  Matrix J = Matrix::Zero(rows.size(), 3 * vertices);
  for (int i = 0; i < rows.size(); ++i)
    for (int c = 0; c < rows.corners(i); ++c)
      for (int a = 0; a < 3; ++a) J(i, 3 * rows.vertex(i, c) + a) += rows.gradient(i, c)[a];
  return J;
}

Matrix masses(const Rig& rig) {
  Matrix M = Matrix::Zero(3 * rig.rows(), 3 * rig.rows());
  for (int v = 0; v < rig.rows(); ++v)
    for (int a = 0; a < 3; ++a) M(3 * v + a, 3 * v + a) = rig.mass(v);
  return M;
}

Vector flat(const std::vector<Vec4>& rows) {
  Vector out(3 * rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out.segment<3>(3 * i) << rows[i].x, rows[i].y, rows[i].z;
  return out;
}

double condition(const Matrix& a) {
  const Vector scale = a.diagonal().cwiseSqrt().cwiseInverse();  // of the units
  const Matrix scaled = scale.asDiagonal() * a * scale.asDiagonal();
  const Vector e = Eigen::SelfAdjointEigenSolver<Matrix>(scaled).eigenvalues();
  return e.maxCoeff() / e.minCoeff();
}

Mesh sheet(double n) { return generated("cloth", {{"columns", {n}}, {"rows", {n}}}); }

}  // namespace

TEST_CASE("the Schur complement and the whole KKT system give the solution of a dense one (Inventory N13)") {
  Rig rig(sheet(4), {rods(2e3)}, {nail("body", {0}, false)});
  rig.shake(0.05, 1, 3);
  Island& island = *rig.island;
  for (const bool rigid : {true, false}) {
    ConstraintRows rows;
    const bool changed = rows.bind(island, rigid);
    rows.evaluate(island.motion.x);
    const int n = island.rows();
    std::vector<double> S(rows.size()), b(rows.size());
    for (int i = 0; i < rows.size(); ++i) S[i] = rows.compliance(i) * 900, b[i] = std::sin(1.0 + i);
    const Matrix J = jacobian(rows, n);
    Matrix big = Matrix::Zero(3 * n + rows.size(), 3 * n + rows.size());
    big.topLeftCorner(3 * n, 3 * n) = masses(rig);
    big.topRightCorner(3 * n, rows.size()) = -J.transpose();
    big.bottomLeftCorner(rows.size(), 3 * n) = J;
    for (int i = 0; i < rows.size(); ++i) big(3 * n + i, 3 * n + i) = S[i];
    Vector right(3 * n + rows.size());
    right.head(3 * n) = flat(island.motion.v);
    for (int i = 0; i < rows.size(); ++i) right(3 * n + i) = b[i];
    const Vector expected = big.fullPivLu().solve(right);
    for (const auto form : {ConstraintSolver::Form::schur, ConstraintSolver::Form::kkt}) {
      ConstraintSolver solver;
      solver.bind(island, rows, form, false, nullptr, changed);
      REQUIRE(solver.factorize(island, rows, S, false, {}));
      CHECK(solver.redundant() == 0);
      std::vector<double> lambda = b;
      std::vector<Vec4> dv(n);
      solver.solve(&island.motion.v, lambda, dv);
      const double off_v = (flat(dv) - expected.head(3 * n)).norm() / expected.head(3 * n).norm();
      const double off_l = (Eigen::Map<Vector>(lambda.data(), rows.size()) - expected.tail(rows.size())).norm() /
                           expected.tail(rows.size()).norm();
      CHECK(off_v <= 1e-11);
      CHECK(off_l <= 1e-11);
    }
  }
}

TEST_CASE("each rod of a hanging chain bears the weight below it") {
  for (const std::string method : {"hard", "fast_projection", "compliant"}) {
    CAPTURE(method);
    Mesh mesh;
    const int n = 11;
    for (int i = 0; i < n; ++i) mesh.vertices.push_back({0, -0.1 * i, 0});
    for (int i = 0; i + 1 < n; ++i) mesh.edges.push_back({i, i + 1});
    Rig rig(mesh, {rods(1e12)}, {nail("body", {0})});
    Island& island = *rig.island;
    for (auto& term : island.anchor_terms()) term.world.hardness = {1e9};
    for (int v = 0; v < n; ++v) {
      island.forcing.acceleration[v] = {0, -gravity, 0};
      island.forcing.force[v] = island.forcing.acceleration[v] * rig.mass(v);
    }
    const Settings settings = settings_for(method, 50, 1e-10);
    std::unique_ptr<OwnStep> own = settings.own_step->make(settings.spec);
    for (int i = 0; i < 3; ++i) {
      StepOutcome out;
      own->step(island, 1.0 / 60, settings, out);
      REQUIRE(out.status != StepOutcome::Status::infeasible);
    }
    REQUIRE(own->multipliers());
    const Body& body = rig.model.bodies[0];
    for (int e = 0; e + 1 < n; ++e) {
      double below = 0;
      for (int v = e + 1; v < n; ++v) below += rig.mass(body.row_of_vertex[v]);
      // compliant: springs of k = 1e12 N/m with 100 kg each, m/(k h^2) = 4e-7, are still settling; the others are exact
      CHECK(-(*own->multipliers())[e] == doctest::Approx(below * gravity).epsilon(method == "compliant" ? 1e-5 : 1e-8));
    }
  }
}

TEST_CASE("compliant forces tend to those of hard constraints as the compliance falls (Inventory N12)") {
  // one step from the same start; the limit is the KKT system without compliance, dense
  const double h = 1.0 / 60;
  double last = 0;
  const double unit = 1000 / 9 / (h * h);  // m/h^2 of a vertex: springs that a step resolves
  for (const double size : {1e3, 1e4, 1e5, 1e6, 1e10}) {
    const double k = size * unit;
    Rig rig(generated("chain", {{"vertices", {9}}}), {rods(k)});
    Island& island = *rig.island;
    for (int v = 0; v < rig.rows(); ++v) {
      island.motion.v[v] = Vec4(random_in_ball(5, v));
      const Vec4 x = island.motion.x[v];
      island.motion.x[v] = {x.x, 0.3 * x.x * x.x, 0};
    }
    rig.loaded();
    ConstraintRows rows;
    rows.bind(island, true);
    rows.evaluate(island.motion.x);
    const Matrix J = jacobian(rows, rig.rows()), W = masses(rig).inverse();
    Vector phi(rows.size());
    for (int i = 0; i < rows.size(); ++i) phi(i) = rows.value(i);
    const Vector mu = (J * W * J.transpose()).fullPivLu().solve(-phi / h - J * flat(island.motion.v));

    const Settings settings = settings_for("compliant_plain", 1);
    std::unique_ptr<OwnStep> own = settings.own_step->make(settings.spec);
    StepOutcome out;
    own->step(island, h, settings, out);
    Vector lambda(rows.size());
    for (int i = 0; i < rows.size(); ++i) lambda(i) = (*own->multipliers())[i];
    const double off = (lambda - mu / h).norm() / (mu / h).norm();
    MESSAGE("k = ", size, " m/h^2: off by ", off);
    // (J W J^T + S)^-1 with S = 1/(k h^2): off by S / (J W J^T), first order in 1/k once that is small
    if (last > 0 && size < 1e9) CHECK(last / off == doctest::Approx(10).epsilon(0.1));
    if (size > 1e9) CHECK(off <= 1e-8);
    last = off;
  }
}

TEST_CASE("the compliant system stays well conditioned where the penalty form does not (Inventory N12)") {
  const double h = 1.0 / 60;
  std::vector<double> compliant, penalty;
  for (const double size : {1.0, 1e2, 1e4, 1e6}) {
    const double k = size * 100 / (h * h);  // 1000 kg on 10 edges
    Rig rig(generated("chain", {{"vertices", {11}}}), {rods(k)});
    rig.shake(0.02, 0, 3);
    Island& island = *rig.island;
    ConstraintRows rows;
    const bool changed = rows.bind(island, false);
    rows.evaluate(island.motion.x);
    ConstraintSolver solver;
    solver.bind(island, rows, ConstraintSolver::Form::schur, false, nullptr, changed);
    std::vector<double> S(rows.size(), 1 / (k * h * h));
    REQUIRE(solver.factorize(island, rows, S, false, {}));
    const SymmetricMatrix& sparse = solver.matrix();
    Matrix schur = Matrix::Zero(rows.size(), rows.size());
    for (int c = 0; c < sparse.size; ++c)
      for (int e = sparse.start[c]; e < sparse.start[c + 1]; ++e)
        schur(sparse.row[e], c) = schur(c, sparse.row[e]) = sparse.value[e];
    const Matrix J = jacobian(rows, rig.rows());
    compliant.push_back(condition(schur));
    penalty.push_back(condition(masses(rig) + h * h * k * J.transpose() * J));
    MESSAGE("k = ", size, " m/h^2: compliant ", compliant.back(), ", penalty ", penalty.back());
  }
  CHECK(penalty[3] / penalty[2] == doctest::Approx(100).epsilon(0.05));  // grows with k
  CHECK(compliant[3] / compliant[2] <= 1.5);                             // tends to that of J M^-1 J^T
  CHECK(penalty[3] >= 1e3 * compliant[3]);
}

TEST_CASE("a damper beside a compliant constraint takes the oscillation out of it") {
  const auto after = [](double damping) {
    Rig rig(generated("spring"), {rods(5e4)});
    Island& island = *rig.island;
    for (int v = 0; v < 2; ++v) island.motion.x[v].x *= 1.2;
    rig.loaded();
    const Settings settings = settings_for("compliant", 1);
    SolverSpec spec;
    spec.constraint_damping = damping;  // [s]: a damper c = k damping beside every constraint
    const std::unique_ptr<OwnStep> own = make_compliant(spec);
    double stretch = 0;
    for (int i = 0; i < 400; ++i) {
      StepOutcome out;
      own->step(island, 1e-3, settings, out);
      stretch = norm((island.motion.x[1] - island.motion.x[0]).xyz()) - 1;
    }
    return std::pair(stretch, rig.mass(0));
  };
  // omega^2 = 2 k/m = 200/s^2; damped as exp(-omega^2 tau t/2) cos(...)
  const auto [free, mass] = after(0);
  const double omega2 = 5e4 * 2 / mass, tau = 0.01, t = 0.4;
  const double rate = 0.5 * omega2 * tau, w = std::sqrt(omega2 - rate * rate);
  const auto at = [&](double decay) {
    return 0.2 * std::exp(-decay * t) * (std::cos(w * t) + decay / w * std::sin(w * t));
  };
  // backward Euler adds a decay of omega^2 h/2 of its own; first order leaves omega h = 1.4 percent of the amplitude
  CHECK(std::abs(after(tau).first - at(rate + 0.5 * omega2 * 1e-3)) <= 0.014 * 0.2);
  CHECK(std::abs(after(tau).first) < std::abs(free));
}

TEST_CASE("the linearised step is the solution of one linear system (Inventory N17)") {
  const double h = 1.0 / 60, k = 3e3;
  Rig rig(sheet(4), {rods(k)});
  rig.shake(0.03, 1, 11);
  Island& island = *rig.island;
  const int n = rig.rows();
  const std::vector<Vec4> x = island.motion.x, v = island.motion.v;
  // K in full: k n n^T + k C/l (I - n n^T), the latter where it is positive
  Matrix K = Matrix::Zero(3 * n, 3 * n);
  Vector f = Vector::Zero(3 * n);
  const Potential& p = *rig.matter.bodies[0].potentials[0];
  for (int e = 0; e < p.elements(); ++e) {
    const int i = p.vertex(e, 0), j = p.vertex(e, 1);
    const Vec3 d = (x[j] - x[i]).xyz(), u = d / norm(d);
    Vec3 g[2];
    const double C = p.constraint(e, 0, x.data(), g);
    for (int a = 0; a < 3; ++a) {
      f(3 * j + a) -= k * C * u[a], f(3 * i + a) += k * C * u[a];
      for (int b = 0; b < 3; ++b) {
        const double s = k * u[a] * u[b] + std::max(0.0, k * C / norm(d)) * ((a == b) - u[a] * u[b]);
        K(3 * i + a, 3 * i + b) += s, K(3 * j + a, 3 * j + b) += s;
        K(3 * i + a, 3 * j + b) -= s, K(3 * j + a, 3 * i + b) -= s;
      }
    }
  }
  const Vector dv = (masses(rig) + h * h * K).ldlt().solve(h * (f - h * K * flat(v)));
  const Settings settings = settings_for("linearized_euler", 1000, 1e-13);
  const StepOutcome out = rig.step(settings, h);
  const double off = (flat(island.motion.v) - flat(v) - dv).norm() / dv.norm();
  MESSAGE("off by ", off, " after ", out.iterations, " iterations of conjugate gradients");
  CHECK(off <= 1e-11);
}
