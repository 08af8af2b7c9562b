// The templates of vec.h. No include guard and no namespace: vec.h reads this file into namespace verve, and the
// element kernels read it once more for each set of SIMD instructions, because a function over registers has to be
// compiled for the instructions that use them (src/base/simd_pack.h).

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
  friend constexpr bool operator==(const Vec3T&, const Vec3T&) = default;
};

// Free functions, not friends inside the class: gcc forgets for those which instructions they are compiled for.
template <class T>
constexpr Vec3T<T> operator+(const Vec3T<T>& a, const Vec3T<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
constexpr Vec3T<T> operator-(const Vec3T<T>& a, const Vec3T<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
constexpr Vec3T<T> operator-(const Vec3T<T>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
constexpr Vec3T<T> operator*(const Vec3T<T>& a, std::type_identity_t<T> s) {
  return {a.x * s, a.y * s, a.z * s};
}
template <class T>
constexpr Vec3T<T> operator*(std::type_identity_t<T> s, const Vec3T<T>& a) {
  return {a.x * s, a.y * s, a.z * s};
}
template <class T>
constexpr Vec3T<T> operator/(const Vec3T<T>& a, std::type_identity_t<T> s) {
  return {a.x / s, a.y / s, a.z / s};
}
/// a + b s, in fused multiply-adds where T has them.
template <class T>
constexpr Vec3T<T> add_scaled(const Vec3T<T>& a, const Vec3T<T>& b, const T& s) {
  return {a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}
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
};

template <class T>
constexpr Vec3T<T> operator*(const Mat3T<T>& a, const Vec3T<T>& b) {
  return add_scaled(add_scaled(a.col[0] * b.x, a.col[1], b.y), a.col[2], b.z);
}
template <class T>
constexpr Mat3T<T> operator*(const Mat3T<T>& a, const Mat3T<T>& b) {
  return {{a * b.col[0], a * b.col[1], a * b.col[2]}};
}
template <class T>
constexpr Mat3T<T> operator*(const Mat3T<T>& a, std::type_identity_t<T> s) {
  return {{a.col[0] * s, a.col[1] * s, a.col[2] * s}};
}
template <class T>
constexpr Mat3T<T> operator+(const Mat3T<T>& a, const Mat3T<T>& b) {
  return {{a.col[0] + b.col[0], a.col[1] + b.col[1], a.col[2] + b.col[2]}};
}
template <class T>
constexpr Mat3T<T> operator-(const Mat3T<T>& a, const Mat3T<T>& b) {
  return {{a.col[0] - b.col[0], a.col[1] - b.col[1], a.col[2] - b.col[2]}};
}

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
