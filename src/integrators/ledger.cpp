// The ledger of every body: what the dials ask of a step, what it left over and is owed to the next one, and what
// counts as lost.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "integrators/world.h"

namespace verve {

namespace {

/// Bodies of an island from which on it is a pile: what an impact in it loses is not given back when two of them part.
constexpr int least_pile = 3;

}  // namespace

namespace {

/// Of the energy that a dial asks for: a body with so much motion has something to put it into.
constexpr double moves_enough = 1e-6;

}  // namespace

double World::damping_of(int body, double time) const {
  if (state.ledger[body].damping) return *state.ledger[body].damping;
  const Dials& dials = scene.bodies[body].dials;
  if (const auto half_life = dials.half_life.at(time)) return std::numbers::ln2 / *half_life;
  return dials.damping.at(time).value_or(0);
}

/// Dials of P and L (Eq. 23): a rigid push such that the step ends on the dialled value.
void World::hold_momenta(Island& island, double time, double h) {
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k];
    const BodyLedger& held = state.ledger[b];
    const auto momentum = held.held_momentum ? held.held_momentum : scene.bodies[b].dials.momentum.at(time);
    const auto spin = held.held_spin ? held.held_spin : scene.bodies[b].dials.spin.at(time);
    if (!momentum && !spin) continue;
    const Body& body = model.bodies[b];
    const int offset = island.offset(int(k));
    Kick push{body.mass.data(),
              island.motion.x.data() + offset,
              island.motion.v.data() + offset,
              island.motion.p.data() + offset,
              body.count,
              body.total_mass,
              &body.coupling};
    const Vec3 c = push.center();
    Vec3 force{}, torque{};
    for (int r = 0; r < body.count; ++r) {
      const Vec3 f = island.forcing.force[offset + r].xyz();
      force += f;
      torque += cross(island.motion.x[offset + r].xyz() - c, f);
    }
    if (momentum) push.set_momentum(*momentum - force * h), state.ledger[b].debt.p = {};
    if (spin) push.set_spin(*spin - torque * h), state.ledger[b].debt.l = {};
  }
}

/// What a dial asks of a body, in the units of metrics.csv.
std::optional<double> World::dialled_energy(int body, double time) const {
  const BodyLedger& ledger = state.ledger[body];
  if (ledger.wanted_energy) return ledger.wanted_energy;
  return ledger.held_energy ? ledger.held_energy : scene.bodies[body].dials.energy.at(time);
}

/// Energy for a body that lies still on something: where nothing moves no step can put it anywhere (grad H vanishes).
/// On the world it pushes itself off, against its weight; else it swells, which changes neither P nor L. One that
/// floats at rest stays as it is.
void World::inject_energy(Island& island, double time) const {
  if (settings.conservation != Conservation::cpd || !island.contacts.touching() || island.driven) return;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const auto wanted = dialled_energy(island.bodies()[k], time);
    if (!wanted) continue;
    const Body& body = model.bodies[island.bodies()[k]];
    const Vec4* const x = island.motion.x.data() + island.offset(int(k));
    Vec4* const v = island.motion.v.data() + island.offset(int(k));
    const double missing = *wanted - total(island.bodies()[k]);
    double kinetic = 0;
    Vec3 center{};
    for (int r = 0; r < body.count; ++r) {
      kinetic += 0.5 * body.mass[r] * dot(v[r], v[r]);
      center += x[r].xyz() * (body.mass[r] / body.total_mass);
    }
    if (!(missing > 0) || kinetic > moves_enough * missing) continue;
    const Vec3 up = direction(state.gravity * -1.0, {});
    const bool hops = island.contacts.grounded() && norm(up) > 0;
    const auto way = [&](int r) { return hops ? up : x[r].xyz() - center; };
    double second = 0;
    for (int r = 0; r < body.count; ++r) second += body.mass[r] * dot(way(r), way(r));
    if (!(second > 0)) continue;
    const double rate = std::sqrt(2 * missing / second);
    for (int r = 0; r < body.count; ++r) v[r] += Vec4(way(r) * rate);
    island.motion.history = false;
  }
}

