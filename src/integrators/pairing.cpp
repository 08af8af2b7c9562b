// Vertices, faces and edges of bodies that may touch those of other bodies and of the same one.
#include <cmath>
#include <limits>
#include <span>

#include "integrators/places.h"
#include "integrators/world.h"

namespace verve {

namespace {

/// Cosine between faces that are one for what lies on them.
constexpr double same_face = 0.9;

}  // namespace

/// What all have in common of their ways brings none of them nearer to another.
void World::stay_with(const Island& island) {
  Vec4 mean;
  for (int i = 0; i < island.rows(); ++i) mean += (ahead_[i] - island.motion.x[i]) * (1.0 / island.rows());
  for (int i = 0; i < island.rows(); ++i) ahead_[i] -= mean;
}

/// All edges of a body, once a step: most pairs of edges that come near each other cannot lie on each other, and should
/// not cost more than finding that out.
const std::vector<World::EdgeSpot>& World::edges_of(const Island& island, int k) {
  std::vector<EdgeSpot>& out = edge_spots_[k];
  if (!out.empty()) return out;
  const Surface& surface = model.bodies[island.bodies()[k]].surface;
  const Vec4* const x = island.motion.x.data() + island.offset(k);
  for (size_t e = 0; e < surface.edges.size(); ++e) {
    const auto& [i, j] = surface.edges[e];
    out.push_back(
        {x[i].xyz(), (x[j] - x[i]).xyz(), surface.solid_faces > 0 ? normals_[k].cone_of_edge(int(e)) : nullptr});
  }
  return out;
}

/// Vertices and faces, and edges, of the bodies of an island with each other and with themselves.
void World::prepare_pairs(Island& island) {
  const ContactSpec& spec = *scene.contact;
  if (!(spec.self || (spec.bodies && island.bodies().size() > 1))) return;
  Contacts& c = island.contacts;
  stay_with(island);
  swept_.clear();
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k], offset = island.offset(int(k));
    const ContactBody& cb = contact_bodies_[b];
    const bool self = spec.self && pair_of(b, b).touch;
    swept_.push_back({&model.bodies[b].surface, island.motion.x.data() + offset, ahead_.data() + offset,
                      cb.thickness + search_slack * cb.edge, int(k), self,
                      // of a solid with itself, vertices inside of it touch
                      model.bodies[b].surface.solid_faces > 0 ? EdgePairs::of_others : EdgePairs::all});
  }
  pairs_->find(swept_, vertex_face_, edge_edge_, spec.self);
  island.add_work({.pairs = double(vertex_face_.size() + edge_edge_.size())});

  const Vec4* x = island.motion.x.data();
  // how far two vertices may come nearer to each other, squared
  const auto travel = [&](int i, int j) {
    const Vec3 d = ((ahead_[i] - x[i]) - (ahead_[j] - x[j])).xyz();
    return dot(d, d);
  };
  travel_.resize(island.rows());
  for (int i = 0; i < island.rows(); ++i) travel_[i] = norm((ahead_[i] - x[i]).xyz());
  edge_spots_.resize(std::max(edge_spots_.size(), island.bodies().size()));
  for (auto& edges : edge_spots_) edges.clear();
  int last_i = -1, last_j = -1;
  PairSurface last{};
  const auto pair_in = [&](int i, int j) -> const PairSurface& {
    if (i != last_i || j != last_j) last = pair_of(island.bodies()[i], island.bodies()[j]), last_i = i, last_j = j;
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
    const Body &a = model.bodies[island.bodies()[i]], &b = model.bodies[island.bodies()[j]];
    const ContactBody &ca = contact_bodies_[island.bodies()[i]], &cb = contact_bodies_[island.bodies()[j]];
    const int r = a.surface.vertices[head.feature_a], row = island.offset(i) + r, to = island.offset(j);
    if (!pair.touch || !(island.forcing.mass[row] > 0)) {
      at = end;
      continue;
    }
    Contacts::OnFaces on{};
    on.vertex = row, on.body = i, on.other = j, on.first = int(c.faces.size());
    on.thickness = ca.thickness + cb.thickness, on.stiffness = std::min(ca.stiffness, cb.stiffness);
    on.friction = pair.friction, on.grip = -1;
    // Faces that do not look towards a vertex of a solid are not in its way, but for what it lay on: bodies roll, and a
    // vertex that lost its face sank in by 2 to 5 % of a body. One of a sheet may come from any side.
    const std::array<int, 4> place = on.key = vertex_key(a.first + r, island.bodies()[j]);
    const CachedContact* const pressed = find_sorted(state.contacts, place);
    const auto lay_on = [&](const Vec3& normal) { return pressed && dot(pressed->normal, normal) > same_face; };
    Vec3 outward{};
    bool knows_outward = a.surface.solid_faces == 0;
    const double least_reach = on.thickness + search_slack * cb.edge;
    const Vec3 v = x[row].xyz();
    double best = std::numeric_limits<double>::infinity(), depth = 0;
    for (; at < end; ++at) {
      const int f = vertex_face_[at].feature_b;
      const auto& face = b.surface.faces[f];
      Contacts::Face g{{face[0] + to, face[1] + to, face[2] + to}, 0};
      if (!knows_outward) outward = normals_[i].of_vertex(head.feature_a), knows_outward = true;
      const Vec3& normal = normals_[j].of_face(f);
      const bool solid = f < b.surface.solid_faces;
      if (solid && dot(outward, normal) > opposing && !lay_on(normal)) continue;
      double reach = 0;
      for (const int corner : g.rows) reach = std::max(reach, travel(row, corner));
      reach = least_reach + 2 * std::sqrt(reach);
      const Vec3 p = x[g.rows[0]].xyz();
      const double above = dot(normal, v - p);
      if (std::abs(above) > reach * (1 + 1e-9)) continue;
      if (!solid) g.side = above < 0 ? -1 : 1;
      const PointTriangle near = point_triangle(v, p, x[g.rows[1]].xyz(), x[g.rows[2]].xyz());
      if (near.squared_distance > reach * reach) continue;
      if (solid) {
        g.normals = int(c.outward.size());
        auto& normals = c.outward.emplace_back();
        for (int part = 0; part < 6; ++part) normals[part] = normals_[j].of(f, TrianglePart(part));
      }
      c.faces.push_back(g);
      if (near.squared_distance >= best) continue;
      best = near.squared_distance;
      depth = solid && dot(normal, near.offset) < 0 ? std::sqrt(best) : 0;
    }
    on.last = int(c.faces.size());
    c.close_faces(on.first);
    // what is deep inside of something never came through this side of it: the far side of a thin body, or its own
    if (depth > (i == j ? 0.25 * std::min(cb.thin, 2 * cb.edge) : 0.5 * cb.thin)) c.faces.resize(on.first);
    if (on.first == int(c.faces.size())) continue;
    ContactRow here;
    on.start_depth = c.touch(on, x, here);
    // nor is what would push it to the side: a vertex of a floor is beside an edge before it is below it
    if (a.surface.solid_faces > 0 && dot(outward, direction(here.direction, {})) > opposing && !pressed) {
      c.faces.resize(on.first);
      continue;
    }
    on.meeting = c.meeting_of(i, j, -1);
    if (pair.friction > 0) {
      Grip fresh;
      fresh.row = fresh.rows[0] = a.first + r, fresh.body = island.bodies()[j];
      const Grip* old = old_grip(fresh);
      if (old || c.find_point(here, x, fresh)) {
        on.grip = int(c.grips.size());
        c.grips.push_back(old ? *old : fresh);
      }
    }
    c.on_faces.push_back(on);
  }
  for (const Pair& p : edge_edge_) {
    const EdgeSpot &spot_a = edges_of(island, p.surface_a)[p.feature_a],
                   &spot_b = edges_of(island, p.surface_b)[p.feature_b];
    const Body &a = model.bodies[island.bodies()[p.surface_a]], &b = model.bodies[island.bodies()[p.surface_b]];
    const bool solid_a = a.surface.solid_faces > 0, solid_b = b.surface.solid_faces > 0;
    if ((solid_a && !spot_a.cone) || (solid_b && !spot_b.cone)) continue;
    const Vec3 p0 = spot_a.from, q0 = spot_b.from, r = p0 - q0, along_p = spot_a.along, along_q = spot_b.along;
    // the side of a sheet is that where it is; that of a solid is outside, where its edge lets anything lie on it
    const Vec3 across = cross(along_p, along_q);
    const double size = norm(across);
    double side = dot(across, r) < 0 ? -1 : 1;
    if (solid_b) side = dot(across, spot_b.cone->first + spot_b.cone->second) < 0 ? -1 : 1;
    if (solid_a && !solid_b) side = dot(across, spot_a.cone->first + spot_a.cone->second) > 0 ? -1 : 1;
    if (solid_b && !spot_b.cone->contains(across * side, size, cone_slack)) continue;
    if (solid_a && !spot_a.cone->contains(across * -side, size, cone_slack)) continue;
    if (!pair_in(p.surface_a, p.surface_b).touch) continue;
    const Vec3 out = direction(across, {}) * side;
    const ContactBody &ca = contact_bodies_[island.bodies()[p.surface_a]],
                      &cb = contact_bodies_[island.bodies()[p.surface_b]];
    const auto &e = a.surface.edges[p.feature_a], &f = b.surface.edges[p.feature_b];
    const int i = island.offset(p.surface_a), j = island.offset(p.surface_b);
    Contacts::OnEdge on{};
    on.rows = {e[0] + i, e[1] + i, f[0] + j, f[1] + j}, on.side = int(side);
    on.body = p.surface_a, on.other = p.surface_b;
    on.thickness = ca.thickness + cb.thickness, on.stiffness = std::min(ca.stiffness, cb.stiffness);
    const double least_reach = on.thickness + search_slack * std::min(ca.edge, cb.edge);
    if ((solid_a || solid_b) && dot(out, r) < -0.5 * std::min({ca.thin, cb.thin, ca.edge, cb.edge})) continue;
    const SegmentSegment near = segment_segment(p0, p0 + along_p, q0, q0 + along_q);
    double reach = 0;
    for (int k = 0; k < 4; ++k) reach = std::max(reach, travel(on.rows[k / 2], on.rows[2 + k % 2]));
    reach = least_reach + 2 * std::sqrt(reach);
    if (near.squared_distance > reach * reach) continue;
    on.meeting = c.meeting_of(on.body, on.other, -1);
    ContactRow unused;
    on.start_depth = c.touch(on, x, unused);
    const std::array<int, 4> ends_of_state = on.key = edge_key(c, on);
    const PairSurface& pair = pair_in(p.surface_a, p.surface_b);
    on.friction = pair.friction;
    if (on.friction > 0) {
      Grip fresh;
      fresh.row = ends_of_state[0], fresh.more = {ends_of_state[1], ends_of_state[2], ends_of_state[3]};
      fresh.body = island.bodies()[p.surface_b];
      hold_edge(c, on, x, {}, fresh);
    }
    c.on_edges.push_back(on);
  }
}

