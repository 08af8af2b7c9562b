// Backward Euler with one linear solve per step (Baraff and Witkin 1998, "Large steps in cloth simulation", Eq. 6):
//   (M + h^2 K) dv = h (f - h K v_n),   v_{n+1} = v_n + dv,   x_{n+1} = x_n + h v_{n+1},
// by conjugate gradients with a filter that keeps dv as prescribed where hard anchors hold a vertex (their Sec. 5.3).
// K is the Hessian of W: k grad C grad C^T + k C d^2C/dx^2 for smooth constraints, the latter of edges and only in
// tension (their compressed springs, too, are cut to what is positive, Choi and Ko 2002, Sec. 4.2); the weights
// w G^T G for all others, with which a step never gains energy: it is the first iterate of PD.
#include <algorithm>
#include <cmath>

#include "integrators/constraint_solver.h"

namespace verve {

namespace {

class LinearizedEuler final : public OwnStep {
 public:
  void step(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    const int n = island.rows();
    rows_.bind(island, false);
    others_.bind(island);
    const HeldVertices& held = rows_.held();
    for (std::vector<Vec4>* a : {&b_, &dv_, &residual_, &direction_, &product_, &scaled_}) a->resize(n);
    inverse_diagonal_.resize(n), bend_.resize(rows_.size());
    rows_.evaluate(m.x);
    island_ = &island;
    h2_ = h * h;

    // right-hand side and the diagonal
    std::fill(product_.begin(), product_.end(), Vec4());
    others_.add_gradient(m.x, product_);
    for (int i = 0; i < rows_.size(); ++i) {
      const double force = rows_.stiffness(i) * rows_.value(i);
      rows_.add_force(i, force, product_);
      bend_[i] = rows_.of_potential(i) ? std::max(0.0, force) * rows_.curvature(i) : 0;
    }
    for (int v = 0; v < n; ++v) b_[v] = (f.force[v] - product_[v]) * h;
    stiffness(m.v, scaled_);
    for (int v = 0; v < n; ++v) b_[v] -= scaled_[v];
    precondition();

    // dv starts at what is prescribed, and elsewhere at the common acceleration of a free island, for which M alone
    // resists: that keeps the momentum exact although the solve ends early
    Vec4 impulse;
    for (int v = 0; v < n; ++v) impulse += b_[v];
    const bool free = !island.anchored();
    const Vec4 common = free ? impulse * (1 / island.total_mass()) : Vec4();
    for (int v = 0; v < n; ++v) dv_[v] = held.held(v) ? (held.point(v) - m.x[v]) * (1 / h) - m.v[v] : common;
    multiply(dv_, product_);
    double size = 0, delta = 0;
    for (int v = 0; v < n; ++v) {
      residual_[v] = held.held(v) ? Vec4() : b_[v] - product_[v];
      if (!held.held(v)) size += inverse_diagonal_[v] * dot(b_[v], b_[v]);
      direction_[v] = residual_[v] * inverse_diagonal_[v];
      delta += dot(residual_[v], direction_[v]);
    }
    const double enough = settings.tolerance * settings.tolerance * std::max(size, delta);
    int k = 0;
    for (; k < settings.iterations && delta > enough; ++k) {
      multiply(direction_, product_);
      double curvature = 0;
      for (int v = 0; v < n; ++v) curvature += held.held(v) ? 0 : dot(direction_[v], product_[v]);
      if (!(curvature > 0)) break;
      const double alpha = delta / curvature;
      double next = 0;
      for (int v = 0; v < n; ++v) {
        if (held.held(v)) continue;
        dv_[v] += direction_[v] * alpha;
        residual_[v] -= product_[v] * alpha;
        next += inverse_diagonal_[v] * dot(residual_[v], residual_[v]);
      }
      const double beta = next / delta;
      for (int v = 0; v < n; ++v)
        if (!held.held(v)) direction_[v] = residual_[v] * inverse_diagonal_[v] + direction_[v] * beta;
      delta = next;
    }
    out.iterations = k;
    if (delta > enough) out.status = StepOutcome::Status::stopped;
    if (free) {
      Vec4 left;  // what the solve has not done of the impulse; K knows nothing of translations
      multiply(dv_, product_);
      for (int v = 0; v < n; ++v) left += held.held(v) ? Vec4() : b_[v] - product_[v];
      const Vec4 shift = left * (1 / island.total_mass());
      for (int v = 0; v < n; ++v)
        if (!held.held(v)) dv_[v] += shift;
    }
    for (int v = 0; v < n; ++v) {
      if (held.held(v)) {
        m.v[v] = (held.point(v) - m.x[v]) * (1 / h);
        m.x[v] = held.point(v);
      } else {
        m.v[v] += dv_[v];
        m.x[v] += m.v[v] * h;
      }
    }
  }

 private:
  /// out = h^2 K p.
  void stiffness(const std::vector<Vec4>& p, std::vector<Vec4>& out) const {
    std::fill(out.begin(), out.end(), Vec4());
    others_.add_product(h2_, p, out);
    for (int i = 0; i < rows_.size(); ++i) {
      rows_.add_force(i, h2_ * rows_.stiffness(i) * rows_.rate(i, p), out);
      if (bend_[i] == 0) continue;
      const int a = rows_.vertex(i, 0), b = rows_.vertex(i, 1);
      const Vec3 d = (p[b] - p[a]).xyz(), along = rows_.direction(i);
      const Vec4 g((d - along * dot(along, d)) * (h2_ * bend_[i]));
      out[a] -= g, out[b] += g;
    }
  }

  /// out = (M + h^2 K) p.
  void multiply(const std::vector<Vec4>& p, std::vector<Vec4>& out) const {
    stiffness(p, out);
    for (int v = 0; v < int(p.size()); ++v) out[v] += p[v] * island_->forcing.mass[v];
    for (int v = 0; island_->consistent() && v < int(p.size()); ++v)
      out[v] += island_->consistent_mass().coupling.row(p.data(), v);
  }

  /// One number per vertex: the mean of the diagonal of M + h^2 K over the axes, so that nothing depends on how the
  /// scene is turned.
  void precondition() {
    const int n = int(inverse_diagonal_.size());
    for (int v = 0; v < n; ++v) inverse_diagonal_[v] = island_->forcing.mass[v];
    if (!others_.empty()) {
      const SymmetricMatrix& a = others_.weights();
      for (int v = 0; v < n; ++v) inverse_diagonal_[v] += h2_ * a.value[a.start[v]];
    }
    for (int i = 0; i < rows_.size(); ++i)
      for (int c = 0; c < rows_.corners(i); ++c) {
        const Vec3& g = rows_.gradient(i, c);
        inverse_diagonal_[rows_.vertex(i, c)] += h2_ * (rows_.stiffness(i) * dot(g, g) + 2 * bend_[i]) / 3;
      }
    for (double& d : inverse_diagonal_) d = d > 0 ? 1 / d : 0;
  }

  const Island* island_ = nullptr;  // of the step
  double h2_ = 0;
  ConstraintRows rows_;
  OtherForces others_;
  std::vector<double> inverse_diagonal_, bend_;  // bend_: k C times the curvature of C
  std::vector<Vec4> b_, dv_, residual_, direction_, product_, scaled_;
};

}  // namespace

std::unique_ptr<OwnStep> make_linearized_euler(const SolverSpec&) { return std::make_unique<LinearizedEuler>(); }

}  // namespace verve
