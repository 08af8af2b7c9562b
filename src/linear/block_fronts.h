// Numeric factorisation of a matrix of 3 x 3 blocks in float (Duff and Reid 1983; Liu 1992), as Multifrontal does in
// double for numbers. What differs serves a factor that is made anew for every solve: columns are factored where they
// stay, every place is found by the analysis, and subtrees are factored at the same time.
#pragma once

#include <memory>
#include <vector>

#include "linear/aligned.h"
#include "linear/block_assembly.h"
#include "linear/block_kernels.h"
#include "linear/symbolic.h"

namespace verve {

/// What a factorisation in float shows of a matrix: `unknown` where it meets a pivot that is not positive, since
/// round-off of those before may have made it so; `no` where the diagonal of the matrix is not positive.
enum class Definite { yes, unknown, no };

class BlockFronts {
 public:
  void analyze(const SymmetricMatrix& pattern, const std::vector<int>& order);
  /// Of the matrix with the rows and columns of each vertex multiplied by a power of two that brings the largest entry
  /// of its diagonal to [0.5, 2).
  Definite factorize(const BlockMatrix& matrix);
  /// Of all numbers on the diagonal, the least share that is left of one as a pivot. Round-off is some 1e-7 of the
  /// number itself, and a larger part of the pivot by as much.
  float least_pivot() const { return 1 / loss_[0]; }
  /// x = A^-1 b, to float precision.
  void solve(const Vec4* b, Vec4* x);
  int size() const { return symbolic_.size; }
  size_t memory() const;

 private:
  /// In rows and columns of numbers, three per vertex.
  struct Front {
    int first, width, rows;
    int ld, ld_update;
    size_t columns, update, vector;      // where they begin in columns_, updates_ and vectors_
    int child_begin, child_end;          // in children_
    int run_begin, run_middle, run_end;  // where its rows lie in its parent: the parent's columns, then rows below
    int entry_begin, entry_end;
    int below() const { return rows - width; }
  };
  /// A block of the matrix and where it goes in the columns of a front; turned: its transpose does.
  struct Entry {
    int block, row, column;
    bool turned;
  };

  void place_updates();
  void find_runs();
  void find_entries(const SymmetricMatrix& pattern);
  bool find_scale(const BlockMatrix& matrix);
  void load_entries(const BlockMatrix& matrix, const Front& front);
  bool eliminate(const BlockMatrix& matrix, int node, int share);
  float largest_loss(const BlockMatrix& matrix, int node) const;
  void forward(int node);
  void backward(int node);
  /// function(node, share) over the nodes of tasks, shares of neighbouring tasks at the same time.
  template <class F>
  void for_tasks(bool upward, F&& function);

  Symbolic symbolic_;  // of vertices
  std::vector<Front> fronts_;
  std::vector<int> children_;
  std::vector<FrontRun> runs_;
  std::vector<Entry> entries_;
  std::vector<double> task_middle_;  // of the work of all tasks, the fraction done when a task is half done
  std::vector<double> scale_;        // by vertex
  Aligned<float> columns_;           // of the factor: [D^-1; B] of each panel
  Aligned<float> updates_;           // update matrices, in stacks, see place_updates
  Aligned<float> vectors_;           // of a solve, as long as the rows of each front
  Aligned<float> x_;                 // of a solve, by position
  std::vector<std::unique_ptr<BlockScratch>> scratch_;  // by share
  std::vector<char> failed_;                            // by share
  std::vector<float> loss_;                             // by share, the largest diagonal over pivot; [0]: of all
  int most_rows_ = 0;
};

}  // namespace verve
