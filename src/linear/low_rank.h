// Short-lived changes of a factorised matrix: A' = A + U C U^T with one sparse column of U for each anchored vertex or
// link (Woodbury 1950). A solve with A' is a solve with A and a correction along the columns A^-1 U, which are kept.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "verve/scene.h"
#include "verve/vec.h"

namespace verve {

/// weight e_a e_a^T, or with a second vertex weight (e_a - e_b)(e_a - e_b)^T. A negative weight takes a term out that A
/// contains.
struct LowRankTerm {
  int a = 0, b = -1;
  double weight = 0;
  bool operator==(const LowRankTerm&) const = default;
};

class LowRankUpdate {
 public:
  static constexpr int rank_limit = 32;
  enum class Status { done, too_many, not_positive_definite };

  /// x0 = A^-1 x0 and, unless it is null, x1 = A^-1 x1. Each holds three scalar right-hand sides: w is not used.
  using BaseSolve = std::function<void(Vec4* x0, Vec4* x1)>;

  /// Forgets terms and columns: A is another matrix now. `accuracy` is that of a solve with A, relative to its result;
  /// columns are kept in `precision`.
  void reset(int size, Precision precision, double accuracy);

  /// From now on A' has these terms and no others. Only columns that have not been seen lately are solved for, six at a
  /// time. When refused, the terms are what they were before. Refused is also what leaves so little of A that the
  /// accuracy does not resolve it.
  Status set(std::span<const LowRankTerm> terms, const BaseSolve& solve);

  /// x = A^-1 b becomes A'^-1 b.
  void correct(Vec4* x) const;

  int rank() const { return int(active_.size()); }
  int columns() const { return int(cache_.size()); }  // active or kept for later
  long columns_solved() const { return solved_; }
  size_t bytes() const;

 private:
  struct Column {
    int a, b;
    long used;  // when last asked for
    std::vector<float> value32;
    std::vector<double> value64;
    double at(int row) const { return value32.empty() ? value64[row] : value32[row]; }
  };
  struct Active {
    int column;
    double root;  // of |weight|
    bool negative;
  };
  /// The small matrix sign(C) + |C|^1/2 U^T A^-1 U |C|^1/2 as L D L^T.
  struct Small {
    double l[rank_limit][rank_limit];
    double d[rank_limit];
  };

  int find(int a, int b) const;
  int free_slot();
  void solve_columns(const std::vector<int>& missing, const BaseSolve& solve);
  bool factorize(const std::vector<Active>& active, Small& out) const;
  double entry(const Column& u, const Column& z) const { return z.at(u.a) - (u.b < 0 ? 0 : z.at(u.b)); }

  int size_ = 0;
  Precision precision_ = Precision::float64;
  double least_pivot_ = 0;  // of what is left of A where a term is taken out
  long clock_ = 0, solved_ = 0;
  std::vector<Column> cache_;
  std::vector<Active> active_, candidate_;
  std::vector<int> missing_;
  std::vector<const float*> pointers32_;
  std::vector<const double*> pointers64_;
  Small small_, trial_;
  std::vector<Vec4> work0_, work1_;
};

}  // namespace verve
