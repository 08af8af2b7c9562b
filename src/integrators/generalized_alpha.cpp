#include <algorithm>

#include "integrators/integrator.h"
#include "integrators/row_passes.h"

namespace verve {

void Motion::resize(int rows) {
  for (std::vector<Vec4>* a : {&x, &v, &p, &q, &gradient}) a->resize(rows);
}

namespace {

/// Generalised-alpha in first-order form (Jansen, Whiting, Hulbert 2000): second order for every rho, the spectral
/// radius at infinite frequency. rho = 0 is BDF2, rho = 1 the trapezoidal rule. The elastic acceleration at x_n takes
/// part, so a body released from rest moves in the first frame.
class GeneralizedAlpha final : public Integrator {
 public:
  explicit GeneralizedAlpha(double rho)
      : alpha_m_(0.5 * (3 - rho) / (1 + rho)), alpha_f_(1 / (1 + rho)), gamma_(0.5 + alpha_m_ - alpha_f_) {}

  double effective_step(double h) const override { return h * gamma_ * alpha_f_ / alpha_m_; }
  bool takes_elastic() const override { return true; }

  double explicit_energy(const Motion& m, const Forcing& f, double h, bool falls) const override {
    double mass = 0, square = 0;
    Vec3 sum{};
    for (size_t i = 0; i < m.x.size(); ++i) {
      const Vec3 w = (f.acceleration[i] - m.gradient[i] * f.inverse_mass[i]).xyz();
      const Vec3 d = (m.history ? m.q[i].xyz() : w) * c1(h) + w * c2(h);
      mass += f.mass[i], sum += d * f.mass[i], square += f.mass[i] * dot(d, d);
    }
    return 0.5 * std::max(0.0, square - (falls ? dot(sum, sum) / mass : 0));
  }

  void begin(Motion& m, double h, bool, BaseStep& s) const override {
    s.hh = effective_step(h);
    s.kappa = 0;
    s.first = !m.history;
    s.before = m.last_step;
    m.history = true;
    m.last_step = h;
  }

  void prepare(Motion& m, const Forcing& f, double h, BaseStep& s, int first, int last) const override {
    const double c1 = this->c1(h), c2 = this->c2(h);
    if (!s.first && h == s.before && m.acceleration.empty() && m.elastic.empty())  // as nearly always
      return begin_rows({f.inverse_mass.data(), m.x.data(), m.v.data(), m.p.data(), m.q.data(), m.gradient.data(),
                         f.uniform ? nullptr : f.acceleration.data(), f.common, c1, c2, s.hh, s.xb.data(), s.u.data()},
                        first, last);
    for (int i = first; i < last; ++i) {
      const Vec4& a = f.acceleration[i];
      const Vec4 w = a - (m.elastic.empty() ? m.gradient[i] * f.inverse_mass[i] : m.elastic[i]);
      if (s.first) {
        // p so offset starts free fall on the exact parabola
        m.p[i] = s.keep_rates ? m.v[i] : m.v[i] + a * ((alpha_f_ - alpha_m_) * h);
        m.q[i] = w;
      } else if (!m.acceleration.empty()) {
        // another wind: as if the motion had been started with it, or its rates would ring
        const Vec4& was = m.acceleration[i];
        m.p[i] += (a * h - was * s.before) * (alpha_f_ - alpha_m_);
        m.q[i] += a - was;
      } else if (h != s.before) {
        // what rests on something does not fall
        m.p[i] += (s.keep_rates ? m.q[i] : a) * ((alpha_f_ - alpha_m_) * (h - s.before));
      }
      s.xb[i] = m.x[i] + m.p[i] * c1 + m.v[i] * c2;
      s.u[i] = m.v[i] + m.q[i] * c1 + w * c2 + a * s.hh;
      if (!m.acceleration.empty()) m.acceleration[i] = a;
    }
  }

  void finish(Motion& m, const Forcing&, double h, const BaseStep& s, std::vector<Vec4>& x) const override {
    const double inverse = 1 / s.hh, keep = h * (1 - gamma_), scale = 1 / (gamma_ * h);
    for (size_t i = 0; i < m.x.size(); ++i) {
      const Vec4 v = (x[i] - s.xb[i]) * inverse;
      m.p[i] = (x[i] - m.x[i] - m.p[i] * keep) * scale;
      m.q[i] = (v - m.v[i] - m.q[i] * keep) * scale;
      m.v[i] = v;
    }
    m.x.swap(x);
  }

 private:
  double c1(double h) const { return h * (1 - gamma_) - h * gamma_ * (1 - alpha_m_) / alpha_m_; }
  double c2(double h) const { return h * gamma_ * (1 - alpha_f_) / alpha_m_; }

  double alpha_m_, alpha_f_, gamma_;
};

}  // namespace

std::unique_ptr<Integrator> make_generalized_alpha(const IntegratorNumbers& numbers) {
  return std::make_unique<GeneralizedAlpha>(numbers.rho);
}

}  // namespace verve
