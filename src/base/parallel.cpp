#include "base/parallel.h"

#include <algorithm>

// WebAssembly without shared memory has no threads; any build may go without by defining VERVE_NO_THREADS.
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__) && !defined(VERVE_NO_THREADS)
#define VERVE_NO_THREADS
#endif

#ifndef VERVE_NO_THREADS
#include <array>
#include <atomic>
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

void run_serially(int begin, int end, detail::ChunkFunction function, void* context) {
  for (int chunk = begin; chunk < end; ++chunk) function(context, chunk);
}

#ifndef VERVE_NO_THREADS

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

/// Persistent workers. The chunks of a job are dealt out in one contiguous block per thread, so that a thread meets the
/// same data in job after job. A block whose worker has not come by the time another thread is idle is taken over: no
/// one waits for a thread to be woken or scheduled. Which thread runs a chunk has no influence on any result.
class Pool {
 public:
  /// Never destroyed: workers may be asleep in it while the process ends.
  static Pool& instance() {
    static Pool& pool = *new Pool;
    return pool;
  }

  void run(int chunks, int threads, detail::ChunkFunction function, void* context) {
    // A loop inside a loop, or the loop of another thread: the workers are taken.
    if (busy_.exchange(true, std::memory_order_acquire)) return run_serially(0, chunks, function, context);
    const int blocks = 1 + start_workers(std::min({threads, chunks, most_blocks}) - 1);
    chunks_ = chunks, blocks_ = blocks, function_ = function, context_ = context;
    may_spin_.store(blocks <= hardware_threads(), std::memory_order_relaxed);
    remaining_.store(blocks, std::memory_order_relaxed);
    job_ += 2;
    for (int block = 1; block < blocks; ++block) {
      std::atomic<std::uint32_t>& state = blocks_state_[block].state;
      state.store(job_, std::memory_order_release);
      state.notify_one();
    }
    run_block(0);
    take_over(job_, blocks);
    const auto done = [&] { return remaining_.load(std::memory_order_acquire) == 0; };
    if (!may_spin_.load(std::memory_order_relaxed) || !spin_until(done)) {
      for (int left; (left = remaining_.load(std::memory_order_acquire)) != 0;) remaining_.wait(left);
    }
    busy_.store(false, std::memory_order_release);
  }

 private:
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
          state.wait(seen);
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
    const auto first = [&](int b) { return int(std::int64_t(chunks_) * b / blocks_); };
    run_serially(first(block), first(block + 1), function_, context_);
    if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) remaining_.notify_one();
  }

  std::atomic<bool> busy_{false}, may_spin_{true};
  int workers_ = 0;
  std::uint32_t job_ = 0;
  int chunks_ = 0, blocks_ = 0;
  detail::ChunkFunction function_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<int> remaining_{0};
  std::array<BlockState, most_blocks> blocks_state_;
};

#endif

}  // namespace

void set_threads(int threads) { thread_count = threads > 0 ? threads : hardware_threads(); }
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
  if (thread_count > 1 && chunks >= fewest) return Pool::instance().run(chunks, thread_count, function, context);
#endif
  run_serially(0, chunks, function, context);
}

}  // namespace verve
