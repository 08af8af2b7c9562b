// Registry lines of the potentials over groups of vertices and over example poses.
#pragma once

#include "potentials/potential.h"

namespace verve {

PotentialEntry shape_matching_entry();
PotentialEntry lattice_shape_matching_entry();
PotentialEntry similarity_entry();
PotentialEntry planarity_entry();
PotentialEntry circle_entry();
PotentialEntry distance_entry();
PotentialEntry angle_entry();
PotentialEntry area_entry();
PotentialEntry volume_entry();
PotentialEntry formula_entry();
PotentialEntry examples_entry();

}  // namespace verve
