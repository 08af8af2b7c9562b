// Springs, lengths, areas as hard constraints: the index-3 system M a = f + J^T lambda, C(x) = 0 by RATTLE (Andersen
// 1983): the positions are brought onto C = 0 along J(x_n), then the velocities onto J v = 0 at the new positions. Both
// are post-stabilisation in the sense of Ascher et al. 1995, so that nothing drifts, and together they are symplectic,
// of second order, and keep both momenta; Baumgarte's terms would trade drift for stiffness.
#include <algorithm>
#include <cmath>

#include "integrators/constraint_solver.h"
#include "integrators/contact_constraints.h"

namespace verve {

namespace {

/// What may be left of a constraint after a step, as a share of the size of its element.
constexpr double drift = 1e-8;
/// A start further off than this is put right without giving it a velocity.
constexpr double off_at_start = 1e-6;

class Hard final : public OwnStep {
 public:
  void step(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    using Form = ConstraintSolver::Form;
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    const int n = island.rows();
    const bool changed = rows_.bind(island, true);
    solver_.bind(island, rows_, island.consistent() ? Form::kkt : Form::schur, false, nullptr, changed);
    const HeldVertices& held = rows_.held();
    if (held.torn() >= 0) {
      out.status = StepOutcome::Status::infeasible;
      out.message = "two hard anchors hold one vertex in two places";
      return;
    }
    compliance_.resize(rows_.size()), lambda_.resize(rows_.size()), step_.resize(rows_.size());
    force_.assign(rows_.size(), 0.0);
    dx_.resize(n);
    for (int i = 0; i < rows_.size(); ++i) compliance_[i] = rows_.compliance(i) / (h * h);
    // the solve ends well below what may be left, so that drift does not add up to it
    const double tolerance = std::min(1e-3 * settings.tolerance, 0.1 * drift);

    rows_.evaluate(m.x);
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
    if (projection_.residual(rows_, compliance_, true, lambda_) > off_at_start) {
      const double left =
          projection_.project(island, rows_, solver_, compliance_, true, tolerance, settings.iterations, m.x, lambda_);
      out.iterations += projection_.iterations;
      if (!(left <= drift)) return fail(left, out);
      rows_.evaluate(m.x);
      project_velocity(island, m.v, out);
      std::fill(lambda_.begin(), lambda_.end(), 0.0);
    }

    // x = x_n + h v_n + h^2/2 a + M^-1 J(x_n)^T lambda with C(x) + S lambda = 0; simplified Newton, one factor per step
    before_ = m.x, speed_before_ = m.v;
    contacts_.begin(island, held.inverse_mass());
    for (int v = 0; v < n; ++v)
      m.x[v] = held.held(v) ? held.point(v) : m.x[v] + m.v[v] * h + f.acceleration[v] * (0.5 * h * h);
    start_ = m.x;
    double left = 0, last = INFINITY;
    for (int k = 0;; ++k) {
      rows_.evaluate(m.x);
      left = projection_.residual(rows_, compliance_, false, lambda_);
      const bool stuck = k > 3 && !(left < 0.9 * last);
      if (left <= tolerance || k >= settings.iterations || stuck || !std::isfinite(left)) break;
      if (k == 0) {  // not at rest, nor in free flight
        rows_.evaluate(before_);
        if (!solver_.factorize(island, rows_, compliance_, false, {})) return fail(NAN, out);
        rows_.evaluate(m.x);
      }
      last = left;
      for (int i = 0; i < rows_.size(); ++i) step_[i] = -(rows_.value(i) + compliance_[i] * lambda_[i]);
      solver_.solve(nullptr, step_, dx_);
      for (int v = 0; v < n; ++v) m.x[v] += dx_[v];
      for (int i = 0; i < rows_.size(); ++i) lambda_[i] += step_[i];
      ++out.iterations;
    }
    if (!(left <= drift) && std::isfinite(left)) {
      // the constraints have turned too far for J(x_n): along those of each iterate
      m.x = start_;
      std::fill(lambda_.begin(), lambda_.end(), 0.0);
      left =
          projection_.project(island, rows_, solver_, compliance_, false, tolerance, settings.iterations, m.x, lambda_);
      out.iterations += projection_.iterations;
    }
    contacts_.take_turns(before_, m.x, [&] {
      left =
          projection_.project(island, rows_, solver_, compliance_, false, tolerance, settings.iterations, m.x, lambda_);
      out.iterations += projection_.iterations;
      return left <= drift;
    });
    if (!(left <= drift)) return fail(left, out);
    contacts_.finish(m.x, h);
    for (int i = 0; i < rows_.size(); ++i) force_[i] = lambda_[i] / (h * h);

    for (int v = 0; v < n; ++v) {
      m.v[v] = (m.x[v] - before_[v]) * (1 / h);
      if (!held.held(v)) m.v[v] += f.acceleration[v] * (0.5 * h);
    }
    contacts_.restore(speed_before_, h, m.v);
    double rate = 0;
    for (int i = 0; i < rows_.size(); ++i)
      if (rows_.rigid(i)) rate = std::max(rate, rows_.relative(i, h * rows_.rate(i, m.v)));
    if (rate <= 1e-3 * tolerance) return;  // along the constraints already
    project_velocity(island, m.v, out);
    for (int i = 0; i < rows_.size(); ++i)
      if (rows_.rigid(i)) force_[i] += step_[i] / h;
  }

  const std::vector<double>* multipliers() const override { return &force_; }

 private:
  /// v += M^-1 J^T mu with J v = 0, at the positions that rows_ was evaluated at; mu is left in step_.
  void project_velocity(Island& island, std::vector<Vec4>& v, StepOutcome& out) {
    if (!solver_.factorize(island, rows_, compliance_, true, {})) return fail(NAN, out);
    for (int i = 0; i < rows_.size(); ++i) step_[i] = rows_.rigid(i) ? -rows_.rate(i, v) : 0;
    solver_.solve(nullptr, step_, dx_);
    for (size_t k = 0; k < v.size(); ++k) v[k] += dx_[k];
  }

  void fail(double left, StepOutcome& out) {
    out.status = std::isfinite(left) ? StepOutcome::Status::infeasible : StepOutcome::Status::not_finite;
    if (std::isfinite(left)) out.message = contradiction(rows_, projection_.worst, left, drift, solver_.redundant());
  }

  ConstraintRows rows_;
  ConstraintSolver solver_;
  ConstraintProjection projection_;
  std::vector<double> compliance_, lambda_, step_, force_;
  ContactConstraints contacts_;
  std::vector<Vec4> before_, speed_before_, start_, dx_;
};

}  // namespace

std::unique_ptr<OwnStep> make_hard(const SolverSpec&) { return std::make_unique<Hard>(); }

}  // namespace verve
