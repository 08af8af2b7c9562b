// One door to the direct solver, to multigrid and to low-rank changes of either.
#include <doctest/doctest.h>

#include "base/parallel.h"
#include "count_allocations.h"
#include "linear/eigen_reference.h"
#include "linear/global_solver.h"
#include "linear/mesh_matrices.h"

using namespace verve;
using namespace verve::test;
using Kind = GlobalSolver::Kind;

TEST_CASE("the predicted size of a factor is the number of nonzeros that elimination leaves") {
  SymmetricAssembly assembly;
  assemble(assembly, {generated("cloth", {{"columns", {12}}, {"rows", {9}}}), box(3)});
  const SymmetricMatrix& m = assembly.matrix();
  const std::vector<int> amd = elimination_order(m);
  for (const bool natural : {true, false}) {
    // elimination on a dense table
    const int n = m.size;
    std::vector<int> position(n);
    for (int k = 0; k < n; ++k) position[natural ? k : amd[k]] = k;
    std::vector<std::vector<char>> full(n, std::vector<char>(n, 0));
    for (int c = 0; c < n; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k)
        full[position[c]][position[m.row[k]]] = full[position[m.row[k]]][position[c]] = 1;
    long expected = 0;
    for (int k = 0; k < n; ++k) {
      for (int i = k; i < n; ++i) {
        expected += full[i][k];
        if (full[i][k])
          for (int j = k + 1; j < n; ++j) full[i][j] |= full[k][j];
      }
    }
    const std::vector<int> order = natural ? std::vector<int>() : amd;
    CHECK(factor_nonzeros(m, order, 1'000'000) == expected);
    CHECK(factor_nonzeros(m, order, expected / 2) > expected / 2);
    CHECK(factor_nonzeros(m, order, expected / 2) < expected);
  }
}

TEST_CASE("either kind of global solver solves as Eigen does, one and two right-hand sides, with and without changes") {
  const Body body = box(12);
  SymmetricAssembly assembly;
  assemble(assembly, {body});
  const SymmetricMatrix& m = assembly.matrix();
  const std::vector<Vec4> b0 = random_vectors(m.size, 1), b1 = random_vectors(m.size, 2);
  const std::vector<LowRankTerm> terms = {{.a = 5, .weight = 1e4}, {.a = 9, .b = 700, .weight = 3e4}};
  SymmetricAssembly changed;
  changed.begin_pattern(m.size);
  add_body(changed, body);
  for (const auto& [i, j, v] : {std::tuple(5, 5, 1e4), {9, 9, 3e4}, {700, 700, 3e4}, {700, 9, -3e4}})
    changed.add(i, j, v);
  changed.finish_pattern();

  for (const Kind kind : {Kind::direct, Kind::multigrid}) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      GlobalSolver solver;
      solver.wanted = kind;
      REQUIRE(solver.factorize(m, false, precision));
      CHECK(solver.kind() == kind);
      CHECK(solver.size() == m.size);
      for (const bool with_changes : {false, true, false}) {
        CAPTURE(int(kind));
        CAPTURE(with_changes);
        REQUIRE(solver.set_changes(with_changes ? std::span(terms) : std::span<const LowRankTerm>()) ==
                LowRankUpdate::Status::done);
        CHECK(solver.rank() == (with_changes ? 2 : 0));
        const SymmetricMatrix& a = with_changes ? changed.matrix() : m;
        // double: the tolerance of multigrid, 1e-10; float: 6e-8 times a condition number of a few hundred
        const double tolerance = precision == Precision::float64 ? 1e-9 : 1e-4;
        std::vector<Vec4> x(m.size), x0 = b0, x1 = b1;
        solver.solve(b0.data(), x.data());
        CHECK(energy_error(a, x, eigen_solve(a, b0)) <= tolerance);
        CHECK(solver.last().converged);
        CHECK((solver.last().iterations > 0) == (kind == Kind::multigrid));
        solver.solve2(x0.data(), x0.data(), x1.data(), x1.data());
        CHECK(same_bits(x0, x));
        CHECK(energy_error(a, x1, eigen_solve(a, b1)) <= tolerance);
      }
    }
  }
}

