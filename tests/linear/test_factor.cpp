// The factor in all precisions against Eigen's in double.
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <Eigen/SparseCholesky>
#include <limits>

#include "base/parallel.h"
#include "linear/cholesky.h"
#include "problems.h"

using namespace verve;
using namespace verve::test;

namespace {

using Sparse = Eigen::SparseMatrix<double>;
using Columns = Eigen::MatrixXd;

Sparse full(const SymmetricMatrix& m) {
  const Eigen::Map<const Sparse> lower(m.size, m.size, Eigen::Index(m.row.size()), m.start.data(), m.row.data(),
                                       m.value.data());
  return lower.selfadjointView<Eigen::Lower>();
}

Columns columns(const std::vector<Vec4>& rows) {
  Columns out(rows.size(), 3);
  for (size_t i = 0; i < rows.size(); ++i) out.row(i) << rows[i].x, rows[i].y, rows[i].z;
  return out;
}

enum class Kind { float64, float32, float16 };
constexpr Kind kinds[] = {Kind::float64, Kind::float32, Kind::float16};

bool factorize(Cholesky& factor, const SymmetricMatrix& m, bool natural, Kind kind) {
  return factor.factorize(m, natural, kind == Kind::float64 ? Precision::float64 : Precision::float32,
                          kind == Kind::float16 ? Cholesky::Storage::half : Cholesky::Storage::full);
}

/// Half a unit in the last place of what the values are kept in.
double rounding(Kind kind) { return kind == Kind::float64 ? 0x1p-53 : kind == Kind::float32 ? 0x1p-24 : 0x1p-11; }

/// Backward error: |b - A x| / (|A| |x| + |b|), rows weighted by the diagonal, since the factor is that of the matrix
/// scaled to a unit diagonal.
double backward_error(const Sparse& a, const Columns& x, const Columns& b) {
  const Eigen::VectorXd s = a.diagonal().cwiseSqrt().cwiseInverse();
  const Sparse scaled = s.asDiagonal() * a * s.asDiagonal();
  const Columns y = s.cwiseInverse().asDiagonal() * x, c = s.asDiagonal() * b;
  double size = 0;
  for (int k = 0; k < scaled.outerSize(); ++k) size = std::max(size, scaled.col(k).cwiseAbs().sum());
  return (c - scaled * y).norm() / (size * y.norm() + c.norm());
}

/// A few roundings per product, added up like a random walk over the columns that meet in a row; a factor of ten for
/// luck.
double bound(Kind kind) { return 20 * rounding(kind); }

void check_against_eigen(const Problem& problem) {
  CAPTURE(problem.name);
  SymmetricAssembly assembly;
  assemble(assembly, problem.size, problem.entries);
  const SymmetricMatrix& m = assembly.matrix();
  const Sparse a = full(m);
  const auto b = random_rows(problem.size, 5), b1 = random_rows(problem.size, 6);
  Eigen::SimplicialLLT<Sparse> reference(a);
  const Columns expected = reference.solve(columns(b));
  const double condition_bound = 1e4;  // masses 0.1 … 1 against some tens of springs of up to 20
  for (const bool natural : {true, false}) {
    for (const Kind kind : kinds) {
      CAPTURE(natural);
      CAPTURE(int(kind));
      Cholesky factor;
      REQUIRE(factorize(factor, m, natural, kind));
      CHECK(factor.size() == problem.size);
      CHECK((factor.storage() == Cholesky::Storage::half) == (kind == Kind::float16));
      std::vector<Vec4> x(problem.size), x0(problem.size), x1(problem.size), alone(problem.size);
      factor.solve(b.data(), x.data());
      CHECK(backward_error(a, columns(x), columns(b)) <= bound(kind));
      CHECK((columns(x) - expected).norm() <= condition_bound * rounding(kind) * expected.norm());
      for (const Vec4& row : x) REQUIRE(row.w == 0);

      // two in one pass: the same operations in the same order
      factor.solve(b1.data(), alone.data());
      factor.solve2(b.data(), x0.data(), b1.data(), x1.data());
      CHECK(columns(x0) == columns(x));
      CHECK(columns(x1) == columns(alone));
      // in half the memory: of a factor in float all there is
      std::vector<Float4> narrow(problem.size), narrow0(problem.size), narrow1(problem.size);
      factor.solve(b.data(), narrow.data());
      std::vector<Float4> narrow_b(problem.size), narrow_b1(problem.size);
      const auto in_float = [](const Vec4& v) { return Float4{float(v.x), float(v.y), float(v.z), 0}; };
      std::transform(b.begin(), b.end(), narrow_b.begin(), in_float);
      std::transform(b1.begin(), b1.end(), narrow_b1.begin(), in_float);
      factor.solve2(narrow_b.data(), narrow0.data(), narrow_b1.data(), narrow1.data());
      for (int r = 0; r < problem.size; ++r) {
        const auto check = [&](const Float4& f, const Vec4& row) {
          REQUIRE((f.x == float(row.x) && f.y == float(row.y) && f.z == float(row.z) && f.w == 0));
          if (kind != Kind::float64) REQUIRE((double(f.x) == row.x && double(f.y) == row.y && double(f.z) == row.z));
        };
        check(narrow[r], x[r]);
        if (kind == Kind::float64) continue;  // which sees more of a right-hand side than a float has
        check(narrow0[r], x[r]), check(narrow1[r], alone[r]);
      }
      factor.solve(narrow_b1.data(), narrow0.data());
      for (int r = 0; r < problem.size; ++r) REQUIRE((narrow0[r].x == narrow1[r].x && narrow0[r].z == narrow1[r].z));
      // in place
      x0 = b;
      factor.solve(x0.data(), x0.data());
      CHECK(columns(x0) == columns(x));
    }
  }
}

}  // namespace

