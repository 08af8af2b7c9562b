// Contact as a part of W: candidates, energy, gradient, rows of the matrix. Stencils are found in contact_lookup.cpp,
// friction is that of contact_friction.cpp.
#include "contact/contacts.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

/// Of the way of a vertex: what round-off may make of its depth on a motion that does not change it.
constexpr double same_depth = 1e-9;

}  // namespace

void Contacts::clear(int bodies, int colliders) {
  shapes.clear(), shape_starts.clear(), shape_moves.clear(), shape_movable.clear(), on_shapes.clear(), on_faces.clear(), faces.clear(), outward.clear(),
      on_edges.clear(), friction_anchors.clear();
  touching_pairs.clear(), rows_.clear(), near_.clear(), friction_points_.clear(), points.clear();
  planes = constraints = false;
  touching_ = false;
  pair_energy_.clear(), friction_energy_.clear(), pair_lift_.clear(), friction_lift_.clear();
  start_stretch_.clear(), start_loss_.clear();
  depth_ = 0;
  slip_losses.clear();
  bodies_ = bodies, sides_ = bodies + colliders;
  pair_at_.assign(size_t(bodies) * sides_, -1);
}

int Contacts::add_pair(int body, int other, int collider) {
  if (other == body) return -1;
  if (other >= 0 && other < body) std::swap(body, other);
  int& place = place_of(body, other, collider);
  if (place < 0) {
    place = int(touching_pairs.size());
    touching_pairs.push_back({body, other, collider, {}, {}, 0});
  }
  return place;
}

void Contacts::close_faces(int first) {
  constexpr int ends[3][2] = {{0, 1}, {1, 2}, {2, 0}};  // as TrianglePart counts edges
  const auto closed = [](const Face& f, int edge) { return f.closed >> (3 + edge) & 1; };
  for (size_t i = first; i < faces.size(); ++i)
    for (int e = 0; e < 3; ++e)
      for (size_t j = i + 1; j < faces.size(); ++j)
        for (int other = 0; other < 3; ++other) {
          const int a = faces[j].rows[ends[other][0]], b = faces[j].rows[ends[other][1]];
          const int p = faces[i].rows[ends[e][0]], q = faces[i].rows[ends[e][1]];
          if ((a == q && b == p) || (a == p && b == q))
            faces[i].closed |= 1 << (3 + e), faces[j].closed |= 1 << (3 + other);
        }
  // around a corner they are when each of them has both its neighbours there
  for (size_t i = first; i < faces.size(); ++i)
    for (int corner = 0; corner < 3; ++corner) {
      bool all = true;
      for (size_t j = first; all && j < faces.size(); ++j)
        for (int c = 0; c < 3; ++c)
          if (faces[j].rows[c] == faces[i].rows[corner]) all = closed(faces[j], c) && closed(faces[j], (c + 2) % 3);
      if (all) faces[i].closed |= 1 << corner;
    }
}

void Contacts::drop_pair() {
  const TouchingPair& last = touching_pairs.back();
  place_of(last.body, last.other, last.collider) = -1;
  touching_pairs.pop_back();
}

void Contacts::note_touch(const Vec4* x, const Candidate& c) {
  touching_ = true;
  depth_ = std::max(depth_, c.depth);
  if (!planes) rows_.push_back(c.row);
  if (c.pair < 0) return;
  const double force = c.row.force;
  TouchingPair& m = touching_pairs[c.pair];
  m.normal += c.row.direction * (m.body == c.body ? force : -force);
  m.point += (m.collider >= 0 ? c.row.place(x) : x[c.row.rows[0]].xyz()) * force;
  m.weight += force;
}

double Contacts::push(const Vec4* x, Vec4* gradient, Candidate& c, std::span<double> energies) {
  ContactRow& row = c.row;
  const double force = row.stiffness * c.depth;
  double energy = 0.5 * force * c.depth;
  row.add_to(gradient, -force);
  row.force = force;
  note_touch(x, c);
  const double share = c.other < 0 ? energy : 0.5 * energy;
  energies[c.body] += share, pair_energy_[c.body] += share;
  if (c.other >= 0) energies[c.other] += share, pair_energy_[c.other] += share;
  // (the force of a row with a scale lacks it once more)
  if (c.anchor >= 0 && friction_anchors[c.anchor].row >= 0)
    energy += add_friction(x, gradient, friction_anchors[c.anchor], row, force, c.friction * row.scale, c.body, c.other,
                           energies);
  return energy;
}

