// Contacts from one step to the next: what is remembered of them, and how they are found again.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "contact/friction_anchor.h"
#include "verve/vec.h"

namespace verve {

/// A contact as the last step left it.
struct CachedContact {
  std::array<int, 4> key;  // rows as the state counts: vertex_key and the like
  double depth = 0;        // beyond `rest`: what pushed
  double rest = 0;         // penetration without a force [m]: it was found so deep without having come in
  Vec3 normal;             // of the face or the collider that the vertex pressed on; of a collider in its own frame
  Vec3 point;              // of a collider, in its frame: through which side of a thin plate the vertex came
};
inline std::array<int, 4> key(const CachedContact& c) { return c.key; }

/// What a collider that may move does to a body, in a step.
struct ColliderLoad {
  int body = 0;  // of the island
  int collider = 0;
  Vec3 force{};      // on the body
  Vec3 torque{};     // about where the collider is at the end of the step
  Vec3 moment{};     // sum of places, each times the size of its force,
  double size = 0;  // and of these sizes
  Vec3 at() const { return size > 0 ? moment / size : Vec3{}; }
  void add(const Vec3& place, const Vec3& of_force, const Vec3& origin) {
    const double more = norm(of_force);
    force += of_force, torque += cross(place - origin, of_force), moment += place * more, size += more;
  }
};

/// Of a vertex on the faces of a body, of a vertex or a point that it and others carry on a collider, of a point of a
/// collider on the faces of a body, or on one of them, of an edge of a collider on one of a body, and of two edges. Rows
/// and bodies as the state counts.
inline std::array<int, 4> vertex_key(int row, int body) { return {row, -1, body, -1}; }
inline std::array<int, 4> shape_key(int row, int collider, int carried = -1) {
  return {row, -1, -2 - collider, carried};
}
inline std::array<int, 4> point_key(int row, int collider, int point) { return {row, -2 - collider, -1, point}; }
inline std::array<int, 4> point_key(int collider, int point, const std::array<int, 3>& face) {
  return {face[0], -2 - 2 * collider - point, face[1], face[2]};  // round shapes have two points at most
}
inline std::array<int, 4> line_key(int i, int j, int collider, int edge) { return {i, j, -2 - collider, edge}; }
inline std::array<int, 4> edge_key(int i, int j, int k, int l) { return {i, j, k, l}; }

template <class T>
void sort_by_key(std::vector<T>& entries) {
  std::sort(entries.begin(), entries.end(), [](const T& a, const T& b) { return key(a) < key(b); });
}

/// Null: there is none.
template <class T, class Key>
const T* find_sorted(const std::vector<T>& entries, const Key& wanted) {
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), wanted, [](const T& e, const Key& k) { return key(e) < k; });
  return found != entries.end() && key(*found) == wanted ? &*found : nullptr;
}

}  // namespace verve
