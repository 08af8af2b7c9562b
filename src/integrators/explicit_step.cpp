#include "integrators/explicit_step.h"

namespace verve {

namespace {
/// Of M_c^-1 grad W, as momentum that must not be lost.
constexpr double division_error = 1e-15;
}  // namespace

void ExplicitStep::begin(Island& island) {
  held_.read(island);
  before_ = island.motion.x;
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

std::string no_refusal(const Potential&) { return {}; }

}  // namespace verve
