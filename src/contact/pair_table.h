// Friction, restitution and whether two sides touch at all, by pairs.
#pragma once

#include <optional>
#include <vector>

#include "verve/scene.h"

namespace verve {

/// What happens between two bodies, or a body and a collider.
struct PairSurface {
  double friction = 0, restitution = 1;
  bool touch = true;
};

/// The surfaces of a scene two by two: what `contact.pairs` says of two sides, else what their own surfaces say. Sides
/// are bodies, and after them colliders.
class PairTable {
 public:
  /// Keeps a pointer to the scene, whose bodies and colliders stay what they are.
  void compile(const Scene& scene);
  /// `friction`: in place of all coefficients.
  PairSurface of(int a, int b, std::optional<double> friction = {}) const;

 private:
  struct Rule {  // of the scene's contact.pairs
    int a, b, pair;
  };
  const Scene* scene_ = nullptr;
  std::vector<Rule> rules_;
};

}  // namespace verve