TEST_CASE("a factor that would be too large gives way to multigrid, unless another kind is asked for") {
  const auto choose = [](int cells, long limit, Kind wanted) {
    SymmetricAssembly assembly;
    assemble(assembly, {generated("cloth", {{"columns", {double(cells)}}, {"rows", {double(cells)}}})});
    GlobalSolver solver;
    solver.factor_limit = limit;
    solver.wanted = wanted;
    REQUIRE(solver.factorize(assembly.matrix(), false, Precision::float32));
    return solver.kind();
  };
  CHECK(choose(40, 100, Kind::automatic) == Kind::direct);  // too small to be worth a count
  CHECK(choose(150, 10'000'000, Kind::automatic) == Kind::direct);
  CHECK(choose(150, 100'000, Kind::automatic) == Kind::multigrid);
  CHECK(choose(150, 100'000, Kind::direct) == Kind::direct);
  CHECK(choose(40, 10'000'000, Kind::multigrid) == Kind::multigrid);
}

TEST_CASE("the global solver says what it is, why, and how large") {
  SymmetricAssembly assembly;
  assemble(assembly, {generated("hippo")});
  const SymmetricMatrix& m = assembly.matrix();
  GlobalSolver solver;
  REQUIRE(solver.factorize(m, false, Precision::float32));
  const std::string rows = std::to_string(m.size) + " rows";
  CHECK(solver.description().starts_with("direct, " + rows + ", "));
  CHECK(solver.description().ends_with(" k nonzeros, float"));
  CHECK(solver.nonzeros() > long(m.row.size()));
  CHECK(solver.bytes() >= 4 * size_t(solver.nonzeros()));

  solver.wanted = Kind::multigrid;
  REQUIRE(solver.factorize(m, false, Precision::float64));
  CHECK(solver.description().starts_with("multigrid-PCG, " + rows + ", 2 levels, "));
  CHECK(solver.description().ends_with(" k nonzeros, double (asked for)"));
  CHECK(solver.nonzeros() > 2 * long(m.row.size()) - m.size);
  CHECK(solver.bytes() > 8 * m.row.size());

  solver.wanted = Kind::automatic;
  REQUIRE(solver.factorize(m, false, Precision::float64));
  CHECK(solver.kind() == Kind::direct);
}

TEST_CASE("a new factor drops the changes, and says in time that it would pay") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(8)});
  const SymmetricMatrix& m = assembly.matrix();
  GlobalSolver solver;
  REQUIRE(solver.factorize(m, false, Precision::float32));
  std::vector<Vec4> x = random_vectors(m.size, 3);
  std::vector<LowRankTerm> terms;
  const auto solves_until_it_pays = [&] {
    int solves = 0;
    while (!solver.refactoring_pays() && solves < 10000) solver.solve(x.data(), x.data()), ++solves;
    return solves;
  };
  terms = {{.a = 1, .weight = 1e3}};
  REQUIRE(solver.set_changes(terms) == LowRankUpdate::Status::done);
  const int with_one = solves_until_it_pays();
  for (int k = 2; k <= 16; ++k) terms.push_back({.a = k, .weight = 1e3});
  REQUIRE(solver.set_changes(terms) == LowRankUpdate::Status::done);
  const int with_many = solves_until_it_pays();
  CHECK(with_many >= 5);
  CHECK(with_one >= 10 * with_many);
  CHECK(with_one < 10000);

  REQUIRE(solver.factorize(m, false, Precision::float32));
  CHECK(solver.rank() == 0);
  CHECK_FALSE(solver.refactoring_pays());
}

TEST_CASE("solving again and again through the one door allocates nothing") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(12)});
  const SymmetricMatrix& m = assembly.matrix();
  const std::vector<LowRankTerm> terms = {{.a = 5, .weight = 1e4}, {.a = 9, .b = 70, .weight = 3e4}};
  for (const Kind kind : {Kind::direct, Kind::multigrid}) {
    GlobalSolver solver;
    solver.wanted = kind;
    REQUIRE(solver.factorize(m, false, Precision::float32));
    REQUIRE(solver.set_changes(terms) == LowRankUpdate::Status::done);
    std::vector<Vec4> x = random_vectors(m.size, 4), y = x;
    const auto use = [&] {
      solver.solve(x.data(), x.data());
      solver.solve2(x.data(), x.data(), y.data(), y.data());
      solver.set_changes({});
      solver.set_changes(terms);
    };
    use();
    const long before = allocations();
    for (int k = 0; k < 3; ++k) use();
    CHECK(allocations() == before);
  }
}

