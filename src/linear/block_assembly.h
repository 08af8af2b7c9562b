// Symmetric matrices of 3 x 3 blocks, one for each pair of vertices.
#pragma once

#include <cstddef>
#include <vector>

#include "linear/sparse.h"
#include "verve/vec.h"

namespace verve {

/// Lower triangle by columns of blocks, the block of the diagonal first and whole, rows ascending. A block is nine
/// numbers by columns: an element adds to neighbours in memory, and a product with a vector has an index for nine.
struct BlockMatrix {
  int size = 0;  // vertices
  std::vector<int> start, row;
  std::vector<double> value;  // 9 per block, and 3 more so that each column can be read as a vector of 4

  /// The places of the blocks, as a matrix of one number each (all zero).
  SymmetricMatrix pattern() const;
};

/// The same matrix with 3 rows per vertex. Nothing is allocated where `out` has the pattern already.
void expand(const BlockMatrix& matrix, SymmetricMatrix& out);

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
  /// Later passes only: the next elements * pairs blocks of the sequence, those of an element after each other. Number
  /// k of block p of element e is value[(9 p + k) stride + e], by columns.
  void add_elements(const double* value, int stride, int elements, int pairs);
  const BlockMatrix& matrix() const { return matrix_; }

 private:
  struct Pair {
    int row, column;
    bool turned;  // added as block (column, row)
  };
  bool recording_ = false;
  std::vector<Pair> pairs_;
  /// Where the next block goes: its first number, and whether it is its transpose that is there.
  struct Place {
    int first;
    bool turned;
  };
  std::vector<Place> places_;
  size_t next_ = 0;
  std::vector<double> kept_;
  size_t kept_next_ = 0;
  BlockMatrix matrix_;
};

}  // namespace verve
