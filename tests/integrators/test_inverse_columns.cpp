// Columns of A^-1 between vertices that touch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "integrators/inverse_columns.h"
#include "linear/global_solver.h"
#include "linear/sparse.h"

using namespace verve;

TEST_CASE("columns of A^-1 are those of the solver, without numbers that only slow processors down") {
  // A chain whose masses outweigh its springs a thousand times: A^-1 falls by as much from one vertex to the next,
  //   a = (1 - sqrt(1 - 4 q^2)) / 2q with q = 1 / (1000 + 2),
  // and is below what a float has digits for after a dozen of them.
  constexpr int rows = 60;
  const double heavy = 1000;
  SymmetricAssembly assembly;
  assembly.begin_pattern(rows);
  for (int i = 0; i < rows; ++i) assembly.add(i, i, heavy);
  for (int i = 0; i + 1 < rows; ++i) assembly.add(i, i, 1), assembly.add(i + 1, i + 1, 1), assembly.add(i + 1, i, -1);
  assembly.finish_pattern();
  GlobalSolver solver;
  REQUIRE(solver.factorize(assembly.matrix(), false, Precision::float64));
  InverseColumns columns;
  columns.bind(solver, rows, 0);
  const int wanted[] = {30, 3, 57, 30};
  columns.make(wanted);
  const double q = 1 / (heavy + 2), ratio = (1 - std::sqrt(1 - 4 * q * q)) / (2 * q);
  for (const int middle : {30, 3, 57}) {
    CAPTURE(middle);
    const float* const column = columns.of(middle);
    const double top = column[middle];
    int kept = 0;
    for (int i = 0; i < rows; ++i) {
      const double expected = top * std::pow(ratio, std::abs(i - middle));
      // next to its ends the chain is lighter by a thousandth; and 1e-14 of the vertex itself is far below the
      // round-off of a sum of floats
      CHECK(std::abs(column[i] - expected) <= std::max((middle == 30 ? 1e-6 : 2e-3) * expected, 1e-14 * top));
      CHECK((column[i] == 0 || column[i] > 1e-15 * top));
      CHECK((column[i] == 0 || column[i] >= std::numeric_limits<float>::min()));
      kept += column[i] != 0;
    }
    CHECK(kept >= 5);  // the vertex and what is next to it
    CHECK(kept <= 11);
  }
}
