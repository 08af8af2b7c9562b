// Low-rank changes against a factor of the changed matrix.
#include <doctest/doctest.h>

#include "base/parallel.h"
#include "count_allocations.h"
#include "linear/cholesky.h"
#include "linear/eigen_reference.h"
#include "linear/low_rank.h"
#include "linear/mesh_matrices.h"

using namespace verve;
using namespace verve::test;
using Status = LowRankUpdate::Status;
using Terms = std::vector<LowRankTerm>;

namespace {

/// A body's matrix with terms of its own that can be taken out again, and its factor.
struct Base {
  SymmetricAssembly assembly;
  Cholesky factor;
  LowRankUpdate update;

  explicit Base(const Body& body, Precision precision = Precision::float64, const Terms& contained = {}) {
    assembly.begin_pattern(int(body.mesh.vertices.size()));
    add_body(assembly, body);
    add(assembly, contained);
    assembly.finish_pattern();
    REQUIRE(factor.factorize(assembly.matrix(), false, precision));
    update.reset(size(), precision, precision == Precision::float64 ? 1e-13 : 1e-6);
  }
  int size() const { return assembly.matrix().size; }
  static void add(SymmetricAssembly& out, const Terms& terms) {
    for (const LowRankTerm& t : terms) {
      out.add(t.a, t.a, t.weight);
      if (t.b < 0) continue;
      out.add(t.b, t.b, t.weight);
      out.add(t.a, t.b, -t.weight);
    }
  }
  LowRankUpdate::BaseSolve solver() const {
    return [this](Vec4* x0, Vec4* x1) {
      if (x1) {
        factor.solve2(x0, x0, x1, x1);
      } else {
        factor.solve(x0, x0);
      }
    };
  }
  std::vector<Vec4> solve(const std::vector<Vec4>& b) const {
    std::vector<Vec4> x(b.size());
    factor.solve(b.data(), x.data());
    update.correct(x.data());
    return x;
  }
  /// The changed matrix, written out.
  SymmetricMatrix changed(const Body& body, const Terms& contained, const Terms& terms) const {
    SymmetricAssembly out;
    out.begin_pattern(size());
    add_body(out, body);
    add(out, contained);
    add(out, terms);
    out.finish_pattern();
    return out.matrix();
  }
};

double difference(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  std::vector<Vec4> d(a.size());
  for (size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return length(d) / length(b);
}

}  // namespace

TEST_CASE("low-rank changes equal the factor of the changed matrix: anchors and links come, go and change") {
  for (const std::string name : {"box", "hippo", "cloth"}) {
    CAPTURE(name);
    const Body body = name == "box" ? box(6) : generated(name);
    Base base(body);
    const int n = base.size();
    const std::vector<Vec4> b = random_vectors(n, 1);
    const auto pick = [&](int k) { return int(random_bits(7, k) % std::uint64_t(n)); };
    // as stiff as the body itself, much softer, much stiffer
    const Terms stages[] = {
        {{.a = pick(0), .weight = 1e4}},
        {{.a = pick(0), .weight = 1e4}, {.a = pick(1), .weight = 1}, {.a = pick(2), .weight = 1e7}},
        {{.a = pick(1), .weight = 2e4}, {.a = pick(2), .weight = 1e7}, {.a = pick(3), .b = pick(4), .weight = 1e5}},
        {{.a = pick(4), .b = pick(3), .weight = 10}, {.a = pick(3), .weight = 1e3}, {.a = pick(4), .weight = 1e3}},
        {},
        {{.a = pick(0), .weight = 5}, {.a = pick(0), .weight = 6}, {.a = pick(5), .weight = 0}},  // twice, and nothing
    };
    for (const Terms& terms : stages) {
      REQUIRE(base.update.set(terms, base.solver()) == Status::done);
      const SymmetricMatrix m = base.changed(body, {}, terms);
      // A' is up to 1e7/1e2 worse conditioned than A; |x| is what A' allows, so the norm of A' is the one to compare in
      CHECK(energy_error(m, base.solve(b), eigen_solve(m, b)) <= 1e-9);
    }
    CHECK(base.update.rank() == 2);
    CHECK(base.update.columns_solved() == 6);  // vertices 0 to 4 and one link: each once
  }
}

TEST_CASE("many low-rank changes up to the limit, and one more") {
  const Body body = box(6);
  Base base(body);
  const std::vector<Vec4> b = random_vectors(base.size(), 2);
  for (const int rank : {4, 7, 16, LowRankUpdate::rank_limit}) {
    CAPTURE(rank);
    Terms terms;
    for (int k = 0; k < rank; ++k)
      terms.push_back({.a = 5 * k, .b = k % 2 ? 5 * k + 3 : -1, .weight = 1e4 * (1 + k % 5)});
    REQUIRE(base.update.set(terms, base.solver()) == Status::done);
    CHECK(base.update.rank() == rank);
    const SymmetricMatrix m = base.changed(body, {}, terms);
    CHECK(difference(base.solve(b), eigen_solve(m, b)) <= 1e-10);  // round-off times a condition number of 1e3
  }
  const std::vector<Vec4> before = base.solve(b);
  CHECK(base.update.set(Terms(LowRankUpdate::rank_limit + 1, {.a = 3, .weight = 1}), base.solver()) ==
        Status::too_many);
  CHECK(same_bits(base.solve(b), before));
}

TEST_CASE("columns are kept while others come and go, and the oldest make room") {
  const Body body = box(6);
  Base base(body);
  const std::vector<Vec4> b = random_vectors(base.size(), 3);
  for (int k = 0; k < 100; ++k) {
    const Terms terms = {{.a = 0, .weight = 1e4}, {.a = 1 + k, .weight = 2e4}};
    REQUIRE(base.update.set(terms, base.solver()) == Status::done);
    const SymmetricMatrix m = base.changed(body, {}, terms);
    if (k % 33 == 0) CHECK(difference(base.solve(b), eigen_solve(m, b)) <= 1e-10);
  }
  CHECK(base.update.columns_solved() == 101);
  CHECK(base.update.columns() <= 2 * LowRankUpdate::rank_limit);
  REQUIRE(base.update.set(Terms{{.a = 100, .weight = 1}, {.a = 0, .weight = 1}}, base.solver()) == Status::done);
  CHECK(base.update.columns_solved() == 101);
}

TEST_CASE("a negative weight takes a term out that the matrix contains") {
  const Body body = box(6);
  const Terms contained = {{.a = 0, .weight = 3e4}, {.a = 40, .b = 41, .weight = 1e5}, {.a = 100, .weight = 2e4}};
  Base base(body, Precision::float64, contained);
  const std::vector<Vec4> b = random_vectors(base.size(), 4);
  const Terms stages[] = {
      {{.a = 0, .weight = -3e4}},
      {{.a = 0, .weight = -3e4}, {.a = 41, .b = 40, .weight = -1e5}, {.a = 100, .weight = -1e4}},
      // moved from one vertex to another
      {{.a = 100, .weight = -2e4}, {.a = 101, .weight = 2e4}, {.a = 40, .b = 41, .weight = -1e5}},
  };
  for (const Terms& terms : stages) {
    REQUIRE(base.update.set(terms, base.solver()) == Status::done);
    const SymmetricMatrix m = base.changed(body, contained, terms);
    CHECK(difference(base.solve(b), eigen_solve(m, b)) <= 1e-9);
  }
}

TEST_CASE("a change that would not leave the matrix positive definite is refused, and the last one stays") {
  const Body body = box(6);
  Base base(body);
  const std::vector<Vec4> b = random_vectors(base.size(), 5);
  const Terms good = {{.a = 7, .weight = 1e4}, {.a = 3, .weight = -1}};
  REQUIRE(base.update.set(good, base.solver()) == Status::done);
  const std::vector<Vec4> before = base.solve(b);
  // the most that can be taken away at a vertex is 1/(A^-1)_vv
  std::vector<Vec4> unit(base.size());
  unit[50].x = 1;
  base.factor.solve(unit.data(), unit.data());
  const double most = 1 / unit[50].x;
  for (const Terms& bad :
       {Terms{{.a = 50, .weight = -1.0001 * most}}, Terms{{.a = 7, .weight = 1e4}, {.a = 50, .weight = -1e9}},
        // each alone is possible
        Terms{{.a = 50, .weight = -0.7 * most}, {.a = 50, .weight = -0.7 * most}},
        Terms{{.a = 50, .weight = -most * (1 - 1e-13)}}}) {
    CHECK(base.update.set(bad, base.solver()) == Status::not_positive_definite);
    CHECK(base.update.rank() == 2);
    CHECK(same_bits(base.solve(b), before));
  }
  // columns of refused changes never push out those in force, however many there were
  for (int v = 100; v < 200; ++v)
    REQUIRE(base.update.set(Terms{{.a = v, .weight = -1e9}}, base.solver()) == Status::not_positive_definite);
  CHECK(same_bits(base.solve(b), before));
  const Terms near = {{.a = 50, .weight = -0.999 * most}};
  REQUIRE(base.update.set(near, base.solver()) == Status::done);
  const SymmetricMatrix m = base.changed(body, {}, near);
  CHECK(difference(base.solve(b), eigen_solve(m, b)) <= 1e-8);  // A' is 1000 times worse conditioned
  // with support elsewhere more can go
  REQUIRE(base.update.set(Terms{{.a = 51, .weight = 1e6}, {.a = 50, .weight = -1.0001 * most}}, base.solver()) ==
          Status::done);
}

TEST_CASE("low-rank changes of a float factor are good to float precision") {
  const Body body = generated("hippo");
  Base base(body, Precision::float32);
  const std::vector<Vec4> b = random_vectors(base.size(), 6);
  Terms terms;
  for (int k = 0; k < 16; ++k) terms.push_back({.a = 100 * k, .weight = 1e4 * (k + 1)});
  REQUIRE(base.update.set(terms, base.solver()) == Status::done);
  const SymmetricMatrix m = base.changed(body, {}, terms);
  const double error = difference(base.solve(b), eigen_solve(m, b));
  CHECK(error <= 1e-4);  // as the float factor itself: 6e-8 times a condition number of 1e3
  CHECK(error >= 1e-9);
}

TEST_CASE("low-rank changes give the same bits on 1, 2, 3 and 16 threads") {
  const Body body = box(18);
  const std::vector<Vec4> b = random_vectors(int(body.mesh.vertices.size()), 7);
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    std::vector<Vec4> first;
    for (const int count : {1, 2, 3, 16}) {
      set_threads(count);
      Base base(body, precision);
      Terms terms;
      for (int k = 0; k < 13; ++k) terms.push_back({.a = 50 * k, .b = k % 3 ? -1 : 50 * k + 1, .weight = 1e4});
      REQUIRE(base.update.set(terms, base.solver()) == Status::done);
      const std::vector<Vec4> x = base.solve(b);
      if (first.empty()) first = x;
      CHECK(same_bits(x, first));
    }
  }
  set_threads(1);
}

TEST_CASE("no low-rank change or solve allocates once its columns exist") {
  const Body body = box(8);
  Base base(body);
  const Terms sets[] = {{{.a = 0, .weight = 1e4}, {.a = 1, .b = 5, .weight = 1e4}},
                        {{.a = 0, .weight = 2e4}, {.a = 7, .weight = 1e4}},
                        {{.a = 7, .weight = -1}}};
  const LowRankUpdate::BaseSolve solver = base.solver();
  for (const Terms& terms : sets) REQUIRE(base.update.set(terms, solver) == Status::done);
  std::vector<Vec4> x = random_vectors(base.size(), 8);
  const long before = allocations();
  for (const Terms& terms : sets) {
    base.update.set(terms, solver);
    base.update.correct(x.data());
  }
  // after a new factor of the same size the storage of the columns is used again
  base.update.reset(base.size(), Precision::float64, 1e-13);
  for (const Terms& terms : sets) base.update.set(terms, solver);
  CHECK(allocations() == before);
}
