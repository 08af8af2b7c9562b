#include <cmath>

#include "integrators/integrator.h"

namespace verve {

namespace {

/// Newmark 1959, and generalised-alpha for second-order systems, Chung and Hulbert 1993, of which it is the case
/// alpha_m = alpha_f = 0. With accelerations a_n, b and g for Newmark's beta and gamma:
///   x_{n+1} = xp + b h^2 a_{n+1},   xp = x_n + h v_n + h^2 (1/2 - b) a_n
///   v_{n+1} = v_n + h (1 - g) a_n + h g a_{n+1}
///   M ((1 - alpha_m) a_{n+1} + alpha_m a_n) + grad W(y) = f,   y = (1 - alpha_f) x_{n+1} + alpha_f x_n,
/// which is the minimum over y of |y - yp|^2_M / 2 hh^2 + W(y) with hh^2 = b h^2 (1 - alpha_f)/(1 - alpha_m).
/// beta = 1/4, gamma = 1/2 is the trapezoidal rule; gamma = 1/2 is variational (Kane et al. 2000), more of it damps.
class Newmark final : public Integrator {
 public:
  Newmark(double alpha_m, double alpha_f, double beta, double gamma)
      : alpha_m_(alpha_m), alpha_f_(alpha_f), beta_(beta), gamma_(gamma) {}

  double effective_step(double h) const override { return h * std::sqrt(beta_ * (1 - alpha_f_) / (1 - alpha_m_)); }
  bool takes_elastic() const override { return true; }
  bool is_direct() const override { return false; }

  void begin(Motion& m, double h, bool, BaseStep& s) const override {
    s.hh = effective_step(h);
    s.kappa = 0;
    s.position = 1 / (1 - alpha_f_);
    s.velocity = gamma_ / (beta_ * h) * s.position;
    // without the alphas a_n is the acceleration at x_n itself; otherwise it has a life of its own
    s.first = !m.history || (alpha_m_ == 0 && alpha_f_ == 0);
    m.history = true;
    m.last_step = h;
  }

  void prepare(Motion& m, const Forcing& f, double h, BaseStep& s, int first, int last) const override {
    for (int i = first; i < last; ++i) {
      const Vec4& a = f.acceleration[i];
      if (s.first) {
        m.q[i] = a - (m.elastic.empty() ? m.gradient[i] * f.inverse_mass[i] : m.elastic[i]);
      } else if (!m.acceleration.empty()) {
        m.q[i] += a - m.acceleration[i];  // another wind
      }
      if (!m.acceleration.empty()) m.acceleration[i] = a;
      m.p[i] = m.v[i];
      const Vec4 way = m.v[i] * h + m.q[i] * (h * h * (0.5 - beta_));  // xp - x_n
      const Vec4 target = way + (a - m.q[i] * alpha_m_) * (beta_ * h * h / (1 - alpha_m_));
      s.xb[i] = m.x[i];
      s.u[i] = target * ((1 - alpha_f_) / s.hh);
      s.end_x[i] = m.x[i] * (-alpha_f_ * s.position);
      s.end_v[i] = m.v[i] + m.q[i] * (h * (1 - gamma_)) - (m.x[i] * s.position + way) * (gamma_ / (beta_ * h));
    }
  }

  void finish(Motion& m, const Forcing&, double h, const BaseStep& s, std::vector<Vec4>& y) const override {
    for (size_t i = 0; i < m.x.size(); ++i) {
      const Vec4 moved = (y[i] - m.x[i]) * s.position;  // x_{n+1} - x_n
      const Vec4 a = (moved - m.v[i] * h - m.q[i] * (h * h * (0.5 - beta_))) * (1 / (beta_ * h * h));
      m.v[i] += m.q[i] * (h * (1 - gamma_)) + a * (h * gamma_);
      m.q[i] = a;
      m.x[i] += moved;
    }
  }

 private:
  double alpha_m_, alpha_f_, beta_, gamma_;
};

}  // namespace

std::unique_ptr<Integrator> make_newmark(const IntegratorNumbers& numbers) {
  return std::make_unique<Newmark>(0, 0, numbers.beta, numbers.gamma);
}

std::unique_ptr<Integrator> make_chung_hulbert(const IntegratorNumbers& numbers) {
  const double rho = numbers.rho, alpha_m = (2 * rho - 1) / (rho + 1), alpha_f = rho / (rho + 1);  // Eq. 25
  const double size = 1 - alpha_m + alpha_f;
  return std::make_unique<Newmark>(alpha_m, alpha_f, 0.25 * size * size, 0.5 - alpha_m + alpha_f);  // Eq. 17, 20
}

}  // namespace verve
