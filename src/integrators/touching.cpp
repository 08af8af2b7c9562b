// Contact as a frame sees it: what may touch, and what friction takes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "integrators/places.h"
#include "integrators/stopwatch.h"
#include "integrators/turn.h"
#include "integrators/world.h"

namespace verve {

namespace {

/// Of the mean length of edges: how deep a vertex may be inside its own body.
constexpr double self_reach = 1.5;

/// Mean edge lengths per second by which rest penetrations shrink.
constexpr double relaxation = 0.2;
/// Of the kinetic energy: what contacts found anew, and rest penetrations that shrink, may add to W in a step.
constexpr double new_energy = 1e-3;

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
    if (surface.vertices.empty()) continue;
    std::vector<double> mass;
    for (const int r : surface.vertices) mass.push_back(body.mass[r]);
    std::nth_element(mass.begin(), mass.begin() + mass.size() / 2, mass.end());
    c.inertia = factor * mass[mass.size() / 2];
    c.stiffness = c.inertia / (scene.step * scene.step);
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
  const auto touched = [&](const CachedContact& contact) { return mine(contact.key[0]); };
  std::erase_if(state.grips, ours);
  for (const Grip& grip : start_grips_)
    if (ours(grip)) state.grips.push_back(grip);
  forget_meetings(island);
  std::erase_if(state.contacts, touched);
  for (const CachedContact& contact : before_.contacts)
    if (touched(contact)) state.contacts.push_back(contact);
  sort_places(state.grips), sort_places(state.contacts);
}

void World::prepare_contacts(Island& island, double from, double to, double h, bool all) {
  if (!has_contact() || repels()) return;
  Stopwatch watch;
  Contacts& c = island.contacts;
  const bool had = island.memory.has_contacts, lost = island.inelastic, planes = scene.contact && scene.contact->response == "planes";
  c.clear(int(island.bodies().size()), int(model.colliders.size()));
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

  bool switched = false;
  for (size_t s = 0; s < model.colliders.size(); ++s) {
    const Pose start = pose_of(int(s), from), end = pose_of(int(s), to);
    c.shapes.push_back({model.colliders[s].shape.get(), end});
    const bool moves = norm(start.position - end.position) > 0 ||
                       norm(start.rotation.col[0] - end.rotation.col[0]) > 0 ||
                       norm(start.rotation.col[1] - end.rotation.col[1]) > 0;
    c.shape_moves.push_back(moves);
    const ColliderSpec& spec = scene.colliders[s];
    const bool active = spec.active.at(to).value_or(false);
    switched |= active != spec.active.at(from).value_or(false);
    if (!active) continue;
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
      const double reach = 2 * (sweeps_[k].travel + longest_way(sweeps_[k].at, carry)) + search_slack * cb.edge;
      const bool far = is_beyond(placed, sweeps_[k].at, cb.thickness + reach);
      // all vertices, not those of the surface alone: what is soft would run through the floor inside of its skin
      for (int r = 0; !far && r < model.bodies[b].count; ++r) {
        const int row = island.offset(int(k)) + r;
        if (!(island.forcing.mass[row] > 0)) continue;
        const Vec3 x = island.motion.x[row].xyz(), next = ahead_[row].xyz(), carried = carry(x);
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
        const std::array<int, 4> key = shape_key(model.bodies[b].first + r, int(s));
        const CachedContact* const entry = find_sorted(state.contacts, key);
        if (entry) {
          const Vec3 n = end.direction_to_world(entry->normal);
          if (opposite(n, before.normal)) came = {dot(n, carried - end.to_world(entry->point)), n}, meets = true;
        }
        Contacts::OnShape on;
        on.vertex = row, on.body = int(k), on.shape = int(s), on.meeting = meeting, on.key = key;
        on.thickness = cb.thickness, on.stiffness = cb.stiffness, on.friction = pair.friction;
        on.from = carried, on.before = came, on.start_depth = cb.thickness - came.distance;
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
  if (scene.contact) prepare_pairs(island);
  island.add_work(
      {.vertices = 8.0 * island.rows(), .places = double(c.on_shapes.size() + c.faces.size() + c.on_edges.size())});
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
  island.memory.has_contacts = !c.empty(), island.memory.inelastic = island.inelastic;
  watch.book(detection_);
  if (!had && c.empty()) return;
  set_rest_penetrations(island, h);
  c.look_again();
  c.look(island.motion.x.data());
  island.evaluate_motion();
  // The same x, seen with other candidates, may touch elsewhere. What this makes of H is not meant: it is owed.
  // Grips that are gone with what they held are a loss; what a collider that moves has stretched them by is its work.
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    // (what a collider that moves, comes or goes makes of it is its doing)
    const bool known = !island.driven && !ledger.driven && !switched;
    const double gone = known ? ledger.pair_energy - c.pair_energy(int(k)) : 0;
    const double paid =
        (c.empty() ? lost : island.inelastic) && gone > 0 ? std::clamp(-ledger.debt.h, 0.0, gone) : gone;
    ledger.debt.h += paid, ledger.booked_loss += gone - paid;
    const double let_go = island.driven ? 0 : ledger.grip_energy - c.grip_energy(int(k));
    (let_go > 0 ? ledger.booked_loss : ledger.debt.h) += let_go;
    ledger.pair_energy = c.pair_energy(int(k)), ledger.grip_energy = c.grip_energy(int(k));
  }
}

/// What contacts found anew add to W comes from the motion, or is not added: rest_penetration.h.
void World::set_rest_penetrations(Island& island, double h) {
  Contacts& c = island.contacts;
  double edge = std::numeric_limits<double>::infinity(), debt = 0;
  for (const int b : island.bodies()) {
    edge = std::min(edge, contact_bodies_[b].edge);
    debt += state.ledger[b].debt.h;
  }
  Vec3 momentum{};
  for (int i = 0; i < island.rows(); ++i) momentum += island.motion.v[i].xyz() * island.forcing.mass[i];
  const Vec3 drift = c.grounded() ? Vec3{} : momentum / island.total_mass();
  double kinetic = 0;
  for (int i = 0; i < island.rows(); ++i) {
    const Vec3 v = island.motion.v[i].xyz() - drift;
    kinetic += 0.5 * island.forcing.mass[i] * dot(v, v);
  }
  penetrations_.clear();
  c.each([&](const Contacts::Candidate& on) {
    const CachedContact* const before = find_sorted(state.contacts, on.key);
    const double depth = std::max(0.0, on.start_depth);
    // a contact that is found for the first time never came in there
    const double rest = std::max(0.0, (before ? before->rest : depth) - relaxation * edge * h);
    penetrations_.push_back({on.stiffness, depth, before ? before->depth : 0, rest});
  });
  limit_new_energy(penetrations_, std::max(0.0, new_energy * kinetic + std::min(0.0, debt)));
  size_t i = 0;
  c.each([&](Contacts::Candidate& on) { on.rest = penetrations_[i++].rest; });
}

void World::sweep_bodies(const Island& island) {
  sweeps_.resize(island.bodies().size());
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    Sweep& sweep = sweeps_[k];
    sweep = {};
    double longest = 0;
    for (int r = 0; r < model.bodies[island.bodies()[k]].count; ++r) {
      const int row = island.offset(int(k)) + r;
      const Vec3 x = island.motion.x[row].xyz(), next = ahead_[row].xyz(), way = next - x;
      sweep.at.add(x), sweep.way.add(next);
      longest = std::max(longest, dot(way, way));
    }
    sweep.way.add(sweep.at), sweep.travel = std::sqrt(longest);
  }
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
    for (int r = 0; r < model.bodies[island.bodies()[k]].count; ++r)
      around_[k].add(island.motion.x[island.offset(int(k)) + r].xyz());
  }
  for (size_t s = 0; s < model.colliders.size(); ++s) {
    if (!scene.colliders[s].active.at(time).value_or(false)) continue;
    const PlacedShape placed{model.colliders[s].shape.get(), pose_of(int(s), time)};
    for (size_t k = 0; k < bodies; ++k) {
      const int b = island.bodies()[k];
      if (looked_[s * bodies + k] || !pair_of(b, int(model.bodies.size() + s)).touch) continue;
      if (is_beyond(placed, around_[k], contact_bodies_[b].thickness)) continue;
      for (int r = 0; r < model.bodies[b].count; ++r) {
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
  Contacts& c = island.contacts;
  note_meetings(island);
  std::erase_if(state.contacts, [&](const CachedContact& p) { return c.row_of_state[p.key[0]] >= 0; });
  const auto cache = [&](const Contacts::Candidate& on) {
    return CachedContact{on.key, std::max(0.0, on.depth), std::clamp(on.rest + std::min(0.0, on.depth), 0.0, on.rest),
                         direction(on.row.direction, {}), {}};
  };
  const auto keep = [&](const Contacts::Candidate& on) {
    if (on.depth + on.rest > 0) state.contacts.push_back(cache(on));
  };
  for (const Contacts::OnFaces& on : c.on_faces) keep(on);
  for (const Contacts::OnEdge& on : c.on_edges) keep(on);
  for (const Contacts::OnShape& on : c.on_shapes) {
    const Vec3 x = island.motion.x[on.vertex].xyz();
    const Touch now = c.touch(on, x);
    if (!(now.distance < on.thickness)) continue;
    const Pose& pose = c.shapes[on.shape].pose;
    CachedContact& contact = state.contacts.emplace_back(cache(on));
    contact.normal = pose.direction_to_local(now.normal);
    contact.point = pose.to_local(x - now.normal * now.distance);
  }
  sort_places(state.contacts);
  island.settle_grips(losses_);
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    ledger.booked_loss += losses_[k];
    ledger.pair_energy = island.contacts.pair_energy(int(k)), ledger.grip_energy = island.contacts.grip_energy(int(k));
    ledger.driven = island.driven;
  }
  if (island.contacts.grips.empty() && state.grips.empty()) return;
  std::erase_if(state.grips, [&](const Grip& g) { return island.contacts.row_of_state[g.row] >= 0; });
  for (const Grip& g : island.contacts.grips)
    if (g.row >= 0) state.grips.push_back(g);
  sort_places(state.grips);
}

}  // namespace verve
