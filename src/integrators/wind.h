// Wind on triangles (PD Sec. 7.1): a drag that depends on direction and normal.
#pragma once

#include <vector>

#include "model/model.h"

namespace verve {

/// Work space, and where the rows were before the step that the wind acts in.
struct WindWork {
  std::vector<Vec3> area;    // of each triangle
  std::vector<double> rate;  // per row: the coefficient of friction of all winds [kg/s]
  std::vector<Vec4> start;
  std::vector<Vec4> x;  // of shared rows, with copies
};

/// Adds the force of air of velocity `air` on one body to `force`, and to `rate` the sum of drag A |w - v| of each
/// vertex: an upper bound of -d force/dv. Areas are shared by the three vertices of a triangle, each with its own
/// velocity. Rows are those of the body.
void add_wind(const WindSurface& surface, const Vec3& air, double drag, const Vec4* x, const Vec4* v, Vec4* force,
              double* rate, std::vector<Vec3>& area);

}  // namespace verve
