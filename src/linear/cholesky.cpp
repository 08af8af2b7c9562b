#include "linear/cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "linear/multifrontal.h"
#include "linear/panel_factor.h"
#include "linear/symbolic.h"

namespace verve {

namespace {

/// Entries from which on a float factor outgrows the second-level cache, and reading half as much pays for conversion.
constexpr long half_pays = 500000;
/// Largest part of an error that a solve in half precision may leave in place: too little to change how many iterations
/// a step takes. Solid boxes come to 2e-4 to 6e-4 (1/30 s, mu = 8 kPa), 5e-3 to 5e-2 at 100 MPa.
constexpr double half_error = 1e-3;

}  // namespace

/// What depends on the pattern alone, and the memory in which fronts are worked on: factors of one pattern share it.
struct Cholesky::Analysis {
  std::vector<int> start, row;
  bool natural = true;
  Symbolic symbolic;
  PanelPlan plan;
  Multifrontal fronts;

  Analysis(const SymmetricMatrix& m, bool in_order) : start(m.start), row(m.row), natural(in_order) {
    std::vector<int> order(m.size);
    if (natural) {
      std::iota(order.begin(), order.end(), 0);
    } else {
      order = elimination_order(m);
    }
    symbolic = analyze(m, order);
    plan.set(symbolic);
    fronts.analyze(m, symbolic);
  }
};

struct Cholesky::Impl {
  std::shared_ptr<Analysis> pattern;
  std::vector<double> scale;  // by position; powers of two, so that scaling rounds nothing
  Precision precision = Precision::float64;
  Storage storage = Storage::full;
  bool prepared = false;      // the factor of this precision has its memory
  bool half_refused = false;  // for this pattern, after a test
  std::vector<Vec4> probe, solution;
  PanelFactor<double> factor64;
  PanelFactor<float> factor32;
  PanelFactor<Half> factor16;

  bool same_pattern(const SymmetricMatrix& m, bool in_order) const {
    return pattern && pattern->natural == in_order && pattern->start == m.start && pattern->row == m.row;
  }

  void take(std::shared_ptr<Analysis> other) {
    pattern = std::move(other);
    scale.resize(pattern->symbolic.size);
    prepared = false;
    half_refused = false;
  }

  /// Scales the diagonal to [0.5, 2): the values of the factor then suit float and half whatever the units.
  bool find_scale(const SymmetricMatrix& m) {
    for (int k = 0; k < m.size; ++k) {
      const int r = pattern->symbolic.order[k], first = m.start[r];
      const double diagonal = first < m.start[r + 1] && m.row[first] == r ? m.value[first] : 0;
      if (!(diagonal > 0) || !std::isfinite(diagonal)) return false;
      const int exponent = std::ilogb(diagonal) + 1;
      scale[k] = std::ldexp(1.0, -(exponent >> 1));
    }
    return true;
  }

  template <class F>
  decltype(auto) with_factor(F&& f) {
    if (precision == Precision::float64) return f(factor64);
    if (storage == Storage::full) return f(factor32);
    return f(factor16);
  }

  bool factorize_values(const SymmetricMatrix& m) {
    return with_factor([&](auto& factor) {
      if (!prepared) factor.prepare(pattern->plan);
      prepared = true;
      return pattern->fronts.factorize(m, pattern->symbolic, scale.data(), factor);
    });
  }

