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

/// A turn: cos(a/2) in w, sin(a/2) times the axis in x, y, z. Of any length but 0: only the direction counts.
struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;
};

inline Mat3 rotation_matrix(const Quaternion& q) {
  const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, s = square > 0 ? 2 / square : 0;
  const double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z, xy = s * q.x * q.y, xz = s * q.x * q.z,
               yz = s * q.y * q.z, wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
  return {{{{1 - yy - zz, xy + wz, xz - wy}, {xy - wz, 1 - xx - zz, yz + wx}, {xz + wy, yz - wx, 1 - xx - yy}}}};
}

/// Where something rigid is: x_world = rotation x + position.
struct Placing {
  Vec3 position{};  ///< [m]
  Quaternion rotation{};
};

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
