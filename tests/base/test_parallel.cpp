#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "base/parallel.h"

using namespace verve;

namespace {

/// Terms of very different size: any change in the order of addition changes the last bits.
double term(int i) { return std::sin(i * 12.9898) * std::pow(10.0, i % 17 - 8); }

struct ThreadsBack {
  ~ThreadsBack() { set_threads(1); }
};

}  // namespace

TEST_CASE("parallel sums have the same bits on 1, 2, 3 and 16 threads") {
  const ThreadsBack back;
  for (const int n : {0, 1, 99, 100, 101, 799, 800, 100003}) {
    CAPTURE(n);
    std::vector<double> sums;
    for (const int threads_now : {1, 2, 3, 16}) {
      set_threads(threads_now);
      CHECK(threads() == threads_now);
      std::vector<double> partial;
      sums.push_back(ordered_sum<double>(n, 100, partial, [](int begin, int end) {
        double s = 0;
        for (int i = begin; i < end; ++i) s += term(i);
        return s;
      }));
    }
    for (const double s : sums) CHECK(s == sums[0]);
    double plain = 0, size = 0;
    for (int i = 0; i < n; ++i) plain += term(i), size += std::abs(term(i));
    // both orders of addition are off by at most n round-offs of the sum of magnitudes
    CHECK(std::abs(sums[0] - plain) <= 1e-16 * n * size);
  }
}

TEST_CASE("a parallel loop visits every index once, in chunks that do not depend on the threads") {
  const ThreadsBack back;
  for (const int threads_now : {1, 2, 3, 16}) {
    set_threads(threads_now);
    for (const int n : {0, 1, 63, 64, 65, 5000}) {
      std::vector<std::atomic<int>> visits(n);
      std::atomic<int> wrong{0};
      parallel_for(n, 64, [&](int begin, int end, int chunk) {
        if (begin != 64 * chunk || end != std::min(n, begin + 64)) ++wrong;
        for (int i = begin; i < end; ++i) ++visits[i];
      });
      CHECK(wrong == 0);
      int missed = 0;
      for (const auto& v : visits) missed += v != 1;
      CHECK(missed == 0);
    }
  }
}

TEST_CASE("asking for no number of threads takes all of the machine") {
  const ThreadsBack back;
  set_threads(0);
  CHECK(threads() == hardware_threads());
  CHECK(threads() >= 1);
}

TEST_CASE("every task runs once, also when there are more threads than tasks or more tasks than threads") {
  const ThreadsBack back;
  for (const int threads_now : {1, 2, 3, 16, 300}) {
    set_threads(threads_now);
    for (const int count : {0, 1, 2, 5, 16, 1000}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<std::atomic<int>> runs(count);
        parallel_tasks(count, [&](int task) { ++runs[task]; });
        int wrong = 0;
        for (const auto& r : runs) wrong += r != 1;
        REQUIRE(wrong == 0);
      }
    }
  }
}

TEST_CASE("what the tasks wrote is seen after the loop, and what was written before it is seen by the tasks") {
  const ThreadsBack back;
  set_threads(3);
  std::vector<int> in(64, 0), out(64, 0);  // plain memory: only the loop itself orders the accesses
  for (int repeat = 1; repeat <= 5000; ++repeat) {
    parallel_tasks(64, [&](int task) { out[task] = in[(task + repeat) % 64] + 1; });
    in = out;
  }
  for (const int d : out) REQUIRE(d == 5000);
}

TEST_CASE("a loop inside a loop runs on the thread that meets it") {
  const ThreadsBack back;
  set_threads(4);
  std::vector<std::vector<int>> visits(16, std::vector<int>(4000, 0));
  std::atomic<int> strangers{0};
  parallel_tasks(16, [&](int task) {
    set_threads(4);  // threads() belongs to the calling thread: ask for the workers in the workers, too
    const auto self = std::this_thread::get_id();
    parallel_for(4000, 100, [&](int begin, int end, int) {
      strangers += std::this_thread::get_id() != self;
      for (int i = begin; i < end; ++i) ++visits[task][i];
    });
  });
  CHECK(strangers == 0);
  for (const auto& row : visits)
    for (const int v : row) REQUIRE(v == 1);
}

TEST_CASE("loops started by several threads at once all finish, each with its own sum") {
  std::vector<std::thread> callers;
  std::vector<int> wrong(4, 0);
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([c, &wrong] {
      set_threads(2 + c);
      std::vector<double> partial;
      double expected = 0;
      for (int i = 0; i < 3000; ++i) expected += i * (c + 1);
      for (int repeat = 0; repeat < 500; ++repeat) {
        const double sum = ordered_sum<double>(3000, 100, partial, [&](int begin, int end) {
          double s = 0;
          for (int i = begin; i < end; ++i) s += i * (c + 1);
          return s;
        });
        wrong[c] += sum != expected;  // whole numbers: exact in any order
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int w : wrong) CHECK(w == 0);
}
