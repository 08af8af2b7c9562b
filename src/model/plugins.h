// What programs add to the axes: verve/plugin.h.
#pragma once

#include <vector>

#include "verve/registry.h"

namespace verve {

/// integrator_infos(), to be added to.
std::vector<IntegratorInfo>& editable_integrator_infos();

}  // namespace verve
