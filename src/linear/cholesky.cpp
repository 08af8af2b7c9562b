#include "linear/cholesky.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace verve {

void SymmetricAssembly::begin_pattern(int size) {
  recording_ = true;
  entries_.clear();
  matrix_ = {};
  matrix_.size = size;
}

void SymmetricAssembly::finish_pattern() {
  std::vector<int> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Entry &p = entries_[a], &q = entries_[b];
    return p.column != q.column ? p.column < q.column : p.row < q.row;
  });
  slot_.resize(entries_.size());
  matrix_.start.assign(matrix_.size + 1, 0);
  const Entry* last = nullptr;
  for (const int k : order) {
    const Entry& e = entries_[k];
    if (!last || last->row != e.row || last->column != e.column) {
      matrix_.row.push_back(e.row);
      matrix_.value.push_back(0);
      ++matrix_.start[e.column + 1];
      last = &e;
    }
    slot_[k] = int(matrix_.row.size()) - 1;
  }
  for (int c = 0; c < matrix_.size; ++c) matrix_.start[c + 1] += matrix_.start[c];
  // in the order of emission, as in every later pass: the same bits
  for (size_t k = 0; k < entries_.size(); ++k) matrix_.value[slot_[k]] += entries_[k].value;
  entries_ = {};
  recording_ = false;
}

void SymmetricAssembly::begin_values() {
  next_ = 0;
  std::fill(matrix_.value.begin(), matrix_.value.end(), 0.0);
}

namespace {

using EigenSparse = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

Eigen::Map<const EigenSparse> view(const SymmetricMatrix& m) {
  return {m.size, m.size, Eigen::Index(m.row.size()), m.start.data(), m.row.data(), m.value.data()};
}

/// The factor for solving: strictly lower part by columns, inverse diagonal apart.
template <class T>
struct Factor {
  std::vector<int> start, row;
  std::vector<T> value, inverse_diagonal;

  template <class SparseL>
  void set(const SparseL& l) {
    const int n = int(l.rows());
    start.resize(n + 1);
    inverse_diagonal.resize(n);
    row.clear(), value.clear();
    row.reserve(l.nonZeros()), value.reserve(l.nonZeros());
    start[0] = 0;
    for (int j = 0; j < n; ++j) {
      for (typename SparseL::InnerIterator it(l, j); it; ++it) {
        if (it.row() == j) {
          inverse_diagonal[j] = T(1 / it.value());
        } else {
          row.push_back(int(it.row()));
          value.push_back(T(it.value()));
        }
      }
      start[j + 1] = int(row.size());
    }
  }

  // `Blocks` padded vectors per row, stored one after another.
  template <int Blocks>
  void solve(T* x) const {
    constexpr int w = 4 * Blocks;
    const int n = int(inverse_diagonal.size());
    for (int j = 0; j < n; ++j) {
      T t[w];
      for (int c = 0; c < w; ++c) t[c] = x[j * w + c] * inverse_diagonal[j];
      for (int c = 0; c < w; ++c) x[j * w + c] = t[c];
      for (int k = start[j]; k < start[j + 1]; ++k) {
        T* y = x + row[k] * w;
        const T l = value[k];
        for (int c = 0; c < w; ++c) y[c] -= l * t[c];
      }
    }
    for (int j = n - 1; j >= 0; --j) {
      T t[w];
      for (int c = 0; c < w; ++c) t[c] = x[j * w + c];
      for (int k = start[j]; k < start[j + 1]; ++k) {
        const T* y = x + row[k] * w;
        const T l = value[k];
        for (int c = 0; c < w; ++c) t[c] -= l * y[c];
      }
      for (int c = 0; c < w; ++c) x[j * w + c] = t[c] * inverse_diagonal[j];
    }
  }
};

}  // namespace

std::vector<int> elimination_order(const SymmetricMatrix& pattern) {
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> inverse;
  const EigenSparse lower = view(pattern);
  EigenSparse full = lower.selfadjointView<Eigen::Lower>();
  Eigen::AMDOrdering<int>()(full, inverse);
  std::vector<int> order(pattern.size);
  for (int k = 0; k < pattern.size; ++k) order[k] = inverse.indices()[k];
  return order;
}

