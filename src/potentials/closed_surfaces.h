// The closed surfaces that a gas can be inside of.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "verve/mesh.h"

namespace verve {

/// One closed surface; its triangles are wound outward, seen from the gas.
using ClosedSurface = std::vector<std::array<int, 3>>;

/// The triangles of a sheet, or where there are none the walls of the cavities of a solid, each connected piece on its
/// own. Only triangles with all vertices in `region` count (empty: all). Pieces that are wound inward are turned. When
/// an edge has not exactly two triangles, or two that are wound against each other, `fault` says so.
std::vector<ClosedSurface> closed_surfaces(const Mesh& mesh, const std::vector<char>& region, std::string& fault);

/// By the divergence theorem, from differences to the first vertex: exact far from the origin.
double enclosed_volume(const ClosedSurface& surface, const std::vector<Vec3>& x);

}  // namespace verve
