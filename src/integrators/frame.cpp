// One frame: events, then every island in as many sub-steps as it needs. It succeeds or leaves the state as it was.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/parallel.h"
#include "base/stopwatch.h"
#include "integrators/world.h"

namespace verve {

/// An island through a frame: detect what it may touch, then as many steps as the plan says.
StepOutcome World::advance(Island& island, StepReport& report) {
  const double from = clock(state.frame), to = clock(state.frame + 1);
  const bool restarts = island.restarts;
  place_anchors(island, from);  // those that have just turned on
  blow(island, to, scene.step);
  prepare_contacts(island, from, to, scene.step, false);
  if (!island.contacts.empty()) return advance_contact(island, report, false);
  // what the last contact left to the ledger is part of where the frame begins
  for (const int b : island.bodies()) {
    state.ledger[b].history = state.ledger[b].history && island.motion.history;
    start_ledger_[b] = state.ledger[b];
  }
  const StepOutcome outcome = advance_free(island, report);
  const bool done = outcome.status == StepOutcome::Status::converged || outcome.status == StepOutcome::Status::stopped;
  if (!done || !missed_contact(island, to)) return outcome;
  // the only frame that is taken twice: it has met what nobody expected it to
  back_to_start(island, restarts);
  prepare_contacts(island, from, to, scene.step, true);
  return advance_contact(island, report, true);
}

/// A step of the method, and what is held after it.
StepOutcome World::take_step(Island& island, double h, const Demand& demand, bool calm) {
  if (settings.projection && !island.projection) island.projection = settings.projection->make();
  if (settings.projection) island.projection->begin(island, h, demand);
  StepOutcome outcome = island.step(h, settings, demand, calm);
  const bool moved = outcome.status == StepOutcome::Status::converged || outcome.status == StepOutcome::Status::stopped;
  if (settings.projection && moved) island.projection->finish(island, h, settings, demand, outcome);
  return outcome;
}

void World::StepErrors::add(const StepOutcome& outcome) {
  p = std::max(p, outcome.error_p), l = std::max(l, outcome.error_l), h = std::max(h, outcome.error_h);
}

void World::write_report(const Island& island, int iterations, int substeps, const StepErrors& worst,
                         StepReport& report) {
  for (const int b : island.bodies()) {
    BodyLedger& ledger = state.ledger[b];
    ledger.iterations = iterations, ledger.substeps = substeps;
    ledger.error_p = worst.p, ledger.error_l = worst.l, ledger.error_h = worst.h;
  }
  report.iterations = std::max(report.iterations, iterations);
  report.substeps = std::max(report.substeps, substeps);
  report.error_p = std::max(report.error_p, worst.p);
  report.error_l = std::max(report.error_l, worst.l);
  report.error_h = std::max(report.error_h, worst.h);
}

/// An island as it was before the first sub-step of the frame. `restarts`: its rates belong to other bodies, however
/// often the frame begins.
void World::back_to_start(Island& island, bool restarts) {
  for (const int b : island.bodies()) state.ledger[b] = start_ledger_[b];
  restore_contacts(island);
  island.restarts = restarts;
  load(island);
  place_anchors(island, clock(state.frame));
  island.energy_changed();
}

/// The state between two sub-steps of an island, for the next one to be taken again.
void World::keep_substep(const Island& island) {
  kept_.motion = island.motion;
  kept_.ledger.clear();
  for (const int b : island.bodies()) kept_.ledger.push_back(state.ledger[b]);
  kept_.friction_anchors = state.friction_anchors, kept_.contacts = state.contacts, kept_.met = met_;
}

void World::return_to_substep(Island& island) {
  island.motion = kept_.motion;
  for (size_t k = 0; k < island.bodies().size(); ++k) state.ledger[island.bodies()[k]] = kept_.ledger[k];
  state.friction_anchors = kept_.friction_anchors, state.contacts = kept_.contacts, met_ = kept_.met;
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
  start_anchors_ = state.friction_anchors;
  if (has_contact()) group_islands(), foresee_contacts();

  // islands that meet on their way are put together and go again
  arrived_.clear();
  bool met = false, first = true;
  do {
    std::erase_if(arrived_, [&](const Island* done) {
      return std::find(islands_.begin(), islands_.end(), done) == islands_.end();
    });
    for (Island* island : islands_) {
      if (std::find(arrived_.begin(), arrived_.end(), island) != arrived_.end()) continue;
      recall(*island);
      if (first && stands(*island)) {
        stay(*island);
        arrived_.push_back(island);
        continue;
      }
      for (const int b : island->bodies()) state.ledger[b] = start_ledger_[b];
      restore_contacts(*island);
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
    restore(before_);
    return report;
  }

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
  report.timings.detection = detection_;
  report.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace verve