void Contacts::keep_near(ContactRow& row, double depth) {
  if (!std::isfinite(depth) || !(row.stiffness > 0) || planes) return;
  row.force = row.stiffness * depth;
  near_.push_back(row);
}

void Contacts::carry(const Vec4* from, const Vec4* to, const Mat3& turn) {
  turned_ = turn * turned_;
  each([&](Candidate& c) {
    if (!std::isfinite(c.offset) || collider_of(c) >= 0) return;  // what a collider does stays
    const double depth = c.offset - c.row.along(from);
    c.row.direction = turn * c.row.direction;
    c.offset = depth + c.row.along(to);
  });
  // A motion that no contact resists is a symmetry of the collider: about the middle of a ball what lay on it still does,
  // and would be in the plane that touches it at x_n. (On a plane, and past an edge, that plane stays.)
  for (OnShape& c : on_shapes) {
    const Vec3 was = c.at(from), is = c.at(to);
    if (planes || !(norm(is - was) > 0)) continue;
    const double depth = c.offset - c.row.along(from);
    const Touch there = touch(c, is);
    if (std::abs(c.thickness - there.distance - c.rest - depth) > same_depth * norm(is - was)) continue;
    c.row.direction = there.normal;
    c.offset = depth + c.row.along(to);
  }
  // friction acts across the normal, which turns along: a rigid motion stretches no spring
  for (FrictionAnchor& anchor : friction_anchors)
    if (anchor.collider < 0) anchor.normal = turn * anchor.normal;
}

/// Nothing but the forces that the step has found.
void Contacts::note_constraints(const Vec4* x) {
  looks_again_ = false;
  each([&](Candidate& c) {
    c.depth = std::isfinite(c.offset) ? c.offset - c.row.along(x) : c.offset;
    if (!(c.force > 0)) return keep_near(c.row, c.depth);
    c.row.force = c.force;
    note_touch(x, c);
  });
}

Vec3 Contacts::way(const Candidate& c) const {
  const int collider = collider_of(c);
  if (!moves(collider)) return {};
  const Vec3 at = c.row.place(start.data());
  return carried(collider, at) - at;
}

Vec3 Contacts::slide(const Candidate& c, const Vec4* x) const {
  Vec3 out = way(c) * -1.0;
  for (int i = 0; i < c.row.count; ++i) out += (x[c.row.rows[i]] - start[c.row.rows[i]]).xyz() * c.row.share[i];
  return out;
}

double Contacts::add_gradient(const Vec4* x, Vec4* gradient, std::span<double> energies) {
  rows_.clear(), near_.clear();
  friction_points_.assign(friction_anchors.size(), {});
  for (TouchingPair& m : touching_pairs) m.normal = m.point = {}, m.weight = 0;
  touching_ = false;
  depth_ = 0;
  pair_energy_.assign(energies.size(), 0.0), friction_energy_.assign(energies.size(), 0.0);
  if (looks_again_) {
    pair_lift_.assign(energies.size(), 0.0), friction_lift_.assign(energies.size(), 0.0);
    start_stretch_.assign(friction_anchors.size(), 0.0), start_loss_.assign(energies.size(), 0.0);
  }
  if (constraints) return note_constraints(x), 0;
  double energy = 0;
  each([&](Candidate& c) {
    c.depth = std::isfinite(c.offset) ? c.offset - c.row.along(x) : c.offset;
    if (looks_again_ && moves(collider_of(c))) {
      const double now = std::max(0.0, c.depth), before = std::max(0.0, c.start_depth - c.rest);
      pair_lift_[c.body] += 0.5 * c.stiffness * (now * now - before * before);
    }
    if (c.depth > 0) {
      energy += push(x, gradient, c, energies);
    } else {
      keep_near(c.row, c.depth);
      energy += add_friction_apart(x, gradient, c, energies);
    }
  });
  looks_again_ = false;
  return energy;
}

}  // namespace verve
