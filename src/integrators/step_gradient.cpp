// The iteration of a step that holds nothing, or P, L and H with H corrected along its gradient (docs/cpd.md, CPD
// Algorithm 1), and of the methods that see contact by the matrix alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/finite.h"
#include "base/stopwatch.h"
#include "integrators/step_solver.h"

namespace verve {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon(), infinity = std::numeric_limits<double>::infinity();
/// Iterations after which a step in the air that holds what it should need not come to rest as well as before: where
/// debris is turned inside out it never does.
constexpr int settles_after = 24;
constexpr double settled = 3;  // times the length that counts as rest
/// The least that a step has.
constexpr int least_iterations = 2, least_plain_iterations = 6;  // the latter of plain PD, whose result nothing corrects
/// Length of a step in the norm of A: below this, what presses where it ends is known well enough for friction.
constexpr double known_length = 0.1;
constexpr int hold_after = 4;  // iterations: before the step has ended, since a plain one may stop anywhere
constexpr int halvings = 3, most_trials = 16;  // halved first, then cut to a tenth each time

}  // namespace

/// From where start_iterate() has left x. True: it was asked to lose energy that it could not lose.
bool StepSolver::iterate_gradient(Stage& stage, StepProducts step_products, StepOutcome& out) {
  Stopwatch watch;
  const Settings& settings = stage.settings;
  const double h = stage.h, time_limit = plan_.time_limit;
  const bool plain = stage.plain, searches = stage.searches;
  const Precision kernel = stage.kernel;
  HeldPairs* const pairs = stage.pairs;
  const Problem& p = problem_;
  const bool corrects = p.touches && !minimizer_;  // plain steps
  bool took_hold = contacts.friction_anchors.empty();
  double negligible = p.releases_energy ? infinity : p.tolerance * p.present;
  double last_merit = searches && island_.searches() && !p.touches ? merit_at_start(h, p.target.h) : infinity;
  double slope = 0;  // of the merit along the last step, where that is known
  bool halved = false, gave_up = false;
  bool aimed_at_h = false;  // by the last step, which would have met H but for what is not linear
  double curved = 0;        // that, over 1/2 |dx|^2_A
  const auto release_energy = [&] { negligible = infinity, problem_.releases_energy = out.energy_released = true; };
  if (p.plain) release_energy();
  bool fell_back = false;
  int last_iteration = std::min(settings.iterations, plan_.iterations);
  // (a searched step of a plain method does not end above where it began; from deep in something it would)
  const bool searches_contacts = searches && !p.held && p.touches;
  const double rest_merit = (plain && p.releases_energy) || searches_contacts ? find_rest(h) : infinity;
  // factors that had to be made leave it half of what it may take
  const double prepared = stage.prepared = time_limit < infinity ? island_.work().milliseconds() : 0;
  const double counts_from = std::max(stage.begun, prepared - 0.5 * time_limit);
  int at_least = p.held ? least_iterations : least_plain_iterations;
  for (int k = 0;; ++k) {
    bool hurries = false;  // there will hardly be another iteration
    if (time_limit < infinity && k > 0) {
      const double now = island_.work().milliseconds(), each = (now - prepared) / k, next = now - counts_from + each;
      hurries = next + each > time_limit;
      if (k >= at_least && next > time_limit) last_iteration = std::min(last_iteration, k), out.cut = true;
    }
    if (p.touches) {
      const double left = time_limit - (time_limit < infinity ? island_.work().milliseconds() - counts_from : 0);
      contact_.leave_products(Work::products_in(std::max(left, 0.0) / std::max(at_least - k, 1)));
    }
    // local step: energies and gradients of all elements, and with them every residual
    sums_.energy = add_gradient(x_, gg_, kernel);
    const RowSums& s = sums_.rows;
    const double h_target = p.published ? (1 - out.alpha) * p.target.h + out.alpha * p.rigid : p.target.h;
    const auto energy_now = [&] { return s.kinetic + sums_.energy - p.beta * s.force_v; };
    double h_now = energy_now();
    halved = false;
    // what rests is nearer to its end where it is than where it would fall to
    if (k == 0 && merit(0, 0) > rest_merit) {
      x_before_ = rest_pose_;
      shorten_step(0);
      sums_.energy = add_gradient(x_, gg_, kernel);
      h_now = energy_now();
    }
    if (searches && last_merit < infinity) {
      const double noise = (kernel == Precision::float64 ? 1e-12 : 1e-6) * (p.e_ref + std::abs(last_merit));
      double now = merit(h_now - h_target, out.lambda), length = 1;
      for (int n = 0; n < most_trials && !(now <= last_merit - 1e-4 * length * slope + noise); ++n) {
        if (accelerator_ && accelerated_) {  // the plain step first
          undo_acceleration();
          accelerator_->restart();
        } else {
          const double factor = n + 1 == most_trials ? 0 : n < halvings ? 0.5 : 0.1;
          shorten_step(factor);
          length *= factor;
          halved = true;
        }
        sums_.energy = add_gradient(x_, gg_, kernel);
        h_now = energy_now();
        now = merit(h_now - h_target, out.lambda);
      }
      if (length == 0) {
        // back where it was: without what the last steps seemed to tell, or not at all
        const bool again = minimizer_ ? minimizer_->forget() : pairs && pairs->count() > 0;
        if (pairs) pairs->clear();
        out.stalled = !again && k > 0;
      }
    }
    watch.book(out.timings.local);
    Quantities c{{}, {}, h_now - h_target};
    if (p.momenta) c.p = s.p - p.target.p, c.l = s.l - p.target.l;
    c = held_part(c);
    out.residual = {c.p, c.l, h_now - p.target.h};
    out.error_p = norm(c.p) / p.scale_p;
    out.error_l = start_.radius > 0 ? norm(c.l) / (start_.radius * p.scale_p) : 0;
    out.error_h = std::abs(c.h) / p.e_ref;
    out.rose = h_now > stage.h_before + p.tolerance * p.e_ref;
    out.iterations = k;
    if (!std::isfinite(h_now) || !finite(s.p) || !finite(s.l)) {
      out.status = StepOutcome::Status::not_finite;
      return false;
    }
    // P and L of a free island are exact at any length of step; an anchored one has them right only near the solution,
    // and what is cut short there turns swinging into vibration
    const bool rests = p.grounded && out.stationary && start_.kinetic < 1e-4 * p.e_ref;
    const bool short_step = out.step_length < (rests                          ? 1e-6
                                               : p.momenta && !p.pivots       ? 1e-2
                                               : p.grounded && out.stationary ? 1e-3
                                               : p.held || !plan_.holds       ? std::min(1e-2, std::sqrt(p.tolerance))
                                                                              : p.tolerance) *
                                                  (p.held && !p.touches && k >= settles_after ? settled : 1);
    const bool done = k >= 1 && short_step && (!p.held || residuals_met(c, out));
    out.status = done ? StepOutcome::Status::converged : StepOutcome::Status::stopped;
    out.stalled = out.stalled && !done;
    // friction of what has just come to touch, once it is known how hard it presses
    if (!took_hold && (done || k == hold_after || hurries)) {
      took_hold = true;
      // far from its end it presses much too hard, and would be braked by that: then it slides, and holds from the next
      // step on
      if ((done || k == hold_after || out.step_length < known_length) &&
          island_.follow_pressure(Contacts::Follow::up, x_, gg_).any) {
        at_least = k + least_iterations;  // to be felt
        if (out.cut) last_iteration = std::max(last_iteration, at_least);
        const RowArrays rows = arrays();
        pass([&](int begin, int end) { return arrive(rows, begin, end); });  // gg anew, at the same x
        last_merit = out.step_length = infinity;                             // it has not been felt yet
        continue;
      }
    }
    if (done || out.stalled || k >= last_iteration) {
      // From x_n, a search that leads downhill cannot gain potential; from the momentum estimate, deep in something, it
      // may when it is cut short.
      if (plain && !fell_back && p.releases_energy && merit(0, 0) > rest_merit) {
        fell_back = true, last_iteration = k + settings.iterations / 2, at_least = k + least_iterations;
        x_before_ = rest_pose_;
        shorten_step(0);
        last_merit = infinity, out.stalled = false;
        continue;
      }
      motion.energy = sums_.energy;
      break;
    }

    // Asked to lose energy that it cannot lose (near its least energy for these momenta), the solve creeps along the
    // bound: leave H to the base integrator and finish the plain step.
    if (k >= (memory.cannot_lose ? 1 : patience()) && c.h > 0 && out.lambda > 0.5)
      negligible = infinity, gave_up = true;
    // global step: the only solve of an iteration
    const auto remember = [&](double lambda) {
      if (!searches) return;
      last_merit = merit(c.h, lambda);
      x_before_ = x_;
    };
    if (!p.held) {  // PD (Eq. 9): nothing to find out before the step is taken, one pass does all
      double length2 = 0;
      if (!solve_plain(length2)) {
        out.status = StepOutcome::Status::not_factorizable;
        return false;
      }
      if (corrects) contact_.correct(contact_rows(), gg_, Ag_, solver());
      watch.book(out.timings.global);
      remember(0);
      const RowArrays rows = arrays();
      pass([&](int begin, int end) { return plain_rows(rows, column(Ag_, Ag_narrow_), begin, end); });
      if (!minimizer_) length2 = sums_.rows.gg_gg;
      slope = minimizer_ && minimizer_->searches() ? length2 : 0;
      out.step_length = std::sqrt(std::max(0.0, length2) / p.e_ref);
      if (corrects && contact_.stalled()) out.step_length = std::max(out.step_length, 1.0);
      if (accelerator_) accelerate();
      watch.book(out.timings.update);
      continue;
    }
    solve_gradient();
    if (p.touches) contact_.adopt(contact_rows(), gg_, Ag_, solver());
    watch.book(out.timings.global);
    IterationProducts products_k = products();
    StepProducts products_s = step_products;
    if (pairs) take_in_pairs(*pairs, products_s, products_k);
    if (p.touches) take_in_contacts(products_s, products_k);
    Direction d = p.published ? published_direction(products_s, products_k, c, p.target.h - p.rigid,
                                                    settings.epsilon * p.e_ref, out.alpha)
                              : constrained_direction(products_s, products_k, c, out.lambda, negligible);
    // Where the iterations end before H is met, the last step takes in what its linearisation would miss: a share of
    // 1/2 |dx|^2_A. That of the step before is known, which led to c_H where it aimed at none; steps become smoother,
    // and it falls as it has fallen. (A tolerance below
    // round-off asks for the iterates as they are.)
    const double before = curved;
    curved = aimed_at_h ? std::clamp(2 * c.h / last_.direction.norm2, 0.0, 1.0) : 0;
    if (k + 1 == last_iteration && curved > 0 && p.tolerance > epsilon && !p.published && !p.touches && !pairs &&
        !d.at_bound && !d.stationary) {
      const double share = before > curved ? curved * curved / before : curved;
      for (int n = 0; n < 2; ++n) {
        Quantities ahead = c;
        ahead.h += 0.5 * share * d.norm2;
        d = constrained_direction(products_s, products_k, ahead, out.lambda, negligible);
      }
    }
    out.take(d);
    out.at_bound = d.at_bound;
    out.stationary = d.stationary;
    const double length = std::sqrt(d.norm2 / p.e_ref);
    const bool slow = !pairs && !p.touches && k > 0 && length < 0.1 && length > 0.6 * out.step_length;
    out.step_length = p.touches && contact_.stalled() ? std::max(length, 1.0) : length;
    // where a halved step led is not where the plain one would have
    const double beta = slow && last_.counts && !halved ? extrapolation(step_products, products_k, d) : 0;
    // 0.17: so short that the next may be slow
    last_ = {!p.published && !pairs && !p.touches && length < 0.17, d, products_k, swing_.gg};
    aimed_at_h = beta == 0 && !d.at_bound && !d.stationary && d.norm2 > 0;
    watch.book(out.timings.conservation);
    remember(d.lambda);
    if (pairs) pairs->add(d, p.momenta, Ag_);
    if (p.touches) add_contacts(d);
    move(d, beta);
    watch.book(out.timings.update);
  }
  return gave_up;
}

}  // namespace verve
