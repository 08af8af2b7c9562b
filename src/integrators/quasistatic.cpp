#include "integrators/integrator.h"

namespace verve {

namespace {

/// Equilibrium of elastic and constant forces: the minimum of W(x) - f.x, from where the body is. A step so long that
/// inertia hardly counts: what is left of it, 1e-4 of that of a frame, keeps free bodies in place and the matrix
/// definite, and vanishes from frame to frame as x_n nears the equilibrium.
class Quasistatic final : public Integrator {
 public:
  double effective_step(double h) const override { return 100 * h; }
  bool is_static() const override { return true; }

  void begin(Motion&, double h, bool, BaseStep& s) const override {
    s.hh = effective_step(h);
    s.kappa = 0;
  }

  void prepare(Motion& m, const Forcing& f, double, BaseStep& s, int first, int last) const override {
    for (int i = first; i < last; ++i) {
      s.xb[i] = m.x[i];
      s.u[i] = (f.acceleration[i] - Vec4(s.falling)) * s.hh;
    }
  }

  void finish(Motion& m, const Forcing&, double, const BaseStep&, std::vector<Vec4>& x) const override {
    for (Vec4& v : m.v) v = {};
    m.x.swap(x);
    m.history = false;
  }
};

}  // namespace

std::unique_ptr<Integrator> make_quasistatic(const IntegratorNumbers&) { return std::make_unique<Quasistatic>(); }

}  // namespace verve
