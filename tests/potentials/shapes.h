// What the tests of potentials have beside the subjects of their contract.
#pragma once

#include <doctest/doctest.h>

#include "contracts/potential_subjects.h"

namespace verve::test {

/// Whether a potential runs on packs, so that it has to be tested on each set of instructions.
inline bool runs_on_packs(const PotentialInfo& info) {
  const bool patches =
      info.name == "shape_matching" || info.name == "lattice_shape_matching" || info.name == "similarity";
  return patches || (info.name != "custom" && info.elements != "groups of vertices" && !info.takes_examples);
}

}  // namespace verve::test
