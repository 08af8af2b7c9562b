#include "linear/block_cholesky.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linear/block_fronts.h"
#include "linear/block_kernels.h"
#include "linear/cholesky.h"

namespace verve {

namespace {

/// Squares of errors in the norm of A, over that of the solution. `enough` where the whole resists a shift as much as
/// its vertices do one by one. A stiff body that moves as a whole has little of that norm, but that motion is to have
/// its digits too: the bound falls as the resistance of the whole does, down to `least`, which double can just give.
constexpr double enough = 1e-16, least = 1e-24;
/// Of the least pivot. What conjugate gradients measure is the error in the norm of the factor, and that is one in the
/// norm of A only as far as the factor knows its soft motions: those with pivots from `clear` on it knows to four
/// digits, those below `faint` to none. In between `least` is asked for, and without a guess of what a step will leave.
constexpr float clear = 5e-3f, faint = 1e-6f;
/// A factor that is any good needs two or three, a stiff body ten.
constexpr int most_steps = 16;
/// Solves in double after one where float did not suffice.
constexpr int patience = 16;

double trace(const Mat3& m) { return m(0, 0) + m(1, 1) + m(2, 2); }

double dot(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += verve::dot(a[i].xyz(), b[i].xyz());
  return sum;
}

}  // namespace

struct BlockCholesky::Impl {
  // the pattern that was analysed
  std::vector<int> start, row;
  bool natural = true;

  BlockFronts fronts;
  std::vector<Vec4> r, z, p, Ap;
  Mat3 net, own;  // sums of all blocks, what resists a shift of the whole, and of those of the diagonal
  // where float does not suffice; not there before it is needed
  SymmetricMatrix wide;
  Cholesky factor;
  std::vector<Vec4> wide_b, wide_x;
  int steps = 0;
  bool fell_back = false;
  int in_double = 0;  // solves to come for which float is not tried

  void analyze(const BlockMatrix& m, bool in_order) {
    if (natural == in_order && start == m.start && row == m.row) return;
    natural = in_order, start = m.start, row = m.row, in_double = 0;
    const SymmetricMatrix pattern = m.pattern();
    std::vector<int> order(m.size);
    std::iota(order.begin(), order.end(), 0);
    if (!natural) order = elimination_order(pattern);
    fronts.analyze(pattern, order);
    for (std::vector<Vec4>* v : {&r, &z, &p, &Ap}) v->assign(m.size, Vec4());
  }

  /// Conjugate gradients (Hestenes and Stiefel 1952) with the factor for a metric. False: it is none, or a poor one.
  bool refine(const BlockMatrix& m, const Vec4* b, Vec4* x) {
    const BlockKernels& kernels = block_kernels();
    for (int i = 0; i < m.size; ++i) r[i] = Vec4(b[i].xyz()), x[i] = Vec4();
    find_net(m);
    const bool guess = fronts.least_pivot() >= clear;
    const double wanted = guess ? std::max(least, enough * std::min(1.0, trace(net) / trace(own))) : least;
    double first = 0, last = 0;
    while (steps < most_steps) {
      fronts.solve(r.data(), z.data());
      ++steps;
      const double rz = dot(r, z);
      if (!(rz >= 0) || !std::isfinite(rz)) return false;
      if (steps == 1) first = rz;
      // the guess: a step leaves as large a part of the error as the one before
      const bool is_last = steps > 1 && (guess ? rz * rz <= wanted * first * last : rz <= wanted * first);
      if (is_last || rz == 0) {
        for (int i = 0; i < m.size; ++i) x[i] += z[i];
        shift(m, b, x);
        return true;
      }
      const double beta = steps == 1 ? 0 : rz / last;
      for (int i = 0; i < m.size; ++i) p[i] = z[i] + p[i] * beta;
      kernels.multiply(m, p.data(), Ap.data());
      const double curvature = dot(p, Ap);
      if (!(curvature > 0)) return false;
      const double alpha = rz / curvature;
      for (int i = 0; i < m.size; ++i) x[i] += p[i] * alpha, r[i] -= Vec4(Ap[i].xyz()) * alpha;
      last = rz;
    }
    return false;
  }

