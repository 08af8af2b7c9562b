// The matrix of a step with what touches: A_c = A + sum k j j^T, used through the factor of A alone.
#pragma once

#include <functional>
#include <vector>

#include "integrators/body_turns.h"
#include "integrators/contacts.h"
#include "integrators/inverse_columns.h"

namespace verve {

/// By Woodbury's formula, with J the rows j and K their stiffnesses,
///   A_c^-1 = A^-1 - A^-1 J^T (K^-1 + S)^-1 J A^-1,   S = J A^-1 J^T.
/// S is made of entries of A^-1 between vertices that touch. A has a block for each part of the island (SolverParts).
class ContactMetric {
 public:
  using Solve = std::function<void(const std::vector<Vec4>&, std::vector<Vec4>&)>;
  struct Block {
    InverseColumns* columns;
    int first;
    long generation;
    bool operator==(const Block&) const = default;
  };

  /// The blocks of A as they are now, and the sum of their rows. What was known of rows is forgotten: a step depends on
  /// nothing but its state.
  void bind(const std::vector<Block>& blocks, int rows, const BodyTurns& turns);
  /// The rows as they are now. Few of them make a dense factor; many are solved for by conjugate gradients.
  void set(const std::vector<ContactRow>& rows);
  bool empty() const { return rows_.empty(); }
  int size() const { return int(rows_.size()); }
  const std::vector<ContactRow>& rows() const { return rows_; }

  /// J x
  void gather(const std::vector<Vec4>& x, std::vector<double>& out) const;
  /// (K^-1 + S)^-1 y, as well as it takes to steer an iteration that looks at the true forces, or `exactly`. Begins at
  /// what is in `out` where that has a value for each row.
  void multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve, bool exactly = false);
  /// J^T m
  void scatter(const std::vector<double>& m, std::vector<Vec4>& out) const;

 private:
  struct Patch {  // vertices of a block that touch, and A^-1 between them, by columns
    std::vector<int> rows;
    std::vector<float> inverse;
    std::vector<const float*> columns;  // of it
    int first = 0;                      // of them in force_
  };
  struct Group {  // rows between the same two blocks, as order counts, and where the inverse among them is
    long pair;
    int first, last;
    size_t inverse;
  };
  void find_patches();
  void factorize();
  void find_groups();
  void invert_group(const Group& group);
  const double* known_inverse(const Group& group, size_t& at) const;
  void precondition(const std::vector<double>& r, std::vector<double>& z);
  void multiply(const std::vector<double>& p, std::vector<double>& q, const Solve& solve);
  double entry(int a, int b) const;

  /// How a row turns the bodies that it pushes: sum of share arm x direction.
  struct Lever {
    std::array<int, 2> turn{{-1, -1}};  // of turns_; -1: none
    std::array<Vec3, 2> by;
  };
  Lever lever_of(const ContactRow& row) const;

  std::vector<Block> blocks_;
  const BodyTurns* turns_ = nullptr;
  std::vector<int> turn_of_block_;
  std::vector<Lever> levers_;
  std::vector<Vec3> turned_;  // by turn
  std::vector<int> block_of_row_;
  int size_ = 0;
  std::vector<ContactRow> rows_;
  bool factored_ = false, grouped_ = false, patched_ = false;
  std::vector<double> factor_;  // inverse of the Cholesky factor of K^-1 + S, by columns
  std::vector<double> matrix_;
  // of conjugate gradients
  std::vector<Patch> patches_;
  int patch_grain_ = 1;
  std::vector<int> touched_of_row_;               // -1: does not touch
  std::vector<std::array<int, 4>> touched_rows_;  // of each contact row, as touched_ counts
  std::vector<Vec4> force_, moved_;               // of the vertices that touch
  std::vector<Vec4> b_, x_;
  struct Groups {
    std::vector<Group> all;
    std::vector<int> order;
    std::vector<double> inverse;
    bool patched = false;
  } groups_, last_groups_;
  std::vector<ContactRow> last_rows_;
  std::vector<long> pair_of_row_;
  std::vector<double> r_, p_, q_, z_, group_r_;
};

}  // namespace verve
