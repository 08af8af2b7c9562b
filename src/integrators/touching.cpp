// Contact as a frame sees it: what may touch, and what friction takes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "integrators/stopwatch.h"
#include "integrators/turn.h"
#include "integrators/world.h"

namespace verve {

namespace {

/// Of the mean length of edges: how much farther than they are expected to come things are looked for.
constexpr double slack = 0.25;
/// Likewise: how deep a vertex may be inside its own body.
constexpr double self_reach = 1.5;

/// Of the width of a body.
constexpr double too_deep = 0.01;

/// Lengths of edges per second by which a place that is too deep is let out; by up to ten times as many in a heap, as
/// long as what that makes from nothing, 1/2 k of its square, is so small a share of the motion there is, from which it
/// is taken. (Without a bound heaps of coarse bodies gained 30 %.)
constexpr double relaxation = 0.2, heap_relaxation = 2, let_out_energy = 1e-3;

std::array<int, 4> edge_key(const Contacts& c, const Contacts::OnEdge& on) {
  return {c.state_of_row[on.rows[0]], c.state_of_row[on.rows[1]], c.state_of_row[on.rows[2]],
          c.state_of_row[on.rows[3]]};
}

/// In scenes of so many bodies, those that do not give back everything have no friction where their edges cross: in a
/// heap of them vertices hold, and frames with it took four times as long.
constexpr int least_heap = 3;

/// Cosine between faces that are one for what lies on them.
constexpr double same_face = 0.9;

/// Of a cosine: by how much edges may turn in a step until something no longer lies on them.
constexpr double cone_slack = 0.1;

/// Grips and entries of a state, in the order in which they are found again.
std::array<int, 6> key(const Grip& g) { return {g.row, g.collider, g.body, g.more[0], g.more[1], g.more[2]}; }
std::array<int, 3> key(const Entry& e) { return {e.row, e.collider, -1}; }
std::array<int, 4> key(const Press& p) { return p.key; }

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

template <class T>
void sort_places(std::vector<T>& places) {
  std::sort(places.begin(), places.end(), [](const T& a, const T& b) { return key(a) < key(b); });
}

template <class T, class Key>
const T* find_sorted(const std::vector<T>& places, const Key& wanted) {
  const auto found =
      std::lower_bound(places.begin(), places.end(), wanted, [](const T& p, const Key& k) { return key(p) < k; });
  return found != places.end() && key(*found) == wanted ? &*found : nullptr;
}

}  // namespace

/// What held the place of `fresh` at the end of the last step.
const Grip* World::old_grip(const Grip& fresh) const { return find_sorted(state.grips, key(fresh)); }

void World::compile_contact() {
  contact_bodies_.assign(model.bodies.size(), {});
  state.group.resize(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) state.group[b] = int(b);
  if (!has_contact()) return;
  features_.clear();
  for (const Collider& c : model.colliders) features_.push_back(c.shape->features());
  if (!pairs_) meetings_ = make_broad_phase(), passages_ = make_broad_phase(), pairs_ = make_broad_phase();
  pair_rules_.clear();
  const auto side = [&](const std::string& name) {
    for (size_t b = 0; b < scene.bodies.size(); ++b)
      if (scene.bodies[b].name == name) return int(b);
    for (size_t c = 0; c < scene.colliders.size(); ++c)
      if (scene.colliders[c].name == name) return int(scene.bodies.size() + c);
    return -1;
  };
  for (size_t p = 0; scene.contact && p < scene.contact->pairs.size(); ++p)
    pair_rules_.push_back({side(scene.contact->pairs[p].a), side(scene.contact->pairs[p].b), int(p)});
  const double factor = scene.contact ? scene.contact->stiffness : ContactSpec{}.stiffness;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    Body& body = model.bodies[b];
    Surface& surface = body.surface;
    ContactBody& c = contact_bodies_[b];
    std::vector<double> mass;
    for (const int r : surface.vertices) mass.push_back(body.mass[r]);
    if (mass.empty()) continue;
    std::nth_element(mass.begin(), mass.begin() + mass.size() / 2, mass.end());
    c.stiffness = factor * mass[mass.size() / 2] / (scene.step * scene.step);
    const double thickness = scene.bodies[b].thickness;
    c.thickness = surface.solid_faces > 0 ? thickness : 0.5 * thickness;  // a sheet has its middle where it is drawn
    for (const auto& [i, j] : surface.edges) c.edge += norm((body.rest[i] - body.rest[j]).xyz()) / surface.edges.size();
    Vec3 low = body.rest[surface.vertices[0]].xyz(), high = low;
    for (const int r : surface.vertices)
      for (int k = 0; k < 3; ++k)
        low[k] = std::min(low[k], body.rest[r].xyz()[k]), high[k] = std::max(high[k], body.rest[r].xyz()[k]);
    c.size = norm(high - low);
    c.thin = std::min({high.x - low.x, high.y - low.y, high.z - low.z});
    forget_neighbours(int(b));
  }
}

