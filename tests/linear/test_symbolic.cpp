// Ordering, supernodes and the cut into tasks.
#include <doctest/doctest.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <set>

#include "linear/symbolic.h"
#include "problems.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<int> identity(int n) {
  std::vector<int> out(n);
  for (int k = 0; k < n; ++k) out[k] = k;
  return out;
}

void check_permutation(std::vector<int> order, int n) {
  std::sort(order.begin(), order.end());
  CHECK(order == identity(n));
}

/// Rows of every column of the factor in the given order, by brute force.
std::vector<std::set<int>> fill(const SymmetricMatrix& m, const std::vector<int>& order) {
  std::vector<int> position(m.size);
  for (int k = 0; k < m.size; ++k) position[order[k]] = k;
  std::vector<std::set<int>> below(m.size);
  for (int c = 0; c < m.size; ++c)
    for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
      const auto [low, high] = std::minmax(position[c], position[m.row[k]]);
      if (low != high) below[low].insert(high);
    }
  for (int j = 0; j < m.size; ++j) {
    if (below[j].empty()) continue;
    const int parent = *below[j].begin();
    for (const int i : below[j])
      if (i != parent) below[parent].insert(i);
  }
  return below;
}

}  // namespace

TEST_CASE("supernodes hold every entry of the factor, and their rows those of their children") {
  std::vector<Problem> problems = small_problems();
  problems.push_back(mesh_problem("hippo", {}, 10));
  for (const Problem& problem : problems) {
    CAPTURE(problem.name);
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const SymmetricMatrix& m = assembly.matrix();
    for (const auto& order : {identity(problem.size), elimination_order(m)}) {
      const Symbolic s = analyze(m, order);
      check_permutation(s.order, problem.size);
      const auto below = fill(m, s.order);
      long nonzeros = problem.size;
      for (const auto& column : below) nonzeros += long(column.size());
      CHECK(s.nonzeros == nonzeros);  // an equivalent order: the fill is that of the order given
      int next = 0, missing = 0;
      for (size_t k = 0; k < s.nodes.size(); ++k) {
        const Supernode& node = s.nodes[k];
        REQUIRE(node.first == next);
        next += node.width;
        const auto begin = s.row.begin() + node.row_start, end = begin + node.rows;
        REQUIRE(std::is_sorted(begin, end));
        for (int j = 0; j < node.width; ++j) {
          REQUIRE(begin[j] == node.first + j);
          for (const int i : below[node.first + j]) missing += !std::binary_search(begin, end, i);
        }
        if (node.parent < 0) {
          CHECK(node.below() == 0);
          continue;
        }
        REQUIRE(node.parent > int(k));
        const Supernode& parent = s.nodes[node.parent];
        const auto parent_begin = s.row.begin() + parent.row_start;
        for (auto r = begin + node.width; r != end; ++r)
          missing += !std::binary_search(parent_begin, parent_begin + parent.rows, *r);
      }
      CHECK(next == problem.size);
      CHECK(missing == 0);
    }
  }
}

TEST_CASE("the order an analysis settles on is left alone by the next one") {
  const Problem problem = mesh_problem("hippo", {}, 10);
  SymmetricAssembly assembly;
  assemble(assembly, problem.size, problem.entries);
  const auto order = elimination_order(assembly.matrix());
  const long nonzeros = analyze(assembly.matrix(), order).nonzeros;
  // renumbered, as a model does at load
  std::vector<int> place(problem.size);
  for (int k = 0; k < problem.size; ++k) place[order[k]] = k;
  auto entries = problem.entries;
  for (Triple& t : entries) t.i = place[t.i], t.j = place[t.j];
  SymmetricAssembly renumbered;
  assemble(renumbered, problem.size, entries);
  CHECK(analyze(renumbered.matrix(), identity(problem.size)).nonzeros == nonzeros);
}

TEST_CASE("tasks are whole subtrees that touch nothing of each other, and two threads can share them evenly") {
  for (const Problem& problem : large_problems()) {
    CAPTURE(problem.name);
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const Symbolic s = analyze(assembly.matrix(), elimination_order(assembly.matrix()));
    REQUIRE(s.tasks.size() >= 2);
    std::vector<int> seen(s.nodes.size(), 0);
    for (const int k : s.top) {
      ++seen[k];
      REQUIRE(s.nodes[k].task == -1);
      // above the top there is only the top
      if (s.nodes[k].parent >= 0) REQUIRE(s.nodes[s.nodes[k].parent].task == -1);
    }
    std::vector<double> work(s.tasks.size(), 0);
    for (size_t t = 0; t < s.tasks.size(); ++t) {
      for (const int k : s.tasks[t]) {
        ++seen[k];
        const Supernode& node = s.nodes[k];
        REQUIRE(node.task == int(t));
        work[t] += double(node.width) * node.rows;
        if (node.parent < 0) continue;
        const int above = s.nodes[node.parent].task;
        REQUIRE((above == int(t) || above == -1));
      }
    }
    for (const int count : seen) REQUIRE(count == 1);
    REQUIRE(s.task_work.size() == s.tasks.size());
    // two threads get about the same: neighbouring tasks, as even as whole tasks can be dealt
    double total = 0, first_half = 0;
    for (const double w : work) total += w;
    for (size_t t = 0; t < work.size() && first_half < 0.4 * total; ++t) first_half += work[t];
    CHECK(first_half < 0.65 * total);
  }
}

TEST_CASE("nested dissection orders any graph: with single vertices, without edges, in pieces, a star") {
  const int n = 7000;  // above the size where it takes over
  std::vector<Problem> problems(4);
  for (Problem& p : problems) {
    p.size = n;
    add_masses(p.entries, n, 1);
  }
  for (int i = 0; i + 10 < n; i += 10) join(problems[1].entries, i, i + 10, 1);
  for (int i = 0; i + 1 < n; ++i)
    if (i % 100 != 99) join(problems[2].entries, i, i + 1, 1);
  for (int i = 1; i < n; ++i) join(problems[3].entries, 0, i, 1);
  for (const Problem& problem : problems) {
    SymmetricAssembly assembly;
    assemble(assembly, n, problem.entries);
    const auto order = elimination_order(assembly.matrix());
    check_permutation(order, n);
    CHECK(analyze(assembly.matrix(), order).nonzeros <= 3L * n);
  }
}

TEST_CASE("the order of a solid has hardly more fill than minimum degree, and a large one less") {
  for (const Problem& problem : {mesh_problem("box", {{"cells", {19, 18, 17}}}, 10), mesh_problem("hippo", {}, 10)}) {
    SymmetricAssembly assembly;
    assemble(assembly, problem.size, problem.entries);
    const SymmetricMatrix& m = assembly.matrix();
    const Eigen::Map<const Eigen::SparseMatrix<double>> lower(m.size, m.size, Eigen::Index(m.row.size()),
                                                              m.start.data(), m.row.data(), m.value.data());
    Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> eigen;
    eigen.compute(Eigen::SparseMatrix<double>(lower));
    const long amd = long(eigen.matrixL().nestedExpression().nonZeros());
    if (problem.size > 5000) CHECK(analyze(m, elimination_order(m)).nonzeros < 0.9 * amd);
    // a tenth: on small bodies nested dissection may have a little more fill and still the faster solve
    CHECK(analyze(m, elimination_order(m)).nonzeros <= 1.1 * amd);
  }
}
