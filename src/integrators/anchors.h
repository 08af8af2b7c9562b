// Anchors of all bodies: which are active, how stiff they are and where their points are.
#pragma once

#include <vector>

#include "integrators/islands.h"

namespace verve {

/// The stiffness that an anchor has in the state goes to its island.
void set_stiffness(Island& island, AnchorTerm& term, const AnchorState& anchor);

/// A view, as Ledger is: what it changes is in the state, in the matter and in the scene's specifications.
class Anchors {
 public:
  Anchors(Scene& scene, const Model& model, Matter& matter, State& state, const Islands& islands)
      : scene_(scene), model_(model), matter_(matter), state_(state), islands_(islands) {}

  /// Those that turn on or off or change their stiffness at a time. True: islands must be rebuilt.
  bool update(double time);
  /// Points of an island's anchors as they are at the start of a frame, or a `fraction` into it, along their paths.
  /// True: a hard one has moved and drives the island. The energy k/2 |way|^2 that goes into its spring at once is many
  /// times that of the vertex it carries and not what the hand does, which only the step will tell.
  bool place(Island& island, double time, double fraction) const;
  /// After a frame: hard anchors go on from where they are.
  void settle(double time);
  /// Material or step have changed, of which the stiffness of hard anchors is made.
  void harden(Island& island);

  int add(const AnchorSpec& spec, Anchor anchor);
  void remove(int anchor);
  /// Specifications and vertices of all anchors, as the state says which were added and removed; `given`: the scene's.
  void set_specs(const std::vector<AnchorSpec>& given);

 private:
  std::vector<double> matrix_diagonal(int body, double inertia) const;
  std::vector<double> hardness_of(int anchor) const;

  Scene& scene_;
  const Model& model_;
  Matter& matter_;
  State& state_;
  const Islands& islands_;
};

}  // namespace verve
