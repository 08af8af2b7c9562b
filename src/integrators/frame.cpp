// One frame: events, then every island through five stages, detect, plan, solve, correct energy and account. It succeeds
// or leaves the state as it was. docs/step.md
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "base/stopwatch.h"
#include "integrators/world.h"

namespace verve {

StepReport World::step() {
  const auto begin = std::chrono::steady_clock::now();
  set_threads(threads_);
  before_ = state;
  StepReport report;
  detection_ = 0;
  left_ = settings.budget;
  met_.clear();
  const double end = state.origin + (state.frame + 1) * scene.step;  // counted, not summed

  apply_events(end);
  start_ledger_ = state.ledger;
  if (has_contact()) group_islands(), join_predicted();
  advance_islands(report);
  if (!report) {
    restore(before_);
    return report;
  }
  end_frame(end, report);
  report.timings.detection = detection_;
  report.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

/// Pushes at this moment, anchors and materials as they are at the end of the frame.
void World::apply_events(double end) {
  apply_pushes(state.time, end);
  if (update_anchors(clock(state.frame + 1))) rebuild_islands();
  update_materials(clock(state.frame + 1));
  update_forces();
  if (!repels()) return;
  Stopwatch watch;
  repel(state.x, repulsion_);
  watch.book(detection_);
}

/// All islands; those that meet on their way are put together and go again.
void World::advance_islands(StepReport& report) {
  arrived_.clear();
  for (bool first = true, met = true; met; first = false) {
    std::erase_if(arrived_, [&](const Island* done) {
      return std::find(islands_.begin(), islands_.end(), done) == islands_.end();
    });
    for (Island* island : islands_) {
      if (std::find(arrived_.begin(), arrived_.end(), island) != arrived_.end()) continue;
      const double before = island->work().milliseconds();
      const StepOutcome outcome = advance(*island, first, report);
      report.work += island->work().milliseconds() - before;
      arrived_.push_back(island);
      if (!outcome.moved()) return explain(*island, outcome, report);
    }
    Stopwatch watch;
    met = find_new_contacts();
    watch.book(detection_);
  }
}

/// An island through a frame. It is taken again once with all colliders as candidates, where it has met one that was
/// none, and once by the fallback integrator, where numbers were not finite.
StepOutcome World::advance(Island& island, bool may_sleep, StepReport& report) {
  recall(island);
  const bool unchanged = begins_unchanged(island);
  if (may_sleep && unchanged) return skip_frame(island);
  for (Attempt attempt;;) {
    begin_frame(island);
    const double before = island.work().milliseconds();
    const StepOutcome outcome = take_frame(island, attempt, report);
    left_ -= island.work().milliseconds() - before;
    if (outcome.status == StepOutcome::Status::missed_contact) {
      attempt.all_colliders = true;
    } else if (outcome.status == StepOutcome::Status::not_finite && settings.fallback && !attempt.after_failure) {
      attempt.after_failure = true;
    } else {
      return outcome;
    }
  }
}

/// The five stages. What is detected over the whole frame is what its plan is made of, and serves its first sub-step too.
StepOutcome World::take_frame(Island& island, const Attempt& attempt, StepReport& report) {
  const double h = scene.step;
  bool moving_collider = detect(island, whole_frame(), attempt, false);
  const bool contacts = !island.contacts.empty();
  const TimeLimit limit = time_limit_of(island);
  const PlanInput input = plan_input(island, limit);
  const Plan plan = plan_frame(input);
  // but not where colliders are elsewhere at the end of that
  const bool look_again = plan.substeps > 1 && island.contacts.any_shape_moves();
  if (look_again) begin_frame(island);

  FrameTotals totals;
  StepOutcome outcome;
  for (int sub = 0; sub < plan.substeps; ++sub) {
    const SubStep step{clock(state.frame + double(sub) / plan.substeps),
                       clock(state.frame + double(sub + 1) / plan.substeps), h / plan.substeps,
                       double(sub + 1) / plan.substeps};
    // detect
    bool driven = place_anchors(island, step.to, step.fraction);
    if (contacts && (sub > 0 || look_again)) {
      moving_collider = detect(island, step, attempt, driven);
    } else {
      blow(island, step.to, step.h);
    }
    driven |= moving_collider;
    // plan
    const Demand demand = ask(island, step, plan.substeps, sub == 0, driven);
    StepInput facts = island.step_input(step.h, settings);
    facts.driven = driven, facts.settling = input.settling, facts.after_failure = attempt.after_failure;
    facts.beside_contact = contacts, facts.impact = in_impact(island, input.impact_phase);
    // (the force at x_n of a collider that has moved on already is none to make rates of)
    facts.other_members =
        (sub == 0 && has_other_members(island)) || (island.contacts.any_shape_moves() && !island.motion.history);
    facts.substeps = plan.substeps, facts.time_limit = limit.left(island) / (plan.substeps - sub);
    const StepPlan step_plan = plan_step(facts);
    // solve
    outcome = solve(island, step_plan, step.h, demand);
    detection_ += std::exchange(island.contacts.milliseconds, 0.0);
    totals.add_work(outcome);
    report.timings += outcome.timings;
    if (!outcome.moved()) return outcome;
    // correct energy
    island.correct_energy(step_plan, demand, outcome);
    totals.add_errors(outcome);
    if (!attempt.all_colliders && missed_contact(island, step.to)) {
      outcome.status = StepOutcome::Status::missed_contact;
      return outcome;
    }
    // account
    account(island, step_plan, demand, outcome, sub + 1 == plan.substeps);
    if (contacts) rebound(island, step);
  }
  island.memory.substeps = plan.control;
  if (settings.substeps == 0) {
    island.memory.substeps.iterations = contacts ? 0 : totals.most_iterations;
    island.memory.substeps.loss = contacts ? 0 : totals.loss / totals.substeps;
  }
  write_report(island, outcome, totals, report);
  return outcome;
}

/// An island as it is before its frame, however often that is begun.
void World::begin_frame(Island& island) {
  const auto [hash, same] = std::pair(island.memory.start_hash, island.memory.same_starts);  // of this frame
  recall(island);
  island.memory.start_hash = hash, island.memory.same_starts = same;
  for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b];
  restore_contacts(island);
  load(island);
  place_anchors(island, clock(state.frame));
}

/// What may touch in a step. True: a collider that moves, and drives the island.
bool World::detect(Island& island, const SubStep& step, const Attempt& attempt, bool driven) {
  blow(island, step.to, step.h);
  return prepare_contacts(island, step, attempt.all_colliders, driven) && !island.contacts.empty();
}

PlanInput World::plan_input(Island& island, const TimeLimit& limit) {
  PlanInput in;
  in.conserves = settings.conservation == Conservation::cpd, in.fixed_substeps = settings.substeps, in.h = scene.step;
  in.anchored = island.anchored(), in.searched = island.searches(), in.solid = island.is_solid();
  in.contacts = !island.contacts.empty();
  in.control = island.memory.substeps;
  if (in.contacts) {
    in.sheets = island.has_sheets(), in.settling = settles(island);
    if (in.fixed_substeps == 0 || !in.conserves)
      in.passing = std::max(passing_substeps(island, in.h), feature_substeps(island, in.h));
  }
  if (plans_by_phase(in)) {
    if (!island.is_evaluated()) island.evaluate_motion();
    if (in.contacts) in.impact_phase = island.impact_frequency(in.h);
    const bool still = in.contacts ? island.rests(settings.tolerance) : island.at_rest(in.h, settings.tolerance);
    if (!still) in.deformation = island.deformation();
  }
  in.time_left = limit.left(island);
  in.iteration_cost = in.contacts ? island.contact_cost() : island.iteration_cost();
  return in;
}

/// What an island may take of what is left of a frame: by its share of the vertices that are still to come.
World::TimeLimit World::time_limit_of(const Island& island) const {
  TimeLimit out;
  // nothing would keep these from gaining where a step is cut short, and what is fixed cannot be taken again shorter
  const bool fixed = settings.substeps > 0 && settings.conservation == Conservation::cpd;
  if (!(settings.budget > 0) || island.searches() || island.consistent() || fixed) return out;
  double rows = island.rows();
  for (const Island* other : islands_)
    if (other != &island && !was_skipped(*other) && std::find(arrived_.begin(), arrived_.end(), other) == arrived_.end())
      rows += other->rows();
  out.milliseconds = std::max(left_, planning::left_share * settings.budget) * island.rows() / rows;
  out.begun = island.work().milliseconds();
  return out;
}

/// What dials and debts ask of a step. Dials of P and L are pushes; one of H that a step could not follow acts on the
/// motion before the frame.
Demand World::ask(Island& island, const SubStep& step, int substeps, bool first, bool driven) {
  ledger().hold_momenta(island, step.to, step.h);
  if (!island.is_evaluated()) island.evaluate_motion();
  if (first && !driven) ledger().inject_energy(island, step.to);
  if (first) ledger().lower_energy(island, step.to, step.h);
  return ledger().demand_on(island, step.to, step.h, substeps);
}

namespace {

/// Numbers that are not finite; or no length of a searched step that was short enough, or no end of its iterations.
bool leads_nowhere(const StepOutcome& outcome) {
  if (outcome.status == StepOutcome::Status::not_finite) return true;
  const bool exhausted =
      outcome.status == StepOutcome::Status::stopped && outcome.iterations >= planning::longest_search;
  return outcome.stalled || outcome.energy_released || exhausted;
}

}  // namespace

/// One step. Where steps are searched for their length forces grow beyond what the matrix knows of: one that leads
/// nowhere is taken in halves, the second with what the first has left, and the shortest by the fallback integrator.
StepOutcome World::solve(Island& island, const StepPlan& plan, double h, const Demand& demand, size_t halvings) {
  if (!plan.halves) return take_step(island, plan, h, demand);
  if (starts_.size() <= halvings) starts_.resize(halvings + 1);
  starts_[halvings] = island.motion;
  StepOutcome whole = take_step(island, plan, h, demand);
  if (!leads_nowhere(whole)) return whole;
  const auto add_work = [](StepOutcome& to, const StepOutcome& of) {
    to.iterations += of.iterations, to.timings += of.timings;
  };
  island.motion = starts_[halvings];
  island.evaluate_motion();
  if (h <= planning::shortest_searched * scene.step) {
    StepPlan last = plan;
    last.base = Base::fallback, last.halves = false, last.after_failure = true;
    StepOutcome out = take_step(island, last, h, demand);
    add_work(out, whole);
    return out;
  }
  Demand half = demand;
  half.keep = std::sqrt(demand.keep);
  StepOutcome first = solve(island, plan, 0.5 * h, half, halvings + 1);
  add_work(first, whole);
  if (!first.moved()) return first;
  island.correct_energy(plan, half, first);
  if (!island.is_evaluated()) island.evaluate_motion();
  half.debt = ledger().deficit_after(island, first, half);
  StepOutcome second = solve(island, plan, 0.5 * h, half, halvings + 1);
  add_work(second, first);
  second.steps += first.steps, second.heat += first.heat, second.before = first.before;
  return second;
}

/// A step of the method, and what is held after it.
StepOutcome World::take_step(Island& island, const StepPlan& plan, double h, const Demand& demand) {
  if (settings.projection && !island.projection) island.projection = settings.projection->make();
  if (settings.projection) island.projection->begin(island, h, demand);
  StepOutcome outcome = island.step(h, settings, demand, plan);
  if (settings.projection && outcome.moved()) island.projection->finish(island, h, settings, demand, outcome);
  return outcome;
}

/// What the step leaves to the ledger, the contact cache and the friction anchors; at the end of a frame, whether the
/// island sleeps.
void World::account(Island& island, const StepPlan& plan, const Demand& demand, StepOutcome& outcome, bool last) {
  const bool sleeps = last && falls_asleep(island);
  if (sleeps) put_to_sleep(island, outcome);
  ledger().settle(island, plan, outcome, demand), book_wind(island);
  for (size_t k = 0; k < island.bodies().size() && !sleeps; ++k)
    state.ledger[island.bodies()[k]].work += island.collider_works()[k];
  sleeps ? note_meetings(island) : settle_contacts(island);
  for (const int b : island.bodies()) state.ledger[b].mode = sleeps ? Mode::asleep : plan.mode;
}

void World::FrameTotals::add_work(const StepOutcome& outcome) {
  iterations += outcome.iterations, substeps += outcome.steps;
  most_iterations = std::max(most_iterations, outcome.iterations / outcome.steps), loss += outcome.loss;
}

void World::FrameTotals::add_errors(const StepOutcome& outcome) {
  p = std::max(p, outcome.error_p), l = std::max(l, outcome.error_l), h = std::max(h, outcome.error_h);
}

void World::write_report(const Island& island, const StepOutcome& last, const FrameTotals& totals,
                         StepReport& report) {
  for (const int b : island.bodies()) {
    BodyLedger& ledger = state.ledger[b];
    ledger.iterations = totals.iterations, ledger.substeps = totals.substeps;
    ledger.error_p = totals.p, ledger.error_l = totals.l, ledger.error_h = totals.h;
  }
  report.iterations = std::max(report.iterations, totals.iterations);
  report.substeps = std::max(report.substeps, totals.substeps);
  report.error_p = std::max(report.error_p, totals.p);
  report.error_l = std::max(report.error_l, totals.l);
  report.error_h = std::max(report.error_h, totals.h);
  if (island.contacts.empty()) report.multiplier = last.lambda;
}

/// Why a frame failed.
void World::explain(const Island& island, const StepOutcome& outcome, StepReport& report) const {
  const std::string& name = model.bodies[island.bodies()[0]].name;
  if (outcome.status == StepOutcome::Status::not_factorizable) {
    report.status = StepStatus::not_factorizable;
    report.message = "the matrix of body \"" + name + "\" is not positive definite";
  } else if (outcome.status == StepOutcome::Status::infeasible) {
    report.status = StepStatus::infeasible;
    report.message = "body \"" + name + "\": " + outcome.message;
  } else {
    report.status = StepStatus::diverged;
    report.message = "the positions of body \"" + name + "\" are no longer finite";
    if (!outcome.message.empty()) report.message += ": " + outcome.message;
  }
}

/// The motion of all islands goes to the state; then impacts that are over, tearing, and what islands know.
void World::end_frame(double end, StepReport& report) {
  state.touching.clear();
  for (Island* island : islands_) {
    store(*island);
    for (const int b : island->bodies()) state.group[b] = island->bodies()[0];
    for (const Contacts::TouchingPair& m : island->contacts.touching_pairs)
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
  remember();
}

}  // namespace verve
