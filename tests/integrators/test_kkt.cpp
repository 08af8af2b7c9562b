// Steps of CPD and PD against direct dense solvers: KKT systems, SQP, Newton, Jacobi.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "dense.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("one iteration equals the direct solve of the full KKT system (Inventory C11)") {
  int of_rest = 0, of_itself = 0;  // columns of L
  for (const char* method : {"cpd_gradient", "cpd_bdf2", "cpd_euler"}) {
    for (auto& rig : small_systems()) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        rig->shake(seed % 3 ? 0.1 : 1, 2, seed);
        rig->push(seed % 2 ? 1 : 0, seed);
        const Motion start = rig->island->motion;
        double lambda = 0;
        rig->step_from(start, settings_for(method, 0));
        Vector x = flat(rig->island->motion.x);  // where the iteration begins
        for (int k = 1; k <= 3; ++k) {
          const StepOutcome out = rig->step_from(start, settings_for(method, k));
          const Problem problem(*rig, start, method, frame);
          const Vector coded = flat(rig->island->motion.x);
          if (out.at_bound) break;
          // Hessian of the Lagrangian (1 + lambda) A, lambda that of the iteration before
          const KktSolution full = kkt((1 + lambda) * problem.A, problem.D(x), problem.C(x), problem.corner(x, lambda),
                                       problem.grad_g(x), problem.c(x));
          of_rest += problem.Dq != problem.Cq, of_itself += problem.momenta && problem.Dq == problem.Cq;
          CAPTURE(k);
          CAPTURE(seed);
          CAPTURE(std::string(method));
          REQUIRE((coded - (x + full.dx)).norm() <= 1e-9 * full.dx.norm() + 1e-14);
          REQUIRE(std::abs(out.lambda - full.lambda.tail(1)(0)) <= 1e-9 * (1 + std::abs(out.lambda)));
          x = coded, lambda = out.lambda;
        }
      }
    }
  }
  CHECK(of_rest > 10);
  CHECK(of_itself >= 3);  // so far from rest, most begin at a bound of lambda
}

TEST_CASE("length and overlap of steps are their products in the norm of A") {
  using Square = Eigen::MatrixXd;
  const int n = 15;
  std::uint64_t count = 0;
  const auto random = [&](int rows, int columns) {
    Square out(rows, columns);
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) out(r, c) = random_signed(3, count++);
    return out;
  };
  for (const bool momenta : {true, false}) {
    const Square R = random(n, n), A = R.transpose() * R + Square::Identity(n, n), inverse = A.inverse();
    const Square lin = random(n, 1), Q = random(n, 6), gg[2] = {random(n, 1), random(n, 1)};
    StepProducts step;
    step.momenta = momenta;
    step.lin_lin = (lin.transpose() * inverse * lin)(0);
    const Square qq = Q.transpose() * inverse * Q, q_lin = Q.transpose() * inverse * lin;
    for (int a = 0; a < 6; ++a) {
      step.q_lin[a] = q_lin(a);
      for (int b = 0; b < 6; ++b) step.s_qq[a][b] = qq(a, b);
    }
    IterationProducts k[2];
    Direction d[2];
    Square dx[2];
    for (int i = 0; i < 2; ++i) {
      k[i].gg_gg = (gg[i].transpose() * inverse * gg[i])(0);
      k[i].lin_gg = (lin.transpose() * inverse * gg[i])(0);
      k[i].gg_last = (gg[i].transpose() * inverse * gg[0])(0);
      const Square q_gg = Q.transpose() * inverse * gg[i];
      for (int a = 0; a < 6; ++a) k[i].q_gg[a] = q_gg(a);
      d[i].lambda = 0.5 * random_signed(4, count++);
      d[i].scale = 1.5 + 0.5 * random_signed(4, count++);
      d[i].g = (1 + d[i].lambda) / d[i].scale, d[i].l = d[i].lambda / d[i].scale;
      Square force = gg[i] * (1 + d[i].lambda) + lin * d[i].lambda;
      for (int a = 0; a < 6 && momenta; ++a) {
        d[i].lambda_q[a] = random_signed(5, count++);
        force += Q.col(a) * d[i].lambda_q[a];
      }
      dx[i] = inverse * force / d[i].scale;
    }
    const auto product = [&](int i, int j) { return (dx[i].transpose() * A * dx[j])(0); };
    const double size = std::sqrt(product(0, 0) * product(1, 1));  // conditions of some hundreds: 1e-13 of this
    CHECK(std::abs(overlap(step, k[1], d[1], k[0], d[0]) - product(1, 0)) <= 1e-12 * size);
    CHECK(std::abs(overlap(step, k[0], d[0], k[0], d[0]) - product(0, 0)) <= 1e-12 * product(0, 0));
  }
}

