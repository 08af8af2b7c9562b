#include "integrators/ledger.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/ranks.h"
#include "integrators/rigid_impulse.h"
#include "integrators/step_solver.h"

namespace verve {

namespace {

/// Of the energy that a dial asks for: a body with so much motion has something to put it into.
constexpr double moves_enough = 1e-6;

}  // namespace

double Ledger::damping_of(int body, double time) const {
  if (state_.ledger[body].damping) return *state_.ledger[body].damping;
  const Dials& dials = scene_.bodies[body].dials;
  if (const auto half_life = dials.half_life.at(time)) return std::numbers::ln2 / *half_life;
  return dials.damping.at(time).value_or(0);
}

void Ledger::hold_momenta(Island& island, double time, double h) {
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k];
    const BodyLedger& held = state_.ledger[b];
    const auto momentum = held.held_momentum ? held.held_momentum : scene_.bodies[b].dials.momentum.at(time);
    const auto spin = held.held_spin ? held.held_spin : scene_.bodies[b].dials.spin.at(time);
    if (!momentum && !spin) continue;
    const Body& body = model_.bodies[b];
    const int offset = island.offset(int(k));
    RigidImpulse push{body.mass.data(),
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
    force = sum_over_ranks(force), torque = sum_over_ranks(torque);
    if (momentum) push.set_momentum(*momentum - force * h), state_.ledger[b].debt.p = {};
    if (spin) push.set_spin(*spin - torque * h), state_.ledger[b].debt.l = {};
  }
}

/// What a dial asks of a body, in the units of metrics.csv.
std::optional<double> Ledger::dialled_energy(int body, double time) const {
  const BodyLedger& ledger = state_.ledger[body];
  if (ledger.wanted_energy) return ledger.wanted_energy;
  return ledger.held_energy ? ledger.held_energy : scene_.bodies[body].dials.energy.at(time);
}

void Ledger::inject_energy(Island& island, double time) const {
  if (settings_.conservation != Conservation::cpd || !island.contacts.touching()) return;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const auto wanted = dialled_energy(island.bodies()[k], time);
    if (!wanted) continue;
    const Body& body = model_.bodies[island.bodies()[k]];
    const Vec4* const x = island.motion.x.data() + island.offset(int(k));
    Vec4* const v = island.motion.v.data() + island.offset(int(k));
    const double missing = *wanted - island.body_total(int(k));
    const double kinetic = kinetic_energy(body.mass.data(), body.count, body.coupling, v);
    Vec3 center{};
    for (int r = 0; r < body.count; ++r) center += x[r].xyz() * (body.mass[r] / body.total_mass);
    if (!(missing > 0) || kinetic > moves_enough * missing) continue;
    const Vec3 up = direction(state_.gravity * -1.0, {});
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

void Ledger::lower_energy(Island& island, double time, double h) const {
  if (!settings_.conserves() || island.bodies().size() > 1 || island.anchored() || !island.contacts.empty()) return;
  const auto wanted = dialled_energy(island.bodies()[0], time);
  if (!wanted || *wanted >= island.body_total(0)) return;
  island.solver().lower_energy(*wanted, h, settings_);
  if (!island.is_evaluated()) island.evaluate_motion();
}

Demand Ledger::demand_on(const Island& island, double time, double h, int substeps) const {
  Demand demand;
  double mass = 0, damping = 0;
  const auto dialled = [&](int b) { return dialled_energy(b, time); };
  for (const int b : island.bodies()) {
    const BodyLedger& ledger = state_.ledger[b];
    demand.debt.p += ledger.debt.p, demand.debt.l += ledger.debt.l, demand.debt.h += ledger.debt.h;
    damping += damping_of(b, time) * model_.bodies[b].total_mass;
    mass += model_.bodies[b].total_mass;
    demand.set_energy |= dialled(b).has_value();
  }
  // Eq. 24 takes (1 - gamma h) per frame, into however many sub-steps the frame is cut
  demand.keep = std::pow(std::max(0.0, 1 - damping / mass * h * substeps), 1.0 / substeps);
  if (!demand.set_energy) return demand;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k];
    const Body& body = model_.bodies[b];
    if (const auto wanted = dialled(b)) {
      demand.energy += *wanted;
      // `total` knows nothing of wind; the step takes its force for one with a potential
      double wanted_now = once(demand.energy);
      for (int r = 0; !island.forcing.steady.empty() && r < body.count; ++r) {
        const int i = island.offset(int(k)) + r;
        wanted_now -= dot(island.forcing.force[i] - island.forcing.steady[i], island.motion.x[i]);
      }
      demand.energy = sum_over_ranks(wanted_now);
      continue;
    }
    // a body without a dial keeps what it has
    demand.energy += island.body_energies()[k] + island.contact_energies()[k] + state_.ledger[b].debt.h;
    const int first = island.offset(int(k));
    demand.energy += kinetic_energy(body.mass.data(), body.count, body.coupling, island.motion.v.data() + first);
    double sum = once(demand.energy);
    for (int i = first; i < first + body.count; ++i) sum -= dot(island.forcing.force[i], island.motion.x[i]);
    demand.energy = sum_over_ranks(sum);
  }
  return demand;
}

