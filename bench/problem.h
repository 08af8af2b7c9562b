// One step of Projective Dynamics as a textbook states it, in the order of the mesh: what the baselines solve.
#pragma once

#include <array>
#include <vector>

#include "verve/vec.h"

namespace verve::bench {

/// Minimise 1/2h^2 |x - y|^2_M + sum w/2 |A x - p|^2 (PD Eq. 3, 5): corotated tetrahedra, springs and pins.
struct PdProblem {
  struct Tet {
    std::array<int, 4> vertex;
    Mat3 inverse_rest;  // F = [x1-x0 x2-x0 x3-x0] inverse_rest
    double weight;      // 2 mu V
  };
  struct Spring {
    std::array<int, 2> vertex;
    double length, weight;
  };
  struct Pin {
    int vertex;
    Vec3 point;
    double weight;
  };

  double h = 0;
  std::vector<double> mass;
  std::vector<Vec3> y;  // x_n + h v_n + h^2 M^-1 f
  std::vector<Tet> tets;
  std::vector<Spring> springs;
  std::vector<Pin> pins;

  int vertices() const { return int(mass.size()); }
};

/// A plain sparse factor L L^T = P A P^T, by columns without the diagonal.
struct PlainFactor {
  std::vector<int> start, row;
  std::vector<double> value, diagonal;
  std::vector<int> order;  // vertex eliminated k-th
};

/// A PD solver of the usual kind, run one half-step at a time.
class Baseline {
 public:
  virtual ~Baseline() = default;
  virtual void start() = 0;   // x = y
  virtual void local() = 0;   // projections, and what the global step needs of them
  virtual void global() = 0;  // one solve
  virtual std::vector<Vec3> positions() const = 0;
};

}  // namespace verve::bench
