// Springs on the volume of tetrahedra.
#if !defined(VERVE_VOLUME_SPRING_H) || defined(VERVE_PACKS)
#define VERVE_VOLUME_SPRING_H

#include "potentials/kernel.h"

VERVE_KERNEL_BEGIN

/// E = k/2 V (J - 1)^2, J = det F = volume / V (Teschner et al. 2004, "A versatile and robust model for geometrically
/// complex deformable solids", with k_V = k V so that finer meshes are as stiff). J is negative for an inverted
/// element, so that the spring turns it round.
struct VolumeSpring {
  static constexpr const char* name = "volume_spring";
  static constexpr const char* help = "springs on the volume of tetrahedra (Teschner et al. 2004)";
  using Elements = Tetrahedra;
  static constexpr int vertices = 4, rows = 3;
  static constexpr bool slack = true;
  /// d2E = k V ((cof F : dF)^2 + (J - 1) d2J), and |cof F| grows with F: no weight is enough everywhere.
  static constexpr bool bounded = false;

  struct Params {
    double stiffness = 1e5;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "Pa", "bulk modulus")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight, size;
    Mat3T<T> inverse_rest;
    constexpr T coefficient(int row, int i) const { return inverse_rest.col[row][i]; }
  };

  /// At rest the greatest curvature is k V |cof 1|^2 = 3 k V, for equal stretch in all directions.
  static Element<double> bind(const Params& p, const std::array<Vec3, 4>& rest) {
    const Mat3 edges{{rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]}};
    const double size = p.stiffness * det(edges) / 6;
    return {3 * size, size, inverse(edges)};
  }

  template <class T>
  static T energy_gradient(const Element<T>& e, const Columns<T, 3>& F, Columns<T, 3>& gradient) {
    const Mat3T<T> cof = cofactor(Mat3T<T>{F});
    const T change = dot(F[0], cof.col[0]) - T(1), pressure = e.size * change;
    unroll<3>([&](auto r) { gradient[r] = cof.col[r] * pressure; });
    return T(0.5) * pressure * change;
  }

  template <class T>
  static T energy(const Element<T>& e, const Columns<T, 3>& F) {
    const T change = det(Mat3T<T>{F}) - T(1);
    return T(0.5) * e.size * T(change * change);
  }

  /// C = J - 1.
  static constexpr int constraints = 1;
  template <class T>
  static T stiffness(const Element<T>& e, int) {
    return e.size;
  }
  template <class T>
  static T constraint(const Element<T>&, int, const Columns<T, 3>& F, Columns<T, 3>& gradient) {
    const Mat3T<T> cof = cofactor(Mat3T<T>{F});
    unroll<3>([&](auto r) { gradient[r] = cof.col[r]; });
    return dot(F[0], cof.col[0]) - T(1);
  }
};

VERVE_KERNEL_END(VolumeSpring)
#endif