/// What is near at rest never touches itself.
void World::forget_neighbours(int b) {
  if (!scene.contact || !scene.contact->self) return;
  const Body& body = model.bodies[b];
  Surface& surface = model.bodies[b].surface;
  surface.never_faces = {}, surface.never_edges = {}, surface.version = new_surface_version();
  never_within_rings(surface, 1);
  std::vector<Vec3> rest(body.count);
  for (int r = 0; r < body.count; ++r) rest[r] = body.rest[r].xyz();
  // the other side of a thin solid is no obstacle: farther than this nothing of itself is looked for (prepare_pairs)
  never_near_at_rest(surface, rest, 2 * contact_bodies_[b].thickness + self_reach * contact_bodies_[b].edge);
}

/// Sides are bodies, and after them colliders.
World::PairSurface World::pair_of(int a, int b) const {
  const int bodies = int(model.bodies.size());
  const auto friction = [&](int i) {
    return i < bodies ? scene.bodies[i].friction : scene.colliders[i - bodies].friction;
  };
  const auto restitution = [&](int i) {
    return i < bodies ? scene.bodies[i].restitution : scene.colliders[i - bodies].restitution;
  };
  PairSurface out{std::sqrt(friction(a) * friction(b)), std::min(restitution(a), restitution(b)), true};
  if (a < bodies && b < bodies && a != b) out.touch = scene.contact && scene.contact->bodies;
  for (const PairRule& rule : pair_rules_) {
    if (!((rule.a == a && rule.b == b) || (rule.a == b && rule.b == a))) continue;
    const ContactPairSpec& pair = scene.contact->pairs[rule.pair];
    out.friction = pair.friction.value_or(out.friction), out.restitution = pair.restitution.value_or(out.restitution);
    out.touch = out.touch && pair.touch;
  }
  out.friction = state.friction.value_or(out.friction);
  return out;
}

Pose World::pose_of(int collider, double time) const {
  const ColliderSpec& spec = scene.colliders[collider];
  Pose pose;
  pose.position = spec.position.at(time).value_or(Vec3{});
  const Vec3 turn = spec.rotation.at(time).value_or(Vec3{}) * (std::numbers::pi / 180);
  if (norm(turn) > 0) pose.rotation = Turn(turn).matrix();
  return pose;
}

void World::restore_grips(const Island& island) {
  const auto mine = [&](int row) {
    for (const int b : island.bodies())
      if (row >= model.bodies[b].first && row < model.bodies[b].first + model.bodies[b].count) return true;
    return false;
  };
  const auto ours = [&](const Grip& grip) { return mine(grip.row); };
  const auto entered = [&](const Entry& entry) { return mine(entry.row); };
  const auto pressed = [&](const Press& press) { return mine(press.key[0]); };
  std::erase_if(state.grips, ours);
  for (const Grip& grip : start_grips_)
    if (ours(grip)) state.grips.push_back(grip);
  std::erase_if(state.entries, entered);
  for (const Entry& entry : before_.entries)
    if (entered(entry)) state.entries.push_back(entry);
  forget_meetings(island);
  std::erase_if(state.presses, pressed);
  for (const Press& press : before_.presses)
    if (pressed(press)) state.presses.push_back(press);
  sort_places(state.grips), sort_places(state.entries), sort_places(state.presses);
}

