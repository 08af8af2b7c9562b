// Small vectors and matrices shared by the public interface and the element kernels.
// Templated on the scalar, so that a kernel written once runs on double, float or a pack of lanes.
#pragma once

#include <array>
#include <cmath>

namespace verve {

template <class T>
struct Vec3T {
  T x{}, y{}, z{};

  constexpr T& operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }
  constexpr const T& operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
  constexpr Vec3T& operator+=(const Vec3T& b) {
    x = x + b.x, y = y + b.y, z = z + b.z;
    return *this;
  }
  constexpr Vec3T& operator-=(const Vec3T& b) {
    x = x - b.x, y = y - b.y, z = z - b.z;
    return *this;
  }
  constexpr Vec3T& operator*=(T s) {
    x = x * s, y = y * s, z = z * s;
    return *this;
  }
  friend constexpr Vec3T operator+(Vec3T a, const Vec3T& b) { return a += b; }
  friend constexpr Vec3T operator-(Vec3T a, const Vec3T& b) { return a -= b; }
  friend constexpr Vec3T operator-(const Vec3T& a) { return {-a.x, -a.y, -a.z}; }
  friend constexpr Vec3T operator*(Vec3T a, T s) { return a *= s; }
  friend constexpr Vec3T operator*(T s, Vec3T a) { return a *= s; }
  friend constexpr Vec3T operator/(const Vec3T& a, T s) { return {a.x / s, a.y / s, a.z / s}; }
  friend constexpr bool operator==(const Vec3T&, const Vec3T&) = default;
};

template <class T>
constexpr T dot(const Vec3T<T>& a, const Vec3T<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
constexpr Vec3T<T> cross(const Vec3T<T>& a, const Vec3T<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
T norm(const Vec3T<T>& a) {
  using std::sqrt;
  return sqrt(dot(a, a));
}

/// 3x3 matrix, stored by columns.
template <class T>
struct Mat3T {
  std::array<Vec3T<T>, 3> col{};

  static constexpr Mat3T identity() { return {{{{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}}}}; }
  static constexpr Mat3T diagonal(const Vec3T<T>& d) {
    return {{{{d.x, T(0), T(0)}, {T(0), d.y, T(0)}, {T(0), T(0), d.z}}}};
  }
  constexpr T& operator()(int row, int column) { return col[column][row]; }
  constexpr const T& operator()(int row, int column) const { return col[column][row]; }

  friend constexpr Vec3T<T> operator*(const Mat3T& a, const Vec3T<T>& b) {
    return a.col[0] * b.x + a.col[1] * b.y + a.col[2] * b.z;
  }
  friend constexpr Mat3T operator*(const Mat3T& a, const Mat3T& b) {
    return {{a * b.col[0], a * b.col[1], a * b.col[2]}};
  }
  friend constexpr Mat3T operator*(const Mat3T& a, T s) { return {{a.col[0] * s, a.col[1] * s, a.col[2] * s}}; }
  friend constexpr Mat3T operator+(const Mat3T& a, const Mat3T& b) {
    return {{a.col[0] + b.col[0], a.col[1] + b.col[1], a.col[2] + b.col[2]}};
  }
  friend constexpr Mat3T operator-(const Mat3T& a, const Mat3T& b) {
    return {{a.col[0] - b.col[0], a.col[1] - b.col[1], a.col[2] - b.col[2]}};
  }
};

template <class T>
constexpr Mat3T<T> transpose(const Mat3T<T>& a) {
  return {{{{a.col[0].x, a.col[1].x, a.col[2].x},
            {a.col[0].y, a.col[1].y, a.col[2].y},
            {a.col[0].z, a.col[1].z, a.col[2].z}}}};
}
template <class T>
constexpr T det(const Mat3T<T>& a) {
  return dot(a.col[0], cross(a.col[1], a.col[2]));
}
/// Cofactor matrix: det(a) * transpose(inverse(a)), defined for singular a as well.
template <class T>
constexpr Mat3T<T> cofactor(const Mat3T<T>& a) {
  return {{cross(a.col[1], a.col[2]), cross(a.col[2], a.col[0]), cross(a.col[0], a.col[1])}};
}
template <class T>
constexpr Mat3T<T> inverse(const Mat3T<T>& a) {
  return transpose(cofactor(a)) * (T(1) / det(a));
}
template <class T>
constexpr T squared_norm(const Mat3T<T>& a) {
  return dot(a.col[0], a.col[0]) + dot(a.col[1], a.col[1]) + dot(a.col[2], a.col[2]);
}
/// a bᵀ
template <class T>
constexpr Mat3T<T> outer(const Vec3T<T>& a, const Vec3T<T>& b) {
  return {{a * b.x, a * b.y, a * b.z}};
}

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
