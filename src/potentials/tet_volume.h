// Bounds on the volume of tetrahedra.
#if !defined(VERVE_TET_VOLUME_H) || defined(VERVE_PACKS)
#define VERVE_TET_VOLUME_H

#include "potentials/determinant.h"
#include "potentials/limits.h"
#include "potentials/near_determinant.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// E = k V |F - T|^2, T nearest to F among the matrices with a determinant in [min, max] (PD Eq. 24-26). PD weight
/// w = 2 k V.
struct TetVolume {
  static constexpr const char* name = "tet_volume";
  static constexpr const char* help = "volume of tetrahedra kept between two bounds (PD Eq. 24-26)";
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool slack = true;

  struct Params {
    double stiffness = 1e5, min = 1, max = 1;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "Pa", "beyond the bounds, as mu of tet_strain"),
              field("min", &Params::min, "", "least volume / volume at rest", 1e-3),
              field("max", &Params::max, "", "greatest volume / volume at rest", 1e-3)};
    }
    std::string check() const { return fault_of_bounds("min", min, "max", max); }
  };

  template <class T>
  struct Element {
    T weight;
    Mat3T<T> inverse_rest;
    T least, most, least_root, most_root;  // cube roots
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    return {2 * p.stiffness * det(edges) / 6, inverse(edges), p.min, p.max, std::cbrt(p.min), std::cbrt(p.max)};
  }

  /// An inverted element has a negative last singular value. T has the U and V of F, as in tet_limit.h.
  template <class T>
  static Columns<T, 3> project(const Element<T>& e, const Columns<T, 3>& F) {
    const T volume = det(Mat3T<T>{F});
    const MaskOf<T> inside = (volume >= e.least) & (volume <= e.most);
    if (all(inside)) return F;
    const MaskOf<T> small = volume < e.least;
    const T c = select(small, e.least, e.most), root = select(small, e.least_root, e.most_root);
    Mat3T<T> D;
    if (all(inside | ((volume > T(0.3) * c) & (volume < T(2) * c)))) {
      const MaskOf<T> found = inside | near_determinant(Mat3T<T>{F}, volume, c, D);
      if (!all(found)) [[unlikely]] {
        const Columns<T, 3> copy = F;  // what is handed to a function has to be in memory: not F itself
        D = select<T>(found, D, far<T>(copy, c, root));
      }
    } else {
      const Columns<T, 3> copy = F;
      D = far<T>(copy, c, root);
    }
    return {select<T>(inside, F[0], F[0] + D.col[0]), select<T>(inside, F[1], F[1] + D.col[1]),
            select<T>(inside, F[2], F[2] + D.col[2])};
  }

 private:
  /// T - F by singular values, wherever F is. Never inlined, to keep the common path short.
  template <class T>
  static VERVE_NOINLINE Mat3T<T> far(const Columns<T, 3>& F, const T& c, const T& root) {
    Mat3T<T> U, V;
    Vec3T<T> s;
    rotation_svd(Mat3T<T>{F}, U, s, V);
    const T product = s.x * s.y * T(s.z);
    const DeterminantProblem<T, 2> problem({s.x, s.y}, s.z);
    const T t = solve_determinant(problem, product, c, root);
    const T d0 = problem.other(t, 0) - s.x, d1 = problem.other(t, 1) - s.y, d2 = t - s.z;
    return Mat3T<T>{{U.col[0] * d0, U.col[1] * d1, U.col[2] * d2}} * transpose(V);
  }
};

VERVE_KERNEL_END(TetVolume)
#endif