void World::prepare_contacts(Island& island, double from, double to, double h, bool all) {
  if (!has_contact() || repels()) return;
  Stopwatch watch;
  Contacts& c = island.contacts;
  const bool had = !c.empty(), planes = scene.contact && scene.contact->response == "planes";
  c.clear(int(island.bodies().size()), int(model.colliders.size()));
  c.deep = std::numeric_limits<double>::infinity();
  for (const int b : island.bodies()) c.deep = std::min(c.deep, too_deep * contact_bodies_[b].thin);
  c.row_of_state.assign(model.rows, -1), c.state_of_row.resize(island.rows());
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = model.bodies[island.bodies()[k]];
    for (int r = 0; r < body.count; ++r) {
      c.row_of_state[body.first + r] = island.offset(int(k)) + r;
      c.state_of_row[island.offset(int(k)) + r] = body.first + r;
    }
  }
  normals_.resize(std::max(normals_.size(), island.bodies().size()));
  for (size_t k = 0; k < island.bodies().size(); ++k)
    normals_[k].bind(model.bodies[island.bodies()[k]].surface, island.motion.x.data() + island.offset(int(k)));
  c.start = island.motion.x;
  // where everything would be at the end of the step
  ahead_.resize(island.rows());
  for (int i = 0; i < island.rows(); ++i)
    ahead_[i] = island.motion.x[i] + (island.motion.v[i] + island.forcing.acceleration[i] * h) * h;

  sweep_bodies(island);

  for (size_t s = 0; s < model.colliders.size(); ++s) {
    const Pose start = pose_of(int(s), from), end = pose_of(int(s), to);
    c.shapes.push_back({model.colliders[s].shape.get(), end});
    const bool moves = norm(start.position - end.position) > 0 ||
                       norm(start.rotation.col[0] - end.rotation.col[0]) > 0 ||
                       norm(start.rotation.col[1] - end.rotation.col[1]) > 0;
    c.shape_moves.push_back(moves);
    const ColliderSpec& spec = scene.colliders[s];
    if (!spec.active.at(to).value_or(false)) continue;
    for (size_t k = 0; k < island.bodies().size(); ++k) {
      const int b = island.bodies()[k];
      const ContactBody& cb = contact_bodies_[b];
      const PairSurface pair = pair_of(b, int(model.bodies.size() + s));
      if (!pair.touch) continue;
      const size_t first = c.on_shapes.size();
      const size_t first_grip = c.grips.size();
      const int meeting = c.meeting_of(int(k), -1, int(s));
      bool meets = all;
      const PlacedShape& placed = c.shapes.back();
      const auto carry = [&](const Vec3& x) { return end.to_world(start.to_local(x)); };
      const double reach = 2 * (sweeps_[k].travel + longest_way(sweeps_[k].at, carry)) + slack * cb.edge;
      const bool far = is_beyond(placed, sweeps_[k].at, cb.thickness + reach);
      for (const int r : model.bodies[b].surface.vertices) {
        if (far) break;
        const int row = island.offset(int(k)) + r;
        if (!(island.forcing.mass[row] > 0)) continue;
        const Vec3 x = island.motion.x[row].xyz(), next = ahead_[row].xyz(), carried = carry(x);
        const double travel = norm(next - x) + norm(carried - x);
        const Touch touch = placed.touch(x);
        if (touch.distance - cb.thickness > 2 * travel + slack * cb.edge) continue;
        // as it was relative to the collider, and as it is once both have moved
        const bool still = x.x == carried.x && x.y == carried.y && x.z == carried.z;
        const Touch before = still ? touch : placed.touch(carried), after = placed.touch(next);
        const double reached = std::min(touch.distance, after.distance) - cb.thickness;
        const bool through = dot(after.normal, before.normal) < 0;
        meets |= reached < 0.02 * travel || through;
        Touch came = before;
        if (const Entry* entry = find_sorted(state.entries, std::array{model.bodies[b].first + r, int(s), -1})) {
          const Vec3 n = end.direction_to_world(entry->normal);
          if (dot(n, before.normal) < 0) came = {dot(n, carried - end.to_world(entry->point)), n}, meets = true;
        }
        Contacts::OnShape on{row,          int(k),        int(s), meeting, cb.thickness,
                             cb.stiffness, pair.friction, -1,     carried, came};
        if (pair.friction > 0) {
          const int global = model.bodies[b].first + r;
          on.grip = int(c.grips.size());
          Grip fresh;
          fresh.row = fresh.rows[0] = global, fresh.collider = int(s), fresh.point = start.to_local(x);
          const Grip* grip = old_grip(fresh);
          c.grips.push_back(grip ? *grip : fresh);
        }
        c.on_shapes.push_back(on);
      }
      if (!meets) c.on_shapes.resize(first), c.grips.resize(first_grip), c.drop_meeting();
      // what a moving collider brings is not known beforehand, as of a hard anchor that moves
      island.driven |=
          moves && c.on_shapes.size() > first && (settings.conservation != Conservation::none || settings.projection);
    }
    const size_t points = c.points.size();
    if (!features_[s].points.empty() && !planes) prepare_features(island, int(s), start, all);
    island.driven |=
        moves && c.points.size() > points && (settings.conservation != Conservation::none || settings.projection);
  }
  if (planes) prepare_planes(island);
  if (scene.contact) prepare_pairs(island, h);
  island.inelastic = !c.empty();
  for (const int b : island.bodies())
    if (scene.contact && scene.contact->self) island.inelastic = island.inelastic && pair_of(b, b).restitution < 1;
  for (const Contacts::Meeting& m : c.meetings) {
    const int other = m.other >= 0 ? island.bodies()[m.other] : int(model.bodies.size()) + m.collider;
    island.inelastic = island.inelastic && pair_of(island.bodies()[m.body], other).restitution < 1;
  }
  // rates of a motion under contact would lead a free centre of mass astray
  bool touched = false;
  for (const int b : island.bodies()) touched |= state.ledger[b].touched, state.ledger[b].touched = !c.empty();
  if (touched && c.empty()) island.motion.history = false;
  watch.book(detection_);
  if (!had && c.empty()) return;
  c.look_again();
  island.evaluate_motion();
  // The same x, seen with other candidates, may touch elsewhere. What this makes of H is not meant: it is owed.
  // Grips that are gone with what they held are a loss; what a collider that moves has stretched them by is its work.
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    const double gone = ledger.pair_energy - c.pair_energy(int(k));
    const double paid = island.inelastic && gone > 0 ? std::clamp(-ledger.debt.h, 0.0, gone) : gone;
    ledger.debt.h += paid, ledger.booked_loss += gone - paid;
    if (!island.driven) ledger.booked_loss += ledger.grip_energy - c.grip_energy(int(k));
    ledger.pair_energy = c.pair_energy(int(k)), ledger.grip_energy = c.grip_energy(int(k));
  }
}