TEST_CASE("the factor solves as Eigen does for chains, stars, forests, dense and random matrices and small meshes") {
  for (const Problem& problem : small_problems()) check_against_eigen(problem);
}

TEST_CASE("the factor solves as Eigen does for meshes of some thousand vertices") {
  for (const Problem& problem : large_problems()) check_against_eigen(problem);
}

TEST_CASE("rows in wildly different units cost no digits") {
  // D A D with D from 1e-20 to 1e20: float32 itself could hold neither the values nor the solution
  for (Problem problem : {mesh_problem("box", {{"cells", {7, 6, 8}}}, 10), random_problem(250, 9, 6)}) {
    CAPTURE(problem.name);
    const auto unit = [](int i) { return std::pow(10.0, 20 * random_signed(11, i)); };
    for (Triple& t : problem.entries) t.v *= unit(t.i) * unit(t.j);
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const Sparse a = full(assembly.matrix());
    auto b = random_rows(problem.size, 5);
    for (int i = 0; i < problem.size; ++i) b[i] = b[i] * unit(i);
    for (const Kind kind : kinds) {
      CAPTURE(int(kind));
      Cholesky factor;
      REQUIRE(factorize(factor, assembly.matrix(), false, kind));
      std::vector<Vec4> x(problem.size);
      factor.solve(b.data(), x.data());
      CHECK(backward_error(a, columns(x), columns(b)) <= bound(kind));
    }
  }
}

TEST_CASE("float and half factors are indeed less precise than double") {
  const Problem problem = mesh_problem("box", {{"cells", {7, 6, 8}}}, 10);
  SymmetricAssembly assembly;
  assemble(assembly, problem.size, problem.entries);
  const Sparse a = full(assembly.matrix());
  const auto b = random_rows(problem.size, 5);
  double last = 0;
  for (const Kind kind : kinds) {
    Cholesky factor;
    REQUIRE(factorize(factor, assembly.matrix(), false, kind));
    std::vector<Vec4> x(problem.size);
    factor.solve(b.data(), x.data());
    const double error = backward_error(a, columns(x), columns(b));
    CHECK(error > 100 * last);
    last = error;
  }
}

