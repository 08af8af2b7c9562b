#include "integrators/contact_metric.h"

#include <algorithm>
#include <cmath>

#include "linear/front_kernel.h"

namespace verve {

namespace {

/// Rows up to which a dense factor is cheaper than conjugate gradients, each step of which is a solve with A.
constexpr int most_dense = 240;
constexpr int most_steps = 100;
/// Rows that are solved for together to precondition the others.
constexpr int most_grouped = 48;
/// Vertices of a block that touch up to which A^-1 between them is multiplied by as it is.
constexpr int most_patched = 128;
/// Of conjugate gradients.
constexpr double enough = 1e-3;

}  // namespace

void ContactMetric::bind(const std::vector<Block>& blocks, int rows) {
  if (blocks == blocks_) return;
  blocks_ = blocks;
  size_ = rows;
  block_of_row_.resize(rows);
  for (size_t b = 0; b < blocks_.size(); ++b)
    std::fill_n(block_of_row_.begin() + blocks_[b].first, blocks_[b].columns->rows(), int(b));
  rows_.clear();
}

double ContactMetric::entry(const ContactRow& a, const ContactRow& b) const {
  const double along = dot(a.direction, b.direction);
  if (along == 0) return 0;
  double sum = 0;
  for (int i = 0; i < a.count; ++i) {
    const int block = block_of_row_[a.rows[i]], first = blocks_[block].first;
    const float* column = blocks_[block].columns->of(a.rows[i] - first);
    for (int k = 0; k < b.count; ++k)
      if (block_of_row_[b.rows[k]] == block) sum += a.share[i] * b.share[k] * column[b.rows[k] - first];
  }
  return along * sum;
}

void ContactMetric::set(const std::vector<ContactRow>& rows) {
  if (same(rows)) return;
  rows_ = rows;
  if (rows_.empty()) return;
  find_patches();
  dense_ = size() <= most_dense;
  if (dense_) return factorize();
  find_groups();
}

/// Rows of two bodies that lie on each other say nearly the same: solved for together, they make conjugate gradients
/// ten times faster than each by itself.
void ContactMetric::find_groups() {
  const int n = size();
  order_.resize(n);
  for (int r = 0; r < n; ++r) order_[r] = r;
  const auto key = [&](int r) {
    const ContactRow& row = rows_[r];
    const int a = block_of_row_[row.rows[0]], b = row.count == 1 ? -1 : block_of_row_[row.rows[row.count - 1]];
    return std::array<int, 2>{std::min(a, b), std::max(a, b)};
  };
  if (patched_) std::stable_sort(order_.begin(), order_.end(), [&](int r, int s) { return key(r) < key(s); });
  groups_.clear();
  size_t size = 0;
  for (int r = 0; r < n;) {
    int end = r + 1;
    while (patched_ && end < n && end - r < most_grouped && key(order_[end]) == key(order_[r])) ++end;
    groups_.push_back({r, end, size});
    size += size_t(end - r) * (end - r);
    r = end;
  }
  factor_.resize(size);
  matrix_.resize(size_t(most_grouped) * most_grouped);
  for (const Group& g : groups_) {
    const int m = g.last - g.first;
    const auto diagonal = [&](int i) {
      const ContactRow& row = rows_[order_[g.first + i]];
      return 1 / row.stiffness + (patched_ ? entry(row, row) : 0);
    };
    double* const factor = factor_.data() + g.factor;
    for (int j = 0; j < m; ++j)
      for (int i = j; i < m; ++i)
        matrix_[size_t(j) * m + i] =
            i == j ? diagonal(i) : entry(rows_[order_[g.first + i]], rows_[order_[g.first + j]]);
    if (invert_cholesky(matrix_.data(), factor, m)) continue;
    std::fill_n(factor, size_t(m) * m, 0.0);
    for (int j = 0; j < m; ++j) factor[size_t(j) * m + j] = 1 / std::sqrt(diagonal(j));
  }
}

void ContactMetric::precondition(const std::vector<double>& r, std::vector<double>& z) {
  group_r_.resize(2 * most_grouped);
  double *const in = group_r_.data(), *const between = in + most_grouped;
  for (const Group& g : groups_) {
    const int m = g.last - g.first;
    const double* factor = factor_.data() + g.factor;
    for (int i = 0; i < m; ++i) in[i] = r[order_[g.first + i]], between[i] = 0;
    for (int j = 0; j < m; ++j)
      for (int i = j; i < m; ++i) between[i] += factor[size_t(j) * m + i] * in[j];
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int i = j; i < m; ++i) sum += factor[size_t(j) * m + i] * between[i];
      z[order_[g.first + j]] = sum;
    }
  }
}

