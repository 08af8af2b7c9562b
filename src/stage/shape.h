// What is shown of a body, and how it follows the vertices that are simulated.
#pragma once

#include <string>
#include <vector>

#include "verve/convert.h"
#include "verve/simulation.h"

namespace verve {

/// Keeps pointers into the simulation that it was made of.
struct ShownBody {
  Mesh mesh;
  int body = 0;
  int first = 0;                         ///< vertex of the body in a frame
  int count = 0;                         ///< vertices of the body
  std::vector<int> source;               ///< vertex of the body behind each of the mesh
  const Embedding* embedding = nullptr;  ///< instead, for a carried surface

  /// `positions`: those of all bodies.
  void move(const std::vector<Vec3>& positions);
  /// What is left of it; its vertices stay.
  void tear(const Simulation& simulation, const RemovedElements& removed);
};

/// The carried surface where a body has one, else the skin of its tetrahedra with its own triangles, else all it has.
ShownBody shown_body(const Simulation& simulation, int body);
bool can_tear(const BodySpec& body);
/// The elements of a body that are gone by a frame.
RemovedElements removed_by(const std::vector<TornElement>& torn, const std::string& body, int frame);

}  // namespace verve