void World::sweep_bodies(const Island& island) {
  sweeps_.resize(island.bodies().size());
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    Sweep& sweep = sweeps_[k];
    sweep = {};
    double longest = 0;
    for (const int r : model.bodies[island.bodies()[k]].surface.vertices) {
      const int row = island.offset(int(k)) + r;
      const Vec3 x = island.motion.x[row].xyz(), next = ahead_[row].xyz(), way = next - x;
      sweep.at.add(x), sweep.way.add(next);
      longest = std::max(longest, dot(way, way));
    }
    sweep.way.add(sweep.at), sweep.travel = std::sqrt(longest);
  }
}

/// What all have in common of their ways brings none of them nearer to another.
void World::stay_with(const Island& island) {
  Vec4 mean;
  for (int i = 0; i < island.rows(); ++i) mean += (ahead_[i] - island.motion.x[i]) * (1.0 / island.rows());
  for (int i = 0; i < island.rows(); ++i) ahead_[i] -= mean;
}

/// What is deeper than the last step left it never came in there: other candidates see it, or a tear has made it. It
/// may stay as deep as that, and is let out slowly, or it would be thrown out.
double World::allowance(const std::array<int, 4>& key, double depth, double way) const {
  const Press* before = find_sorted(state.presses, key);
  // what it was, to the last bit, where nothing has moved
  if (before && std::abs(depth - before->depth) <= 1e-9 * depth && depth >= before->allowance)
    return std::max(0.0, before->allowance - way);
  const double pressed = before ? std::max(0.0, before->depth - before->allowance) : 0;
  return std::max(0.0, depth - pressed - way);
}

