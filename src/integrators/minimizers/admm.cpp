// ADMM (Overby, Brown, Li, Narain 2017, "ADMM >= Projective Dynamics"): g with a copy z of every A x, and multipliers
// that pull the two together. Weights are those of PD, so that the matrix of the global step is A.
#include "integrators/step_solver.h"

namespace verve {

namespace {

class Admm final : public Minimizer {
 public:
  Admm(const SolverSpec&, int rows) : gradient_(rows) {}
  bool descends() const override { return false; }

  /// u = 0: the first step is that of PD.
  bool begin(Island& island) override {
    size_t columns = 0;
    island.each_potential([&](Potential& p, int) {
      if (!p.has_proximal()) return;
      for (int e = 0; e < p.elements(); ++e) columns += p.rows(e);
    });
    dual_.assign(columns, Vec3{});
    return true;
  }

  double descend(Island& island, const std::vector<Vec4>& x, const std::vector<Vec4>&, std::vector<Vec4>& dx) override {
    const BaseStep& base = island.solver().base();
    const std::vector<double>& mass = island.forcing.mass;
    const double inverse = 1 / base.hh;
    // A x - (M (xb + hh u)/hh^2 + sum w A_i^T (z_i - u_i)): what the global step brings to zero
    for (int i = 0; i < island.rows(); ++i) {
      dx[i] = (x[i] - base.xb[i]) * inverse - base.u[i];
      gradient_[i] = dx[i] * (mass[i] * inverse);
    }
    const MassCoupling& coupling = island.consistent_mass().coupling;
    for (int i = 0; island.consistent() && i < island.rows(); ++i) gradient_[i] += coupling.row(dx.data(), i) * inverse;
    double gap = 0;
    Vec3* dual = dual_.data();
    island.each_potential([&](Potential& p, int first) {
      if (!p.has_proximal()) {
        p.add_gradient(x.data() + first, gradient_.data() + first, Precision::float64);
        return;
      }
      gap += p.add_proximal(x.data() + first, dual, gradient_.data() + first);
      for (int e = 0; e < p.elements(); ++e) dual += p.rows(e);
    });
    for (const AnchorTerm& term : island.anchor_terms()) {
      if (term.to_world) {
        term.world.add_gradient(x.data(), gradient_.data());
      } else {
        term.links.add_gradient(x.data(), gradient_.data());
      }
    }
    island.solver().solve(gradient_, dx);
    return dot(gradient_, dx) + gap;
  }

 private:
  std::vector<Vec3> dual_;
  std::vector<Vec4> gradient_;
};

}  // namespace

std::unique_ptr<Minimizer> make_admm(const SolverSpec& spec, int rows) { return std::make_unique<Admm>(spec, rows); }

}  // namespace verve
