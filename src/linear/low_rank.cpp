#include "linear/low_rank.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "linear/row_kernel.h"

namespace verve {

namespace {

constexpr int cache_limit = 2 * LowRankUpdate::rank_limit;
constexpr int grain = 512;

}  // namespace

void LowRankUpdate::reset(int size, Precision precision, double accuracy) {
  if (size != size_ || precision != precision_) {
    cache_.clear();
    work0_.clear(), work1_.clear();
  }
  size_ = size, precision_ = precision;
  // a pivot of the small matrix is the share of the stiffness that stays: known to 1 % then
  least_pivot_ = 100 * accuracy;
  for (Column& c : cache_) c.a = c.b = -1, c.used = -1;  // storage stays
  active_.clear();
  clock_ = 0;
}

int LowRankUpdate::find(int a, int b) const {
  for (size_t k = 0; k < cache_.size(); ++k)
    if (cache_[k].a == a && cache_[k].b == b) return int(k);
  return -1;
}

/// A new one while there are few, then the one that has not been asked for longest. Columns in force are never given
/// away, so that a refused change can be taken back.
int LowRankUpdate::free_slot() {
  int oldest = -1;
  for (size_t k = 0; k < cache_.size(); ++k) {
    const auto in_force = [&](const Active& t) { return t.column == int(k); };
    if (cache_[k].used == clock_ || std::any_of(active_.begin(), active_.end(), in_force)) continue;
    if (oldest < 0 || cache_[k].used < cache_[oldest].used) oldest = int(k);
  }
  const bool unused = oldest >= 0 && cache_[oldest].used < 0;
  if (unused || int(cache_.size()) >= cache_limit) return oldest;
  Column& c = cache_.emplace_back();
  if (precision_ == Precision::float32) {
    c.value32.resize(size_);
  } else {
    c.value64.resize(size_);
  }
  return int(cache_.size()) - 1;
}

void LowRankUpdate::solve_columns(const std::vector<int>& missing, const BaseSolve& solve) {
  work0_.resize(size_);
  work1_.resize(missing.size() > 3 ? size_ : work1_.size());
  constexpr double Vec4::*lane[3] = {&Vec4::x, &Vec4::y, &Vec4::z};
  for (size_t first = 0; first < missing.size(); first += 6) {
    const int count = int(std::min<size_t>(6, missing.size() - first));
    Vec4* const x[2] = {work0_.data(), count > 3 ? work1_.data() : nullptr};
    for (Vec4* side : x)
      if (side) std::fill(side, side + size_, Vec4{});
    for (int k = 0; k < count; ++k) {
      const Column& c = cache_[missing[first + k]];
      x[k / 3][c.a].*lane[k % 3] = 1;
      if (c.b >= 0) x[k / 3][c.b].*lane[k % 3] = -1;
    }
    solve(x[0], x[1]);
    for (int k = 0; k < count; ++k) {
      Column& c = cache_[missing[first + k]];
      const Vec4* from = x[k / 3];
      const auto component = lane[k % 3];
      if (precision_ == Precision::float32) {
        for (int i = 0; i < size_; ++i) c.value32[i] = float(from[i].*component);
      } else {
        for (int i = 0; i < size_; ++i) c.value64[i] = from[i].*component;
      }
    }
    solved_ += count;
  }
}

/// With the positive weights first the matrix is quasi-definite (Vanderbei 1995): L D L^T exists without pivoting, and
/// A' is positive definite exactly when D has the signs of C (both follow from the inertia of [A U; U^T -C^-1]).
bool LowRankUpdate::factorize(const std::vector<Active>& active, Small& out) const {
  const int n = int(active.size());
  for (int j = 0; j < n; ++j) {
    const Active& tj = active[j];
    for (int i = j; i < n; ++i) {
      const Active& ti = active[i];
      const Column &ci = cache_[ti.column], &cj = cache_[tj.column];
      double v = 0.5 * (entry(ci, cj) + entry(cj, ci)) * ti.root * tj.root;
      if (i == j) v += ti.negative ? -1 : 1;
      for (int k = 0; k < j; ++k) v -= out.l[i][k] * out.d[k] * out.l[j][k];
      if (i == j) {
        out.d[j] = v;
        if (!(tj.negative ? v < -least_pivot_ : v > 0)) return false;
      } else {
        out.l[i][j] = v / out.d[j];
      }
    }
  }
  return true;
}

LowRankUpdate::Status LowRankUpdate::set(std::span<const LowRankTerm> terms, const BaseSolve& solve) {
  candidate_.clear(), missing_.clear();
  const auto weighted = std::count_if(terms.begin(), terms.end(), [](const LowRankTerm& t) { return t.weight != 0; });
  if (weighted > rank_limit) return Status::too_many;
  // no allocation later on
  for (auto* v : {&candidate_, &active_}) v->reserve(rank_limit);
  missing_.reserve(rank_limit), pointers32_.reserve(rank_limit), pointers64_.reserve(rank_limit);
  cache_.reserve(cache_limit);

  ++clock_;
  for (const bool negative : {false, true}) {
    for (const LowRankTerm& t : terms) {
      if (t.weight == 0 || (t.weight < 0) != negative) continue;
      const int a = t.b < 0 ? t.a : std::min(t.a, t.b), b = t.b < 0 ? -1 : std::max(t.a, t.b);
      int slot = find(a, b);
      if (slot < 0) {
        slot = free_slot();
        cache_[slot].a = a, cache_[slot].b = b;
        missing_.push_back(slot);
      }
      cache_[slot].used = clock_;
      candidate_.push_back({slot, std::sqrt(std::abs(t.weight)), negative});
    }
  }
  solve_columns(missing_, solve);
  if (!factorize(candidate_, trial_)) return Status::not_positive_definite;
  std::swap(active_, candidate_);
  std::swap(small_, trial_);
  pointers32_.clear(), pointers64_.clear();
  for (const Active& t : active_) {
    pointers32_.push_back(cache_[t.column].value32.data());
    pointers64_.push_back(cache_[t.column].value64.data());
  }
  return Status::done;
}

void LowRankUpdate::correct(Vec4* x) const {
  const int n = rank();
  if (n == 0) return;
  // s = |C|^1/2 (L D L^T)^-1 |C|^1/2 U^T x
  Vec4 s[rank_limit];
  for (int i = 0; i < n; ++i) {
    const Column& u = cache_[active_[i].column];
    s[i] = (u.b < 0 ? x[u.a] : x[u.a] - x[u.b]) * active_[i].root;
    for (int k = 0; k < i; ++k) s[i] -= s[k] * small_.l[i][k];
  }
  for (int i = 0; i < n; ++i) s[i] = s[i] * (1 / small_.d[i]);
  for (int i = n - 1; i >= 0; --i)
    for (int k = i + 1; k < n; ++k) s[i] -= s[k] * small_.l[k][i];
  for (int i = 0; i < n; ++i) s[i] = s[i] * active_[i].root;

  parallel_for(size_, grain, [&](int begin, int end, int) {
    if (precision_ == Precision::float32) {
      subtract_columns(pointers32_.data(), s, n, begin, end, x);
    } else {
      subtract_columns(pointers64_.data(), s, n, begin, end, x);
    }
  });
}

size_t LowRankUpdate::bytes() const {
  size_t sum = (work0_.capacity() + work1_.capacity()) * sizeof(Vec4) + sizeof(*this);
  for (const Column& c : cache_) sum += c.value32.capacity() * sizeof(float) + c.value64.capacity() * sizeof(double);
  return sum;
}

}  // namespace verve
