#include "linear/multigrid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/parallel.h"
#include "linear/cholesky.h"
#include "linear/multigrid_level.h"
#include "linear/row_kernel.h"

namespace verve {

namespace {

constexpr int grain = 512;             // rows per chunk
constexpr int direct_size = 1000;      // a level of so few rows is factorised: its solve costs next to nothing
constexpr int level_limit = 12;        // each has at most half the rows of the one above
constexpr double threshold = 0.04;     // of strong couplings
constexpr double changed_share = .02;  // of couplings whose strength changed: aggregates are formed anew

Float4 operator+(const Float4& a, const Float4& b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
Float4 operator-(const Float4& a, const Float4& b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
Float4 operator*(const Float4& a, float s) { return {a.x * s, a.y * s, a.z * s, a.w * s}; }

/// then(i, (M x)_i) for every row i.
template <class Value, class Vector, class F>
void for_products(const SparseRows& pattern, const std::vector<Value>& value, const std::vector<Vector>& x, F&& then) {
  parallel_for(pattern.rows(), grain, [&](int begin, int end, int) {
    Vector product[grain];
    multiply_rows(pattern.start.data(), pattern.column.data(), value.data(), x.data(), begin, end, product);
    for (int i = begin; i < end; ++i) then(i, product[i - begin]);
  });
}
template <class F>
void for_rows(int n, F&& function) {
  parallel_for(n, grain, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i) function(i);
  });
}

Vec4 lanes(const Vec4& a, const Vec4& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
Vec4 lanes(const Vec4& a, const Float4& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
template <class F>
Vec4 each_lane(F&& function) {
  return {function(&Vec4::x), function(&Vec4::y), function(&Vec4::z)};
}

// Chebyshev polynomial of the fourth kind: needs an upper bound of the spectrum (one, see round_to_float) and no lower
// one. Lottes 2022, "Optimal polynomial smoothers for multigrid V-cycles" (arXiv:2202.08830), weights of order 2.
constexpr float first_step = 4.f / 3, momentum = 1.f / 5, later_step = 12.f / 5;
constexpr float weight0 = 1.02387287570313f, weight1 = 1.26408905371085f;

struct Work {  // of a cycle on one level
  std::vector<Float4> b, x, d, r;
  void resize(int n) {
    for (auto* v : {&b, &x, &d, &r}) v->assign(n, {});
  }
};

/// Tells one pattern from another.
std::uint64_t fingerprint(const SymmetricMatrix& m) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto mix = [&](int v) { hash = (hash ^ std::uint64_t(std::uint32_t(v))) * 1099511628211ull; };
  mix(m.size);
  for (const int v : m.start) mix(v);
  for (const int v : m.row) mix(v);
  return hash;
}

}  // namespace

struct Multigrid::Impl {
  std::uint64_t pattern = 0;
  std::vector<int> order;  // position in the levels -> row
  std::vector<MultigridLevel> level;
  double scale = 1;
  bool has_direct = false;  // otherwise the last level is left to its smoother
  SymmetricMatrix coarsest;
  Cholesky direct;

  mutable std::vector<Work> work;
  mutable std::vector<Vec4> coarse_vector;
  mutable std::vector<Vec4> b, x, r, p, q;
  mutable std::vector<Vec4> partial;

  bool set_up(const SymmetricMatrix& matrix);
  bool build_levels(bool keep);
  Outcome solve(const Vec4* b, Vec4* x, bool warm, double tolerance, int limit) const;
  void smooth(int l, bool from_zero) const;
  void cycle(int l) const;
  void solve_coarsest() const;

