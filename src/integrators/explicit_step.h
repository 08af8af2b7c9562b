// What the explicit methods share: the acceleration of everything at once.
#pragma once

#include "integrators/contact_constraints.h"
#include "integrators/held_vertices.h"

namespace verve {

class ExplicitStep : public OwnStep {
 protected:
  /// M^-1 (f - grad W) at x.
  void accelerate(Island& island, const std::vector<Vec4>& x, std::vector<Vec4>& out);
  /// The anchors and contacts as they are for this step, and work arrays.
  void begin(Island& island);
  /// What is held is where its anchors are.
  void hold(Island& island, double h) { held_.place(island, h, before_, island.motion.x, island.motion.v); }
  /// The same, and x comes out of all contacts.
  void meet(Island& island, double h);
  /// After the last change of v.
  void finish(Island& island, double h);

  std::vector<Vec4> acceleration_;

 private:
  HeldVertices held_;
  ContactConstraints contacts_;
  std::vector<Vec4> before_, speed_before_, gradient_;
  ConsistentMass mass_;
};

/// Explicit methods drive every potential: all they need is its gradient.
std::string no_refusal(const Potential& potential);

std::unique_ptr<OwnStep> make_explicit_euler(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_symplectic_euler(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_verlet(const SolverSpec& spec);

}  // namespace verve
