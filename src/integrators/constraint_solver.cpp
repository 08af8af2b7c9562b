#include "integrators/constraint_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace verve {

namespace {
/// Of a pivot against the terms it is made of: the squared sine of the angle between a constraint and those before it.
/// Round-off leaves some 1e-15.
constexpr double pivot_cutoff = 1e-11;
}  // namespace

void OtherForces::bind(Island& island) {
  if (version_ == island.version()) return;
  version_ = island.version();
  potentials_.clear();
  island.each_potential([&](Potential& p, int offset) {
    if (!smooth_refusal(p).empty()) potentials_.push_back({&p, offset});
  });
  if (has_pattern_)
    assembly_.begin_values();
  else
    assembly_.begin_pattern(island.rows());
  for (int r = 0; r < island.rows(); ++r) assembly_.add(r, r, 0);
  for (const auto& [p, offset] : potentials_) p->add_weights(assembly_, offset, 1);
  if (!has_pattern_) assembly_.finish_pattern();
  has_pattern_ = true;
}

void OtherForces::add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient) const {
  for (const auto& [p, offset] : potentials_)
    p->add_gradient(x.data() + offset, gradient.data() + offset, Precision::float64);
}

void OtherForces::add_product(double s, const std::vector<Vec4>& v, std::vector<Vec4>& out) const {
  if (empty()) return;
  const SymmetricMatrix& a = weights();
  for (int c = 0; c < a.size; ++c) {
    for (int e = a.start[c]; e < a.start[c + 1]; ++e) {
      const int r = a.row[e];
      out[r] += v[c] * (s * a.value[e]);
      if (r != c) out[c] += v[r] * (s * a.value[e]);
    }
  }
}

void ConstraintSolver::bind(Island& island, const ConstraintRows& rows, Form form, bool geometric,
                            const OtherForces* others, bool changed) {
  inverse_mass_ = rows.held().inverse_mass();  // which vertices are held does not change the pattern
  if (has_pattern_ && !changed && form == form_ && geometric == geometric_) return;
  form_ = form, geometric_ = geometric, rows_ = island.rows();
  has_pattern_ = false;
  vertex_.clear(), place_.clear();
  for (int i = 0; i < rows.size(); ++i) {
    place_.push_back(int(vertex_.size()));
    for (int c = 0; c < rows.corners(i); ++c) vertex_.push_back(rows.vertex(i, c));
  }
  place_.push_back(int(vertex_.size()));
  jacobian_.assign(vertex_.size(), {});
  first_use_.assign(rows_ + 1, 0);
  for (const int v : vertex_) ++first_use_[v + 1];
  for (int v = 0; v < rows_; ++v) first_use_[v + 1] += first_use_[v];
  uses_.resize(vertex_.size());
  std::vector<int> next(first_use_.begin(), first_use_.end() - 1);
  for (int i = 0; i < rows.size(); ++i)
    for (int p = place_[i]; p < place_[i + 1]; ++p) uses_[next[vertex_[p]]++] = {i, p};

  const std::vector<double> ones(rows.size(), 1.0);
  all_.resize(form == Form::schur ? rows.size() : 3 * rows_ + rows.size());
  if (form == Form::schur) {
    assembly_.begin_pattern(rows.size());
    assemble_schur(ones);
    assembly_.finish_pattern();
    factor_.analyze(assembly_.matrix(), rows.size() ? elimination_order(assembly_.matrix()) : std::vector<int>());
  } else {
    Upper upper;
    upper.others = others;
    if (geometric) upper.tension = &ones;
    assembly_.begin_pattern(3 * rows_ + rows.size());
    assemble_kkt(island, rows, ones, upper);
    assembly_.finish_pattern();
    // a multiplier can be eliminated once the vertices that its constraint moves have been
    std::vector<int> order = elimination_order(assembly_.matrix()), position(order.size());
    for (size_t k = 0; k < order.size(); ++k) position[order[k]] = int(k);
    std::vector<int> key = position;
    for (int i = 0; i < rows.size(); ++i)
      for (int p = place_[i]; p < place_[i + 1]; ++p)
        for (int a = 0; a < 3; ++a) key[3 * rows_ + i] = std::max(key[3 * rows_ + i], position[3 * vertex_[p] + a]);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return key[a] != key[b] ? key[a] < key[b] : (a < 3 * rows_) > (b < 3 * rows_);
    });
    factor_.analyze(assembly_.matrix(), order);
  }
  has_pattern_ = true;
}

