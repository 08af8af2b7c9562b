// The line of the registry for a kernel; made in the unit of the kernel (entries.h).
#pragma once

#include "potentials/potential.h"

namespace verve {

/// Of a kernel over the elements of a body's mesh.
template <class Kernel>
PotentialEntry entry();

}  // namespace verve
