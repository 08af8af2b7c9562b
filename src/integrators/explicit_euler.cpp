// Explicit Euler: x_{n+1} = x_n + h v_n, v_{n+1} = v_n + h M^-1 f(x_n). Every oscillation grows, by (1 + (omega h)^2)
// in energy per step, whatever the step: for comparison.
#include "integrators/explicit_step.h"

namespace verve {

namespace {

class ExplicitEuler final : public ExplicitStep {
 public:
  void step(Island& island, double h, const Settings&, StepOutcome& out) override {
    begin(island);
    Motion& m = island.motion;
    accelerate(island, m.x, acceleration_);
    for (int r = 0; r < island.rows(); ++r) {
      m.x[r] += m.v[r] * h;
      m.v[r] += acceleration_[r] * h;
    }
    meet(island, h);
    finish(island, h);
    out.iterations = 1;
  }
};

}  // namespace

std::unique_ptr<OwnStep> make_explicit_euler(const SolverSpec&) { return std::make_unique<ExplicitEuler>(); }

}  // namespace verve
