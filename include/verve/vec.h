// Small vectors and matrices shared by the public interface and the element kernels.
// Templated on the scalar, so that a kernel written once runs on double, float or a pack of lanes.
#pragma once

#include <array>
#include <cmath>
#include <type_traits>

namespace verve {

#include "verve/vec_templates.h"

using Real = double;
using Vec3 = Vec3T<double>;
using Mat3 = Mat3T<double>;

/// One vertex of the moving state, padded to a full SIMD register; w stays 0.
struct alignas(32) Vec4 {
  double x = 0, y = 0, z = 0, w = 0;
  constexpr Vec4() = default;
  constexpr Vec4(double x_, double y_, double z_, double w_ = 0) : x(x_), y(y_), z(z_), w(w_) {}
  constexpr Vec4(const Vec3& a) : x(a.x), y(a.y), z(a.z) {}
  constexpr Vec3 xyz() const { return {x, y, z}; }
  constexpr Vec4& operator+=(const Vec4& b) {
    x += b.x, y += b.y, z += b.z, w += b.w;
    return *this;
  }
  constexpr Vec4& operator-=(const Vec4& b) {
    x -= b.x, y -= b.y, z -= b.z, w -= b.w;
    return *this;
  }
  friend constexpr Vec4 operator+(const Vec4& a, const Vec4& b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
  friend constexpr Vec4 operator-(const Vec4& a, const Vec4& b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
  friend constexpr Vec4 operator*(const Vec4& a, double s) { return {a.x * s, a.y * s, a.z * s, a.w * s}; }
  friend constexpr Vec4 operator*(double s, const Vec4& a) { return a * s; }
};
constexpr double dot(const Vec4& a, const Vec4& b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }

}  // namespace verve
