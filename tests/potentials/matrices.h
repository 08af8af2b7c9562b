// Matrices of every class that makes trouble for a nearest rotation, and what to measure on the answer.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "shapes.h"

namespace verve::test {

/// The largest tr(R^T F) over rotations: s1 + s2 +- s3.
double best_trace(const Mat3& f);

template <class T>
double trace_of_product(const Mat3T<T>& r, const Mat3& f) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += double(r(i, j)) * f(i, j);
  return sum;
}

template <class T>
double departure(const Mat3T<T>& r) {
  Mat3 wide;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) wide(i, j) = double(r(i, j));
  return std::max(std::sqrt(squared_norm(transpose(wide) * wide - Mat3::identity())), std::abs(det(wide) - 1));
}

inline Mat3 with_values(const Vec3& s, std::uint64_t k) {
  return random_rotation(21, k) * Mat3::diagonal(s) * transpose(random_rotation(22, k));
}

inline double number(std::uint64_t seed, std::uint64_t k) { return random_signed(seed, k); }
inline double positive(std::uint64_t seed, std::uint64_t k) { return 0.5 * (1 + random_signed(seed, k)); }
/// 10^-16 to 10^-1
inline double tiny(std::uint64_t seed, std::uint64_t k) { return std::pow(10.0, -16 + 15 * positive(seed, k)); }

inline Mat3 noise(std::uint64_t k) {
  Mat3 m;
  for (int i = 0; i < 9; ++i) m(i / 3, i % 3) = number(30, 9 * k + i);
  return m;
}

struct Class {
  const char* name;
  std::function<Mat3(std::uint64_t)> make;
};

inline const std::vector<Class>& classes() {
  static const std::vector<Class> all{
      {"random", noise},
      {"rotations", [](std::uint64_t k) { return random_rotation(23, k); }},
      {"near-rotations", [](std::uint64_t k) { return random_rotation(23, k) + noise(k) * tiny(31, k); }},
      {"gently strained", [](std::uint64_t k) { return random_rotation(23, k) + noise(k) * 0.2; }},
      {"inverted",
       [](std::uint64_t k) {
         return with_values({1 + positive(1, k), 1, -positive(2, k)}, k);
       }},
      {"s2 = -s3 nearly",
       [](std::uint64_t k) {
         const double s = 0.1 + positive(3, k);
         return with_values({s + positive(4, k), s, -s + (k % 2 ? 1 : -1) * tiny(32, k) * s}, k);
       }},
      {"s1 = s2 = -s3 nearly",
       [](std::uint64_t k) {
         return with_values({1 + tiny(33, k), 1, -1 + tiny(34, k)}, k);
       }},
      {"reflected",
       [](std::uint64_t k) {
         return with_values({1, 1, -1}, k) + noise(k) * tiny(31, k);
       }},
      {"flat",
       [](std::uint64_t k) {
         return with_values({1 + positive(1, k), positive(2, k), 0}, k);
       }},
      {"nearly flat",
       [](std::uint64_t k) {
         return with_values({1, positive(2, k), (k % 2 ? 1 : -1) * tiny(33, k)}, k);
       }},
      {"line",
       [](std::uint64_t k) {
         return with_values({positive(1, k), 0, 0}, k);
       }},
      {"nearly a line",
       [](std::uint64_t k) {
         return with_values({1, tiny(33, k), (k % 2 ? 1 : -1) * tiny(34, k)}, k);
       }},
      {"axis-aligned line",
       [](std::uint64_t k) {
         return Mat3::diagonal({double(k % 3 == 0), double(k % 3 == 1), double(k % 3 == 2)});
       }},
      {"nearly a point", [](std::uint64_t k) { return noise(k) * std::pow(10.0, -300 * positive(35, k)); }},
      {"zero", [](std::uint64_t) { return Mat3{}; }},
      {"scale 1e-6", [](std::uint64_t k) { return noise(k) * 1e-6; }},
      {"scale 1e4", [](std::uint64_t k) { return noise(k) * 1e4; }},
      {"inverted, scale 1e-6",
       [](std::uint64_t k) {
         return with_values({1.5, 1, -positive(2, k)}, k) * 1e-6;
       }},
      {"inverted, scale 1e4",
       [](std::uint64_t k) {
         return with_values({1.5, 1, -positive(2, k)}, k) * 1e4;
       }},
      {"stretched a millionfold",
       [](std::uint64_t k) {
         return with_values({1e6, 1 + positive(1, k), positive(2, k)}, k);
       }},
  };
  return all;
}

}  // namespace verve::test
