// The levels of smoothed aggregation: which rows are lumped together, and the smaller matrices that follow from it.
// Vanek, Mandel, Brezina 1996, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
// problems".
#pragma once

#include <cstddef>
#include <vector>

#include "linear/sparse.h"

namespace verve {

/// All entries by rows; columns in any order.
struct SparseRows {
  int columns = 0;
  std::vector<int> start, column;
  std::vector<double> value;
  int rows() const { return int(start.size()) - 1; }
};

struct MultigridLevel {
  SparseRows matrix;
  std::vector<char> strong;    // per entry of the matrix
  std::vector<int> aggregate;  // of each row; -1: coupled to no other row, left to the smoother
  int aggregates = 0;
  SparseRows prolongation, restriction;  // from and to the next level; empty on the last

  // What a cycle reads, in float: the matrix and the inverse of the smoother's diagonal, both scaled so that the
  // largest diagonal entry of the finest level is one.
  std::vector<float> value, prolongation_value, restriction_value, inverse_diagonal;
};

/// Breadth-first order of the rows, result[k] is the k-th row: neighbours stay close in memory, and aggregates that are
/// formed in this order leave few gaps.
std::vector<int> breadth_first_order(const SymmetricMatrix& matrix);

/// Both triangles in a new numbering, position[row]. The same pattern gives the same places for the values.
void expand(const SymmetricMatrix& matrix, const std::vector<int>& position, SparseRows& out);

/// Couplings -a_ij > threshold sqrt(a_ii a_jj). Returns how many differ from what `strong` held.
int find_strong(const SparseRows& matrix, double threshold, std::vector<char>& strong);
void form_aggregates(MultigridLevel& level);

/// Prolongation, restriction and the matrix of the next level. `keep` says that all patterns are there already.
void coarsen(MultigridLevel& level, SparseRows& next, bool keep);
/// The float copies; `scale` is the largest diagonal entry of the finest level.
void round_to_float(MultigridLevel& level, double scale);

double largest_diagonal(const SparseRows& matrix);
/// Lower triangle by columns, rows ascending.
SymmetricMatrix lower_triangle(const SparseRows& matrix);
size_t bytes_of(const MultigridLevel& level);

}  // namespace verve
