// L D L^T of sparse symmetric matrices that need not be positive definite: KKT systems and their Schur complements,
// with one scalar right-hand side.
#pragma once

#include <cstddef>
#include <vector>

#include "linear/sparse.h"

namespace verve {

/// Row by row along the elimination tree (Davis 2005, "Algorithm 849: a concise sparse Cholesky factorization
/// package"). There is no pivoting: quasi-definite matrices [H J^T; J -S] with H, S > 0 have a factor in any order
/// (Vanderbei 1995, "Symmetric quasidefinite matrices"), those with S = 0 where every multiplier comes after the
/// unknowns that its row of J touches. Rows that depend on earlier ones are left out and named.
class Ldl {
 public:
  /// Symbolic factorisation; order[k] is the row eliminated k-th.
  void analyze(const SymmetricMatrix& pattern, const std::vector<int>& order);
  /// A pivot below `cutoff` times the terms it is the difference of counts as zero: the row depends on those before it,
  /// and its unknown is 0 in every solution. False when something is not finite. Allocates nothing.
  bool factorize(const SymmetricMatrix& matrix, double cutoff);
  /// Rows that were left out.
  const std::vector<int>& dependent() const { return dependent_; }
  /// b becomes A^-1 b.
  void solve(double* b) const;

  int size() const { return int(order_.size()); }
  long nonzeros() const { return long(row_.size()); }

 private:
  std::vector<int> order_;
  std::vector<int> entry_start_, entry_column_, entry_slot_, diagonal_slot_;  // rows of the permuted lower triangle
  std::vector<int> parent_, start_, row_;                                     // L by columns
  std::vector<int> run_;  // columns from this one on, each with the rows of the last but for itself
  std::vector<double> value_, inverse_;                                       // of L and of D
  std::vector<int> filled_, flag_, path_, dependent_;
  mutable std::vector<double> work_;
};

}  // namespace verve