/// Gives two edges the grip that they had, or a new one that is not stretched.
void World::hold_edge(Contacts& c, Contacts::OnEdge& on, const Vec4* x, const Pose& pose, Grip& fresh) const {
  const Grip* old = old_grip(fresh);
  if (!old && !c.find_points(on, x, pose, fresh)) return;
  on.grip = int(c.grips.size());
  c.grips.push_back(old ? *old : fresh);
}

/// So many steps that nothing passes more than a quarter of a solid that it may meet in one.
int World::contact_substeps(Island& island, double h) {
  if (!scene.contact || repels() || !(scene.contact->self || (scene.contact->bodies && island.bodies().size() > 1)))
    return 1;
  ahead_.resize(island.rows());
  for (int i = 0; i < island.rows(); ++i)
    ahead_[i] = island.motion.x[i] + (island.motion.v[i] + island.forcing.acceleration[i] * h) * h;
  stay_with(island);
  // two that together go less far than that need no search
  double longest = 0, thinnest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < island.rows(); ++i) longest = std::max(longest, norm((ahead_[i] - island.motion.x[i]).xyz()));
  for (const int b : island.bodies())
    if (model.bodies[b].surface.solid_faces > 0) thinnest = std::min(thinnest, contact_bodies_[b].thin);
  if (2 * longest < 0.25 * thinnest * (1 - 1e-9)) return 1;
  swept_.clear();
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k], offset = island.offset(int(k));
    swept_.push_back({&model.bodies[b].surface, island.motion.x.data() + offset, ahead_.data() + offset,
                      contact_bodies_[b].thickness, int(k), scene.contact->self, EdgePairs::none});
  }
  passages_->find(swept_, vertex_face_, edge_edge_, scene.contact->self);
  island.add_work({.vertices = 8.0 * island.rows(), .pairs = double(vertex_face_.size())});
  double most = 0;
  for (const Pair& p : vertex_face_) {
    const Body &a = model.bodies[island.bodies()[p.surface_a]], &b = model.bodies[island.bodies()[p.surface_b]];
    if (p.feature_b >= b.surface.solid_faces) continue;
    const int row = island.offset(p.surface_a) + a.surface.vertices[p.feature_a], to = island.offset(p.surface_b);
    Vec3 relative = (ahead_[row] - island.motion.x[row]).xyz();
    for (const int r : b.surface.faces[p.feature_b]) relative -= (ahead_[to + r] - island.motion.x[to + r]).xyz() / 3;
    most = std::max(most, norm(relative) / (0.25 * contact_bodies_[island.bodies()[p.surface_b]].thin));
  }
  return std::clamp(int(std::ceil(most)), 1, 16);
}

}  // namespace verve
