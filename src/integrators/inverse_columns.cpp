#include "integrators/inverse_columns.h"

#include <cmath>

#include "linear/global_solver.h"

namespace verve {

namespace {

/// Numbers kept of one factor: contact that wanders over a large body would fill the memory otherwise.
constexpr size_t most_kept = size_t(16) << 20;

/// Of what a vertex does at itself. Steps far below the time that a wave takes across a body leave entries that fall to
/// nothing within some edges, beyond what a float has digits for: processors multiply such numbers a hundred times
/// slower than others (3.5 times as long for a whole frame of `strip`).
constexpr double negligible = 1e-14;

}  // namespace

void InverseColumns::bind(const GlobalSolver& solver, int rows, long version) {
  const bool full = columns_.size() * size_t(rows) > most_kept;
  if (version == version_ && &solver == solver_ && rows == rows_ && !full) return;
  solver_ = &solver, rows_ = rows, version_ = version;
  place_.assign(rows, -1);
  columns_.clear();
  ++generation_;
}

void InverseColumns::make(std::span<const int> wanted) {
  constexpr int together = 6;
  int waiting[together], count = 0;
  const auto number = [](Vec4& v, int k) -> double& { return k == 0 ? v.x : k == 1 ? v.y : v.z; };
  const auto run = [&] {
    if (count == 0) return;
    for (int half = 0; half < 2; ++half) b_[half].assign(rows_, Vec4()), x_[half].resize(rows_);
    for (int k = 0; k < count; ++k) number(b_[k / 3][waiting[k]], k % 3) = 1;
    const bool both = count > 3;
    solver_->solve_once(b_[0].data(), x_[0].data(), both ? b_[1].data() : nullptr, both ? x_[1].data() : nullptr);
    entries_ += double(solver_->nonzeros());
    for (int k = 0; k < count; ++k) {
      place_[waiting[k]] = int(columns_.size());
      std::vector<float>& column = columns_.emplace_back(rows_);
      const double least = negligible * std::abs(number(x_[k / 3][waiting[k]], k % 3));
      for (int i = 0; i < rows_; ++i) {
        const double value = number(x_[k / 3][i], k % 3);
        column[i] = std::abs(value) < least ? 0.f : float(value);
      }
    }
    count = 0;
  };
  for (const int row : wanted) {
    if (place_[row] != -1) continue;
    place_[row] = -2;
    waiting[count++] = row;
    if (count == together) run();
  }
  run();
}

}  // namespace verve
