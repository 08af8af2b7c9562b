// Ordered parallel loops: work is cut into chunks of a fixed size, whatever the number of threads, and partial sums
// are added in the order of the chunks. So one thread or sixteen give the same bits.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace verve {

/// Calls task(0) to task(count - 1) and returns when all have returned.
using Tasks = std::function<void(int count, const std::function<void(int)>& task)>;
/// How many threads the loops of the calling thread use from now on; 0 = all of the machine. `tasks`: those of someone
/// else, who outlives this setting; null or empty: our own.
void set_threads(int threads, const Tasks* tasks = nullptr);
int threads();
int hardware_threads();

namespace detail {
using ChunkFunction = void (*)(void* context, int chunk);
/// Calls function(context, chunk) once for every chunk. Runs on the caller alone when fewer than `fewest` chunks are to
/// be done, or inside another parallel loop. What the function throws is thrown again when all chunks have ended or been
/// left out.
void run_chunks(int chunks, int fewest, ChunkFunction function, void* context);

// Chunks of a loop are small; waking threads costs about what eight of them take.
constexpr int fewest_chunks_of_loop = 8;
}  // namespace detail

/// function(begin, end, chunk) over [0, n) in chunks of `grain`.
template <class F>
void parallel_for(int n, int grain, F&& function) {
  const int chunks = (n + grain - 1) / grain;
  struct Context {
    std::remove_reference_t<F>* function;
    int n, grain;
  } context{&function, n, grain};
  detail::run_chunks(
      chunks, detail::fewest_chunks_of_loop,
      [](void* raw, int chunk) {
        const Context& c = *static_cast<Context*>(raw);
        const int begin = chunk * c.grain;
        const int end = begin + c.grain < c.n ? begin + c.grain : c.n;
        (*c.function)(begin, end, chunk);
      },
      &context);
}

/// function(task) for each of `count` tasks large enough to be worth a thread each (some microseconds).
template <class F>
void parallel_tasks(int count, F&& function) {
  detail::run_chunks(
      count, 2, [](void* raw, int task) { (*static_cast<std::remove_reference_t<F>*>(raw))(task); }, &function);
}

inline int chunk_count(int n, int grain) { return (n + grain - 1) / grain; }

/// Sum of function(begin, end) -> T over the chunks, added in order. `partial` is kept by the caller so that nothing
/// is allocated after the first call.
template <class T, class F>
T ordered_sum(int n, int grain, std::vector<T>& partial, F&& function) {
  partial.resize(chunk_count(n, grain));
  parallel_for(n, grain, [&](int begin, int end, int chunk) { partial[chunk] = function(begin, end); });
  T sum{};
  for (const T& p : partial) sum += p;
  return sum;
}

}  // namespace verve
