// The processes of a distributed run (docs/distributed.md). Each has rows of its own; what is summed over rows is
// summed over all of them. A program that is one process has none of this, and its sums stay as they are.
#pragma once

#include <type_traits>
#include <vector>

namespace verve {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Adds up over all ranks, in an order that depends on their number alone. The same bits come to all. All have to
  /// call it, in the same order.
  virtual void sum(double* values, int count) const = 0;
};

/// Null: one process alone.
const Ranks* ranks();
/// `all` outlives every use of it.
void set_ranks(const Ranks* all);

/// Of a value that is made of doubles alone.
template <class T>
T sum_over_ranks(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(double) == 0 && alignof(T) >= alignof(double));
  if (const Ranks* all = ranks()) all->sum(reinterpret_cast<double*>(&value), int(sizeof(T) / sizeof(double)));
  return value;
}

/// What each rank has, in their order.
template <class T>
std::vector<T> gather_ranks(const T& own) {
  const Ranks* const all = ranks();
  std::vector<T> values(all ? all->size() : 1, T{});
  values[all ? all->rank() : 0] = own;
  if (all) all->sum(reinterpret_cast<double*>(values.data()), int(values.size() * sizeof(T) / sizeof(double)));
  return values;
}

/// Whether the distance here is the least of all ranks, of equal ones the first. Below 0: none.
inline bool nearest_rank(double distance) {
  const std::vector<double> all = gather_ranks(distance);
  int best = -1;
  for (int r = 0; r < int(all.size()); ++r)
    if (all[r] >= 0 && (best < 0 || all[r] < all[best])) best = r;
  return best == (ranks() ? ranks()->rank() : 0);
}

inline bool is_first_rank() { return !ranks() || ranks()->rank() == 0; }

/// In a sum over ranks, what is none of rows.
template <class T>
T once(const T& value) {
  return is_first_rank() ? value : T{};
}

/// What the one rank has that has it.
template <class T>
T of_rank(bool here, const T& value) {
  return sum_over_ranks(here ? value : T{});
}

/// Some rank says so.
inline bool any_rank(bool own) { return ranks() ? sum_over_ranks(own ? 1.0 : 0.0) > 0 : own; }

}  // namespace verve
