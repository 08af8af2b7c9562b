#include "integrators/contact_solve.h"

#include <algorithm>

#include "integrators/row_products.h"

namespace verve {

namespace {

/// Passes over all vertices of a plain step, and of columns that are corrected.
constexpr double passes = 6;

}  // namespace

/// Columns of A^-1 at vertices that touch belong to the factors, which bodies that meet bring along.
void ContactSolve::begin(const SolverParts& factors, int rows, const BodyTurns& turns, int ids) {
  blocks_.clear();
  for (const SolverParts::Part& part : factors.parts()) {
    SystemMatrix::Factor& factor = *part.factor;
    factor.columns.bind(factor.solver, part.rows, factor.state);
    blocks_.push_back({&factor.columns, part.first, factor.columns.generation()});
  }
  rows_ = rows;
  metric_.bind(blocks_, rows, turns, ids);
  looks_ahead_ = true;
  for (auto& z : z_) z.clear();
  b_.resize(rows), x_.resize(rows), d_.resize(rows), Ad_.resize(rows);
}

/// Of what is near, that which a step without contact would bring close to touching: within half of how deep it would
/// go anywhere. The others, should something push them there, are for the next step to see.
void ContactSolve::find_relevant(const ContactRows& rows, const std::vector<Vec4>& Ag) {
  double deepest = 0;
  for (const ContactRow& row : rows.touching)
    deepest = std::max(deepest, (row.force > 0 ? row.force / row.stiffness : 0) + row.along(Ag.data()));
  relevant_along_.clear();
  for (const ContactRow& row : rows.near) {
    relevant_along_.push_back(row.force / row.stiffness + row.along(Ag.data()));
    deepest = std::max(deepest, relevant_along_.back());
  }
  relevant_.clear();
  for (size_t r = 0; r < relevant_along_.size(); ++r)
    if (relevant_along_[r] > -0.5 * deepest) relevant_.push_back(&rows.near[r]);
}

/// d where the forecast ends is made by one solve.
void ContactSolve::predict(const ContactRows& rows, const std::vector<Vec4>& g, const std::vector<Vec4>& Ag,
                           const Solve& solve) {
  vertices_ += passes * rows_;
  find_relevant(rows, Ag);
  metric_.set(rows.touching, relevant_);
  forecast_.minimise(metric_, g, Ag, looks_ahead_, solve);
  metric_.scatter(forecast_.m(), b_);
  solve(b_, x_);
  const double a = forecast_.a();
  for (int i = 0; i < rows_; ++i) d_[i] = Ag[i] * a - x_[i], Ad_[i] = g[i] * a - b_[i];
}

void ContactSolve::correct(const ContactRows& rows, const std::vector<Vec4>& g, std::vector<Vec4>& Ag,
                           const Solve& solve) {
  predict(rows, g, Ag, solve);
  Ag.swap(d_);
}

void ContactSolve::adopt(const ContactRows& rows, const std::vector<Vec4>& g, std::vector<Vec4>& Ag,
                         const Solve& solve) {
  predict(rows, g, Ag, solve);
  const std::vector<char>& pushes = forecast_.pushes();
  metric_.choose(pushes);
  metric_.gather(d_, along_);
  norm2_ = 0;
  for (int i = 0; i < rows_; ++i) norm2_ += dot(Ad_[i], d_[i]);
  for (size_t r = 0; r < pushes.size(); ++r)
    if (pushes[r]) norm2_ += metric_.row(r).stiffness * along_[r] * along_[r];
  Ag.swap(d_);
}

void ContactSolve::take_in(const ConstraintColumns& c, double fall, const std::vector<Vec4>& g,
                           const std::vector<Vec4>& Ag, StepProducts& s, IterationProducts& k, const Solve& solve) {
  k.touches = true;
  vertices_ += passes * rows_;
  k.lin_gg = 0;  // of A_c^-1 gg, which is not gg.A^-1 lin
  for (int i = 0; i < rows_; ++i) k.lin_gg += dot(c.lin[i], Ag[i]);
  k.h_gg = fall + k.lin_gg;
  Ac_lin_ = c.Alin;
  z_[6].assign(metric_.size(), 0.0);
  Vec3 p{}, l{};
  const auto add_momenta = [&](int i, const Vec3& f) { p += f, l += cross(c.xb[i].xyz() - c.about, f); };
  const auto momenta = [&](double scale) {
    return Vec6{scale * p.x, scale * p.y, scale * p.z, scale * l.x, scale * l.y, scale * l.z};
  };
  if (!metric_.empty()) {
    metric_.gather(c.Alin, y_[6]);
    z_[6].clear();
    metric_.multipliers(y_[6], z_[6], solve, ContactForecast::enough);
    s.lin_lin -= row_product(y_[6], z_[6]);
    metric_.scatter(z_[6], b_);
    solve(b_, x_);
    for (int i = 0; i < rows_; ++i) {
      Ac_lin_[i] -= x_[i];
      if (s.momenta) add_momenta(i, x_[i].xyz() * (c.mass[i] / c.hh));
    }
    const Vec6 less = momenta(1);
    for (int a = 0; a < 6 && c.whole; ++a) s.q_lin[a] -= less[a];
  }
  k.h_lin = s.lin_lin;
  for (int i = 0; i < rows_; ++i) k.h_lin += dot(g[i], Ac_lin_[i]);
  if (!s.momenta) return;
  if (c.whole) {
    p = l = {};
    for (int i = 0; i < rows_; ++i) add_momenta(i, c.lin[i].xyz() + g[i].xyz());
    k.h_q = momenta(c.hh);
    return;
  }

  // consistent mass: products of A_c^-1 grad c_q, less y^T (K^-1 + S)^-1 y' with y = J A^-1 of each
  const int n = metric_.size();
  for (int a = 0; a < 6; ++a) {
    y_[a].assign(n, 0.0);
    Vec3 axis{};
    axis[a % 3] = 1;
    for (int r = 0; r < n; ++r) {
      const ContactRow& row = metric_.row(r);
      for (int i = 0; i < row.count; ++i) {
        const Vec3 column = a < 3 ? axis : cross(axis, c.lever[row.rows[i]].xyz() - c.shift);
        y_[a][r] += dot(row.slope(i), column) * c.hh;
      }
    }
    // P and L are held as well as these are known
    z_[a].clear();
    if (n > 0) metric_.multipliers(y_[a], z_[a], solve, ContactForecast::enough);
  }
  for (int a = 0; a < 6 && n > 0; ++a) {
    s.q_lin[a] -= row_product(y_[a], z_[6]);
    for (int b = 0; b < 6; ++b) s.s_qq[a][b] -= 0.5 * (row_product(y_[a], z_[b]) + row_product(y_[b], z_[a]));
  }
  s.s_qq_inverse = pseudo_inverse(s.s_qq, 1e-10);
  for (int a = 0; a < 6; ++a) k.h_q[a] = k.q_gg[a] + s.q_lin[a];
}

void ContactSolve::add(const Direction& d, std::vector<Vec4>& Ag, const Solve& solve) {
  if (metric_.empty()) return;
  m_.assign(metric_.size(), 0.0);
  // the step is (1 + lambda) / scale times Ag, and so on
  for (int r = 0; r < metric_.size(); ++r)
    for (int a = 0; a < 6; ++a) m_[r] += z_[a][r] * (d.lambda_q[a] / (1 + d.lambda));
  metric_.scatter(m_, b_);
  solve(b_, x_);
  for (int i = 0; i < rows_; ++i) Ag[i] -= x_[i];
}

Work ContactSolve::work() const {
  return {.vertices = vertices_, .entries = metric_.entries(), .products = metric_.products()};
}

}  // namespace verve
