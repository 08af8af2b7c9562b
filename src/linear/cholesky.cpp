#include "linear/cholesky.h"

#include <cmath>
#include <numeric>

#include "linear/multifrontal.h"
#include "linear/panel_factor.h"
#include "linear/symbolic.h"

namespace verve {

struct Cholesky::Impl {
  // the pattern that was analysed
  std::vector<int> start, row;
  bool natural = true;

  Symbolic symbolic;
  PanelPlan plan;
  Multifrontal fronts;
  std::vector<double> scale;  // by position; powers of two, so that scaling rounds nothing
  Precision precision = Precision::float64;
  Storage storage = Storage::full;
  bool prepared = false;  // the factor of this precision has its memory
  PanelFactor<double> factor64;
  PanelFactor<float> factor32;
  PanelFactor<Half> factor16;

  bool same_pattern(const SymmetricMatrix& m, bool in_order) const {
    return natural == in_order && start == m.start && row == m.row;
  }

  void analyze_pattern(const SymmetricMatrix& m, bool in_order) {
    natural = in_order;
    start = m.start;
    row = m.row;
    std::vector<int> order(m.size);
    if (natural) {
      std::iota(order.begin(), order.end(), 0);
    } else {
      order = elimination_order(m);
    }
    symbolic = analyze(m, order);
    plan.set(symbolic);
    fronts.analyze(m, symbolic);
    scale.resize(m.size);
    prepared = false;
  }

  /// Scales the diagonal to [0.5, 2): the values of the factor then suit float and half whatever the units.
  bool find_scale(const SymmetricMatrix& m) {
    for (int k = 0; k < m.size; ++k) {
      const int r = symbolic.order[k], first = m.start[r];
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
      if (!prepared) factor.prepare(plan);
      prepared = true;
      return fronts.factorize(m, symbolic, scale.data(), factor);
    });
  }

  void solve(int blocks, const Vec4* const* b, Vec4* const* x) {
    with_factor([&](auto& factor) { factor.solve(blocks, symbolic.order.data(), scale.data(), b, x); });
  }
};

Cholesky::Cholesky() : impl_(std::make_unique<Impl>()) {}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

int Cholesky::size() const { return impl_->symbolic.size; }
long Cholesky::nonzeros() const { return impl_->symbolic.nonzeros; }
Cholesky::Storage Cholesky::storage() const { return impl_->storage; }

size_t Cholesky::factor_memory() const {
  return impl_->with_factor([](auto& factor) { return factor.memory(); }) + 2 * impl_->plan.row.size() * sizeof(int);
}

size_t Cholesky::memory() const {
  const Impl& s = *impl_;
  return factor_memory() + s.fronts.memory() + (s.symbolic.row.size() + s.row.size()) * sizeof(int);
}

bool Cholesky::factorize(const SymmetricMatrix& matrix, bool natural, Precision precision, Storage storage) {
  Impl& s = *impl_;
  if (!s.same_pattern(matrix, natural)) s.analyze_pattern(matrix, natural);
  if (precision == Precision::float64) storage = Storage::full;
  if (precision != s.precision || storage != s.storage) {
    s.with_factor([](auto& factor) { factor.release(); });
    s.prepared = false;
    s.precision = precision, s.storage = storage;
  }
  if (!s.find_scale(matrix)) return false;
  if (s.factorize_values(matrix)) return true;
  if (s.storage == Storage::full) return false;
  // a value too large for half precision, or not positive definite: float decides
  return factorize(matrix, natural, precision, Storage::full);
}

void Cholesky::solve(const Vec4* b, Vec4* x) const { impl_->solve(1, &b, &x); }

void Cholesky::solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const {
  const Vec4* const b[] = {b0, b1};
  Vec4* const x[] = {x0, x1};
  impl_->solve(2, b, x);
}

}  // namespace verve
