#include "integrators/integrator.h"

namespace verve {

namespace {

/// The implicit midpoint rule: x_{n+1} = x_n + h v_m, v_{n+1} = v_n + h M^-1 (f - grad W(y)) with v_m the mean of the
/// two velocities and y = x_n + h/2 v_m. Half a step of backward Euler leads to the middle, y and v_m, and as far again
/// to the end (Hairer, Lubich, Wanner, Geometric Numerical Integration, Sec. II.1.1). Symplectic, of second order; it
/// keeps L, and quadratic energies.
class ImplicitMidpoint final : public Integrator {
 public:
  double effective_step(double h) const override { return 0.5 * h; }
  bool is_direct() const override { return false; }

  void begin(Motion&, double h, bool, BaseStep& s) const override {
    s.hh = 0.5 * h;
    s.kappa = 0;
    s.position = 2, s.velocity = 2 / s.hh;
  }

  void prepare(Motion& m, const Forcing& f, double, BaseStep& s, int first, int last) const override {
    for (int i = first; i < last; ++i) {
      s.xb[i] = m.x[i];
      s.u[i] = m.v[i] + f.acceleration[i] * s.hh;
      s.end_x[i] = m.x[i] * -1.0;
      s.end_v[i] = m.x[i] * -s.velocity - m.v[i];
    }
  }

  void finish(Motion& m, const Forcing&, double, const BaseStep& s, std::vector<Vec4>& y) const override {
    const double inverse = 1 / s.hh;
    for (size_t i = 0; i < m.x.size(); ++i) {
      m.v[i] = (y[i] - m.x[i]) * (2 * inverse) - m.v[i];
      m.x[i] += (y[i] - m.x[i]) * 2.0;
    }
    m.history = false;
  }
};

}  // namespace

std::unique_ptr<Integrator> make_implicit_midpoint(const IntegratorNumbers&) {
  return std::make_unique<ImplicitMidpoint>();
}

}  // namespace verve
