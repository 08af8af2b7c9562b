#include "integrators/explicit_step.h"

namespace verve {

namespace {
/// Of M_c^-1 grad W, as momentum that must not be lost.
constexpr double division_error = 1e-15;
}  // namespace

void ExplicitStep::begin(Island& island) {
  held_.read(island);
  before_ = island.motion.x, speed_before_ = island.motion.v;
  contacts_.begin(island, held_.inverse_mass());
  acceleration_.resize(island.rows()), gradient_.resize(island.rows());
  if (island.consistent() && mass_.empty()) mass_ = island.consistent_mass();
}

void ExplicitStep::accelerate(Island& island, const std::vector<Vec4>& x, std::vector<Vec4>& out) {
  soft_gradient(island, x, gradient_);
  if (island.consistent()) {
    mass_.divide(island.forcing.mass, gradient_, out, division_error);
    for (int r = 0; r < island.rows(); ++r) out[r] = island.forcing.acceleration[r] - out[r];
    return;
  }
  for (int r = 0; r < island.rows(); ++r)
    out[r] = island.forcing.acceleration[r] - gradient_[r] * island.forcing.inverse_mass[r];
}

void ExplicitStep::meet(Island& island, double h) {
  hold(island, h);
  contacts_.correct(h, island.motion.x, island.motion.v);
}

void ExplicitStep::finish(Island& island, double h) {
  contacts_.restore(speed_before_, h, island.motion.v);
  contacts_.finish(island.motion.x, h);
}

std::string no_refusal(const Potential&) { return {}; }

}  // namespace verve
