// Stress inside of solids, for people to look at.
#pragma once

#include "model/model.h"

namespace verve {

/// xx, yy, zz, xy, yz, zx [Pa]
using Stress = std::array<double, 6>;

/// Mean Cauchy stress of tetrahedra: what their potentials pull at the corners, times where these are, over the volume.
/// Potentials over other stencils (gas, shape matching, whole groups) have no part in it.
class ElementStress {
 public:
  /// Of a scene that Simulation::create has accepted.
  explicit ElementStress(const Scene& scene);
  /// One for each tetrahedron of the body's mesh. `positions`: of its vertices, in the order of the mesh.
  std::vector<Stress> of(int body, const Vec3* positions, double time);

 private:
  Scene scene_;
  CompiledScene compiled_;
  std::vector<Vec4> x_;  // work
  std::vector<Vec3> z_, projected_;
};

}  // namespace verve
