#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
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