TEST_CASE("a half factor repeated on its own residual reaches the solution in double") {
  // x += A16^-1 (b - A x) shrinks the error by the relative error of the factor each time, at least a hundredfold
  const Problem problem = mesh_problem("hippo", {}, 10);
  SymmetricAssembly assembly;
  assemble(assembly, problem.size, problem.entries);
  const Sparse a = full(assembly.matrix());
  const auto b = random_rows(problem.size, 5);
  const Columns expected = Eigen::SimplicialLLT<Sparse>(a).solve(columns(b));
  Cholesky factor;
  REQUIRE(factorize(factor, assembly.matrix(), false, Kind::float16));
  Columns x = Columns::Zero(problem.size, 3);
  std::vector<Vec4> r(problem.size);
  for (int round = 0; round < 8; ++round) {
    const Columns residual = columns(b) - a * x;
    for (int i = 0; i < problem.size; ++i) r[i] = {residual(i, 0), residual(i, 1), residual(i, 2)};
    factor.solve(r.data(), r.data());
    x += columns(r);
  }
  CHECK((x - expected).norm() <= 1e-12 * expected.norm());
}

TEST_CASE("values too large for half precision are kept in float") {
  // a chain held by a spring 1e-9 of its own: pivots fall to 1e-10, whose inverse roots half cannot hold
  const int n = 50;
  std::vector<Triple> entries;
  for (int i = 0; i + 1 < n; ++i) join(entries, i, i + 1, 1);
  entries.push_back({0, 0, 1e-11});
  SymmetricAssembly assembly;
  assemble(assembly, n, entries);
  Cholesky factor;
  REQUIRE(factorize(factor, assembly.matrix(), true, Kind::float16));
  CHECK(factor.storage() == Cholesky::Storage::full);
  std::vector<Vec4> x = random_rows(n, 3);
  factor.solve(x.data(), x.data());
  for (const Vec4& row : x) REQUIRE(std::isfinite(row.x));
}

TEST_CASE("a solve gives the same bits on 1, 2, 3 and 16 threads") {
  for (const Problem& problem : large_problems()) {
    CAPTURE(problem.name);
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const auto b = random_rows(problem.size, 5), b1 = random_rows(problem.size, 6);
    for (const Kind kind : kinds) {
      CAPTURE(int(kind));
      std::vector<std::vector<Vec4>> results;
      for (const int threads_now : {1, 2, 3, 16}) {
        set_threads(threads_now);
        Cholesky factor;  // also factorised with that many
        REQUIRE(factorize(factor, assembly.matrix(), false, kind));
        for (int repeat = 0; repeat < 5; ++repeat) {
          std::vector<Vec4> x(problem.size), x0(problem.size), x1(problem.size);
          factor.solve(b.data(), x.data());
          factor.solve2(b.data(), x0.data(), b1.data(), x1.data());
          results.push_back(x), results.push_back(x0);
        }
      }
      set_threads(1);
      int different = 0;
      for (const auto& x : results)
        for (int i = 0; i < problem.size; ++i) different += !(x[i].xyz() == results[0][i].xyz());
      CHECK(different == 0);
    }
  }
}

TEST_CASE("a right-hand side that is not finite leaves no trace in the next solve") {
  for (const Problem& problem : {mesh_problem("hippo", {}, 10), mesh_problem("box", {{"cells", {7, 6, 8}}}, 10)}) {
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const auto b = random_rows(problem.size, 5);
    for (const Kind kind : kinds) {
      Cholesky factor;
      REQUIRE(factorize(factor, assembly.matrix(), false, kind));
      std::vector<Vec4> before(problem.size), after(problem.size), x(problem.size), y(problem.size);
      factor.solve(b.data(), before.data());
      for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        const std::vector<Vec4> all_bad(problem.size, Vec4(bad, bad, bad));
        factor.solve(all_bad.data(), x.data());
        factor.solve2(all_bad.data(), x.data(), all_bad.data(), y.data());
        factor.solve(b.data(), after.data());
        CHECK(columns(after) == columns(before));
        factor.solve2(b.data(), x.data(), b.data(), y.data());
        CHECK(columns(y) == columns(before));
      }
    }
  }
}

TEST_CASE("every set of SIMD instructions of this machine factorises and solves") {
  const auto machine = hwy::SupportedTargets();
  int tried = 0;
  for (std::int64_t rest = machine; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    CAPTURE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Problem& problem : small_problems()) check_against_eigen(problem);
    check_against_eigen(mesh_problem("hippo", {}, 10));
    ++tried;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  CHECK(tried >= 1);
}

