// Refactorising and solving ask for no memory. A program of its own: it replaces operator new.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/parallel.h"
#include "linear/cholesky.h"
#include "problems.h"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(size ? size : 1);
  } else if (posix_memalign(&memory, alignment, size ? size : 1) != 0) {
    memory = nullptr;
  }
  if (!memory) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new[](std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, std::size_t(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return counted(size, std::size_t(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

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
          const long before = allocations;
          const bool ok = factor.factorize(assembly.matrix(), false, precision, storage);
          factor.solve(b.data(), x.data());
          factor.solve2(b.data(), x.data(), b.data(), y.data());
          const long after = allocations;
          CHECK(ok);
          CHECK(after - before == 0);
        }
      }
    }
    set_threads(1);
  }
}
