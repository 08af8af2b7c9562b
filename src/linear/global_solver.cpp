#include "linear/global_solver.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

/// Up to this size no factor comes near any limit (3 M entries for a solid): not worth a count.
constexpr int surely_direct = 20000;

std::string short_number(double v) {
  const char* unit = "";
  if (v >= 1e9) {
    v /= 1e9, unit = " G";
  } else if (v >= 1e6) {
    v /= 1e6, unit = " M";
  } else if (v >= 1e3) {
    v /= 1e3, unit = " k";
  }
  const double digits = v < 10 && *unit ? 10 : 1;
  const long tenths = std::lround(v * digits);
  std::string text = std::to_string(digits == 10 ? tenths / 10 : tenths);
  if (digits == 10 && tenths % 10) text += "." + std::to_string(tenths % 10);
  return text + unit;
}

}  // namespace

long factor_nonzeros(const SymmetricMatrix& pattern, std::span<const int> order, long limit) {
  const int n = pattern.size;
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k) position[order.empty() ? k : order[k]] = k;
  // for each row its earlier neighbours
  std::vector<int> start(n + 1, 0), earlier(pattern.row.size());
  const auto for_pairs = [&](auto&& function) {
    for (int c = 0; c < n; ++c) {
      for (int k = pattern.start[c]; k < pattern.start[c + 1]; ++k) {
        const int i = position[c], j = position[pattern.row[k]];
        if (i != j) function(std::max(i, j), std::min(i, j));
      }
    }
  };
  for_pairs([&](int later, int) { ++start[later + 1]; });
  for (int k = 0; k < n; ++k) start[k + 1] += start[k];
  std::vector<int> next(start.begin(), start.end() - 1);
  for_pairs([&](int later, int first) { earlier[next[later]++] = first; });

  // a row of the factor is the part of the elimination tree between its entries and itself (Liu 1990)
  std::vector<int> parent(n, -1), seen(n, -1);
  long count = n;
  for (int k = 0; k < n && count <= limit; ++k) {
    seen[k] = k;
    for (int e = start[k]; e < start[k + 1]; ++e) {
      for (int i = earlier[e]; seen[i] != k; i = parent[i]) {
        if (parent[i] < 0) parent[i] = k;
        seen[i] = k;
        ++count;
      }
    }
  }
  return count;
}

GlobalSolver::Kind GlobalSolver::choose(const SymmetricMatrix& matrix, bool natural) {
  reason_.clear();
  if (wanted != Kind::automatic) {
    reason_ = "asked for";
    return wanted;
  }
  if (matrix.size <= surely_direct) return Kind::direct;
  const std::vector<int> order = natural ? std::vector<int>() : elimination_order(matrix);
  const long nonzeros = factor_nonzeros(matrix, order, factor_limit);
  if (nonzeros <= factor_limit) return Kind::direct;
  reason_ = "a factor would have more than " + short_number(double(factor_limit)) + " nonzeros";
  return Kind::multigrid;
}

bool GlobalSolver::factorize(const SymmetricMatrix& matrix, bool natural, Precision precision) {
  const Question question{wanted, factor_limit, matrix.size, matrix.row.size(), natural};
  if (question != answered_) {
    answered_ = question;
    kind_ = choose(matrix, natural);
    if (kind_ == Kind::direct) {
      multigrid_ = {};
    } else {
      direct_ = {};
    }
  }
  size_ = matrix.size, precision_ = precision;
  extra_work_ = 0;
  last_ = {0, 0, true};
  bool done;
  double accuracy;
  if (kind_ == Kind::direct) {
    done = direct_.factorize(matrix, natural, precision, storage);
    // round-off times a condition number of some hundreds
    accuracy = precision == Precision::float64 ? 1e-13 : direct_.storage() == Cholesky::Storage::half ? 1e-3 : 1e-6;
  } else {
    done = multigrid_.set_up(matrix);
    accuracy = multigrid_.tolerance = precision == Precision::float32 ? 1e-6 : 1e-10;
  }
  changes_.reset(size_, precision, accuracy);
  return done;
}

bool GlobalSolver::factorize(const SymmetricMatrix& part, const SharedRows& rows) {
  kind_ = Kind::shared, size_ = rows.owned(), precision_ = Precision::float64;
  extra_work_ = 0;
  changes_.reset(size_, precision_, 0);
  if (!shared_) shared_ = rows.make_solver();
  return shared_->set_up(part);
}

void GlobalSolver::base_solve(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const {
  if (kind_ == Kind::shared) {
    shared_->solve(b0, x0);
    if (b1) shared_->solve(b1, x1);
    return;
  }
  if (kind_ == Kind::direct) {
    if (b1) {
      direct_.solve2(b0, x0, b1, x1);
    } else {
      direct_.solve(b0, x0);
    }
    return;
  }
  last_ = multigrid_.solve(b0, x0);
  if (!b1) return;
  const Multigrid::Outcome second = multigrid_.solve(b1, x1);
  last_ = {last_.iterations + second.iterations, std::max(last_.error, second.error),
           last_.converged && second.converged};
}

void GlobalSolver::solve(const Vec4* b, Vec4* x) const {
  base_solve(b, x, nullptr, nullptr);
  changes_.correct(x);
  extra_work_ += double(rank()) * size_;
}

void GlobalSolver::solve2(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const {
  base_solve(b0, x0, b1, x1);
  changes_.correct(x0);
  changes_.correct(x1);
  extra_work_ += 2.0 * rank() * size_;
}

void GlobalSolver::solve_once(const Vec4* b0, Vec4* x0, const Vec4* b1, Vec4* x1) const {
  base_solve(b0, x0, b1, x1);
  changes_.correct(x0);
  if (x1) changes_.correct(x1);
}

LowRankUpdate::Status GlobalSolver::set_changes(std::span<const LowRankTerm> terms) {
  extra_work_ = 0;
  return changes_.set(terms, [this](Vec4* x0, Vec4* x1) { base_solve(x0, x0, x1, x1); });
}

bool GlobalSolver::refactoring_pays() const {
  if (rank() == 0) return false;
  // setting up multigrid costs about two solves: no more than the columns did
  if (kind_ == Kind::multigrid) return true;
  // the estimate of the work of a factorisation in which one unit takes as long as one row of one column: measured at
  // 2 k and 22 k rows, float and double, within a factor of 1.3
  const double nonzeros = double(direct_.nonzeros());
  return extra_work_ > nonzeros * nonzeros / size_;
}

long GlobalSolver::nonzeros() const {
  if (kind_ == Kind::shared) return shared_->nonzeros();
  return kind_ == Kind::direct ? direct_.nonzeros() : multigrid_.nonzeros();
}

size_t GlobalSolver::bytes() const {
  return (kind_ == Kind::direct ? direct_.memory() : multigrid_.bytes()) + changes_.bytes();
}

std::string GlobalSolver::description() const {
  if (kind_ == Kind::shared) return shared_->description();
  std::string text = kind_ == Kind::direct ? "direct" : "multigrid-PCG";
  text += ", " + std::to_string(size_) + " rows, ";
  if (kind_ == Kind::multigrid) text += std::to_string(multigrid_.levels()) + " levels, ";
  text += short_number(double(nonzeros())) + " nonzeros, ";
  text += precision_ == Precision::float64 ? "double" : "float";
  if (kind_ == Kind::direct && direct_.storage() == Cholesky::Storage::half) text += " in half precision";
  if (!reason_.empty()) text += " (" + reason_ + ")";
  return text;
}

}  // namespace verve
