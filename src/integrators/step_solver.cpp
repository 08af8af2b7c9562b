// One problem of a step from its beginning to its end, and what all iterations are made of. docs/cpd.md
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/finite.h"
#include "base/parallel.h"
#include "base/stopwatch.h"
#include "integrators/step_solver.h"
#include "integrators/turn.h"

namespace verve {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void set(Vec6& out, const Vec3& p, const Vec3& l) { out = {p.x, p.y, p.z, l.x, l.y, l.z}; }

}  // namespace

StepSolver::StepSolver(Island& island)
    : island_(island),
      motion(island.motion),
      forcing(island.forcing),
      contacts(island.contacts),
      memory(island.memory),
      consistent_(island.consistent_mass()),
      rows_(island.rows()),
      total_mass_(island.total_mass()) {
  base_.xb.resize(rows_), base_.u.resize(rows_);
  for (std::vector<Vec4>* a :
       {&x_, &gg_, &Ag_, &last_Ag_, &lin_, &Alin_, &kr_, &Akr_, &arm_, &end_, &x_before_, &rest_pose_})
    a->resize(rows_);
  for (std::vector<Float4>* a :
       {&Ag_narrow_, &last_Ag_narrow_, &lin_narrow_, &Alin_narrow_, &kr_narrow_, &lever_narrow_})
    a->resize(rows_);
}

Work StepSolver::work() const {
  Work out = work_;
  out += contact_.work();
  return out;
}

void StepSolver::solve_gradient() {
  if (last_.counts) Ag_.swap(last_Ag_), Ag_narrow_.swap(last_Ag_narrow_);
  work_.entries += entries_;
  if (narrow_) {
    factor_.solve(gg_.data(), Ag_narrow_.data());
  } else {
    factor_.solve(gg_.data(), Ag_.data());
    if (!turns_.empty()) turns_.add_to(gg_, Ag_);
  }
  right_hand_sides_ += 3;
}

IterationProducts StepSolver::products() {
  const bool swings = problem_.swings, momenta = problem_.momenta;
  work_.vertices += rows_;
  const RowArrays rows = arrays();
  const RowColumn Ag = column(Ag_, Ag_narrow_);
  const RowFactors factors{Ag, loss_.on && !loss_.found ? RowColumn() : column(Alin_, Alin_narrow_),
                           swings ? column(arm_, lever_narrow_) : Ag,
                           last_.counts ? column(last_Ag_, last_Ag_narrow_) : RowColumn(),
                           loss_.on && loss_.found ? column(lin_, lin_narrow_) : RowColumn()};
  RowProducts sum = sum_over_ranks(ordered_sum<RowProducts>(
      rows_, row_grain, product_parts_, [&](int begin, int end) { return multiply_rows(rows, factors, begin, end); }));
  if (consistent() && momenta) sum.l += consistent_.spin(Ag_.data());
  IterationProducts k;
  k.gg_gg = sum.gg_gg, k.lin_gg = sum.lin_gg, k.gg_last = sum.gg_last, k.h_Ag = sum.lin_Ag;
  if (momenta) set(k.q_gg, sum.p / base_.hh, sum.l / base_.hh);
  if (swings) {
    swing_.gg = sum.l;
    const Vec3 turn = swing_.inverse * swing_.gg;
    k.gg_gg += dot(swing_.gg, turn), k.gg_last += dot(last_.swing_gg, turn);
    k.lin_gg += dot(swing_.lin, turn), k.h_Ag += dot(loss_.swing_lin, turn);
  }
  return k;
}

/// How far to go beyond x - dx where that has become slow, one step of Anderson acceleration with a memory of one
/// (Walker and Ni 2011): of all x on the line through this plain step and the last, the one whose own step should be
/// shortest. P and L are linear in x and hold on the whole line. In the norm of A all that is needed is known but for
/// one product.
double StepSolver::extrapolation(const StepProducts& step, const IterationProducts& products, const Direction& d) const {
  const double both = overlap(step, products, d, last_.products, last_.direction);
  const double change = d.norm2 - 2 * both + last_.direction.norm2;
  const double resolved = narrow_ ? 1e-5 : 1e-9;  // what the digits of A^-1 leave of a difference
  return change > resolved * d.norm2 ? (d.norm2 - both) / change : 0;
}

