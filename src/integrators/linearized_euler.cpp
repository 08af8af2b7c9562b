// Backward Euler with one linear solve per step (Baraff and Witkin 1998, "Large steps in cloth simulation", Eq. 6):
//   (M + h^2 K) dv = h (f - h K v_n),   v_{n+1} = v_n + dv,   x_{n+1} = x_n + h v_{n+1},
// by conjugate gradients with a filter that keeps dv as prescribed where hard anchors hold a vertex (their Sec. 5.3).
// K is the Hessian of W: k grad C grad C^T + k C d^2C/dx^2 for smooth constraints, the latter of edges and only in
// tension (compressed springs are cut to what is positive, Choi and Ko 2002, Sec. 4.2); of all others the slope of
// their gradient along each direction of the solve. Where that is not positive, or the step gains energy, the step is
// computed again with their weights w G^T G, with which it never does: it is then the first iterate of PD.
#include <algorithm>
#include <cmath>

#include "integrators/constraint_solver.h"

namespace verve {

namespace {

/// Energy that a step may gain before it counts as too long for its Hessian. A turn by theta stretches a body by
/// theta^2/2 until the next step takes that back, which is no instability.
constexpr double much = 0.05;

class LinearizedEuler final : public OwnStep {
 public:
  void step(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    Motion& m = island.motion;
    const Forcing& f = island.forcing;
    const int n = island.rows();
    rows_.bind(island, false);
    others_.bind(island);
    for (std::vector<Vec4>* a :
         {&b_, &dv_, &residual_, &direction_, &product_, &probe_, &displaced_, &ahead_, &behind_, &gradient_})
      a->resize(n);
    inverse_diagonal_.resize(n), bend_.resize(rows_.size());
    rows_.evaluate(m.x);
    island_ = &island;
    h2_ = h * h;
    x_ = m.x, v_ = m.v;
    std::fill(gradient_.begin(), gradient_.end(), Vec4());
    others_.add_gradient(m.x, gradient_);
    for (int i = 0; i < rows_.size(); ++i) {
      const double force = rows_.stiffness(i) * rows_.value(i);
      rows_.add_force(i, force, gradient_);
      bend_[i] = rows_.of_potential(i) ? std::max(0.0, force) * rows_.curvature(i) : 0;
    }
    precondition();

    by_weights_ = others_.empty();
    const double before = by_weights_ ? 0 : energy(m.v, m.energy);
    bool good = solve(h, settings, out) && take(h);
    if (by_weights_) return;
    if (good) {
      double gained = energy(m.v, island.evaluate(m.x, product_)) - before;
      for (int v = 0; v < n; ++v) gained -= dot(f.force[v], m.x[v] - x_[v]);
      good = gained <= much * out.e_ref;
    }
    if (good) return;
    // the Hessian is indefinite or the step too long for it: the weights, which are never less than the Hessian
    m.x = x_, m.v = v_;
    by_weights_ = true;
    solve(h, settings, out), take(h);
  }

