// The frame of an island that touches nothing: plan, solve, correct momenta and energy, account.
#include <algorithm>
#include <cmath>

#include "integrators/world.h"

namespace verve {

namespace {

constexpr int most_substeps = 16;
/// Of these, for the sake of the phase.
constexpr int most_for_vibration = 8;
/// Where the length of steps is searched for, forces grow beyond what the matrix knows of: a nearly incompressible body
/// that collapses from three times its length bounces off J = 1/27 in a hundredth of a frame. A step that is too long to
/// lead anywhere is taken again with half of its length, up to so many in a frame, and then by backward Euler.
constexpr int most_searched = 256;
/// Of E_ref.
constexpr double little = 0.01;
/// h times the frequency of the deformation that one sub-step may have: about four steps per period; eight where steps
/// are searched for their length, which take fewer iterations in all then (presets from mirrored, flat and random
/// starts: 36 to 60 a frame in place of 40 to 140) and do not end in a fold.
constexpr double phase_per_step = 1.6, phase_per_searched = 0.8;
/// Iterations of the hardest step of a frame, above which the next frame has steps of half the length, and below which
/// of twice. (Mean distance of 60 frames of `rope`, `flag` and `trampoline` from fine steps: 0.037, 0.22 and 0.15 in 107,
/// 33 and 28 iterations a frame; with 40 and 13 it is 0.54, 0.25 and 0.18, with 20 and 6 0.031, 0.22 and 0.12 in 108, 29
/// and 36. Solids have little energy in what a step does not resolve: with 20 `bear` takes a fifth longer for a twentieth
/// less distance.)
constexpr int hard_solve = 20, hard_for_solids = 30, easy_solve = 10;

/// Of what is left of a frame when islands that have met begin anew, at least.
constexpr double left_share = 0.25;
/// Iterations of a sub-step that are worth one.
constexpr int worthwhile = 5;

/// `now`: as many as it was until now, from which it comes down only when well below the threshold.
int substeps_for(double phase, double per_step, int now, int most) {
  int n = 1;
  while (n < most && phase / n > per_step) n *= 2;
  if (n < now && phase > 0.7 * per_step * now / 2) n = std::min(now, most);
  return n;
}

/// Numbers that are not finite; or where some potential has its steps searched for their length none that was short
/// enough, or no end of the iterations.
bool leads_nowhere(const Island& island, const StepOutcome& outcome) {
  if (outcome.status == StepOutcome::Status::not_finite) return true;
  const bool exhausted = outcome.status == StepOutcome::Status::stopped && outcome.iterations >= patience_of_steps;
  return island.searches() && (outcome.stalled || outcome.energy_released || exhausted);
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
  const bool conserves = settings.conservation == Conservation::cpd, restarts = island.restarts;
  const bool adapts = conserves && island.searches() && settings.substeps == 0;
  const Allowance allowance = allowance_of(island);
  const int planned = plan_free_substeps(island, h, allowance);
  int n = planned, steps = 0, iterations = 0, most_iterations = 0;
  StepErrors worst;
  StepOutcome outcome;
  bool fallback = false;
  for (double done = 0; done < 1;) {
    if (adapts) keep_substep(island);
    const double time = clock(state.frame + done + 1.0 / n);
    place_anchors(island, time, done + 1.0 / n);
    blow(island, time, h / n);
    hold_momenta(island, time, h / n);
    if (!island.is_evaluated()) island.evaluate_motion();
    if (steps == 0) lower_dialled_energy(island, time, h / n);
    const Demand demand = demand_on(island, time, h / n, n);
    // solve
    island.allowance = allowance.left(island) / n / (1 - done);
    outcome = take_step(island, h / n, demand, fallback);
    iterations += outcome.iterations;
    report.timings += outcome.timings;
    if (conserves && !island.driven && !fallback && leads_nowhere(island, outcome)) {
      if (adapts) {
        return_to_substep(island);
        n < most_searched ? void(n *= 2) : void(fallback = true);
      } else {
        back_to_start(island, restarts);
        fallback = true, done = steps = 0, worst = {};
      }
      island.energy_changed();
      continue;
    }
    if (outcome.status != StepOutcome::Status::converged && outcome.status != StepOutcome::Status::stopped)
      return outcome;
    // correct momenta and energy
    if (conserves && !island.driven) {
      island.return_momenta(outcome);
      island.bound_energy(demand, outcome);
      // much that a solve has not found is owed: the motion would have it elsewhere than it belongs
      const bool found = outcome.status == StepOutcome::Status::converged || outcome.error_h <= little;
      if (found && !fallback) island.return_energy(outcome);
    }
    // account
    most_iterations = std::max(most_iterations, outcome.iterations);
    worst.add(outcome);
    settle(island, outcome, demand), book_wind(island);
    island.restarts = false;
    done += 1.0 / n, ++steps;
    if (!adapts) continue;
    // the next may be twice as long, where the frame still ends with a step
    fallback = false;
    if (n > planned && done * n / 2 == std::floor(done * n / 2)) n /= 2;
  }
  SubstepControl& control = island.memory.substeps;
  if (settings.substeps == 0) control.last = std::min(n, most_substeps), control.iterations = most_iterations;
  write_report(island, iterations, steps, worst, report);
  report.multiplier = outcome.lambda;
  return outcome;
}

int World::plan_free_substeps(Island& island, double h, const Allowance& allowance) {
  if (settings.substeps > 0) return settings.substeps;
  if (!island.is_evaluated()) island.evaluate_motion();
  const double phase = island.at_rest(h, settings.tolerance) ? 0 : island.observe_frequency(h);
  const double per_step = island.searches() ? phase_per_searched : phase_per_step;
  const SubstepControl& control = island.memory.substeps;
  const int by_phase = substeps_for(phase, per_step, control.last, most_for_vibration);
  const int hard = island.is_solid() ? hard_for_solids : hard_solve;
  // steps that were too long for their solves are halved in the next frame, and doubled again when they are easy
  const int by_solves = control.iterations >= hard         ? 2 * control.last
                        : control.iterations >= easy_solve ? control.last
                                                           : control.last / 2;
  return std::clamp(std::max(by_phase, by_solves), 1, std::min(most_substeps, allowance.substeps));
}

/// A dial may ask for less energy than a step can lose: what moves by itself is lowered before the frame.
void World::lower_dialled_energy(Island& island, double time, double h) {
  if (settings.conservation != Conservation::cpd || island.bodies().size() > 1 || island.anchored()) return;
  const int b = island.bodies()[0];
  const auto wanted = dialled_energy(b, time);
  if (!wanted || *wanted >= total(b)) return;
  island.lower_energy(*wanted, h, settings);
  if (!island.is_evaluated()) island.evaluate_motion();
}

}  // namespace verve
