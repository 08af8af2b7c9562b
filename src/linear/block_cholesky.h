// Systems of 3 x 3 blocks that are solved once: a Cholesky factor in float, and what is missing to double by conjugate
// gradients that it preconditions.
#pragma once

#include <memory>

#include "linear/block_assembly.h"
#include "verve/vec.h"

namespace verve {

class BlockCholesky {
 public:
  BlockCholesky();
  ~BlockCholesky();
  BlockCholesky(BlockCholesky&&) noexcept;
  BlockCholesky& operator=(BlockCholesky&&) noexcept;

  /// x = A^-1 b, the error below 1e-8 of x in the norm of A: what is left of 1/2 x.Ax - x.b above its minimum is then
  /// below round-off. Less where all vertices together resist a shift less than each alone, and without a net residual:
  /// a step moves a body as a whole as one in double does. The pattern is analysed when it is another one than last
  /// time. `natural` says that vertices are already in a good order of elimination. Where float does not suffice a
  /// factor in double is made, and at once in the solves that follow. False when A is found not to be positive
  /// definite, by a factor in double or by its diagonal; x is then undefined. Round-off in float may hide that it is
  /// not: then x is what conjugate gradients find without meeting a direction of negative curvature.
  bool solve(const BlockMatrix& matrix, bool natural, const Vec4* b, Vec4* x);
  /// Float is tried again by the next solve, whatever was before.
  void forget();

  /// Of the last solve: solves with the factor, and whether double had to decide.
  int steps() const;
  bool fell_back() const;
  size_t memory() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
