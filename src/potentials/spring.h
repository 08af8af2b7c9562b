// Springs along edges.
#pragma once

#include "potentials/batch.h"

namespace verve {

/// E = k/2 (|z| - l)^2, z = x1 - x0; also the minimum over |p| = l of k/2 |z - p|^2.
/// Liu et al. 2013, "Fast Simulation of Mass-Spring Systems".
struct Spring {
  static constexpr const char* name = "spring";
  static constexpr const char* help = "springs along the edges (Liu et al. 2013)";
  using Elements = Edges;
  static constexpr int vertices = 2, rows = 1;

  struct Params {
    double stiffness = 100;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "stiffness of each spring")};
    }
    std::string check() const { return {}; }
  };

  template <class T>
  struct Element {
    T weight, length;
    constexpr T coefficient(int, int) const { return T(1); }
    template <class U>
    Element<U> cast() const {
      return {U(weight), U(length)};
    }
  };

  static Element<double> bind(const Params& p, const std::array<Vec3, 2>& rest) {
    return {p.stiffness, norm(rest[1] - rest[0])};
  }

  template <class T>
  static Columns<T, 1> project(const Element<T>& e, const Columns<T, 1>& z) {
    const T n = norm(z[0]);
    // any direction will do at z = 0
    return {n > T(0) ? z[0] * (e.length / n) : Vec3T<T>{e.length, T(0), T(0)}};
  }
};

}  // namespace verve
