// Symmetric sparse matrices with a pattern that is fixed once and values that may be assembled again and again.
#pragma once

#include <vector>

namespace verve {

/// Lower triangle including the diagonal, by columns, rows ascending.
struct SymmetricMatrix {
  int size = 0;
  std::vector<int> start;  // size + 1
  std::vector<int> row;
  std::vector<double> value;
};

/// Receives the same sequence of entries each time a matrix is assembled. The first pass records where they are,
/// later passes only add values: no sorting, no allocation.
class SymmetricAssembly {
 public:
  /// First pass: begin_pattern, add..., finish_pattern. Later: begin_values, add...
  void begin_pattern(int size);
  void finish_pattern();
  void begin_values();

  void add(int i, int j, double v) {
    if (recording_) {
      entries_.push_back({i > j ? i : j, i > j ? j : i, v});
    } else {
      matrix_.value[slot_[next_++]] += v;
    }
  }
  /// After a pass: terms that come and go, outside the sequence. The diagonal has to be part of the pattern.
  void add_to_diagonal(int i, double v) { matrix_.value[matrix_.start[i]] += v; }
  const SymmetricMatrix& matrix() const { return matrix_; }

 private:
  struct Entry {
    int row, column;
    double value;
  };
  bool recording_ = false;
  std::vector<Entry> entries_;
  std::vector<int> slot_;
  size_t next_ = 0;
  SymmetricMatrix matrix_;
};

/// Order of elimination with little fill (approximate minimum degree): result[k] is the row eliminated k-th.
std::vector<int> elimination_order(const SymmetricMatrix& pattern);

}  // namespace verve
