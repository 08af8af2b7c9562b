#include "integrators/integrator.h"

namespace verve {

namespace {

/// Backward Euler as a minimisation (CPD Eq. 1-3). With the whole kick, u = v_n + h a, it is the integrator of the
/// papers. With half of it before and half after the solve, free fall is exact and energy under constant forces is
/// conserved by the same H(x) as without.
class ImplicitEuler final : public Integrator {
 public:
  double effective_step(double h) const override { return h; }

  void begin(Motion&, double h, bool half_kick, BaseStep& s) const override {
    s.hh = h;
    s.kappa = half_kick ? 0.5 : 0;
  }

  void prepare(Motion& m, const Forcing& f, double h, BaseStep& s, int first, int last) const override {
    const double kick = (1 - s.kappa) * h;
    for (int i = first; i < last; ++i) {
      s.xb[i] = m.x[i];
      s.u[i] = m.v[i] + f.acceleration[i] * kick;
    }
  }

  void finish(Motion& m, const Forcing& f, double h, const BaseStep& s, std::vector<Vec4>& x) const override {
    const double inverse = 1 / s.hh, kick = s.kappa * h;
    for (size_t i = 0; s.keep_rates && i < m.x.size(); ++i) {
      m.p[i] = (x[i] - m.x[i]) * inverse;
      m.q[i] = ((x[i] - s.xb[i]) * inverse - m.v[i]) * inverse;
    }
    for (size_t i = 0; i < m.x.size(); ++i) m.v[i] = (x[i] - s.xb[i]) * inverse + f.acceleration[i] * kick;
    m.x.swap(x);
    m.history = s.keep_rates;
    m.last_step = h;
  }
};

}  // namespace

std::unique_ptr<Integrator> make_implicit_euler(const IntegratorNumbers&) { return std::make_unique<ImplicitEuler>(); }

}  // namespace verve
