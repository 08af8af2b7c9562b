// The plan of a frame and of a step, from facts alone.
#include <doctest/doctest.h>

#include <string>

#include "integrators/plan.h"

using namespace verve;

namespace {

constexpr double h = 1.0 / 30;

/// A deformation that turns by `phase` in a frame.
Deformation turning(double phase) { return {(phase / h) * (phase / h), 1}; }

PlanInput flying(double phase) {
  PlanInput in;
  in.h = h;
  in.deformation = turning(phase);
  return in;
}

PlanInput touching(double impact_phase) {
  PlanInput in;
  in.h = h, in.contacts = true, in.impact_phase = impact_phase;
  return in;
}

}  // namespace

TEST_CASE("the table has a row for every mode, in the order of the modes") {
  for (size_t k = 0; k < mode_table.size(); ++k) CHECK(mode_table[k].mode == Mode(k));
  CHECK(std::string(row_of(Mode::asleep).name) == "asleep");
  // H is either looked for in the solve, or restored after it, or not held at all
  for (const ModeRow& row : mode_table) {
    CAPTURE(row.name);
    CHECK(row.energy == (row.correction == EnergyCorrection::after_solve));
    CHECK(row.momenta == (row.correction != EnergyCorrection::none));
  }
}

TEST_CASE("a frame in the air has the least power of two of sub-steps that keeps the phase, at most eight") {
  using planning::free_phase;
  CHECK(plan_frame(flying(0)).substeps == 1);
  CHECK(plan_frame(flying(0.99 * free_phase)).substeps == 1);
  CHECK(plan_frame(flying(1.01 * free_phase)).substeps == 2);
  CHECK(plan_frame(flying(3.99 * free_phase)).substeps == 4);
  CHECK(plan_frame(flying(100 * free_phase)).substeps == planning::most_for_vibration);
  PlanInput searched = flying(0.99 * free_phase);
  searched.searched = true;
  CHECK(plan_frame(searched).substeps == 2);
  PlanInput rest;
  rest.h = h;
  CHECK(plan_frame(rest).substeps == 1);
}

TEST_CASE("the phase is that of averages over frames, which the plan hands on") {
  PlanInput in = flying(2);
  in.control.energy = 3 * turning(1).energy, in.control.distance = 3;
  const Plan plan = plan_frame(in);
  CHECK(plan.control.energy == doctest::Approx(planning::forgetting * in.control.energy + turning(2).energy));
  CHECK(plan.control.distance == doctest::Approx(planning::forgetting * 3 + 1));
  // nothing is learnt of one at rest
  in.deformation.reset();
  CHECK(plan_frame(in).control.energy == in.control.energy);
}

TEST_CASE("the number of sub-steps comes down with hysteresis") {
  using planning::free_phase;
  PlanInput in = flying(0.9 * free_phase);
  in.control.last = 2, in.control.iterations = planning::easy_solve - 1;
  CHECK(plan_frame(in).substeps == 2);
  in.deformation = turning(0.6 * free_phase), in.control.energy = in.control.distance = 0;
  CHECK(plan_frame(in).substeps == 1);
}

TEST_CASE("hard solves halve the steps of the next frame, easy ones double them") {
  PlanInput in = flying(0);
  in.control.last = 4, in.control.iterations = planning::hard_for_solids;
  CHECK(plan_frame(in).substeps == 8);
  in.control.iterations = planning::hard_for_solids - 1;
  CHECK(plan_frame(in).substeps == 4);
  in.control.iterations = planning::easy_solve - 1;
  CHECK(plan_frame(in).substeps == 2);
  in.solid = false, in.control.iterations = planning::hard_solve;  // sheets have more in what a step does not resolve
  CHECK(plan_frame(in).substeps == 8);
  in.control.last = planning::most_substeps, in.control.iterations = 1000;
  CHECK(plan_frame(in).substeps == planning::most_substeps);
}

TEST_CASE("sheets have shorter steps after one that could not begin where its forces lead") {
  PlanInput in = flying(0);
  in.control.last = 4, in.control.iterations = planning::easy_solve, in.control.unresolved = true;
  CHECK(plan_frame(in).substeps == 4);  // solids begin so often, and are none the worse for it
  in.solid = false;
  CHECK(plan_frame(in).substeps == 8);
  in.control.unresolved = false;
  CHECK(plan_frame(in).substeps == 4);
}

