// The factor against dense algebra in double.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>

#include "linear/cholesky.h"
#include "problems.h"

using namespace verve;
using namespace verve::test;

namespace {

using Dense = Eigen::MatrixXd;

Dense dense(const SymmetricMatrix& m) {
  Dense a = Dense::Zero(m.size, m.size);
  for (int c = 0; c < m.size; ++c)
    for (int k = m.start[c]; k < m.start[c + 1]; ++k) a(m.row[k], c) = a(c, m.row[k]) = m.value[k];
  return a;
}

Dense dense(const std::vector<Vec4>& rows) {
  Dense out(rows.size(), 3);
  for (size_t i = 0; i < rows.size(); ++i) out.row(i) << rows[i].x, rows[i].y, rows[i].z;
  return out;
}

struct Case {
  int nx, ny, nz;
};
constexpr Case cases[] = {{1, 1, 1}, {2, 1, 1}, {30, 1, 1}, {9, 8, 1}, {6, 6, 6}};

}  // namespace

TEST_CASE("the factor solves as a dense one does, in natural and in permuted order") {
  for (const auto& [nx, ny, nz] : cases) {
    const int n = nx * ny * nz;
    SymmetricAssembly assembly;
    assemble(assembly, n, mesh_like(nx, ny, nz, n));
    const Dense a = dense(assembly.matrix());
    const auto b = random_rows(n, 5);
    const Dense expected = a.llt().solve(dense(b));
    for (const bool natural : {true, false}) {
      CAPTURE(n);
      CAPTURE(natural);
      Cholesky factor;
      REQUIRE(factor.factorize(assembly.matrix(), natural, Precision::float64));
      CHECK(factor.size() == n);
      std::vector<Vec4> x(n);
      factor.solve(b.data(), x.data());
      // condition numbers here are below 1e3: 1e-12 leaves a factor of ten
      CHECK((dense(x) - expected).norm() <= 1e-12 * expected.norm());
      for (const Vec4& row : x) REQUIRE(row.w == 0);
      // in place
      std::vector<Vec4> y = b;
      factor.solve(y.data(), y.data());
      CHECK((dense(y) - dense(x)).norm() == 0);
    }
  }
}

TEST_CASE("the residual of a solve is at round-off (Inventory C04)") {
  SymmetricAssembly assembly;
  const int n = 10 * 10 * 10;
  assemble(assembly, n, mesh_like(10, 10, 10, 17));
  const SymmetricMatrix& m = assembly.matrix();
  for (const bool natural : {true, false}) {
    Cholesky factor;
    REQUIRE(factor.factorize(m, natural, Precision::float64));
    const auto b = random_rows(n, 6);
    std::vector<Vec4> x(n), r = b;
    factor.solve(b.data(), x.data());
    for (int c = 0; c < n; ++c) {
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
        r[m.row[k]] -= x[c] * m.value[k];
        if (m.row[k] != c) r[c] -= x[m.row[k]] * m.value[k];
      }
    }
    CHECK(dense(r).norm() <= 1e-10 * dense(b).norm());
  }
}

TEST_CASE("a float factor solves to float precision") {
  SymmetricAssembly assembly;
  const int n = 6 * 6 * 6;
  assemble(assembly, n, mesh_like(6, 6, 6, 3));
  const Dense a = dense(assembly.matrix());
  const auto b = random_rows(n, 7);
  const Dense expected = a.llt().solve(dense(b));
  for (const bool natural : {true, false}) {
    Cholesky factor;
    REQUIRE(factor.factorize(assembly.matrix(), natural, Precision::float32));
    std::vector<Vec4> x(n);
    factor.solve(b.data(), x.data());
    const double residual = (a * dense(x) - dense(b)).norm() / dense(b).norm();
    const double error = (dense(x) - expected).norm() / expected.norm();
    CHECK(residual < 3e-6);  // a few tens of float round-offs (6e-8) per row
    CHECK(residual > 1e-9);  // it is a float factor indeed
    CHECK(error < 3e-4);     // times the condition number, about 1e3
  }
}

TEST_CASE("two right-hand sides in one pass equal two passes") {
  const int n = 9 * 8;
  SymmetricAssembly assembly;
  assemble(assembly, n, mesh_like(9, 8, 1, 8));
  const auto b0 = random_rows(n, 1), b1 = random_rows(n, 2);
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    for (const bool natural : {true, false}) {
      Cholesky factor;
      REQUIRE(factor.factorize(assembly.matrix(), natural, precision));
      std::vector<Vec4> x0(n), x1(n), y0(n), y1(n);
      factor.solve(b0.data(), x0.data());
      factor.solve(b1.data(), x1.data());
      factor.solve2(b0.data(), y0.data(), b1.data(), y1.data());
      // the same operations in the same order
      CHECK((dense(x0) - dense(y0)).norm() == 0);
      CHECK((dense(x1) - dense(y1)).norm() == 0);
    }
  }
}

