// The frame of an island that touches nothing: as many sub-steps as its vibration needs, and more where one of them
// fails.
#include <algorithm>
#include <cmath>

#include "integrators/world.h"

namespace verve {

namespace {

constexpr int most_substeps = 16;
/// Where the length of steps is searched for, forces grow beyond what A knows of: a nearly incompressible body that
/// collapses from three times its length bounces off J = 1/27 in a hundredth of a frame. Steps that follow this hold H
/// in a few iterations each, longer ones in none.
constexpr int most_searched = 256;
/// h times the frequency of the deformation that one sub-step may have: about four steps per period.
constexpr double phase_per_step = 1.6;

/// Frames on backward Euler after the method's own base failed at the shortest sub-step: frequencies far out of reach,
/// as of a gram of rubber tied to a ton, which backward Euler passes over.
constexpr int calm_stay = 30;

/// Of what a frame may take: once it has taken so much, what did not go well is not tried again.
constexpr double tried_share = 0.3;
/// And of what is left when islands that have met begin anew, at least.
constexpr double left_share = 0.25;
/// Iterations of a sub-step that are worth one.
constexpr int worthwhile = 5;
/// Of what a frame may take.
constexpr double may_become_short = 0.25;

int power_of_two(int n) {
  int out = 1;
  while (out < n) out *= 2;
  return out;
}

int substeps_for(double phase, int now) {
  int n = 1;
  while (n < 8 && phase / n > phase_per_step) n *= 2;
  // hysteresis: come down only when well below the threshold
  if (n < now && phase > 0.7 * phase_per_step * now / 2) n = std::min(now, 8);
  return n;
}

/// A frame that began with `tried` sub-steps has taken `used`. What it needed, the next one may need too, or half of it:
/// to find out that it does costs as much as a frame. So each time that half did not do, the next try waits twice as
/// long.
void come_down(SubstepControl& c, int tried, int used) {
  constexpr int longest = 15;
  if (tried < c.last) c.waiting = used > tried ? std::min(2 * c.waiting + 1, longest) : 0;
  if (used > tried) c.frames_to_wait = c.waiting;
  c.last = used;
  c.least = c.frames_to_wait > 0 ? used : std::max(1, used / 2);
  if (c.frames_to_wait > 0) --c.frames_to_wait;
}

/// Of a body that flies without moving in itself, H is round-off of its flight.
bool resolves_energy(const Island& island, double e_ref) {
  double kinetic = 0;
  for (int i = 0; i < island.rows(); ++i)
    kinetic += 0.5 * island.forcing.mass[i] * dot(island.motion.v[i], island.motion.v[i]);
  return e_ref > 1e-6 * kinetic;
}

}  // namespace

/// What an island may take of what is left of a frame: by its share of the vertices that are still to come.
World::Allowance World::allowance_of(const Island& island) const {
  Allowance out;
  // nothing would keep these from gaining where a step is cut short, and what is fixed cannot be taken again shorter
  const bool fixed = settings.substeps > 0 && settings.conservation == Conservation::cpd;
  if (!(settings.budget > 0) || island.searches() || island.consistent() || fixed) return out;
  double rows = island.rows();
  for (const Island* other : islands_)
    if (other != &island && !stood(*other) && std::find(arrived_.begin(), arrived_.end(), other) == arrived_.end())
      rows += other->rows();
  out.milliseconds = std::max(left_, left_share * settings.budget) * island.rows() / rows;
  out.begun = island.work().milliseconds();
  const double least = island.substep_cost(worthwhile);
  out.substeps = 1;
  while (out.substeps < most_substeps && 2 * out.substeps * least <= out.milliseconds) out.substeps *= 2;
  return out;
}

StepOutcome World::advance_free(Island& island, StepReport& report) {
  const double h = scene.step;
  const bool automatic = settings.substeps == 0;
  SubstepControl& control = island.memory.substeps;
  Allowance allowance = allowance_of(island);
  const int finest = island.searches() ? most_searched : most_substeps;
  int most = std::min(finest, allowance.substeps);
  int n = std::max(settings.substeps, 1);
  if (automatic) {
    if (!island.is_evaluated()) island.evaluate_motion();
    const double phase = island.at_rest(h, settings.tolerance) ? 0 : island.observe_frequency(h);
    n = std::max({substeps_for(phase, control.last), control.least, 1});
    // so that it can be halved where that may become short
    if (n * island.substep_cost(worthwhile) > may_become_short * allowance.milliseconds)
      n = std::min(power_of_two(n), most);
  }
  const int tried = n;
  bool calm = control.fallback_frames > 0;
  const bool restarts = island.restarts;
  // A dial may ask for less energy than a step can lose; then the state is lowered first, once.
  bool may_lower = settings.conservation == Conservation::cpd && island.bodies().size() == 1 && !island.anchored();
  bool lowers = false;
  double lowered = 0;
  int iterations = 0;  // attempts that were taken back cost as much as those that stand
  int turned = 0;      // sub-steps before this frame was cut for a turning point, which the next one will not have
  for (;;) {
    bool shortest = !automatic || n >= most;
    bool last_chance = shortest && (calm || !automatic || !settings.calm);
    StepOutcome outcome;
    bool failed = false, too_high = false, gained_most = false;
    StepErrors worst;
    for (int sub = 0; sub < n && !failed; ++sub) {
      const double time = clock(state.frame + double(sub + 1) / n);
      place_anchors(island, time, double(sub + 1) / n);
      blow(island, time, h / n);
      if (sub == 0 && island.driven && allowance.limits()) {
        // what is driven has no H to go back to: its time is unbounded
        allowance = {}, most = finest;
        shortest = !automatic || n >= most, last_chance = shortest && (calm || !automatic || !settings.calm);
      }
      hold_momenta(island, time, h / n);
      if (!island.is_evaluated()) island.evaluate_motion();
      const Demand demand = demand_on(island, time, h / n, n);
      island.allowance = allowance.left(island) / (n - sub);
      outcome = take_step(island, h / n, demand, calm);
      iterations += outcome.iterations;
      report.timings += outcome.timings;
      if (outcome.status == StepOutcome::Status::not_factorizable || outcome.status == StepOutcome::Status::infeasible)
        return outcome;
      failed = outcome.status == StepOutcome::Status::not_finite;
      // Shorter steps would not end with less where this one has ended by itself, nor pay what it was asked to pay and
      // did not gain.
      const bool held = settings.conservation == Conservation::cpd && !island.driven;
      const bool flies = held && !demand.lowers();
      const bool ended = calm || !outcome.rose || outcome.cut || outcome.let_go ||
                         outcome.status == StepOutcome::Status::converged || outcome.iterations >= patience_of_steps;
      if (!failed && flies && ended) island.bound_energy(demand, outcome);
      too_high = may_lower && demand.set_energy && !outcome.impossible &&
                 outcome.residual.h > settings.tolerance * outcome.e_ref;
      if (too_high) lowers = true, lowered = demand.energy, failed = true;
      const bool settled = outcome.impossible && outcome.status == StepOutcome::Status::converged;
      const bool taken = outcome.cut || (allowance.limits() && ((2 * n > most && most < finest) ||
                                                                allowance.spent(island) >
                                                                    tried_share * allowance.milliseconds));
      if (!last_chance && !taken && !settled && !(demand.lowers() && outcome.at_least_energy())) {
        // what holds everything but has not come to its end may go on where no shorter step is left
        const bool enough = shortest && flies && outcome.step_length < 0.1 &&
                            std::max({outcome.error_p, outcome.error_l, outcome.error_h}) <= settings.tolerance;
        failed |= outcome.status == StepOutcome::Status::stopped && outcome.iterations >= patience_of_steps &&
                  !island.driven && !enough;
        failed |= (outcome.stalled || outcome.let_go) && !island.driven;
        // the step could not give enough energy, or could not take enough of it at once
        failed |= outcome.at_bound && (outcome.lambda < -0.5 || outcome.error_h > 0.1);
        // at a turning point of its vibration nothing moves H: shorter steps miss it by less
        const bool exact =
            outcome.stationary && !island.anchored() && !island.searches() && resolves_energy(island, outcome.e_ref);
        if (!failed && outcome.stationary && outcome.error_h > (exact ? settings.tolerance : 0.01)) {
          failed = true;
          if (exact && turned == 0) turned = n;
        }
      }
      if (failed) break;
      if (held) island.bound_energy(demand, outcome);
      const double after = outcome.target_total + outcome.residual.h;
      failed = gained_most = automatic && allowance.limits() &&
                             std::min(outcome.residual.h, after - outcome.before) > most_astray * outcome.e_ref;
      if (failed) break;
      worst.add(outcome);
      settle(island, outcome, demand), book_wind(island);
      island.restarts = false;
    }
    if (allowance.limits() && (gained_most || outcome.status == StepOutcome::Status::not_finite)) {
      allowance = {}, most = finest;  // now its time is unbounded
      if (n < most) shortest = last_chance = !automatic;
    }
    if (failed && last_chance && !too_high) return outcome;
    if (failed) {
      back_to_start(island, restarts);
      if (lowers) {
        hold_momenta(island, clock(state.frame + 1.0 / n), h / n);  // to be lowered with the momenta it will have
        if (!island.lower_energy(lowered, h / n, settings)) lowers = false;
      }
      if (too_high) {
        may_lower = false;
      } else if (shortest) {
        // where the length of steps is searched for, those of backward Euler do not hold H and cannot stall
        // (Island::step): one frame of the shortest, then the method's own again
        calm = true, control.fallback_frames = island.searches() ? 1 : calm_stay, n = island.searches() ? most : 1;
      } else {
        n *= 2;
      }
      continue;
    }
    if (automatic) {
      if (control.fallback_frames > 0) --control.fallback_frames;
      come_down(control, tried, turned > 0 ? turned : n);
    }
    write_report(island, iterations, n, worst, report);
    report.multiplier = outcome.lambda;
    return outcome;
  }
}

}  // namespace verve
