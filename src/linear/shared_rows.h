// Rows of a body that several processes share (docs/distributed.md): each owns some, and has copies of those of others
// that its elements reach, behind its own.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "linear/sparse.h"
#include "verve/vec.h"

namespace verve {

/// Of one matrix, whose rows are those of all processes.
class SharedSolver {
 public:
  virtual ~SharedSolver() = default;
  /// `part`: what the elements here add, in rows of this process, copies among them. False: it cannot be solved with.
  virtual bool set_up(const SymmetricMatrix& part) = 0;
  /// Of owned rows. x may be b.
  virtual void solve(const Vec4* b, Vec4* x) = 0;
  virtual long nonzeros() const = 0;
  virtual std::string description() const = 0;
};

class SharedRows {
 public:
  virtual ~SharedRows() = default;
  virtual int owned() const = 0;
  virtual int copies() const = 0;
  int rows() const { return owned() + copies(); }
  /// Copies become what their owners have.
  virtual void fetch(Vec4* rows) const = 0;
  /// Owners add what their copies have, those of one process after those of another.
  virtual void give_back(Vec4* rows) const = 0;
  virtual std::unique_ptr<SharedSolver> make_solver() const = 0;

  /// Owned rows with the copies behind them, in `all`.
  const Vec4* with_copies(const Vec4* owned_rows, std::vector<Vec4>& all) const {
    all.resize(rows());
    std::copy_n(owned_rows, owned(), all.begin());
    fetch(all.data());
    return all.data();
  }
};

}  // namespace verve