TEST_CASE("the global solver gives the same bits on 1, 2, 3 and 16 threads") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(16)});
  const SymmetricMatrix& m = assembly.matrix();
  const std::vector<LowRankTerm> terms = {{.a = 5, .weight = 1e4}, {.a = 9, .b = 70, .weight = 3e4}};
  const std::vector<Vec4> b = random_vectors(m.size, 5);
  for (const Kind kind : {Kind::direct, Kind::multigrid}) {
    std::vector<Vec4> first;
    for (const int count : {1, 2, 3, 16}) {
      set_threads(count);
      GlobalSolver solver;
      solver.wanted = kind;
      REQUIRE(solver.factorize(m, false, Precision::float32));
      REQUIRE(solver.set_changes(terms) == LowRankUpdate::Status::done);
      std::vector<Vec4> x(m.size);
      solver.solve(b.data(), x.data());
      if (first.empty()) first = x;
      CHECK(same_bits(x, first));
    }
  }
  set_threads(1);
}

TEST_CASE("a matrix that is not positive definite is reported by either kind, and the next good one works") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(5)});
  SymmetricMatrix m = assembly.matrix();
  for (const Kind kind : {Kind::direct, Kind::multigrid}) {
    GlobalSolver solver;
    solver.wanted = kind;
    const double good = m.value[m.start[20]];
    m.value[m.start[20]] = -good;
    CHECK_FALSE(solver.factorize(m, false, Precision::float64));
    m.value[m.start[20]] = good;
    REQUIRE(solver.factorize(m, false, Precision::float64));
    const std::vector<Vec4> b = random_vectors(m.size, 6);
    std::vector<Vec4> x(m.size);
    solver.solve(b.data(), x.data());
    CHECK(energy_error(m, x, eigen_solve(m, b)) <= 1e-9);
  }
}

TEST_CASE("a float factor is kept in half precision on its own account where it is large and loses nothing by it") {
  const auto storage_of = [](Cholesky& factor, int cells, double stiffness) {
    Body body = box(cells);
    body.stiffness = [=](const Vec3&) { return stiffness; };
    SymmetricAssembly a;
    assemble(a, {body});
    REQUIRE(factor.factorize(a.matrix(), false, Precision::float32, Cholesky::Storage::automatic));
    // the error of a direction, in the norm of A
    const std::vector<Vec4> b = random_vectors(a.matrix().size, 5);
    std::vector<Vec4> x(b.size()), exact(b.size());
    factor.solve(b.data(), x.data());
    Cholesky reference;
    REQUIRE(reference.factorize(a.matrix(), false, Precision::float64));
    reference.solve(b.data(), exact.data());
    CHECK(energy_error(a.matrix(), x, exact) < 1e-3);
    return factor.storage();
  };
  Cholesky small, factor;
  CHECK(storage_of(small, 8, 2e4) == Cholesky::Storage::full);
  CHECK(storage_of(factor, 20, 2e4) == Cholesky::Storage::half);
  CHECK(factor.nonzeros() > 500000);
  // errors relative to the soft modes are large ones to the stiff modes
  CHECK(storage_of(factor, 20, 2e9) == Cholesky::Storage::full);
  Cholesky asked;
  SymmetricAssembly a;
  assemble(a, {box(17)});
  REQUIRE(asked.factorize(a.matrix(), false, Precision::float32));
  CHECK(asked.storage() == Cholesky::Storage::full);
}
