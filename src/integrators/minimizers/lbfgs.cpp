// The L-BFGS of Liu, Bouaziz, Kavan 2017, "Quasi-Newton Methods for Real-Time Simulation of Hyperelastic Materials".
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrators/step_solver.h"
#include "integrators/minimizers/secant_pairs.h"

namespace verve {

void SecantPairs::resize(int rows, int window) {
  window_ = std::min(window, most);
  for (auto* vectors : {&s_, &y_, &Hy_}) {
    vectors->resize(window_);
    for (auto& v : *vectors) v.resize(rows);
  }
  for (auto* v : {&x_, &gradient_, &Hgradient_}) v->resize(rows);
  clear();
}

bool SecantPairs::visit(const std::vector<Vec4>& x, const std::vector<Vec4>& gradient,
                        const std::vector<Vec4>& H0_gradient, bool& dropped) {
  dropped = false;
  bool added = false;
  if (visited_) {
    if (count_ == window_) {
      for (auto* vectors : {&s_, &y_, &Hy_}) std::rotate(vectors->begin(), vectors->begin() + 1, vectors->end());
      for (int i = 1; i < count_; ++i)
        for (int j = 1; j < count_; ++j) sy_[i - 1][j - 1] = sy_[i][j], yHy_[i - 1][j - 1] = yHy_[i][j];
      --count_;
      dropped = true;
    }
    const int n = count_;
    for (size_t i = 0; i < x.size(); ++i) {
      s_[n][i] = x[i] - x_[i];
      y_[n][i] = gradient[i] - gradient_[i];
      Hy_[n][i] = H0_gradient[i] - Hgradient_[i];
    }
    const double sy = dot(s_[n], y_[n]), yHy = dot(y_[n], Hy_[n]);
    // along s the curvature is y.s/s.s, in the norm of H0^-1 at least (y.s)/(y.H0 y): what is less than a millionth of
    // what H0 says, or negative, is no curvature to build on
    if (sy > 1e-6 * yHy && std::isfinite(sy)) {
      sy_[n][n] = sy, yHy_[n][n] = yHy;
      for (int i = 0; i < n; ++i) {
        sy_[i][n] = dot(s_[i], y_[n]), sy_[n][i] = dot(s_[n], y_[i]);
        yHy_[i][n] = yHy_[n][i] = dot(y_[i], Hy_[n]);
      }
      ++count_;
      added = true;
    }
  }
  x_ = x, gradient_ = gradient, Hgradient_ = H0_gradient;
  visited_ = true;
  return added;
}

SecantPairs::Overlap SecantPairs::overlap(const std::vector<Vec4>& v) const {
  Overlap out;
  for (int i = 0; i < count_; ++i) out.s[i] = dot(s_[i], v), out.y[i] = dot(Hy_[i], v);
  return out;
}

/// The two loops of Nocedal 1980 in the coefficients alone.
SecantPairs::Combination SecantPairs::apply(const Overlap& v) const {
  Combination out;
  for (int i = count_ - 1; i >= 0; --i) {
    double sv = v.s[i];
    for (int j = i + 1; j < count_; ++j) sv += out.y[j] * sy_[i][j];
    out.y[i] = -sv / sy_[i][i];
  }
  for (int i = 0; i < count_; ++i) {
    double yr = v.y[i];
    for (int j = 0; j < count_; ++j) yr += out.y[j] * yHy_[i][j];
    for (int j = 0; j < i; ++j) yr += out.s[j] * sy_[j][i];
    out.s[i] = -out.y[i] - yr / sy_[i][i];
  }
  return out;
}

double SecantPairs::product(const Overlap& w, const Combination& v) const {
  double sum = 0;
  for (int i = 0; i < count_; ++i) sum += w.s[i] * v.s[i] + w.y[i] * v.y[i];
  return sum;
}

void SecantPairs::add(const Combination& c, double factor, std::vector<Vec4>& out) const {
  for (int k = 0; k < count_; ++k) {
    const double s = factor * c.s[k], y = factor * c.y[k];
    const Vec4 *sk = s_[k].data(), *yk = Hy_[k].data();
    for (size_t i = 0; i < out.size(); ++i) out[i] += sk[i] * s + yk[i] * y;
  }
}

namespace {

class Lbfgs final : public Minimizer {
 public:
  Lbfgs(const SolverSpec& spec, int rows) { pairs_.resize(rows, spec.window); }
  bool searches() const override { return true; }
  bool begin(Island&) override {
    pairs_.clear();
    return true;
  }
  double descend(Island& island, const std::vector<Vec4>& x, const std::vector<Vec4>& gg,
                 std::vector<Vec4>& dx) override {
    island.solver().solve(gg, dx);
    bool dropped;
    pairs_.visit(x, gg, dx, dropped);
    const double plain = dot(gg, dx);
    const SecantPairs::Overlap along = pairs_.overlap(gg);
    const SecantPairs::Combination c = pairs_.apply(along);
    const double length = plain + pairs_.product(along, c);
    if (!(length > 1e-6 * plain)) {  // round-off has made B indefinite
      pairs_.clear();
      return plain;
    }
    pairs_.add(c, 1, dx);
    return length;
  }
  bool forget() override {
    const bool had = pairs_.count() > 0;
    pairs_.clear();
    return had;
  }

 private:
  SecantPairs pairs_;
};

}  // namespace

std::unique_ptr<Minimizer> make_lbfgs(const SolverSpec& spec, int rows) { return std::make_unique<Lbfgs>(spec, rows); }

}  // namespace verve
