// One frame: events, then every island in as many sub-steps as it needs. It succeeds or leaves the state as it was.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "integrators/places.h"
#include "integrators/stopwatch.h"
#include "integrators/world.h"

namespace verve {

namespace {

constexpr int most_substeps = 16;
/// Where the length of steps is searched for, forces grow beyond what A knows of: a nearly incompressible body that
/// collapses from three times its length bounces off J = 1/27 in a hundredth of a frame. Steps that follow this hold H
/// in a few iterations each, longer ones in none.
constexpr int most_searched = 256;
/// Sheets that could not hold H in one frame look for it again in each of these.
constexpr int held_again = 4;
/// Of sheets that touch something: shorter steps only shift where they wrinkle.
constexpr int most_draped = 2;
/// h times the frequency of the deformation that one sub-step may have: about four steps per period.
constexpr double phase_per_step = 1.6;

/// Frames on backward Euler after the method's own base failed at the shortest sub-step: frequencies far out of reach,
/// as of a gram of rubber tied to a ton, which backward Euler passes over.
constexpr int calm_stay = 30;

/// Of E_ref: what fewer bodies than a heap, and no sheets, may lose of H in a step where they do not give back
/// everything.
constexpr double small_loss = 0.05;

/// Of what a frame may take: once it has taken so much, what did not go well is not tried again.
constexpr double tried_share = 0.3;
/// And of what is left when islands that have met begin anew, at least.
constexpr double left_share = 0.25;
/// Iterations of a sub-step that are worth one.
constexpr int worthwhile = 5;
/// Of what a frame may take.
constexpr double may_become_short = 0.25;

/// Sub-steps of a frame up to which those that went well stand when a later one fails. Where more are needed, bodies go
/// deep, and do better if they come in by short steps.
constexpr int most_kept = 8;

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

StepOutcome World::advance(Island& island, StepReport& report) {
  const double h = scene.step;
  const bool automatic = settings.substeps == 0;
  Allowance allowance = allowance_of(island);
  const int finest = island.searches() ? most_searched : most_substeps;
  int most = std::min(finest, allowance.substeps);
  int n = settings.substeps;
  place_anchors(island, clock(state.frame));  // those that have just turned on
  island.heap = false;
  // a heap lets go of H, and so of what a dial would add to it
  bool asked = false;
  for (const int b : island.bodies()) {
    const auto wanted = dialled_energy(b, clock(state.frame + 1));
    asked = asked || (wanted && *wanted > total(b));
  }
  if (!asked && int(island.bodies().size()) >= least_heap && settings.conservation == Conservation::cpd) {
    island.heap = loses(island);
    for (const int b : island.bodies()) island.heap |= state.ledger[b].let_go;
  }
  island.weary = !asked && island.has_sheets() && state.frame % held_again != 0;
  for (const int b : island.bodies()) island.weary = island.weary && state.ledger[b].let_go;
  if (automatic && !island.heap) {
    if (!island.is_evaluated()) island.evaluate_motion();
    const bool rests = island.at_rest(h, settings.tolerance) || island.lies_still(settings.tolerance);
    const double phase = rests ? 0 : island.observe_frequency(h);
    n = std::max(substeps_for(phase, island.substeps), island.forced_substeps);
  }
  Stopwatch watch;
  const int passing = std::max(contact_substeps(island, h), repels() ? 1 : feature_substeps(island, h));
  watch.book(detection_);
  n = std::max({n, 1, passing});
  // nothing may pass another thing unseen, whatever the budget; and factors are there for powers of two
  const int fewest = power_of_two((passing + 3) / 4);
  const int wanted = n;
  // so that it can be halved where that may become short
  if (automatic && n * island.substep_cost(worthwhile) > may_become_short * allowance.milliseconds)
    n = std::max(std::min(power_of_two(n), most), fewest);
  int tried = n;
  bool calm = island.calm_frames > 0;
  bool all_contacts = island.heap;  // in which bodies are pushed where they would not go by themselves
  const bool restarts = island.restarts;
  // A dial may ask for less energy than a step can shed; then the state is lowered first, once.
  bool may_lower = settings.conservation == Conservation::cpd && island.bodies().size() == 1 && !island.anchored();
  bool lowers = false;
  double lowered = 0;
  int iterations = 0;       // attempts that were taken back cost as much as those that stand
  int turned = 0;           // sub-steps before this frame was cut for a turning point, which the next one will not have
  int first = 0;            // sub-step to go on with
  bool runs_short = false;  // of time, and has fewer sub-steps for that
  BodyLedger worst;
  for (;;) {
    bool shortest = !automatic || n >= most;
    bool last_chance = shortest && (calm || !automatic || !settings.calm);
    StepOutcome outcome;
    bool failed = false, too_high = false, missed = false, strikes = false, gained_most = false;
    int impact = 0;
    if (first == 0) worst = {};
    int sub = first;
    for (; sub < n && !failed; ++sub) {
      // what has come to touch may take longer than was thought
      while (automatic && allowance.limits() && sub > 0 && sub % 2 == 0 && n % 2 == 0 && n / 2 >= fewest &&
             (n - sub) * island.substep_cost(worthwhile) > allowance.left(island))
        sub /= 2, n /= 2, first = sub, runs_short = true;
      const double prepared_from = allowance.spent(island);
      if (sub > first && has_contact()) keep_substep(island);
      const double time = clock(state.frame + double(sub + 1) / n);
      place_anchors(island, time, double(sub + 1) / n);
      blow(island, time, h / n);
      prepare_contacts(island, clock(state.frame + double(sub) / n), time, h / n, all_contacts);
      if (sub == 0 && automatic && settings.conservation == Conservation::cpd && !island.heap && !island.driven &&
          !island.has_sheets())
        impact = std::min(substeps_for(island.impact_frequency(h), 1), most);
      if (sub == 0 && island.driven && allowance.limits()) {
        // what is driven has no H to be drawn back to: it takes what it takes
        allowance = {}, most = finest, impact = wanted;
        shortest = !automatic || n >= most, last_chance = shortest && (calm || !automatic || !settings.calm);
      }
      failed = strikes = sub == 0 && impact > n;
      if (failed) break;
      hold_momenta(island, time, h / n);
      if (sub == 0) stir(island, time);
      if (!island.is_evaluated()) island.evaluate_motion();
      const Demand demand = demand_on(island, time, h / n, n);
      if (settings.projection && !island.projection) island.projection = settings.projection->make();
      if (settings.projection) island.projection->begin(island, h / n, demand);
      const int least = island.has_sheets() ? most_draped : most_substeps;  // where something touches
      const bool loose = int(island.bodies().size()) >= least_heap || island.has_sheets();
      // what did not go well is taken as it is where there is no time to try it again
      const auto out_of_time = [&] {
        return allowance.limits() && (runs_short || (2 * n > most && most < finest) ||
                                      allowance.spent(island) > tried_share * allowance.milliseconds);
      };
      const bool again = !last_chance && n < least && !island.inelastic && !island.driven && !out_of_time();
      island.preparation_cost = allowance.spent(island) - prepared_from;
      island.allowance = std::max(0.0, allowance.left(island) - (n - sub - 1) * island.preparation_cost) / (n - sub);
      island.trial_allowance = tried_share * allowance.milliseconds - allowance.spent(island);
      outcome = island.step(h / n, settings, demand, calm, again);
      detection_ += std::exchange(island.contacts.milliseconds, 0.0);
      if (outcome.status == StepOutcome::Status::not_factorizable || outcome.status == StepOutcome::Status::infeasible)
        return outcome;
      if (settings.projection && outcome.status != StepOutcome::Status::not_finite)
        island.projection->finish(island, h / n, settings, demand, outcome);
      // what touches may push harder than a step has foreseen
      const bool touches = !island.contacts.empty() && settings.conservation == Conservation::cpd && !island.driven;
      const bool high = touches && outcome.residual.h > settings.tolerance * outcome.e_ref;
      const bool gained = high && outcome.rose;
      iterations += outcome.iterations;
      report.timings += outcome.timings;
      if (again && outcome.let_go && !outcome.finished) {
        failed = true;
        break;
      }
      failed = outcome.status == StepOutcome::Status::not_finite;
      // Of what flies. Shorter steps would not end with less where this one has ended by itself, nor pay what it was
      // asked to pay and did not gain.
      const bool in_air = island.contacts.empty() && settings.conservation == Conservation::cpd && !island.driven;
      const bool flies = in_air && !demand.lowers();
      const bool ended = calm || !outcome.rose || outcome.cut || outcome.let_go ||
                         outcome.status == StepOutcome::Status::converged || outcome.iterations >= patience_of_steps;
      if (!failed && flies && ended) island.bound_energy(demand, outcome);
      too_high = may_lower && demand.set_energy && !outcome.impossible &&
                 outcome.residual.h > settings.tolerance * outcome.e_ref;
      if (too_high) lowers = true, lowered = demand.energy, failed = true;
      // where something touches, what the shortest steps leave is owed
      const bool still = n == 1 && island.heap && touches && outcome.let_go && lies(island);
      const bool fine =
          !island.contacts.empty() &&
          (n >= least || still || (island.inelastic && !gained && (loose || outcome.error_h < small_loss)));
      const bool settled = outcome.impossible && outcome.status == StepOutcome::Status::converged;
      const bool taken = outcome.cut || out_of_time();
      if (!last_chance && !fine && !taken && !settled && !(demand.lowers() && outcome.at_least_energy())) {
        // sheets that touch may go on as PD would, which stops anywhere, once they are near
        const bool near = !island.contacts.empty() && island.has_sheets() && outcome.step_length < 1e-2;
        // as may what flies, and holds everything but has not come to its end, where no shorter step is left
        const bool enough = shortest && flies && outcome.step_length < 0.1 &&
                            std::max({outcome.error_p, outcome.error_l, outcome.error_h}) <= settings.tolerance;
        failed |= outcome.status == StepOutcome::Status::stopped && outcome.iterations >= patience_of_steps &&
                  !island.driven && !near && !enough;
        failed |= (outcome.stalled || outcome.let_go) && !island.driven;
        // the step could not give enough energy, or could not take enough of it at once
        // (at the turning points of what touches no length of step could: H dips there, and is owed)
        failed |= island.contacts.empty() && outcome.at_bound && (outcome.lambda < -0.5 || outcome.error_h > 0.1);
        // at a turning point of its vibration nothing moves H: shorter steps miss it by less
        const bool exact =
            outcome.stationary && !island.anchored() && !island.searches() && resolves_energy(island, outcome.e_ref);
        if (!failed && island.contacts.empty() && outcome.stationary &&
            outcome.error_h > (exact ? settings.tolerance : 0.01)) {
          failed = true;
          if (exact && turned == 0) turned = n;
        }
      }
      if (failed) break;
      if (in_air) island.bound_energy(demand, outcome);
      if (high || (touches && outcome.let_go)) island.shed(outcome);
      const double after = outcome.target_total + outcome.residual.h;
      failed = gained_most = automatic && allowance.limits() &&
                             std::min(outcome.residual.h, after - outcome.before) > most_astray * outcome.e_ref;
      if (failed) break;
      if (still) stand_still(island, outcome);
      Stopwatch watch;
      missed = failed = !all_contacts && missed_contact(island, time);
      watch.book(detection_);
      if (missed) break;
      worst.error_p = std::max(worst.error_p, outcome.error_p);
      worst.error_l = std::max(worst.error_l, outcome.error_l);
      worst.error_h = std::max(worst.error_h, outcome.error_h);
      settle(island, outcome, demand), book_wind(island);
      // what stands is held as it was: springs at the very limit of friction would give way by round-off for ever
      still ? note_meetings(island) : settle_contacts(island);
      island.restarts = false;
      for (const int b : island.bodies()) state.ledger[b].lies = still;
    }
    if (allowance.limits() && (gained_most || outcome.status == StepOutcome::Status::not_finite)) {
      // now it takes what it takes, and as long
      allowance = {}, most = finest;
      if (n < most) shortest = last_chance = !automatic;
    }
    if (failed && last_chance && !too_high && !missed) return outcome;
    if (failed && sub > first && n <= most_kept && has_contact() && !missed && !too_high && !shortest) {
      // what touches changes from one sub-step to the next: those that went well stand
      return_to_substep(island);
      place_anchors(island, clock(state.frame + double(sub) / n), double(sub) / n);
      island.energy_changed();
      first = 2 * sub, n *= 2;
      continue;
    }
    if (missed && sub > first) {
      return_to_substep(island);
      place_anchors(island, clock(state.frame + double(sub) / n), double(sub) / n);
      island.energy_changed();
      first = sub, all_contacts = true;
      continue;
    }
    if (failed) {
      first = 0, runs_short = false;
      // sub-steps that went well have settled their debts: back to the start of the frame
      for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b];
      restore_grips(island);
      island.restarts = restarts;  // its rates belong to other bodies, however often the frame begins
      load(island);
      place_anchors(island, clock(state.frame));
      island.energy_changed();
      if (lowers) {
        hold_momenta(island, clock(state.frame + 1.0 / n), h / n);  // to be lowered with the momenta it will have
        if (!island.lower_energy(lowered, h / n, settings)) lowers = false;
      }
      if (strikes) {
        tried = n = impact;
      } else if (missed) {
        all_contacts = true;
      } else if (too_high) {
        may_lower = false;
      } else if (shortest) {
        // where the length of steps is searched for, calm ones let go of H and cannot stall (Island::step): one frame
        // of the shortest, then the method's own again
        calm = true, island.calm_frames = island.searches() ? 1 : calm_stay, n = island.searches() ? most : 1;
      } else {
        n *= 2;
      }
      continue;
    }
    if (automatic) {
      if (island.calm_frames > 0) --island.calm_frames;
      island.come_down(tried, turned > 0 ? turned : n);
    }
    for (const int b : island.bodies()) {
      BodyLedger& ledger = state.ledger[b];
      ledger.iterations = iterations, ledger.substeps = n;
      ledger.error_p = worst.error_p, ledger.error_l = worst.error_l, ledger.error_h = worst.error_h;
    }
    report.iterations = std::max(report.iterations, iterations);
    report.substeps = std::max(report.substeps, n);
    report.error_p = std::max(report.error_p, worst.error_p);
    report.error_l = std::max(report.error_l, worst.error_l);
    report.error_h = std::max(report.error_h, worst.error_h);
    report.multiplier = outcome.lambda;
    return outcome;
  }
}

/// What a frame needed, the next one may need too, or half of it: to find out that it does costs as much as a frame. So
/// each time that half did not do, the next try waits twice as long.
void Island::come_down(int tried, int used) {
  constexpr int longest = 15;
  if (tried < substeps) waiting = used > tried ? std::min(2 * waiting + 1, longest) : 0;
  if (used > tried) frames_to_wait = waiting;
  substeps = used;
  forced_substeps = frames_to_wait > 0 ? used : std::max(1, used / 2);
  if (frames_to_wait > 0) --frames_to_wait;
}

/// The state between two sub-steps of an island, for the next one to be taken again.
void World::keep_substep(const Island& island) {
  kept_.motion = island.motion;
  kept_.ledger.clear();
  for (const int b : island.bodies()) kept_.ledger.push_back(state.ledger[b]);
  kept_.grips = state.grips, kept_.entries = state.entries, kept_.presses = state.presses, kept_.met = met_;
}

void World::return_to_substep(Island& island) {
  island.motion = kept_.motion;
  for (size_t k = 0; k < island.bodies().size(); ++k) state.ledger[island.bodies()[k]] = kept_.ledger[k];
  state.grips = kept_.grips, state.entries = kept_.entries, state.presses = kept_.presses, met_ = kept_.met;
}

/// Everything as it was before the frame: the state, and what islands have taken over from it.
void World::take_back() {
  state = before_;
  rebuild_islands();
  for (Island* island : islands_) island->energy_changed(), island->forget_own_step();
  update_forces();
  state = before_;  // which forces are new is for the next frame to see
}

StepReport World::step() {
  const auto begin = std::chrono::steady_clock::now();
  set_threads(threads_);
  before_ = state;
  StepReport report;
  detection_ = 0;
  left_ = settings.budget;
  met_.clear();
  const double end = state.origin + (state.frame + 1) * scene.step;  // counted, not summed

  // events: pushes at this moment, anchors and materials as they are at the end of the frame
  apply_pushes(state.time, end);
  if (update_anchors(clock(state.frame + 1))) rebuild_islands();
  update_materials(clock(state.frame + 1));
  update_forces();
  if (repels()) {
    Stopwatch watch;
    repel(state.x, repulsion_);
    watch.book(detection_);
  }
  start_ledger_ = state.ledger;
  start_grips_ = state.grips;
  if (has_contact()) group_islands(), foresee_contacts();
  std::erase_if(standing_, [&](const Standing& s) {
    return std::find(islands_.begin(), islands_.end(), s.island) == islands_.end();
  });

  // islands that meet on their way are put together and go again
  arrived_.clear();
  bool met = false, first = true;
  do {
    std::erase_if(arrived_, [&](const Island* done) {
      return std::find(islands_.begin(), islands_.end(), done) == islands_.end();
    });
    for (Island* island : islands_) {
      if (std::find(arrived_.begin(), arrived_.end(), island) != arrived_.end()) continue;
      if (first && stands(*island)) {
        stay(*island);
        arrived_.push_back(island);
        continue;
      }
      for (const int b : island->bodies()) state.ledger[b] = start_ledger_[b];
      restore_grips(*island);
      load(*island);
      const double before = island->work().milliseconds();
      const StepOutcome outcome = advance(*island, report);
      const double work = island->work().milliseconds() - before;
      report.work += work, left_ -= work;
      arrived_.push_back(island);
      const std::string& name = model.bodies[island->bodies()[0]].name;
      if (outcome.status == StepOutcome::Status::not_factorizable) {
        report.status = StepStatus::not_factorizable;
        report.message = "the matrix of body \"" + name + "\" is not positive definite";
      } else if (outcome.status == StepOutcome::Status::not_finite) {
        report.status = StepStatus::diverged;
        report.message = "the positions of body \"" + name + "\" are no longer finite";
        if (!outcome.message.empty()) report.message += ": " + outcome.message;
      } else if (outcome.status == StepOutcome::Status::infeasible) {
        report.status = StepStatus::infeasible;
        report.message = "body \"" + name + "\": " + outcome.message;
      }
      if (!report) break;
    }
    Stopwatch watch;
    met = report && find_new_contacts();
    first = false;
    watch.book(detection_);
  } while (met);
  if (!report) {
    take_back();
    return report;
  }

  state.touching.clear();
  for (Island* island : islands_) {
    store(*island);
    for (const int b : island->bodies()) state.group[b] = island->bodies()[0];
    for (const Contacts::Meeting& m : island->contacts.meetings)
      if (m.weight > 0 && m.other >= 0) state.touching.push_back({island->bodies()[m.body], island->bodies()[m.other]});
  }
  rebound(clock(state.frame + 1));
  settle_anchors(clock(state.frame + 1));
  state.frame += 1;
  state.time = end;
  tear(clock(state.frame), report);
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    BodyLedger& ledger = state.ledger[b];
    ledger.target_total = total(int(b)) - ledger.target_total;
  }
  report.timings.detection = detection_;
  report.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace verve
