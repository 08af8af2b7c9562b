#include "integrators/contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "contact/proximity.h"

namespace verve {

namespace {

constexpr int settling = 3;  // evaluations after which Coulomb forces stay what they are

void add(Vec4* gradient, const ContactRow& row, double force) {
  for (int i = 0; i < row.count; ++i) gradient[row.rows[i]] += Vec4(row.direction * (row.share[i] * force));
}

/// W of a spring of stiffness k that gives way at `cap` (Huber).
double huber(double length, double k, double cap) {
  return k * length <= cap ? 0.5 * k * length * length : cap * length - 0.5 * cap * cap / k;
}

}  // namespace

void Contacts::clear() {
  shapes.clear(), on_shapes.clear(), on_faces.clear(), faces.clear(), on_edges.clear(), grips.clear();
  meetings.clear(), rows_.clear(), places_.clear();
  touching_ = false;
  pair_energy_.clear(), grip_energy_.clear();
  depth_ = 0;
}

int Contacts::meeting_of(int body, int other, int collider) {
  if (other == body) return -1;
  if (other >= 0 && other < body) std::swap(body, other);
  // candidates come in the order of their bodies: the last ones are looked at first
  for (size_t m = meetings.size(); m-- > 0;)
    if (meetings[m].body == body && meetings[m].other == other && meetings[m].collider == collider) return int(m);
  meetings.push_back({body, other, collider, {}, {}, 0});
  return int(meetings.size()) - 1;
}

/// The spring of a grip, against sliding only: what it pulls along the normal is the business of the push.
double Contacts::hold(const Vec4* x, Vec4* gradient, Grip& grip, const ContactRow& row, double pressure,
                      double friction, int body, int other, std::span<double> energies) {
  Place& place = places_[&grip - grips.data()];
  place = {};
  place.count = 1, place.rows[0] = row.rows[0], place.share[0] = 1;
  if (row.count == 4) place.face = {row.rows[1], row.rows[2], row.rows[3]};
  place.body = body, place.other = other, place.stiffness = row.stiffness, place.pressure = pressure * friction;
  Vec3 held = grip.point;
  if (grip.collider >= 0) {
    held = shapes[grip.collider].pose.to_world(grip.point);
  } else {
    held = {};
    for (int i = 0; i < 3; ++i) {
      place.rows[++place.count - 1] = row_of_state[grip.face[i]];
      place.share[place.count - 1] = -grip.weights[i];
      held += x[row_of_state[grip.face[i]]].xyz() * grip.weights[i];
    }
  }
  const Vec3 d = x[row.rows[0]].xyz() - held, normal = direction(row.direction, {0, 1, 0});
  place.offset = d - normal * dot(normal, d);
  if (evaluations_ <= settling) grip.cap = friction * pressure;
  // a place that is about to part holds nothing, whatever it held before
  const double length = norm(place.offset), k = row.stiffness, cap = std::min(grip.cap, 2 * friction * pressure);
  if (!(cap > 0)) return 0;
  place.cap = cap;
  const double weight = k * length <= cap ? k : cap / length;
  const Vec3 first = direction(
      place.offset, direction(std::abs(normal.x) < 0.7 ? cross(normal, {1, 0, 0}) : cross(normal, {0, 1, 0}), {}));
  ContactRow along;
  along.count = place.count, along.rows = place.rows, along.share = place.share;
  along.direction = first, along.stiffness = weight;
  add(gradient, along, weight * length);
  rows_.push_back(along);
  along.direction = cross(normal, first);
  rows_.push_back(along);
  const double energy = huber(length, k, cap), share = other < 0 ? energy : 0.5 * energy;
  energies[body] += share, grip_energy_[body] += share;
  if (other >= 0) energies[other] += share, grip_energy_[other] += share;
  return energy;
}

double Contacts::push(const Vec4* x, Vec4* gradient, const ContactRow& row, double depth, int grip, double friction,
                      int body, int other, int meeting, std::span<double> energies) {
  touching_ = true;
  depth_ = std::max(depth_, depth);
  const double force = row.stiffness * depth;
  double energy = 0.5 * force * depth;
  add(gradient, row, -force);
  rows_.push_back(row);
  energies[body] += other < 0 ? energy : 0.5 * energy;
  if (other >= 0) energies[other] += 0.5 * energy;
  if (other >= 0) pair_energy_[body] += 0.5 * energy, pair_energy_[other] += 0.5 * energy;
  if (meeting >= 0) {
    Meeting& m = meetings[meeting];
    m.normal += row.direction * (m.body == body ? force : -force);
    m.point += x[row.rows[0]].xyz() * force;
    m.weight += force;
  }
  if (grip >= 0 && grips[grip].row >= 0)
    energy += hold(x, gradient, grips[grip], row, force, friction, body, other, energies);
  return energy;
}

/// Whoever comes out on the other side has come through: for him the side goes on on which he was.
Touch Contacts::touch(const OnShape& c, const Vec3& x) const {
  const Touch found = shapes[c.shape].touch(x);
  if (dot(found.normal, c.before.normal) >= 0) return found;
  return {c.before.distance + dot(c.before.normal, x - c.from), c.before.normal};
}

/// The nearest of the faces that a vertex may touch. Returns how deep it is, and the direction out of it.
double Contacts::touch(const OnFaces& c, const Vec4* x, ContactRow& row) const {
  const Vec3 p = x[c.row].xyz();
  double best = std::numeric_limits<double>::infinity();
  PointTriangle nearest;
  const Face* face = nullptr;
  for (int f = c.first; f < c.last; ++f) {
    const auto& v = faces[f].rows;
    const PointTriangle at = point_triangle(p, x[v[0]].xyz(), x[v[1]].xyz(), x[v[2]].xyz());
    if (at.squared_distance < best) best = at.squared_distance, nearest = at, face = &faces[f];
  }
  if (!face) return 0;
  const Vec3 a = x[face->rows[0]].xyz(), b = x[face->rows[1]].xyz(), d = x[face->rows[2]].xyz();
  const Vec3 normal = direction(cross(b - a, d - a), {0, 1, 0});
  double distance;
  if (face->side != 0) {
    // a sheet: the side on which the vertex was stays its side, however far it has come through
    const Vec3 outward = normal * double(face->side);
    const bool flat = nearest.part == TrianglePart::face;
    row.direction = flat ? outward : direction(nearest.offset, outward);
    distance = flat ? dot(outward, nearest.offset) : std::sqrt(best);
  } else {
    const double above = dot(normal, nearest.offset);
    if (nearest.part == TrianglePart::face) {
      distance = above, row.direction = normal;
    } else if (above >= 0) {
      distance = std::sqrt(best), row.direction = direction(nearest.offset, normal);
    } else {
      const Vec3 beside = nearest.offset - normal * above, outward = face->outward[size_t(nearest.part)];
      if (dot(outward, beside) > 0) {
        // below a face and beside it, past a convex edge: inside as long as it is farther below (p) than beside (e);
        // p - e^2/p rather than p - e, so that nothing is pushed sideways that stands on the edge
        const double ratio = norm(beside) / -above;
        distance = above * (1 - ratio * ratio);
        row.direction = normal * (1 + ratio * ratio) + direction(beside, {}) * (2 * ratio);
      } else {
        distance = -std::sqrt(best), row.direction = direction(nearest.offset * -1.0, normal);
      }
    }
  }
  const double depth = c.thickness - distance;
  if (!(depth > 0)) return 0;
  row.count = 4, row.rows = {c.row, face->rows[0], face->rows[1], face->rows[2]};
  row.share = {1, -nearest.weights[0], -nearest.weights[1], -nearest.weights[2]};
  row.stiffness = c.stiffness;
  return depth;
}

/// Two edges that cross each other: at points inside of both, since ends are vertices, which have faces to touch.
double Contacts::touch(const OnEdge& c, const Vec4* x, ContactRow& row) const {
  const Vec3 p0 = x[c.rows[0]].xyz(), p1 = x[c.rows[1]].xyz(), q0 = x[c.rows[2]].xyz(), q1 = x[c.rows[3]].xyz();
  const double far = c.thickness + 0.5 * (norm(p1 - p0) + norm(q1 - q0));
  const Vec3 between = (p0 + p1 - q0 - q1) * 0.5;
  if (dot(between, between) > far * far) return 0;
  const SegmentSegment near = segment_segment(p0, p1, q0, q1);
  if (near.on_p != SegmentPart::inside || near.on_q != SegmentPart::inside) return 0;
  const double sign = dot(near.offset, c.side) < 0 ? -1 : 1;
  row.count = 4, row.rows = c.rows;
  row.share = {1 - near.s, near.s, near.t - 1, -near.t};
  row.direction = direction(near.offset * sign, c.side);
  row.stiffness = c.stiffness;
  return c.thickness - sign * std::sqrt(near.squared_distance);
}

double Contacts::add_gradient(const Vec4* x, Vec4* gradient, std::span<double> energies) {
  ++evaluations_;
  rows_.clear();
  places_.assign(grips.size(), {});
  for (Meeting& m : meetings) m.normal = m.point = {}, m.weight = 0;
  touching_ = false;
  depth_ = 0;
  pair_energy_.assign(energies.size(), 0.0), grip_energy_.assign(energies.size(), 0.0);
  double energy = 0;
  ContactRow row;
  for (const OnShape& c : on_shapes) {
    const Touch found = touch(c, x[c.row].xyz());
    const double depth = c.thickness - found.distance;
    if (!(depth > 0)) continue;
    row.count = 1, row.rows[0] = c.row, row.share[0] = 1;
    row.direction = found.normal, row.stiffness = c.stiffness;
    energy += push(x, gradient, row, depth, c.grip, c.friction, c.body, -1, c.meeting, energies);
  }
  // which of them touch is found in parallel; what they do is added up in order
  const int count = int(on_faces.size());
  found_.resize(on_faces.size() + on_edges.size());
  parallel_for(int(found_.size()), 64, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i)
      found_[i].depth =
          i < count ? touch(on_faces[i], x, found_[i].row) : touch(on_edges[i - count], x, found_[i].row);
  });
  for (int i = 0; i < int(found_.size()); ++i) {
    const auto& [depth, row] = found_[i];
    if (!(depth > 0)) continue;
    if (i < count) {
      const OnFaces& c = on_faces[i];
      energy += push(x, gradient, row, depth, c.grip, c.friction, c.body, c.other, c.meeting, energies);
    } else {
      const OnEdge& c = on_edges[i - count];
      energy += push(x, gradient, row, depth, -1, 0, c.body, c.other, c.meeting, energies);
    }
  }
  return energy;
}

