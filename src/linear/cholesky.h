// Sparse Cholesky factor of a scalar N x N matrix, applied to many coordinates at once (PD Sec. 8: one factor serves
// x, y and z).
#pragma once

#include <memory>

#include "linear/row_kernel.h"
#include "linear/sparse.h"
#include "verve/scene.h"
#include "verve/vec.h"

namespace verve {

class Cholesky {
 public:
  /// How the values of a float factor are kept. Half precision halves the memory traffic of a solve, which is what a
  /// large one waits for; the solution then has about three digits, enough for a descent direction. `automatic`: half
  /// where the factor is large enough for that to pay and a test shows that no part of a solution is far off.
  enum class Storage { full, half, automatic };

  Cholesky();
  ~Cholesky();
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;

  /// Numeric factorisation, in double; the symbolic part is redone only when the pattern is another one than last time.
  /// `natural` says that the matrix is already in a good elimination order. False when not positive definite.
  bool factorize(const SymmetricMatrix& matrix, bool natural, Precision precision, Storage storage = Storage::full);

  /// A matrix of the same pattern is analysed already, by the other: to be called before factorize(), which looks
  /// whether it is. The two are not to be factorised at the same time, as they share the memory for that.
  void share_pattern(const Cholesky& other);

  /// x = A^-1 b for N rows of one padded vector each. x may be b.
  void solve(const Vec4* b, Vec4* x) const;
  /// Two right-hand sides in one pass through the factor: half the memory traffic.
  void solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const;
  /// The same in half the memory. Of a float factor nothing is lost: its solutions have no more digits.
  void solve(const Vec4* b, Float4* x) const;
  void solve(const Float4* b, Float4* x) const;
  void solve2(const Float4* b0, Float4* x0, const Float4* b1, Float4* x1) const;

  int size() const;
  /// Entries of the lower triangular factor.
  long nonzeros() const;
  /// Bytes held for solving, and in all: what a refactorisation works with is kept, so that it allocates nothing. (What
  /// is shared counts for each.)
  size_t factor_memory() const;
  size_t memory() const;
  /// `half` or `full`, the latter also when values were too large for half precision.
  Storage storage() const;

 private:
  struct Analysis;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
