// L D L^T of indefinite and singular matrices against dense solutions.
#include <doctest/doctest.h>

#include <Eigen/LU>
#include <cmath>
#include <numeric>

#include "linear/ldl.h"

using namespace verve;

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The lower triangle of a dense matrix, zeros left out off the diagonal.
SymmetricMatrix sparse(const Matrix& a) {
  SymmetricAssembly out;
  out.begin_pattern(int(a.rows()));
  for (int c = 0; c < a.cols(); ++c)
    for (int r = c; r < a.rows(); ++r)
      if (r == c || a(r, c) != 0) out.add(r, c, a(r, c));
  out.finish_pattern();
  return out.matrix();
}

/// [H J^T; J -S] with H = tridiagonal, J of neighbours' differences: a chain held at its lengths.
Matrix chain(int n, double compliance) {
  Matrix a = Matrix::Zero(2 * n - 1, 2 * n - 1);
  for (int i = 0; i < n; ++i) {
    a(i, i) = 2 + 0.1 * i;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -0.5;
  }
  for (int i = 0; i + 1 < n; ++i) {
    a(n + i, i) = a(i, n + i) = -1, a(n + i, i + 1) = a(i + 1, n + i) = 1;
    a(n + i, n + i) = -compliance;
  }
  return a;
}

Vector solve(const Ldl& factor, Vector b) {
  factor.solve(b.data());
  return b;
}

}  // namespace

TEST_CASE("quasi-definite matrices are factored in any order, and again with other values") {
  const int n = 12;
  const Matrix a = chain(n, 0.3), second = chain(n, 1e-9);
  const Vector b = Vector::LinSpaced(2 * n - 1, -1, 2);
  std::vector<int> order(2 * n - 1);
  for (const int step : {1, 2, 5, 22}) {
    for (int k = 0; k < 2 * n - 1; ++k) order[k] = k * step % (2 * n - 1);
    Ldl factor;
    factor.analyze(sparse(a), order);
    REQUIRE(factor.factorize(sparse(a), 1e-12));
    CHECK(factor.dependent().empty());
    CHECK((solve(factor, b) - a.fullPivLu().solve(b)).norm() <= 1e-13 * b.norm() * 100);
    // without compliance the order matters for accuracy: here multipliers come last or the compliance is the pivot
    if (step == 1) {
      REQUIRE(factor.factorize(sparse(second), 1e-12));
      const Vector x = second.fullPivLu().solve(b);
      CHECK((solve(factor, b) - x).norm() <= 1e-11 * x.norm());
    }
  }
}

TEST_CASE("a saddle point without compliance is factored when multipliers come after what they move") {
  const int n = 10;
  const Matrix a = chain(n, 0);
  std::vector<int> order;
  for (int i = 0; i < n; ++i) {
    order.push_back(i);
    if (i > 0) order.push_back(n + i - 1);
  }
  Ldl factor;
  factor.analyze(sparse(a), order);
  REQUIRE(factor.factorize(sparse(a), 1e-12));
  const Vector b = Vector::LinSpaced(2 * n - 1, 1, 3), x = a.fullPivLu().solve(b);
  CHECK((solve(factor, b) - x).norm() <= 1e-12 * x.norm());
}

TEST_CASE("rows that depend on others are named, bear nothing and leave the others a solution") {
  // a b c and a row twice: b = (r, s, r)
  Matrix a(4, 4);
  a << 4, 1, 0, 4,  //
      1, 3, 1, 1,   //
      0, 1, 2, 0,   //
      4, 1, 0, 4;
  Ldl factor;
  factor.analyze(sparse(a), {0, 1, 2, 3});
  REQUIRE(factor.factorize(sparse(a), 1e-12));
  CHECK(factor.dependent() == std::vector<int>{3});
  Vector b(4);
  b << 1, 2, 3, 1;
  const Vector x = solve(factor, b);
  CHECK(x(3) == 0);
  CHECK((a * x - b).norm() <= 1e-14);
  // nothing at all is a row that depends on nothing
  Matrix zero = Matrix::Zero(2, 2);
  zero(0, 0) = 1;
  factor.analyze(sparse(zero), {0, 1});
  REQUIRE(factor.factorize(sparse(zero), 1e-12));
  CHECK(factor.dependent() == std::vector<int>{1});
  zero(0, 0) = NAN;
  CHECK(!factor.factorize(sparse(zero), 1e-12));
}
