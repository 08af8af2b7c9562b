// Independent tasks by several threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace verve::figures {

/// Calls `task` with 0 … count - 1, in this order, `workers` at a time. What one throws ends the others after their
/// present task and is thrown again here.
template <class Task>
void for_each_task(size_t count, int workers, const Task& task) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto work = [&] {
    try {
      for (size_t i; (i = next++) < count;) task(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!trouble) trouble = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace verve::figures
