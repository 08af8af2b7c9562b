#include "integrators/held_motion.h"
#include "integrators/island.h"
#include "integrators/projection.h"

namespace verve {

namespace {

/// Mueller et al. 2007, "Position Based Dynamics", Sec. 3.5, which PD Sec. 6 names for its damping: after the step the
/// velocities of each body come nearer to those of the rigid motion with its momenta, by the share that half_life and
/// damping ask for. P, L and rigid motions stay as they are.
class VelocityFilter final : public Projection {
 public:
  VelocityFilter() : Projection(false, false) {}

 private:
  Quantities correct(Island& island, double, const Settings&, StepOutcome&) override {
    if (!(aim_.keep < 1)) return {};
    Motion& m = island.motion;
    HeldMomenta all;
    all.count = 6;
    for (size_t k = 0; k < island.bodies().size(); ++k) {
      const Body& body = island.body(int(k));
      const int first = island.offset(int(k));
      const Masses masses{body.mass.data(), body.count, body.total_mass, &body.coupling};
      const RigidMotion rigid = held_motion(masses, all, m.x.data() + first, m.v.data() + first);
      relative_.resize(body.count);
      relative_motion(masses, rigid, m.x.data() + first, m.v.data() + first, relative_.data());
      for (int r = 0; r < body.count; ++r) {
        const Vec4 less = relative_[r] * (1 - aim_.keep);
        m.v[first + r] -= less, m.p[first + r] -= less;
      }
    }
    return {};
  }

  std::vector<Vec4> relative_;
};

}  // namespace

std::unique_ptr<Projection> make_velocity_filter() { return std::make_unique<VelocityFilter>(); }

}  // namespace verve