  /// The spectral radius of I - A^-1 A with A^-1 as computed, by power iteration on three vectors at once, in the norm
  /// r.A^-1 r in which it is self-adjoint. Rounding errors are relative to the soft modes, the large ones of A^-1; what
  /// they are to the stiff ones grows with the condition.
  double solve_error(const SymmetricMatrix& m) {
    probe.resize(m.size), solution.resize(m.size);
    std::uint32_t bits = 1;
    for (int r = 0; r < m.size; ++r) {
      double sign[3];
      for (double& s : sign) bits = bits * 1664525u + 1013904223u, s = bits >> 31 ? 1 : -1;
      // of about equal energy, whatever the units of a row
      const double size = std::sqrt(m.value[m.start[r]]);
      probe[r] = Vec4(Vec3{sign[0], sign[1], sign[2]} * size);
    }
    double before = 0, after = 0;
    for (int k = 0; k < 5; ++k) {
      const Vec4* b = probe.data();
      Vec4* x = solution.data();
      solve(1, &b, &x);
      before = after, after = 0;
      for (int r = 0; r < m.size; ++r) after += dot(probe[r].xyz(), solution[r].xyz());
      for (int c = 0; c < m.size; ++c) {
        for (int e = m.start[c]; e < m.start[c + 1]; ++e) {
          const int r = m.row[e];
          probe[r] = probe[r] - solution[c] * m.value[e];
          if (r != c) probe[c] = probe[c] - solution[r] * m.value[e];
        }
      }
    }
    return before > 0 ? std::sqrt(std::max(0.0, after) / before) : 0;
  }

  template <class From, class To>
  void solve(int blocks, const From* const* b, To* const* x) {
    with_factor([&](auto& factor) { factor.solve(blocks, pattern->symbolic.order.data(), scale.data(), b, x); });
  }
};

Cholesky::Cholesky() : impl_(std::make_unique<Impl>()) {}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

int Cholesky::size() const { return impl_->pattern ? impl_->pattern->symbolic.size : 0; }
long Cholesky::nonzeros() const { return impl_->pattern ? impl_->pattern->symbolic.nonzeros : 0; }
Cholesky::Storage Cholesky::storage() const { return impl_->storage; }

size_t Cholesky::factor_memory() const {
  if (!impl_->pattern) return 0;
  return impl_->with_factor([](auto& factor) { return factor.memory(); }) +
         2 * impl_->pattern->plan.row.size() * sizeof(int);
}

size_t Cholesky::memory() const {
  if (!impl_->pattern) return 0;
  const Analysis& p = *impl_->pattern;
  return factor_memory() + p.fronts.memory() + (p.symbolic.row.size() + p.row.size()) * sizeof(int);
}

bool Cholesky::factorize(const SymmetricMatrix& matrix, bool natural, Precision precision, Storage storage) {
  Impl& s = *impl_;
  if (!s.same_pattern(matrix, natural)) s.take(std::make_shared<Analysis>(matrix, natural));
  const bool automatic = storage == Storage::automatic;
  if (automatic) storage = s.pattern->symbolic.nonzeros >= half_pays && !s.half_refused ? Storage::half : Storage::full;
  if (precision == Precision::float64) storage = Storage::full;
  if (precision != s.precision || storage != s.storage) {
    s.with_factor([](auto& factor) { factor.release(); });
    s.prepared = false;
    s.precision = precision, s.storage = storage;
  }
  if (!s.find_scale(matrix)) return false;
  if (s.factorize_values(matrix)) {
    if (!automatic || s.storage == Storage::full || s.solve_error(matrix) <= half_error) return true;
    s.half_refused = true;
  }
  if (s.storage == Storage::full) return false;
  // a value too large for half precision, or not positive definite: float decides
  return factorize(matrix, natural, precision, Storage::full);
}

void Cholesky::share_pattern(const Cholesky& other) {
  if (other.impl_->pattern) impl_->take(other.impl_->pattern);
}

void Cholesky::solve(const Vec4* b, Vec4* x) const { impl_->solve(1, &b, &x); }

void Cholesky::solve(const Vec4* b, Float4* x) const { impl_->solve(1, &b, &x); }
void Cholesky::solve(const Float4* b, Float4* x) const { impl_->solve(1, &b, &x); }

void Cholesky::solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const {
  const Vec4* const b[] = {b0, b1};
  Vec4* const x[] = {x0, x1};
  impl_->solve(2, b, x);
}

void Cholesky::solve2(const Float4* b0, Float4* x0, const Float4* b1, Float4* x1) const {
  const Float4* const b[] = {b0, b1};
  Float4* const x[] = {x0, x1};
  impl_->solve(2, b, x);
}

}  // namespace verve
