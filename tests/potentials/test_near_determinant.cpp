// The nearest matrix with a given determinant without a decomposition, against the one by singular values.
#include <doctest/doctest.h>

#include "matrices.h"
#include "potentials/determinant.h"
#include "potentials/near_determinant.h"
#include "potentials/polar.h"

using namespace verve;
using namespace verve::test;

namespace {

Mat3 by_singular_values(const Mat3& F, double c) {
  Mat3 U, V;
  Vec3 s;
  rotation_svd(F, U, s, V);
  const DeterminantProblem<double, 2> problem({s.x, s.y}, s.z);
  const double t = solve_determinant(problem, s.x * s.y * s.z, c, std::cbrt(c));
  return U * Mat3::diagonal({problem.other(t, 0) - s.x, problem.other(t, 1) - s.y, t - s.z}) * transpose(V);
}

/// How many of `all` were found; each of them is to agree, to so many eps.
template <class T>
int agreeing(int all, double c, const std::function<Mat3(std::uint64_t)>& make, double tolerance) {
  int found = 0;
  for (int k = 0; k < all; ++k) {
    const Mat3 wide = make(std::uint64_t(k));
    Mat3T<T> F, D;
    Mat3 rounded, change;
    for (int i = 0; i < 9; ++i) F(i / 3, i % 3) = T(wide(i / 3, i % 3)), rounded(i / 3, i % 3) = F(i / 3, i % 3);
    if (!near_determinant(F, T(det(F)), T(c), D)) continue;
    ++found;
    for (int i = 0; i < 9; ++i) change(i / 3, i % 3) = D(i / 3, i % 3);
    REQUIRE(std::sqrt(squared_norm(change - by_singular_values(rounded, c))) <= tolerance);
  }
  return found;
}

}  // namespace

TEST_CASE("near the set, the nearest matrix of a determinant needs no decomposition, also for equal singular values") {
  constexpr int all = 2000;
  for (const double amount : {1e-9, 1e-4, 0.03, 0.1}) {
    CAPTURE(amount);
    const auto shaken = [&](std::uint64_t k) { return random_rotation(23, k) + noise(k) * amount; };
    const auto scaled = [&](std::uint64_t k) { return random_rotation(23, k) * (1 + amount * number(24, k)); };
    for (const double c : {0.9, 1.0, 1.1}) {
      // det and c - det are rounded, by a few eps of products of three
      CHECK(agreeing<double>(all, c, shaken, 1e-14) == all);
      CHECK(agreeing<double>(all, c, scaled, 1e-14) == all);
      CHECK(agreeing<float>(all, c, shaken, 2e-6) == all);
      CHECK(agreeing<float>(all, c, scaled, 2e-6) == all);
    }
  }
}

TEST_CASE("far from the set it is the nearest matrix of a determinant, or says that it was not found") {
  for (const Class& cls : classes()) {
    CAPTURE(std::string(cls.name));
    for (const double c : {0.2, 0.5, 1.0, 2.0}) {
      agreeing<double>(2000, c, cls.make, 1e-12);
      agreeing<float>(2000, c, cls.make, 1e-4);
    }
  }
  const Mat3 bad = Mat3::identity() * std::numeric_limits<double>::quiet_NaN();
  Mat3 D;
  CHECK_FALSE(near_determinant(bad, det(bad), 1.0, D));
  CHECK_FALSE(near_determinant(Mat3::diagonal({1, 1, -1}), -1.0, 1.0, D));
  CHECK_FALSE(near_determinant(Mat3{}, 0.0, 1.0, D));
}
