// Faces and edges of bodies on corners and edges of colliders: what is smaller than the cells of a surface gets between
// its vertices. Corners are points that touch faces, edges are edges that touch edges, as of another body, but that
// they do not give way; round shapes (sphere, capsule) are points and edges with a radius.
#include <algorithm>
#include <cmath>

#include "contact/contact_detector.h"
#include "contact/proximity.h"
#include "contact/ties.h"

namespace verve {

namespace {

/// Mean edges of a body: round shapes of a larger radius meet its vertices, and come between them by a quarter of an
/// edge at most.
constexpr double largest_radius = 0.5;
/// Faces, or edges, that are looked at one by one where the box around them is near.
constexpr size_t group_size = 16;

/// Within `margin` of each other in each coordinate.
bool near(const Box& a, const Box& b, double margin) {
  for (int k = 0; k < 3; ++k)
    if (a.low[k] - margin > b.high[k] || b.low[k] - margin > a.high[k]) return false;
  return true;
}

/// One bit for each side of box b, with its margin, that a lies beyond.
unsigned sides_beyond(const Box& a, const Box& b, double margin) {
  unsigned out = 0;
  for (int k = 0; k < 3; ++k)
    out |= unsigned(a.low[k] - margin > b.high[k]) << (2 * k) | unsigned(b.low[k] - margin > a.high[k]) << (2 * k + 1);
  return out;
}

}  // namespace

void ContactDetector::detect_features(const Step& step, int s) {
  const MovingBodies& moving = step.moving;
  Contacts& c = step.out;
  const Pose& start = step.colliders[s].start;
  const ShapeFeatures& features = features_[s];
  const Pose& end = c.shapes[s].pose;
  const Vec4* x = moving.x.data();
  const bool round = features.radius > 0;
  Box there;
  double carried = 0;
  feature_from_.clear(), feature_to_.clear();
  for (const Vec3& p : features.points) {
    const Vec3 from = start.to_world(p), to = end.to_world(p);
    there.add(from), there.add(to);
    carried = std::max(carried, norm(to - from));
    feature_from_.push_back(from), feature_to_.push_back(to);
  }
  const auto way_of = [&](std::span<const int> points) {
    Box out;
    for (const int p : points) out.add(feature_from_[p]), out.add(feature_to_[p]);
    return out;
  };
  for (size_t k = 0; k < moving.bodies.size(); ++k) {
    const int b = moving.bodies[k], offset = moving.offsets[k];
    const ContactBody& cb = bodies_[b];
    const Surface& surface = *cb.surface;
    if ((round && features.radius > largest_radius * cb.edge) || surface.vertices.empty() || carries(cb)) continue;
    const PairSurface pair = pair_of(b, side_of(s));
    if (!pair.touch) continue;
    const double thickness = cb.thickness + features.radius;
    // what a way is prolonged by, and what comes near on it
    const auto travel = [&](int row) { return travel_[row]; };
    const double margin = thickness + search_slack * cb.edge;
    const Box& here = sweeps_[k].way;
    if (!near(here, there, margin)) continue;
    // no pair that is farther apart than this lets it come is looked at closely; mostly none is nearer
    const double farthest = margin + 2 * (sweeps_[k].travel + carried);
    near_points_.clear(), near_lines_.clear();
    Box nearby;
    for (int p = 0; p < int(features.points.size()); ++p)
      if (const Box way = way_of({&p, 1}); near(way, here, farthest)) near_points_.push_back(p), nearby.add(way);
    for (int f = 0; f < int(features.edges.size()); ++f)
      if (const Box way = way_of(features.edges[f]); near(way, here, farthest))
        near_lines_.push_back(f), nearby.add(way);
    if (near_points_.empty() && near_lines_.empty()) continue;
    near_faces_.clear(), near_edges_.clear();
    // what has all of its vertices on the same side of one of these boxes does not come near it
    sides_.resize(surface.rows), travel_.resize(moving.rows());
    for (const int r : surface.vertices) {
      travel_[offset + r] = norm((moving.predicted[offset + r] - x[offset + r]).xyz());
      Box way;
      way.add(x[offset + r].xyz()), way.add(moving.predicted[offset + r].xyz());
      sides_[r] = (unsigned short)(sides_beyond(way, nearby, farthest) | sides_beyond(way, there, margin) << 6);
    }
    // nor does what is slower than the fastest, and farther away than its own way lets it come
    const auto comes_near = [&](std::span<const int> rows) {
      Box at;
      double fastest = 0;
      for (const int r : rows) at.add(x[offset + r].xyz()), fastest = std::max(fastest, travel(offset + r));
      return near(at, nearby, (margin + 2 * (fastest + carried)) * (1 + 1e-9));
    };
    for (int f = 0; f < int(surface.faces.size()); ++f) {
      const auto& [i, j, l] = surface.faces[f];
      if ((sides_[i] & sides_[j] & sides_[l]) == 0 && comes_near(surface.faces[f])) near_faces_.push_back(f);
    }
    for (int e = 0; e < int(surface.edges.size()); ++e) {
      const auto& [i, j] = surface.edges[e];
      if ((sides_[i] & sides_[j]) == 0 && comes_near(surface.edges[e])) near_edges_.push_back(e);
    }
    if (near_faces_.empty() && near_edges_.empty()) continue;

    const auto beyond = [](const Vec3& d, double distance) { return dot(d, d) > distance * distance; };
    const auto ball_of = [&](std::span<const int> rows) {
      Ball out{};
      for (const int r : rows) out.middle += x[offset + r].xyz() / double(rows.size());
      for (const int r : rows) out.radius = std::max(out.radius, norm(x[offset + r].xyz() - out.middle));
      return out;
    };
    face_balls_.clear(), edge_balls_.clear();
    for (const int f : near_faces_) face_balls_.push_back(ball_of(surface.faces[f]));
    for (const int e : near_edges_) edge_balls_.push_back(ball_of(surface.edges[e]));
    const auto group = [](const std::vector<Ball>& balls, std::vector<Box>& out) {
      out.assign((balls.size() + group_size - 1) / group_size, Box());
      for (size_t i = 0; i < balls.size(); ++i) {
        const Vec3 r{balls[i].radius, balls[i].radius, balls[i].radius};
        out[i / group_size].add(balls[i].middle - r), out[i / group_size].add(balls[i].middle + r);
      }
    };
    group(face_balls_, face_groups_), group(edge_balls_, edge_groups_);

    const size_t points = c.points.size(), on_faces = c.on_faces.size(), faces = c.faces.size(),
                 on_edges = c.on_edges.size(), touching_pairs = c.touching_pairs.size(),
                 friction_anchors = c.friction_anchors.size();
    const int touching_pair = c.add_pair(int(k), -1, s);
    bool meets = step.all;
    ContactRow here_row, unused;
    // `face`: the corners of the only one, of a round shape; else the nearest counts
    const auto add_point = [&](Contacts::OnFaces& on, int p, const std::array<int, 3>* face) {
      on.last = int(c.faces.size());
      if (!face) c.close_faces(on.first);
      on.vertex = -1 - int(c.points.size());
      const int first = cb.first;
      on.key =
          face ? point_key(s, p, {first + (*face)[0], first + (*face)[1], first + (*face)[2]}) : point_key(first, s, p);
      c.points.push_back(feature_from_[p]);
      on.start_depth = c.touch(on, x, here_row);
      if (!round && on.start_depth - on.thickness > 0.5 * cb.thin + on.slack) {  // it never came through this side
        c.points.pop_back(), c.faces.resize(on.first);
        return;
      }
      c.points.back() = feature_to_[p];
      const double depth = c.touch(on, x, here_row);
      meets |=
          depth > -search_slack * cb.edge || c.touch(on, moving.predicted.data(), unused) > -search_slack * cb.edge;
      on.anchor = -1;
      if (pair.friction > 0) {
        FrictionAnchor fresh;
        fresh.row = first + (face ? (*face)[0] : 0), fresh.collider = s;
        fresh.more = {p, face ? first + (*face)[1] : -1, face ? first + (*face)[2] : -1};
        const FrictionAnchor* known = find_sorted(*step.memory.friction_anchors, key(fresh));
        if (!known) c.anchor_point(here_row, x, start, fresh);
        on.anchor = int(c.friction_anchors.size());
        c.friction_anchors.push_back(known ? *known : fresh);
      }
      c.on_faces.push_back(on);
    };
    // friction pushes on the skin of a round shape, beside its middle: no momentum is free of that
    if (round && pair.friction > 0)
      for (int axis = 0; axis < 3; ++axis) {
        Vec3 beside = feature_to_[0];
        beside[axis] += features.radius;
        c.points.push_back(beside);
      }
    for (const int p : near_points_) {
      const Vec3 at = feature_from_[p];
      const Vec3 outward = end.direction_to_world(features.outward[p]);
      Contacts::OnFaces on{};
      on.body = int(k), on.other = -1, on.first = int(c.faces.size()), on.pair = touching_pair;
      on.thickness = thickness, on.stiffness = cb.stiffness, on.friction = pair.friction, on.slack = tie * cb.edge;
      on.restitution = pair.restitution;
      bool some = false;  // of which the nearest counts
      for (size_t n = 0; n < near_faces_.size(); ++n) {
        if (n % group_size == 0 && face_groups_[n / group_size].distance(at) > farthest * (1 + 1e-9)) {
          n += group_size - 1;
          continue;
        }
        if (beyond(at - face_balls_[n].middle, farthest + face_balls_[n].radius)) continue;
        const int f = near_faces_[n];
        const auto& face = surface.faces[f];
        const bool solid = f < surface.solid_faces;
        Contacts::Face g{{face[0] + offset, face[1] + offset, face[2] + offset}, 0};
        const Vec3 a = x[g.rows[0]].xyz(), d = x[g.rows[1]].xyz(), e = x[g.rows[2]].xyz();
        const Vec3 normal = cross(d - a, e - a);
        // Round shapes push on each face of a solid by itself: the distance to a triangle has no kinks, that to the
        // nearest of several has some wherever they bend towards the point. Sheets, which are passed through more
        // easily, have a side at their nearest face alone.
        const bool each = round && solid;
        if (solid && !round && dot(outward, normal) > opposing * norm(normal)) continue;  // it is not in the way
        if (!solid || each) g.side = sign_of(dot(normal, at - a), on.slack * norm(normal));
        const PointTriangle near = point_triangle(at, a, d, e);
        double reach = 0;
        for (const int corner : g.rows) reach = std::max(reach, travel(corner));
        reach = margin + 2 * (reach + carried);
        if (near.squared_distance > reach * reach) continue;
        if (each) {
          on.first = int(c.faces.size()), on.thickness = thickness;
          c.faces.push_back(g);
          add_point(on, p, &face);
          continue;
        }
        if (solid) {
          g.normals = int(c.outward.size());
          auto& normals = c.outward.emplace_back();
          for (int part = 0; part < 6; ++part) normals[part] = normals_[k].of(f, TrianglePart(part));
        }
        c.faces.push_back(g), some = true;
      }
      if (some) add_point(on, p, nullptr);
    }
    for (const int f : near_lines_) {
      const auto& [from, to] = features.edges[f];
      const Vec3 q0 = feature_from_[from], q = feature_from_[to] - q0;
      int first = 0;  // of its points, once it has some
      const Vec3 half = q * 0.5, middle_q = q0 + half;
      const double reach_q = farthest + norm(half);
      for (size_t n = 0; n < near_edges_.size(); ++n) {
        if (n % group_size == 0 && edge_groups_[n / group_size].distance(middle_q) > reach_q * (1 + 1e-9)) {
          n += group_size - 1;
          continue;
        }
        if (beyond(middle_q - edge_balls_[n].middle, reach_q + edge_balls_[n].radius)) continue;
        const int e = near_edges_[n];
        const auto& edge = surface.edges[e];
        Contacts::OnEdge on{};
        on.body = int(k), on.other = -1, on.pair = touching_pair, on.thickness = thickness, on.stiffness = cb.stiffness;
        on.friction = pair.friction, on.restitution = pair.restitution;
        const int i = edge[0] + offset, j = edge[1] + offset;
        const Vec3 p0 = x[i].xyz(), p = x[j].xyz() - p0, r = p0 - q0;
        const SegmentSegment near = segment_segment(p0, p0 + p, q0, q0 + q);
        const double reach = margin + 2 * (std::max(travel(i), travel(j)) + carried);
        if (near.squared_distance > reach * reach) continue;
        const Vec3 across = direction(cross(p, q), {});
        const bool solid = surface.solid_faces > 0;
        on.side = int(sign_of(dot(across, r), tie * cb.edge));
        if (!round) {
          const Vec3 middle = end.direction_to_world(features.sides[f][0] + features.sides[f][1]);
          on.side = dot(across, middle) < 0 ? -1 : 1;
        } else if (solid) {
          on.side = dot(across, normals_[k].of_edge(e)) > 0 ? -1 : 1;
        }
        const Vec3 out = across * double(on.side);
        if (!round && !features.looks_towards(f, end.direction_to_local(out), cone_slack)) continue;
        if (solid && !normals_[k].looks_towards(e, out * -1.0, cone_slack)) continue;
        if ((solid || !round) && dot(out, r) < -(0.5 + tie) * std::min(cb.thin, cb.edge))
          continue;
        if (first == 0) {
          first = -1 - int(c.points.size());
          c.points.push_back(feature_to_[from]), c.points.push_back(feature_to_[to]);
        }
        on.rows = {i, j, first, first - 1};
        on.key = line_key(c.state_of_row[i], c.state_of_row[j], s, f);
        Vec3 &end_0 = c.points[-1 - first], &end_1 = c.points[-first];
        end_0 = feature_from_[from], end_1 = feature_from_[to];
        on.start_depth = c.touch(on, x, unused);
        end_0 = feature_to_[from], end_1 = feature_to_[to];
        if (pair.friction > 0) {
          FrictionAnchor fresh;
          fresh.row = c.state_of_row[i], fresh.collider = s, fresh.more = {c.state_of_row[j], f, -2};
          add_edge_friction(step, on, start, fresh);
        }
        c.on_edges.push_back(on);
        meets |= c.touch(on, x, unused) > -search_slack * cb.edge ||
                 c.touch(on, moving.predicted.data(), unused) > -search_slack * cb.edge;
      }
    }
    if (!meets) {
      c.points.resize(points), c.on_faces.resize(on_faces), c.faces.resize(faces), c.on_edges.resize(on_edges);
      c.friction_anchors.resize(friction_anchors);
      if (c.touching_pairs.size() > touching_pairs) c.drop_pair();
    }
  }
}

int ContactDetector::substeps_for_features(const MovingBodies& moving,
                                           std::span<const ColliderMotion> colliders) const {
  double most = 0;
  for (size_t s = 0; s < features_.size(); ++s) {
    const double radius = features_[s].radius;
    if (!(radius > 0) || !colliders[s].active) continue;
    const Pose &from = colliders[s].start, &to = colliders[s].end;
    Box there;
    double carried = 0;
    for (const Vec3& p : features_[s].points) {
      there.add(from.to_world(p)), there.add(to.to_world(p));
      carried = std::max(carried, norm(to.to_world(p) - from.to_world(p)));
    }
    for (size_t k = 0; k < moving.bodies.size(); ++k) {
      const int b = moving.bodies[k], offset = moving.offsets[k];
      const ContactBody& cb = bodies_[b];
      const Surface& surface = *cb.surface;
      if (surface.solid_faces == 0 || radius > largest_radius * cb.edge || carries(cb)) continue;
      if (!pair_of(b, side_of(int(s))).touch) continue;
      Box here;
      double travel = 0;
      for (const int r : surface.vertices) {
        const Vec4& x = moving.x[offset + r];
        const Vec4& next = moving.predicted[offset + r];
        here.add(x.xyz()), here.add(next.xyz());
        travel = std::max(travel, norm((next - x).xyz()));
      }
      if (near(here, there, radius + cb.thickness))
        most = std::max(most, (travel + carried) / (0.5 * (radius + cb.thickness)));
    }
  }
  return std::clamp(int(std::ceil(most)), 1, 16);
}

}  // namespace verve
