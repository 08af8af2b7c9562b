#include <doctest/doctest.h>

#include <algorithm>

#include "matrices.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("assembly adds entries of either triangle into the lower one") {
  SymmetricAssembly a;
  assemble(a, 3, {{0, 0, 1}, {0, 2, 5}, {2, 0, 7}, {1, 1, 2}, {2, 2, 3}, {0, 0, 10}});
  const SymmetricMatrix& m = a.matrix();
  CHECK(m.size == 3);
  CHECK(m.start == std::vector<int>{0, 2, 3, 4});
  CHECK(m.row == std::vector<int>{0, 2, 1, 2});
  CHECK(m.value == std::vector<double>{11, 12, 2, 3});
}

TEST_CASE("every later pass of the assembly gives the bits of the first one") {
  const auto entries = mesh_like(7, 6, 5, 4);
  SymmetricAssembly a;
  assemble(a, 7 * 6 * 5, entries);
  const std::vector<double> first = a.matrix().value;
  for (int pass = 0; pass < 3; ++pass) {
    a.begin_values();
    for (const Triple& t : entries) a.add(t.i, t.j, t.v);
    CHECK(a.matrix().value == first);
  }
  a.begin_values();
  for (const Triple& t : entries) a.add(t.i, t.j, 2 * t.v);
  for (size_t k = 0; k < first.size(); ++k) REQUIRE(a.matrix().value[k] == 2 * first[k]);  // a power of two is exact
}

TEST_CASE("rows ascend within each column of an assembled matrix") {
  SymmetricAssembly a;
  assemble(a, 60, mesh_like(5, 4, 3, 9));
  const SymmetricMatrix& m = a.matrix();
  for (int c = 0; c < m.size; ++c) {
    REQUIRE(m.row[m.start[c]] == c);
    for (int k = m.start[c] + 1; k < m.start[c + 1]; ++k) REQUIRE(m.row[k] > m.row[k - 1]);
  }
}

TEST_CASE("the elimination order is a permutation and reduces fill") {
  SymmetricAssembly a;
  const int n = 12 * 12;
  assemble(a, n, mesh_like(12, 12, 1, 2));
  std::vector<int> order = elimination_order(a.matrix());
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int k = 0; k < n; ++k) REQUIRE(sorted[k] == k);

  // symbolic elimination by brute force
  const auto fill = [&](const std::vector<int>& sequence) {
    std::vector<std::vector<char>> joined(n, std::vector<char>(n, 0));
    const SymmetricMatrix& m = a.matrix();
    std::vector<int> place(n);
    for (int k = 0; k < n; ++k) place[sequence[k]] = k;
    for (int c = 0; c < n; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k)
        joined[place[c]][place[m.row[k]]] = joined[place[m.row[k]]][place[c]] = 1;
    long count = 0;
    for (int p = 0; p < n; ++p) {
      for (int i = p + 1; i < n; ++i) {
        if (!joined[i][p]) continue;
        ++count;
        for (int j = p + 1; j < n; ++j)
          if (joined[j][p]) joined[i][j] = 1;
      }
    }
    return count;
  };
  std::vector<int> natural(n);
  for (int k = 0; k < n; ++k) natural[k] = k;
  CHECK(fill(order) < 0.9 * fill(natural));
}