void Contacts::settle_grips(const Vec4* x, std::span<double> losses) {
  for (size_t g = 0; g < grips.size(); ++g) {
    const Place& place = places_[g];
    Grip& grip = grips[g];
    if (place.count == 0) {
      grip.row = -1;  // it let go
      continue;
    }
    const double length = norm(place.offset), k = place.stiffness, cap = place.pressure;
    double lost = huber(length, k, place.cap);
    if (k * length > cap) {
      // the point slides until the spring holds
      const double left = cap / k;
      if (grip.collider >= 0) {
        const Pose& pose = shapes[grip.collider].pose;
        grip.point = pose.to_local(pose.to_world(grip.point) + place.offset * (1 - left / length));
      } else {
        // on the face that it touches now: a point of its plane, which may lie beyond its edges
        std::array<Vec3, 3> corner;
        for (int i = 0; i < 3; ++i) corner[i] = x[place.face[i]].xyz(), grip.face[i] = state_of_row[place.face[i]];
        const Vec3 point = x[place.rows[0]].xyz() - place.offset * (left / length);
        const Vec3 e = corner[1] - corner[0], f = corner[2] - corner[0], d = point - corner[0];
        const double ee = dot(e, e), ff = dot(f, f), ef = dot(e, f), det = ee * ff - ef * ef;
        if (!(det > 0)) {
          grip.row = -1;
          continue;
        }
        const double s = (ff * dot(d, e) - ef * dot(d, f)) / det, t = (ee * dot(d, f) - ef * dot(d, e)) / det;
        grip.weights = {1 - s - t, s, t};
      }
      lost -= 0.5 * k * left * left;
      grip.cap = cap;
    } else {
      lost -= 0.5 * k * length * length;
      grip.cap = std::max(cap, k * length);
    }
    const double share = place.other < 0 ? lost : 0.5 * lost;
    losses[place.body] += share, grip_energy_[place.body] -= share;
    if (place.other >= 0) losses[place.other] += share, grip_energy_[place.other] -= share;
  }
}

}  // namespace verve
