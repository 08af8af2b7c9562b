// What a step solves with: the factor of the island's own matrix, or one after the other those of the parts that touch.
#pragma once

#include <string>
#include <vector>

#include "integrators/system_matrix.h"

namespace verve {

/// Bodies that touch are coupled by contacts alone (contact_metric.h), so their matrices keep the factors they had.
class SolverParts {
 public:
  struct Part {
    SystemMatrix::Factor* factor;
    int first, rows;
    const GlobalSolver& solver() const { return factor->solver; }
  };

  void clear() { parts_.clear(); }
  void add(SystemMatrix::Factor& factor, int first, int rows) { parts_.push_back({&factor, first, rows}); }
  explicit operator bool() const { return !parts_.empty(); }
  const std::vector<Part>& parts() const { return parts_; }
  /// Of an island that has no parts; null: none.
  SystemMatrix::Factor* own() const { return parts_.size() == 1 ? parts_[0].factor : nullptr; }

  bool is_narrow() const { return parts_.size() == 1 && parts_[0].solver().is_narrow(); }
  template <class B, class X>
  void solve(const B* b, X* x) const {
    for (const Part& p : parts_) p.solver().solve(b + p.first, x + p.first);
  }
  template <class T>
  void solve2(const T* b0, T* x0, const T* b1, T* x1) const {
    for (const Part& p : parts_) p.solver().solve2(b0 + p.first, x0 + p.first, b1 + p.first, x1 + p.first);
  }
  std::string description() const {
    std::string out;
    for (const Part& p : parts_) out += (out.empty() ? "" : "; ") + p.solver().description();
    return out;
  }
  long nonzeros() const {
    long sum = 0;
    for (const Part& p : parts_) sum += p.solver().nonzeros();
    return sum;
  }

 private:
  std::vector<Part> parts_;
};

}  // namespace verve
