// The scalar side of the element kernels. A kernel is written once against a number type T; these are the few functions
// it needs beyond arithmetic, for T = double or float. simd_pack.h has the same for packs of lanes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "verve/vec.h"

namespace verve {

/// What a comparison of two T gives: bool, or one bit per lane.
template <class T>
using MaskOf = decltype(T() < T());

constexpr bool any(bool mask) { return mask; }
constexpr bool all(bool mask) { return mask; }
template <class T>
constexpr T select(bool mask, const T& yes, const T& no) {
  return mask ? yes : no;
}
inline double abs(double a) { return std::abs(a); }
inline float abs(float a) { return std::abs(a); }
inline double sqrt(double a) { return std::sqrt(a); }
inline float sqrt(float a) { return std::sqrt(a); }
constexpr double max(double a, double b) { return a > b ? a : b; }
constexpr float max(float a, float b) { return a > b ? a : b; }
constexpr double min(double a, double b) { return a < b ? a : b; }
constexpr float min(float a, float b) { return a < b ? a : b; }
/// a = 2^exponent m for a normal number a > 0; returns m, between sqrt(1/2) and sqrt(2).
inline double split_exponent(double a, double& exponent) {
  const auto bits = std::bit_cast<std::uint64_t>(a);
  const std::int64_t k = std::int64_t(bits - 0x3fe6a09e667f3bcd) >> 52;
  exponent = double(k);
  return std::bit_cast<double>(bits - (std::uint64_t(k) << 52));
}
inline float split_exponent(float a, float& exponent) {
  const auto bits = std::bit_cast<std::uint32_t>(a);
  const std::int32_t k = std::int32_t(bits - 0x3f3504f3) >> 23;
  exponent = float(k);
  return std::bit_cast<float>(bits - (std::uint32_t(k) << 23));
}

/// The type of one lane, and its limits.
template <class T>
struct LaneOf {
  using Type = T;
};
template <class T>
using Limits = std::numeric_limits<typename LaneOf<T>::Type>;

// The lanes of a loop over elements: here one at a time.
template <class T>
inline constexpr int lanes = 1;

template <class T>
T load_lanes(const T* from) {
  return *from;
}
inline double first_lanes(double value, int) { return value; }
inline float first_lanes(float value, int) { return value; }

/// A sum over many elements, in double.
class LaneSum {
 public:
  void add(double value) { sum_ += value; }
  double total() const { return sum_; }

 private:
  double sum_ = 0;
};

/// One vertex (xyz0) on its way between memory and the lanes; always double.
struct Row {
  double x = 0, y = 0, z = 0;
  static Row load(const double* p) { return {p[0], p[1], p[2]}; }
  void store(double* p) const { p[0] = x, p[1] = y, p[2] = z; }
  friend Row operator+(const Row& a, const Row& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Row operator-(const Row& a, const Row& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Row operator*(const Row& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
  friend Row larger_size(const Row& a, const Row& b) {
    return {max(a.x, std::abs(b.x)), max(a.y, std::abs(b.y)), max(a.z, std::abs(b.z))};
  }
  /// To the nearest whole numbers; anything for what is larger than 2^30 or not a number.
  void store_whole(std::int32_t* p) const {
    const auto whole = [](double a) { return std::int32_t(std::nearbyint(max(min(a, 0x1p30), -0x1p30))); };
    p[0] = whole(x), p[1] = whole(y), p[2] = whole(z), p[3] = 0;
  }
};

/// A vector of T and the lanes<T> rows it is made of.
template <class T>
class Rows {
 public:
  Rows() = default;
  explicit Rows(const Vec3T<T>& v) : row_{double(v.x), double(v.y), double(v.z)} {}
  Row row(int) const { return row_; }
  static Vec3T<T> join(const Row* rows) { return {T(rows->x), T(rows->y), T(rows->z)}; }

 private:
  Row row_;
};

/// One vertex of each of lanes<T> stencils in whole numbers; differences of these are exact.
template <class T>
class WholeRows {
 public:
  /// at(lane) points to xyz0.
  template <class At>
  explicit WholeRows(const At& at) : x_(at(0)[0]), y_(at(0)[1]), z_(at(0)[2]) {}
  Vec3T<T> minus(const WholeRows& o) const { return {T(x_ - o.x_), T(y_ - o.y_), T(z_ - o.z_)}; }

 private:
  std::int32_t x_, y_, z_;
};

}  // namespace verve
