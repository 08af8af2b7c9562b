// Matrices of 3 x 3 blocks: assembly, and the factor in float with conjugate gradients in double.
#include <doctest/doctest.h>

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/parallel.h"
#include "block_problems.h"
#include "eigen_reference.h"
#include "linear/block_cholesky.h"
#include "linear/block_kernels.h"
#include "linear/cholesky.h"
#include "linear/symbolic.h"

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

TEST_CASE("indefinite systems of blocks with a positive diagonal are refused, in a subtree and at the top") {
  const Problem problem = mesh_problem("box", {{"cells", {13, 12, 11}}}, 1);
  const auto b = random_rows(problem.size, 5);
  std::vector<Vec4> x(problem.size);
  BlockAssembly good;
  assemble_blocks(good, problem);
  const SymmetricMatrix pattern = good.matrix().pattern();
  const Symbolic symbolic = analyze(pattern, elimination_order(pattern), Purpose::refactoring);
  std::vector<int> position(problem.size), task(problem.size);
  for (int k = 0; k < problem.size; ++k) position[symbolic.order[k]] = k;
  for (const Supernode& node : symbolic.nodes) std::fill_n(task.begin() + node.first, node.width, node.task);

  BlockCholesky solver;
  for (const bool at_top : {false, true}) {
    CAPTURE(at_top);
    // the first pair of neighbours whose pivot is there becomes [1 -2; -2 1], all else the identity
    const auto pair = std::find_if(problem.entries.begin(), problem.entries.end(), [&](const Triple& t) {
      return t.i != t.j && (task[std::max(position[t.i], position[t.j])] < 0) == at_top;
    });
    REQUIRE(pair != problem.entries.end());
    BlockAssembly assembly;
    const auto add = [&] {
      for (const Triple& t : problem.entries) assembly.add(t.i, t.j, 0.0);
      for (int v = 0; v < problem.size; ++v) assembly.add(v, v, 1.0);
      assembly.add(pair->i, pair->j, -2.0);
    };
    assembly.begin_pattern(problem.size), add(), assembly.finish_pattern(), assembly.begin_values(), add();
    for (const int threads_now : {1, 3}) {
      set_threads(threads_now);
      CHECK_FALSE(solver.solve(assembly.matrix(), false, b.data(), x.data()));
      CHECK(solver.fell_back());  // double has decided
    }
    set_threads(1);
  }
  // what was refused says nothing of the next one
  REQUIRE(solver.solve(good.matrix(), false, b.data(), x.data()));
  CHECK_FALSE(solver.fell_back());
}

TEST_CASE("stiff bodies held at a point are solved wherever double can, as exactly as promised or as double does") {
  for (const auto& cells : {std::array{5, 5, 5}, std::array{24, 3, 3}}) {
    for (double stiffness = 1e2; stiffness < 2e12; stiffness *= 10) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        CAPTURE(cells[0]);
        CAPTURE(stiffness);
        CAPTURE(seed);
        BlockAssembly assembly;
        assemble_lattice(assembly, cells, stiffness, stiffness, seed);
        const BlockMatrix& m = assembly.matrix();
        const auto y = random_rows(m.size, seed + 10);
        std::vector<Vec4> b(m.size), x(m.size);
        block_kernels().multiply(m, y.data(), b.data());

        SymmetricMatrix rows;
        expand(m, rows);
        std::vector<Vec4> right(rows.size), in_double(rows.size);
        for (int i = 0; i < rows.size; ++i) right[i].x = b[i / 3].xyz()[i % 3];
        Cholesky factor;
        const bool definite = factor.factorize(rows, false, Precision::float64);
        BlockCholesky solver;
        REQUIRE(solver.solve(m, false, b.data(), x.data()) == definite);
        if (!definite) continue;
        CHECK(solver.steps() <= 16);
        if (stiffness < 2e6) CHECK_FALSE(solver.fell_back());
        factor.solve(right.data(), in_double.data());
        std::vector<double> reference;
        for (const Vec4& v : in_double) reference.push_back(v.x);
        const double best = error(m, reference, numbers(y));
        CHECK(error(m, numbers(x), numbers(y)) <= std::max(1e-8, 4 * best));
        // soft motions, little of that norm, have their digits too, or as many as double gives but for two
        const auto off = [&](const std::vector<double>& u) {
          double sum = 0, all = 0;
          const std::vector<double> v = numbers(y);
          for (size_t i = 0; i < v.size(); ++i) sum += (u[i] - v[i]) * (u[i] - v[i]), all += v[i] * v[i];
          return std::sqrt(sum / all);
        };
        CHECK(off(numbers(x)) <= std::max(1e-6, 100 * off(reference)));
      }
    }
  }
}

TEST_CASE("after a system that float cannot solve the next ones are solved in double at once, until told otherwise") {
  BlockAssembly stiff, soft;
  assemble_lattice(stiff, {5, 5, 5}, 1e10, 1e10, 1);
  assemble_lattice(soft, {5, 5, 5}, 1e2, 1e2, 1);
  const auto b = random_rows(stiff.matrix().size, 5);
  std::vector<Vec4> x(b.size());
  BlockCholesky solver;
  const auto in_double = [&](const BlockAssembly& a) {
    REQUIRE(solver.solve(a.matrix(), false, b.data(), x.data()));
    return solver.fell_back();
  };
  CHECK_FALSE(in_double(soft));
  const std::vector<double> before = numbers(x);
  const size_t memory = solver.memory();
  CHECK(in_double(stiff));
  // the matrix by rows alone is about as much
  CHECK(solver.memory() - memory > stiff.matrix().value.size() * sizeof(double));
  CHECK(in_double(soft));
  CHECK(solver.steps() == 0);
  solver.forget();
  CHECK_FALSE(in_double(soft));
  CHECK(numbers(x) == before);
  CHECK(in_double(stiff));
  int count = 0;
  while (count < 100 && in_double(soft)) ++count;
  CHECK(count == 16);
}

TEST_CASE("a free body that moves as a whole has the digits of that motion") {
  // The masses are about 1e-4 of the diagonal, and the bound for the norm of an error falls by the root of that.
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    BlockAssembly assembly;
    assemble_lattice(assembly, {5, 5, 5}, 1e3, 0, seed);
    const BlockMatrix& m = assembly.matrix();
    auto y = random_rows(m.size, seed + 10);
    for (Vec4& v : y) v = Vec4(1, 2, 3) + v * 1e-3;
    std::vector<Vec4> b(m.size), x(m.size);
    block_kernels().multiply(m, y.data(), b.data());
    BlockCholesky solver;
    REQUIRE(solver.solve(m, false, b.data(), x.data()));
    CHECK_FALSE(solver.fell_back());
    CHECK(error(m, numbers(x), numbers(y)) <= 1e-10);
  }
}

TEST_CASE("a pivot that is all round-off leaves a system of blocks to double at once") {
  // exact in float: a chain of two of which this is left
  for (const double left : {std::ldexp(1.0, -22), std::ldexp(1.0, -18)}) {
    BlockAssembly chain;
    const auto add = [&] { chain.add(0, 0, 1.0), chain.add(1, 0, -1.0), chain.add(1, 1, 1 + left); };
    chain.begin_pattern(2), add(), chain.finish_pattern(), chain.begin_values(), add();
    const auto b = random_rows(2, 5);
    std::vector<Vec4> x(2);
    BlockCholesky solver;
    REQUIRE(solver.solve(chain.matrix(), true, b.data(), x.data()));
    CHECK(solver.fell_back() == (left < 1e-6));
    CHECK((solver.steps() == 0) == (left < 1e-6));
  }
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
