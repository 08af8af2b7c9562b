// Contact as the CPD paper has it (Kee et al. 2021, Sec. 4.4): repulsion springs between what is inside of each other
// when a frame begins, as forces that are constant during it. For comparison: docs/contact.md says what this costs.
#include "contact/repulsion.h"

#include <limits>

#include "integrators/stopwatch.h"
#include "integrators/world.h"

namespace verve {

namespace {

/// Mean edges: so deep in another body vertices are still found.
constexpr double reach = 1;

}  // namespace

double World::repel(const std::vector<Vec4>& x, std::vector<Vec4>& force) {
  force.assign(model.rows, Vec4());
  if (!repels()) return 0;
  const ContactSpec& spec = *scene.contact;
  double energy = 0;
  const auto stiffness = [&](int b) {
    const ContactBody& c = contact_bodies_[b];
    return c.edge > 0 ? c.stiffness / spec.stiffness * spec.repulsion / c.edge : 0;
  };
  for (size_t s = 0; s < model.colliders.size(); ++s) {
    if (!scene.colliders[s].active.at(clock(state.frame)).value_or(false)) continue;
    const PlacedShape placed{model.colliders[s].shape.get(), pose_of(int(s), clock(state.frame))};
    for (size_t b = 0; b < model.bodies.size(); ++b) {
      if (!pair_of(int(b), int(model.bodies.size() + s)).touch) continue;
      const double k = stiffness(int(b));
      for (const int r : model.bodies[b].surface.vertices) {
        if (!(model.bodies[b].mass[r] > 0)) continue;
        const int row = model.bodies[b].first + r;
        const Touch touch = placed.touch(x[row].xyz());
        const Repulsion push = repulsion(k, contact_bodies_[b].thickness - touch.distance);
        energy += push.energy, force[row] += Vec4(touch.normal * push.force);
      }
    }
  }
  if (!spec.bodies || model.bodies.size() < 2) return energy;
  swept_.clear();
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Vec4* at = x.data() + model.bodies[b].first;
    const ContactBody& c = contact_bodies_[b];
    swept_.push_back({&model.bodies[b].surface, at, at, c.thickness + reach * c.edge, int(b), false});
  }
  meetings_->find(swept_, vertex_face_, edge_edge_, false);
  for (size_t at = 0; at < vertex_face_.size();) {
    const Pair& head = vertex_face_[at];
    const int i = head.surface_a, j = head.surface_b;
    const Body &a = model.bodies[i], &b = model.bodies[j];
    const Vec4 *of_a = x.data() + a.first, *of_b = x.data() + b.first;
    const int r = a.surface.vertices[head.feature_a];
    Vec3 outward{};
    if (a.surface.solid_faces > 0) outward = vertex_normal(a.surface, of_a, head.feature_a);
    double best = std::numeric_limits<double>::infinity();
    PointTriangle nearest{};
    int face = -1;
    for (; at < vertex_face_.size() && vertex_face_[at].surface_a == i &&
           vertex_face_[at].feature_a == head.feature_a && vertex_face_[at].surface_b == j;
         ++at) {
      const int f = vertex_face_[at].feature_b;
      const auto& c = b.surface.faces[f];
      if (f < b.surface.solid_faces && dot(outward, face_normal(b.surface, of_b, f)) > 0) continue;
      const PointTriangle near = point_triangle(of_a[r].xyz(), of_b[c[0]].xyz(), of_b[c[1]].xyz(), of_b[c[2]].xyz());
      if (near.squared_distance < best) best = near.squared_distance, nearest = near, face = f;
    }
    if (face < 0 || !(a.mass[r] > 0) || !pair_of(i, j).touch) continue;
    const bool solid = face < b.surface.solid_faces;
    const Vec3 side = solid ? pseudo_normal(b.surface, of_b, face, nearest.part) : nearest.offset;
    const Touch touch = signed_distance(nearest.offset, nearest.squared_distance, side);
    if (touch.distance < -0.5 * contact_bodies_[j].thin) continue;
    const Repulsion push = repulsion(std::min(stiffness(i), stiffness(j)),
                                     contact_bodies_[i].thickness + contact_bodies_[j].thickness - touch.distance);
    energy += push.energy, force[a.first + r] += Vec4(touch.normal * push.force);
    for (int k = 0; k < 3; ++k)
      force[b.first + b.surface.faces[face][k]] -= Vec4(touch.normal * (push.force * nearest.weights[k]));
  }
  return energy;
}

}  // namespace verve