TEST_CASE("at its bound the multiplier of H is a constant of the KKT system (Inventory C11)") {
  int high = 0, low = 0;
  for (auto& rig : small_systems()) {
    for (const double factor : {0.0, 0.3, 3.0, 30.0}) {
      rig->shake(0.1, 1, 11);
      const Motion start = rig->island->motion;
      Demand demand;
      demand.set_energy = true;
      demand.energy = factor * (rig->kinetic(start.v) + start.energy);
      rig->step_from(start, settings_for("cpd_gradient", 0), frame, demand);
      const Vector x = flat(rig->island->motion.x);
      const StepOutcome out = rig->step_from(start, settings_for("cpd_gradient", 1), frame, demand);
      if (!out.at_bound) continue;
      ++(out.lambda > 0 ? high : low);
      CHECK((out.lambda == lambda_max || out.lambda == lambda_min));
      const Problem problem(*rig, start, "cpd_gradient", frame);
      const Vector r = problem.grad_g(x) + out.lambda * problem.D(x).rightCols(1);
      Vector dx;
      if (problem.momenta) {
        dx = kkt((1 + out.lambda) * problem.A, problem.Dq, problem.Cq, Matrix::Zero(6, 6), r, problem.c_q(x)).dx;
      } else {
        dx = -solve((1 + out.lambda) * problem.A, r);
      }
      CHECK((flat(rig->island->motion.x) - (x + dx)).norm() <= 1e-9 * dx.norm());
    }
  }
  CHECK(high + low >= 3);
  CHECK(low >= 1);
}

TEST_CASE("one iteration as published equals the direct solve of its 3m + 8 system (Inventory C11)") {
  for (auto& rig : small_systems()) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      rig->shake(0.1, 2, seed);
      rig->push(seed % 2 ? 1 : 0, seed);
      const Motion start = rig->island->motion;
      double alpha = 0;
      Vector x;
      for (int k = 1; k <= 3; ++k) {
        Settings settings = settings_for("published", k);
        const StepOutcome out = rig->step_from(start, settings);
        const Problem problem(*rig, start, "published", frame);
        if (k == 1) x = problem.momentum_estimate();
        const Vector coded = flat(rig->island->motion.x);
        // unknowns (x, alpha), c_H = H(x) - (1 - alpha) H* - alpha K, objective g + eps/2 alpha^2
        const double eps = settings.epsilon * out.e_ref, gap = problem.target_h - out.rigid_energy;
        const int n = int(x.size()), q = problem.momenta ? 7 : 1;
        Matrix K = Matrix::Zero(n + 1, n + 1), C = Matrix::Zero(n + 1, q);
        K.topLeftCorner(n, n) = problem.A;
        K(n, n) = eps;
        C.topRows(n) = problem.C(x);
        C(n, q - 1) = gap;
        Vector r(n + 1), c = problem.c(x);
        r.head(n) = problem.grad_g(x);
        r(n) = eps * alpha;
        c(q - 1) += alpha * gap;
        const KktSolution full = kkt(K, C, r, c);
        REQUIRE((coded - (x + full.dx.head(n))).norm() <= 1e-9 * full.dx.head(n).norm() + 1e-14);
        REQUIRE(std::abs(out.alpha - (alpha + full.dx(n))) <= 1e-9 * (1 + std::abs(out.alpha)));
        x = coded, alpha = out.alpha;
      }
    }
  }
}

TEST_CASE("one iteration brings P and L to round-off, and only H goes on shrinking (Inventory C11)") {
  for (const char* method : {"cpd_gradient", "cpd_bdf2", "cpd_euler", "published"}) {
    CAPTURE(std::string(method));
    Rig rig(small_box(2), {strain(1e4)});
    rig.shake(0.1, 2, 12);
    const Motion start = rig.island->motion;
    Demand demand;  // momenta that are owed, so that the first iterate misses them
    demand.debt.p = {30, -20, 10}, demand.debt.l = {5, 10, -5};
    const StepOutcome zero = rig.step_from(start, settings_for(method, 0), frame, demand);
    CHECK(zero.error_p > 1e-3);
    CHECK(zero.error_l > 1e-3);
    double last = zero.error_h;
    for (const int k : {1, 2, 4}) {
      const StepOutcome out = rig.step_from(start, settings_for(method, k), frame, demand);
      CHECK(out.error_p <= 1e-13);
      CHECK(out.error_l <= 1e-13);
      if (k == 1) CHECK(out.error_h > 1e-9);
      if (k > 1) CHECK(out.error_h < last);
      last = out.error_h;
    }
  }
}

