#include <doctest/doctest.h>

#include <cmath>

#include "base/random.h"
#include "linear/small.h"

using namespace verve;

namespace {

/// B^T B of `rank` random rows, each scaled: positive semi-definite of that rank.
Mat6 gram(int rank, std::uint64_t seed, const Vec6& scale) {
  Mat6 a{};
  for (int k = 0; k < rank; ++k) {
    Vec6 row;
    for (int i = 0; i < 6; ++i) row[i] = scale[i] * random_signed(seed, 6 * k + i);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) a[i][j] += row[i] * row[j];
  }
  return a;
}

double size(const Vec6& v) { return std::sqrt(dot(v, v)); }

Vec6 minus(const Vec6& a, const Vec6& b) {
  Vec6 out;
  for (int i = 0; i < 6; ++i) out[i] = a[i] - b[i];
  return out;
}

}  // namespace

TEST_CASE("the pseudo-inverse of a regular matrix is its inverse, whatever the units of its rows") {
  int tested = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const Vec6& scale : {Vec6{1, 1, 1, 1, 1, 1}, Vec6{1e5, 1e5, 1e5, 1e-4, 1e-4, 1e-4}}) {
      Mat6 a = gram(6, seed, scale);
      for (int i = 0; i < 6; ++i) a[i][i] += 0.1 * scale[i] * scale[i];
      const Mat6 inverse = pseudo_inverse(a, 1e-10);
      Vec6 x;
      for (int i = 0; i < 6; ++i) x[i] = random_signed(seed + 1000, i) / scale[i];
      const Vec6 y = inverse * (a * x);
      // compared in the scaled units; condition numbers stay below about 100
      for (int i = 0; i < 6; ++i) REQUIRE(std::abs(y[i] - x[i]) * scale[i] < 1e-12);
      ++tested;
    }
  }
  CHECK(tested == 400);
}

TEST_CASE("the pseudo-inverse of a singular 6x6 matrix solves what can be solved") {
  for (int rank = 0; rank <= 5; ++rank) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const Mat6 a = gram(rank, seed, {1, 1, 1, 1, 1, 1});
      const Mat6 p = pseudo_inverse(a, 1e-10);
      Vec6 x;
      for (int i = 0; i < 6; ++i) x[i] = random_signed(seed + 99, i);
      const Vec6 b = a * x;
      // A A+ b = b for b in the range: what the constraints need. Small eigenvalues down to 1e-4 are kept: 1e-11.
      REQUIRE(size(minus(a * (p * b), b)) <= 1e-11 * (1 + size(b)));
      // A+ is symmetric and finite
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          REQUIRE(std::isfinite(p[i][j]));
          REQUIRE(std::abs(p[i][j] - p[j][i]) <= 1e-9 * (std::abs(p[i][j]) + 1));
        }
    }
  }
}

TEST_CASE("rows with a zero diagonal are left out of a pseudo-inverse") {
  Mat6 a{};
  for (int i = 0; i < 3; ++i) a[i][i] = 4;
  const Mat6 p = pseudo_inverse(a, 1e-10);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) CHECK(p[i][j] == (i == j && i < 3 ? 0.25 : 0));
}

TEST_CASE("the inertia of a straight rod has a pseudo-inverse that leaves out the spin about its axis") {
  // unit masses at +-1 along a random axis: I = 2 (1 - n n^T)
  for (std::uint64_t k = 0; k < 200; ++k) {
    Vec3 n = random_in_ball(5, k);
    n = n / norm(n);
    const Mat3 inertia = (Mat3::identity() - outer(n, n)) * 2.0;
    const Mat3 p = pseudo_inverse(inertia, 1e-10);
    Vec3 across = cross(n, Vec3{0.3, -0.5, 0.8});
    across = across / norm(across);
    // the diagonal scaling may admit a part along n, on which the inertia does not act: what counts is I w = L
    CHECK(norm(inertia * (p * across) - across) < 1e-12);
  }
}

TEST_CASE("a 3x3 pseudo-inverse of a regular matrix is its inverse") {
  for (std::uint64_t k = 0; k < 200; ++k) {
    Mat3 b;
    for (int c = 0; c < 3; ++c) b.col[c] = random_in_ball(6, 3 * k + c);
    const Mat3 a = b * transpose(b) + Mat3::identity() * 0.1;
    CHECK(std::sqrt(squared_norm(a * pseudo_inverse(a, 1e-10) - Mat3::identity())) < 1e-12);
  }
}
