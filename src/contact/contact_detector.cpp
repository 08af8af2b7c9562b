#include "contact/contact_detector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "contact/proximity.h"

namespace verve {

namespace {

/// Nothing in the box is nearer to the shape than `reach`: distances change by no more than the way between two points.
bool is_beyond(const PlacedShape& shape, const Box& box, double reach) {
  const Vec3 middle = (box.low + box.high) * 0.5;
  const double radius = 0.5 * norm(box.high - box.low), distance = shape.touch(middle).distance;
  constexpr double digits = 1e-9;  // of all of this, and then some
  return distance - radius > reach + digits * (norm(middle) + norm(shape.pose.position) + radius + std::abs(distance));
}

/// Of the points of a box, how far the one goes that an affine map takes farthest: a corner.
template <class Map>
double longest_way(const Box& box, Map&& map) {
  double longest = 0;
  for (int i = 0; i < 8; ++i) {
    const Vec3 corner{i & 1 ? box.high.x : box.low.x, i & 2 ? box.high.y : box.low.y, i & 4 ? box.high.z : box.low.z};
    longest = std::max(longest, norm(map(corner) - corner));
  }
  return longest;
}

}  // namespace

ContactDetector::ContactDetector()
    : meetings_(make_broad_phase()), passages_(make_broad_phase()), candidates_(make_broad_phase()) {}

void ContactDetector::compile(std::vector<ContactBody> bodies, std::vector<const Shape*> colliders,
                              const PairTable& pairs) {
  bodies_ = std::move(bodies), shapes_ = std::move(colliders), pairs_ = &pairs;
  features_.clear();
  for (const Shape* shape : shapes_) features_.push_back(shape->features());
}

void ContactDetector::set_body(int b, ContactBody body) {
  if (b >= int(bodies_.size())) bodies_.resize(b + 1);
  bodies_[b] = std::move(body);
}

void ContactDetector::set_collider(int c, const Shape* shape) {
  if (c >= int(shapes_.size())) shapes_.resize(c + 1), features_.resize(c + 1);
  shapes_[c] = shape, features_[c] = shape->features();
}

void ContactDetector::set_step(double step) {
  for (ContactBody& body : bodies_) body.stiffness = body.inertia / (step * step);
}

ContactDetector::Found ContactDetector::detect(const MovingBodies& moving, std::span<const ColliderMotion> colliders,
                                               const ContactMemory& memory, const Settings& settings, bool all,
                                               Contacts& out) {
  const Step step{moving, colliders, memory, settings, all, out};
  friction_ = settings.friction, carried_ = settings.carried;
  int state_rows = 0;
  for (const ContactBody& body : bodies_) state_rows = std::max(state_rows, body.first + body.count);
  out.clear(int(moving.bodies.size()), int(shapes_.size()));
  out.row_of_state.assign(state_rows, -1), out.state_of_row.resize(moving.rows());
  for (size_t k = 0; k < moving.bodies.size(); ++k) {
    const ContactBody& body = bodies_[moving.bodies[k]];
    for (int r = 0; r < body.count; ++r) {
      out.row_of_state[body.first + r] = moving.offsets[k] + r;
      out.state_of_row[moving.offsets[k] + r] = body.first + r;
    }
  }
  normals_.resize(std::max(normals_.size(), moving.bodies.size()));
  for (size_t k = 0; k < moving.bodies.size(); ++k)
    normals_[k].bind(*bodies_[moving.bodies[k]].surface, moving.x.data() + moving.offsets[k]);
  out.start.assign(moving.x.begin(), moving.x.end()), out.ways.resize(moving.rows());
  for (int i = 0; i < moving.rows(); ++i) out.ways[i] = moving.predicted[i] - moving.x[i];
  sweep_bodies(moving);

  Found found;
  for (int s = 0; s < int(shapes_.size()); ++s) {
    out.shapes.push_back({shapes_[s], colliders[s].end});
    out.shape_starts.push_back(colliders[s].start);
    out.shape_moves.push_back(colliders[s].moves());
    out.shape_movable.push_back(colliders[s].movable);
    if (!colliders[s].active) continue;
    detect_shape(step, s, found);
    const size_t points = out.points.size();
    if (!features_[s].points.empty() && settings.features) detect_features(step, s);
    found.moving_collider |= colliders[s].moves() && out.points.size() > points;
  }
  if (settings.self || (settings.bodies && moving.bodies.size() > 1)) detect_pairs(step, found);
  return found;
}

void ContactDetector::sweep_bodies(const MovingBodies& moving) {
  sweeps_.resize(moving.bodies.size());
  for (size_t k = 0; k < moving.bodies.size(); ++k) {
    Sweep& sweep = sweeps_[k];
    sweep = {};
    double longest = 0;
    for (int r = 0; r < bodies_[moving.bodies[k]].count; ++r) {
      const int row = moving.offsets[k] + r;
      const Vec3 x = moving.x[row].xyz(), next = moving.predicted[row].xyz(), way = next - x;
      sweep.at.add(x), sweep.way.add(next);
      longest = std::max(longest, dot(way, way));
    }
    sweep.way.add(sweep.at), sweep.travel = std::sqrt(longest);
  }
}

ContactRow ContactDetector::point_of(const ContactBody& body, int offset, int point) const {
  ContactRow out;
  out.count = 1, out.rows[0] = offset + point, out.share[0] = 1;
  if (!carries(body)) return out;
  out.count = 4, out.rows = body.carried[point].rows, out.share = body.carried[point].share;
  for (int& row : out.rows) row += offset;
  return out;
}

/// Vertices, or points that they carry, on a collider.
void ContactDetector::detect_shape(const Step& step, int s, Found& found) {
  Contacts& c = step.out;
  const Pose &start = step.colliders[s].start, &end = step.colliders[s].end;
  const bool moves = step.colliders[s].moves();
  int before_body = 0;  // points of the bodies before it
  for (size_t k = 0; k < step.moving.bodies.size(); before_body += points(bodies_[step.moving.bodies[k++]])) {
    const int b = step.moving.bodies[k];
    const ContactBody& cb = bodies_[b];
    const PairSurface pair = pair_of(b, side_of(s));
    if (!pair.touch) continue;
    const size_t first = c.on_shapes.size(), first_anchor = c.friction_anchors.size();
    const int touching_pair = c.add_pair(int(k), -1, s);
    bool meets = step.all;
    const PlacedShape& placed = c.shapes.back();
    const auto carry = [&](const Vec3& x) { return end.to_world(start.to_local(x)); };
    const double reach = 2 * (sweeps_[k].travel + longest_way(sweeps_[k].at, carry)) + search_slack * cb.edge;
    const bool far = is_beyond(placed, sweeps_[k].at, cb.thickness + cb.outside + reach);
    // all vertices, not those of the surface alone: what is soft would run through the floor inside of its skin
    for (int p = 0; !far && p < points(cb); ++p) {
      const ContactRow row = point_of(cb, step.moving.offsets[k], p);
      if (!(step.moving.mass[row.rows[0]] > 0)) continue;
      const Vec3 x = row.place(step.moving.x.data()), next = row.place(step.moving.predicted.data());
      const Vec3 carried = carry(x);
      const double travel = norm(next - x) + norm(carried - x);
      const Touch touch = placed.touch(x);
      if (touch.distance - cb.thickness > 2 * travel + search_slack * cb.edge) continue;
      // as it was relative to the collider, and as it is once both have moved
      const bool still = x.x == carried.x && x.y == carried.y && x.z == carried.z;
      const Touch before = still ? touch : placed.touch(carried), after = placed.touch(next);
      const double reached = std::min(touch.distance, after.distance) - cb.thickness;
      const bool through = opposite(after.normal, before.normal);
      meets |= reached < 0.02 * travel || through;
      Touch came = before;
      const int first_row = cb.first + row.rows[0] - step.moving.offsets[k], more = row.count > 1 ? p : -1;
      const std::array<int, 4> key = shape_key(first_row, s, more);
      const CachedContact* const entry = find_sorted(*step.memory.contacts, key);
      if (entry) {
        const Vec3 n = end.direction_to_world(entry->normal);
        if (opposite(n, before.normal)) came = {dot(n, carried - end.to_world(entry->point)), n}, meets = true;
      }
      Contacts::OnShape on;
      on.point = before_body + p, on.row = row, on.body = int(k), on.shape = s, on.pair = touching_pair, on.key = key;
      on.thickness = cb.thickness, on.stiffness = cb.stiffness, on.friction = pair.friction;
      on.restitution = pair.restitution;
      on.from = carried, on.before = came, on.start_depth = cb.thickness - came.distance;
      if (pair.friction > 0) {
        on.anchor = int(c.friction_anchors.size());
        FrictionAnchor fresh;
        fresh.row = first_row, fresh.more[0] = more, fresh.collider = s, fresh.point = start.to_local(x);
        fresh.own = fresh.count = row.count, fresh.weights = row.share;
        for (int i = 0; i < row.count; ++i) fresh.rows[i] = cb.first + row.rows[i] - step.moving.offsets[k];
        const FrictionAnchor* known = find_sorted(*step.memory.friction_anchors, verve::key(fresh));
        c.friction_anchors.push_back(known ? *known : fresh);
      }
      c.on_shapes.push_back(on);
    }
    if (!meets) c.on_shapes.resize(first), c.friction_anchors.resize(first_anchor), c.drop_pair();
    found.moving_collider |= moves && c.on_shapes.size() > first;
  }
}

bool ContactDetector::missed(const MovingBodies& moving, std::span<const ColliderMotion> colliders,
                             const Contacts& candidates) {
  const size_t bodies = moving.bodies.size();
  size_t all = 0;
  for (const int b : moving.bodies) all += points(bodies_[b]);
  looked_.assign(shapes_.size() * all, 0);
  for (const Contacts::OnShape& on : candidates.on_shapes) looked_[on.shape * all + on.point] = 1;
  around_.resize(bodies);
  for (size_t k = 0; k < bodies; ++k) {
    around_[k] = {};
    for (int r = 0; r < bodies_[moving.bodies[k]].count; ++r) around_[k].add(moving.x[moving.offsets[k] + r].xyz());
  }
  for (size_t s = 0; s < shapes_.size(); ++s) {
    if (!colliders[s].active) continue;
    const PlacedShape placed{shapes_[s], colliders[s].end};
    size_t before_body = s * all;
    for (size_t k = 0; k < bodies; before_body += points(bodies_[moving.bodies[k++]])) {
      const ContactBody& cb = bodies_[moving.bodies[k]];
      if (!pair_of(moving.bodies[k], side_of(int(s))).touch) continue;
      if (is_beyond(placed, around_[k], cb.thickness + cb.outside)) continue;
      for (int p = 0; p < points(cb); ++p) {
        if (looked_[before_body + p]) continue;
        const ContactRow row = point_of(cb, moving.offsets[k], p);
        if (!(moving.mass[row.rows[0]] > 0)) continue;
        if (placed.touch(row.place(moving.x.data())).distance < cb.thickness) return true;
      }
    }
  }
  return false;
}

std::span<const std::array<int, 2>> ContactDetector::find_meeting(std::span<const SweptBody> bodies) {
  swept_.clear(), met_.clear();
  for (const SweptBody& b : bodies)
    swept_.push_back({bodies_[b.body].surface, b.from, b.to, bodies_[b.body].thickness + b.slack, b.body, false});
  meetings_->find(swept_, vertex_face_, edge_edge_, false);
  const auto add = [&](int i, int j) {
    const std::array<int, 2> pair = {std::min(bodies[i].body, bodies[j].body),
                                     std::max(bodies[i].body, bodies[j].body)};
    if (std::find(met_.begin(), met_.end(), pair) == met_.end()) met_.push_back(pair);
  };
  for (const Pair& p : vertex_face_) {
    const int i = p.surface_a, j = p.surface_b;
    if (bodies[i].group == bodies[j].group) continue;
    const Surface &a = *swept_[i].surface, &b = *swept_[j].surface;
    const int r = a.vertices[p.feature_a];
    const auto& f = b.faces[p.feature_b];
    const auto point = [](const Vec4* x, int row) { return x[row].xyz(); };
    const Vec3 v0 = point(swept_[i].from, r), v1 = point(swept_[i].to, r);
    const Vec3 a0 = point(swept_[j].from, f[0]), b0 = point(swept_[j].from, f[1]), c0 = point(swept_[j].from, f[2]);
    const Vec3 a1 = point(swept_[j].to, f[0]), b1 = point(swept_[j].to, f[1]), c1 = point(swept_[j].to, f[2]);
    const PointTriangle near = point_triangle(v1, a1, b1, c1);
    const double reach = swept_[i].margin + swept_[j].margin;
    const double side0 = dot(cross(b0 - a0, c0 - a0), v0 - a0), side1 = dot(cross(b1 - a1, c1 - a1), v1 - a1);
    // within the thickness, on the other side of the face than before, or behind the skin of a solid
    const double depth = norm(v1 - v0) + 0.5 * bodies_[bodies[j].body].edge;
    const bool inside = p.feature_b < b.solid_faces && side1 <= 0 && near.part == TrianglePart::face &&
                        near.squared_distance < depth * depth;
    if (near.squared_distance < reach * reach || (side0 > 0) != (side1 > 0) || inside) add(i, j);
  }
  for (const Pair& p : edge_edge_) {
    const int i = p.surface_a, j = p.surface_b;
    if (bodies[i].group == bodies[j].group) continue;
    const auto &e = swept_[i].surface->edges[p.feature_a], &f = swept_[j].surface->edges[p.feature_b];
    const auto near = [&](const Vec4* x, const Vec4* y) {
      return segment_segment(x[e[0]].xyz(), x[e[1]].xyz(), y[f[0]].xyz(), y[f[1]].xyz());
    };
    const SegmentSegment then = near(swept_[i].from, swept_[j].from), now = near(swept_[i].to, swept_[j].to);
    const double reach = swept_[i].margin + swept_[j].margin;
    if (now.squared_distance < reach * reach || dot(then.offset, now.offset) < 0) add(i, j);
  }
  return met_;
}

}  // namespace verve
