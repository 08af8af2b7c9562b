// Apart from the tests, which take longer to compile with Eigen's decomposition than without.
#include "matrices.h"

#include <Eigen/LU>
#include <Eigen/SVD>

namespace verve::test {

double best_trace(const Mat3& f) {
  Eigen::Matrix3d m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = f(i, j);
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::Vector3d s = svd.singularValues();
  const double sign = svd.matrixU().determinant() * svd.matrixV().determinant() < 0 ? -1 : 1;
  return s(0) + s(1) + sign * s(2);
}

}  // namespace verve::test
