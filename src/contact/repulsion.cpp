#include "contact/repulsion.h"

#include <algorithm>
#include <limits>

#include "contact/contact_detector.h"
#include "contact/proximity.h"

namespace verve {

namespace {

/// Mean edges: so deep in another body vertices are still found.
constexpr double reach = 1;

}  // namespace

double ContactDetector::repel(const Vec4* x, std::span<const ColliderMotion> colliders, const ContactSpec& spec,
                              Vec4* force) {
  friction_.reset();
  double energy = 0;
  const auto stiffness = [&](int b) {
    const ContactBody& c = bodies_[b];
    return c.edge > 0 ? c.stiffness / spec.stiffness * spec.repulsion / c.edge : 0;
  };
  for (size_t s = 0; s < shapes_.size(); ++s) {
    if (!colliders[s].active) continue;
    const PlacedShape placed{shapes_[s], colliders[s].start};
    for (size_t b = 0; b < bodies_.size(); ++b) {
      if (!pair_of(int(b), side_of(int(s))).touch) continue;
      const double k = stiffness(int(b));
      for (const int r : bodies_[b].surface->vertices) {
        if (!(bodies_[b].mass[r] > 0)) continue;
        const int row = bodies_[b].first + r;
        const Touch touch = placed.touch(x[row].xyz());
        const Repulsion push = repulsion(k, bodies_[b].thickness - touch.distance);
        energy += push.energy, force[row] += Vec4(touch.normal * push.force);
      }
    }
  }
  if (!spec.bodies || bodies_.size() < 2) return energy;
  swept_.clear();
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const Vec4* at = x + bodies_[b].first;
    const ContactBody& c = bodies_[b];
    swept_.push_back({bodies_[b].surface, at, at, c.thickness + reach * c.edge, int(b), false});
  }
  meetings_->find(swept_, vertex_face_, edge_edge_, false);
  for (size_t at = 0; at < vertex_face_.size();) {
    const Pair& head = vertex_face_[at];
    const int i = head.surface_a, j = head.surface_b;
    const ContactBody &a = bodies_[i], &b = bodies_[j];
    const Vec4 *of_a = x + a.first, *of_b = x + b.first;
    const int r = a.surface->vertices[head.feature_a];
    Vec3 outward{};
    if (a.surface->solid_faces > 0) outward = vertex_normal(*a.surface, of_a, head.feature_a);
    double best = std::numeric_limits<double>::infinity();
    PointTriangle nearest{};
    int face = -1;
    for (; at < vertex_face_.size() && vertex_face_[at].surface_a == i &&
           vertex_face_[at].feature_a == head.feature_a && vertex_face_[at].surface_b == j;
         ++at) {
      const int f = vertex_face_[at].feature_b;
      const auto& c = b.surface->faces[f];
      if (f < b.surface->solid_faces && dot(outward, face_normal(*b.surface, of_b, f)) > 0) continue;
      const PointTriangle near = point_triangle(of_a[r].xyz(), of_b[c[0]].xyz(), of_b[c[1]].xyz(), of_b[c[2]].xyz());
      if (near.squared_distance < best) best = near.squared_distance, nearest = near, face = f;
    }
    if (face < 0 || !(a.mass[r] > 0) || !pair_of(i, j).touch) continue;
    const bool solid = face < b.surface->solid_faces;
    const Vec3 side = solid ? pseudo_normal(*b.surface, of_b, face, nearest.part) : nearest.offset;
    const Touch touch = signed_distance(nearest.offset, nearest.squared_distance, side);
    if (touch.distance < -0.5 * bodies_[j].thin) continue;
    const Repulsion push =
        repulsion(std::min(stiffness(i), stiffness(j)), bodies_[i].thickness + bodies_[j].thickness - touch.distance);
    energy += push.energy, force[a.first + r] += Vec4(touch.normal * push.force);
    for (int k = 0; k < 3; ++k)
      force[b.first + b.surface->faces[face][k]] -= Vec4(touch.normal * (push.force * nearest.weights[k]));
  }
  return energy;
}

}  // namespace verve
