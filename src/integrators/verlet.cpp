// Velocity Verlet (Verlet 1967; Swope et al. 1982): x_{n+1} = x_n + h v_n + h^2/2 a_n, v_{n+1} = v_n + h/2 (a_n +
// a_{n+1}). Second order, symplectic and time-reversible.
#include "integrators/explicit_step.h"

namespace verve {

namespace {

class Verlet final : public ExplicitStep {
 public:
  void step(Island& island, double h, const Settings&, StepOutcome& out) override {
    begin(island);
    Motion& m = island.motion;
    accelerate(island, m.x, acceleration_);
    for (int r = 0; r < island.rows(); ++r) {
      m.v[r] += acceleration_[r] * (0.5 * h);
      m.x[r] += m.v[r] * h;
    }
    meet(island, h);
    accelerate(island, m.x, acceleration_);
    for (int r = 0; r < island.rows(); ++r) m.v[r] += acceleration_[r] * (0.5 * h);
    hold(island, h);
    finish(island, h);
    out.iterations = 2;
  }
};

}  // namespace

std::unique_ptr<OwnStep> make_verlet(const SolverSpec&) { return std::make_unique<Verlet>(); }

}  // namespace verve
