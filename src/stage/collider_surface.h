// Surfaces of colliders, in their own frames.
#pragma once

#include <optional>

#include "render/picture.h"
#include "verve/scene.h"

namespace verve::render {

/// Nothing for a plane, which has no end. A mesh that cannot be loaded is left out: the simulation has reported it.
std::optional<Surface> collider_surface(const ColliderSpec& spec);
/// A square of a plane through the origin, with its normal.
Surface plane_patch(const Vec3& normal, double half_width);

}  // namespace verve::render
