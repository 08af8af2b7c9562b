// One frame: events, then every island through five stages, detect, plan, solve, correct energy and account. It succeeds
// or leaves the state as it was. docs/step.md
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "base/stopwatch.h"
#include "integrators/island_state.h"
#include "integrators/step_solver.h"
#include "integrators/world.h"

namespace verve {

using planning::most_crushing, planning::most_substeps;

StepReport World::step() {
  const auto begin = std::chrono::steady_clock::now();
  set_threads(threads_, &tasks_);
  before_ = state;
  StepReport report;
  detection_ = 0;
  left_ = settings.budget;
  met_.clear(), pairs_.clear();
  const double end = state.origin + (state.frame + 1) * scene.step;  // counted, not summed

  try {
    apply_events(end);
    start_ledger_ = state.ledger;
    if (has_contact()) group_islands(), join_predicted();
    advance_islands(report);
  } catch (const std::exception& error) {  // of a function of the caller's
    report.status = StepStatus::callback_failed, report.message = error.what();
  } catch (...) {
    report.status = StepStatus::callback_failed, report.message = "found an exception that is no std::exception";
  }
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
  if (anchors().update(clock(state.frame + 1))) rebuild_islands();
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
    std::erase_if(arrived_, [&](const Island* done) { return !islands_.has(done); });
    for (Island* island : islands_) {
      if (has_arrived(*island)) continue;
      const double before = island->work().milliseconds();
      const StepOutcome outcome = advance(*island, first, report);
      report.work += island->work().milliseconds() - before;
      arrived_.push_back(island);
      if (!outcome.moved()) return explain_failure(island->body(0).name, outcome, report);
    }
    Stopwatch watch;
    met = find_new_contacts();
    watch.book(detection_);
  }
}

bool World::has_arrived(const Island& island) const {
  return std::find(arrived_.begin(), arrived_.end(), &island) != arrived_.end();
}

