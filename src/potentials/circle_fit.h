// The circle nearest to points in space.
#pragma once

#include "verve/vec.h"

namespace verve {

/// Puts each p_i where the circle with the least sum of squared distances to all z_i is nearest to z_i. Centre, normal
/// and radius all follow from that minimum: a circle fitted in the best plane (Shape-Up) is not the nearest one, and
/// would give forces that no energy has. Where points ask for a straight line the radius grows without bound; it is
/// stopped at 1e4 times the size of the group.
void project_onto_circle(int n, const Vec3* z, Vec3* p);

}  // namespace verve