Demand World::demand_on(const Island& island, double time, double h, int substeps) const {
  Demand demand;
  double mass = 0, damping = 0;
  const auto dialled = [&](int b) { return dialled_energy(b, time); };
  for (const int b : island.bodies()) {
    const BodyLedger& ledger = state.ledger[b];
    demand.debt.p += ledger.debt.p, demand.debt.l += ledger.debt.l, demand.debt.h += ledger.debt.h;
    damping += damping_of(b, time) * model.bodies[b].total_mass;
    mass += model.bodies[b].total_mass;
    demand.set_energy |= dialled(b).has_value();
  }
  // Eq. 24 takes (1 - gamma h) per frame, into however many sub-steps the frame is cut
  demand.keep = std::pow(std::max(0.0, 1 - damping / mass * h * substeps), 1.0 / substeps);
  if (!demand.set_energy) return demand;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k];
    const Body& body = model.bodies[b];
    if (const auto wanted = dialled(b)) {
      demand.energy += *wanted;
      // `total` knows nothing of wind; the step takes its force for one with a potential
      for (int r = 0; !island.forcing.steady.empty() && r < body.count; ++r) {
        const int i = island.offset(int(k)) + r;
        demand.energy -= dot(island.forcing.force[i] - island.forcing.steady[i], island.motion.x[i]);
      }
      continue;
    }
    // a body without a dial keeps what it has
    demand.energy += island.body_energies()[k] + island.contact_energies()[k] + state.ledger[b].debt.h;
    demand.energy += body.coupling.kinetic(island.motion.v.data() + island.offset(int(k)));
    for (int r = 0; r < body.count; ++r) {
      const int i = island.offset(int(k)) + r;
      const Vec4 &v = island.motion.v[i], &x = island.motion.x[i];
      demand.energy += 0.5 * body.mass[r] * dot(v, v) - dot(island.forcing.force[i], x);
    }
  }
  return demand;
}

/// Books what a step left over, shared by mass between the bodies of the island.
void World::settle(const Island& island, const StepOutcome& outcome, const Demand& demand) {
  double mass = 0;
  for (const int b : island.bodies()) mass += model.bodies[b].total_mass;
  for (const int b : island.bodies()) {
    BodyLedger& ledger = state.ledger[b];
    const double share = model.bodies[b].total_mass / mass;
    if (outcome.stands) {  // books that went round would change by round-off for ever
      ledger.booked_loss += std::max(0.0, ledger.debt.h) - outcome.residual.h * share;
      ledger.debt = {{}, {}, std::min(0.0, ledger.debt.h)};
      ledger.multiplier = 0, ledger.energy_released = true, ledger.target_total = -ledger.debt.h;
      continue;
    }
    ledger.debt = {};
    ledger.heat += outcome.heat * share;
    ledger.multiplier = outcome.lambda, ledger.energy_released = outcome.energy_released && island.inelastic;
    ledger.target_total = outcome.residual.h * share;  // of which measure() makes the target, once x and v are stored
    // what a dial asks for and the step cannot lower any further is not owed, and set_energy stays in force until it is
    // met; a body left to itself owes all that it has too much
    const bool lowest = demand.lowers() && (outcome.impossible || outcome.at_least_energy());
    // energy for a body at rest, which has no motion to put it into: not owed either, or a tap would set it all free
    const bool nowhere = demand.set_energy && outcome.stationary && outcome.residual.h < 0;
    if (!lowest && !island.driven) ledger.wanted_energy.reset();
    const ProjectionEntry* after = settings.projection;
    if (settings.conservation != Conservation::cpd && !after) continue;
    if (outcome.energy_released && island.inelastic && outcome.residual.h < 0) {
      // hard ones that part again are then given what they are short of
      const bool hard = int(island.bodies().size()) < least_pile;
      // (of what a dial asked for, only that was lost which was there)
      const double missed = -outcome.residual.h, fell = outcome.before - outcome.target_total + missed;
      const double lost = demand.set_energy ? std::clamp(fell, 0.0, missed) : missed;
      if (hard && !island.has_sheets()) ledger.pending += lost * share;
      ledger.booked_loss += lost * share;
    } else if (!lowest && !nowhere && (!after || after->energy)) {
      ledger.debt.h = -outcome.residual.h * share;
    }
    if (island.anchored() || (after && !after->momenta)) continue;
    ledger.debt.p = outcome.residual.p * -share;
    ledger.debt.l = outcome.residual.l * -share;
  }
}

/// Of H, to those who part here, under constraints.
double World::owed_to(const Bounce& bounce) const {
  if (settings.conservation != Conservation::cpd) return 0;
  const auto owed = [&](int b) { return b < 0 ? 0 : state.ledger[b].debt.h + state.ledger[b].pending; };
  return owed(bounce.body) + owed(bounce.other);
}

/// Takes what they got off their debts, from each its share.
void World::pay(const Bounce& bounce, double paid) {
  const double share = paid / owed_to(bounce);
  for (const int b : {bounce.body, bounce.other}) {
    if (b < 0) continue;
    BodyLedger& ledger = state.ledger[b];
    ledger.target_total += share * (ledger.debt.h + ledger.pending);  // by which H missed its target
    ledger.booked_loss -= share * ledger.pending;
    ledger.debt.h -= share * ledger.debt.h, ledger.pending -= share * ledger.pending;
  }
}

/// What an impact has lost and nobody gets any more is a loss.
void World::book_impacts() {
  for (size_t b = 0; b < state.ledger.size(); ++b) {
    BodyLedger& ledger = state.ledger[b];
    if (ledger.pending == 0) continue;
    const bool goes_on = std::any_of(state.bounces.begin(), state.bounces.end(), [&](const Bounce& bounce) {
      return (bounce.body == int(b) || bounce.other == int(b)) && bounce.free == 0 && is_impact(bounce);
    });
    if (!goes_on) ledger.pending = 0;
  }
}

}  // namespace verve
