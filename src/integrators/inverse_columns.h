// Columns of A^-1 of one factor, made when they are asked for and kept as long as A is what it was.
#pragma once

#include <span>
#include <vector>

#include "verve/vec.h"

namespace verve {

class GlobalSolver;

class InverseColumns {
 public:
  /// The factor as it is now: columns of another are forgotten.
  void bind(const GlobalSolver& solver, int rows, long version);
  /// They come six to a solve.
  void make(std::span<const int> wanted);
  const float* of(int row) const { return columns_[size_t(place_[row])].data(); }
  int rows() const { return rows_; }
  /// Entries of the factor, in all solves so far.
  double entries() const { return entries_; }
  /// Grows whenever they are forgotten.
  long generation() const { return generation_; }

 private:
  const GlobalSolver* solver_ = nullptr;
  int rows_ = 0;
  long version_ = -1, generation_ = 0;
  double entries_ = 0;
  std::vector<int> place_;  // of each row in columns_; -1: none yet
  std::vector<std::vector<float>> columns_;
  std::vector<Vec4> b_[2], x_[2];
};

}  // namespace verve
