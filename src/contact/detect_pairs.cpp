// Vertices, faces and edges of bodies that may touch those of other bodies and of the same one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/contact_detector.h"
#include "contact/proximity.h"
#include "contact/ties.h"

namespace verve {

namespace {

/// Cosine between faces that count as one in a contact.
constexpr double same_face = 0.9;

}  // namespace

/// What all have in common of their ways brings none of them nearer to another.
void ContactDetector::remove_drift(const MovingBodies& moving) {
  relative_.assign(moving.predicted.begin(), moving.predicted.end());
  Vec4 mean;
  for (int i = 0; i < moving.rows(); ++i) mean += (relative_[i] - moving.x[i]) * (1.0 / moving.rows());
  for (int i = 0; i < moving.rows(); ++i) relative_[i] -= mean;
}

/// All edges of a body, once a step: most pairs of edges that come near each other cannot touch, and should not cost
/// more than finding that out.
const std::vector<ContactDetector::EdgeSpot>& ContactDetector::edges_of(const MovingBodies& moving, int k) {
  std::vector<EdgeSpot>& out = edge_spots_[k];
  if (!out.empty()) return out;
  const Surface& surface = *bodies_[moving.bodies[k]].surface;
  const Vec4* const x = moving.x.data() + moving.offsets[k];
  for (size_t e = 0; e < surface.edges.size(); ++e) {
    const auto& [i, j] = surface.edges[e];
    out.push_back(
        {x[i].xyz(), (x[j] - x[i]).xyz(), surface.solid_faces > 0 ? normals_[k].cone_of_edge(int(e)) : nullptr});
  }
  return out;
}

/// Vertices and faces, and edges, of bodies with each other and with themselves.
void ContactDetector::detect_pairs(const Step& step, Found& counted) {
  const MovingBodies& moving = step.moving;
  Contacts& c = step.out;
  remove_drift(moving);
  swept_.clear();
  for (size_t k = 0; k < moving.bodies.size(); ++k) {
    const int b = moving.bodies[k], offset = moving.offsets[k];
    const ContactBody& cb = bodies_[b];
    const bool self = step.settings.self && pair_of(b, b).touch;
    swept_.push_back({cb.surface, moving.x.data() + offset, relative_.data() + offset,
                      cb.thickness + search_slack * cb.edge, int(k), self,
                      // of a solid with itself, vertices inside of it touch
                      cb.surface->solid_faces > 0 ? EdgePairs::of_others : EdgePairs::all});
  }
  candidates_->find(swept_, vertex_face_, edge_edge_, step.settings.self);
  counted.pairs += double(vertex_face_.size() + edge_edge_.size());

  const Vec4* x = moving.x.data();
  // how far two vertices may come nearer to each other, squared
  const auto travel = [&](int i, int j) {
    const Vec3 d = ((relative_[i] - x[i]) - (relative_[j] - x[j])).xyz();
    return dot(d, d);
  };
  travel_.resize(moving.rows());
  for (int i = 0; i < moving.rows(); ++i) travel_[i] = norm((relative_[i] - x[i]).xyz());
  edge_spots_.resize(std::max(edge_spots_.size(), moving.bodies.size()));
  for (auto& edges : edge_spots_) edges.clear();
  int last_i = -1, last_j = -1;
  PairSurface last{};
  const auto pair_in = [&](int i, int j) -> const PairSurface& {
    if (i != last_i || j != last_j) last = pair_of(moving.bodies[i], moving.bodies[j]), last_i = i, last_j = j;
    return last;
  };
  for (size_t at = 0; at < vertex_face_.size();) {
    size_t end = at;
    const Pair& head = vertex_face_[at];
    while (end < vertex_face_.size() && vertex_face_[end].surface_a == head.surface_a &&
           vertex_face_[end].feature_a == head.feature_a && vertex_face_[end].surface_b == head.surface_b)
      ++end;
    const int i = head.surface_a, j = head.surface_b;
    const PairSurface& pair = pair_in(i, j);
    const ContactBody &ca = bodies_[moving.bodies[i]], &cb = bodies_[moving.bodies[j]];
    const Surface &a = *ca.surface, &b = *cb.surface;
    const int r = a.vertices[head.feature_a], row = moving.offsets[i] + r, to = moving.offsets[j];
    if (!pair.touch || !(moving.mass[row] > 0)) {
      at = end;
      continue;
    }
    Contacts::OnFaces on{};
    on.vertex = row, on.body = i, on.other = j, on.first = int(c.faces.size());
    on.thickness = ca.thickness + cb.thickness, on.stiffness = std::min(ca.stiffness, cb.stiffness);
    on.friction = pair.friction, on.restitution = pair.restitution, on.anchor = -1, on.slack = tie * cb.edge;
    // Faces that do not look towards a vertex of a solid are not in its way, but for what it lay on: bodies roll, and a
    // vertex that lost its face sank in by 2 to 5 % of a body. One of a sheet may come from any side.
    const std::array<int, 4> place = on.key = vertex_key(ca.first + r, moving.bodies[j]);
    const CachedContact* const pressed = find_sorted(*step.memory.contacts, place);
    const auto lay_on = [&](const Vec3& normal) { return pressed && dot(pressed->normal, normal) > same_face; };
    Vec3 outward{};
    bool knows_outward = a.solid_faces == 0;
    const double least_reach = on.thickness + search_slack * cb.edge;
    const Vec3 v = x[row].xyz();
    for (; at < end; ++at) {
      const int f = vertex_face_[at].feature_b;
      const auto& face = b.faces[f];
      Contacts::Face g{{face[0] + to, face[1] + to, face[2] + to}, 0};
      if (!knows_outward) outward = normals_[i].of_vertex(head.feature_a), knows_outward = true;
      const Vec3& normal = normals_[j].of_face(f);
      const bool solid = f < b.solid_faces;
      // (vertices of sheets have no outward side: any face may stop them)
      if (solid && a.solid_faces > 0 && dot(outward, normal) > opposing && !lay_on(normal)) continue;
      double reach = 0;
      for (const int corner : g.rows) reach = std::max(reach, travel(row, corner));
      reach = least_reach + 2 * std::sqrt(reach);
      const Vec3 p = x[g.rows[0]].xyz();
      const double above = dot(normal, v - p);
      if (std::abs(above) > reach * (1 + 1e-9)) continue;
      if (!solid) g.side = sign_of(above, on.slack);
      const PointTriangle near = point_triangle(v, p, x[g.rows[1]].xyz(), x[g.rows[2]].xyz());
      if (near.squared_distance > reach * reach) continue;
      if (solid) {
        g.normals = int(c.outward.size());
        auto& normals = c.outward.emplace_back();
        for (int part = 0; part < 6; ++part) normals[part] = normals_[j].of(f, TrianglePart(part));
      }
      c.faces.push_back(g);
    }
    on.last = int(c.faces.size());
    if (on.first == on.last) continue;
    c.close_faces(on.first);
    ContactRow here;
    on.start_depth = c.touch(on, x, here);
    if (a.solid_faces > 0 && b.solid_faces > 0 && on.start_depth < 0) c.find_meeting(on, search_slack * cb.edge);
    if (on.time > 0) c.touch(on, c.moment(on, x), here);
    // what is deep inside of something never came through this side of it: the far side of a thin body, or its own
    const double deepest = i == j ? 0.25 * std::min(cb.thin, 2 * cb.edge) : 0.5 * cb.thin;
    const bool through = b.solid_faces > 0 && on.start_depth - on.thickness > deepest + on.slack;
    // nor does it touch what would push it to the side: a vertex of a floor is beside an edge before it is below it
    const bool sideways = a.solid_faces > 0 && dot(outward, direction(here.direction, {})) > opposing && !pressed;
    if (through || sideways) {
      c.faces.resize(on.first);
      continue;
    }
    on.pair = c.add_pair(i, j, -1);
    if (pair.friction > 0) {
      FrictionAnchor fresh;
      fresh.row = fresh.rows[0] = ca.first + r, fresh.body = moving.bodies[j];
      const FrictionAnchor* known = find_sorted(*step.memory.friction_anchors, key(fresh));
      if (known || c.anchor_vertex(here, x, fresh)) {
        on.anchor = int(c.friction_anchors.size());
        c.friction_anchors.push_back(known ? *known : fresh);
      }
    }
    c.on_faces.push_back(on);
  }
  for (const Pair& p : edge_edge_) {
    const EdgeSpot &spot_a = edges_of(moving, p.surface_a)[p.feature_a],
                   &spot_b = edges_of(moving, p.surface_b)[p.feature_b];
    const ContactBody &ca = bodies_[moving.bodies[p.surface_a]], &cb = bodies_[moving.bodies[p.surface_b]];
    const Surface &a = *ca.surface, &b = *cb.surface;
    const bool solid_a = a.solid_faces > 0, solid_b = b.solid_faces > 0;
    if ((solid_a && !spot_a.cone) || (solid_b && !spot_b.cone)) continue;
    const Vec3 p0 = spot_a.from, q0 = spot_b.from, r = p0 - q0, along_p = spot_a.along, along_q = spot_b.along;
    // the side of a sheet is that where it is; that of a solid is outside, where its edge lets anything lie on it
    const Vec3 across = cross(along_p, along_q);
    const double size = norm(across);
    const double slack = tie * std::min(ca.edge, cb.edge);
    double side = sign_of(dot(across, r), slack * size);
    if (solid_b) side = dot(across, spot_b.cone->first + spot_b.cone->second) < 0 ? -1 : 1;
    if (solid_a && !solid_b) side = dot(across, spot_a.cone->first + spot_a.cone->second) > 0 ? -1 : 1;
    if (solid_b && !spot_b.cone->contains(across * side, size, cone_slack)) continue;
    if (solid_a && !spot_a.cone->contains(across * -side, size, cone_slack)) continue;
    if (!pair_in(p.surface_a, p.surface_b).touch) continue;
    const Vec3 out = direction(across, {}) * side;
    const auto &e = a.edges[p.feature_a], &f = b.edges[p.feature_b];
    const int i = moving.offsets[p.surface_a], j = moving.offsets[p.surface_b];
    Contacts::OnEdge on{};
    on.rows = {e[0] + i, e[1] + i, f[0] + j, f[1] + j}, on.side = int(side);
    on.body = p.surface_a, on.other = p.surface_b;
    on.thickness = ca.thickness + cb.thickness, on.stiffness = std::min(ca.stiffness, cb.stiffness);
    const double least_reach = on.thickness + search_slack * std::min(ca.edge, cb.edge);
    if ((solid_a || solid_b) && dot(out, r) < -0.5 * std::min({ca.thin, cb.thin, ca.edge, cb.edge}) - slack) continue;
    const SegmentSegment near = segment_segment(p0, p0 + along_p, q0, q0 + along_q);
    double reach = 0;
    for (int k = 0; k < 4; ++k) reach = std::max(reach, travel(on.rows[k / 2], on.rows[2 + k % 2]));
    reach = least_reach + 2 * std::sqrt(reach);
    if (near.squared_distance > reach * reach) continue;
    on.pair = c.add_pair(on.body, on.other, -1);
    ContactRow unused;
    on.start_depth = c.touch(on, x, unused);
    if (solid_a && solid_b && !(on.start_depth > 0)) c.find_meeting(on, search_slack * std::min(ca.edge, cb.edge));
    const std::array<int, 4> ends_of_state = on.key = edge_key(c.state_of_row[on.rows[0]], c.state_of_row[on.rows[1]],
                                                               c.state_of_row[on.rows[2]], c.state_of_row[on.rows[3]]);
    const PairSurface& pair = pair_in(p.surface_a, p.surface_b);
    on.friction = pair.friction, on.restitution = pair.restitution;
    if (on.friction > 0) {
      FrictionAnchor fresh;
      fresh.row = ends_of_state[0], fresh.more = {ends_of_state[1], ends_of_state[2], ends_of_state[3]};
      fresh.body = moving.bodies[p.surface_b];
      add_edge_friction(step, on, {}, fresh);
    }
    c.on_edges.push_back(on);
  }
}

/// Gives two edges the anchor that they had, or a new one that is not stretched.
void ContactDetector::add_edge_friction(const Step& step, Contacts::OnEdge& on, const Pose& pose,
                                        FrictionAnchor& fresh) const {
  const FrictionAnchor* known = find_sorted(*step.memory.friction_anchors, key(fresh));
  if (!known && !step.out.anchor_edges(on, step.moving.x.data(), pose, fresh)) return;
  on.anchor = int(step.out.friction_anchors.size());
  step.out.friction_anchors.push_back(known ? *known : fresh);
}

ContactDetector::Passing ContactDetector::substeps_between_bodies(const MovingBodies& moving,
                                                                  const Settings& settings) {
  if (!(settings.self || (settings.bodies && moving.bodies.size() > 1))) return {};
  friction_ = settings.friction;
  remove_drift(moving);
  // two that together go less far than that need no search
  double longest = 0, thinnest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < moving.rows(); ++i) longest = std::max(longest, norm((relative_[i] - moving.x[i]).xyz()));
  for (const int b : moving.bodies)
    if (bodies_[b].surface->solid_faces > 0) thinnest = std::min(thinnest, bodies_[b].thin);
  if (2 * longest < 0.25 * thinnest * (1 - 1e-9)) return {};
  swept_.clear();
  for (size_t k = 0; k < moving.bodies.size(); ++k) {
    const int b = moving.bodies[k], offset = moving.offsets[k];
    swept_.push_back({bodies_[b].surface, moving.x.data() + offset, relative_.data() + offset, bodies_[b].thickness,
                      int(k), settings.self, EdgePairs::none});
  }
  passages_->find(swept_, vertex_face_, edge_edge_, settings.self);
  double most = 0;
  for (const Pair& p : vertex_face_) {
    const Surface &a = *bodies_[moving.bodies[p.surface_a]].surface, &b = *bodies_[moving.bodies[p.surface_b]].surface;
    if (p.feature_b >= b.solid_faces) continue;
    const int row = moving.offsets[p.surface_a] + a.vertices[p.feature_a], to = moving.offsets[p.surface_b];
    Vec3 relative = (relative_[row] - moving.x[row]).xyz();
    for (const int r : b.faces[p.feature_b]) relative -= (relative_[to + r] - moving.x[to + r]).xyz() / 3;
    most = std::max(most, norm(relative) / (0.25 * bodies_[moving.bodies[p.surface_b]].thin));
  }
  return {std::clamp(int(std::ceil(most)), 1, 16), true, double(vertex_face_.size())};
}

}  // namespace verve
