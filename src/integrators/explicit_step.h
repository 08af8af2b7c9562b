// What the explicit methods share: the acceleration of everything at once.
#pragma once

#include "integrators/held_vertices.h"

namespace verve {

class ExplicitStep : public OwnStep {
 protected:
  /// M^-1 (f - grad W) at x.
  void accelerate(Island& island, const std::vector<Vec4>& x, std::vector<Vec4>& out);
  /// The anchors as they are for this step, and work arrays.
  void begin(Island& island);

  HeldVertices held_;
  std::vector<Vec4> before_, acceleration_;

 private:
  std::vector<Vec4> gradient_;
  ConsistentMass mass_;
};

/// Explicit methods drive every potential: all they need is its gradient.
std::string no_refusal(const Potential& potential);

std::unique_ptr<OwnStep> make_explicit_euler(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_symplectic_euler(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_verlet(const SolverSpec& spec);

}  // namespace verve