 private:
  /// Conjugate gradients for dv_; false where the matrix turns out not to be positive.
  bool solve(double h, const Settings& settings, StepOutcome& out) {
    const Forcing& f = island_->forcing;
    const HeldVertices& held = rows_.held();
    const int n = int(x_.size());
    stiffness(v_, product_);
    for (int v = 0; v < n; ++v) b_[v] = (f.force[v] - gradient_[v]) * h - product_[v];
    // dv starts at what is prescribed, and elsewhere at the common acceleration of a free island, for which M alone
    // resists
    const bool free = !island_->anchored();
    Vec4 impulse;
    for (int v = 0; v < n; ++v) impulse += f.force[v] * h;
    const Vec4 common = free ? impulse * (1 / island_->total_mass()) : Vec4();
    for (int v = 0; v < n; ++v) dv_[v] = held.held(v) ? (held.point(v) - x_[v]) * (1 / h) - v_[v] : common;
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
    bool positive = true;
    for (; k < settings.iterations && delta > enough && positive; ++k) {
      multiply(direction_, product_);
      double curvature = 0;
      for (int v = 0; v < n; ++v) curvature += held.held(v) ? 0 : dot(direction_[v], product_[v]);
      positive = curvature > 0;
      if (!positive) break;
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
    out.iterations += k;
    out.status = delta > enough ? StepOutcome::Status::stopped : StepOutcome::Status::converged;
    if (free) {  // what an early end has left of the impulse, or added to it, goes to the body as a whole
      for (int v = 0; v < n; ++v) impulse -= dv_[v] * f.mass[v];
      const Vec4 shift = impulse * (1 / island_->total_mass());
      for (int v = 0; v < n; ++v)
        if (!held.held(v)) dv_[v] += shift;
    }
    return positive;
  }

  /// The new motion; false when it is not finite.
  bool take(double h) {
    Motion& m = island_->motion;
    const HeldVertices& held = rows_.held();
    double sum = 0;
    for (int v = 0; v < int(x_.size()); ++v) {
      m.v[v] = held.held(v) ? (held.point(v) - x_[v]) * (1 / h) : v_[v] + dv_[v];
      m.x[v] = held.held(v) ? held.point(v) : x_[v] + m.v[v] * h;
      sum += dot(m.v[v], m.v[v]);
    }
    return std::isfinite(sum);
  }

  double energy(const std::vector<Vec4>& v, double elastic) const {
    return elastic + island_->kinetic(v);
  }

  /// out = h^2 K p.
  void stiffness(const std::vector<Vec4>& p, std::vector<Vec4>& out) {
    std::fill(out.begin(), out.end(), Vec4());
    if (by_weights_)
      others_.add_product(h2_, p, out);
    else
      add_slope(p, out);
    for (int i = 0; i < rows_.size(); ++i) {
      rows_.add_force(i, h2_ * rows_.stiffness(i) * rows_.rate(i, p), out);
      if (bend_[i] == 0) continue;
      const int a = rows_.vertex(i, 0), b = rows_.vertex(i, 1);
      const Vec3 d = (p[b] - p[a]).xyz(), along = rows_.direction(i);
      const Vec4 g((d - along * dot(along, d)) * (h2_ * bend_[i]));
      out[a] -= g, out[b] += g;
    }
  }

  /// Of the other potentials: the slope of their gradient along p, by central differences. Translations of a body, of
  /// which it knows nothing, are taken out of p first: they would leave round-off.
  void add_slope(const std::vector<Vec4>& p, std::vector<Vec4>& out) {
    double largest = 0, extent = 0, all = 0;
    for (size_t k = 0; k < island_->bodies().size(); ++k) {
      const int first = island_->offset(int(k));
      const int last = k + 1 < island_->bodies().size() ? island_->offset(int(k) + 1) : island_->rows();
      Vec4 mean;
      for (int v = first; v < last; ++v) mean += p[v];
      mean = mean * (1.0 / (last - first));
      for (int v = first; v < last; ++v) {
        probe_[v] = p[v] - mean;
        largest = std::max(largest, dot(probe_[v], probe_[v]));
        all = std::max(all, dot(p[v], p[v]));
        const Vec4 d = x_[v] - x_[first];
        extent = std::max(extent, dot(d, d));
      }
    }
    if (!(largest > 1e-24 * all) || !(extent > 0)) return;
    const double step = 1e-6 * std::sqrt(extent / largest);
    for (const double side : {1.0, -1.0}) {
      std::vector<Vec4>& gradient = side > 0 ? ahead_ : behind_;
      std::fill(gradient.begin(), gradient.end(), Vec4());
      for (size_t v = 0; v < p.size(); ++v) displaced_[v] = x_[v] + probe_[v] * (side * step);
      others_.add_gradient(displaced_, gradient);
    }
    const double scale = h2_ / (2 * step);
    for (size_t v = 0; v < p.size(); ++v) out[v] += (ahead_[v] - behind_[v]) * scale;
  }

  /// out = (M + h^2 K) p.
  void multiply(const std::vector<Vec4>& p, std::vector<Vec4>& out) {
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

  Island* island_ = nullptr;  // of the step
  bool by_weights_ = false;   // K of the other potentials
  double h2_ = 0;
  ConstraintRows rows_;
  OtherForces others_;
  std::vector<double> inverse_diagonal_, bend_;  // bend_: k C times the curvature of C
  std::vector<Vec4> x_, v_, b_, dv_, residual_, direction_, product_;
  std::vector<Vec4> gradient_, probe_, displaced_, ahead_, behind_;
};

}  // namespace

std::unique_ptr<OwnStep> make_linearized_euler(const SolverSpec&) { return std::make_unique<LinearizedEuler>(); }

}  // namespace verve
