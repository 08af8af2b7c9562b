// Newton's method (PD Sec. 7.3 compares with it): the Hessian of every element, made definite where that is needed, and
// one factorisation per iteration.
#include <limits>

#include "integrators/island.h"
#include "integrators/minimizers/step_matrix.h"
#include "linear/block_cholesky.h"
#include "linear/cholesky.h"

namespace verve {

namespace {

class Newton final : public Minimizer {
 public:
  bool needs_factor() const override { return false; }
  bool searches() const override { return true; }

  bool begin(Island& island) override {
    const bool changed = constant_.refresh(island, true);
    if (changed) stale_ = true;
    has_hessians_ = false;
    island.each_potential([&](const Potential& potential, int) { has_hessians_ |= potential.has_hessian(); });
    // the same matrix for every iteration and each of the three axes
    if (!has_hessians_ && (changed || !factored_))
      factored_ = factor_.factorize(constant_.matrix(), island.bodies().size() == 1, Precision::float64);
    if (!has_hessians_) return factored_;
    factored_ = false;
    last_ = refused_ = std::numeric_limits<double>::infinity();
    first_ = true;
    hessian_.forget();  // a step does not depend on those before
    return true;
  }

  double descend(Island& island, const std::vector<Vec4>& x, const std::vector<Vec4>& gg,
                 std::vector<Vec4>& dx) override {
    if (!has_hessians_) {
      factor_.solve(gg.data(), dx.data());
      return dot(gg, dx);
    }
    if (!has_pattern_) {
      blocks_.begin_pattern(island.rows());
      add_constant();
      add_elements(island, nullptr, true);
      blocks_.finish_pattern();
      has_pattern_ = true;
    }
    if (stale_) {
      blocks_.forget_values();
      blocks_.begin_values();
      add_constant();
      blocks_.keep_values();
      stale_ = false;
    }
    // Elements under pressure are indefinite at the minimum itself, and made definite they would cost the quadratic
    // end; the sum over all is definite there. So it is tried as it is, and where that has failed once more when steps
    // have become ten times shorter.
    const bool exact = first_ || last_ < 1e-2 * refused_;
    first_ = false;
    if (!exact || !solve(island, x, false, gg, dx)) {
      if (exact) refused_ = last_;
      if (!solve(island, x, true, gg, dx)) return std::numeric_limits<double>::quiet_NaN();
    }
    return last_ = dot(gg, dx);
  }

 private:
  /// False where the Hessian is not positive definite.
  bool solve(Island& island, const std::vector<Vec4>& x, bool definite, const std::vector<Vec4>& gg,
             std::vector<Vec4>& dx) {
    blocks_.begin_values();
    add_elements(island, x.data(), definite);
    return hessian_.solve(blocks_.matrix(), island.bodies().size() == 1, gg.data(), dx.data());
  }

  /// What stays the same over the iterations.
  void add_constant() {
    const SymmetricMatrix& m = constant_.matrix();
    for (int c = 0; c < m.size; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) blocks_.add(m.row[k], c, m.value[k]);
  }
  void add_elements(Island& island, const Vec4* x, bool definite) {
    island.each_potential([&](Potential& potential, int first) {
      if (potential.has_hessian()) potential.add_hessian(x ? x + first : nullptr, definite, blocks_, first);
    });
  }

  StepMatrix constant_;
  BlockAssembly blocks_;
  BlockCholesky hessian_;
  bool has_pattern_ = false, first_ = true;
  bool stale_ = true;                            // what blocks_ keeps is of another constant_
  bool has_hessians_ = true, factored_ = false;  // some potential has one; factor_ is that of constant_
  double last_ = 0, refused_ = 0;  // squares of lengths: of the last step, and of that before the sum was indefinite
  Cholesky factor_;                // of constant_
};

}  // namespace

std::unique_ptr<Minimizer> make_newton(const SolverSpec&, int) { return std::make_unique<Newton>(); }

}  // namespace verve