TEST_CASE("new values on the same pattern give the bits of a fresh factor, in every precision") {
  for (Problem problem : large_problems()) {
    CAPTURE(problem.name);
    SymmetricAssembly first, second;
    assemble(first, problem.size, problem.entries);
    std::uint64_t count = 0;
    for (Triple& t : problem.entries) t.v *= t.i == t.j ? 1.5 + 0.3 * random_signed(8, count++) : 0.9;
    assemble(second, problem.size, problem.entries);
    const auto b = random_rows(problem.size, 5);
    for (const Kind kind : kinds) {
      Cholesky again, fresh;
      REQUIRE(factorize(again, first.matrix(), false, kind));
      REQUIRE(factorize(again, second.matrix(), false, kind));
      REQUIRE(factorize(fresh, second.matrix(), false, kind));
      std::vector<Vec4> x(problem.size), y(problem.size);
      again.solve(b.data(), x.data());
      fresh.solve(b.data(), y.data());
      CHECK(columns(x) == columns(y));
    }
  }
}

TEST_CASE("one factor object serves matrices of different size and pattern, also at the same address") {
  Cholesky factor;
  SymmetricAssembly assembly;
  for (const Problem& problem : small_problems()) {
    CAPTURE(problem.name);
    assemble(assembly, problem.size, problem.entries);
    const Sparse a = full(assembly.matrix());
    const auto b = random_rows(problem.size, 5);
    for (const Kind kind : kinds) {
      REQUIRE(factorize(factor, assembly.matrix(), false, kind));
      std::vector<Vec4> x(problem.size);
      factor.solve(b.data(), x.data());
      CHECK(backward_error(a, columns(x), columns(b)) <= bound(kind));
    }
  }
  // two patterns of the same size and the same number of entries
  for (const int other : {2, 3}) {
    assemble(assembly, 4, {{0, 0, 2}, {1, 1, 2}, {2, 2, 2}, {3, 3, 2}, {0, other, 1}});
    REQUIRE(factor.factorize(assembly.matrix(), true, Precision::float64));
    std::vector<Vec4> x(4);
    x[0] = {3, 0, 0};
    factor.solve(x.data(), x.data());
    CHECK(x[0].x == doctest::Approx(2));
    CHECK(x[other].x == doctest::Approx(-1));
    CHECK(x[1].x == 0);
    factor = Cholesky();
  }
}

TEST_CASE("indefinite, singular, infinite and undefined matrices are refused wherever the fault is") {
  const double infinite = std::numeric_limits<double>::infinity(), undefined = std::nan("");
  for (const Problem& problem : {mesh_problem("box", {{"cells", {7, 6, 8}}}, 10), small_problems()[8]}) {
    CAPTURE(problem.name);
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const auto good = problem.entries;
    Cholesky factor;
    const auto with = [&](size_t place, double value) {
      assembly.begin_values();
      for (size_t k = 0; k < good.size(); ++k) assembly.add(good[k].i, good[k].j, k == place ? value : good[k].v);
      return assembly.matrix();
    };
    for (const Kind kind : kinds) {
      for (const size_t place : {size_t(0), size_t(problem.size / 2), size_t(problem.size - 1), good.size() - 1}) {
        CAPTURE(place);
        for (const double value : {-1e6, undefined, infinite, -infinite})
          CHECK_FALSE(factorize(factor, with(place, value), false, kind));
      }
      // an off-diagonal entry: too large for a positive matrix, or no number
      const size_t off = problem.size + 1;
      REQUIRE(good[off].i != good[off].j);
      for (const double value : {-1e6, 1e6, undefined, infinite})
        CHECK_FALSE(factorize(factor, with(off, value), false, kind));
      // the next good one works
      CHECK(factorize(factor, with(good.size(), 0), false, kind));
    }
  }
  // all zero: structurally fine
  SymmetricAssembly zero;
  assemble(zero, 3, {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}});
  CHECK_FALSE(Cholesky().factorize(zero.matrix(), false, Precision::float64));
  // no diagonal entry at all
  SymmetricAssembly hollow;
  assemble(hollow, 2, {{0, 0, 1}, {1, 0, 0.5}});
  CHECK_FALSE(Cholesky().factorize(hollow.matrix(), true, Precision::float64));
}
