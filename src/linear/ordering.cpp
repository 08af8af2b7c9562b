#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <numeric>

#include "linear/sparse.h"
#include "linear/symbolic.h"
#ifdef VERVE_METIS
#include <metis.h>

#include <mutex>
#endif

namespace verve {

namespace {

#ifdef VERVE_METIS
// Vertices from which nested dissection gives the faster solve; docs/performance.md has the measurement.
constexpr int nested_dissection_from = 1000;
#endif

std::vector<int> minimum_degree(const SymmetricMatrix& pattern) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  const Eigen::Map<const Sparse> lower(pattern.size, pattern.size, Eigen::Index(pattern.row.size()),
                                       pattern.start.data(), pattern.row.data(), pattern.value.data());
  const Sparse full = lower.selfadjointView<Eigen::Lower>();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> inverse;
  Eigen::AMDOrdering<int>()(full, inverse);
  return {inverse.indices().data(), inverse.indices().data() + pattern.size};
}

#ifdef VERVE_METIS
/// Empty when METIS fails.
std::vector<int> nested_dissection(const SymmetricMatrix& pattern) {
  idx_t n = pattern.size;
  std::vector<idx_t> start(n + 1, 0);
  const auto for_edges = [&](auto&& f) {
    for (int c = 0; c < n; ++c)
      for (int k = pattern.start[c]; k < pattern.start[c + 1]; ++k)
        if (pattern.row[k] != c) f(pattern.row[k], c);
  };
  for_edges([&](int a, int b) { ++start[a + 1], ++start[b + 1]; });
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<idx_t> neighbour(start.back()), next(start.begin(), start.end() - 1);
  if (neighbour.empty()) return {};
  for_edges([&](int a, int b) { neighbour[next[a]++] = b, neighbour[next[b]++] = a; });
  std::vector<idx_t> order(n), position(n);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  // METIS has one generator of random numbers for all threads: two calls at once would have other orders each time
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (METIS_NodeND(&n, start.data(), neighbour.data(), nullptr, options, order.data(), position.data()) != METIS_OK)
    return {};
  return {order.begin(), order.end()};
}
#endif

}  // namespace

std::vector<int> elimination_order(const SymmetricMatrix& pattern) {
  std::vector<int> order;
#ifdef VERVE_METIS
  if (pattern.size >= nested_dissection_from) order = nested_dissection(pattern);
#endif
  if (order.empty()) order = minimum_degree(pattern);
  return order;
}

}  // namespace verve