struct Cholesky::Impl {
  Eigen::SimplicialLLT<EigenSparse, Eigen::Lower, Eigen::NaturalOrdering<int>> eigen;
  const SymmetricMatrix* analyzed = nullptr;
  size_t analyzed_nonzeros = 0;
  bool natural = true;
  Precision precision = Precision::float64;
  std::vector<int> order;     // elimination position -> row; empty when natural
  std::vector<int> position;  // row -> elimination position
  EigenSparse permuted;
  Factor<double> factor64;
  Factor<float> factor32;
  int size = 0;
  mutable std::vector<double> work64;
  mutable std::vector<float> work32;

  template <int Blocks, class T>
  void solve(const Factor<T>& factor, std::vector<T>& work, const std::array<const Vec4*, Blocks>& b,
             const std::array<Vec4*, Blocks>& x) const {
    constexpr int w = 4 * Blocks;
    for (int k = 0; k < size; ++k) {
      const int r = natural ? k : order[k];
      for (int block = 0; block < Blocks; ++block) {
        const Vec4& v = b[block][r];
        T* t = &work[size_t(k) * w + 4 * block];
        t[0] = T(v.x), t[1] = T(v.y), t[2] = T(v.z), t[3] = 0;
      }
    }
    factor.template solve<Blocks>(work.data());
    for (int k = 0; k < size; ++k) {
      const int r = natural ? k : order[k];
      for (int block = 0; block < Blocks; ++block) {
        const T* t = &work[size_t(k) * w + 4 * block];
        x[block][r] = {double(t[0]), double(t[1]), double(t[2])};
      }
    }
  }
};

Cholesky::Cholesky() : impl_(std::make_unique<Impl>()) {}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;
int Cholesky::size() const { return impl_->size; }

long Cholesky::nonzeros() const {
  const Impl& s = *impl_;
  return s.size + long(s.precision == Precision::float64 ? s.factor64.row.size() : s.factor32.row.size());
}

bool Cholesky::factorize(const SymmetricMatrix& matrix, bool natural, Precision precision) {
  Impl& s = *impl_;
  const bool new_pattern = s.analyzed != &matrix || s.analyzed_nonzeros != matrix.row.size() || s.natural != natural;
  if (new_pattern) {
    s.size = matrix.size;
    s.natural = natural;
    s.order.clear();
    if (!natural) s.order = elimination_order(matrix);
  }
  s.precision = precision;
  s.work64.resize(precision == Precision::float64 ? size_t(8) * s.size : 0);
  s.work32.resize(precision == Precision::float32 ? size_t(8) * s.size : 0);
  if (natural) {
    const auto a = view(matrix);
    if (new_pattern) s.eigen.analyzePattern(a);
    s.eigen.factorize(a);
  } else {
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> p(s.size);
    for (int k = 0; k < s.size; ++k) p.indices()[s.order[k]] = k;
    s.permuted.resize(s.size, s.size);
    s.permuted.selfadjointView<Eigen::Lower>() = EigenSparse(view(matrix)).selfadjointView<Eigen::Lower>().twistedBy(p);
    if (new_pattern) s.eigen.analyzePattern(s.permuted);
    s.eigen.factorize(s.permuted);
  }
  s.analyzed = &matrix;
  s.analyzed_nonzeros = matrix.row.size();
  if (s.eigen.info() != Eigen::Success) return false;
  const auto& l = s.eigen.matrixL().nestedExpression();
  if (precision == Precision::float64) {
    s.factor64.set(l);
  } else {
    s.factor32.set(l);
  }
  return true;
}

void Cholesky::solve(const Vec4* b, Vec4* x) const {
  const Impl& s = *impl_;
  if (s.precision == Precision::float64) {
    s.solve<1>(s.factor64, s.work64, {b}, {x});
  } else {
    s.solve<1>(s.factor32, s.work32, {b}, {x});
  }
}

void Cholesky::solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const {
  const Impl& s = *impl_;
  if (s.precision == Precision::float64) {
    s.solve<2>(s.factor64, s.work64, {b0, b1}, {x0, x1});
  } else {
    s.solve<2>(s.factor32, s.work32, {b0, b1}, {x0, x1});
  }
}

}  // namespace verve
