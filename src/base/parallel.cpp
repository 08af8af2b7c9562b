#include "base/parallel.h"

#include <algorithm>
#include <cstdint>
#include <exception>

// WebAssembly that is compiled without atomics has no threads; any build may go without by defining VERVE_NO_THREADS.
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__) && !defined(VERVE_NO_THREADS)
#define VERVE_NO_THREADS
#endif

#ifndef VERVE_NO_THREADS
#include <array>
#include <atomic>
#include <utility>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif
#endif

namespace verve {

namespace {

thread_local int thread_count = 1;
thread_local const Tasks* others_tasks = nullptr;

void run_serially(int begin, int end, detail::ChunkFunction function, void* context) {
  for (int chunk = begin; chunk < end; ++chunk) function(context, chunk);
}

#ifndef VERVE_NO_THREADS

thread_local bool in_chunk = false;  // of a loop that runs on several threads

/// Where a block begins, of so many.
int first_chunk(int chunks, int blocks, int block) { return int(std::int64_t(chunks) * block / blocks); }

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits for `done` in a busy loop of at most some tens of microseconds: the loops of a step follow each other closer
/// than that, and being woken by the system takes as long. Longer spinning would take the core from someone else.
template <class Done>
bool spin_until(Done done) {
  using Clock = std::chrono::steady_clock;
  constexpr auto longest = std::chrono::microseconds(40);
  const auto start = Clock::now();
  do {
    for (int k = 0; k < 32; ++k) {
      if (done()) return true;
      pause_briefly();
    }
  } while (Clock::now() - start < longest);
  return done();
}

/// Sleeps until `place` is not `value`, and wakes one that sleeps there.
#ifdef __EMSCRIPTEN__
// the library of Emscripten 3.1 would look again every few milliseconds
template <class T>
void sleep_while(std::atomic<T>& place, T value) {
  static_assert(sizeof(std::atomic<T>) == 4);
  while (place.load(std::memory_order_acquire) == value)
    __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&place), int(value), -1);
}
template <class T>
void wake_one(std::atomic<T>& place) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&place), 1);
}
#else
template <class T>
void sleep_while(std::atomic<T>& place, T value) {
  place.wait(value);
}
template <class T>
void wake_one(std::atomic<T>& place) {
  place.notify_one();
}
#endif

/// Loops at the same time; further ones run on the thread that asks.
constexpr int most_pools = 16;

/// Persistent workers. The chunks of a job are dealt out in one contiguous block per thread, so that a thread meets the
/// same data in job after job. A block whose worker has not come by the time another thread is idle is taken over: no
/// one waits for a thread to be woken or scheduled. Which thread runs a chunk has no influence on any result.
/// Threads that run loops at the same time have a pool each.
class Pool {
 public:
  static void run_on_one(int chunks, int threads, detail::ChunkFunction function, void* context) {
    for (int k = 0; k < most_pools; ++k) {
      Pool& pool = instance(k);
      if (!pool.busy_.exchange(true, std::memory_order_acquire)) return pool.run(chunks, threads, function, context);
    }
    run_serially(0, chunks, function, context);
  }

 private:
  /// Never destroyed: workers may be asleep in it while the process ends.
  static Pool& instance(int k) {
    static std::array<Pool, most_pools>& pools = *new std::array<Pool, most_pools>;
    return pools[k];
  }

  void run(int chunks, int threads, detail::ChunkFunction function, void* context) {
    const int blocks = 1 + start_workers(std::min({threads, chunks, most_blocks}) - 1);
    chunks_ = chunks, blocks_ = blocks, function_ = function, context_ = context;
    may_spin_.store(blocks <= hardware_threads(), std::memory_order_relaxed);
    remaining_.store(blocks, std::memory_order_relaxed);
    job_ += 2;
    for (int block = 1; block < blocks; ++block) {
      std::atomic<std::uint32_t>& state = blocks_state_[block].state;
      state.store(job_, std::memory_order_release);
      wake_one(state);
    }
    run_block(0);
    take_over(job_, blocks);
    const auto done = [&] { return remaining_.load(std::memory_order_acquire) == 0; };
    if (!may_spin_.load(std::memory_order_relaxed) || !spin_until(done)) {
      for (int left; (left = remaining_.load(std::memory_order_acquire)) != 0;) sleep_while(remaining_, left);
    }
    const std::exception_ptr thrown = std::exchange(thrown_, nullptr);
    has_thrown_.store(false, std::memory_order_relaxed);
    busy_.store(false, std::memory_order_release);
    if (thrown) std::rethrow_exception(thrown);
  }

