// Symplectic Euler: v_{n+1} = v_n + h M^-1 f(x_n), x_{n+1} = x_n + h v_{n+1}. Forces of energies k/2 C^2 of
// displacement functions C are the penalty forces of Terzopoulos et al. 1987: that method is this one.
#include "integrators/explicit_step.h"

namespace verve {

namespace {

class SymplecticEuler final : public ExplicitStep {
 public:
  void step(Island& island, double h, const Settings&, StepOutcome& out) override {
    begin(island);
    Motion& m = island.motion;
    accelerate(island, m.x, acceleration_);
    for (int r = 0; r < island.rows(); ++r) {
      m.v[r] += acceleration_[r] * h;
      m.x[r] += m.v[r] * h;
    }
    meet(island, h);
    finish(island, h);
    out.iterations = 1;
  }
};

}  // namespace

std::unique_ptr<OwnStep> make_symplectic_euler(const SolverSpec&) { return std::make_unique<SymplecticEuler>(); }

}  // namespace verve
