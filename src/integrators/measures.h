// Conserved quantities of several bodies together.
#pragma once

#include <span>

#include "verve/simulation.h"

namespace verve {

Measures measures_of_all(std::span<const Measures> bodies);

}  // namespace verve
