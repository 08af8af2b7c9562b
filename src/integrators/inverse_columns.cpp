#include "integrators/inverse_columns.h"

#include "linear/global_solver.h"

namespace verve {

namespace {

/// Numbers kept of one factor: contact that wanders over a large body would fill the memory otherwise.
constexpr size_t most_kept = size_t(16) << 20;

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
  int waiting[3], count = 0;
  const auto run = [&] {
    if (count == 0) return;
    b_.assign(rows_, Vec4()), x_.resize(rows_);
    for (int k = 0; k < count; ++k) (k == 0 ? b_[waiting[k]].x : k == 1 ? b_[waiting[k]].y : b_[waiting[k]].z) = 1;
    solver_->solve(b_.data(), x_.data());
    for (int k = 0; k < count; ++k) {
      place_[waiting[k]] = int(columns_.size());
      std::vector<float>& column = columns_.emplace_back(rows_);
      for (int i = 0; i < rows_; ++i) column[i] = float(k == 0 ? x_[i].x : k == 1 ? x_[i].y : x_[i].z);
    }
    count = 0;
  };
  for (const int row : wanted) {
    if (place_[row] != -1) continue;
    place_[row] = -2;
    waiting[count++] = row;
    if (count == 3) run();
  }
  run();
}

}  // namespace verve
