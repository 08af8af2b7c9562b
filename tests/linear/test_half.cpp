#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "linear/panels.h"

using namespace verve;

namespace {

/// IEEE 754 binary16, by definition.
double value_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

}  // namespace

TEST_CASE("every half-precision number converts to itself") {
  for (int bits = 0; bits < 65536; ++bits) {
    const double value = value_of(std::uint16_t(bits));
    if (std::isnan(value)) {
      REQUIRE_FALSE(Half(float(value)).is_finite());
    } else {
      REQUIRE(Half(float(value)).bits == bits);
      REQUIRE(Half(float(value)).is_finite() == std::isfinite(value));
    }
  }
}

TEST_CASE("floats become the nearest half, and the even one of two") {
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = value_of(bits), high = value_of(bits + 1), middle = (low + high) / 2;
    REQUIRE(Half(float(middle)).bits == (bits % 2 == 0 ? bits : bits + 1));
    REQUIRE(Half(std::nextafter(float(middle), 0.0f)).bits == bits);
    REQUIRE(Half(std::nextafter(float(middle), 1e6f)).bits == bits + 1);
    REQUIRE(Half(-std::nextafter(float(middle), 0.0f)).bits == (bits | 0x8000));
  }
  CHECK(Half(65519.0f).bits == 0x7BFF);
  CHECK_FALSE(Half(65520.0f).is_finite());
  CHECK_FALSE(Half(1e30f).is_finite());
}
