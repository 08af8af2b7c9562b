// Matrices of 3 x 3 blocks: assembly, and the factor in float with conjugate gradients in double.
#include <doctest/doctest.h>

#include <hwy/highway.h>

#include <limits>

#include "base/parallel.h"
#include "block_problems.h"
#include "eigen_reference.h"
#include "linear/block_cholesky.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<double> numbers(const std::vector<Vec4>& rows) {
  std::vector<double> out;
  for (const Vec4& r : rows) out.insert(out.end(), {r.x, r.y, r.z});
  return out;
}

std::vector<double> reference(const BlockMatrix& matrix, const std::vector<Vec4>& b) {
  SymmetricMatrix rows;
  expand(matrix, rows);
  std::vector<Vec4> right(rows.size);
  for (int i = 0; i < rows.size; ++i) right[i].x = b[i / 3].xyz()[i % 3];
  std::vector<double> out;
  for (const Vec4& x : eigen_solve(rows, right)) out.push_back(x.x);
  return out;
}

/// |x - y| over |y| in the norm of the matrix.
double error(const BlockMatrix& matrix, const std::vector<double>& x, const std::vector<double>& y) {
  SymmetricMatrix m;
  expand(matrix, m);
  const auto square = [&](auto&& v) {
    double sum = 0;
    for (int c = 0; c < m.size; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k)
        sum += m.value[k] * v(c) * v(m.row[k]) * (m.row[k] == c ? 1 : 2);
    return sum;
  };
  return std::sqrt(square([&](int i) { return x[i] - y[i]; }) / square([&](int i) { return y[i]; }));
}

void check_against_eigen(const Problem& problem) {
  CAPTURE(problem.name);
  BlockAssembly assembly;
  assemble_blocks(assembly, problem);
  const auto b = random_rows(problem.size, 5);
  const std::vector<double> y = reference(assembly.matrix(), b);
  for (const bool natural : {true, false}) {
    if (natural && problem.size > 2000) continue;  // a band as wide as the mesh
    BlockCholesky solver;
    std::vector<Vec4> x(problem.size);
    REQUIRE(solver.solve(assembly.matrix(), natural, b.data(), x.data()));
    CHECK_FALSE(solver.fell_back());
    CHECK(solver.steps() <= 3);
    CHECK(error(assembly.matrix(), numbers(x), y) <= 1e-8);  // as promised
  }
}

}  // namespace

TEST_CASE("blocks of either triangle are added into the lower one, and elements side by side as one by one") {
  // three elements of two vertices each, turned both ways
  const int ends[][2] = {{0, 2}, {2, 1}, {1, 0}};
  const auto number = [](int e, int p, int k) { return 100 * e + 10 * p + k + 0.5; };
  const auto add = [&](BlockAssembly& out) {
    for (int e = 0; e < 3; ++e) {
      int p = 0;
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j <= i; ++j, ++p) {
          Mat3 block;
          for (int k = 0; k < 9; ++k) block.col[k / 3][k % 3] = number(e, p, k);
          out.add(ends[e][i], ends[e][j], i == j ? block + transpose(block) : block);
        }
    }
  };
  BlockAssembly one, side;
  for (BlockAssembly* a : {&one, &side}) a->begin_pattern(3), add(*a), a->finish_pattern(), a->begin_values();
  add(one);
  std::vector<double> lanes(3 * 9 * 4, 0.0);
  for (int e = 0; e < 3; ++e)
    for (int p = 0; p < 3; ++p)
      for (int k = 0; k < 9; ++k)
        lanes[(9 * p + k) * 4 + e] = number(e, p, k) + (p == 1 ? 0 : number(e, p, k % 3 * 3 + k / 3));
  side.add_elements(lanes.data(), 4, 3, 3);
  CHECK(one.matrix().value == side.matrix().value);
  SymmetricMatrix m;
  expand(one.matrix(), m);
  REQUIRE(m.size == 9);
  // rows of vertex 1, columns of vertex 0: element 2 has them as block (0, 1), which is turned
  for (int q = 0; q < 3; ++q)
    for (int k = m.start[q]; k < m.start[q + 1]; ++k)
      if (m.row[k] / 3 == 1) CHECK(m.value[k] == number(2, 1, 3 * (m.row[k] % 3) + q));
}

TEST_CASE("a system of blocks is solved as Eigen does, for chains, stars, forests, dense ones and meshes") {
  for (const Problem& problem : small_problems()) check_against_eigen(problem);
  check_against_eigen(mesh_problem("hippo", {}, 10));
}

TEST_CASE("every set of SIMD instructions of this machine solves systems of blocks") {
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    CAPTURE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Problem& problem : small_problems()) check_against_eigen(problem);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

