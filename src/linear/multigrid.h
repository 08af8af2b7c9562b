// Conjugate gradients with an algebraic multigrid preconditioner: for matrices whose Cholesky factor would be too
// large. Takes the same scalar matrix and padded right-hand sides as Cholesky; x, y and z are three systems solved side
// by side.
#pragma once

#include <memory>

#include "linear/sparse.h"
#include "verve/vec.h"

namespace verve {

class Multigrid {
 public:
  struct Outcome {
    int iterations = 0;
    double error = 0;        // estimate of |x - A^-1 b|_A / |A^-1 b|_A, the largest of the three
    bool converged = false;  // also false when the matrix turns out not to be positive definite
  };

  Multigrid();
  ~Multigrid();
  Multigrid(Multigrid&&) noexcept;
  Multigrid& operator=(Multigrid&&) noexcept;

  /// Builds the levels. The same pattern (by address and size) keeps aggregates and patterns and recomputes values
  /// only, unless the new values couple other vertices than the old ones did. False when a pivot shows that the matrix
  /// is not positive definite; not every such matrix is found here, the rest is found by solve.
  bool set_up(const SymmetricMatrix& matrix);

  /// x = A^-1 b to `tolerance`; x may be b. A warm start takes x as the first guess.
  Outcome solve(const Vec4* b, Vec4* x, bool warm = false) const;

  /// Relative error in the norm of A. An inner product c.A^-1 b is then wrong by at most tolerance |c| |b| in the norm
  /// of A^-1: the measure that the conserved quantities of a step go by.
  double tolerance = 1e-10;
  int iteration_limit = 200;

  int size() const;
  int levels() const;
  int level_size(int level) const;
  long nonzeros() const;  // of all levels' matrices and transfers
  size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
