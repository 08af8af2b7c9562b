#include <algorithm>
#include <cmath>

#include "integrators/island.h"
#include "integrators/projection.h"

namespace verve {

namespace {

/// Velocities of deformation grow by no more than this in one step. At a turning point they are next to nothing and
/// the forces are largest: what is missing there comes from these. What is too much is taken from them whole: a step
/// that goes back to the rest shape at once, as that of pbd, turns all of W into velocity, many times what was there.
constexpr double most_growth = 2;

/// Energy budgeting after Su, Sheth and Fedkiw 2013, "Energy Conservation for the Simulation of Deformable Bodies":
/// the step is that of any integrator, and the energy that it lost or gained is booked and given back by forces inside
/// the body, which leave its momenta alone. Here these forces act along the velocities of deformation, as damping would
/// and with either sign, so that one square root hits the energy and x stays where the step has put it. docs/fepr.md
class EnergyBudget final : public Projection {
 public:
  EnergyBudget() : Projection(true, true) {}

 private:
  void make_room(const Island& island) override { kick_.resize(island.rows()); }
  /// More of the forces that act already: v += a M^-1 (f - grad W), with the a that brings the energy that is missing.
  /// The masses are lumped here; of a consistent mass matrix the rest is put right by restore_momenta.
  void push_on(Island& island, const Reading& now, double missing) {
    if (!(missing > 0)) return;
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    for (int i = 0; i < island.rows(); ++i) {
      Vec3 force = f.force[i].xyz() - m.gradient[i].xyz();
      if (aim_.momenta) force -= now.force * (f.mass[i] / total_mass_);
      kick_[i] = Vec4(force * f.inverse_mass[i]);
    }
    double along = 0, square = 0;
    for (int i = 0; i < island.rows(); ++i) {
      Vec4 mass = kick_[i] * f.mass[i];
      if (island.consistent()) mass += island.consistent_mass().coupling.row(kick_.data(), i);
      along += dot(m.v[i], mass), square += dot(kick_[i], mass);
    }
    if (!(square > 0)) return;
    // of the two roots the one of less change
    const double root = std::sqrt(along * along + 2 * square * missing);
    const double a = along >= 0 ? 2 * missing / (along + root) : -2 * missing / (root - along);
    for (int i = 0; i < island.rows(); ++i) m.v[i] += kick_[i] * a, m.p[i] += kick_[i] * a;
    if (aim_.momenta && island.consistent()) restore_momenta(island);
  }

  Quantities correct(Island& island, double, const Settings&, StepOutcome& out) override {
    Motion& m = island.motion;
    Reading now = read(island);
    if (aim_.momenta) {
      ride(island, now);
      restore_momenta(island);
      now = read(island);
    }
    // the rigid motion that the momenta ask for; an anchored island has none of its own
    Vec3 v{}, w{};
    double deforming = now.kinetic + 0.5 * dot(now.p, now.velocity);
    if (aim_.momenta) {
      v = now.velocity;
      w = pseudo_inverse(now.inertia, 1e-10) * now.l;
      deforming = now.kinetic - 0.5 * dot(w, now.l);
    }
    const double missing = -energy_error(now, m.energy);
    const double noise = 1e-14 * (now.kinetic + 0.5 * dot(now.p, now.velocity));
    if (deforming <= noise) {
      out.stationary = true;
      return {now.p - aim_.target.p, now.l - aim_.target.l, -missing};
    }
    const double share = 1 + missing / deforming;
    const double growth = std::min(std::sqrt(std::max(0.0, share)), most_growth);
    out.at_bound = share < 0 || growth == most_growth;
    out.lambda = 1 - growth;
    for (int i = 0; i < island.rows(); ++i) {
      if (!(island.forcing.mass[i] > 0)) continue;
      const Vec4 change = (m.v[i] - Vec4(v + cross(w, m.x[i].xyz() - now.center))) * (growth - 1);
      m.v[i] += change, m.p[i] += change;
    }
    now = read(island);
    if (growth == most_growth) {
      push_on(island, now, -energy_error(now, m.energy));
      now = read(island);
    }
    return {now.p - aim_.target.p, now.l - aim_.target.l, energy_error(now, m.energy)};
  }

  std::vector<Vec4> kick_;
};

}  // namespace

std::unique_ptr<Projection> make_energy_budget() { return std::make_unique<EnergyBudget>(); }

}  // namespace verve
