// Compliant constraints (Servin, Lacoursiere, Melin 2006): springs as constraints with compliance 1/k in place of
// stiffness, so that the system stays well conditioned however stiff they are, and tends to that of hard constraints;
// with the geometric stiffness of Tournier et al. 2015, "Stable constrained dynamics". One linear solve per step.
#include <algorithm>
#include <cmath>

#include "integrators/constraint_solver.h"
#include "linear/cholesky.h"

namespace verve {

namespace {

class Compliant final : public OwnStep {
 public:
  Compliant(bool geometric, double damping) : geometric_(geometric), damping_(damping) {}

  void step(Island& island, double h, const Settings&, StepOutcome& out) override {
    using Form = ConstraintSolver::Form;
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    const int n = island.rows();
    const bool changed = rows_.bind(island, false);
    others_.bind(island);
    if (rows_.size() == 0 && !island.consistent()) return without_constraints(island, h, out);
    const bool whole = geometric_ || !others_.empty() || island.consistent();
    solver_.bind(island, rows_, whole ? Form::kkt : Form::schur, geometric_, &others_, changed);
    const HeldVertices& held = rows_.held();
    const bool known = int(lambda_.size()) == rows_.size();
    lambda_.resize(rows_.size());
    compliance_.resize(rows_.size()), tension_.resize(rows_.size()), step_.resize(rows_.size());
    r_.resize(n), change_.resize(n), dv_.resize(n);
    rows_.evaluate(m.x);

    // H = M - h^2 lambda_n d^2 C/dx^2, lambda of the last step: at high stiffness -k C would be the difference of large
    // numbers. Only where it is tension: compression would make H indefinite, and buckling needs no help.
    for (int i = 0; i < rows_.size(); ++i) {
      const double lambda = known ? lambda_[i] : -rows_.stiffness(i) * rows_.value(i);
      tension_[i] = geometric_ ? std::max(0.0, -lambda) : 0;
      // lambda_{n+1} = -k (C + (h + tau) J v), as J v + S mu = -C/(h + tau) for mu = h lambda
      compliance_[i] = rows_.compliance(i) / (h * (h + damping_));
    }
    ConstraintSolver::Upper upper{h * h, &others_, geometric_ ? &tension_ : nullptr};
    if (!solver_.factorize(island, rows_, compliance_, false, upper)) {
      out.status = StepOutcome::Status::not_finite;
      return;
    }

    // v = u + dv with u = v_n, or what is prescribed
    for (int v = 0; v < n; ++v) {
      r_[v] = f.force[v] * h;
      change_[v] = held.held(v) ? (held.point(v) - m.x[v]) * (1 / h) - m.v[v] : Vec4();
      m.v[v] += change_[v];
    }
    if (!others_.empty()) {
      std::fill(dv_.begin(), dv_.end(), Vec4());
      others_.add_gradient(m.x, dv_);
      for (int v = 0; v < n; ++v) r_[v] -= dv_[v] * h;
      others_.add_product(-h * h, m.v, r_);
    }
    for (int i = 0; i < rows_.size(); ++i) {
      if (tension_[i] > 0 && rows_.of_potential(i) && rows_.corners(i) == 2) {
        const int a = rows_.vertex(i, 0), b = rows_.vertex(i, 1);
        const Vec3 d = (m.v[b] - m.v[a]).xyz(), along = rows_.direction(i);
        const Vec4 g((d - along * dot(along, d)) * (h * h * tension_[i] * rows_.curvature(i)));
        r_[a] += g, r_[b] -= g;
      }
      step_[i] = -rows_.value(i) / (h + damping_) - rows_.rate(i, m.v);
    }
    for (int v = 0; island.consistent() && v < n; ++v)
      r_[v] -= island.consistent_mass().coupling.row(change_.data(), v);
    solver_.solve(&r_, step_, dv_);
    for (int v = 0; v < n; ++v) {
      m.v[v] += dv_[v];
      if (held.held(v))
        m.x[v] = held.point(v);
      else
        m.x[v] += m.v[v] * h;
    }
    for (int i = 0; i < rows_.size(); ++i) lambda_[i] = step_[i] / h;
    out.iterations = 1;
  }

  void remember(std::vector<double>& history) const override { history = lambda_; }
  void recall(const std::vector<double>& history) override { lambda_ = history; }
  const std::vector<double>* multipliers() const override { return &lambda_; }

 private:
  /// H alone, which then is one scalar matrix for the three axes and constant: the first iterate of PD.
  void without_constraints(Island& island, double h, StepOutcome& out) {
    Motion& m = island.motion;
    const HeldVertices& held = rows_.held();
    const int n = island.rows();
    r_.resize(n), dv_.resize(n);
    if (factored_ != std::pair(island.version(), h) || held_ != held.flags()) {
      held_ = held.flags();
      const SymmetricMatrix& w = others_.weights();
      matrix_ = w;
      for (int c = 0; c < n; ++c) {
        for (int e = w.start[c]; e < w.start[c + 1]; ++e)
          matrix_.value[e] = held.held(c) || held.held(w.row[e]) ? 0 : h * h * w.value[e];
        matrix_.value[w.start[c]] += held.held(c) ? 1 : island.forcing.mass[c];
      }
      if (!factor_.factorize(matrix_, island.bodies().size() == 1, Precision::float64)) {
        out.status = StepOutcome::Status::not_factorizable;
        return;
      }
      factored_ = {island.version(), h};
    }
    for (int v = 0; v < n; ++v)
      if (held.held(v)) m.v[v] = (held.point(v) - m.x[v]) * (1 / h);
    std::fill(dv_.begin(), dv_.end(), Vec4());
    others_.add_gradient(m.x, dv_);
    for (int v = 0; v < n; ++v) r_[v] = (island.forcing.force[v] - dv_[v]) * h;
    others_.add_product(-h * h, m.v, r_);
    for (int v = 0; v < n; ++v)
      if (held.held(v)) r_[v] = {};
    factor_.solve(r_.data(), dv_.data());
    for (int v = 0; v < n; ++v) {
      m.v[v] += dv_[v];
      m.x[v] = held.held(v) ? held.point(v) : m.x[v] + m.v[v] * h;
    }
    out.iterations = 1;
  }

  bool geometric_;
  double damping_;
  ConstraintRows rows_;
  OtherForces others_;
  ConstraintSolver solver_;
  std::vector<double> compliance_, lambda_, tension_, step_;
  std::vector<Vec4> r_, change_, dv_;
  SymmetricMatrix matrix_;
  Cholesky factor_;
  std::pair<long, double> factored_{-1, 0};
  std::vector<char> held_;
};

}  // namespace

std::unique_ptr<OwnStep> make_compliant(const SolverSpec& spec) {
  return std::make_unique<Compliant>(true, spec.constraint_damping);
}
std::unique_ptr<OwnStep> make_compliant_plain(const SolverSpec& spec) {
  return std::make_unique<Compliant>(false, spec.constraint_damping);
}

}  // namespace verve
