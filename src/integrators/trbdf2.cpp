#include <numbers>

#include "integrators/integrator.h"

namespace verve {

namespace {

/// Trapezoidal rule to t_n + g h, then BDF2 through that point (Bank et al. 1985). With g = 2 - sqrt 2 both stages have
/// the same hh, so one factor serves (Hosea and Shampine 1996). Of second order; damps high frequencies like BDF2.
class TrBdf2 final : public Integrator {
 public:
  double effective_step(double h) const override { return half * h; }
  bool takes_elastic() const override { return true; }
  int stages() const override { return 2; }
  double share(int stage) const override { return stage == 0 ? g : 1 - g; }

  void begin(Motion& m, double h, bool, BaseStep& s) const override {
    if (s.stage == 0) s.hh = half * h / share(0);  // the same bits in both stages: the same factor
    s.kappa = 0;
    m.last_step = h;
  }

  void prepare(Motion& m, const Forcing& f, double, BaseStep& s, int first, int last) const override {
    for (int i = first; i < last; ++i) {
      const Vec4& a = f.acceleration[i];
      if (s.stage == 0) {
        const Vec4 w = a - (m.elastic.empty() ? m.gradient[i] * f.inverse_mass[i] : m.elastic[i]);
        s.xb[i] = m.x[i] + m.v[i] * s.hh;
        s.u[i] = m.v[i] + (w + a) * s.hh;
        m.p[i] = m.x[i], m.q[i] = m.v[i];  // for the second stage
      } else {
        s.xb[i] = m.x[i] + (m.x[i] - m.p[i]) * past;
        s.u[i] = m.v[i] + (m.v[i] - m.q[i]) * past + a * s.hh;
      }
    }
  }

  void finish(Motion& m, const Forcing&, double, const BaseStep& s, std::vector<Vec4>& x) const override {
    const double inverse = 1 / s.hh;
    for (size_t i = 0; i < m.x.size(); ++i) m.v[i] = (x[i] - s.xb[i]) * inverse;
    m.x.swap(x);
    m.history = false;
  }

 private:
  static constexpr double g = 2 - std::numbers::sqrt2;
  static constexpr double half = g / 2;                          // = (1 - g)/(2 - g)
  static constexpr double past = (1 - g) * (1 - g) / (g * (2 - g));  // of BDF2 with steps g h and (1 - g) h
};

}  // namespace

std::unique_ptr<Integrator> make_trbdf2(const IntegratorNumbers&) { return std::make_unique<TrBdf2>(); }

}  // namespace verve
