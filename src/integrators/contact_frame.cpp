// The frame of an island with something near: how many sub-steps it takes is known before it begins.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stopwatch.h"
#include "integrators/world.h"

namespace verve {

namespace {

constexpr int most_substeps = 16;
/// Of vibrations and impacts; nothing may pass another thing unseen in however many it takes (most_substeps).
constexpr int most_for_vibration = 8;
/// h times the frequency of the deformation that one sub-step may have.
constexpr double phase_per_step = 0.8;
/// Iterations that make a sub-step worth its while.
constexpr int worthwhile = 5;
/// What looking for contacts and the columns of a step take, in iterations.
constexpr int preparation = 4;
/// Slow ones in a row after which an island sleeps.
constexpr int frames_to_sleep = 10;

int steps_for(double phase, int most) {
  int n = 1;
  while (n < most && phase / n > phase_per_step) n *= 2;
  return n;
}

}  // namespace

/// Of those that may touch, the greatest.
double World::largest_restitution(const Island& island) const {
  double e = 0;
  for (const Contacts::TouchingPair& m : island.contacts.touching_pairs) {
    const int other = m.other >= 0 ? island.bodies()[m.other] : int(model.bodies.size()) + m.collider;
    e = std::max(e, pair_of(island.bodies()[m.body], other).restitution);
  }
  for (const int b : island.bodies())
    if (scene.contact && scene.contact->self) e = std::max(e, pair_of(b, b).restitution);
  return e;
}

/// Everything that touches here loses energy, and no impact is going on: what vibrates on after that is to come to rest.
bool World::settles(const Island& island) const {
  if (!island.inelastic) return false;
  bool rests = false;
  for (const Bounce& bounce : state.bounces)
    for (const int b : island.bodies()) {
      if (bounce.body != b && bounce.other != b) continue;
      if (is_impact(bounce)) return false;
      rests = true;
    }
  return rests;
}

int World::plan_contact_substeps(Island& island, double h, const Allowance& allowance) {
  const bool automatic = settings.substeps == 0;
  if (!automatic && settings.conservation == Conservation::cpd) return settings.substeps;
  const int passing = std::max({1, contact_substeps(island, h), feature_substeps(island, h)});
  if (!automatic) return std::max(settings.substeps, passing);
  int n = passing;
  if (!island.has_sheets() && !settles(island)) {
    n = std::max(n, steps_for(island.impact_frequency(h), most_for_vibration));
    if (!island.lies_still(settings.tolerance))
      n = std::max(n, steps_for(island.observe_frequency(h), most_for_vibration));
  }
  if (!allowance.limits()) return n;
  // nothing may pass another thing unseen, whatever the budget
  const int affordable = int(allowance.left(island) / std::max(island.contact_cost(worthwhile + preparation), 1e-9));
  return std::clamp(affordable, (passing + 3) / 4, n);
}

/// The contacts of the coming frame are known, and `all`: also those that a straight prediction would not find.
StepOutcome World::advance_contact(Island& island, StepReport& report, bool all) {
  const double h = scene.step;
  const bool conserves = settings.conservation == Conservation::cpd && settings.integrator;
  const Allowance allowance = allowance_of(island);
  const int n = plan_contact_substeps(island, h, allowance);
  // the look at the whole frame serves its first step too, unless colliders are elsewhere at the end of that
  const bool seen = n == 1 || !island.contacts.any_shape_moves();
  if (!seen) back_to_start(island, island.restarts);
  const double e = largest_restitution(island);
  const bool damped = settles(island);
  int iterations = 0;
  StepErrors worst;
  StepOutcome outcome;
  for (int sub = 0; sub < n; ++sub) {
    const double from = clock(state.frame + double(sub) / n), time = clock(state.frame + double(sub + 1) / n);
    const bool driven = seen && sub == 0 && island.driven;  // by a collider
    place_anchors(island, time, double(sub + 1) / n);
    island.driven |= driven;
    blow(island, time, h / n);
    keep_substep(island);
    Demand demand;
    for (bool wide = all;; wide = true) {
      // detect
      if (sub > 0 || !seen || wide != all) prepare_contacts(island, from, time, h / n, wide);
      hold_momenta(island, time, h / n);
      if (sub == 0) inject_energy(island, time);
      if (!island.is_evaluated()) island.evaluate_motion();
      demand = demand_on(island, time, h / n, n);
      // solve
      const double limit = allowance.left(island) / (n - sub);
      island.allowance = limit;
      outcome = conserves && !island.contacts.empty()
                    ? island.contact_step(h / n, settings, demand, damped, n, limit)
                    : take_step(island, h / n, demand, false);
      detection_ += std::exchange(island.contacts.milliseconds, 0.0);
      iterations += outcome.iterations;
      report.timings += outcome.timings;
      if (outcome.status != StepOutcome::Status::converged && outcome.status != StepOutcome::Status::stopped)
        return outcome;
      if (wide || !missed_contact(island, time)) break;
      return_to_substep(island);
      island.energy_changed();
    }
    // correct energy
    if (conserves && !island.driven) {
      if (island.contacts.empty()) {
        island.bound_energy(demand, outcome);
      } else {
        island.restore_energy(outcome, e * e);
      }
    }
    worst.add(outcome);
    // account
    const bool sleeps = sub + 1 == n && falls_asleep(island);
    if (sleeps) put_to_sleep(island, outcome);
    settle(island, outcome, demand), book_wind(island);
    sleeps ? note_meetings(island) : settle_contacts(island);
    island.restarts = false;
    for (const int b : island.bodies()) state.ledger[b].lies = sleeps;
  }
  if (settings.substeps == 0) island.memory.substeps.last = n, island.memory.substeps.iterations = 0;
  write_report(island, iterations, n, worst, report);
  return outcome;
}

/// At the end of a frame: it has been slow for long enough, on things that take energy.
bool World::falls_asleep(const Island& island) {
  const bool slow = settings.conservation == Conservation::cpd && island.inelastic && is_slow(island);
  bool sleeps = slow;
  for (const int b : island.bodies()) {
    int& count = state.ledger[b].slow_frames;
    count = slow ? std::min(count + 1, frames_to_sleep) : 0;
    sleeps = sleeps && count >= frames_to_sleep;
  }
  return sleeps;
}

}  // namespace verve
