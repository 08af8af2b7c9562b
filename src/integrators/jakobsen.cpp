// Verlet positions with relaxed sticks (Jakobsen 2001, "Advanced character physics", Sec. 2-3): x_{n+1} = 2 x_n -
// x_{n-1} + h^2 a, then sweeps that move the ends of one stick after another to its length, by inverse mass. Kept as x
// and v = (x_n - x_{n-1})/h + h/2 a, which is the same and knows its velocity at t_n. Obstacles push vertices out
// within the same sweeps (his Sec. 4).
#include <algorithm>
#include <cmath>

#include "integrators/constraint_solver.h"
#include "integrators/contact_constraints.h"

namespace verve {

namespace {

class Jakobsen final : public OwnStep {
 public:
  void step(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    const int n = island.rows();
    rows_.bind(island, true);
    const HeldVertices& held = rows_.held();
    const std::vector<double>& w = held.inverse_mass();
    before_ = m.x, speed_before_ = m.v;
    contacts_.begin(island, w);
    for (int v = 0; v < n; ++v)
      m.x[v] = held.held(v) ? held.point(v) : m.x[v] + m.v[v] * h + f.acceleration[v] * (0.5 * h * h);
    double longest = 0;  // way
    for (int v = 0; v < n; ++v) longest = std::max(longest, norm((m.x[v] - before_[v]).xyz()));
    lambda_.assign(rows_.size(), 0.0);
    out.status = StepOutcome::Status::stopped;
    for (int k = 0; k < settings.iterations; ++k) {
      double worst = 0;
      for (int i = 0; i < rows_.size(); ++i) {
        rows_.evaluate(i, m.x);
        double weighted = 0;
        for (int c = 0; c < rows_.corners(i); ++c) {
          const Vec3& g = rows_.gradient(i, c);
          weighted += w[rows_.vertex(i, c)] * dot(g, g);
        }
        if (!(weighted > 0)) continue;
        // soft anchors and links give way by their compliance (Macklin et al. 2016, Eq. 18); sticks have none
        const double soft = rows_.compliance(i) / (h * h), r = rows_.value(i) + soft * lambda_[i];
        worst = std::max(worst, rows_.relative(i, r));
        const double step = -(soft > 0 ? r : rows_.full_step(i)) / (weighted + soft);
        lambda_[i] += step;
        for (int c = 0; c < rows_.corners(i); ++c) {
          const int v = rows_.vertex(i, c);
          m.x[v] += Vec4(rows_.gradient(i, c) * (w[v] * step));
        }
      }
      out.iterations = k + 1;
      const bool apart = contacts_.project(m.x) <= settings.tolerance * longest;
      if (worst <= settings.tolerance && apart) {
        out.status = StepOutcome::Status::converged;
        break;
      }
    }
    for (int v = 0; v < n; ++v) {
      m.v[v] = (m.x[v] - before_[v]) * (1 / h);
      if (!held.held(v)) m.v[v] += f.acceleration[v] * (0.5 * h);
    }
    contacts_.restore(speed_before_, h, m.v);
    contacts_.finish(m.x, h);
  }

 private:
  ConstraintRows rows_;
  std::vector<double> lambda_;
  ContactConstraints contacts_;
  std::vector<Vec4> before_, speed_before_;
};

}  // namespace

std::unique_ptr<OwnStep> make_jakobsen(const SolverSpec&) { return std::make_unique<Jakobsen>(); }

}  // namespace verve
