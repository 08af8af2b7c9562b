// Friction between two steps: what a contact remembers.
#pragma once

#include <array>

#include "verve/vec.h"

namespace verve {

/// Friction at one contact: a spring between the two points that touched when it became active, along the surface only,
/// which slips at the Coulomb force. Rows as the state counts.
struct FrictionAnchor {
  int row = -1;                           // the vertex; a vertex of the edge or the face; -1: no longer active
  int collider = -1, body = -1;           // the other side
  std::array<int, 3> more{{-1, -1, -1}};  // what else tells it from others: ends of edges, corners
  Vec3 point;                             // of the collider, in its frame
  int own = 1, count = 1;                 // so many of these are on this side, and the rest on that of another body
  std::array<int, 4> rows{{-1, -1, -1, -1}};
  std::array<double, 4> weights{{1, 0, 0, 0}};
  Vec3 normal;           // of the contact when the step began, or friction became active: it acts across this
  double cap = fresh;  // force at which it slips, as the last step had it
  double stretch = 0;  // at the end of the last step
  static constexpr double fresh = -1, ended = -2;  // no force yet; none any more in this step
};

/// The order in which anchors of a state are found again.
inline std::array<int, 6> key(const FrictionAnchor& a) {
  return {a.row, a.collider, a.body, a.more[0], a.more[1], a.more[2]};
}

}  // namespace verve