TEST_CASE("sheets have shorter steps after a large error, and longer ones after ten easy frames") {
  PlanInput in = flying(0);
  in.solid = false, in.control.last = 4, in.control.loss = planning::most_loss;
  CHECK(plan_frame(in).substeps == 8);
  in.control.loss = 0.99 * planning::most_loss;
  CHECK(plan_frame(in).substeps == 4);
  in.control.loss = 0;
  for (int frame = 1; frame < planning::easy_frames; ++frame) {
    const Plan plan = plan_frame(in);
    CHECK(plan.substeps == 4);
    CHECK(plan.control.easy == frame);
    in.control = plan.control;
  }
  CHECK(plan_frame(in).substeps == 2);
  in.solid = true, in.control.loss = 1;  // of solids the error has no say, nor has the wait
  CHECK(plan_frame(in).substeps == 2);
}

TEST_CASE("with contacts the frame has as many sub-steps as impact, vibration and passing ask for") {
  using planning::contact_phase;
  CHECK(plan_frame(touching(0)).substeps == 1);
  CHECK(plan_frame(touching(1.01 * contact_phase)).substeps == 2);
  PlanInput in = touching(0);
  in.deformation = turning(3 * contact_phase);
  CHECK(plan_frame(in).substeps == 4);
  in.passing = 11;  // not a power of two
  CHECK(plan_frame(in).substeps == 11);
  // what the last frame in the air took is no reason
  in = touching(0), in.control.last = 8, in.control.iterations = 1000;
  CHECK(plan_frame(in).substeps == 1);
}

TEST_CASE("sheets and what settles are not planned by phase when something touches") {
  PlanInput in = touching(0);
  CHECK(plans_by_phase(in));
  in.sheets = true;
  CHECK(!plans_by_phase(in));
  in.sheets = false, in.settling = true;
  CHECK(!plans_by_phase(in));
  in.contacts = false;
  CHECK(plans_by_phase(in));
  in.fixed_substeps = 1;
  CHECK(!plans_by_phase(in));
}

TEST_CASE("fixed sub-steps are meant, but a method that holds nothing lets nothing pass") {
  PlanInput in = touching(100);
  in.fixed_substeps = 2, in.passing = 5;
  CHECK(plan_frame(in).substeps == 2);
  in.conserves = false;
  CHECK(plan_frame(in).substeps == 5);
  in.contacts = false;
  CHECK(plan_frame(in).substeps == 2);
}

TEST_CASE("a budget takes sub-steps away, but nothing passes unseen") {
  PlanInput in = flying(100);
  in.iteration_cost = 1;
  in.time_left = planning::worthwhile * 5;  // of which four are a power of two
  CHECK(plan_frame(in).substeps == 4);
  in.time_left = 0;
  CHECK(plan_frame(in).substeps == 1);
  in = touching(100), in.iteration_cost = 1, in.passing = 8;
  in.time_left = (planning::worthwhile + planning::preparation) * 3;
  CHECK(plan_frame(in).substeps == 3);
  in.detection_cost = planning::worthwhile + planning::preparation;  // as much again, for looking
  in.time_left *= 2;
  CHECK(plan_frame(in).substeps == 3);
  in.time_left = 0;
  CHECK(plan_frame(in).substeps == 2);
}

TEST_CASE("the mode of a step: driven before contact, contact before anchored, anchored before free") {
  StepInput in;
  CHECK(plan_step(in).mode == Mode::free);
  in.anchored = true;
  CHECK(plan_step(in).mode == Mode::anchored);
  in.contacts = true;
  CHECK(plan_step(in).mode == Mode::contact);
  in.driven = true;
  CHECK(plan_step(in).mode == Mode::driven);
  CHECK(!plan_step(in).holds);
  CHECK(plan_step(in).correction == EnergyCorrection::none);
}

