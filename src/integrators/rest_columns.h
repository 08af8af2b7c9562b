// A^-1 K of the rest shape of a body, from which the columns of turns are made at any other (docs/cpd.md).
#pragma once

#include <vector>

#include "integrators/rest_shape.h"
#include "integrators/system_matrix.h"

namespace verve {

/// Factor::at_rest, made anew where the matrix has changed. True: it had.
bool find_rest_columns(SystemMatrix::Factor& factor, const RestShape& rest, const std::vector<double>& mass,
                       const std::vector<AnchorTerm>& anchors);

}  // namespace verve
