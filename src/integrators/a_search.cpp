#include <algorithm>
#include <cmath>

#include "integrators/island.h"
#include "integrators/projection.h"

namespace verve {

namespace {

/// Of a, either way. Where forces hardly change in a step, as at the turning points of a vibration, no share of that
/// change is the energy that is missing; what is left is owed to the next step [1].
constexpr double farthest = 4;

/// You, Zheng, Li 2026, "Energy-Controllable Time Integration for Elastodynamic Contact": positions are those of
/// backward Euler, and velocities take the force at both ends of the step,
///   v = v_n + h/m ((1 - a) f(x_n+1) + a f(x_n)),
/// with the a that leads to the energy that is asked for: 0 is backward Euler, 1 symplectic for linear forces. (After the
/// abstract of the paper.) H is a parabola over a, so that nothing is searched.
/// docs/after_the_step.md
class ASearch final : public Projection {
 public:
  ASearch() : Projection(false, true) {}

 private:
  void make_room(const Island& island) override { change_ = island.motion.gradient; }

  Quantities correct(Island& island, double h, const Settings&, StepOutcome& out) override {
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    // backward Euler falls h^2 g/2 a step too far: no energy for vibrations
    if (!island.anchored()) ride(island, read(island));
    const Reading now = read(island);
    const double error = energy_error(now, m.energy);
    if (met(island, {{}, {}, error}, now, h, 0)) return {{}, {}, error};  // round-off, which would grow by a each step
    for (int i = 0; i < island.rows(); ++i) change_[i] = m.gradient[i] - change_[i];
    if (island.consistent()) {
      rate_.resize(island.rows());
      if (mass_.empty()) mass_ = island.consistent_mass();
      mass_.divide(f.mass, change_, rate_, 1e-15);
      change_.swap(rate_);
      for (Vec4& d : change_) d = d * h;
    } else {
      for (int i = 0; i < island.rows(); ++i) change_[i] = change_[i] * (h * f.inverse_mass[i]);
    }
    double along = 0, square = 0;  // H(a) = error + along a + square a^2
    for (int i = 0; i < island.rows(); ++i) {
      Vec4 momentum = change_[i] * f.mass[i];
      if (island.consistent()) momentum += island.consistent_mass().coupling.row(change_.data(), i);
      along += dot(m.v[i], momentum), square += 0.5 * dot(change_[i], momentum);
    }
    if (!(square > 0)) {
      out.stationary = true;
      return {{}, {}, error};
    }
    // of the two roots the one towards the force at x_n, or the nearer one where both lie on a side
    const double under = along * along - 4 * square * error;
    double a = -along / (2 * square);
    if (under > 0) {
      const double root = std::sqrt(under), far = -0.5 * (along + std::copysign(root, along));
      const double one = far / square, two = far != 0 ? error / far : 0;
      a = one * two < 0 ? std::max(one, two) : std::abs(one) < std::abs(two) ? one : two;
    }
    const double wanted = a;
    a = std::clamp(a, -farthest, farthest);
    out.at_bound = !(under > 0) || a != wanted;
    out.lambda = a;
    for (int i = 0; i < island.rows(); ++i) {
      if (!(f.mass[i] > 0)) continue;
      m.v[i] += change_[i] * a, m.p[i] += change_[i] * a;
    }
    return {{}, {}, energy_error(read(island), m.energy)};
  }

  std::vector<Vec4> change_, rate_;  // of the gradient of W in the step; of v for a = 1
  ConsistentMass mass_;
};

}  // namespace

std::unique_ptr<Projection> make_a_search() { return std::make_unique<ASearch>(); }

}  // namespace verve
