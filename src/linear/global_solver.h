// The solver of the global step: a Cholesky factor while it fits, multigrid beyond, with short-lived changes on top.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linear/cholesky.h"
#include "linear/low_rank.h"
#include "linear/multigrid.h"
#include "linear/shared_rows.h"

namespace verve {

class GlobalSolver {
 public:
  enum class Kind { automatic, direct, multigrid, shared };

  Kind wanted = Kind::automatic;
  /// Most entries of a factor for which `automatic` takes the direct solver. Up to there a solve with the factor is
  /// always faster, but 13 bytes are needed for each entry in float and 18 in double: 2 to 2.7 GB. A solid cube of 1 M
  /// tets has 77 M (docs/performance.md).
  long factor_limit = 150'000'000;
  /// Of a float factor.
  Cholesky::Storage storage = Cholesky::Storage::full;

  /// As Cholesky::factorize; drops the low-rank changes, which the new matrix is expected to contain.
  bool factorize(const SymmetricMatrix& matrix, bool natural, Precision precision);

  /// Of rows that several processes share: by their solver, in double.
  bool factorize(const SymmetricMatrix& part, const SharedRows& rows);

  /// Likewise Cholesky::share_pattern, where the other has a factor.
  void share_pattern(const GlobalSolver& other) {
    if (other.kind_ == Kind::direct) direct_.share_pattern(other.direct_);
  }

  /// x = A'^-1 b; x may be b. In double, multigrid solves to 1e-10 of the solution in the norm of A, in float to 1e-6.
  void solve(const Vec4* b, Vec4* x) const;
  void solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const;
  /// Likewise, of what is solved for once and kept: when a new factor pays does not depend on it. x1 may be null.
  void solve_once(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const;
  /// Right-hand sides and solutions count with the digits of a float: they may be in half the memory.
  bool is_narrow() const { return kind_ == Kind::direct && precision_ == Precision::float32 && rank() == 0; }
  void solve(const Vec4* b, Float4* x) const { direct_.solve(b, x); }
  void solve(const Float4* b, Float4* x) const { direct_.solve(b, x); }
  void solve2(const Float4* b0, Float4* x0, const Float4* b1, Float4* x1) const { direct_.solve2(b0, x0, b1, x1); }

  /// A' = A plus these terms, for as long as no others are set; see LowRankUpdate.
  LowRankUpdate::Status set_changes(std::span<const LowRankTerm> terms);
  /// The changes have cost as much by now as a new factor would: if they are to stay, factorise.
  bool refactoring_pays() const;
  /// What they have cost, in multiplications.
  double extra_work() const { return extra_work_; }
  void set_extra_work(double work) { extra_work_ = work; }

  Kind kind() const { return kind_; }  // not automatic
  int size() const { return size_; }
  int rank() const { return changes_.rank(); }
  long nonzeros() const;
  size_t bytes() const;
  /// "direct, 2387 rows, 96 k nonzeros, float"; for multigrid also why.
  std::string description() const;
  /// Iterations of multigrid in the last solve and whether it converged; 0 and true for a direct one.
  const Multigrid::Outcome& last() const { return last_; }
  Multigrid& multigrid() { return multigrid_; }  // tolerance and limit of iterations, between factorize and solve

 private:
  struct Question {
    Kind wanted = Kind::automatic;
    long limit = 0;
    int size = -1;
    size_t nonzeros = 0;
    bool natural = false;
    bool operator==(const Question&) const = default;
  };
  Kind choose(const SymmetricMatrix& matrix, bool natural);
  void base_solve(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const;

  Kind kind_ = Kind::direct;
  int size_ = 0;
  Precision precision_ = Precision::float64;
  std::string reason_;
  Question answered_;  // what the choice was made for
  Cholesky direct_;
  Multigrid multigrid_;
  std::unique_ptr<SharedSolver> shared_;
  LowRankUpdate changes_;
  mutable Multigrid::Outcome last_;
  mutable double extra_work_ = 0;  // multiplications with rows of columns since the changes were set
};

/// Entries of the Cholesky factor when rows are eliminated in this order (order[k] is the k-th; empty: as they are), or
/// any number above `limit` once it is clear that there are more.
long factor_nonzeros(const SymmetricMatrix& pattern, std::span<const int> order, long limit);

}  // namespace verve