TEST_CASE("new values on the same pattern are factorised as a fresh matrix would be") {
  const int n = 5 * 5 * 4;
  const auto first = mesh_like(5, 5, 4, 1), second = mesh_like(5, 5, 4, 2);
  const auto b = random_rows(n, 3);
  for (const bool natural : {true, false}) {
    SymmetricAssembly assembly;
    assemble(assembly, n, first);
    Cholesky factor;
    REQUIRE(factor.factorize(assembly.matrix(), natural, Precision::float64));
    const long nonzeros = factor.nonzeros();
    assembly.begin_values();
    for (const Triple& t : second) assembly.add(t.i, t.j, t.v);
    REQUIRE(factor.factorize(assembly.matrix(), natural, Precision::float64));
    CHECK(factor.nonzeros() == nonzeros);

    SymmetricAssembly other;
    assemble(other, n, second);
    Cholesky fresh;
    REQUIRE(fresh.factorize(other.matrix(), natural, Precision::float64));
    std::vector<Vec4> x(n), y(n);
    factor.solve(b.data(), x.data());
    fresh.solve(b.data(), y.data());
    CHECK((dense(x) - dense(y)).norm() == 0);
  }
}

TEST_CASE("changing the precision of a factor on the same pattern works") {
  const int n = 4 * 4 * 4;
  SymmetricAssembly assembly;
  assemble(assembly, n, mesh_like(4, 4, 4, 5));
  const auto b = random_rows(n, 4);
  const Dense expected = dense(assembly.matrix()).llt().solve(dense(b));
  Cholesky factor;
  std::vector<Vec4> x(n);
  REQUIRE(factor.factorize(assembly.matrix(), true, Precision::float32));
  REQUIRE(factor.factorize(assembly.matrix(), true, Precision::float64));
  factor.solve(b.data(), x.data());
  CHECK((dense(x) - expected).norm() <= 1e-12 * expected.norm());
}

TEST_CASE("a matrix that is not positive definite is reported, and the next good one works") {
  const int n = 30;
  auto entries = mesh_like(30, 1, 1, 6);
  SymmetricAssembly assembly;
  assemble(assembly, n, entries);
  const auto good = entries;
  for (const bool natural : {true, false}) {
    Cholesky factor;
    assembly.begin_values();
    for (size_t k = 0; k < good.size(); ++k) assembly.add(good[k].i, good[k].j, k == 0 ? -50 : good[k].v);
    CHECK_FALSE(factor.factorize(assembly.matrix(), natural, Precision::float64));
    assembly.begin_values();
    for (const Triple& t : good) assembly.add(t.i, t.j, t.v);
    REQUIRE(factor.factorize(assembly.matrix(), natural, Precision::float64));
    const auto b = random_rows(n, 8);
    const Dense expected = dense(assembly.matrix()).llt().solve(dense(b));
    std::vector<Vec4> x(n);
    factor.solve(b.data(), x.data());
    CHECK((dense(x) - expected).norm() <= 1e-12 * expected.norm());
  }
}

TEST_CASE("one N x N factor with three right-hand sides equals the 3N x 3N solve (Inventory P29)") {
  const int n = 4 * 3 * 3;
  SymmetricAssembly assembly;
  assemble(assembly, n, mesh_like(4, 3, 3, 21));
  const Dense a = dense(assembly.matrix());
  const auto b = random_rows(n, 9);
  Dense big = Dense::Zero(3 * n, 3 * n);
  Eigen::VectorXd rhs(3 * n);
  for (int i = 0; i < n; ++i) {
    rhs.segment<3>(3 * i) << b[i].x, b[i].y, b[i].z;
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 3; ++c) big(3 * i + c, 3 * j + c) = a(i, j);
  }
  const Eigen::VectorXd expected = big.partialPivLu().solve(rhs);
  Cholesky factor;
  REQUIRE(factor.factorize(assembly.matrix(), true, Precision::float64));
  std::vector<Vec4> x(n);
  factor.solve(b.data(), x.data());
  for (int i = 0; i < n; ++i) {
    REQUIRE(std::abs(x[i].x - expected(3 * i)) <= 1e-12 * expected.norm());
    REQUIRE(std::abs(x[i].y - expected(3 * i + 1)) <= 1e-12 * expected.norm());
    REQUIRE(std::abs(x[i].z - expected(3 * i + 2)) <= 1e-12 * expected.norm());
  }
}
