// Consistent mass (docs/cpd.md): what a step does beyond its passes with lumped masses where M is not diagonal.
#pragma once

#include <vector>

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

  MassCoupling coupling;
  int first = 0;             // row with couplings
  std::vector<Vec4> Dr, Du;  // D xb and D u of the step

 private:
  std::vector<Vec4> residual_, direction_, next_;
};

}  // namespace verve
