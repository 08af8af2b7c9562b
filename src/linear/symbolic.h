// What can be known of a factor before any number is: elimination tree, supernodes and how the work is split.
#pragma once

#include <cstddef>
#include <vector>

#include "linear/sparse.h"

namespace verve {

/// Columns of the widest panel: wider ones save a little traffic in a solve, but the work to invert their diagonal
/// blocks grows with the width.
constexpr int widest_panel = 128;
/// Values of a panel that are worth a thread in a solve, about eight microseconds of work.
constexpr double shared_part_values = 32768;
/// Products for an update matrix of 3 x 3 blocks that threads share.
constexpr double shared_update_products = 4e6;

/// Consecutive columns of the factor that are stored as one dense block, and the rows they touch.
struct Supernode {
  int first, width;  // columns
  int rows;          // own columns and those below
  size_t row_start;  // in Symbolic::row
  int parent;        // -1 for a root
  int task;          // -1 for the top, see below
  int below() const { return rows - width; }
};

/// "Columns" and "rows" are positions in the order of elimination.
///
/// The tree is cut into tasks, groups of whole subtrees that a solve may work on at the same time, and the top that
/// joins them. The cut depends on the pattern alone, never on the number of threads.
struct Symbolic {
  int size = 0;
  std::vector<int> order;               // position -> row of the matrix
  std::vector<Supernode> nodes;         // children before parents
  std::vector<int> row;                 // per node: its columns, then the rows below, ascending
  std::vector<std::vector<int>> tasks;  // nodes, ascending
  std::vector<double> task_work;        // relative
  std::vector<int> top;                 // nodes, ascending
  long nonzeros = 0;                    // of the factor, without the zeros that supernodes store
};

/// What supernodes and tasks are chosen for: a factor that is solved with again and again, or one with 3 x 3 blocks in
/// place of numbers that is made anew for every solve.
enum class Purpose { solving, refactoring };

/// `order`: position -> row. The result may follow another order that gives the same fill.
Symbolic analyze(const SymmetricMatrix& pattern, const std::vector<int>& order, Purpose purpose = Purpose::solving);

}  // namespace verve