/// x -= dx, or beyond.
void StepSolver::move(const Direction& d, double beta) {
  const double scale = 1 / d.scale;
  const RowColumn Ag = column(Ag_, Ag_narrow_),
                  Alin = problem_.touches ? RowColumn{contact_.corrected_lin().data(), nullptr} : column(Alin_, Alin_narrow_);
  RowStep step{Ag, d.l != 0 ? Alin : Ag, Ag, d.g, d.l, {}, {}};
  if (problem_.momenta) {
    step.lever = column(Akr_, lever_narrow_);
    step.turn = Vec3{d.lambda_q[3], d.lambda_q[4], d.lambda_q[5]} * (base_.hh * scale);
    step.shift = Vec3{d.lambda_q[0], d.lambda_q[1], d.lambda_q[2]} * (base_.hh * scale) -
                 (problem_.of_rest ? Vec3{} : cross(step.turn, start_.about - start_.origin));  // the lever's origin
  } else if (problem_.swings) {
    step.lever = column(arm_, lever_narrow_);
    step.turn = swing_.inverse * (swing_.gg * step.g + swing_.lin * step.l);
  }
  const RowArrays rows = arrays();
  if (beta == 0) {
    pass([&](int begin, int end) { return move_rows(rows, step, begin, end); });
  } else {
    // where the last plain step led: to x itself, unless x was accelerated
    const RowLeap leap{beta, accelerated_ ? end_.data() : nullptr, end_.data()};
    pass([&](int begin, int end) { return leap_rows(rows, step, leap, begin, end); });
  }
  accelerated_ = beta != 0;
}

/// What a step must lower where A does not bound the curvature of W: the objective g = 1/2 |v - u|^2_M + W, and in an
/// exact penalty what is left of the constraint on H. The weight exceeds the multiplier.
double StepSolver::merit(double c_h, double lambda) {
  work_.vertices += rows_;
  const double inertia = sum_over_ranks(ordered_sum<double>(rows_, row_grain, inertia_parts_, [&](int begin, int end) {
    double sum = 0;
    for (int i = begin; i < end; ++i) {
      const Vec4 d = (x_[i] - base_.xb[i]) * (1 / base_.hh) - base_.u[i];
      sum += 0.5 * forcing.mass[i] * dot(d, d);
      if (consistent()) sum += 0.5 * dot(d, coupled_velocity(i) - consistent_.Du[i]);
    }
    return sum;
  }));
  return inertia + sums_.energy +
         (problem_.held && !problem_.releases_energy ? (2 * std::abs(lambda) + 0.5) * std::abs(c_h) : 0);
}

/// Where a plain step with contacts is safe: at x_n, which has no more potential than the motion began with; a free
/// island carried on by its rigid motion, which changes none of the contacts within it. (Left at x_n it would lose its
/// momenta.) Returns its merit.
double StepSolver::find_rest(double h) {
  carry_as_whole(h, rest_pose_);
  x_.swap(rest_pose_);
  const double energy = sums_.energy;
  sums_.energy = start_energy();
  const double out = merit(0, 0);
  sums_.energy = energy;
  x_.swap(rest_pose_);
  return out;
}

/// Back towards where the last step began. P and L are linear in x: what holds at both ends holds between.
void StepSolver::shorten_step(double factor) {
  const RowArrays rows = arrays();
  pass([&](int begin, int end) {
    for (int i = begin; i < end; ++i) x_[i] = x_before_[i] + (x_[i] - x_before_[i]) * factor;
    return arrive(rows, begin, end);
  });
}

/// The first step is that from x_n, carried along and turned by its rigid motion, to the momentum estimate:
/// where the estimate deforms the body too much, it is shortened like any other. W is known there, and P and L are
/// nearly right: a step that must stay there moves like a rigid body.
double StepSolver::merit_at_start(double h, double h_target) {
  Vec3 shift{};
  Mat3 turn = Mat3::identity();
  if (!anchored()) {
    for (int i = 0; i < rows_; ++i) shift += (x_[i] - motion.x[i]).xyz() * forcing.mass[i];
    shift = sum_over_ranks(shift) / total_mass_;
    if (problem_.held) turn = Turn((start_.inertia_inverse * start_.spin) * h).matrix();  // PD damps the turn as well
  }
  const Vec3 c = start_.center_n, to = c + shift;
  for (int i = 0; i < rows_; ++i) x_before_[i] = Vec4(to + turn * (motion.x[i].xyz() - c));
  x_.swap(x_before_);
  const RowArrays before = arrays();
  pass([&](int begin, int end) { return arrive(before, begin, end); });
  sums_.energy = motion.energy;
  const double now = sums_.rows.kinetic + sums_.energy - problem_.beta * sums_.rows.force_v;
  const double out = merit(now - h_target, 0);
  x_.swap(x_before_);
  const RowArrays after = arrays();
  pass([&](int begin, int end) { return arrive(after, begin, end); });
  return out;
}

