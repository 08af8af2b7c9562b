#include <doctest/doctest.h>

#include "base/hash.h"
#include "base/random.h"

using namespace verve;

TEST_CASE("random numbers are the same on every machine and in any order of calls") {
  // the published first outputs of SplitMix64 with seed 0
  CHECK(random_bits(0, 0) == 0xE220A8397B1DCDAFull);
  CHECK(random_bits(0, 1) == 0x6E789E6AA1B965F4ull);
  CHECK(random_bits(0, 2) == 0x06C45D188009454Full);
  const double late = random_signed(7, 1000), early = random_signed(7, 3);
  CHECK(random_signed(7, 3) == early);
  CHECK(random_signed(7, 1000) == late);
  CHECK(random_signed(7, 3) != random_signed(8, 3));
}

TEST_CASE("random signed numbers fill the interval from -1 to 1 evenly") {
  const int n = 200000;
  double mean = 0, square = 0, low = 1, high = -1;
  for (int i = 0; i < n; ++i) {
    const double r = random_signed(3, i);
    mean += r / n, square += r * r / n;
    low = std::min(low, r), high = std::max(high, r);
  }
  CHECK(low >= -1);
  CHECK(high < 1);
  // 5 standard deviations of the mean, sqrt(1/3n), and of the mean square, sqrt(4/45n)
  CHECK(std::abs(mean) < 5 * std::sqrt(1.0 / 3 / n));
  CHECK(std::abs(square - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
}

TEST_CASE("random points of the unit ball fill it evenly") {
  const int n = 100000;
  Vec3 mean{};
  int inner = 0;
  for (int i = 0; i < n; ++i) {
    const Vec3 p = random_in_ball(11, i);
    REQUIRE(dot(p, p) <= 1);
    mean += p / double(n);
    inner += norm(p) < 0.5;
  }
  CHECK(norm(mean) < 5 * std::sqrt(3 * 0.2 / n));                                 // variance of a coordinate is 1/5
  CHECK(std::abs(inner / double(n) - 0.125) < 5 * std::sqrt(0.125 * 0.875 / n));  // volume of half the radius
  CHECK(random_in_ball(11, 5) == random_in_ball(11, 5));
}

TEST_CASE("the hash of a state tells apart order, sign of zero and the last bit") {
  const auto hash = [](std::initializer_list<double> values) {
    BitHash h;
    for (const double v : values) h.add(v);
    return h.value();
  };
  CHECK(hash({1, 2}) == hash({1, 2}));
  CHECK(hash({1, 2}) != hash({2, 1}));
  CHECK(hash({0.0}) != hash({-0.0}));
  CHECK(hash({1.0}) != hash({std::nextafter(1.0, 2.0)}));
  CHECK(hash({}) != hash({0.0}));
}
