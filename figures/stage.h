// What is drawn of a scene: skins, carried surfaces, ropes and colliders.
#pragma once

#include <memory>

#include "figures/film.h"
#include "verve/mesh.h"

namespace verve::figures {

struct Stage {
  struct Body {
    int first = 0, vertices = 0;
    Mesh skin;                           ///< with the vertices of the body: triangles, and edges of what has no others
    std::shared_ptr<Embedding> carried;  ///< where the skin is that of a carried surface
    bool solid = false;
    std::string color;
    double thickness = 0;
  };
  std::vector<Body> bodies;
};
std::shared_ptr<const Stage> stage_of(const Simulation& simulation);

}  // namespace verve::figures