  template <class F>
  Vec4 sum(F&& term) const {
    return ordered_sum<Vec4>(int(order.size()), grain, partial, [&](int begin, int end) {
      Vec4 s;
      for (int i = begin; i < end; ++i) s += term(i);
      return s;
    });
  }
};

bool Multigrid::Impl::set_up(const SymmetricMatrix& matrix) {
  const std::uint64_t now = fingerprint(matrix);
  bool keep = now == pattern && !level.empty();
  pattern = 0;  // until this succeeds
  if (!keep) {
    order = breadth_first_order(matrix);
    level.clear();
    level.resize(1);
  }
  const int n = matrix.size;
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  expand(matrix, position, level[0].matrix);
  scale = largest_diagonal(level[0].matrix);
  for (int c = 0; c < n; ++c)
    if (!(matrix.start[c] < matrix.start[c + 1] && matrix.row[matrix.start[c]] == c &&
          matrix.value[matrix.start[c]] > 0))
      return false;
  if (keep && level.size() > 1) {
    std::vector<char> strong = level[0].strong;
    keep = find_strong(level[0].matrix, threshold, strong) <= changed_share * double(strong.size());
  }
  if (!build_levels(keep)) return false;
  if (!keep) {
    work.resize(level.size());
    for (size_t l = 0; l < level.size(); ++l) work[l].resize(level[l].matrix.rows());
    coarse_vector.assign(level.back().matrix.rows(), {});
    for (auto* v : {&b, &x, &r, &p, &q}) v->assign(n, {});
  }
  pattern = now;
  return true;
}

bool Multigrid::Impl::build_levels(bool keep) {
  if (!keep) {
    level.resize(1);
    double strong_enough = threshold;
    while (level.back().matrix.rows() > direct_size && int(level.size()) < level_limit) {
      MultigridLevel& fine = level.back();
      fine.strong.clear();
      find_strong(fine.matrix, strong_enough, fine.strong);
      form_aggregates(fine);
      // rows that are coupled to nothing need no coarser level, and a level nearly as large as this one helps nobody
      if (fine.aggregates == 0 || fine.aggregates > fine.matrix.rows() / 2) break;
      SparseRows next;
      coarsen(fine, next, false);
      level.emplace_back().matrix = std::move(next);
      strong_enough /= 2;  // smoothing widens the stencils: Vanek et al. 1996, Sec. 5
    }
  } else {
    for (size_t l = 0; l + 1 < level.size(); ++l) coarsen(level[l], level[l + 1].matrix, true);
  }
  for (MultigridLevel& l : level) round_to_float(l, scale);
  const SparseRows& last = level.back().matrix;
  has_direct = last.rows() <= 4 * direct_size;
  if (!has_direct) return true;
  coarsest = lower_triangle(last);
  for (double& v : coarsest.value) v /= scale;
  if (!keep) direct = {};
  return direct.factorize(coarsest, false, Precision::float64);
}

/// Two steps of the smoother. In every pass a row writes only what no other row reads.
void Multigrid::Impl::smooth(int l, bool from_zero) const {
  const MultigridLevel& a = level[l];
  Work& w = work[l];
  const auto first = [&](int i, const Float4& r) {
    w.r[i] = r;
    w.d[i] = r * (first_step * a.inverse_diagonal[i]);
  };
  if (from_zero) {
    for_rows(a.matrix.rows(), [&](int i) { first(i, w.b[i]); });
  } else {
    for_products(a.matrix, a.value, w.x, [&](int i, const Float4& ax) { first(i, w.b[i] - ax); });
  }
  for_products(a.matrix, a.value, w.d, [&](int i, const Float4& ad) {
    const Float4 d = w.d[i] * momentum + (w.r[i] - ad) * (later_step * a.inverse_diagonal[i]);
    const Float4 dx = w.d[i] * weight0 + d * weight1;
    w.x[i] = from_zero ? dx : w.x[i] + dx;
  });
}

/// x = (about) A^-1 b on level l: one V-cycle. Symmetric, as the smoother before and after is the same polynomial; and
/// a step x += cycle(b - A x) never makes the error larger in the norm of A.
void Multigrid::Impl::cycle(int l) const {
  const MultigridLevel& a = level[l];
  Work& w = work[l];
  if (l + 1 == int(level.size())) {
    if (has_direct) {
      solve_coarsest();
    } else {
      smooth(l, true);
    }
    return;
  }
  Work& coarse = work[l + 1];
  smooth(l, true);
  for_products(a.matrix, a.value, w.x, [&](int i, const Float4& ax) { w.r[i] = w.b[i] - ax; });
  for_products(a.restriction, a.restriction_value, w.r, [&](int i, const Float4& rr) { coarse.b[i] = rr; });
  cycle(l + 1);
  for_products(a.prolongation, a.prolongation_value, coarse.x, [&](int i, const Float4& px) { w.x[i] = w.x[i] + px; });
  smooth(l, false);
}

void Multigrid::Impl::solve_coarsest() const {
  Work& w = work.back();
  for (size_t i = 0; i < w.b.size(); ++i) coarse_vector[i] = {w.b[i].x, w.b[i].y, w.b[i].z};
  direct.solve(coarse_vector.data(), coarse_vector.data());
  for (size_t i = 0; i < w.x.size(); ++i) {
    const Vec4& v = coarse_vector[i];
    w.x[i] = {float(v.x), float(v.y), float(v.z)};
  }
}

Multigrid::Outcome Multigrid::Impl::solve(const Vec4* b_in, Vec4* x_out, bool warm, double tolerance, int limit) const {
  const int n = int(order.size());
  const SparseRows& a = level[0].matrix;
  for_rows(n, [&](int i) {
    b[i] = b_in[order[i]], x[i] = warm ? x_out[order[i]] : Vec4{};
    b[i].w = x[i].w = 0, p[i] = {};
  });
  Vec4 x_b;  // |A^-1 b|_A^2 - |A^-1 b - x|_A^2 = x.(b + r) for the guess x
  if (warm) {
    for_products(a, a.value, x, [&](int i, const Vec4& ax) { r[i] = b[i] - ax; });
    x_b = sum([&](int i) { return lanes(x[i], b[i] + r[i]); });
    const Vec4 better = each_lane([&](auto c) { return x_b.*c > 0 ? 1.0 : 0.0; });  // than none
    x_b = lanes(x_b, better);
    for_rows(n, [&](int i) {
      x[i] = lanes(x[i], better);
      r[i] = b[i] + lanes(r[i] - b[i], better);
    });
  } else {
    for_rows(n, [&](int i) { r[i] = b[i]; });
  }

  // The cycle sees right-hand sides of length about one, whatever the units; conjugate gradients do not mind a constant
  // factor in the preconditioner.
  const Vec4 b_b = sum([&](int i) { return lanes(b[i], b[i]); });
  const Vec4 r_r = warm ? sum([&](int i) { return lanes(r[i], r[i]); }) : b_b;
  const Vec4 unit = each_lane([&](auto c) {
    const double length = std::sqrt(std::max(b_b.*c, r_r.*c));
    return length > 0 ? 1 / length : 0;
  });
  const auto precondition = [&] {
    Work& top = work[0];
    for_rows(n, [&](int i) {
      const Vec4 s = lanes(r[i], unit);
      top.b[i] = {float(s.x), float(s.y), float(s.z)};
    });
    cycle(0);
    return sum([&](int i) { return lanes(r[i], top.x[i]); });
  };
  const Float4* z = work[0].x.data();

  Vec4 r_z = precondition();  // |A^-1 b - x|_A^2 as the preconditioner sees it
  const Vec4 size = each_lane([&](auto c) { return x_b.*c * unit.*c * scale + r_z.*c; });

  Outcome out;
  Vec4 beta;
  while (true) {
    bool definite = true;
    out.error = 0;
    const Vec4 active = each_lane([&](auto c) {
      if (!(r_z.*c >= 0)) definite = false;
      const double error = size.*c > 0 ? std::sqrt(std::max(r_z.*c, 0.0) / (size.*c)) : 0;
      out.error = std::max(out.error, error);
      return error > tolerance ? 1.0 : 0.0;
    });
    out.converged = definite && active.x + active.y + active.z == 0;
    if (!definite || out.converged || out.iterations == limit) break;
    ++out.iterations;

    // a system that is done stands still, so that each goes the same way alone or in company
    for_rows(n, [&](int i) { p[i] = Vec4(z[i].x, z[i].y, z[i].z) + lanes(p[i], beta); });
    for_products(a, a.value, p, [&](int i, const Vec4& ap) { q[i] = ap; });
    const Vec4 p_q = sum([&](int i) { return lanes(p[i], q[i]); });
    const Vec4 alpha = each_lane([&](auto c) {
      if (active.*c == 0) return 0.0;
      if (!(p_q.*c > 0)) definite = false;
      return r_z.*c / p_q.*c;
    });
    if (!definite) break;
    for_rows(n, [&](int i) {
      x[i] += lanes(p[i], alpha);
      r[i] -= lanes(q[i], alpha);
    });
    const Vec4 before = r_z;
    r_z = precondition();
    beta = each_lane([&](auto c) { return active.*c > 0 && before.*c > 0 ? r_z.*c / before.*c : 0; });
  }
  // The last cycle has been paid for: its correction never makes the error larger.
  const Vec4 undo = each_lane([&](auto c) { return unit.*c > 0 ? 1 / (unit.*c * scale) : 0; });
  for_rows(n, [&](int i) { x_out[order[i]] = x[i] + Vec4(z[i].x * undo.x, z[i].y * undo.y, z[i].z * undo.z); });
  return out;
}

Multigrid::Multigrid() : impl_(std::make_unique<Impl>()) {}
Multigrid::~Multigrid() = default;
Multigrid::Multigrid(Multigrid&&) noexcept = default;
Multigrid& Multigrid::operator=(Multigrid&&) noexcept = default;

bool Multigrid::set_up(const SymmetricMatrix& matrix) { return impl_->set_up(matrix); }
Multigrid::Outcome Multigrid::solve(const Vec4* b, Vec4* x, bool warm) const {
  return impl_->solve(b, x, warm, tolerance, iteration_limit);
}

int Multigrid::size() const { return int(impl_->order.size()); }
int Multigrid::levels() const { return int(impl_->level.size()); }
int Multigrid::level_size(int level) const { return impl_->level[level].matrix.rows(); }

long Multigrid::nonzeros() const {
  long sum = impl_->has_direct ? impl_->direct.nonzeros() : 0;
  for (const MultigridLevel& l : impl_->level)
    sum += long(l.matrix.column.size() + l.prolongation.column.size() + l.restriction.column.size());
  return sum;
}

size_t Multigrid::bytes() const {
  const Impl& s = *impl_;
  const auto size = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  size_t sum = size(s.order) + size(s.b) + size(s.x) + size(s.r) + size(s.p) + size(s.q) + size(s.coarse_vector);
  for (const MultigridLevel& l : s.level) sum += bytes_of(l);
  for (const Work& w : s.work) sum += size(w.b) + size(w.x) + size(w.d) + size(w.r);
  return sum + (s.has_direct ? s.direct.memory() : 0);
}

}  // namespace verve
