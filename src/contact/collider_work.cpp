// What colliders that move do to the bodies they touch: their work in a step, the forces that the next step of an
// integrator with a memory goes on with, and how they would have the bodies move. docs/contact.md
#include <algorithm>
#include <cmath>
#include <numeric>

#include "contact/contacts.h"

namespace verve {

double Contacts::lift() const {
  return std::accumulate(pair_lift_.begin(), pair_lift_.end(), 0.0) +
         std::accumulate(friction_lift_.begin(), friction_lift_.end(), 0.0);
}

void Contacts::add_work(std::span<double> work) const {
  each([&](const Candidate& c) {
    if (c.depth > 0 && c.way != 0) work[c.body] += c.stiffness * c.depth * c.way;
  });
  for (size_t g = 0; g < friction_points_.size(); ++g) {
    const FrictionAnchor& anchor = friction_anchors[g];
    const FrictionPoint& place = friction_points_[g];
    if (anchor.row >= 0 && moves(anchor.collider)) work[place.body] += dot(place.force(), way_of(anchor));
  }
}

void Contacts::add_loads(const Vec4* x, double share, std::vector<ColliderLoad>& loads) const {
  const auto add = [&](int body, int collider, const Vec3& at, const Vec3& force) {
    auto load = std::find_if(loads.begin(), loads.end(),
                             [&](const ColliderLoad& l) { return l.body == body && l.collider == collider; });
    if (load == loads.end()) load = loads.insert(load, ColliderLoad{.body = body, .collider = collider});
    load->add(at, force, shapes[collider].pose.position);
  };
  each([&](const Candidate& c) {
    const int collider = collider_of(c);
    if (!(c.depth > 0) || collider < 0 || !shape_movable[collider]) return;
    add(c.body, collider, c.row.place(x), c.row.direction * (share * c.row.scale * c.stiffness * c.depth));
  });
  for (size_t g = 0; g < friction_points_.size(); ++g) {
    const FrictionAnchor& anchor = friction_anchors[g];
    if (anchor.row < 0 || anchor.collider < 0 || !shape_movable[anchor.collider] || friction_points_[g].count == 0) continue;
    Vec3 own{};
    for (int i = 0; i < anchor.own; ++i) own += x[row_of_state[anchor.rows[i]]].xyz() * anchor.weights[i];
    add(friction_points_[g].body, anchor.collider, own, friction_points_[g].force() * share);
  }
}

void Contacts::find_resistances(std::vector<double>& by_collider) const {
  by_collider.assign(shapes.size(), 0.0);
  each([&](const Candidate& c) {
    const int collider = collider_of(c);
    if (collider < 0 || !(touching_ ? c.depth > 0 : std::isfinite(c.depth))) return;
    by_collider[collider] += c.stiffness * (touching_ ? c.depth * c.row.scale : 1);
  });
  for (size_t g = 0; g < friction_points_.size(); ++g) {
    const FrictionAnchor& anchor = friction_anchors[g];
    // as much as it could hold, or what sticks would count for nothing
    if (anchor.row >= 0 && anchor.collider >= 0 && friction_points_[g].count > 0)
      by_collider[anchor.collider] += friction_points_[g].cap;
  }
}

}  // namespace verve
