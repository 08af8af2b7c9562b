// One step of an island that may touch something: a plain minimisation under the held momenta, then the energy in closed
// form. docs/contact.md
//   minimise  g(x) = 1/2 |v - u|^2_M + W(x), with the energy of contact as the one-sided quadratic of frozen stencils,
//             under the linear constraints of those momenta that no contact resists; only downhill, so that the step may
//             end after any iteration
//   bound     where more energy has come out than the motion could pay for, back towards the rigidly carried x_n
//   restore   v <- v_h + s (v - v_h), v_h the rigid motion with the held momenta: the s for which H is its target; in an
//             impact to each part of the motion what it has lost (restore_parts)
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "integrators/step_solver.h"
#include "base/stopwatch.h"
#include "potentials/polar.h"

namespace verve {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of the velocity of each body and of what forces make of it in a step (BodySpeeds): what an iteration
/// changes less ends the minimisation. Of bodies at rest it is less, or they would creep.
constexpr double end_change = 1e-3, rest_change = 1e-6;
/// Iterations that a step has in any case.
constexpr int least_iterations = 2;
/// Iterations up to which the bounds of friction follow the pressure; then they stay, and the rest of the step goes
/// downhill in one potential.
constexpr int last_friction = 4;
/// Of the last iteration (StepOutcome::step_length), above which they only fall, but for the last time.
constexpr double known_length = 0.1;
/// Lengths of a step that are tried downhill: halves first, then tenths, then none.
constexpr int halvings = 3, most_trials = 12;
/// Halves of the way back towards the rigidly carried x_n that are tried before all of it.
constexpr int most_backtracks = 5;

}  // namespace

StepOutcome StepSolver::contact_step(double h, const Settings& settings, const Demand& demand) {
  Stopwatch watch;
  const double begun = island_.work().milliseconds(), time_limit = plan_.time_limit;
  const Integrator& integrator = settings.base(plan_.base);
  loss_.on = false;
  base_.stage = 0, base_.keep_rates = settings.touching != nullptr, base_.falling = {};
  // half a kick after the solve would shake what rests on something, or hangs from it
  integrator.begin(motion, h, !contacts.grounded() && !anchored(), base_);
  choose(h, settings);
  problem_.direct = true, problem_.statics = false;
  problem_.releases_energy = problem_.plain = true;
  find_factor(base_.hh, settings);
  narrow_ = false;
  look_at_start(integrator, h);
  hold_free_momenta();
  colliders_.find(contacts, start_.center_n, h);
  pose(h, demand);
  const Problem& p = problem_;

  StepOutcome out;
  out.e_ref = p.e_ref, out.rigid_energy = p.rigid, out.length = h, out.energy_released = true;
  out.target_total = p.target.h - start_.force_x - p.offset;
  out.before = start_.kinetic + start_energy() - start_.force_x;
  if (!factor_) {
    out.status = StepOutcome::Status::not_factorizable;
    return out;
  }
  divide_forces(elastic_before_, push_before_);
  turns_.clear();
  begin_contacts();
  accelerated_ = false;
  const Precision kernel = kernel_precision(settings.precision);
  solve_columns();
  start_iterate(h);
  const StepProducts step_products = p.kept.products(column_products(), start_.radius);
  if (p.grounded) rest_on_contacts();
  if (p.momenta && !consistent()) {  // a step that is cut short, or shortened, has them all the same
    correct_momenta(x_);
    const RowArrays rows = arrays();
    pass([&](int begin, int end) { return arrive(rows, begin, end); });
  }
  // Begins at the lower of two places, where the motion leads and x_n carried along by the held momenta: g(x) never
  // exceeds its value there.
  const double rest = find_rest(h);
  carry_stencils();
  // what is left of each sub-step adds up in a frame
  const double enough = speeds_.find(island_, h) && p.grounded ? rest_change : end_change / plan_.substeps;
  double change = infinity;
  double last_merit = infinity;
  x_before_.resize(rows_);
  watch.book(out.timings.setup);
  for (int k = 0;; ++k) {
    const auto evaluate_here = [&] {
      sums_.energy = add_gradient(x_, gg_, kernel);
      return merit(0, 0);
    };
    double now = evaluate_here(), length = 1;
    if (k == 0 && !(now <= rest)) {
      x_before_ = rest_pose_;
      shorten_step(0);
      now = evaluate_here();
    }
    const double noise = 1e-12 * (p.e_ref + std::abs(last_merit));
    for (int n = 0; n < most_trials && last_merit < infinity && !(now <= last_merit + noise); ++n) {
      const double factor = n + 1 == most_trials ? 0 : n < halvings ? 0.5 : 0.1;
      shorten_step(factor);
      length *= factor;
      now = evaluate_here();
    }
    watch.book(out.timings.local);
    out.iterations = k;
    if (!std::isfinite(now)) {
      out.status = StepOutcome::Status::not_finite;
      return out;
    }
    if (k > 0) change = contact_.stalled() ? infinity : speeds_.largest_change(island_, x_before_, x_, base_.hh);
    bool done = k >= 1 && (length == 0 ? !contact_.looks_ahead() : change < enough);
    if (k >= 1 && k <= last_friction) {
      const bool known = done || k == last_friction || out.step_length < known_length;
      if (follow_pressure(known ? Contacts::Follow::both : Contacts::Follow::down, demand, out) >= enough) done = false;
    }
    const double spent = island_.work().milliseconds() - begun, next = spent * (k + 1) / std::max(k, 1);
    const bool late = k >= least_iterations && next > time_limit;
    if (done || late || k >= plain_iterations(plan_.substeps)) {
      out.status = done ? StepOutcome::Status::converged : StepOutcome::Status::stopped;
      break;
    }
    if (length == 0) contact_.stop_looking_ahead();
    const RowSums& s = sums_.rows;
    Quantities c;
    if (p.momenta) c.p = s.p - p.target.p, c.l = s.l - p.target.l;
    c = held_part(c);
    contact_.leave_products(
        Work::products_in(std::max(0.0, time_limit - spent) / std::max(least_iterations - k, 1)));
    solve_gradient();
    contact_.adopt(contact_rows(), gg_, Ag_, solver());
    watch.book(out.timings.global);
    IterationProducts products_k = products();
    StepProducts products_s = step_products;
    take_in_contacts(products_s, products_k);
    const Direction d = constrained_direction(products_s, products_k, c, 0, infinity);
    out.step_length = std::sqrt(d.norm2 / p.e_ref);
    if (contact_.stalled()) out.step_length = std::max(out.step_length, 1.0);
    last_merit = merit(0, 0);
    x_before_ = x_;
    add_contacts(d);
    move(d, 0);
    watch.book(out.timings.update);
  }
  // what pushes is known now, and with it the frame in which the step is judged
  colliders_.find(contacts, start_.center_n, h);
  if (colliders_.moves()) carry_as_whole(h, rest_pose_);
  bound_contact_step(h, kernel);
  finish_contact_step(integrator, h, demand, out);
  return out;
}

