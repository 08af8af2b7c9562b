// Symmetric matrices of 3 x 3 blocks, one for each pair of vertices, as scalar ones of 3 rows per vertex.
#pragma once

#include <cstddef>
#include <vector>

#include "linear/sparse.h"
#include "verve/vec.h"

namespace verve {

/// Receives the same sequence of blocks each time, as SymmetricAssembly does of numbers. The first pass records where
/// they are and nothing else; every later one adds values without sorting or allocation.
class BlockAssembly {
 public:
  void begin_pattern(int vertices);
  void finish_pattern();
  void begin_values();
  /// What has been added so far stays: the next pass goes on from here.
  void keep_values();
  /// From nothing again.
  void forget_values() { kept_ = {}, kept_next_ = 0; }

  /// Rows of vertex i, columns of vertex j; the transpose is not added. That of i = j has to be symmetric.
  void add(int i, int j, const Mat3& block);
  /// v times the identity.
  void add(int i, int j, double v);
  const SymmetricMatrix& matrix() const { return matrix_; }

 private:
  struct Pair {
    int row, column;
  };
  bool recording_ = false;
  std::vector<Pair> pairs_;
  /// Where a block of the sequence lies: its first entry, and the entries of its first column of the matrix. The three
  /// columns of the same vertex follow each other, the second and the third without what is above the diagonal.
  struct Place {
    int first, column_size;
  };
  std::vector<Place> places_;
  size_t next_ = 0;
  std::vector<double> kept_;
  size_t kept_next_ = 0;
  SymmetricMatrix matrix_;
};

}  // namespace verve
