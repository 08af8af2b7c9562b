// The nearest rotation on every class of matrix that makes trouble, against an independent decomposition.
#include <doctest/doctest.h>

#include "matrices.h"
#include "potentials/polar.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr std::uint64_t per_class = 10000;

}  // namespace

TEST_CASE("the nearest rotation is a rotation, and no rotation is nearer, for every class of matrix (Inventory C03)") {
  for (const Class& c : classes()) {
    CAPTURE(std::string(c.name));
    double worst_departure = 0, worst_trace = 0;
    int bad = 0;
    for (std::uint64_t k = 0; k < per_class; ++k) {
      const Mat3 f = c.make(k);
      const Mat3 r = nearest_rotation(f);
      const double d = departure(r), size = std::sqrt(squared_norm(f));
      if (!(d <= 1e-12)) ++bad;  // counts what is not a number, too
      worst_departure = std::max(worst_departure, d);
      if (size > 0) worst_trace = std::max(worst_trace, (best_trace(f) - trace_of_product(r, f)) / size);
    }
    CHECK(bad == 0);
    CHECK(worst_departure <= 1e-12);
    CHECK(worst_trace <= 1e-12);
  }
}

TEST_CASE("the nearest rotation in float is a rotation to float precision, for every class of matrix") {
  for (const Class& c : classes()) {
    CAPTURE(std::string(c.name));
    int bad = 0;
    double worst_trace = 0, worst_departure = 0;
    for (std::uint64_t k = 0; k < per_class; ++k) {
      const Mat3 wide = c.make(k);
      Mat3T<float> f;
      Mat3 rounded;
      for (int i = 0; i < 9; ++i) {
        f(i / 3, i % 3) = float(wide(i / 3, i % 3));
        rounded(i / 3, i % 3) = double(f(i / 3, i % 3));
      }
      const Mat3T<float> r = nearest_rotation(f);
      const double d = departure(r), size = std::sqrt(squared_norm(rounded));
      // some 20 eps / zeta^2 with eps = 6e-8 and zeta > 0.5, where the formula is left for the decomposition
      if (!(d <= 2e-5)) ++bad;
      worst_departure = std::max(worst_departure, d);
      if (size > 0) worst_trace = std::max(worst_trace, (best_trace(rounded) - trace_of_product(r, rounded)) / size);
    }
    CAPTURE(worst_departure);
    CHECK(bad == 0);
    CHECK(worst_trace <= 5e-5);
  }
}

TEST_CASE("the decomposition gives back the matrix from two rotations and ordered values, for every class of matrix") {
  for (const Class& c : classes()) {
    CAPTURE(std::string(c.name));
    double worst = 0, worst_departure = 0;
    int disorder = 0, wrong_sign = 0;
    for (std::uint64_t k = 0; k < per_class; ++k) {
      const Mat3 f = c.make(k);
      Mat3 u, v;
      Vec3 s;
      rotation_svd(f, u, s, v);
      const double size = std::sqrt(squared_norm(f));
      worst_departure = std::max({worst_departure, departure(u), departure(v)});
      if (size > 0) worst = std::max(worst, std::sqrt(squared_norm(u * Mat3::diagonal(s) * transpose(v) - f)) / size);
      if (!(s.x >= s.y && s.y >= std::abs(s.z) - 1e-14 * size)) ++disorder;
      if (det(f) < -1e-12 * size * size * size && s.z > 0) ++wrong_sign;
    }
    CHECK(worst <= 1e-13);
    CHECK(worst_departure <= 1e-13);
    CHECK(disorder == 0);
    CHECK(wrong_sign == 0);
  }
}

TEST_CASE("the nearest rotation of a product with rotations turns along") {
  double worst = 0;
  for (std::uint64_t k = 0; k < per_class; ++k) {
    const Mat3 f = Mat3::identity() + noise(k) * 0.3, q = random_rotation(40, k);
    worst = std::max(worst, std::sqrt(squared_norm(nearest_rotation(q * f) - q * nearest_rotation(f))));
    worst = std::max(worst, std::sqrt(squared_norm(nearest_rotation(f * q) - nearest_rotation(f) * q)));
  }
  CHECK(worst <= 1e-12);
}

TEST_CASE("a matrix that is not finite is not hidden behind a finite distance to its rotation") {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int i = 0; i < 9; ++i) {
      Mat3 f = Mat3::identity();
      f(i / 3, i % 3) = bad;
      CHECK_FALSE(std::isfinite(squared_norm(f - nearest_rotation(f))));
    }
  }
}
