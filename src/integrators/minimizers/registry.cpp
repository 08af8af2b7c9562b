#include "integrators/minimizers/minimizer.h"

namespace verve {

const MinimizerEntry* find_minimizer(std::string_view name) {
  static constexpr MinimizerEntry entries[] = {
      {"newton", make_newton},
      {"lbfgs", make_lbfgs},
      {"admm", make_admm},
      {"jacobi", make_jacobi},
      {"gauss_seidel", make_gauss_seidel},
      {"vbd", make_vbd},
  };
  for (const MinimizerEntry& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

double dot(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  // four sums side by side: one alone would wait for each addition
  double sum[4] = {};
  const size_t n = a.size();
  for (size_t i = 0; i < n; ++i)
    sum[0] += a[i].x * b[i].x, sum[1] += a[i].y * b[i].y, sum[2] += a[i].z * b[i].z, sum[3] += a[i].w * b[i].w;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace verve
