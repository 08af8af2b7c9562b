// The consistent mass matrix of linear elements (PD Sec. 8: "the standard simplicial mass discretization [Hughes
// 2000]").
#pragma once

#include <vector>

#include "verve/mesh.h"
#include "verve/vec.h"

namespace verve {

/// Off-diagonal entry of a consistent mass matrix, between two vertices.
struct MassPair {
  int a, b;
  double weight;  // [kg]
};

/// Over the elements of the highest dimension d: rho V/20, rho A/12, rho l/6 for each pair of vertices of an element.
std::vector<MassPair> mass_pairs(const Mesh& mesh, double density);

/// D = M_c - M, what a consistent mass matrix M_c has beside the lumped M = diag(m): (D x)_i = sum_j w_ij (x_j - x_i),
/// minus a graph Laplacian. Its rows and columns sum to zero, so momentum, centre of mass and weight are those of the
/// lumped masses. Without entries for a lumped body: everything below is then zero and costs nothing.
struct MassCoupling {
  std::vector<int> start;  // rows + 1, or empty
  std::vector<int> column;
  std::vector<double> weight;
  int dimension = 0;  // d of the elements

  bool empty() const { return column.empty(); }
  int rows() const { return start.empty() ? 0 : int(start.size()) - 1; }

  /// (D x)_i; differences first, so that nothing is lost far from the origin.
  Vec4 row(const Vec4* x, int i) const {
    const Vec4 here = x[i];
    Vec4 sum;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += (x[column[k]] - here) * weight[k];
    return sum;
  }

  double kinetic(const Vec4* v) const;            // 1/2 v.D v
  Vec3 spin(const Vec4* x, const Vec4* v) const;  // sum x cross (D v), about any point
  Mat3 second(const Vec4* x) const;               // sum x (D x)^T, about any point
};

/// Kinetic energy 1/2 w.M w of the motion w = v - drift: masses at the vertices, and what couples them. The one sum of
/// it outside of the fused passes of a step (row_passes.cpp, projection.cpp).
double kinetic_energy(const double* mass, int count, const MassCoupling& coupling, const Vec4* v,
                      const Vec3& drift = {});

/// In rows of a body.
MassCoupling mass_coupling(const Mesh& mesh, const std::vector<MassPair>& pairs, const std::vector<int>& row_of_vertex);

}  // namespace verve
