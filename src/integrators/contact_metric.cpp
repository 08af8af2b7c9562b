#include "integrators/contact_metric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "integrators/row_products.h"
#include "linear/front_kernel.h"

namespace verve {

namespace {

constexpr int most_steps = 400;
/// Of these, without time for more.
constexpr int least_steps = 4;
/// Rows that precondition each other, all of the same two bodies or so many of them.
constexpr int most_grouped = 64, least_grouped = 16;
/// Of what a row does along itself: below this K^-1 is lost in the digits of S.
constexpr double least_compliance = 1e-6;
/// Vertices of a block that touch up to which A^-1 between them is multiplied by as it is.
constexpr int most_patched = 1024;
/// Rows, whether they push or not, up to which K^-1 + S among those that do is factorised.
constexpr int most_exact = 512;
/// Steps of conjugate gradients that a factor of as many rows costs, beside some that would be taken anyway.
int steps_of_factor(int rows) { return 4 + rows / 10; }

/// By whatever the compiler may take for granted. (Rows are few and short: what a dispatch to wider registers would
/// save, the call would cost.)
const FloatRow* lanes(const Float4* f) { return reinterpret_cast<const FloatRow*>(f); }
FloatRow* lanes(Float4* f) { return reinterpret_cast<FloatRow*>(f); }

}  // namespace

void ContactMetric::bind(const std::vector<Block>& blocks, int rows, const BodyTurns& turns, int ids) {
  turns_ = &turns;
  turn_of_block_.assign(blocks.size(), -1);
  for (size_t b = 0, t = 0; b < blocks.size() && t < turns.turns().size(); ++b)
    if (turns.turns()[t].first == blocks[b].first) turn_of_block_[b] = int(t++);
  rows_.clear(), active_.clear(), all_.clear();
  patches_.all.resize(blocks.size()), pushing_.all.resize(blocks.size());
  for (InversePatch& patch : patches_.all) patch.clear();
  place_of_row_.assign(rows, -1), pushing_place_.assign(rows, -1), pushing_rows_.clear();
  patched_ = true;
  factored_.clear(), factor_of_id_.assign(ids, -1), row_of_factor_.clear();
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

/// Of S.
double ContactMetric::entry(int r, int s) const {
  const ContactRow &a = *rows_[r], &b = *rows_[s];
  double sum = 0;
  for (int i = 0; i < a.count; ++i) {
    const int block = block_of_row_[a.rows[i]], place = place_of_row_[a.rows[i]];
    for (int k = 0; k < b.count; ++k)
      if (block_of_row_[b.rows[k]] == block)
        sum += a.share[i] * b.share[k] *
               patches_.all[block].entry(place_of_row_[b.rows[k]], place);
  }
  sum *= a.scale * b.scale * dot(a.direction, b.direction);
  const Lever &of_a = levers_[r], &of_b = levers_[s];
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      if (of_a.turn[i] >= 0 && of_a.turn[i] == of_b.turn[k])
        sum += dot(of_a.by[i], turns_->turns()[of_a.turn[i]].inverse * of_b.by[k]);
  return sum;
}

void ContactMetric::set(const std::vector<ContactRow>& now, const std::vector<const ContactRow*>& near) {
  rows_.clear();
  for (const ContactRow& row : now) rows_.push_back(&row);
  rows_.insert(rows_.end(), near.begin(), near.end());
  all_.resize(rows_.size());
  std::iota(all_.begin(), all_.end(), 0);
  active_.clear(), pushes_.clear();
  factors_.assign(1, Float4());  // place 0: none
  find_patches();
  levers_.assign(rows_.size(), {});
  for (size_t r = 0; !turns_->empty() && r < rows_.size(); ++r) levers_[r] = lever_of(*rows_[r]);
  patches_.rows.clear();
  for (int r = 0; patched_ && r < size(); ++r) make_lean(r, patches_, place_of_row_);
  compliance_.resize(rows_.size()), diagonal_.assign(rows_.size(), 0.0);
  for (int r = 0; r < size(); ++r) {
    if (patched_) diagonal_[r] = entry(r, r);
    compliance_[r] = std::max(1 / rows_[r]->stiffness, least_compliance * diagonal_[r]);
  }
  products_ += 1500.0 * size();
  exact_ = patched_ && size() <= most_exact;
  if (exact_) {
    find_factored();
  } else {
    find_groups();
  }
}

/// Of the rows in the factor, those that are there at this x too.
void ContactMetric::find_factored() {
  row_of_factor_.assign(factored_.size(), -1);
  for (int r = 0; r < size(); ++r)
    if (const int place = factor_of_id_[rows_[r]->id]; place >= 0) row_of_factor_[place] = r;
  narrow_.resize(std::max(rows_.size(), factored_.size()) + dense_panel);
}

/// K^-1 + S among the rows that push, one after the other: what A^-1 makes of a row, along the others.
void ContactMetric::find_factor() {
  for (const int id : factored_) factor_of_id_[id] = -1;
  factored_.clear(), row_of_factor_.clear();
  wear_ = 0;
  const int n = int(active_.size()), turns = int(turns_->turns().size());
  if (n == 0) return;
  factor_.resize(n);
  products_ += double(n) * n * (n / 6.0 + 12);
  moved_.assign(patches_.force.size(), Float4());
  FloatRow* const moved = lanes(moved_.data());
  const int first_turn = int(moved_.size()) - 1 - turns;
  for (int j = 0; j < n; ++j) {
    const int r = active_[j];
    const ContactRow& row = *rows_[r];
    const Lean& lean = patches_.rows[r];
    for (int i = 0; i < row.count; ++i) {
      const int block = block_of_row_[row.rows[i]], at = place_of_row_[row.rows[i]];
      const InversePatch& patch = patches_.all[block];
      const FloatRow slope = lanes(lean.slope.data())[i];
      products_ += 4.0 * patch.size();
      for (int first = 0; first < patch.size(); first += dense_panel) {
        const float* const column = patch.column(first / dense_panel, at);
        FloatRow* const to = moved + patches_.first[block] + first;
        const int count = std::min(dense_panel, patch.size() - first);
        for (int v = 0; v < count; ++v) to[v] += slope * column[v];
      }
    }
    for (int i = 0; i < 2; ++i) {
      if (levers_[r].turn[i] < 0) continue;
      const Vec3 by = turns_->turns()[levers_[r].turn[i]].inverse * levers_[r].by[i];
      moved_[first_turn + levers_[r].turn[i]] = {float(by.x), float(by.y), float(by.z), 0};
    }
    for (int i = j; i < n; ++i) {
      const Lean& other = patches_.rows[active_[i]];
      FloatRow sum{};
      for (int k = 0; k < other.vertices; ++k) sum += lanes(other.slope.data())[k] * moved[other.at[k]];
      for (int k = 4; turns > 0 && k < 6; ++k) sum += lanes(other.slope.data())[k] * moved[other.at[k]];
      factor_.set(i, j, sum[0] + sum[1] + sum[2] + (i == j ? float(compliance_[r]) : 0.f));
    }
    for (int i = 0; i < row.count; ++i) {
      const int block = block_of_row_[row.rows[i]];
      std::fill_n(moved_.begin() + patches_.first[block], patches_.all[block].size(), Float4());
    }
    for (int i = 0; i < 2; ++i)
      if (levers_[r].turn[i] >= 0) moved_[first_turn + levers_[r].turn[i]] = {};
  }
  if (!factor_.factorize()) return;
  row_of_factor_ = active_;
  for (const int r : active_) {
    factor_of_id_[rows_[r]->id] = int(factored_.size());
    factored_.push_back(rows_[r]->id);
  }
}

/// The factor is that of rows which pushed some time ago in this step. It is made anew once that has cost as many steps
/// of conjugate gradients as it takes.
bool ContactMetric::factor_is_worn(int steps) {
  constexpr int few = 2;
  if (steps > few) ++wear_;
  return wear_ > steps_of_factor(int(active_.size()));
}

double ContactMetric::precondition_exactly() {
  for (size_t k = 0; k < row_of_factor_.size(); ++k) {
    const int row = row_of_factor_[k], place = row < 0 ? -1 : place_[row];
    narrow_[k] = place < 0 ? 0.f : float(r_[place]);
  }
  if (!row_of_factor_.empty()) factor_.solve(narrow_.data());
  products_ += double(row_of_factor_.size()) * double(row_of_factor_.size());
  double sum = 0;
  for (size_t k = 0; k < active_.size(); ++k) {
    const int r = active_[k], place = factor_of_id_[rows_[r]->id];
    z_[k] = place < 0 ? r_[k] / (diagonal_[r] + compliance_[r]) : double(narrow_[place]);
    sum += r_[k] * z_[k];
  }
  return sum;
}

/// Conjugate gradients are preconditioned by the exact inverse among rows of the same two bodies. Boxes that lie on
/// each other have several rows for each place: by themselves these would take hundreds of steps to agree on who bears
/// how much. Where there are many, neighbours are taken together.
void ContactMetric::find_groups() {
  const int n = size();
  order_.resize(n), pair_of_row_.resize(n), members_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  for (int r = 0; r < n; ++r) {
    const ContactRow& row = *rows_[r];
    const long a = block_of_row_[row.rows[0]], b = row.count == 1 ? -1 : block_of_row_[row.rows[row.count - 1]];
    pair_of_row_[r] = std::max(a, b) * (long(blocks_.size()) + 1) + std::min(a, b);
  }
  std::sort(order_.begin(), order_.end(), [&](int r, int s) {
    return pair_of_row_[r] != pair_of_row_[s] ? pair_of_row_[r] < pair_of_row_[s] : r < s;
  });
  groups_.clear();
  size_t sum = 0;
  for (int begin = 0, end; begin < n; begin = end) {
    for (end = begin; end < n && pair_of_row_[order_[end]] == pair_of_row_[order_[begin]];) ++end;
    const int most = !patched_ ? 1 : end - begin <= most_grouped ? most_grouped : least_grouped;
    for (int r = begin; r < end; r += most) {
      const int last = std::min(r + most, end);
      groups_.push_back({r, last, sum});
      sum += size_t(last - r) * (last - r);
    }
  }
  entries_.assign(sum, std::numeric_limits<double>::quiet_NaN());
}

/// Of its rows that push, unless these are the ones that did before.
void ContactMetric::factorize(Group& g) {
  int count = 0;
  bool same = g.factor > 0;
  for (int i = g.first; i < g.last; ++i) {
    if (place_[order_[i]] < 0) continue;
    same = same && count < g.members && members_[g.first + count] == i;
    members_[g.first + count++] = i;
  }
  same = same && count == g.members;
  if (same) return;
  g.members = count;
  products_ += double(count) * count * (count / 3.0 + 16);
  const size_t size = g.last - g.first, n = count;
  matrix_.resize(n * n);
  for (size_t j = 0; j < n; ++j)
    for (size_t i = j; i < n; ++i) {
      const int r = members_[g.first + i], s = members_[g.first + j];
      double& known = entries_[g.entries + size_t(s - g.first) * size + (r - g.first)];
      if (std::isnan(known)) known = patched_ ? entry(order_[r], order_[s]) : 0;
      matrix_[j * n + i] = known + (i == j ? compliance_[order_[r]] : 0);
    }
  inverse_.resize(n * n);
  if (!invert_cholesky(matrix_.data(), inverse_.data(), count)) {
    // round-off of columns in float: each by itself then
    std::fill(inverse_.begin(), inverse_.end(), 0.0);
    for (size_t j = 0; j < n; ++j) {
      const int r = members_[g.first + j];
      inverse_[j * n + j] =
          1 / std::sqrt(entries_[g.entries + size_t(r - g.first) * (size + 1)] + compliance_[order_[r]]);
    }
  }
  g.factor = factors_.size();
  const size_t stride = (n + 3) / 4;
  factors_.resize(g.factor + n * stride);
  for (size_t j = 0; j < n; ++j) {
    float* const column = &factors_[g.factor + j * stride].x;
    for (size_t i = j; i < n; ++i) column[i] = float(inverse_[j * n + i]);
  }
}

/// z = M^-1 r; returns r.z.
double ContactMetric::precondition() {
  if (exact_) return precondition_exactly();
  double sum = 0;
  for (const Group& g : groups_) {
    const int n = g.members, stride = (n + 3) / 4;
    products_ += double(n) * n;
    const FloatRow* const factor = lanes(factors_.data() + g.factor);
    Float4 out[most_grouped / 4] = {};
    for (int j = 0; j < n; ++j) {
      const float in = float(r_[place_[order_[members_[g.first + j]]]]);
      for (int i = j / 4; i < stride; ++i) lanes(out)[i] += factor[j * stride + i] * in;
    }
    for (int i = 0; i < stride; ++i)
      sum += double(out[i].x) * out[i].x + double(out[i].y) * out[i].y + double(out[i].z) * out[i].z +
             double(out[i].w) * out[i].w;
    for (int j = 0; j < n; ++j) {
      FloatRow z{};
      for (int i = j / 4; i < stride; ++i) z += factor[j * stride + i] * lanes(out)[i];
      z_[place_[order_[members_[g.first + j]]]] = double(z[0]) + z[1] + z[2] + z[3];
    }
  }
  return sum;
}

void ContactMetric::make_lean(int r, Patches& patches, const std::vector<int>& place_of_row) const {
  const auto narrow = [](const Vec3& v) { return Float4{float(v.x), float(v.y), float(v.z), 0}; };
  const ContactRow& row = *rows_[r];
  Lean lean;
  lean.vertices = row.count;
  const int nothing = int(patches.force.size()) - 1, first_turn = nothing - int(turns_->turns().size());
  for (int i = 0; i < 4; ++i) {
    const bool is = i < row.count;
    lean.at[i] = is ? patches.first[block_of_row_[row.rows[i]]] + place_of_row[row.rows[i]] : nothing;
    lean.slope[i] = is ? narrow(row.slope(i)) : Float4();
  }
  for (int i = 0; i < 2; ++i) {
    const bool is = levers_[r].turn[i] >= 0;
    lean.at[4 + i] = is ? first_turn + levers_[r].turn[i] : nothing;
    lean.slope[4 + i] = is ? narrow(levers_[r].by[i]) : Float4();
  }
  patches.rows.push_back(lean);
}

void ContactMetric::choose(const std::vector<char>& pushes) {
  if (pushes == pushes_) return;
  pushes_ = pushes;
  active_.clear();
  for (int r = 0; r < size(); ++r)
    if (pushes[r]) active_.push_back(r);
  place_.assign(size(), -1);
  for (size_t k = 0; k < active_.size(); ++k) place_[active_[k]] = int(k);
  if (exact_) {
    if (factored_.empty()) find_factor();
    return;
  }
  find_pushing();
  for (Group& g : groups_) factorize(g);
}

/// A^-1 between the vertices of rows that push, which are few of those that may: conjugate gradients multiply by it
/// many times.
void ContactMetric::find_pushing() {
  if (!patched_) return;
  for (const int row : pushing_rows_) pushing_place_[row] = -1;
  pushing_rows_.clear();
  for (const int r : active_)
    for (int i = 0; i < rows_[r]->count; ++i) {
      const int row = rows_[r]->rows[i];
      if (pushing_place_[row] != -1) continue;
      pushing_place_[row] = 0;
      pushing_rows_.push_back(row);
    }
  std::sort(pushing_rows_.begin(), pushing_rows_.end());  // by block
  for (InversePatch& patch : pushing_.all) patch.clear();
  for (size_t begin = 0, end; begin < pushing_rows_.size(); begin = end) {
    const int block = block_of_row_[pushing_rows_[begin]];
    places_.clear();
    for (end = begin; end < pushing_rows_.size() && block_of_row_[pushing_rows_[end]] == block; ++end) {
      pushing_place_[pushing_rows_[end]] = int(places_.size());
      places_.push_back(place_of_row_[pushing_rows_[end]]);
    }
    pushing_.all[block].select(patches_.all[block], places_);
  }
  pushing_.arrange(turns_->turns().size());
  pushing_.rows.clear();
  for (const int r : active_) make_lean(r, pushing_, pushing_place_);
}

/// Where few vertices of each block touch, A^-1 between them is cheaper to multiply by than a solve.
void ContactMetric::find_patches() {
  if (!patched_) return;
  fresh_.clear();
  for (const ContactRow* row : rows_)
    for (int i = 0; i < row->count; ++i) {
      int& place = place_of_row_[row->rows[i]];
      if (place != -1) continue;
      place = -2;
      fresh_.push_back(row->rows[i]);
    }
  if (fresh_.empty()) return;
  std::sort(fresh_.begin(), fresh_.end());  // by block
  for (size_t begin = 0, end; begin < fresh_.size(); begin = end) {
    const int block = block_of_row_[fresh_[begin]];
    InversePatch& patch = patches_.all[block];
    int places = patch.size();
    for (end = begin; end < fresh_.size() && block_of_row_[fresh_[end]] == block; ++end) {
      place_of_row_[fresh_[end]] = places++;
      fresh_[end] -= blocks_[block].first;
    }
    if (places > most_patched) {
      patched_ = false;
      return;
    }
    const double before = blocks_[block].columns->entries();
    patch.add(std::span(fresh_).subspan(begin, end - begin), *blocks_[block].columns);
    products_ += double(end - begin) * patch.size();
    entries_of_columns_ += blocks_[block].columns->entries() - before;
  }
  patches_.arrange(turns_->turns().size());
}

void ContactMetric::Patches::arrange(size_t turns) {
  int sum = 0, largest = 0;
  first.resize(all.size());
  for (size_t b = 0; b < all.size(); ++b) {
    first[b] = sum;
    sum += all[b].size();
    if (all[b].size() > 0) largest = std::max(largest, all[b].stride());
  }
  products = 0;
  for (const InversePatch& patch : all) products += patch.size() > 0 ? 3.0 * patch.size() * patch.size() + 500 : 0;
  force.resize(sum + turns + 1), moved.resize(sum + turns + 1);
  fields.resize(6 * size_t(largest));
}

/// By one thread: what is worth a second one is rare.
void ContactMetric::Patches::multiply(const BodyTurns& turns) {
  for (size_t b = 0; b < all.size(); ++b) {
    const int n = all[b].size();
    if (n == 0) continue;
    const int stride = all[b].stride();
    float *const in = fields.data(), *const out = in + 3 * size_t(stride);
    for (int i = 0; i < n; ++i) {
      const Float4& f = force[first[b] + i];
      in[i] = f.x, in[stride + i] = f.y, in[2 * stride + i] = f.z;
    }
    all[b].multiply(in, out);
    for (int i = 0; i < n; ++i) moved[first[b] + i] = {out[i], out[stride + i], out[2 * stride + i], 0};
  }
  const size_t count = turns.turns().size(), begin = force.size() - 1 - count;
  for (size_t t = 0; t < count; ++t) {
    const Float4& f = force[begin + t];
    const Vec3 by = turns.turns()[t].inverse * Vec3{f.x, f.y, f.z};
    moved[begin + t] = {float(by.x), float(by.y), float(by.z), 0};
  }
  moved.back() = {};
}

void ContactMetric::gather(const std::vector<Vec4>& x, std::vector<double>& out) const {
  out.resize(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r) {
    double sum = 0;
    for (int i = 0; i < rows_[r]->count; ++i) sum += dot(rows_[r]->slope(i), x[rows_[r]->rows[i]].xyz());
    out[r] = sum;
  }
}

void ContactMetric::scatter(const std::vector<double>& m, std::vector<Vec4>& out) const {
  out.assign(size_, Vec4());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (int i = 0; m[r] != 0 && i < rows_[r]->count; ++i) out[rows_[r]->rows[i]] += Vec4(rows_[r]->slope(i) * m[r]);
}

void ContactMetric::respond(const std::vector<double>& m, std::vector<double>& out, const Solve& solve) {
  out.resize(rows_.size());
  apply(true, m.data(), out.data(), solve);
}

void ContactMetric::multipliers(const std::vector<double>& y, std::vector<double>& out, const Solve& solve,
                                double fraction) {
  const int n = int(active_.size());
  const bool guessed = out.size() == rows_.size();
  r_.resize(n), m_.assign(n, 0.0);
  for (int i = 0; i < n; ++i) {
    r_[i] = y[active_[i]];
    if (guessed) m_[i] = out[active_[i]];
  }
  const auto multiply = [&](const std::vector<double>& p) {
    apply(false, p.data(), q_.data(), solve);
    for (int i = 0; i < n; ++i) q_[i] += p[i] * compliance_[active_[i]];
  };
  z_.resize(n), q_.resize(n);
  double rz = precondition();
  const double goal = fraction * fraction * rz;
  if (guessed) {
    multiply(m_);
    for (int i = 0; i < n; ++i) r_[i] -= q_[i];
    rz = precondition();
  }
  p_ = z_;
  for (int step = 0; step < most_steps && rz > goal && rz > 0; ++step) {
    if (step >= least_steps && products_ >= enough_products) break;
    multiply(p_);
    const double curvature = row_product(p_, q_);
    if (!(curvature > 0)) break;
    const double alpha = rz / curvature;
    for (int i = 0; i < n; ++i) m_[i] += alpha * p_[i], r_[i] -= alpha * q_[i];
    const bool anew = exact_ && factor_is_worn(step);
    if (anew) find_factor();
    const double next = precondition();
    for (int i = 0; i < n; ++i) p_[i] = anew ? z_[i] : z_[i] + p_[i] * (next / rz);
    rz = next;
  }
  out.assign(rows_.size(), 0.0);
  for (int i = 0; i < n; ++i) out[active_[i]] = m_[i];
}

void ContactMetric::apply(bool all, const double* m, double* out, const Solve& solve) {
  const std::vector<int>& which = all ? all_ : active_;
  if (which.empty()) return;
  if (!patched_) {
    b_.assign(size_, Vec4()), x_.resize(size_);
    for (size_t k = 0; k < which.size(); ++k) {
      const ContactRow& row = *rows_[which[k]];
      for (int i = 0; i < row.count; ++i) b_[row.rows[i]] += Vec4(row.slope(i) * m[k]);
    }
    solve(b_, x_);
    for (size_t k = 0; k < which.size(); ++k) out[k] = rows_[which[k]]->along(x_.data());
    return;
  }
  const bool whole = all || exact_;
  Patches& patches = whole ? patches_ : pushing_;
  std::fill(patches.force.begin(), patches.force.end(), Float4());
  for (size_t k = 0; k < which.size(); ++k) {
    const Lean& row = patches.rows[whole ? which[k] : k];
    const float by = float(m[k]);
    if (by == 0) continue;
    for (int i = 0; i < 6; ++i) lanes(patches.force.data())[row.at[i]] += lanes(row.slope.data())[i] * by;
  }
  patches.multiply(*turns_);
  products_ += patches.products + 100.0 * double(which.size());
  for (size_t k = 0; k < which.size(); ++k) {
    const Lean& row = patches.rows[whole ? which[k] : k];
    FloatRow sum{};
    for (int i = 0; i < 6; ++i) sum += lanes(row.slope.data())[i] * lanes(patches.moved.data())[row.at[i]];
    out[k] = double(sum[0]) + sum[1] + sum[2];
  }
}

}  // namespace verve
