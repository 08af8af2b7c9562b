#pragma once

#include <string>

#include "verve/diagnostics.h"
#include "verve/scene.h"

namespace verve {

/// test_method, of a point on the axes; `of` names it.
Diagnostics test_solver(const SolverSpec& solver, const std::string& of);

}  // namespace verve