TEST_CASE("the base of a step") {
  StepInput in;
  CHECK(plan_step(in).base == Base::method);
  in.solid = false;
  CHECK(plan_step(in).base == Base::sheets);
  in.at_rest = true;
  CHECK(plan_step(in).base == Base::fallback);
  in = {}, in.after_failure = true;
  CHECK(plan_step(in).base == Base::fallback);
  in = {}, in.contacts = true;
  CHECK(plan_step(in).base == Base::contact);
  for (bool StepInput::* reason : {&StepInput::settling, &StepInput::other_members, &StepInput::driven}) {
    StepInput with = in;
    with.*reason = true;
    CHECK(plan_step(with).base == Base::fallback);
  }
  in.plain_contact_base = false;
  CHECK(plan_step(in).base == Base::fallback);
}

TEST_CASE("restitution squared comes back of what a step with contacts has lost, all of it in the air") {
  StepInput in;
  in.restitution = 0.5;
  CHECK(plan_step(in).returned == 1);
  CHECK(plan_step(in).correction == EnergyCorrection::after_solve);
  in.contacts = true;
  CHECK(plan_step(in).returned == 0.25);
  CHECK(plan_step(in).correction == EnergyCorrection::restore);
}

TEST_CASE("what is crushed has sub-steps in which no cell is strained by more than a quarter, but sheets and what settles") {
  PlanInput in = touching(0);
  CHECK(plan_frame(in).substeps == 1);
  in.crushing = 0.2;
  CHECK(plan_frame(in).substeps == 1);
  in.crushing = 0.9;
  CHECK(plan_frame(in).substeps == 4);
  in.crushing = 100;
  CHECK(plan_frame(in).substeps == planning::most_for_vibration);
  in.contacts = false;
  CHECK(plan_frame(in).substeps == 1);
  in.contacts = true, in.settling = true;
  CHECK(!plans_by_phase(in));  // it is not even looked for
  in.settling = false, in.sheets = true;
  CHECK(!plans_by_phase(in));
}

TEST_CASE("what is missing stays owed beside an impact and after a failure") {
  StepInput in;
  in.beside_contact = true;
  CHECK(plan_step(in).correction == EnergyCorrection::bound);
  in.contacts = true;
  CHECK(plan_step(in).correction == EnergyCorrection::restore);
  in = {}, in.after_failure = true;
  CHECK(plan_step(in).correction == EnergyCorrection::bound);
}

TEST_CASE("searched steps in the air are plain, of few iterations, and get H back along what they have lost") {
  StepInput in;
  CHECK(!plan_step(in).plain);
  in.searched = true;
  CHECK(plan_step(in).plain);
  CHECK(plan_step(in).base == Base::method);
  CHECK(plan_step(in).correction == EnergyCorrection::along_loss);
  for (bool StepInput::* reason : {&StepInput::contacts, &StepInput::driven}) {
    StepInput with = in;
    with.*reason = true;
    CHECK(!plan_step(with).plain);
  }
  int in_frame = 0;
  for (const int n : {1, 2, 4, 8, 16}) {
    in.substeps = n;
    in_frame = std::max(in_frame, n * plan_step(in).iterations);
  }
  CHECK(in_frame == planning::most_substeps * planning::most_in_any_case);
}

TEST_CASE("no searched step takes forces or rates that lead further than all of the energy") {
  StepInput in;
  in.searched = true, in.explicit_share = 1.1;
  CHECK(plan_step(in).base == Base::contact);
  in.explicit_share_of_contact_base = 1.1;
  CHECK(plan_step(in).base == Base::fallback);
  in.explicit_share = 0.9;
  CHECK(plan_step(in).base == Base::method);
  in.at_rest = true;
  CHECK(plan_step(in).base == Base::fallback);
  in = {}, in.explicit_share = in.explicit_share_of_contact_base = 2;  // not searched
  CHECK(plan_step(in).base == Base::method);
}

TEST_CASE("a method that holds nothing has its own base and no correction, whatever happens") {
  StepInput in;
  in.conserves = false, in.at_rest = in.settling = in.searched = true;
  CHECK(plan_step(in).base == Base::method);
  CHECK(plan_step(in).correction == EnergyCorrection::none);
  CHECK(!plan_step(in).plain);
}