/// Friction at the pressure of this iterate. What anchors lose by it at x_n the step cannot hold. Returns the largest
/// change of the velocity of a body that this makes, over its speed.
double StepSolver::follow_pressure(Contacts::Follow follow, const Demand& demand, StepOutcome& out) {
  const Contacts::FrictionChange change = island_.follow_pressure(follow, x_, gg_);
  sums_.energy += change.energy;
  motion.energy += change.start, out.before += change.start;
  if (!demand.set_energy) problem_.target.h += change.start, out.target_total += change.start;
  double largest = 0;
  for (int k = 0; k < int(island_.bodies().size()); ++k)
    largest = std::max(largest, speeds_.share(k, base_.hh * contacts.friction_change(k) / island_.body(k).total_mass));
  return largest;
}

/// Stencils between bodies turn with the held momenta: a rigid motion leaves the active contacts as they are.
void StepSolver::carry_stencils() {
  Vec3 to{};
  for (int i = 0; i < rows_; ++i) to += rest_pose_[i].xyz() * (forcing.mass[i] / total_mass_);
  Mat3 moment{};
  for (int i = 0; i < rows_; ++i)
    moment = moment + outer((rest_pose_[i].xyz() - to) * forcing.mass[i], motion.x[i].xyz() - start_.center_n);
  contacts.carry(motion.x.data(), rest_pose_.data(), nearest_rotation(moment));
}

/// What has been gained beyond the relative motion cannot be taken from it. Between here and the rigidly carried x_n,
/// which has W_n and the held momenta and no other motion, lies a place where it can: v and its rates follow x there, as
/// in the whole step. (Beside colliders that move differently no rigid motion leaves W as it was. What it is more there
/// is less than their work, since W is convex in the way of each: ColliderFrame::find_work.)
void StepSolver::bound_contact_step(double h, Precision kernel) {
  const Problem& p = problem_;
  const double before = start_.kinetic + start_energy() + p.offset, slack = 1e-9 * p.e_ref;
  const RigidMotion& frame = colliders_.motion();
  const auto unpaid = [&] {  // what is left when all of the relative motion is taken
    const double gained = sums_.rows.kinetic + sums_.energy - p.beta * sums_.rows.force_v - before -
                          colliders_.find_work(step_end(h), memory.loads);
    if (!(gained > slack)) return 0.0;
    for (int i = 0; i < rows_; ++i) Ag_[i] = (x_[i] - base_.xb[i]) * (1 / base_.hh) - frame.at(x_[i]);
    const RigidMotion held = verve::held_motion(masses(), held_momenta(), x_.data(), Ag_.data());
    return gained - relative_motion(masses(), held, x_.data(), Ag_.data(), lin_.data());
  };
  x_before_ = rest_pose_;
  kept_way_ = 1;
  for (int n = 0; n <= most_backtracks && unpaid() > slack; ++n) {
    const double factor = n == most_backtracks ? 0 : 0.5;
    kept_way_ *= factor;
    shorten_step(factor);
    sums_.energy = add_gradient(x_, gg_, kernel);
  }
}

void StepSolver::finish_contact_step(const Integrator& integrator, double h, const Demand& demand, StepOutcome& out) {
  const Problem& p = problem_;
  const RowSums& s = sums_.rows;
  // what colliders have done is known now; a dial asks for what it asks for
  const double work = colliders_.find_work(step_end(h), memory.loads), brought = demand.set_energy ? 0 : work;
  colliders_.keep_loads(step_end(h), memory.loads);
  out.target_total += brought;
  Quantities c{{}, {}, s.kinetic + sums_.energy - p.beta * s.force_v - (p.target.h + brought)};
  if (p.momenta) c.p = s.p - p.target.p, c.l = s.l - p.target.l;
  out.residual = held_part(c);
  out.error_p = norm(out.residual.p) / p.scale_p;
  out.error_l = start_.radius > 0 ? norm(out.residual.l) / (start_.radius * p.scale_p) : 0;
  out.error_h = std::abs(c.h) / p.e_ref;
  find_gradient();
  motion.energy = sums_.energy;
  integrator.finish(motion, forcing, h, base_, x_);
}

}  // namespace verve
