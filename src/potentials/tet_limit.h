// Strain limits of tetrahedra.
#if !defined(VERVE_TET_LIMIT_H) || defined(VERVE_PACKS)
#define VERVE_TET_LIMIT_H

#include "potentials/kernel.h"
#include "potentials/limits.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// E = k V |F - T|^2, T nearest to F among the matrices with singular values in [min, max] and a positive determinant
/// (PD Eq. 22-23). PD weight w = 2 k V.
struct TetLimit {
  static constexpr const char* name = "tet_limit";
  static constexpr const char* help = "singular values of tetrahedra kept between two limits (PD Eq. 22-23)";
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1e5, min = 0.9, max = 1.1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "Pa", "beyond the limits, as mu of tet_strain"),
              field("min", &Params::min, "", "least stretch in any direction"),
              field("max", &Params::max, "", "greatest stretch in any direction")};
    }
    std::string check() const { return fault_of_bounds("min", min, "max", max); }
  };

  template <class T>
  struct Element {
    T weight;
    Mat3T<T> inverse_rest;
    T least, most;
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    return {2 * p.stiffness * det(edges) / 6, inverse(edges), p.min, p.max};
  }

  /// The last singular value of an inverted element counts as negative, so that clamping turns the element round (PD
  /// App. A). Nearest it is by von Neumann's trace inequality for signed singular values: U and V of F are best.
  template <class T>
  static Columns<T, 3> project(const Element<T>& e, const Columns<T, 3>& F) {
    const MaskOf<T> inside = is_inside<T>(F, e.least * e.least, e.most * e.most);
    if (all(inside)) return F;
    Mat3T<T> U, V;
    Vec3T<T> sigma;
    rotation_svd(Mat3T<T>{F}, U, sigma, V);
    const auto change = [&](const T& s) -> T { return min(max(s, e.least), e.most) - s; };
    const T d0 = change(sigma.x), d1 = change(sigma.y), d2 = change(sigma.z);
    const Mat3T<T> D = Mat3T<T>{{U.col[0] * d0, U.col[1] * d1, U.col[2] * d2}} * transpose(V);
    return {select<T>(inside, F[0], F[0] + D.col[0]), select<T>(inside, F[1], F[1] + D.col[1]),
            select<T>(inside, F[2], F[2] + D.col[2])};
  }

 private:
  /// Without an SVD: F^T F - low and high - F^T F are positive definite, by their leading minors.
  template <class T>
  static MaskOf<T> is_inside(const Columns<T, 3>& F, const T& low, const T& high) {
    const T a = dot(F[0], F[0]), b = dot(F[1], F[1]), c = dot(F[2], F[2]);
    const T ab = dot(F[0], F[1]), ac = dot(F[0], F[2]), bc = dot(F[1], F[2]);
    const T ab2 = ab * ab, ac2 = ac * ac, bc2 = bc * bc, cycle = T(2) * ab * T(ac * bc);
    const auto positive = [&](const T& x, const T& y, const T& z, const T& triple) {
      const T minor = x * y - ab2;
      const T whole = minor * z - (bc2 * x + ac2 * y) + triple;
      return (x > T(0)) & (minor > T(0)) & (whole > T(0));
    };
    return (det(Mat3T<T>{F}) > T(0)) & positive(a - low, b - low, c - low, cycle) &
           positive(high - a, high - b, high - c, -cycle);
  }
};

VERVE_KERNEL_END(TetLimit)
#endif