  void find_net(const BlockMatrix& m) {
    Mat3 all{};
    own = {};
    for (int c = 0; c < m.size; ++c) {
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
        const double* block = m.value.data() + 9 * size_t(k);
        for (int i = 0; i < 9; ++i) all.col[i / 3][i % 3] += block[i];
        if (k > m.start[c]) continue;
        for (int i = 0; i < 9; ++i) own.col[i / 3][i % 3] += block[i];
      }
    }
    net = all + transpose(all) - own;
  }

  /// The shift of all vertices that leaves no net residual: an error there is hardly seen in the norm of A, but it
  /// would change the momentum of a body that nothing holds.
  void shift(const BlockMatrix& m, const Vec4* b, Vec4* x) {
    block_kernels().multiply(m, x, Ap.data());
    Vec3 left{};
    for (int i = 0; i < m.size; ++i) left += b[i].xyz() - Ap[i].xyz();
    const Vec3 by = inverse(net) * left;
    if (!std::isfinite(by.x + by.y + by.z)) return;
    for (int i = 0; i < m.size; ++i) x[i] += Vec4(by);
  }

  bool solve_wide(const BlockMatrix& m, const Vec4* b, Vec4* x) {
    fell_back = true;
    expand(m, wide);
    wide_b.resize(wide.size), wide_x.resize(wide.size);
    if (!factor.factorize(wide, natural, Precision::float64)) return false;
    for (int i = 0; i < m.size; ++i)
      for (int a = 0; a < 3; ++a) wide_b[3 * size_t(i) + a].x = b[i].xyz()[a];
    factor.solve(wide_b.data(), wide_x.data());
    for (int i = 0; i < m.size; ++i)
      x[i] = Vec4(wide_x[3 * size_t(i)].x, wide_x[3 * size_t(i) + 1].x, wide_x[3 * size_t(i) + 2].x);
    return true;
  }
};

BlockCholesky::BlockCholesky() : impl_(std::make_unique<Impl>()) {}
BlockCholesky::~BlockCholesky() = default;
BlockCholesky::BlockCholesky(BlockCholesky&&) noexcept = default;
BlockCholesky& BlockCholesky::operator=(BlockCholesky&&) noexcept = default;

int BlockCholesky::steps() const { return impl_->steps; }
bool BlockCholesky::fell_back() const { return impl_->fell_back; }
size_t BlockCholesky::memory() const {
  const Impl& s = *impl_;
  size_t bytes = s.fronts.memory() + (s.r.size() + s.z.size() + s.p.size() + s.Ap.size()) * sizeof(Vec4);
  if (s.wide.size == 0) return bytes;
  bytes += s.factor.memory() + (s.wide_b.size() + s.wide_x.size()) * sizeof(Vec4);
  return bytes + (s.wide.start.size() + s.wide.row.size()) * sizeof(int) + s.wide.value.size() * sizeof(double);
}

void BlockCholesky::forget() { impl_->in_double = 0; }

bool BlockCholesky::solve(const BlockMatrix& matrix, bool natural, const Vec4* b, Vec4* x) {
  Impl& s = *impl_;
  s.analyze(matrix, natural);
  s.steps = 0, s.fell_back = false;
  if (s.in_double > 0) {
    --s.in_double;
    return s.solve_wide(matrix, b, x);
  }
  const Definite definite = s.fronts.factorize(matrix);
  if (definite == Definite::no) return false;
  if (definite == Definite::yes && s.fronts.least_pivot() >= faint && s.refine(matrix, b, x)) return true;
  if (!s.solve_wide(matrix, b, x)) return false;
  s.in_double = patience;
  return true;
}

}  // namespace verve
