// What the hyperelastic materials of tetrahedra share. For numbers and for packs of them: see kernel.h.
#if defined(VERVE_HYPERELASTIC_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_HYPERELASTIC_H
#undef VERVE_HYPERELASTIC_H
#else
#define VERVE_HYPERELASTIC_H
#endif

#include "potentials/kernel.h"
#include "potentials/lame.h"

VERVE_NAMESPACE_BEGIN

/// E = V Psi(F), F the deformation gradient.
///
/// Near rest every isotropic Psi has the Hessian of linear elasticity: 0 for rotations, 2 mu for the five changes of
/// shape, 2 mu + 3 lambda for the change of size. A step of the global solve with weight w multiplies the error in a
/// direction of curvature c by 1 - c/w, at worst by max(|1 - 2 mu/w|, |1 - (2 mu + 3 lambda)/w|), which is least for
/// the middle of the two: w = 2 mu + 3/2 lambda. Twice that is more than 2 mu + 3 lambda, so that no step raises the
/// energy; with 2 mu + lambda one can from Poisson's ratio 1/3 on.
struct HyperelasticTet {
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool bounded = false;
  using Params = LameParams;

  template <class T>
  struct Element {
    T weight, mu, lambda;   // times the volume
    Mat3T<T> inverse_rest;  // of the edge matrix: F = D inverse_rest
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    const double volume = det(edges) / 6;
    const LameParams::Moduli m = p.moduli();
    return {volume * (2 * m.mu + 1.5 * m.lambda), volume * m.mu, volume * m.lambda, inverse(edges)};
  }
};

/// The change of squared lengths F^T F - 1, twice the strain of Green: rotations of F leave it as it is, and its
/// invariants keep their digits where the strain is small.
template <class T>
struct GreenStrain {
  T xx, yy, zz, xy, yz, zx;
  T trace, size2;  // tr, squared norm

  explicit GreenStrain(const Columns<T, 3>& F)
      : xx(dot(F[0], F[0]) - T(1)),
        yy(dot(F[1], F[1]) - T(1)),
        zz(dot(F[2], F[2]) - T(1)),
        xy(dot(F[0], F[1])),
        yz(dot(F[1], F[2])),
        zx(dot(F[2], F[0])),
        trace(xx + yy + zz),
        size2(xx * xx + yy * yy + zz * zz + T(2) * T(xy * xy + yz * yz + zx * zx)) {}

  /// det(F^T F) - 1 - trace: the second and the third invariant.
  T higher_invariants() const {
    const T a = yy * zz - yz * yz, b = xx * zz - zx * zx, c = xx * yy - xy * xy;
    const T third = xx * a - xy * T(xy * zz - yz * zx) + zx * T(xy * yz - yy * zx);
    return a + b + c + third;
  }
};

/// J = det F, and what energies of J need so that they do not lose their digits near rest.
template <class T>
struct VolumeChange {
  Mat3T<T> cofactor;  // dJ/dF
  T J;
  MaskOf<T> near;  // small strain, not mirrored: `higher` is to be used, otherwise J itself
  T higher;        // J^2 - 1 - trace

  VolumeChange(const Columns<T, 3>& F, const GreenStrain<T>& green)
      : cofactor{{cross(F[1], F[2]), cross(F[2], F[0]), cross(F[0], F[1])}},
        J(dot(F[0], cofactor.col[0])),
        near((green.size2 < T(0.04)) & (J > T(0))),
        higher(green.higher_invariants()) {}
};

VERVE_NAMESPACE_END

#endif