  static constexpr int most_blocks = 256;

  // Even: the number of a job, this block of which nobody has begun. Odd: begun.
  struct alignas(64) BlockState {
    std::atomic<std::uint32_t> state{1};
  };

  int start_workers(int wanted) {
    while (workers_ < wanted) {
      try {
        std::thread(&Pool::work, this, workers_ + 1).detach();
      } catch (const std::system_error&) {
        break;  // the system gives no more threads: work with those there are
      }
      ++workers_;
    }
    return std::min(wanted, workers_);
  }

  void work(int block) {
    std::atomic<std::uint32_t>& state = blocks_state_[block].state;
    while (true) {
      std::uint32_t seen = state.load(std::memory_order_acquire);
      const auto called = [&] { return (seen = state.load(std::memory_order_acquire)) % 2 == 0; };
      if (!called() && !(may_spin_.load(std::memory_order_relaxed) && spin_until(called))) {
        while (seen % 2 != 0) {
          sleep_while(state, seen);
          seen = state.load(std::memory_order_acquire);
        }
      }
      const std::uint32_t job = seen;
      if (!begin(block, job)) continue;
      const int blocks = blocks_;  // read while a block of this job is in hand, so it cannot change
      run_block(block);
      take_over(job, blocks);
    }
  }

  /// True for the one thread that is to run this block of this job; then the job cannot end before finish().
  bool begin(int block, std::uint32_t job) {
    std::uint32_t expected = job;
    std::atomic<std::uint32_t>& state = blocks_state_[block].state;
    return state.load(std::memory_order_relaxed) == job &&
           state.compare_exchange_strong(expected, job + 1, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  void take_over(std::uint32_t job, int blocks) {
    for (int block = 1; block < blocks; ++block)
      if (begin(block, job)) run_block(block);
  }

  void run_block(int block) {
    in_chunk = true;
    try {
      run_serially(first_chunk(chunks_, blocks_, block), first_chunk(chunks_, blocks_, block + 1), function_, context_);
    } catch (...) {
      if (!has_thrown_.exchange(true)) thrown_ = std::current_exception();
    }
    in_chunk = false;
    if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) wake_one(remaining_);
  }

  std::atomic<bool> busy_{false}, may_spin_{true}, has_thrown_{false};
  std::exception_ptr thrown_;
  int workers_ = 0;
  std::uint32_t job_ = 0;
  int chunks_ = 0, blocks_ = 0;
  detail::ChunkFunction function_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<int> remaining_{0};
  std::array<BlockState, most_blocks> blocks_state_;
};

/// On threads that are not ours: a task for each block of chunks.
void run_on_others(const Tasks& tasks, int chunks, int blocks, detail::ChunkFunction function, void* context) {
  std::atomic<bool> has_thrown{false};
  std::exception_ptr thrown;
  tasks(blocks, [&](int block) {
    in_chunk = true;
    try {
      run_serially(first_chunk(chunks, blocks, block), first_chunk(chunks, blocks, block + 1), function, context);
    } catch (...) {
      if (!has_thrown.exchange(true)) thrown = std::current_exception();
    }
    in_chunk = false;
  });
  if (thrown) std::rethrow_exception(thrown);
}

#endif

}  // namespace

void set_threads(int threads, const Tasks* tasks) {
  thread_count = threads > 0 ? threads : hardware_threads();
  others_tasks = tasks && *tasks ? tasks : nullptr;
}
int threads() { return thread_count; }

int hardware_threads() {
#ifdef VERVE_NO_THREADS
  return 1;
#else
  static const int count = std::max(1, int(std::thread::hardware_concurrency()));
  return count;
#endif
}

void detail::run_chunks(int chunks, [[maybe_unused]] int fewest, ChunkFunction function, void* context) {
#ifndef VERVE_NO_THREADS
  if (thread_count > 1 && chunks >= fewest && !in_chunk) {
    if (others_tasks) return run_on_others(*others_tasks, chunks, std::min(thread_count, chunks), function, context);
    return Pool::run_on_one(chunks, thread_count, function, context);
  }
#endif
  run_serially(0, chunks, function, context);
}

}  // namespace verve
