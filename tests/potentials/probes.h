// Kernels that show what the maths of the other kernels does in packs: the gradient they hand out is a result.
#if !defined(VERVE_PROBES_H) || defined(VERVE_PACKS)
#define VERVE_PROBES_H

#include "potentials/kernel.h"
#include "potentials/polar.h"

VERVE_KERNEL_BEGIN

/// Differences of `Count + 1` vertices in, `Count` vectors out, untouched on their way.
template <int Count>
struct Probe {
  static constexpr const char* name = "probe";
  static constexpr int vertices = Count + 1, rows = Count;
  struct Params {
    double unused = 0;
    static std::vector<Field<Params>> fields() { return {field("unused", &Params::unused, "", "")}; }
  };
  template <class T>
  struct Element {
    T weight;
    constexpr T coefficient(int row, int i) const { return T(row == i ? 1 : 0); }
  };
  static Element<double> bind(const Params&, const std::array<Vec3, Count + 1>&) { return {1}; }
};

/// Three columns of F, for the three of the nearest rotation; energy lambda.
struct RotationProbe : Probe<3> {
  template <class T>
  static T energy_gradient(const Element<T>&, const Columns<T, 3>& F, Columns<T, 3>& out) {
    out = nearest_rotation(Mat3T<T>{F}).col;
    return dot(out[0], F[0]) + dot(out[1], F[1]) + dot(out[2], F[2]);
  }
};

VERVE_KERNEL_END(RotationProbe)

VERVE_KERNEL_BEGIN

/// Three columns of F and four to spare, for U, V and sigma.
struct SvdProbe : Probe<7> {
  template <class T>
  static T energy_gradient(const Element<T>&, const Columns<T, 7>& F, Columns<T, 7>& out) {
    Mat3T<T> U, V;
    Vec3T<T> sigma;
    rotation_svd(Mat3T<T>{{F[0], F[1], F[2]}}, U, sigma, V);
    out = {U.col[0], U.col[1], U.col[2], V.col[0], V.col[1], V.col[2], sigma};
    return sigma.x + sigma.y + sigma.z;
  }
};

VERVE_KERNEL_END(SvdProbe)
#endif
