// Bending of sheets by the Laplace-Beltrami operator.
#pragma once

#include "potentials/potential.h"

namespace verve {

/// Over the inner vertices of sheets, PD Eq. 19-21 and 28.
PotentialEntry bending_entry();

}  // namespace verve
