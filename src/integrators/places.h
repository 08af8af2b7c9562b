// Places of contact from one step to the next: how they are found again, and how far away new ones are looked for.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "integrators/contacts.h"
#include "integrators/state.h"

namespace verve {

/// Of the mean length of edges: how much farther than they are expected to come things are looked for.
constexpr double search_slack = 0.25;

/// Cosine between the normal of a vertex and that of a face that it may touch, at most. Above 0 vertices of a floor would
/// be met by the front of what slides over them, and at 0, as where boxes are aligned, round-off would decide.
constexpr double opposing = -0.2;

/// Of a cosine: by how much edges may turn in a step until something no longer lies on them.
constexpr double cone_slack = 0.1;

/// Bodies of an island from which on it is a pile: what an impact in it loses is not given back when two of them part.
constexpr int least_heap = 3;

/// Grips and contacts of a state, in the order in which they are found again.
inline std::array<int, 6> key(const Grip& g) { return {g.row, g.collider, g.body, g.more[0], g.more[1], g.more[2]}; }
inline std::array<int, 4> key(const CachedContact& c) { return c.key; }

inline std::array<int, 4> edge_key(const Contacts& c, const Contacts::OnEdge& on) {
  return {c.state_of_row[on.rows[0]], c.state_of_row[on.rows[1]], c.state_of_row[on.rows[2]],
          c.state_of_row[on.rows[3]]};
}

/// Of a vertex on the faces of a body; of a point of a collider on the faces of one, or on one of them; and of an edge
/// of a collider on one of a body. Rows and bodies as the state counts.
inline std::array<int, 4> vertex_key(int row, int body) { return {row, -1, body, -1}; }
inline std::array<int, 4> shape_key(int row, int collider) { return {row, -1, -2 - collider, -1}; }
inline std::array<int, 4> point_key(int row, int collider, int point) { return {row, -2 - collider, -1, point}; }
inline std::array<int, 4> point_key(int collider, int point, const std::array<int, 3>& face) {
  return {face[0], -2 - 2 * collider - point, face[1], face[2]};  // round shapes have two points at most
}
inline std::array<int, 4> line_key(int i, int j, int collider, int edge) { return {i, j, -2 - collider, edge}; }

template <class T>
void sort_places(std::vector<T>& places) {
  std::sort(places.begin(), places.end(), [](const T& a, const T& b) { return key(a) < key(b); });
}

template <class T, class Key>
const T* find_sorted(const std::vector<T>& places, const Key& wanted) {
  const auto found =
      std::lower_bound(places.begin(), places.end(), wanted, [](const T& p, const Key& k) { return key(p) < k; });
  return found != places.end() && key(*found) == wanted ? &*found : nullptr;
}

}  // namespace verve