/// An island through a frame. It is taken again once with all colliders as candidates, where it has met one that was
/// none, and once by the fallback integrator, where numbers were not finite.
StepOutcome World::advance(Island& island, bool may_sleep, StepReport& report) {
  recall(state, island);
  const bool unchanged = sleeping().begins_unchanged(island, !repels() && !is_pushed(island));
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

/// The five stages, for each sub-step of the plan.
StepOutcome World::take_frame(Island& island, const Attempt& attempt, StepReport& report) {
  IslandFrame frame = plan_island(island, attempt);
  StepOutcome outcome;
  for (int sub = 0; sub < frame.plan.substeps; ++sub) {
    const SubStep step = sub_step(sub, frame.plan.substeps);
    const bool driven = detect(island, step, frame);

    const Demand demand = ask(island, step, driven);
    const StepPlan step_plan = plan_step(step_input(island, step, driven, frame));

    if (frame.input.contacts) before_step_ = island.motion;
    outcome = take_step(island, step_plan, step.h, demand);
    detection_ += std::exchange(island.contacts.milliseconds, 0.0);
    frame.totals.add_work(outcome);
    report.timings += outcome.timings;
    if (!outcome.moved()) return outcome;

    island.correct_energy(step_plan, demand, outcome);
    frame.totals.add_errors(outcome);
    if (!attempt.all_colliders && missed_contact(island, step.to)) {
      outcome.status = StepOutcome::Status::missed_contact;
      return outcome;
    }

    account(island, step_plan, demand, outcome, step.h, step.is_last());
    if (frame.input.contacts) rebound(island, step);
  }
  frame.remember(settings, island.memory.substeps);
  frame.totals.write(island, outcome, state.ledger, report);
  return outcome;
}

/// What is detected over the whole frame is what its plan is made of, and serves its first sub-step too, but not where
/// colliders are elsewhere at the end of that.
World::IslandFrame World::plan_island(Island& island, const Attempt& attempt) {
  IslandFrame frame;
  frame.attempt = attempt;
  const double before = island.work().milliseconds();
  frame.moving_collider = find_contacts(island, whole_frame(), attempt, false);
  const double detection = island.work().milliseconds() - before;
  frame.limit = time_limit_of(island);
  frame.input = plan_input(island, frame.limit);
  frame.input.detection_cost = detection;
  frame.plan = plan_frame(frame.input);
  frame.look_again = frame.plan.substeps > 1 && island.contacts.any_shape_moves();
  if (frame.look_again) begin_frame(island);
  return frame;
}

/// What the next frame's plan is made of.
void World::IslandFrame::remember(const Settings& settings, SubstepControl& control) const {
  control = plan.control;
  if (settings.substeps != 0) return;
  control.iterations = input.contacts ? 0 : totals.most_iterations;
  control.unresolved = !input.contacts && totals.unresolved;
  control.loss = input.contacts ? 0 : totals.loss / totals.substeps;
}

/// Anchors, wind, and what may touch, in a sub-step. True: an anchor or a collider drives the island.
bool World::detect(Island& island, const SubStep& step, IslandFrame& frame) {
  const bool driven = place_anchors(island, step);
  if (frame.input.contacts && (step.index > 0 || frame.look_again)) {
    frame.moving_collider = find_contacts(island, step, frame.attempt, driven);
  } else {
    blow(island, step.to, step.h);
  }
  return driven || frame.moving_collider;
}

/// All that is known before a sub-step, of which its plan is made.
StepInput World::step_input(const Island& island, const SubStep& step, bool driven, const IslandFrame& frame) const {
  StepInput in = island.step_input(step.h, settings);
  in.driven = driven, in.settling = frame.input.settling, in.after_failure = frame.attempt.after_failure;
  in.beside_contact = frame.input.contacts, in.impact = in_impact(island, frame.input.impact_phase);
  // (the force at x_n of a collider that has moved on already is none to make rates of)
  in.other_members = (step.index == 0 && has_other_members(state, island)) ||
                     (island.contacts.any_shape_moves() && !island.motion.history);
  in.substeps = step.count, in.time_limit = frame.limit.left(island) / (step.count - step.index);
  return in;
}

/// An island as it is before its frame, however often that is begun.
void World::begin_frame(Island& island) {
  const auto [hash, same] = std::pair(island.memory.start_hash, island.memory.same_starts);  // of this frame
  recall(state, island);
  island.memory.start_hash = hash, island.memory.same_starts = same;
  for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b];
  restore_contacts(island);
  load(state, island);
  anchors().place(island, clock(state.frame), 0);
}

World::SubStep World::sub_step(int index, int count) const {
  return {clock(state.frame + double(index) / count),
          clock(state.frame + double(index + 1) / count),
          scene.step / count,
          double(index + 1) / count,
          index,
          count};
}

/// Anchors as they are at the end of a sub-step. True: a hard one has moved, and drives an island of which something is
/// held.
bool World::place_anchors(Island& island, const SubStep& step) {
  const bool moved = anchors().place(island, step.to, step.fraction);
  return moved && (settings.conservation != Conservation::none || settings.projection);
}

/// Wind, and what may touch in a step. True: a collider that moves, and drives the island.
bool World::find_contacts(Island& island, const SubStep& step, const Attempt& attempt, bool driven) {
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
    in.sheets = island.has_sheets(), in.settling = settles(island) && !vibration_.strikes(island, in.h);
    if (in.fixed_substeps == 0 || !in.conserves)
      in.passing = std::max(passing_substeps(island, in.h), feature_substeps(island, in.h));
  }
  // what a sub-step of sweeps turns inside out, its sweeps do not turn back
  if (in.contacts && settings.own_step)
    in.passing = std::max(in.passing, std::min(most_substeps, int(std::ceil(crushing(island, in.h) / most_crushing))));
  if (plans_by_phase(in)) {
    if (!island.is_evaluated()) island.evaluate_motion();
    if (in.contacts) in.impact_phase = vibration_.impact_phase(island, in.h), in.crushing = crushing(island, in.h);
    const bool still = in.contacts ? island.rests(settings.tolerance) : island.at_rest(in.h, settings.tolerance);
    if (!still) in.deformation = vibration_.deformation(island);
  }
  in.time_left = limit.left(island);
  in.iteration_cost = in.contacts ? island.contact_cost() : island.iteration_cost();
  return in;
}