void StepSolver::prepare_minimizer(const Settings& settings) {
  const SolverSpec& spec = settings.spec;
  if (prepared_.minimizer == settings.minimizer && prepared_.conservation == settings.conservation &&
      prepared_.acceleration == spec.acceleration && prepared_.window == spec.window)
    return;
  prepared_ = {settings.minimizer, settings.conservation, spec.acceleration, spec.window};
  minimizer_.reset(), accelerator_.reset(), pairs_.reset();
  if (settings.conservation == Conservation::none) {
    if (settings.minimizer) minimizer_ = settings.minimizer->make(spec, rows_);
    accelerator_ = make_accelerator(spec, rows_);
  } else if (settings.minimizer || (island_.searches() && settings.conservation == Conservation::cpd)) {
    // L-BFGS is the only one that a conserving step takes (check_scene), and it takes it also where A does not bound
    // the Hessian: half the iterations and fewer sub-steps (docs/minimisers.md)
    pairs_ = std::make_unique<HeldPairs>(rows_, spec.window);
  }
  if (minimizer_ || accelerator_ || pairs_) x_before_.resize(rows_);
}

/// dx of a step that holds nothing, into Ag_.
bool StepSolver::solve_plain(double& length2) {
  if (!minimizer_) {
    solve_gradient();
    return true;  // plain_rows finds the length
  }
  length2 = minimizer_->descend(island_, x_, gg_, Ag_);
  return std::isfinite(length2);
}

/// On from where the plain step led, which is kept in end_.
void StepSolver::accelerate() {
  end_ = x_;
  accelerated_ = accelerator_->advance(x_before_, end_, x_);
  if (!accelerated_) return;
  const RowArrays rows = arrays();
  pass([&](int begin, int end) { return arrive(rows, begin, end); });
}

/// Back to where the plain step led.
void StepSolver::undo_acceleration() {
  x_.swap(end_);
  const RowArrays rows = arrays();
  pass([&](int begin, int end) { return arrive(rows, begin, end); });
  accelerated_ = false;
}

/// L-BFGS: takes in x_ with gg and A^-1 gg, and turns the products under A^-1 into those under B^-1.
void StepSolver::take_in_pairs(HeldPairs& pairs, StepProducts& step, IterationProducts& iteration) {
  const Problem& p = problem_;
  std::vector<Vec4>& swung = end_;  // A^-1 gg with the swing of an anchored island
  if (p.swings) {
    const Vec3 turn = swing_.inverse * swing_.gg;
    const RowColumn lever = column(arm_, lever_narrow_);
    for (int i = 0; i < rows_; ++i) {
      swung[i] = Ag_[i];
      if (!(forcing.mass[i] > 0)) continue;
      const Vec3 r = lever.narrow ? Vec3{lever.narrow[i].x, lever.narrow[i].y, lever.narrow[i].z} : arm_[i].xyz();
      swung[i] += Vec4(cross(turn, r));
    }
  }
  const HeldPairs::Columns columns{p.momenta,    forcing.mass, base_.xb, consistent() ? consistent_.Dr.data() : nullptr,
                                   start_.about, base_.hh,     lin_};
  if (!pairs.take_in(columns, x_, gg_, p.swings ? swung : Ag_, step, iteration) || !p.momenta) return;
  step.s_qq_inverse = pseudo_inverse(step.s_qq, 1e-10);
  step = p.kept.products(step, start_.radius);
}

/// gg holds grad g at the accepted x: grad W follows without another evaluation.
void StepSolver::find_gradient() {
  const double inverse = 1 / base_.hh;
  for (int i = 0; i < rows_; ++i)
    motion.gradient[i] = gg_[i] - ((x_[i] - base_.xb[i]) * inverse - base_.u[i]) * (forcing.mass[i] * inverse);
  for (int i = 0; consistent() && i < rows_; ++i)
    motion.gradient[i] -= (coupled_velocity(i) - consistent_.Du[i]) * inverse;
}