/// Vertices and faces, and edges, of the bodies of an island with each other and with themselves.
void World::prepare_pairs(Island& island, double h) {
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
                      cb.thickness + slack * cb.edge, int(k), self,
                      // of a solid with itself, vertices inside of it touch
                      model.bodies[b].surface.solid_faces > 0 ? EdgePairs::of_others : EdgePairs::all});
  }
  pairs_->find(swept_, vertex_face_, edge_edge_, spec.self);

  bool moves = false;  // what lies still stays as deep as it is
  for (const int b : island.bodies()) moves |= !state.ledger[b].lies;
  double kinetic = 0;
  for (int i = 0; island.heap && i < island.rows(); ++i)
    kinetic += 0.5 * island.forcing.mass[i] * dot(island.motion.v[i], island.motion.v[i]);
  const auto way = [&](double edge, double stiffness) {
    if (!moves) return 0.0;
    const double slow = relaxation * h * edge, fast = heap_relaxation * h * edge;
    return std::clamp(std::sqrt(2 * let_out_energy * kinetic / stiffness), slow, fast);
  };
  const Vec4* x = island.motion.x.data();
  // how far two vertices may come nearer to each other, squared
  const auto travel = [&](int i, int j) {
    const Vec3 d = ((ahead_[i] - x[i]) - (ahead_[j] - x[j])).xyz();
    return dot(d, d);
  };
  travel_.resize(island.rows());
  for (int i = 0; i < island.rows(); ++i) travel_[i] = norm((ahead_[i] - x[i]).xyz());
  // most of what the boxes of their whole ways let through is farther away than this, by the boxes of where it is
  const auto beyond = [](std::span<const Vec3> a, std::span<const Vec3> b, double reach) {
    double squared = 0;
    for (int k = 0; k < 3; ++k) {
      double low_a = a[0][k], high_a = low_a, low_b = b[0][k], high_b = low_b;
      for (const Vec3& p : a) low_a = std::min(low_a, p[k]), high_a = std::max(high_a, p[k]);
      for (const Vec3& p : b) low_b = std::min(low_b, p[k]), high_b = std::max(high_b, p[k]);
      const double gap = std::max({low_a - high_b, low_b - high_a, 0.0});
      squared += gap * gap;
    }
    return squared > reach * reach * (1 + 1e-9);
  };
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
    on.row = row, on.body = i, on.other = j, on.first = int(c.faces.size());
    on.thickness = ca.thickness + cb.thickness, on.stiffness = std::min(ca.stiffness, cb.stiffness);
    on.friction = pair.friction, on.grip = -1;
    // Faces that look the same way as a vertex of a solid are not in its way, but for what it lay on: bodies roll, and
    // a vertex that lost its face sank in by 2 to 5 % of a body. One of a sheet may come from any side.
    const std::array<int, 4> place = {a.first + r, -1, island.bodies()[j], -1};
    const Press* const pressed = find_sorted(state.presses, place);
    const Vec3 lay_on = pressed && i != j ? pressed->normal : Vec3{};
    Vec3 outward{};
    bool knows_outward = a.surface.solid_faces == 0;
    const double least_reach = on.thickness + slack * cb.edge;
    double best = std::numeric_limits<double>::infinity(), depth = 0;
    for (; at < end; ++at) {
      const int f = vertex_face_[at].feature_b;
      const auto& face = b.surface.faces[f];
      Contacts::Face g{{face[0] + to, face[1] + to, face[2] + to}, 0};
      const Vec3 v = x[row].xyz();
      const std::array<Vec3, 3> corners = {x[g.rows[0]].xyz(), x[g.rows[1]].xyz(), x[g.rows[2]].xyz()};
      const auto& [p, q, s] = corners;
      const double fastest = std::max({travel_[g.rows[0]], travel_[g.rows[1]], travel_[g.rows[2]]});
      if (beyond({&v, 1}, corners, least_reach + 2 * (travel_[row] + fastest))) continue;
      if (!knows_outward) outward = normals_[i].of_vertex(head.feature_a), knows_outward = true;
      const Vec3 normal = cross(q - p, s - p);
      if (f < b.surface.solid_faces && dot(outward, normal) > 0 && !(dot(lay_on, normal) > same_face * norm(normal)))
        continue;
      if (f >= b.surface.solid_faces) g.side = dot(normal, v - p) < 0 ? -1 : 1;
      const PointTriangle near = point_triangle(v, p, q, s);
      double reach = 0;
      for (const int corner : g.rows) reach = std::max(reach, travel(row, corner));
      reach = least_reach + 2 * std::sqrt(reach);
      if (near.squared_distance > reach * reach) continue;
      if (f < b.surface.solid_faces) {
        g.normals = int(c.outward.size());
        auto& normals = c.outward.emplace_back();
        for (int part = 0; part < 6; ++part) normals[part] = normals_[j].of(f, TrianglePart(part));
      }
      g.distance = std::sqrt(near.squared_distance);
      c.faces.push_back(g);
      if (near.squared_distance >= best) continue;
      best = near.squared_distance;
      depth = f < b.surface.solid_faces && dot(normal, near.offset) < 0 ? std::sqrt(best) : 0;
    }
    on.last = int(c.faces.size());
    c.close_faces(on.first);
    std::sort(c.faces.begin() + on.first, c.faces.end(), [](const Contacts::Face& a, const Contacts::Face& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.rows < b.rows;
    });
    // what is deep inside of something never came through this side of it: the far side of a thin body, or its own
    if (depth > (i == j ? 0.25 * std::min(cb.thin, 2 * cb.edge) : 0.5 * cb.thin)) c.faces.resize(on.first);
    if (on.first == int(c.faces.size())) continue;
    on.meeting = c.meeting_of(i, j, -1);
    ContactRow here;
    on.allowance = allowance(place, c.touch(on, x, here), way(cb.edge, on.stiffness));
    if (pair.friction > 0) {
      Grip fresh;
      fresh.row = fresh.rows[0] = a.first + r, fresh.body = island.bodies()[j];
      const Grip* old = old_grip(fresh);
      if (!old) c.find_point(here, x, fresh);
      on.grip = int(c.grips.size());
      c.grips.push_back(old ? *old : fresh);
    }
    on.thickness -= on.allowance;
    c.on_faces.push_back(on);
  }
  const bool many = int(model.bodies.size()) >= least_heap;
  for (const Pair& p : edge_edge_) {
    const Body &a = model.bodies[island.bodies()[p.surface_a]], &b = model.bodies[island.bodies()[p.surface_b]];
    const ContactBody &ca = contact_bodies_[island.bodies()[p.surface_a]],
                      &cb = contact_bodies_[island.bodies()[p.surface_b]];
    if (!pair_in(p.surface_a, p.surface_b).touch) continue;
    const auto &e = a.surface.edges[p.feature_a], &f = b.surface.edges[p.feature_b];
    const int i = island.offset(p.surface_a), j = island.offset(p.surface_b);
    Contacts::OnEdge on{};
    on.rows = {e[0] + i, e[1] + i, f[0] + j, f[1] + j};
    on.body = p.surface_a, on.other = p.surface_b;
    on.thickness = ca.thickness + cb.thickness, on.stiffness = std::min(ca.stiffness, cb.stiffness);
    const std::array<Vec3, 4> ends = {x[on.rows[0]].xyz(), x[on.rows[1]].xyz(), x[on.rows[2]].xyz(),
                                      x[on.rows[3]].xyz()};
    const double least_reach = on.thickness + slack * std::min(ca.edge, cb.edge);
    const double fastest =
        std::max(travel_[on.rows[0]], travel_[on.rows[1]]) + std::max(travel_[on.rows[2]], travel_[on.rows[3]]);
    if (beyond({ends.data(), 2}, {ends.data() + 2, 2}, least_reach + 2 * fastest)) continue;
    const Vec3 p0 = ends[0], q0 = ends[2], r = p0 - q0, along_p = ends[1] - p0, along_q = ends[3] - q0;
    // the side of a sheet is that where it is; that of a solid is outside, where its edge lets anything lie on it
    const Vec3 n = direction(cross(along_p, along_q), {});
    on.side = dot(n, r) < 0 ? -1 : 1;
    const bool solid_a = a.surface.solid_faces > 0, solid_b = b.surface.solid_faces > 0;
    SurfaceNormals &of_a = normals_[p.surface_a], &of_b = normals_[p.surface_b];
    if (solid_b) on.side = dot(n, of_b.of_edge(p.feature_b)) < 0 ? -1 : 1;
    if (solid_a && !solid_b) on.side = dot(n, of_a.of_edge(p.feature_a)) > 0 ? -1 : 1;
    const Vec3 out = n * double(on.side);
    if (solid_b && !of_b.looks_towards(p.feature_b, out, cone_slack)) continue;
    if (solid_a && !of_a.looks_towards(p.feature_a, out * -1.0, cone_slack)) continue;
    if ((solid_a || solid_b) && dot(out, r) < -0.5 * std::min({ca.thin, cb.thin, ca.edge, cb.edge})) continue;
    const SegmentSegment near = segment_segment(p0, p0 + along_p, q0, q0 + along_q);
    double reach = 0;
    for (int k = 0; k < 4; ++k) reach = std::max(reach, travel(on.rows[k / 2], on.rows[2 + k % 2]));
    reach = least_reach + 2 * std::sqrt(reach);
    if (near.squared_distance > reach * reach) continue;
    on.meeting = c.meeting_of(on.body, on.other, -1);
    ContactRow unused;
    double weight;
    // lines of solids that are deep in each other where they do not cross yet have not come in either
    const double depth = solid_a && solid_b ? c.line_depth(on, x) : c.touch(on, x, unused, weight);
    const std::array<int, 4> ends_of_state = edge_key(c, on);
    on.allowance = allowance(ends_of_state, depth, way(std::min(ca.edge, cb.edge), on.stiffness));
    on.thickness -= on.allowance;
    const PairSurface& pair = pair_in(p.surface_a, p.surface_b);
    on.friction = pair.friction;
    if (on.friction > 0 && !(many && pair.restitution < 1)) {
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

/// A vertex has come into a collider that nobody expected it to meet.
bool World::missed_contact(const Island& island, double time) {
  if (repels() || model.colliders.empty()) return false;
  const size_t bodies = island.bodies().size();
  looked_.assign(model.colliders.size() * bodies, 0);
  for (const Contacts::OnShape& on : island.contacts.on_shapes) looked_[on.shape * bodies + on.body] = 1;
  around_.resize(bodies);
  for (size_t k = 0; k < bodies; ++k) {
    around_[k] = {};
    for (const int r : model.bodies[island.bodies()[k]].surface.vertices)
      around_[k].add(island.motion.x[island.offset(int(k)) + r].xyz());
  }
  for (size_t s = 0; s < model.colliders.size(); ++s) {
    if (!scene.colliders[s].active.at(time).value_or(false)) continue;
    const PlacedShape placed{model.colliders[s].shape.get(), pose_of(int(s), time)};
    for (size_t k = 0; k < bodies; ++k) {
      const int b = island.bodies()[k];
      if (looked_[s * bodies + k] || !pair_of(b, int(model.bodies.size() + s)).touch) continue;
      if (is_beyond(placed, around_[k], contact_bodies_[b].thickness)) continue;
      for (const int r : model.bodies[b].surface.vertices) {
        const int row = island.offset(int(k)) + r;
        if (island.forcing.mass[row] > 0 &&
            placed.touch(island.motion.x[row].xyz()).distance < contact_bodies_[b].thickness)
          return true;
      }
    }
  }
  return false;
}

void World::settle_contacts(Island& island) {
  if (!has_contact()) return;
  const Contacts& c = island.contacts;
  note_meetings(island);
  last_presses_ = state.presses;
  std::erase_if(state.presses, [&](const Press& p) { return c.row_of_state[p.key[0]] >= 0; });
  for (size_t i = 0; i < c.on_faces.size() + c.on_edges.size(); ++i) {
    const bool face = i < c.on_faces.size();
    const Contacts::OnFaces* on = face ? &c.on_faces[i] : nullptr;
    if ((face ? on->row : c.on_edges[i - c.on_faces.size()].rows[2]) < 0) continue;  // of a collider
    const double allowance = face ? on->allowance : c.on_edges[i - c.on_faces.size()].allowance;
    const double depth = c.depth_of(i) + allowance;
    if (!(depth > 0)) continue;
    const std::array<int, 4> key = face
                                       ? std::array<int, 4>{c.state_of_row[on->row], -1, island.bodies()[on->other], -1}
                                       : edge_key(c, c.on_edges[i - c.on_faces.size()]);
    // what has changed by round-off alone is what it was: a heap that lies would never stand to the last bit
    const Press* before = find_sorted(last_presses_, key);
    const Press now{key, depth, std::min(allowance, depth), face ? c.direction_of(i) : Vec3{}};
    const auto same = [&](double a, double b) { return std::abs(a - b) <= 1e-9 * depth; };
    state.presses.push_back(before && same(before->depth, now.depth) && same(before->allowance, now.allowance) ? *before
                                                                                                               : now);
  }
  sort_places(state.presses);
  island.settle_grips(losses_);
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    ledger.booked_loss += losses_[k];
    ledger.pair_energy = island.contacts.pair_energy(int(k)), ledger.grip_energy = island.contacts.grip_energy(int(k));
  }
  std::erase_if(state.entries, [&](const Entry& e) { return island.contacts.row_of_state[e.row] >= 0; });
  for (const Contacts::OnShape& on : island.contacts.on_shapes) {
    const Vec3 x = island.motion.x[on.row].xyz();
    const Touch now = island.contacts.touch(on, x);
    if (!(now.distance < on.thickness)) continue;
    const Pose& pose = island.contacts.shapes[on.shape].pose;
    state.entries.push_back({island.contacts.state_of_row[on.row], on.shape, pose.direction_to_local(now.normal),
                             pose.to_local(x - now.normal * now.distance)});
  }
  sort_places(state.entries);
  if (island.contacts.grips.empty() && state.grips.empty()) return;
  std::erase_if(state.grips, [&](const Grip& g) { return island.contacts.row_of_state[g.row] >= 0; });
  for (const Grip& g : island.contacts.grips)
    if (g.row >= 0) state.grips.push_back(g);
  sort_places(state.grips);
}

}  // namespace verve