namespace {

/// Why an island takes as long as it takes: nothing would keep it from gaining where a step is cut short, and what is
/// fixed stays. Empty: it keeps to a budget.
std::string unbounded(const Island& island, const Settings& settings) {
  if (settings.substeps > 0 && settings.conservation == Conservation::cpd) return "has a fixed number of sub-steps";
  if (island.consistent()) return "has a consistent mass matrix";
  return {};
}

}  // namespace

void World::warn_of_budget(Diagnostics& notes) const {
  if (!(settings.budget > 0)) return;
  for (const Island* island : islands_) {
    const std::string why = unbounded(*island, settings);
    if (!why.empty())
      notes.warning("solver.budget", "body \"" + island->body(0).name + "\" " + why +
                                         ": its frames take as long as they need (docs/budget.md)");
  }
}

/// What an island may take of what is left of a frame: by its share of the vertices that are still to come.
World::TimeLimit World::time_limit_of(const Island& island) const {
  TimeLimit out;
  if (!(settings.budget > 0) || !unbounded(island, settings).empty()) return out;
  double rows = island.rows();
  for (const Island* other : islands_)
    if (other != &island && !was_skipped(*other) && !has_arrived(*other)) rows += other->rows();
  out.milliseconds = std::max(left_, planning::left_share * settings.budget) * island.rows() / rows;
  out.begun = island.work().milliseconds();
  return out;
}

/// What dials and debts ask of a step. Dials of P and L are pushes; one of H that a step could not follow acts on the
/// motion before the frame.
Demand World::ask(Island& island, const SubStep& step, bool driven) {
  const bool first = step.index == 0;
  ledger().hold_momenta(island, step.to, step.h);
  if (!island.is_evaluated()) island.evaluate_motion();
  if (first && !driven) ledger().inject_energy(island, step.to);
  if (first) ledger().lower_energy(island, step.to, step.h);
  return ledger().demand_on(island, step.to, step.h, step.count);
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
void World::account(Island& island, const StepPlan& plan, const Demand& demand, StepOutcome& outcome, double h, bool last) {
  const bool sleeps = last && sleeping().falls_asleep(island);
  if (sleeps) put_to_sleep(island, outcome);
  ledger().settle(island, plan, outcome, demand), book_wind(island);
  for (size_t k = 0; k < island.bodies().size() && !sleeps; ++k)
    state.ledger[island.bodies()[k]].work += island.solver().collider_works()[k];
  sleeps ? note_meetings(island) : settle_contacts(island);
  note_contacts(island, h);
  for (const int b : island.bodies()) state.ledger[b].mode = sleeps ? Mode::asleep : plan.mode;
}

/// The motion of all islands goes to the state; then impacts that are over, tearing, plastic flow, and what islands know.
void World::end_frame(double end, StepReport& report) {
  state.touching.clear();
  for (Island* island : islands_) {
    store(*island, state);
    for (const int b : island->bodies()) state.group[b] = island->bodies()[0];
    for (const Contacts::TouchingPair& m : island->contacts.touching_pairs)
      if (m.weight > 0 && m.other >= 0) state.touching.push_back({island->bodies()[m.body], island->bodies()[m.other]});
  }
  rebound(clock(state.frame + 1));
  anchors().settle(clock(state.frame + 1));
  settle_colliders();
  keep_contacts();
  end_applied();
  state.frame += 1;
  state.time = end;
  tear(clock(state.frame), report);
  flow();
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    if (!has_body(int(b))) continue;
    BodyLedger& ledger = state.ledger[b];
    ledger.target_total = total(int(b)) - ledger.target_total;
  }
  remember();
  find_events();
}

}  // namespace verve
