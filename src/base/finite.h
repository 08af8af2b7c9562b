// Whether a vector is one of numbers.
#pragma once

#include <cmath>

#include "verve/vec.h"

namespace verve {

inline bool finite(const Vec3& a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }

}  // namespace verve
