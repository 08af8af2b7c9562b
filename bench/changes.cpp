// Short-lived changes of the matrix: a few anchors by Woodbury's formula, against factorising anew.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/hash.h"
#include "base/parallel.h"
#include "bench/cases.h"
#include "bench/run.h"
#include "bench/subject.h"
#include "linear/global_solver.h"

namespace verve::bench {

namespace {

template <class F>
double milliseconds(F&& work) {
  const double begin = now();
  work();
  return 1e3 * (now() - begin);
}

/// The solution with the changes inside the matrix, to compare with.
std::vector<Vec4> refactored(const SymmetricMatrix& matrix, std::span<const LowRankTerm> terms, Precision precision,
                             const std::vector<Vec4>& b) {
  SymmetricMatrix changed = matrix;
  for (const LowRankTerm& t : terms) changed.value[changed.start[t.a]] += t.weight;  // a column begins on the diagonal
  GlobalSolver solver;
  if (!solver.factorize(changed, true, precision)) throw std::runtime_error("changes: matrix not positive definite");
  std::vector<Vec4> x(b.size());
  solver.solve(b.data(), x.data());
  return x;
}

double relative_distance(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) difference += dot(a[i] - b[i], a[i] - b[i]), size += dot(b[i], b[i]);
  return std::sqrt(difference / size);
}

}  // namespace

std::vector<ChangesResult> measure_changes(const std::string& name, const Options& options, Pace& pace) {
  const IterationCase c = iteration_case(name);
  const Subject subject(c.scene, 0);
  const SymmetricAssembly assembly = subject.assemble();
  const SymmetricMatrix& matrix = assembly.matrix();
  const int n = matrix.size;
  std::vector<Vec4> b(n), x(n);
  for (int i = 0; i < n; ++i) b[i] = {std::sin(0.1 * i), std::cos(0.2 * i), std::sin(0.3 * i)};
  set_threads(1);

  std::vector<ChangesResult> out;
  std::vector<GlobalSolver> solvers(2);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    GlobalSolver& solver = solvers[precision == Precision::float64];
    if (!solver.factorize(matrix, true, precision)) throw std::runtime_error("changes: matrix not positive definite");
    for (const int rank : {1, 8, 32}) {
      ChangesResult& r = out.emplace_back();
      r.name = name, r.rank = rank, r.precision = precision;
      r.vertices = n, r.elements = subject.elements();
    }
  }
  int next = 0;  // anchors move on from round to round, so that no column is known from the last
  pace.begin_rounds(options.quick ? 0.3 : 2, 3, 50);
  for (int round = 1; pace.next_round(); ++round) {
    for (ChangesResult& r : out) {
      GlobalSolver& solver = solvers[r.precision == Precision::float64];
      std::vector<LowRankTerm> terms;
      for (int k = 0; k < r.rank; ++k) terms.push_back({.a = (next += 7) % n, .weight = 1e4});
      r.refactor.add(milliseconds([&] { solver.factorize(matrix, true, r.precision); }));
      solver.solve(b.data(), x.data());
      r.plain_solve.add(milliseconds([&] { solver.solve(b.data(), x.data()); }));
      LowRankUpdate::Status status{};
      r.set.add(milliseconds([&] { status = solver.set_changes(terms); }));
      if (status != LowRankUpdate::Status::done) throw std::runtime_error("changes: refused");
      solver.solve(b.data(), x.data());
      r.changed_solve.add(milliseconds([&] { solver.solve(b.data(), x.data()); }));
      if (round > 1) continue;
      r.difference = relative_distance(x, refactored(matrix, terms, r.precision, b));
      BitHash hash;
      for (const Vec4& v : x) hash.add(v.x), hash.add(v.y), hash.add(v.z);
      r.hash = hash.value();
    }
  }
  return out;
}

}  // namespace verve::bench
