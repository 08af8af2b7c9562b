// The matrix A of the global step for minimisers that do not factorise it, or the part of it that is no element's
// Hessian.
#pragma once

#include "integrators/step_solver.h"

namespace verve {

class StepMatrix {
 public:
  /// False when it is as it was.
  bool refresh(const Island& island, bool without_hessians) {
    const double hh = island.solver().base().hh;
    if (has_pattern_ && hh == hh_ && island.version() == version_) return false;
    island.matrix().assemble(assembly_, has_pattern_, hh, without_hessians);
    hh_ = hh, version_ = island.version();
    return true;
  }
  const SymmetricMatrix& matrix() const { return assembly_.matrix(); }

 private:
  SymmetricAssembly assembly_;
  bool has_pattern_ = false;
  double hh_ = 0;
  long version_ = -1;
};

}  // namespace verve
