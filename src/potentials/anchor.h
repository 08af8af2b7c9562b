// Zero-rest-length springs: attachments (CPD Sec. 4.4), to a point of the world or between two vertices.
#pragma once

#include "potentials/potential.h"

namespace verve {

/// E = k/2 |x - a|^2 per vertex. The points a move; stiffness 0 switches the anchor off and keeps the pattern.
/// This one does not conserve momentum: the world takes the reaction.
class WorldAnchors {
 public:
  std::vector<int> vertices;  // rows of the island
  std::vector<Vec4> points;
  double stiffness = 0;          // [N/m], per vertex
  std::vector<double> hardness;  // in its place, where not empty: one for each
  double weight(size_t i) const { return hardness.empty() ? stiffness : hardness[i]; }

  double add_gradient(const Vec4* x, Vec4* gradient) const;
  /// After the pass that assembles everything else.
  void add_weights(SymmetricAssembly& matrix) const;
};

/// E = k/2 |x1 - x0|^2 between vertices of two bodies; conserves both momenta of the pair.
class BodyLinks {
 public:
  std::vector<std::array<int, 2>> pairs;
  double stiffness = 0;
  std::vector<double> hardness;
  double weight(size_t i) const { return hardness.empty() ? stiffness : hardness[i]; }

  double add_gradient(const Vec4* x, Vec4* gradient) const;
  void add_weights(SymmetricAssembly& matrix) const;
};

}  // namespace verve
