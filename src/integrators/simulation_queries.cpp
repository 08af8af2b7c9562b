// Rays, nearest points, overlaps: over the triangles of the surfaces as they are now, bodies that are too far left out by
// the boxes around them. What touched, and what happened.
#include <algorithm>
#include <limits>
#include <map>

#include "contact/proximity.h"
#include "geometry/box.h"
#include "geometry/point_triangle.h"
#include "integrators/simulation_impl.h"

namespace verve {

namespace {

/// Of a body where it is now.
struct Here {
  const Body& body;
  const Vec4* x;
  Vec3 at(int vertex) const { return x[body.row_of_vertex[vertex]].xyz(); }
  Box box() const {
    Box out;
    for (int r = 0; r < body.count; ++r)
      if (body.mass[r] > 0) out.add(x[r].xyz());
    return out;
  }
};

Here here(const World& w, int b) { return {w.model.bodies[b], w.state.x.data() + w.model.bodies[b].first}; }

/// Where a ray enters a box, by multiples of `way`; none: it does not, or later than `latest`.
bool meets(const Box& box, const Vec3& from, const Vec3& way, double latest) {
  double first = 0, last = latest;
  for (int k = 0; k < 3; ++k) {
    if (way[k] == 0) {
      if (from[k] < box.low[k] || from[k] > box.high[k]) return false;
      continue;
    }
    const double a = (box.low[k] - from[k]) / way[k], b = (box.high[k] - from[k]) / way[k];
    first = std::max(first, std::min(a, b)), last = std::min(last, std::max(a, b));
  }
  return first <= last;
}

/// Moeller and Trumbore 1997, from either side. The weights of b and c and the way; false: beside it.
bool meets(const Vec3& from, const Vec3& way, const Vec3& a, const Vec3& b, const Vec3& c, Vec3& out) {
  const Vec3 e = b - a, f = c - a, p = cross(way, f);
  const double det = dot(e, p);
  if (det == 0) return false;
  const Vec3 s = from - a, q = cross(s, e);
  out = {dot(s, p) / det, dot(way, q) / det, dot(f, q) / det};
  return out.x >= 0 && out.y >= 0 && out.x + out.y <= 1 && out.z >= 0;
}

double square(const Vec3& v) { return dot(v, v); }

/// How far a point is from a box; 0 inside.
double distance_to(const Box& box, const Vec3& p) {
  Vec3 d{};
  for (int k = 0; k < 3; ++k) d[k] = std::max({0.0, box.low[k] - p[k], p[k] - box.high[k]});
  return norm(d);
}

bool is_inside(const Here& body, const std::vector<int>& tetrahedra, const Vec3& p) {
  for (const int t : tetrahedra) {
    const auto& [a, b, c, d] = body.body.mesh.tetrahedra[t];
    const Vec3 o = body.at(a), e = body.at(b) - o, f = body.at(c) - o, g = body.at(d) - o, q = p - o;
    const double volume = dot(e, cross(f, g));
    if (volume == 0) continue;
    const double u = dot(q, cross(f, g)) / volume, v = dot(e, cross(q, g)) / volume, w = dot(e, cross(f, q)) / volume;
    if (u >= 0 && v >= 0 && w >= 0 && u + v + w <= 1) return true;
  }
  return false;
}

/// Separating axes of a box about the origin and a triangle (Akenine-Moeller 2001).
bool overlap(const Vec3& half, const std::array<Vec3, 3>& t) {
  const auto apart = [&](const Vec3& axis) {
    const double p = dot(axis, t[0]), q = dot(axis, t[1]), r = dot(axis, t[2]);
    const double reach = half.x * std::abs(axis.x) + half.y * std::abs(axis.y) + half.z * std::abs(axis.z);
    return std::min({p, q, r}) > reach || std::max({p, q, r}) < -reach;
  };
  const Vec3 edges[3] = {t[1] - t[0], t[2] - t[1], t[0] - t[2]};
  Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (const Vec3& axis : axes) {
    if (apart(axis)) return false;
    for (const Vec3& edge : edges)
      if (apart(cross(axis, edge))) return false;
  }
  return !apart(cross(edges[0], edges[1]));
}

}  // namespace

/// Made anew where something has torn, or another body has the place.
const Simulation::Impl::Skin& Simulation::Impl::skin(int b) {
  skins.resize(std::max(skins.size(), world.model.bodies.size()));
  Skin& out = skins[b];
  const int torn = world.state.ledger[b].torn, generation = world.state.bodies[b].generation;
  if (out.torn == torn && out.generation == generation) return out;
  const RemovedElements removed = world.removed_from(b);
  const Mesh& whole = world.model.bodies[b].mesh;
  const Mesh left = without(whole, removed);
  out = {surface(left), {}, {}, {}, torn, generation};
  const auto sorted = [](std::array<int, 3> t) {
    std::sort(t.begin(), t.end());
    return t;
  };
  std::map<std::array<int, 3>, int> behind;
  std::vector<char> gone(whole.tetrahedra.size());
  for (const int t : removed.tetrahedra) gone[t] = 1;
  for (int t = 0; t < int(whole.tetrahedra.size()); ++t) {
    if (gone[t]) continue;
    out.inside.push_back(t);
    const auto& [a, b1, c, d] = whole.tetrahedra[t];
    for (const std::array<int, 3>& face : {std::array{a, b1, c}, {a, b1, d}, {a, c, d}, {b1, c, d}})
      behind[sorted(face)] = t;
  }
  for (const auto& triangle : out.triangles) {
    const auto at = behind.find(sorted(triangle));
    out.tetrahedron.push_back(at == behind.end() ? -1 : at->second);
  }
  if (whole.tetrahedra.empty() && whole.triangles.empty()) out.ropes = left.edges;
  return out;
}

std::optional<RayHit> Simulation::cast_ray(const Vec3& origin, const Vec3& towards, double longest) const {
  require_finite("cast_ray", origin), require_finite("cast_ray", towards);
  require(norm(towards) > 0 && longest >= 0, "cast_ray: expected a direction other than 0 and a length >= 0");
  const World& w = impl_->world;
  const Vec3 way = towards / norm(towards);
  std::optional<RayHit> out;
  double nearest = longest;
  for (int b = 0; b < bodies(); ++b) {
    if (!w.has_body(b)) continue;
    const Here body = here(w, b);
    if (!meets(body.box(), origin, way, nearest)) continue;
    const Impl::Skin& skin = impl_->skin(b);
    for (size_t t = 0; t < skin.triangles.size(); ++t) {
      const auto& [i, j, k] = skin.triangles[t];
      const Vec3 p = body.at(i), q = body.at(j), r = body.at(k);
      Vec3 at;
      if (!meets(origin, way, p, q, r, at) || !(at.z < nearest)) continue;
      nearest = at.z;
      out = RayHit{};
      out->body = body_id(b), out->vertices = {i, j, k}, out->weights = {1 - at.x - at.y, at.x, at.y};
      out->tetrahedron = skin.tetrahedron[t], out->normal = direction(cross(q - p, r - p), way * -1.0);
      if (out->tetrahedron < 0 && dot(out->normal, way) > 0) out->normal = out->normal * -1.0;
    }
  }
  // along the ray by the distance to a collider, which nothing of it is nearer than (Hart 1996)
  for (int c = 0; c < colliders(); ++c) {
    if (!has_collider(c) || !w.is_active(c, w.clock(w.state.frame + 1))) continue;
    const PlacedShape shape{w.model.colliders[c].shape.get(), w.pose_of(c, w.clock(w.state.frame))};
    constexpr int most_steps = 256;
    const double touching = 1e-6;  // [m]
    double at = 0;
    for (int step = 0; step < most_steps && at < nearest; ++step) {
      const Touch touch = shape.touch(origin + way * at);
      if (touch.distance > touching) {
        at += touch.distance;
        // (away from a plane for ever)
        if (!(at < 1e12)) break;
        continue;
      }
      nearest = at;
      out = RayHit{};
      out->collider = {c, w.state.colliders[c].generation}, out->normal = touch.normal;
      break;
    }
  }
  if (out) out->point = origin + way * nearest, out->distance = nearest;
  return out;
}

std::optional<SurfacePoint> Simulation::closest_point(const Vec3& point, double farthest, BodyId of) const {
  require_finite("closest_point", point);
  require(farthest >= 0, "closest_point: expected a distance >= 0");
  const World& w = impl_->world;
  const int only = of < 0 ? -1 : impl_->body("closest_point", of);
  std::optional<SurfacePoint> out;
  double nearest = farthest < 1e150 ? farthest * farthest : std::numeric_limits<double>::infinity();
  for (int b = 0; b < bodies(); ++b) {
    if (!w.has_body(b) || (only >= 0 && b != only)) continue;
    const Here body = here(w, b);
    const double to_box = distance_to(body.box(), point);
    if (to_box * to_box > nearest) continue;
    const Impl::Skin& skin = impl_->skin(b);
    for (size_t t = 0; t < skin.triangles.size(); ++t) {
      const auto& [i, j, k] = skin.triangles[t];
      const Vec3 p = body.at(i), q = body.at(j), r = body.at(k);
      const PointTriangle found = point_triangle(point, p, q, r);
      if (!(found.squared_distance <= nearest) || (out && found.squared_distance == nearest)) continue;
      nearest = found.squared_distance;
      out = SurfacePoint{body_id(b), {i, j, k}, found.weights, skin.tetrahedron[t], point - found.offset,
                         direction(cross(q - p, r - p), found.offset), 0};
      if (out->tetrahedron < 0 && dot(out->normal, found.offset) < 0) out->normal = out->normal * -1.0;
    }
    for (const auto& [i, j] : skin.ropes) {
      const Vec3 p = body.at(i), along = body.at(j) - p;
      const double s = nearest_on_segment(point - p, along);
      const Vec3 offset = point - (p + along * s);
      if (!(square(offset) <= nearest) || (out && square(offset) == nearest)) continue;
      nearest = square(offset);
      out = SurfacePoint{body_id(b), {i, j, j}, {1 - s, s, 0}, -1, point - offset, direction(offset, {0, 1, 0}), 0};
    }
  }
  if (out) out->distance = std::sqrt(nearest);
  return out;
}

std::vector<BodyId> Simulation::overlap_ball(const Vec3& center, double radius) const {
  require(radius >= 0 && std::isfinite(radius), "overlap_ball: expected a radius >= 0");
  const World& w = impl_->world;
  std::vector<BodyId> out;
  for (int b = 0; b < bodies(); ++b) {
    if (!w.has_body(b) || distance_to(here(w, b).box(), center) > radius) continue;
    if (closest_point(center, radius, b) || is_inside(here(w, b), impl_->skin(b).inside, center))
      out.push_back(body_id(b));
  }
  return out;
}

std::vector<BodyId> Simulation::overlap_box(const Vec3& low, const Vec3& high) const {
  require_finite("overlap_box", low), require_finite("overlap_box", high);
  require(low.x <= high.x && low.y <= high.y && low.z <= high.z,
          "overlap_box: expected the lower corner first, then the upper one");
  const World& w = impl_->world;
  const Vec3 middle = (low + high) * 0.5, half = (high - low) * 0.5;
  std::vector<BodyId> out;
  for (int b = 0; b < bodies(); ++b) {
    if (!w.has_body(b)) continue;
    const Here body = here(w, b);
    const Box box = body.box();
    bool apart = false;
    for (int k = 0; k < 3; ++k) apart |= box.high[k] < low[k] || box.low[k] > high[k];
    if (apart) continue;
    const Impl::Skin& skin = impl_->skin(b);
    bool meets = is_inside(body, skin.inside, middle);
    for (size_t t = 0; !meets && t < skin.triangles.size(); ++t) {
      const auto& [i, j, k] = skin.triangles[t];
      meets = overlap(half, {body.at(i) - middle, body.at(j) - middle, body.at(k) - middle});
    }
    for (size_t t = 0; !meets && t < skin.ropes.size(); ++t) {
      const auto& [i, j] = skin.ropes[t];
      meets = overlap(half, {body.at(i) - middle, body.at(j) - middle, body.at(j) - middle});
    }
    if (meets) out.push_back(body_id(b));
  }
  return out;
}

std::vector<Contact> Simulation::contacts() const {
  const State& s = impl_->world.state;
  std::vector<Contact> out;
  for (const PairContact& c : s.contact_pairs)
    out.push_back({body_id(c.body), c.other < 0 ? BodyId() : body_id(c.other),
                   c.collider < 0 ? ColliderId() : ColliderId(c.collider, s.colliders[c.collider].generation), c.point,
                   c.normal, c.force, c.impulse, c.friction_loss});
  return out;
}

const std::vector<Event>& Simulation::events() const { return impl_->world.events(); }

std::vector<BodyId> Simulation::island(BodyId id) const {
  const int b = impl_->body("island", id);
  std::vector<BodyId> out;
  for (const int member : impl_->world.island_of(b).bodies()) out.push_back(body_id(member));
  return out;
}

}  // namespace verve
