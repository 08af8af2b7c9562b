// Eigen's sparse Cholesky in double: what every solver is compared with.
#pragma once

#include <Eigen/SparseCholesky>
#include <stdexcept>
#include <vector>

#include "linear/sparse.h"
#include "verve/vec.h"

namespace verve::test {

inline std::vector<Vec4> eigen_solve(const SymmetricMatrix& m, const std::vector<Vec4>& b) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  const Eigen::Map<const Sparse> lower(m.size, m.size, Eigen::Index(m.row.size()), m.start.data(), m.row.data(),
                                       m.value.data());
  Eigen::SimplicialLLT<Sparse, Eigen::Lower> factor{Sparse(lower)};
  if (factor.info() != Eigen::Success) throw std::runtime_error("the reference is not positive definite");
  Eigen::MatrixXd rhs(m.size, 3);
  for (int i = 0; i < m.size; ++i) rhs.row(i) << b[i].x, b[i].y, b[i].z;
  const Eigen::MatrixXd solution = factor.solve(rhs);
  std::vector<Vec4> out(m.size);
  for (int i = 0; i < m.size; ++i) out[i] = {solution(i, 0), solution(i, 1), solution(i, 2)};
  return out;
}

}  // namespace verve::test
