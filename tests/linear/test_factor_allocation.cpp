// Refactorising and solving ask for no memory. A program of its own: it replaces operator new.
#include <doctest/doctest.h>

#include "base/parallel.h"
#include "block_problems.h"
#include "count_allocations.h"
#include "linear/block_cholesky.h"
#include "linear/cholesky.h"
#include "problems.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("refactorising and solving allocate nothing, in any precision and on any number of threads") {
  for (const Problem& problem : {mesh_problem("hippo", {}, 10), mesh_problem("box", {{"cells", {19, 18, 17}}}, 10)}) {
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const auto b = random_rows(problem.size, 5);
    std::vector<Vec4> x(problem.size), y(problem.size);
    for (const int threads_now : {1, 3}) {
      set_threads(threads_now);
      for (const Precision precision : {Precision::float64, Precision::float32}) {
        for (const auto storage : {Cholesky::Storage::full, Cholesky::Storage::half}) {
          Cholesky factor;
          REQUIRE(factor.factorize(assembly.matrix(), false, precision, storage));
          factor.solve(b.data(), x.data());  // the threads are started
          assembly.begin_values();
          for (const Triple& t : problem.entries) assembly.add(t.i, t.j, 2 * t.v);
          const long before = allocations();
          const bool ok = factor.factorize(assembly.matrix(), false, precision, storage);
          factor.solve(b.data(), x.data());
          factor.solve2(b.data(), x.data(), b.data(), y.data());
          const long after = allocations();
          CHECK(ok);
          CHECK(after - before == 0);
        }
      }
    }
    set_threads(1);
  }
}

TEST_CASE("solving systems of blocks again allocates nothing, on any number of threads, in float and in double") {
  for (const double stiffness : {10.0, 1e9}) {
    const Problem problem = mesh_problem("box", {{"cells", {13, 12, 11}}}, stiffness);
    BlockAssembly assembly;
    assemble_plain_blocks(assembly, problem);
    const auto b = random_rows(problem.size, 5);
    std::vector<Vec4> x(problem.size);
    for (const int threads_now : {1, 3}) {
      set_threads(threads_now);
      BlockCholesky solver;
      REQUIRE(solver.solve(assembly.matrix(), false, b.data(), x.data()));
      REQUIRE(solver.fell_back() == (stiffness > 1e3));
      const long before = allocations();
      const bool ok = solver.solve(assembly.matrix(), false, b.data(), x.data());
      const long after = allocations();
      CHECK(ok);
      CHECK(after - before == 0);
    }
    set_threads(1);
  }
}