TEST_CASE("an SQP with the exact Hessian reaches the same x as the converged step (Inventory C10)") {
  for (const char* method : {"cpd_gradient", "cpd_euler"}) {
    Rig rig(two_tets(), {strain(2e4)});
    int compared = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      rig.shake(0.05, 1, seed);
      const Motion start = rig.island->motion;
      const StepOutcome out = rig.step_from(start, settings_for(method, 3000));
      if (out.at_bound) continue;  // then H is not held in this step
      const Vector converged = flat(rig.island->motion.x);
      const Problem problem(rig, start, method, frame);
      const auto sqp = [&](bool exact) {
        Vector x = problem.momentum_estimate();
        double lambda = 0, length = 1;
        for (int k = 0; k < 60 && length > 1e-13; ++k) {
          Matrix hessian(x.size(), x.size());
          const double d = 1e-6;
          for (int i = 0; i < x.size(); ++i) {
            Vector up = x, down = x;
            up(i) += d, down(i) -= d;
            hessian.col(i) = (problem.grad_g(up) - problem.grad_g(down)) / (2 * d);
          }
          const KktSolution newton = kkt((1 + lambda) * hessian, exact ? problem.C(x) : problem.D(x), problem.C(x),
                                         Matrix::Zero(7, 7), problem.grad_g(x), problem.c(x));
          x += newton.dx;
          lambda = newton.lambda(6);
          length = newton.dx.norm();
        }
        CHECK(length <= 1e-10);
        CHECK(problem.c(x).norm() <= 1e-9 * std::abs(problem.target_h));
        return std::pair(x, lambda);
      };
      CAPTURE(seed);
      CAPTURE(std::string(method));
      const auto [x, lambda] = sqp(false);
      CHECK((x - converged).norm() <= 1e-6);
      CHECK(std::abs(lambda - out.lambda) <= 1e-5);
      // the constrained minimum of g, with multipliers of grad c_L itself: deformation x multiplier away
      const auto [minimum, multiplier] = sqp(true);
      CHECK((minimum - converged).norm() <= 1e-5);
      CHECK(std::abs(multiplier - out.lambda) <= 3e-5);
      ++compared;
    }
    CHECK(compared >= 7);
  }
}

TEST_CASE("converged PD agrees with an independent Newton minimiser with line search (Inventory C01, M04)") {
  for (const bool tets : {false, true}) {
    Rig rig(small_box(), {tets ? strain(2e4) : springs(2e4)});
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      rig.shake(0.05, 1, seed);
      rig.push(1, seed);
      const Motion start = rig.island->motion;
      rig.step(settings_for("pd", 20000, 1e-14));
      const Vector converged = flat(rig.island->motion.x);

      // g(x) = 1/2h^2 |x - y|^2_M + W(x); Hessian of W by differences of its gradient, lifted until definite
      Vector y = flat(start.x) + frame * flat(start.v) + frame * frame * flat(rig.island->forcing.acceleration);
      Vector m(y.size());
      for (int r = 0; r < rig.rows(); ++r) m.segment<3>(3 * r).setConstant(rig.mass(r) / (frame * frame));
      const auto objective = [&](const Vector& x) {
        return 0.5 * (x - y).dot(m.cwiseProduct(x - y)) + rig.energy(rows_of(x));
      };
      const auto gradient = [&](const Vector& x) {
        std::vector<Vec4> g;
        rig.energy(rows_of(x), &g);
        return Vector(m.cwiseProduct(x - y) + flat(g));
      };
      Vector x = flat(start.x);
      double length = 1;
      for (int k = 0; k < 50 && length > 1e-12; ++k) {
        Matrix hessian = m.asDiagonal();
        const double d = 1e-6;
        for (int i = 0; i < x.size(); ++i) {
          Vector up = x, down = x;
          up(i) += d, down(i) -= d;
          std::vector<Vec4> gu, gd;
          rig.energy(rows_of(up), &gu), rig.energy(rows_of(down), &gd);
          hessian.col(i) += (flat(gu) - flat(gd)) / (2 * d);
        }
        hessian = 0.5 * (hessian + hessian.transpose()).eval();
        Eigen::LLT<Matrix> llt(hessian);
        for (double lift = 1e-3 * m.mean(); llt.info() != Eigen::Success; lift *= 4)
          llt.compute(hessian + lift * Matrix::Identity(x.size(), x.size()));
        const Vector g = gradient(x), dx = -llt.solve(g);
        double t = 1;
        while (objective(x + t * dx) > objective(x) + 1e-4 * t * g.dot(dx) + 1e-13 * std::abs(objective(x)) && t > 1e-6)
          t /= 2;
        x += t * dx;
        length = t * dx.norm();
      }
      CHECK(length <= 1e-10);
      CHECK((x - converged).cwiseAbs().maxCoeff() <= 1e-8);
    }
  }
}
