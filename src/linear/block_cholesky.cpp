#include "linear/block_cholesky.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linear/block_fronts.h"
#include "linear/block_kernels.h"
#include "linear/cholesky.h"

namespace verve {

namespace {

/// Square of the error in the norm of A, over that of the solution, where a shift of the whole is resisted as much as
/// that of a vertex alone. The motions of a stiff body as a whole are little of that norm, and are to have their digits
/// as well: less by what they are of it, and no less than double can give.
constexpr double enough = 1e-16, least = 1e-24;
/// A factor that is any good needs two or three, a stiff body ten.
constexpr int most_steps = 16;
/// Of a diagonal of about 1. Round-off of the elimination in float is some 1e-7 of it for each of a few hundred
/// columns: a pivot below is no accident of it.
constexpr float clearly_negative = -1e-3f;

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

  void analyze(const BlockMatrix& m, bool in_order) {
    if (natural == in_order && start == m.start && row == m.row) return;
    natural = in_order, start = m.start, row = m.row;
    const SymmetricMatrix pattern = m.pattern();
    std::vector<int> order(m.size);
    std::iota(order.begin(), order.end(), 0);
    if (!natural) order = elimination_order(pattern);
    fronts.analyze(pattern, order);
    for (std::vector<Vec4>* v : {&r, &z, &p, &Ap}) v->assign(m.size, Vec4());
  }

  /// Conjugate gradients (Hestenes and Stiefel 1952) with the factor for a metric. False: it was none.
  bool refine(const BlockMatrix& m, const Vec4* b, Vec4* x) {
    const BlockKernels& kernels = block_kernels();
    for (int i = 0; i < m.size; ++i) r[i] = Vec4(b[i].xyz()), x[i] = Vec4();
    find_net(m);
    const double wanted = std::max(least, enough * std::min(1.0, trace(net) / trace(own)));
    double first = 0, last = 0;
    for (steps = 1; steps <= most_steps; ++steps) {
      fronts.solve(r.data(), z.data());
      const double rz = dot(r, z);
      if (!std::isfinite(rz)) return false;
      if (steps == 1) first = rz;
      // a step leaves about as much of an error as the one before
      const bool is_last = steps > 1 && rz * rz <= wanted * first * last;
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
  return impl_->fronts.memory() + (impl_->wide.size > 0 ? impl_->factor.memory() : 0);
}

bool BlockCholesky::solve(const BlockMatrix& matrix, bool natural, const Vec4* b, Vec4* x) {
  Impl& s = *impl_;
  s.analyze(matrix, natural);
  s.steps = 0, s.fell_back = false;
  if (s.fronts.factorize(matrix)) {
    if (s.refine(matrix, b, x)) return true;
  } else if (s.fronts.refused() < clearly_negative) {
    return false;
  }
  return s.solve_wide(matrix, b, x);
}

}  // namespace verve
