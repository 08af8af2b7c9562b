// The matrix of a step with what touches: A_c = A + sum k j j^T, used through the factor of A alone.
#pragma once

#include <functional>
#include <vector>

#include "integrators/conservation.h"
#include "integrators/contacts.h"
#include "linear/front_kernel.h"

namespace verve {

/// By Woodbury's formula, with J the rows j and K their stiffnesses,
///   A_c^-1 = A^-1 - A^-1 J^T (K^-1 + S)^-1 J A^-1,   S = J A^-1 J^T.
/// S is made of entries of A^-1 between vertices that touch. Their columns are kept as long as A is what it was; they
/// come three to a solve.
class ContactMetric {
 public:
  using Solve = std::function<void(const std::vector<Vec4>&, std::vector<Vec4>&)>;

  /// A is another one: forget its columns.
  void reset(int rows);
  /// The rows as they are now. Few of them make a dense factor; many are solved for by conjugate gradients.
  void set(const std::vector<ContactRow>& rows, const Solve& solve);
  bool empty() const { return rows_.empty(); }
  int size() const { return int(rows_.size()); }
  const std::vector<ContactRow>& rows() const { return rows_; }

  /// J x
  void gather(const std::vector<Vec4>& x, std::vector<double>& out) const;
  /// (K^-1 + S)^-1 y
  void multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve);
  /// J^T m
  void scatter(const std::vector<double>& m, std::vector<Vec4>& out) const;

 private:
  void add_columns(const Solve& solve);
  double entry(const ContactRow& a, const ContactRow& b) const;
  bool same(const std::vector<ContactRow>& rows) const;

  int size_ = 0;
  std::vector<ContactRow> rows_;
  std::vector<int> column_of_row_;  // -1: none yet
  std::vector<std::vector<float>> columns_;
  bool dense_ = false;
  std::vector<double> factor_;  // inverse of the Cholesky factor of K^-1 + S, by columns
  std::vector<double> matrix_;
  std::vector<Vec4> b_, x_;
  std::vector<double> r_, p_, q_, z_, diagonal_;
};

}  // namespace verve
