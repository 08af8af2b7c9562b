// Acceleration of the steps x -> e of a minimiser whose B stays the same. StepSolver::step takes e itself where g would
// rise.
#include <algorithm>
#include <cmath>

#include "integrators/minimizers/minimizer.h"
#include "potentials/anderson.h"

namespace verve {

namespace {

/// Wang 2015, "A Chebyshev Semi-Iterative Approach for Accelerating Projective and Position-based Dynamics":
///   x_{k+1} = x_{k-1} + omega (e_k - x_{k-1}),  omega_S+1 = 2/(2 - rho^2), then 4/(4 - rho^2 omega)
/// after S plain steps. Departure: rho, by which each plain step multiplies what is left, is not found by trial
/// beforehand but taken from the last plain steps of this very step.
class Chebyshev final : public Accelerator {
 public:
  explicit Chebyshev(int rows) : last_(rows), step_(rows) {}
  void restart() override { count_ = 0; }
  bool advance(const std::vector<Vec4>& x, const std::vector<Vec4>& end, std::vector<Vec4>& next) override {
    bool better = false;
    if (count_ < plain_steps) {
      for (size_t i = 0; i < x.size(); ++i) step_[i] = end[i] - x[i];
      const double size = dot(step_, step_);
      // successive steps of a settled iteration shrink by rho; before that by less than rho, so the last ratio is best
      rho2_ = count_ > 0 && size_ > 0 ? std::min(size / size_, 0.9999) : 0;
      size_ = size;
      omega_ = 1;
    } else {
      omega_ = count_ == plain_steps ? 2 / (2 - rho2_) : 4 / (4 - rho2_ * omega_);
      for (size_t i = 0; i < x.size(); ++i) next[i] = last_[i] + (end[i] - last_[i]) * omega_;
      better = true;
    }
    last_ = x;
    ++count_;
    return better;
  }

 private:
  static constexpr int plain_steps = 10;  // S
  std::vector<Vec4> last_, step_;
  int count_ = 0;
  double rho2_ = 0, omega_ = 1, size_ = 0;
};

/// Peng et al. 2018, "Anderson Acceleration for Geometry Optimization and Physics Simulation".
class AndersonSteps final : public Accelerator {
 public:
  AndersonSteps(int rows, int window)
      : scratch_(Anderson::scratch_size(4 * rows, window)), anderson_(4 * rows, scratch_.data(), window) {}
  void restart() override { anderson_.restart(); }
  bool advance(const std::vector<Vec4>& x, const std::vector<Vec4>& end, std::vector<Vec4>& next) override {
    anderson_.advance(&x.data()->x, &end.data()->x, &next.data()->x);
    return true;
  }

 private:
  std::vector<double> scratch_;
  Anderson anderson_;
};

}  // namespace

std::unique_ptr<Accelerator> make_accelerator(const SolverSpec& spec, int rows) {
  if (spec.acceleration == Acceleration::chebyshev) return std::make_unique<Chebyshev>(rows);
  if (spec.acceleration == Acceleration::anderson)
    return std::make_unique<AndersonSteps>(rows, std::min(spec.window, rows));
  return nullptr;
}

}  // namespace verve
