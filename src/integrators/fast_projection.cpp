// Fast projection (Goldenthal et al. 2007, "Efficient simulation of inextensible cloth", Algorithm 1): an unconstrained
// step, then iterated projection onto the constraints in the metric of mass, along the constraint directions of each
// iterate; the velocity is what the positions say. Contacts are another such filter (their Sec. 5 has them before the
// projection); the two take turns until neither moves the other.
#include <algorithm>
#include <cmath>

#include "integrators/constraint_solver.h"
#include "integrators/contact_constraints.h"

namespace verve {

namespace {

/// What the method promises of every length.
constexpr double promised = 1e-3;

class FastProjection final : public OwnStep {
 public:
  void step(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    using Form = ConstraintSolver::Form;
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    const bool changed = rows_.bind(island, true);
    solver_.bind(island, rows_, island.consistent() ? Form::kkt : Form::schur, false, nullptr, changed);
    const HeldVertices& held = rows_.held();
    if (held.torn() >= 0) {
      out.status = StepOutcome::Status::infeasible;
      out.message = "two hard anchors hold one vertex in two places";
      return;
    }
    compliance_.resize(rows_.size());
    lambda_.assign(rows_.size(), 0.0);
    for (int i = 0; i < rows_.size(); ++i) compliance_[i] = rows_.compliance(i) / (h * h);
    before_ = m.x, speed_before_ = m.v;
    contacts_.begin(island, held.inverse_mass());
    for (int v = 0; v < island.rows(); ++v)
      m.x[v] = held.held(v) ? held.point(v) : m.x[v] + (m.v[v] + f.acceleration[v] * h) * h;
    double left = 0;
    const auto project = [&] {
      left = projection_.project(island, rows_, solver_, compliance_, false, settings.tolerance, settings.iterations,
                                 m.x, lambda_);
      out.iterations += projection_.iterations;
      return left <= promised;
    };
    project();
    contacts_.take_turns(before_, m.x, project);
    if (left > settings.tolerance) out.status = StepOutcome::Status::stopped;
    if (!(left <= promised)) {
      out.status = std::isfinite(left) ? StepOutcome::Status::infeasible : StepOutcome::Status::not_finite;
      if (std::isfinite(left))
        out.message = contradiction(rows_, projection_.worst, left, promised, solver_.redundant());
    }
    for (int v = 0; v < island.rows(); ++v) m.v[v] = (m.x[v] - before_[v]) * (1 / h);
    contacts_.restore(speed_before_, h, m.v);
    contacts_.finish(m.x, h);
    for (double& l : lambda_) l /= h * h;
  }

  const std::vector<double>* multipliers() const override { return &lambda_; }

 private:
  ConstraintRows rows_;
  ConstraintSolver solver_;
  ConstraintProjection projection_;
  std::vector<double> compliance_, lambda_;
  ContactConstraints contacts_;
  std::vector<Vec4> before_, speed_before_;
};

}  // namespace

std::unique_ptr<OwnStep> make_fast_projection(const SolverSpec&) { return std::make_unique<FastProjection>(); }

}  // namespace verve
