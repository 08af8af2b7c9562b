#include "integrators/contact_metric.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

/// Rows up to which a dense factor is cheaper than conjugate gradients, each step of which is a solve with A.
constexpr int most_dense = 240;
constexpr int most_steps = 40;
/// Of conjugate gradients: they only steer an iteration that looks at the true forces.
constexpr double enough = 1e-3;

}  // namespace

void ContactMetric::reset(int rows) {
  size_ = rows;
  column_of_row_.assign(rows, -1);
  columns_.clear();
  rows_.clear();
}

void ContactMetric::add_columns(const Solve& solve) {
  int waiting[3], count = 0;
  const auto run = [&] {
    if (count == 0) return;
    b_.assign(size_, Vec4()), x_.resize(size_);
    for (int k = 0; k < count; ++k) (k == 0 ? b_[waiting[k]].x : k == 1 ? b_[waiting[k]].y : b_[waiting[k]].z) = 1;
    solve(b_, x_);
    for (int k = 0; k < count; ++k) {
      column_of_row_[waiting[k]] = int(columns_.size());
      std::vector<float>& column = columns_.emplace_back(size_);
      for (int i = 0; i < size_; ++i) column[i] = float(k == 0 ? x_[i].x : k == 1 ? x_[i].y : x_[i].z);
    }
    count = 0;
  };
  for (const ContactRow& row : rows_)
    for (int i = 0; i < row.count; ++i) {
      const int v = row.rows[i];
      if (column_of_row_[v] != -1) continue;
      column_of_row_[v] = -2;
      waiting[count++] = v;
      if (count == 3) run();
    }
  run();
}

double ContactMetric::entry(const ContactRow& a, const ContactRow& b) const {
  const double along = dot(a.direction, b.direction);
  if (along == 0) return 0;
  double sum = 0;
  for (int i = 0; i < a.count; ++i) {
    const std::vector<float>& column = columns_[column_of_row_[a.rows[i]]];
    for (int k = 0; k < b.count; ++k) sum += a.share[i] * b.share[k] * column[b.rows[k]];
  }
  return along * sum;
}

void ContactMetric::set(const std::vector<ContactRow>& rows, const Solve& solve) {
  if (same(rows)) return;
  rows_ = rows;
  const int n = size();
  if (n == 0) return;
  dense_ = n <= most_dense;
  if (!dense_) {
    // what a vertex alone would give: columns of all would be many
    diagonal_.resize(n);
    for (int i = 0; i < n; ++i) diagonal_[i] = 1 / rows_[i].stiffness;
    return;
  }
  add_columns(solve);
  // by columns; what comes back is the inverse of the Cholesky factor
  factor_.resize(size_t(n) * n), matrix_.resize(size_t(n) * n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) matrix_[size_t(j) * n + i] = entry(rows_[i], rows_[j]);
  for (int j = 0; j < n; ++j) matrix_[size_t(j) * n + j] += 1 / rows_[j].stiffness;
  if (invert_cholesky(matrix_.data(), factor_.data(), n)) return;
  // round-off of columns in float: each by itself then
  std::fill(factor_.begin(), factor_.end(), 0.0);
  for (int j = 0; j < n; ++j)
    factor_[size_t(j) * n + j] = 1 / std::sqrt(entry(rows_[j], rows_[j]) + 1 / rows_[j].stiffness);
}

/// The same places with about the same directions and stiffnesses: then what was made for them still serves.
bool ContactMetric::same(const std::vector<ContactRow>& rows) const {
  if (rows.size() != rows_.size()) return false;
  for (size_t r = 0; r < rows.size(); ++r) {
    const ContactRow &a = rows[r], &b = rows_[r];
    if (a.count != b.count || a.rows != b.rows) return false;
    if (!(std::abs(a.stiffness - b.stiffness) < 0.01 * b.stiffness)) return false;
    if (!(norm(a.direction - b.direction) < 1e-3)) return false;
  }
  return true;
}

void ContactMetric::gather(const std::vector<Vec4>& x, std::vector<double>& out) const {
  out.resize(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r) out[r] = rows_[r].along(x.data());
}

void ContactMetric::scatter(const std::vector<double>& m, std::vector<Vec4>& out) const {
  out.assign(size_, Vec4());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (int i = 0; i < rows_[r].count; ++i)
      out[rows_[r].rows[i]] += Vec4(rows_[r].direction * (rows_[r].share[i] * m[r]));
}

void ContactMetric::multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve) {
  const int n = size();
  out = y;
  if (dense_) {
    r_.assign(n, 0.0);
    for (int j = 0; j < n; ++j) {
      const double* column = factor_.data() + size_t(j) * n;
      for (int i = j; i < n; ++i) r_[i] += column[i] * y[j];
    }
    for (int j = 0; j < n; ++j) {
      const double* column = factor_.data() + size_t(j) * n;
      double sum[4] = {};
      int i = j;
      for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; ++k) sum[k] += column[i + k] * r_[i + k];
      for (; i < n; ++i) sum[0] += column[i] * r_[i];
      out[j] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    return;
  }
  // (K^-1 + S) out = y by conjugate gradients
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  std::fill(out.begin(), out.end(), 0.0);
  r_ = y, p_ = y;
  double rr = product(r_, r_);
  const double goal = enough * enough * rr;
  x_.resize(size_);
  for (int step = 0; step < most_steps && rr > goal && rr > 0; ++step) {
    scatter(p_, b_);
    solve(b_, x_);
    gather(x_, q_);
    for (int i = 0; i < n; ++i) q_[i] += diagonal_[i] * p_[i];
    const double alpha = rr / product(p_, q_);
    for (int i = 0; i < n; ++i) out[i] += alpha * p_[i], r_[i] -= alpha * q_[i];
    const double next = product(r_, r_);
    for (int i = 0; i < n; ++i) p_[i] = r_[i] + p_[i] * (next / rr);
    rr = next;
  }
}

}  // namespace verve