void ConstraintSolver::assemble_schur(const std::vector<double>& compliance) {
  for (int i = 0; i < int(place_.size()) - 1; ++i) assembly_.add(i, i, compliance[i]);
  for (int v = 0; v < rows_; ++v)
    for (int a = first_use_[v]; a < first_use_[v + 1]; ++a)
      for (int b = first_use_[v]; b <= a; ++b)
        assembly_.add(uses_[a].row, uses_[b].row,
                      inverse_mass_[v] * dot(jacobian_[uses_[a].place], jacobian_[uses_[b].place]));
}

void ConstraintSolver::assemble_kkt(Island& island, const ConstraintRows& rows, const std::vector<double>& compliance,
                                    const Upper& upper) {
  const std::vector<double>& mass = island.forcing.mass;
  const auto moves = [&](int v) { return inverse_mass_[v] > 0; };
  const MassCoupling& coupling = island.consistent_mass().coupling;
  for (int v = 0; v < rows_; ++v) {
    double own = moves(v) ? mass[v] : 1;
    for (int k = island.consistent() ? coupling.start[v] : 0; island.consistent() && k < coupling.start[v + 1]; ++k) {
      const int c = coupling.column[k];
      if (moves(v)) own -= coupling.weight[k];
      if (c >= v) continue;
      for (int a = 0; a < 3; ++a) assembly_.add(3 * v + a, 3 * c + a, moves(v) && moves(c) ? coupling.weight[k] : 0);
    }
    for (int a = 0; a < 3; ++a) assembly_.add(3 * v + a, 3 * v + a, own);
  }
  if (upper.others && !upper.others->empty()) {
    const SymmetricMatrix& w = upper.others->weights();
    for (int c = 0; c < w.size; ++c)
      for (int e = w.start[c]; e < w.start[c + 1]; ++e) {
        const double value = moves(c) && moves(w.row[e]) ? upper.h2 * w.value[e] : 0;
        for (int a = 0; a < 3; ++a) assembly_.add(3 * w.row[e] + a, 3 * c + a, value);
      }
  }
  for (int i = 0; geometric_ && i < rows.size(); ++i) {
    if (rows.corners(i) != 2 || !rows.of_potential(i)) continue;
    const int v0 = rows.vertex(i, 0), v1 = rows.vertex(i, 1);
    const double s = upper.tension ? upper.h2 * (*upper.tension)[i] * rows.curvature(i) : 0;
    const Vec3 n = rows.direction(i);
    const auto entry = [&](int a, int b) { return s * ((a == b) - n[a] * n[b]); };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b) {
        assembly_.add(3 * v0 + a, 3 * v0 + b, moves(v0) ? entry(a, b) : 0);
        assembly_.add(3 * v1 + a, 3 * v1 + b, moves(v1) ? entry(a, b) : 0);
      }
      for (int b = 0; b < 3; ++b) assembly_.add(3 * v0 + a, 3 * v1 + b, moves(v0) && moves(v1) ? -entry(a, b) : 0);
    }
  }
  for (int i = 0; i < int(place_.size()) - 1; ++i) {
    for (int p = place_[i]; p < place_[i + 1]; ++p)
      for (int a = 0; a < 3; ++a)
        assembly_.add(3 * rows_ + i, 3 * vertex_[p] + a, moves(vertex_[p]) ? jacobian_[p][a] : 0);
    assembly_.add(3 * rows_ + i, 3 * rows_ + i, -compliance[i]);
  }
}

bool ConstraintSolver::factorize(Island& island, const ConstraintRows& rows, const std::vector<double>& compliance,
                                 bool rigid_only, const Upper& upper) {
  for (int i = 0; i < rows.size(); ++i)
    for (int c = 0; c < rows.corners(i); ++c)
      jacobian_[place_[i] + c] = rigid_only && !rows.rigid(i) ? Vec3{} : rows.gradient(i, c);
  assembly_.begin_values();
  if (form_ == Form::schur)
    assemble_schur(compliance);
  else
    assemble_kkt(island, rows, compliance, upper);
  return factor_.factorize(assembly_.matrix(), pivot_cutoff);
}

