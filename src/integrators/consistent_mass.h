// Consistent mass (docs/cpd.md): what a step does beyond its passes with lumped masses (row_passes.h) where M is not
// diagonal.
#pragma once

#include <vector>

#include "integrators/integrator.h"
#include "integrators/row_passes.h"
#include "model/mass_coupling.h"

namespace verve {

struct Body;

/// The couplings of an island's bodies, and M_c^-1.
class ConsistentMass {
 public:
  /// The next body of the island; lumped ones add rows without couplings.
  void append(const Body& body);

  bool empty() const { return coupling.empty(); }
  /// M <= spread M_c: no motion is lighter by more than this factor than its lumped mass.
  double spread() const { return coupling.dimension + 2; }

  /// x = M_c^-1 f, to this share of it in the norm of M_c; 0 where there is no mass.
  void divide(const std::vector<double>& mass, const std::vector<Vec4>& f, std::vector<Vec4>& x, double error);

  /// Accelerations of forces that differ from vertex to vertex.
  void divide_forces(Forcing& forcing);
  /// The elastic acceleration that an integrator takes at x_n. What is held does not depend on it.
  void divide_elastic(const Forcing& forcing, Motion& motion);

  // Of a step, whose arrays are `rows`.

  /// D u and D xb, and what they add to the sums over its start and to the columns of the constraints, each of which
  /// may be null.
  RowState begin(const RowArrays& rows, const Motion& motion, Vec4* kr, Vec4* lin);
  /// D v at x. D x - D xb loses no more than v = (x - xb)/hh does.
  Vec4 velocity(const Vec4* x, double hh, int row) const { return (coupling.row(x, row) - Dr[row]) * (1 / hh); }
  /// After a pass: gg, kinetic energy and L of M_c in place of M. P and the power of the forces are the same.
  RowSums after_pass(const RowArrays& rows);
  /// Of the columns of held momenta: sum A^-1(K r) (D r)^T and sum (D r) x A^-1 lin.
  RowColumns columns(const Vec4* Akr, const Vec4* Alin);
  /// sum (D r) x A^-1 gg
  Vec3 spin(const Vec4* Ag);

  MassCoupling coupling;
  int first = 0;             // row with couplings
  std::vector<Vec4> Dr, Du;  // D xb and D u of the step

 private:
  std::vector<Vec4> residual_, direction_, next_;
  std::vector<RowState> state_parts_;
  std::vector<RowSums> sum_parts_;
  std::vector<RowColumns> column_parts_;
  std::vector<RowProducts> product_parts_;
};

}  // namespace verve
