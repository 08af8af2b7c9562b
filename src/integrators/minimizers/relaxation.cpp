// Jacobi and Gauss-Seidel iterations in the place of the global solve (Wang 2015 does the former on a GPU): x -= B^-1
// grad g with a B that is cheap to invert.
#include <cmath>

#include "integrators/island.h"
#include "integrators/minimizers/step_matrix.h"

namespace verve {

namespace {

/// B = diag(sum_j |A_ij|) >= A by Gershgorin's theorem. The diagonal of A alone, as in the papers, diverges from about
/// four tetrahedra to an edge on.
class Jacobi final : public Minimizer {
 public:
  Jacobi(const SolverSpec&, int rows) : inverse_(rows) {}
  bool needs_factor() const override { return false; }
  bool begin(Island& island) override {
    if (!matrix_.refresh(island, false)) return true;
    const SymmetricMatrix& m = matrix_.matrix();
    inverse_.assign(m.size, 0.0);
    for (int c = 0; c < m.size; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
        inverse_[c] += std::abs(m.value[k]);
        if (m.row[k] != c) inverse_[m.row[k]] += std::abs(m.value[k]);
      }
    for (double& d : inverse_) d = 1 / d;
    return true;
  }
  double descend(Island& island, const std::vector<Vec4>&, const std::vector<Vec4>& gg,
                 std::vector<Vec4>& dx) override {
    for (size_t i = 0; i < gg.size(); ++i) dx[i] = gg[i] * inverse_[i];
    keep_center(island, dx);
    return dot(gg, dx);
  }

 private:
  StepMatrix matrix_;
  std::vector<double> inverse_;
};

/// Once through all rows and back: B = (D + L) D^-1 (D + L^T) = A + L D^-1 L^T >= A.
class GaussSeidel final : public Minimizer {
 public:
  GaussSeidel(const SolverSpec&, int) {}
  bool needs_factor() const override { return false; }
  bool begin(Island& island) override {
    matrix_.refresh(island, false);
    return true;
  }
  double descend(Island& island, const std::vector<Vec4>&, const std::vector<Vec4>& gg,
                 std::vector<Vec4>& dx) override {
    const SymmetricMatrix& m = matrix_.matrix();
    dx = gg;
    for (int c = 0; c < m.size; ++c) {  // (D + L) y = gg, by columns
      const Vec4 value = dx[c] * (1 / m.value[m.start[c]]);
      dx[c] = value;
      for (int k = m.start[c] + 1; k < m.start[c + 1]; ++k) dx[m.row[k]] -= value * m.value[k];
    }
    for (int c = m.size - 1; c >= 0; --c) {  // (D + L^T) dx = D y
      Vec4 sum;
      for (int k = m.start[c] + 1; k < m.start[c + 1]; ++k) sum += dx[m.row[k]] * m.value[k];
      dx[c] -= sum * (1 / m.value[m.start[c]]);
    }
    keep_center(island, dx);
    return dot(gg, dx);
  }

 private:
  StepMatrix matrix_;
};

}  // namespace

/// As A e = M e / hh^2 for a translation e, this is the projection in the norm of A and only shortens the step.
void keep_center(const Island& island, std::vector<Vec4>& dx) {
  if (island.anchored()) return;
  const std::vector<double>& mass = island.forcing.mass;
  Vec4 shift;
  for (size_t i = 0; i < dx.size(); ++i) shift += dx[i] * mass[i];
  shift = shift * (1 / island.total_mass());
  for (size_t i = 0; i < dx.size(); ++i)
    if (mass[i] > 0) dx[i] -= shift;
}

std::unique_ptr<Minimizer> make_jacobi(const SolverSpec& spec, int rows) {
  return std::make_unique<Jacobi>(spec, rows);
}
std::unique_ptr<Minimizer> make_gauss_seidel(const SolverSpec& spec, int rows) {
  return std::make_unique<GaussSeidel>(spec, rows);
}

}  // namespace verve
