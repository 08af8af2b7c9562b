// Parts of isosurface stuffing that are not public.
#pragma once

#include "verve/mesh.h"

namespace verve {

/// The skin of what tetrahedralize() makes of the same arguments, without the inside: the same triangles in the same
/// order, at a cost that grows with the surface (but for one call of the function per lattice point).
Expected<Mesh> stuffing_skin(const std::function<double(const Vec3&)>& distance, const Vec3& lower, const Vec3& upper,
                             double spacing);

}  // namespace verve
