// L-BFGS inside a conserving step (docs/minimisers.md): the same constraints with B^-1 in the place of A^-1.
#pragma once

#include "integrators/conservation.h"
#include "integrators/minimizers/secant_pairs.h"
#include "linear/small.h"

namespace verve {

class HeldPairs {
 public:
  /// What stays the same during a step: the gradients of P, grad c_P = m e_a/hh, and L, e_a x (m r)/hh with r = xb -
  /// about, and lin.
  struct Columns {
    bool momenta;
    const std::vector<double>& mass;
    const std::vector<Vec4>& xb;
    const Vec4* coupled;  // D xb of a consistent mass; null: none
    Vec3 about;
    double hh;
    const std::vector<Vec4>& lin;
  };

  HeldPairs(int rows, int window) { pairs_.resize(rows, window); }
  void clear() { pairs_.clear(); }
  int count() const { return pairs_.count(); }

  /// Takes in the iterate x with its gradient and H0 of that, and turns the products under H0 into those under B^-1, but
  /// for S_qq^+. False: they are the same.
  bool take_in(const Columns& columns, const std::vector<Vec4>& x, const std::vector<Vec4>& gg,
               const std::vector<Vec4>& H0_gg, StepProducts& step, IterationProducts& iteration);
  /// What B^-1 has beyond H0 of the whole step, into Ag, which is taken (1 + lambda)/scale times.
  void add(const Direction& d, bool momenta, std::vector<Vec4>& Ag) const;

 private:
  struct Products {  // of a pair with grad c_q and lin, see SecantPairs::Overlap
    Vec6 s_q, y_q;
    double s_lin, y_lin;
  };
  Products of_pair(int pair, const Columns& columns) const;

  SecantPairs pairs_;
  Products products_[SecantPairs::most];
  SecantPairs::Combination combination_[8];
};

}  // namespace verve