/// All that is known before the first iteration but the columns: the problem, what it is solved with, and whether it can
/// be.
StepOutcome StepSolver::begin_stage(Stage& s) {
  const double h = s.h;
  const Settings& settings = s.settings;
  const Integrator& integrator = s.integrator;
  s.begun = plan_.time_limit < infinity ? island_.work().milliseconds() : 0;
  if (!integrator.is_direct()) {
    base_.end_x.resize(rows_), base_.end_v.resize(rows_);
    gH_.resize(rows_), AH_.resize(rows_), end_gradient_.resize(rows_);
  }
  base_.keep_rates = settings.touching && (!contacts.empty() || (plan_.plain && plan_.base == Base::fallback));
  // half a kick after the solve would shake what rests on something
  integrator.begin(motion, h, settings.conservation == Conservation::cpd && !contacts.grounded(), base_);
  base_.falling = {};
  choose(h, settings);
  problem_.direct = integrator.is_direct(), problem_.statics = integrator.is_static();
  if (problem_.swings && problem_.direct) find_pivot();
  problem_.plain = problem_.releases_energy = problem_.held && s.plain;
  if (problem_.statics && !anchored()) {
    for (int i = 0; i < rows_; ++i) base_.falling += forcing.force[i].xyz();
    base_.falling = sum_over_ranks(base_.falling) / total_mass_;
  }
  // the last resort of a frame that failed goes without: a B that led astray gains energy, A at worst stands still
  s.pairs = plan_.after_failure || problem_.touches ? nullptr : pairs_.get();
  // a conserving method releases H for a step where hard anchors are driven, and is then projective
  const bool factors = !minimizer_ || minimizer_->needs_factor();
  if (factors) find_factor(base_.hh, settings);
  problem_.of_rest = problem_.of_rest && factor_.own() && (problem_.swings || problem_.direct);
  if (problem_.of_rest) find_rest_columns(*factor_.own(), island_);
  narrow_ = factors && factor_ && !problem_.touches && factor_.is_narrow() && !consistent() && !minimizer_ && !s.pairs &&
            (problem_.direct || !problem_.held);
  look_at_start(integrator, h);
  hold_free_momenta();
  loss_.on = follows_loss(settings, s.demand, integrator, s.plain), loss_.resolves = settings.resolved;
  pose(h, s.demand);
  const Problem& p = problem_;

  StepOutcome out;
  out.e_ref = p.e_ref;
  out.rigid_energy = p.rigid;
  out.target_total = p.target.h - start_.force_x - p.offset;
  out.before = start_.kinetic + motion.energy - start_.force_x;
  out.impossible = p.momenta && p.kept.all() && p.target.h < p.rigid;
  if ((factors && !factor_) || (minimizer_ && !minimizer_->begin(island_))) {
    out.status = StepOutcome::Status::not_factorizable;
    return out;
  }
  if (accelerator_) accelerator_->restart();
  if (s.pairs) s.pairs->clear();
  turns_.clear();
  if (p.touches && factors) begin_contacts();
  const bool search = minimizer_ ? minimizer_->searches() || (island_.searches() && minimizer_->descends())
                                 : island_.searches();
  s.searches = accelerator_ || s.pairs || p.touches || search;
  accelerated_ = false;
  s.kernel = kernel_precision(settings.precision);
  out.length = h;
  return out;
}

StepOutcome StepSolver::take_stage(double h, const Settings& settings, const Demand& demand, const Integrator& integrator,
                               bool plain) {
  Stopwatch watch;
  Stage stage{h, settings, demand, integrator, plain};
  StepOutcome out = begin_stage(stage);
  if (!out.moved()) return out;
  const Problem& p = problem_;
  if (p.held && !p.direct) {
    watch.book(out.timings.setup);
    iterate_indirect(h, settings, demand, stage.kernel, out);
    if (out.status == StepOutcome::Status::not_finite) return out;
    rest_pose_ = motion.x;
    integrator.finish(motion, forcing, h, base_, x_);
    island_.evaluate_motion();
    return out;
  }
  if (p.held) solve_columns();
  start_iterate(h);
  StepProducts step_products;
  if (p.held && !loss_.on) step_products = p.kept.products(column_products(), start_.radius);
  if (p.grounded) rest_on_contacts();
  watch.book(out.timings.setup);
  stage.h_before = start_.kinetic + motion.energy + p.offset;
  bool cannot_lose = false;
  if (loss_.on) {
    stage.prepared = plan_.time_limit < infinity ? island_.work().milliseconds() : 0;
    iterate_loss(h, settings, stage.kernel, out);
  } else {
    cannot_lose = iterate_gradient(stage, step_products, out);
  }
  if (!out.moved()) return out;
  if (plan_.time_limit < infinity && out.iterations > 0)
    memory.iteration_cost = (island_.work().milliseconds() - stage.prepared) / out.iterations;
  memory.cannot_lose = cannot_lose && demand.lowers();
  if (!plan_.holds) out.residual = {}, out.error_h = 0;
  if (plan_.correction == EnergyCorrection::along_loss) out.loss = find_searched_loss(h);
  find_gradient();
  integrator.finish(motion, forcing, h, base_, x_);
  out.target_total -= out.heat;
  damp(out);
  if (!p.direct) island_.evaluate_motion();  // where the step ends is not where it was minimised
  if (!p.held && !p.statics) measure_losses(stage.h_before - p.offset - start_.force_x, demand.debt, out);
  return out;
}

}  // namespace verve
