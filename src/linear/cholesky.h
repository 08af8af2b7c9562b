// Sparse Cholesky factor of a scalar N x N matrix, applied to many coordinates at once (PD Sec. 8: one factor serves
// x, y and z).
#pragma once

#include <memory>

#include "linear/sparse.h"
#include "verve/scene.h"
#include "verve/vec.h"

namespace verve {

class Cholesky {
 public:
  Cholesky();
  ~Cholesky();
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;

  /// Numeric factorisation; the symbolic part is redone only when the pattern's address or size changes.
  /// `natural` says that the matrix is already in a good elimination order. False when not positive definite.
  bool factorize(const SymmetricMatrix& matrix, bool natural, Precision precision);

  /// x = A^-1 b for N rows of one padded vector each. x may be b.
  void solve(const Vec4* b, Vec4* x) const;
  /// Two right-hand sides in one pass through the factor: half the memory traffic.
  void solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const;

  int size() const;
  long nonzeros() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
