#include "bench/scalar.h"

#include <cmath>

#include "bench/textbook.h"

namespace verve::bench {

namespace {

/// The rotation nearest to F by FOAM (Markley 1993): lambda, the largest root of a quartic, by Halley's iteration from
/// above, then a rational formula. Scaled to |F|^2 = 3; where the rotation is nearly not unique, an SVD.
template <class T>
Mat3T<T> polar(const Mat3T<T>& F) {
  const T size2 = squared_norm(F);
  if (size2 > T(1e-20) && size2 < T(1e20)) {
    const Mat3T<T> B = F * std::sqrt(T(3) / size2);
    const Mat3T<T> cof = cofactor(B);
    const T d = dot(B.col[0], cof.col[0]), c2 = squared_norm(cof);
    const T enough = sizeof(T) == sizeof(double) ? T(1e-6) : T(1e-3);
    T l = 3;
    for (int k = 0; k < 12; ++k) {
      const T q = l * l - 3, p = q * q - 8 * l * d - 4 * c2, slope = 4 * l * q - 8 * d;
      if (!(slope > T(0.8))) break;
      const T dl = p * slope / (slope * slope - p * (6 * l * l - 6));
      l -= dl;
      if (!(std::abs(dl) > enough)) break;
    }
    const T kappa = T(0.5) * (l * l - 3), zeta = kappa * l - d;
    if (zeta > T(0.1)) {
      const T inverse = 1 / zeta;
      return B * ((kappa + 3) * inverse) + cof * (l * inverse) - (B * (transpose(B) * B)) * inverse;
    }
  }
  Mat3 wide;
  for (int c = 0; c < 3; ++c) wide.col[c] = {double(F.col[c].x), double(F.col[c].y), double(F.col[c].z)};
  const Mat3 R = rotation_by_jacobi_svd(wide);
  Mat3T<T> out;
  for (int c = 0; c < 3; ++c) out.col[c] = {T(R.col[c].x), T(R.col[c].y), T(R.col[c].z)};
  return out;
}

template <class T>
Vec3T<T> difference(const Vec3& a, const Vec3& b) {
  return {T(a.x - b.x), T(a.y - b.y), T(a.z - b.z)};
}
template <class T>
Vec3 wide(const Vec3T<T>& a) {
  return {double(a.x), double(a.y), double(a.z)};
}

}  // namespace

template <class T>
ScalarCode<T>::ScalarCode(const PdProblem& p, const PlainFactor& factor) : order_(factor.order) {
  const int n = p.vertices();
  std::vector<int> row_of(n);
  for (int r = 0; r < n; ++r) row_of[order_[r]] = r;
  for (const int v : order_) inertia_.push_back(p.mass[v] / (p.h * p.h)), y_.push_back(p.y[v]);
  for (const PdProblem::Tet& t : p.tets) {
    Tet& tet = tets_.emplace_back();
    for (int i = 0; i < 4; ++i) tet.vertex[i] = row_of[t.vertex[i]];
    tet.weight = T(t.weight);
    for (int i = 0; i < 9; ++i) tet.inverse_rest[i] = T(t.inverse_rest(i % 3, i / 3));
  }
  for (const PdProblem::Spring& s : p.springs)
    springs_.push_back({{row_of[s.vertex[0]], row_of[s.vertex[1]]}, T(s.weight), T(s.length)});
  for (const PdProblem::Pin& pin : p.pins) pins_.push_back({row_of[pin.vertex], pin.weight, pin.point});
  start_ = factor.start, row_ = factor.row;
  value_.assign(factor.value.begin(), factor.value.end());
  for (const double d : factor.diagonal) inverse_diagonal_.push_back(T(1 / d));
  x_ = y_;
  gradient_.resize(n), work_.resize(3 * size_t(n));
}

template <class T>
void ScalarCode<T>::start() {
  x_ = y_;
}

template <class T>
void ScalarCode<T>::local() {
  energy_ = 0;
  for (size_t i = 0; i < x_.size(); ++i) {
    const Vec3 d = x_[i] - y_[i];
    gradient_[i] = d * inertia_[i];
    energy_ += 0.5 * inertia_[i] * dot(d, d);
  }
  for (const Tet& t : tets_) {
    const Vec3& origin = x_[t.vertex[0]];
    const Vec3T<T> a = difference<T>(x_[t.vertex[1]], origin), b = difference<T>(x_[t.vertex[2]], origin),
                   c = difference<T>(x_[t.vertex[3]], origin);
    const T* m = t.inverse_rest;
    Mat3T<T> F;
    for (int k = 0; k < 3; ++k) F.col[k] = a * m[3 * k] + b * m[3 * k + 1] + c * m[3 * k + 2];
    const Mat3T<T> D = F - polar(F);
    energy_ += 0.5 * double(t.weight * squared_norm(D));
    Vec3 first{};
    for (int i = 0; i < 3; ++i) {
      const Vec3 g = wide((D.col[0] * m[i] + D.col[1] * m[3 + i] + D.col[2] * m[6 + i]) * t.weight);
      gradient_[t.vertex[i + 1]] += g;
      first += g;
    }
    gradient_[t.vertex[0]] -= first;
  }
  for (const Spring& s : springs_) {
    const Vec3T<T> d = difference<T>(x_[s.vertex[1]], x_[s.vertex[0]]);
    const T length = norm(d), stretch = length - s.length;
    energy_ += 0.5 * double(s.weight * stretch * stretch);
    const Vec3 g = wide(d * (length > 0 ? s.weight * stretch / length : T(0)));
    gradient_[s.vertex[1]] += g;
    gradient_[s.vertex[0]] -= g;
  }
  for (const Pin& pin : pins_) {
    const Vec3 d = x_[pin.vertex] - pin.point;
    energy_ += 0.5 * pin.weight * dot(d, d);
    gradient_[pin.vertex] += d * pin.weight;
  }
}

template <class T>
void ScalarCode<T>::global() {
  const int n = int(x_.size());
  T* w = work_.data();
  for (int i = 0; i < n; ++i)
    w[3 * i] = T(gradient_[i].x), w[3 * i + 1] = T(gradient_[i].y), w[3 * i + 2] = T(gradient_[i].z);
  for (int j = 0; j < n; ++j) {
    const T a = w[3 * j] *= inverse_diagonal_[j], b = w[3 * j + 1] *= inverse_diagonal_[j],
            c = w[3 * j + 2] *= inverse_diagonal_[j];
    for (int k = start_[j]; k < start_[j + 1]; ++k) {
      T* to = w + 3 * size_t(row_[k]);
      const T l = value_[k];
      to[0] -= l * a, to[1] -= l * b, to[2] -= l * c;
    }
  }
  for (int j = n - 1; j >= 0; --j) {
    T a = w[3 * j], b = w[3 * j + 1], c = w[3 * j + 2];
    for (int k = start_[j]; k < start_[j + 1]; ++k) {
      const T* from = w + 3 * size_t(row_[k]);
      const T l = value_[k];
      a -= l * from[0], b -= l * from[1], c -= l * from[2];
    }
    w[3 * j] = a * inverse_diagonal_[j], w[3 * j + 1] = b * inverse_diagonal_[j],
          w[3 * j + 2] = c * inverse_diagonal_[j];
  }
  for (int i = 0; i < n; ++i) x_[i] -= {double(w[3 * i]), double(w[3 * i + 1]), double(w[3 * i + 2])};
}

template <class T>
std::vector<Vec3> ScalarCode<T>::positions() const {
  std::vector<Vec3> out(x_.size());
  for (size_t r = 0; r < x_.size(); ++r) out[order_[r]] = x_[r];
  return out;
}

template class ScalarCode<float>;
template class ScalarCode<double>;

}  // namespace verve::bench