TEST_CASE("systems of blocks give the same bits on 1, 2, 3 and 16 threads, and again") {
  for (const Problem& problem : {mesh_problem("hippo", {}, 10), mesh_problem("box", {{"cells", {13, 12, 11}}}, 10)}) {
    CAPTURE(problem.name);
    BlockAssembly assembly;
    assemble_blocks(assembly, problem);
    const auto b = random_rows(problem.size, 5);
    std::vector<double> first;
    for (const int threads_now : {1, 2, 3, 16}) {
      set_threads(threads_now);
      BlockCholesky solver;
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<Vec4> x(problem.size);
        REQUIRE(solver.solve(assembly.matrix(), false, b.data(), x.data()));
        if (first.empty()) first = numbers(x);
        CHECK(numbers(x) == first);
      }
    }
    set_threads(1);
  }
}

TEST_CASE("where float does not suffice a system of blocks is solved in double") {
  // Springs 1e9 times as stiff as the masses that alone hold the body: a factor in float knows nothing of those.
  const Problem problem = mesh_problem("box", {{"cells", {7, 6, 8}}}, 1e9);
  BlockAssembly assembly;
  assemble_plain_blocks(assembly, problem);
  const auto b = random_rows(problem.size, 5);
  BlockCholesky solver;
  std::vector<Vec4> x(problem.size);
  REQUIRE(solver.solve(assembly.matrix(), false, b.data(), x.data()));
  CHECK(solver.fell_back());
  // the condition is some 1e11, and Eigen's own error that of double times it
  CHECK(error(assembly.matrix(), numbers(x), reference(assembly.matrix(), b)) <= 1e-5);
}

TEST_CASE(
    "systems of blocks that are not positive definite are refused, clearly so or hardly, and the next one works") {
  const Problem problem = mesh_problem("box", {{"cells", {5, 4, 6}}}, 10);
  const auto b = random_rows(problem.size, 5);
  std::vector<Vec4> x(problem.size);
  BlockCholesky solver;
  BlockAssembly good;
  assemble_blocks(good, problem);
  REQUIRE(solver.solve(good.matrix(), false, b.data(), x.data()));
  const std::vector<double> before = numbers(x);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const int vertex : {0, problem.size / 2, problem.size - 1}) {
    for (const double spoilt : {-1e4, -infinity, infinity, std::nan("")}) {
      BlockAssembly bad;
      assemble_blocks(bad, problem, vertex, Mat3::diagonal({0, spoilt, 0}));
      CHECK_FALSE(solver.solve(bad.matrix(), false, b.data(), x.data()));
    }
  }
  // a chain of two without masses is singular; what decides is 1e-9 of its stiffness, which float does not see
  for (const double left : {1e-9, -1e-9}) {
    BlockAssembly chain;
    const auto add = [&] { chain.add(0, 0, 1.0), chain.add(1, 0, -1.0), chain.add(1, 1, 1 + left); };
    chain.begin_pattern(2), add(), chain.finish_pattern(), chain.begin_values(), add();
    CHECK(solver.solve(chain.matrix(), true, b.data(), x.data()) == (left > 0));
    if (left > 0) CHECK(error(chain.matrix(), numbers({x[0], x[1]}), reference(chain.matrix(), {b[0], b[1]})) <= 1e-5);
  }
  REQUIRE(solver.solve(good.matrix(), false, b.data(), x.data()));
  CHECK(numbers(x) == before);
}

TEST_CASE("what a solution of a stiff system of blocks leaves over has no net part") {
  // The masses, which alone resist a shift, are 1e-6 of what else there is: of an error of 1e-8 in the norm of the
  // matrix, a shift could be as large as that.
  const Problem problem = mesh_problem("box", {{"cells", {7, 6, 8}}}, 1e5);
  BlockAssembly assembly;
  assemble_plain_blocks(assembly, problem);
  const auto y = random_rows(problem.size, 5);
  std::vector<Vec4> b(problem.size), x(problem.size);
  for (const Triple& t : problem.entries) {
    b[t.i] += y[t.j] * t.v;
    if (t.i != t.j) b[t.j] += y[t.i] * t.v;
  }
  BlockCholesky solver;
  REQUIRE(solver.solve(assembly.matrix(), false, b.data(), x.data()));
  CHECK_FALSE(solver.fell_back());
  Vec3 net{};
  for (int i = 0; i < problem.size; ++i) net += x[i].xyz() - y[i].xyz();
  MESSAGE("shifted by ", norm(net) / problem.size);
  // round-off of the right-hand side: 1e5 x 1e-16 for each row, and a margin of ten
  CHECK(norm(net) / problem.size <= 1e-10);
}