void ConstraintSolver::solve(const std::vector<Vec4>* r, std::vector<double>& lambda, std::vector<Vec4>& dv) {
  const int count = int(place_.size()) - 1;
  if (form_ == Form::kkt) {
    for (int v = 0; v < rows_; ++v)
      for (int a = 0; a < 3; ++a) all_[3 * v + a] = r && inverse_mass_[v] > 0 ? (*r)[v].xyz()[a] : 0;
    for (int i = 0; i < count; ++i) all_[3 * rows_ + i] = lambda[i];
    factor_.solve(all_.data());
    for (int v = 0; v < rows_; ++v)
      dv[v] = inverse_mass_[v] > 0 ? Vec4{all_[3 * v], all_[3 * v + 1], all_[3 * v + 2]} : Vec4();
    for (int i = 0; i < count; ++i) lambda[i] = -all_[3 * rows_ + i];
    return;
  }
  for (int v = 0; v < rows_; ++v) dv[v] = r ? (*r)[v] * inverse_mass_[v] : Vec4();
  for (int i = 0; r && i < count; ++i)
    for (int p = place_[i]; p < place_[i + 1]; ++p) lambda[i] -= dot(jacobian_[p], dv[vertex_[p]].xyz());
  factor_.solve(lambda.data());
  for (int i = 0; i < count; ++i)
    for (int p = place_[i]; p < place_[i + 1]; ++p)
      dv[vertex_[p]] += Vec4(jacobian_[p] * (inverse_mass_[vertex_[p]] * lambda[i]));
}

double ConstraintProjection::residual(const ConstraintRows& rows, const std::vector<double>& compliance,
                                      bool rigid_only, const std::vector<double>& lambda) {
  double most = 0;
  worst = -1;
  step_.resize(rows.size());
  for (int i = 0; i < rows.size(); ++i) {
    const bool counts = !rigid_only || rows.rigid(i);
    const double r = counts ? rows.value(i) + compliance[i] * lambda[i] : 0;
    step_[i] = -r;
    const double size = rows.relative(i, r);
    if (!(size <= most)) most = size, worst = i;
  }
  return most;
}

double ConstraintProjection::project(Island& island, ConstraintRows& rows, ConstraintSolver& solver,
                           const std::vector<double>& compliance, bool rigid_only, double tolerance, int most,
                           std::vector<Vec4>& x, std::vector<double>& lambda) {
  dx_.resize(x.size()), damped_.resize(rows.size());
  // Newton first, which may have to make things worse on its way. Where that leads nowhere, from the start again by
  // Levenberg and Marquardt: a step that made things worse is taken back and the matrix gets more on its diagonal.
  // Constraints that all but depend on each other, as those of flat cloth, need this.
  const int newton = most / 3;
  double damping = 0, best = INFINITY;
  kept_x_ = x, kept_lambda_ = lambda;
  for (iterations = 0;; ++iterations) {
    rows.evaluate(x);
    double left = residual(rows, compliance, rigid_only, lambda), merit = 0;
    if (left <= tolerance) return left;
    for (int i = 0; i < rows.size(); ++i) {
      const double r = rows.relative(i, step_[i]);
      merit += r * r;
    }
    const bool cautious = iterations >= newton;
    if (iterations == 0 && !std::isfinite(merit)) return left;
    if (cautious ? merit <= best : iterations == 0) {
      best = merit;
      kept_x_ = x, kept_lambda_ = lambda;
      damping = damping > 1e-10 ? 0.1 * damping : 0;
    } else if (cautious || !(merit < 1e6 * best)) {
      x = kept_x_, lambda = kept_lambda_;
      damping = std::max(1e-8, 10 * damping);
      if (!cautious) iterations = newton;
      rows.evaluate(x);
      left = residual(rows, compliance, rigid_only, lambda);
    }
    if (iterations >= most) return left;
    for (int i = 0; i < rows.size(); ++i) {
      double own = 0;
      for (int c = 0; damping > 0 && c < rows.corners(i); ++c)
        own += rows.held().inverse_mass()[rows.vertex(i, c)] * dot(rows.gradient(i, c), rows.gradient(i, c));
      damped_[i] = compliance[i] + damping * own;
    }
    if (!solver.factorize(island, rows, damped_, rigid_only, {})) return NAN;
    solver.solve(nullptr, step_, dx_);
    for (size_t v = 0; v < x.size(); ++v) x[v] += dx_[v];
    for (int i = 0; i < rows.size(); ++i) lambda[i] += step_[i];
  }
}

std::string contradiction(const ConstraintRows& rows, int worst, double left, double allowed, int redundant) {
  std::string out = "no positions were found that meet all constraints: ";
  out += worst >= 0 ? rows.describe(worst) : std::string("one");
  out += " is off by " + format_value(left) + " of its size, expected at most " + format_value(allowed);
  if (redundant > 0)
    out += "; " + std::to_string(redundant) + " of " + std::to_string(rows.size()) + " depend on others";
  return out + ". Take shorter steps, hold less, or let them give way: method \"compliant\"";
}

}  // namespace verve