/// Where few vertices of each block touch, A^-1 between them is cheaper to multiply by than a solve.
void ContactMetric::find_patches() {
  patches_.resize(blocks_.size());
  for (Patch& patch : patches_) patch.rows.clear();
  touched_of_row_.assign(size_, -1);
  for (const ContactRow& row : rows_)
    for (int i = 0; i < row.count; ++i) {
      if (touched_of_row_[row.rows[i]] != -1) continue;
      const int block = block_of_row_[row.rows[i]];
      touched_of_row_[row.rows[i]] = int(patches_[block].rows.size());
      patches_[block].rows.push_back(row.rows[i] - blocks_[block].first);
    }
  patched_ = true;
  for (const Patch& patch : patches_) patched_ = patched_ && int(patch.rows.size()) <= most_patched;
  if (!patched_ && size() > most_dense) return;
  int first = 0;
  for (size_t b = 0; b < patches_.size(); ++b) {
    Patch& patch = patches_[b];
    blocks_[b].columns->make(patch.rows);
    patch.first = first;
    first += int(patch.rows.size());
  }
  if (size() <= most_dense) return;
  for (size_t b = 0; b < patches_.size(); ++b) {
    Patch& patch = patches_[b];
    const size_t n = patch.rows.size();
    patch.inverse.resize(n * n);
    for (size_t j = 0; j < n; ++j) {
      const float* column = blocks_[b].columns->of(patch.rows[j]);
      for (size_t i = 0; i < n; ++i) patch.inverse[j * n + i] = column[patch.rows[i]];
    }
  }
  touched_rows_.resize(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (int i = 0; i < rows_[r].count; ++i) {
      const int row = rows_[r].rows[i];
      touched_rows_[r][i] = patches_[block_of_row_[row]].first + touched_of_row_[row];
    }
  force_.resize(first), moved_.resize(first);
}

void ContactMetric::factorize() {
  const int n = size();
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

void ContactMetric::multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve,
                                bool exactly) {
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
  out.assign(n, 0.0);
  r_ = y, z_.resize(n), q_.resize(n);
  precondition(r_, z_);
  p_ = z_;
  double rz = product(r_, z_);
  const double fraction = exactly ? 1e-9 : enough, goal = fraction * fraction * rz;
  for (int step = 0; step < (exactly ? 4 : 1) * most_steps && rz > goal && rz > 0; ++step) {
    multiply(p_, q_, solve);
    const double alpha = rz / product(p_, q_);
    for (int i = 0; i < n; ++i) out[i] += alpha * p_[i], r_[i] -= alpha * q_[i];
    precondition(r_, z_);
    const double next = product(r_, z_);
    for (int i = 0; i < n; ++i) p_[i] = z_[i] + p_[i] * (next / rz);
    rz = next;
  }
}

/// q = (K^-1 + S) p
void ContactMetric::multiply(const std::vector<double>& p, std::vector<double>& q, const Solve& solve) {
  const int n = size();
  if (!patched_) {
    scatter(p, b_);
    x_.resize(size_);
    solve(b_, x_);
    gather(x_, q);
  } else {
    std::fill(force_.begin(), force_.end(), Vec3{});
    for (int r = 0; r < n; ++r)
      for (int i = 0; i < rows_[r].count; ++i)
        force_[touched_rows_[r][i]] += rows_[r].direction * (rows_[r].share[i] * p[r]);
    for (const Patch& patch : patches_) {
      const int m = int(patch.rows.size());
      Vec3* const moved = moved_.data() + patch.first;
      std::fill_n(moved, m, Vec3{});
      for (int j = 0; j < m; ++j) {
        const float* column = patch.inverse.data() + size_t(j) * m;
        const Vec3 f = force_[patch.first + j];
        for (int i = 0; i < m; ++i) moved[i] += f * double(column[i]);
      }
    }
    for (int r = 0; r < n; ++r) {
      double sum = 0;
      for (int i = 0; i < rows_[r].count; ++i)
        sum += rows_[r].share[i] * dot(rows_[r].direction, moved_[touched_rows_[r][i]]);
      q[r] = sum;
    }
  }
  for (int r = 0; r < n; ++r) q[r] += p[r] / rows_[r].stiffness;
}

}  // namespace verve