namespace {

/// What a dial asks for, and the step cannot lower any further.
bool at_lowest(const StepOutcome& outcome, const Demand& demand) {
  return demand.lowers() && (outcome.impossible || outcome.at_least_energy());
}

/// Of what H is above its target: what a half-life asked for and the step could not take (rigid motion on a floor
/// without friction). The next step is asked anew; owed, it would grow without end.
double untaken(const Island& island, const StepOutcome& outcome, const Demand& demand) {
  if (island.contacts.empty() || !(demand.keep < 1) || demand.set_energy) return 0;
  const double asked = outcome.before + demand.debt.h - outcome.target_total;
  return std::max(0.0, std::min(outcome.residual.h, asked));
}

}  // namespace

Quantities Ledger::deficit_after(const Island& island, const StepOutcome& outcome, const Demand& demand) const {
  const ProjectionEntry* after = settings_.projection;
  Quantities out;
  if (settings_.conservation != Conservation::cpd && !after) return out;
  // energy for a body at rest, which has no motion to put it into, is not owed: a tap would set it all free
  const bool nowhere = demand.set_energy && outcome.stationary && outcome.residual.h < 0;
  if (!at_lowest(outcome, demand) && !nowhere && (!after || after->energy))
    out.h = untaken(island, outcome, demand) - outcome.residual.h;
  if (island.anchored() || (after && !after->momenta)) return out;
  out.p = outcome.residual.p * -1.0, out.l = outcome.residual.l * -1.0;
  return out;
}

void Ledger::settle(const Island& island, const StepPlan& plan, const StepOutcome& outcome, const Demand& demand) {
  const Quantities deficit = deficit_after(island, outcome, demand);
  // where all contacts lose energy, so does the step
  const bool loses =
      settings_.conserves() && outcome.energy_released && island.memory.loses_energy() && outcome.residual.h < 0;
  double mass = 0;
  for (const int b : island.bodies()) mass += model_.bodies[b].total_mass;
  for (const int b : island.bodies()) {
    BodyLedger& ledger = state_.ledger[b];
    const double share = model_.bodies[b].total_mass / mass;
    if (outcome.asleep) {  // books that went round would change by round-off for ever
      ledger.booked_loss += std::max(0.0, ledger.debt.h) - outcome.residual.h * share;
      ledger.debt = {{}, {}, std::min(0.0, ledger.debt.h)};
      ledger.multiplier = 0, ledger.target_total = -ledger.debt.h;
      continue;
    }
    ledger.debt = {deficit.p * share, deficit.l * share, loses ? 0 : deficit.h * share};
    ledger.heat += outcome.heat * share;
    ledger.multiplier = outcome.lambda;
    // of which measure() makes the target, once x and v are stored
    ledger.target_total = (outcome.residual.h - untaken(island, outcome, demand)) * share;
    if (!at_lowest(outcome, demand) && plan.mode != Mode::driven)
      ledger.wanted_energy.reset();  // it stays in force until it is met
    if (!loses) continue;
    // (of what a dial asked for, only that was lost which was there)
    const double missed = -outcome.residual.h, fell = outcome.before - outcome.target_total + missed;
    const double lost = demand.set_energy ? std::clamp(fell, 0.0, missed) : missed;
    ledger.booked_loss += lost * share;
  }
}

double Ledger::owed_to(const Bounce& bounce) const {
  if (settings_.conservation != Conservation::cpd) return 0;
  const auto owed = [&](int b) { return b < 0 ? 0 : state_.ledger[b].debt.h; };
  return owed(bounce.body) + owed(bounce.other);
}

void Ledger::pay(const Bounce& bounce, double paid) {
  const double share = paid / owed_to(bounce);
  for (const int b : {bounce.body, bounce.other}) {
    if (b < 0) continue;
    BodyLedger& ledger = state_.ledger[b];
    ledger.target_total += share * ledger.debt.h;  // by which H missed its target
    ledger.debt.h -= share * ledger.debt.h;
  }
}

}  // namespace verve
