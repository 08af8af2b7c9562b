#include "integrators/island.h"
#include "integrators/projection.h"

namespace verve {

namespace {

/// Dahl and Bargteil 2019, "Global Momentum Preservation for Position-based Dynamics": P and L are tracked beside the
/// solver, and what it has lost of them is given back as a rigid motion.
class MomentumTracking final : public Projection {
 public:
  MomentumTracking() : Projection(true, false) {}

 private:
  Quantities correct(Island& island, double, const Settings&, StepOutcome&) override {
    if (!aim_.momenta) return {};
    restore_momenta(island);
    const Reading now = read(island);
    return {now.p - aim_.target.p, now.l - aim_.target.l, 0};
  }
};

}  // namespace

std::unique_ptr<Projection> make_momentum_tracking() { return std::make_unique<MomentumTracking>(); }

}  // namespace verve
