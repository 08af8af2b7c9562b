#include "integrators/contact_metric.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "linear/front_kernel.h"
#include "linear/row_kernel.h"

namespace verve {

namespace {

/// Rows up to which a dense factor is cheaper than conjugate gradients, once, and where these have to be exact.
constexpr int most_dense = 100, most_dense_exact = 600;
constexpr int most_steps = 100;
/// Rows that are solved for together to precondition the others.
constexpr int most_grouped = 48;
/// Vertices of a block that touch up to which A^-1 between them is multiplied by as it is.
constexpr int most_patched = 1024;
/// Numbers of A^-1 that one thread multiplies by sooner than it hands some of them to another.
constexpr size_t least_work = 50000;
/// Of conjugate gradients.
constexpr double enough = 1e-3;

/// At the same place, with about the same direction and stiffness.
bool alike(const ContactRow& a, const ContactRow& b) {
  return a.count == b.count && std::equal(a.rows.begin(), a.rows.begin() + a.count, b.rows.begin()) &&
         std::abs(a.stiffness - b.stiffness) < 0.01 * b.stiffness && norm(a.direction - b.direction) < 1e-3 &&
         !a.fades && !b.fades;
}

}  // namespace

void ContactMetric::bind(const std::vector<Block>& blocks, int rows, const BodyTurns& turns) {
  turns_ = &turns;
  turned_.resize(turns.turns().size());
  turn_of_block_.assign(blocks.size(), -1);
  for (size_t b = 0, t = 0; b < blocks.size() && t < turns.turns().size(); ++b)
    if (turns.turns()[t].first == blocks[b].first) turn_of_block_[b] = int(t++);
  rows_.clear();
  groups_.all.clear(), last_groups_.all.clear();
  if (blocks == blocks_) return;
  blocks_ = blocks;
  size_ = rows;
  block_of_row_.resize(rows);
  for (size_t b = 0; b < blocks_.size(); ++b)
    std::fill_n(block_of_row_.begin() + blocks_[b].first, blocks_[b].columns->rows(), int(b));
}

ContactMetric::Lever ContactMetric::lever_of(const ContactRow& row) const {
  Lever out;
  for (int i = 0; i < row.count; ++i) {
    const int turn = turn_of_block_[block_of_row_[row.rows[i]]];
    if (turn < 0) continue;
    const int side = out.turn[0] == turn || out.turn[0] < 0 ? 0 : 1;
    out.turn[side] = turn;
    out.by[side] += cross(turns_->arm(row.rows[i]), row.slope(i));
  }
  return out;
}

double ContactMetric::entry(int r, int s) const {
  const ContactRow &a = rows_[r], &b = rows_[s];
  const bool fades = a.fades || b.fades;
  double sum = 0;
  for (int i = 0; i < a.count; ++i) {
    const int block = block_of_row_[a.rows[i]], first = blocks_[block].first;
    const Patch& patch = patches_[block];
    const float* const column =
        patched_ ? patch.columns[touched_rows_[r][i] - patch.first] : blocks_[block].columns->of(a.rows[i] - first);
    for (int k = 0; k < b.count; ++k)
      if (block_of_row_[b.rows[k]] == block)
        sum += (fades ? dot(a.slope(i), b.slope(k)) : a.share[i] * b.share[k]) *
               column[patched_ ? touched_rows_[s][k] - patch.first : b.rows[k] - first];
  }
  if (!fades) sum *= dot(a.direction, b.direction);
  if (levers_.empty()) return sum;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      if (levers_[r].turn[i] >= 0 && levers_[r].turn[i] == levers_[s].turn[k])
        sum += dot(levers_[r].by[i], turns_->turns()[levers_[r].turn[i]].inverse * levers_[s].by[k]);
  return sum;
}

void ContactMetric::set(const std::vector<ContactRow>& rows) {
  // the same places: then what was made for them still serves
  if (rows.size() == rows_.size() && std::equal(rows.begin(), rows.end(), rows_.begin(), alike)) return;
  rows_ = rows;
  if (rows_.empty()) return;
  levers_.clear();
  if (!turns_->empty())
    for (const ContactRow& row : rows_) levers_.push_back(lever_of(row));
  find_patches();
  factored_ = grouped_ = false;
}

/// Rows of two bodies that lie on each other say nearly the same: solved for together, they make conjugate gradients
/// ten times faster than each by itself. From one set to the next most groups stay as they are.
void ContactMetric::find_groups() {
  const int n = size();
  std::swap(groups_, last_groups_);
  auto& [groups, order, inverse, patched] = groups_;
  patched = patched_;
  order.resize(n), pair_of_row_.resize(n);
  for (int r = 0; r < n; ++r) {
    const ContactRow& row = rows_[r];
    const long a = block_of_row_[row.rows[0]], b = row.count == 1 ? -1 : block_of_row_[row.rows[row.count - 1]];
    order[r] = r, pair_of_row_[r] = patched_ ? std::max(a, b) * (long(blocks_.size()) + 1) + std::min(a, b) : r;
  }
  std::sort(order.begin(), order.end(), [&](int r, int s) {
    return pair_of_row_[r] != pair_of_row_[s] ? pair_of_row_[r] < pair_of_row_[s] : r < s;
  });
  groups.clear();
  size_t size = 0;
  for (int r = 0; r < n;) {
    const long pair = pair_of_row_[order[r]];
    int end = r + 1;
    while (end < n && end - r < most_grouped && pair_of_row_[order[end]] == pair) ++end;
    groups.push_back({pair, r, end, size});
    size += size_t(end - r) * (end - r);
    r = end;
  }
  inverse.resize(size);
  matrix_.resize(3 * size_t(most_grouped) * most_grouped);
  size_t at = 0;
  for (const Group& g : groups) {
    const int m = g.last - g.first;
    if (const double* known = known_inverse(g, at)) {
      std::copy_n(known, size_t(m) * m, inverse.data() + g.inverse);
    } else {
      invert_group(g);
    }
  }
  last_rows_ = rows_;
}

/// The inverse of a group of the last set with the same rows; `at` goes on from one group to the next.
const double* ContactMetric::known_inverse(const Group& group, size_t& at) const {
  const auto& [groups, order, inverse, patched] = last_groups_;
  if (!patched || !patched_) return nullptr;
  while (at < groups.size() && groups[at].pair < group.pair) ++at;
  if (at == groups.size() || groups[at].pair != group.pair) return nullptr;
  const Group& last = groups[at++];
  if (last.last - last.first != group.last - group.first) return nullptr;
  for (int i = 0; i < group.last - group.first; ++i)
    if (!alike(rows_[groups_.order[group.first + i]], last_rows_[order[last.first + i]])) return nullptr;
  return inverse.data() + last.inverse;
}

void ContactMetric::invert_group(const Group& g) {
  const int m = g.last - g.first;
  const auto row = [&](int i) { return groups_.order[g.first + i]; };
  double* const out = groups_.inverse.data() + g.inverse;
  double *const matrix = matrix_.data(), *const factor = matrix + size_t(most_grouped) * most_grouped;
  const auto diagonal = [&](int i) { return 1 / rows_[row(i)].stiffness + (patched_ ? entry(row(i), row(i)) : 0); };
  for (int j = 0; j < m; ++j)
    for (int i = j; i < m; ++i) matrix[size_t(j) * m + i] = i == j ? diagonal(i) : entry(row(i), row(j));
  std::fill_n(out, size_t(m) * m, 0.0);
  if (!invert_cholesky(matrix, factor, m)) {
    for (int j = 0; j < m; ++j) out[size_t(j) * m + j] = 1 / diagonal(j);
    return;
  }
  // L^-T L^-1, which has the products of the columns of L^-1
  for (int j = 0; j < m; ++j)
    for (int i = j; i < m; ++i) {
      double sum = 0;
      for (int k = i; k < m; ++k) sum += factor[size_t(i) * m + k] * factor[size_t(j) * m + k];
      out[size_t(j) * m + i] = out[size_t(i) * m + j] = sum;
    }
}

void ContactMetric::precondition(const std::vector<double>& r, std::vector<double>& z) {
  group_r_.resize(2 * most_grouped);
  double *const in = group_r_.data(), *const out = in + most_grouped;
  for (const Group& g : groups_.all) {
    const int m = g.last - g.first;
    const int* const order = groups_.order.data() + g.first;
    const double* inverse = groups_.inverse.data() + g.inverse;
    for (int i = 0; i < m; ++i) in[i] = r[order[i]], out[i] = 0;
    for (int j = 0; j < m; ++j, inverse += m)
      for (int i = 0; i < m; ++i) out[i] += inverse[i] * in[j];
    for (int i = 0; i < m; ++i) z[order[i]] = out[i];
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
  if (!patched_ && size() > most_dense_exact) return;
  int first = 0;
  for (size_t b = 0; b < patches_.size(); ++b) {
    Patch& patch = patches_[b];
    blocks_[b].columns->make(patch.rows);
    patch.first = first;
    first += int(patch.rows.size());
  }
  if (!patched_) return;
  for (size_t b = 0; b < patches_.size(); ++b) {
    Patch& patch = patches_[b];
    const size_t n = patch.rows.size();
    patch.inverse.resize(n * n);
    for (size_t j = 0; j < n; ++j) {
      const float* column = blocks_[b].columns->of(patch.rows[j]);
      for (size_t i = 0; i < n; ++i) patch.inverse[j * n + i] = column[patch.rows[i]];
    }
    patch.columns.resize(n);
    for (size_t j = 0; j < n; ++j) patch.columns[j] = patch.inverse.data() + j * n;
  }
  touched_rows_.resize(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (int i = 0; i < rows_[r].count; ++i) {
      const int row = rows_[r].rows[i];
      touched_rows_[r][i] = patches_[block_of_row_[row]].first + touched_of_row_[row];
    }
  force_.resize(first), moved_.resize(first);
  // as many patches to a task as make it worth its while
  size_t work = 0;
  for (const Patch& patch : patches_) work += patch.inverse.size();
  const size_t mean = std::max<size_t>(1, work / patches_.size());
  patch_grain_ = int(std::min(patches_.size(), 1 + least_work / mean));
}

void ContactMetric::factorize() {
  const int n = size();
  // by columns; what comes back is the inverse of the Cholesky factor
  factor_.resize(size_t(n) * n), matrix_.resize(size_t(n) * n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) matrix_[size_t(j) * n + i] = entry(i, j);
  for (int j = 0; j < n; ++j) matrix_[size_t(j) * n + j] += 1 / rows_[j].stiffness;
  if (invert_cholesky(matrix_.data(), factor_.data(), n)) return;
  // round-off of columns in float: each by itself then
  std::fill(factor_.begin(), factor_.end(), 0.0);
  for (int j = 0; j < n; ++j) factor_[size_t(j) * n + j] = 1 / std::sqrt(entry(j, j) + 1 / rows_[j].stiffness);
}

void ContactMetric::gather(const std::vector<Vec4>& x, std::vector<double>& out) const {
  out.resize(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r) out[r] = rows_[r].along(x.data());
}

void ContactMetric::scatter(const std::vector<double>& m, std::vector<Vec4>& out) const {
  out.assign(size_, Vec4());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (int i = 0; i < rows_[r].count; ++i) out[rows_[r].rows[i]] += Vec4(rows_[r].slope(i) * m[r]);
}

void ContactMetric::multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve,
                                bool exactly) {
  const int n = size();
  const bool guessed = int(out.size()) == n;
  out.resize(n);
  if (factored_ || n <= (exactly ? most_dense_exact : most_dense)) {
    if (!factored_) factorize();
    factored_ = true;
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
  if (!grouped_) find_groups();
  grouped_ = true;
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  r_ = y, z_.resize(n), q_.resize(n);
  precondition(r_, z_);
  double rz = product(r_, z_);
  const double fraction = exactly ? 1e-9 : enough, goal = fraction * fraction * rz;
  if (guessed) {
    multiply(out, q_, solve);
    for (int i = 0; i < n; ++i) r_[i] -= q_[i];
    precondition(r_, z_);
    rz = product(r_, z_);
  } else {
    std::fill(out.begin(), out.end(), 0.0);
  }
  p_ = z_;
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
    std::fill(force_.begin(), force_.end(), Vec4()), std::fill(moved_.begin(), moved_.end(), Vec4());
    for (int r = 0; r < n; ++r) {
      const ContactRow& row = rows_[r];
      for (int i = 0; i < row.count; ++i) force_[touched_rows_[r][i]] += Vec4(row.slope(i) * -p[r]);
    }
    parallel_for(int(patches_.size()), patch_grain_, [&](int begin, int end, int) {
      for (int b = begin; b < end; ++b) {
        const Patch& patch = patches_[b];
        const int m = int(patch.rows.size());
        subtract_columns(patch.columns.data(), force_.data() + patch.first, m, 0, m, moved_.data() + patch.first);
      }
    });
    std::fill(turned_.begin(), turned_.end(), Vec3{});
    for (size_t r = 0; r < levers_.size(); ++r)
      for (int i = 0; i < 2; ++i)
        if (levers_[r].turn[i] >= 0) turned_[levers_[r].turn[i]] += levers_[r].by[i] * p[r];
    for (size_t t = 0; t < turned_.size(); ++t) turned_[t] = turns_->turns()[t].inverse * turned_[t];
    for (int r = 0; r < n; ++r) {
      const ContactRow& row = rows_[r];
      q[r] = 0;
      for (int i = 0; i < row.count; ++i) q[r] += dot(row.slope(i), moved_[touched_rows_[r][i]].xyz());
      for (int i = 0; !levers_.empty() && i < 2; ++i)
        if (levers_[r].turn[i] >= 0) q[r] += dot(levers_[r].by[i], turned_[levers_[r].turn[i]]);
    }
  }
  for (int r = 0; r < n; ++r) q[r] += p[r] / rows_[r].stiffness;
}

}  // namespace verve
