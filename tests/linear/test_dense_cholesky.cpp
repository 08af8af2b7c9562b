// The factor of a few hundred dense rows, which conjugate gradients are preconditioned with.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "linear/dense_cholesky.h"

using namespace verve;

namespace {

using Matrix = std::vector<std::vector<double>>;

/// Positive definite: B B^T of so many columns, and `more` on the diagonal.
Matrix random_matrix(int n, int rank, double more) {
  Matrix b(n, std::vector<double>(rank)), a(n, std::vector<double>(n));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < rank; ++k) b[i][k] = random_signed(i, k);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < rank; ++k) a[i][j] += b[i][k] * b[j][k];
      if (i == j) a[i][j] += more;
    }
  return a;
}

bool factorize(const Matrix& a, DenseCholesky& factor) {
  factor.resize(int(a.size()));
  for (size_t j = 0; j < a.size(); ++j)
    for (size_t i = j; i < a.size(); ++i) factor.set(int(i), int(j), float(a[i][j]));
  return factor.factorize();
}

std::vector<double> multiply(const Matrix& a, const std::vector<double>& x) {
  std::vector<double> out(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a.size(); ++j) out[i] += a[i][j] * x[j];
  return out;
}

std::vector<double> solve(const DenseCholesky& factor, const std::vector<double>& b) {
  std::vector<float> narrow(b.size() + dense_panel, 7.f);  // what is beyond the last row does not matter
  for (size_t i = 0; i < b.size(); ++i) narrow[i] = float(b[i]);
  factor.solve(narrow.data());
  return {narrow.begin(), narrow.begin() + b.size()};
}

}  // namespace

TEST_CASE("a dense factor in float solves to the digits of float, at any number of rows") {
  for (const int n : {1, 2, 15, 16, 17, 31, 32, 33, 100, 257}) {
    CAPTURE(n);
    const Matrix a = random_matrix(n, n, 0.5 * n);  // eigenvalues between n/2 and about 2 n
    DenseCholesky factor;
    REQUIRE(factorize(a, factor));
    CHECK(factor.size() == n);
    std::vector<double> x(n);
    for (int i = 0; i < n; ++i) x[i] = random_signed(7, i);
    const std::vector<double> found = solve(factor, multiply(a, x));
    double worst = 0;
    for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(found[i] - x[i]));
    // what is added to the diagonal, 2e-6 of it, and round-off of n products of 1e-7 each
    CHECK(worst < 2e-5);
  }
}

TEST_CASE("a dense factor of a matrix that float cannot tell from singular is one to precondition with") {
  // twice as many rows as it has directions, and next to nothing beside
  const int n = 96;
  const Matrix a = random_matrix(n, n / 2, 1e-7);
  DenseCholesky factor;
  REQUIRE(factorize(a, factor));
  std::vector<double> r(n), z, p;
  for (int i = 0; i < n; ++i) r[i] = random_signed(8, i);
  r = multiply(a, r);
  // conjugate gradients: each direction that both know well takes no step of its own
  const auto product = [](const std::vector<double>& u, const std::vector<double>& v) {
    double sum = 0;
    for (size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
    return sum;
  };
  p = z = solve(factor, r);
  double rz = product(r, z);
  const double first = rz;
  int steps = 0;
  for (; steps < 50 && rz > 1e-10 * first; ++steps) {
    const std::vector<double> q = multiply(a, p);
    const double alpha = rz / product(p, q);
    for (int i = 0; i < n; ++i) r[i] -= alpha * q[i];
    z = solve(factor, r);
    const double next = product(r, z);
    for (int i = 0; i < n; ++i) p[i] = z[i] + p[i] * (next / rz);
    rz = next;
  }
  MESSAGE(steps, " steps");
  CHECK(steps <= 6);  // 48 without
}

TEST_CASE("a dense factor of what is not positive definite is refused") {
  DenseCholesky factor;
  Matrix a = random_matrix(20, 20, 10);
  a[13][13] = -1;
  CHECK_FALSE(factorize(a, factor));
  a[13][13] = NAN;
  CHECK_FALSE(factorize(a, factor));
}
