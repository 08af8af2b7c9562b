// The matrix of a step with what touches: A_c = A + sum k j j^T, used through the factor of A alone.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "integrators/body_turns.h"
#include "contact/contacts.h"
#include "integrators/inverse_columns.h"
#include "integrators/inverse_patch.h"
#include "linear/dense_cholesky.h"
#include "linear/row_kernel.h"

namespace verve {

/// By Woodbury's formula, with J the rows j that push and K their stiffnesses,
///   A_c^-1 = A^-1 - A^-1 J^T (K^-1 + S)^-1 J A^-1,   S = J A^-1 J^T.
/// S is made of entries of A^-1 between vertices that touch. A has a block for each part of the island (SolverParts).
/// Which of all rows push is a choice that is made over and over again; S is that of all of them.
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
  void bind(const std::vector<Block>& blocks, int rows, const BodyTurns& turns, int ids);
  /// What touches, and then what might, as it is now. They stay where they are as long as they are asked for.
  void set(const std::vector<ContactRow>& now, const std::vector<const ContactRow*>& near);
  int size() const { return int(rows_.size()); }
  const ContactRow& row(size_t r) const { return *rows_[r]; }
  /// Those that push from now on, one flag per row.
  void choose(const std::vector<char>& pushes);
  /// None does.
  bool empty() const { return active_.empty(); }

  /// J x of all rows, whether they push or not; of forces, S m likewise.
  void gather(const std::vector<Vec4>& x, std::vector<double>& out) const;
  void respond(const std::vector<double>& m, std::vector<double>& out, const Solve& solve);
  /// (K^-1 + S)^-1 y among rows that push, 0 of the others: up to a `fraction` of y. Begins at what is in `out` where
  /// that has a value for each row.
  void multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve, double fraction);
  /// From so many products() on, multipliers() end after a few steps; what they lead to then is nearer than `out` was.
  double enough_products = std::numeric_limits<double>::infinity();
  bool is_spent() const { return products_ >= enough_products; }
  /// Multiply-adds so far, and entries of factors in the solves for columns of A^-1.
  double products() const { return products_; }
  double entries() const { return entries_of_columns_; }
  /// J^T m
  void scatter(const std::vector<double>& m, std::vector<Vec4>& out) const;

 private:
  /// How a row turns the bodies that it pushes: sum of share arm x direction.
  struct Lever {
    std::array<int, 2> turn{{-1, -1}};  // of turns_; -1: none
    std::array<Vec3, 2> by;
  };
  /// What of a row the products need, close together: the vertices and turns it pushes, and how. Places of force and
  /// slopes that are not taken are those of nothing.
  struct Lean {
    std::array<int, 6> at;
    std::array<Float4, 6> slope;
    int vertices;  // of these, from the first
  };
  struct Patches {
    std::vector<InversePatch> all;     // by block
    std::vector<int> first;            // of each, in the forces
    std::vector<Float4> force, moved;  // of their vertices, patch by patch; then of the turns, then nothing
    std::vector<float> fields;         // a patch of them, field by field
    std::vector<Lean> rows;
    double products = 0;  // of a multiplication
    void arrange(size_t turns);
    void multiply(const BodyTurns& turns);
  };
  /// Rows between the same two blocks, which say nearly the same where bodies lie on each other.
  struct Group {
    int first, last;    // in order_
    size_t entries;     // of S among them, in entries_, as far as they have been asked for
    int members = 0;    // that push: from place `first` of members_ on
    size_t factor = 0;  // the inverse of the Cholesky factor of K^-1 + S among these, by columns, in factors_,
                        // each of which fills whole places
  };
  void find_groups();
  void factorize(Group& group);
  double precondition();
  void find_factor();
  void find_factored();
  bool factor_is_worn(int steps);
  double precondition_exactly();
  double entry(int r, int s) const;
  void find_patches();
  void find_pushing();
  void make_lean(int r, Patches& patches, const std::vector<int>& place_of_row) const;
  /// out = S m, of all rows or among those that push.
  void apply(bool all, const double* m, double* out, const Solve& solve);
  Lever lever_of(const ContactRow& row) const;

  double products_ = 0, entries_of_columns_ = 0;
  std::vector<Block> blocks_;
  const BodyTurns* turns_ = nullptr;
  std::vector<int> turn_of_block_;
  std::vector<int> block_of_row_;
  int size_ = 0;
  std::vector<const ContactRow*> rows_;
  std::vector<Lever> levers_;
  std::vector<double> compliance_;  // K^-1
  std::vector<double> diagonal_;    // of S
  std::vector<int> all_, active_;   // rows, and those that push
  std::vector<char> pushes_;
  bool patched_ = false;
  Patches patches_, pushing_;      // of all rows of the step so far, and of those that push
  std::vector<int> place_of_row_;  // in its patch; -1: does not touch
  std::vector<int> pushing_place_, pushing_rows_, places_;
  std::vector<int> fresh_;
  std::vector<Vec4> b_, x_;
  bool exact_ = false;  // preconditioned by the factor of K^-1 + S among all that push, or did
  DenseCholesky factor_;
  std::vector<int> factored_;       // ids of the rows in it
  std::vector<int> factor_of_id_;   // their places; -1: not among them
  std::vector<int> row_of_factor_;  // of its places, now; -1: gone
  int wear_ = 0;                    // steps of conjugate gradients that another factor would have saved
  std::vector<float> narrow_;
  std::vector<Float4> moved_;  // A^-1 j of a row, by place of patches_
  std::vector<Group> groups_;
  std::vector<long> pair_of_row_;
  std::vector<int> order_, members_, place_;  // place_: in active_; -1: does not push
  std::vector<double> entries_, matrix_, inverse_;
  std::vector<Float4> factors_;
  // of conjugate gradients, in which rows count as active_ does
  std::vector<double> r_, p_, q_, z_, m_;
};

}  // namespace verve
