// Projective Dynamics the way it is written in a first implementation: Eigen throughout, one JacobiSVD per
// tetrahedron, SimplicialLLT with its default ordering, double precision, one thread.
#pragma once

#include <memory>

#include "bench/problem.h"

namespace verve::bench {

class Textbook final : public Baseline {
 public:
  explicit Textbook(const PdProblem& problem);
  ~Textbook() override;

  void start() override;
  void local() override;
  void global() override;
  std::vector<Vec3> positions() const override;

  /// |grad g| at any x: the judge of every other solver as well. Leaves this one's own x alone.
  double residual_at(const std::vector<Vec3>& x);
  PlainFactor factor() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// U V^T with the last column turned where that is a reflection, by JacobiSVD.
Mat3 rotation_by_jacobi_svd(const Mat3& F);

}  // namespace verve::bench
