// Contact as a frame sees it: what may touch, and what friction takes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "base/stopwatch.h"
#include "contact/contact_detector.h"
#include "contact/proximity.h"
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

/// Points of the surface that a body carries, at most four in a tetrahedron: there they move as one affine map, and
/// those nearest to its four corners are as far out as any. More would only make more rows of the matrix of a step.
std::vector<CarriedPoint> carried_points(const Body& body) {
  const Embedding& embedding = body.embedding;
  std::map<std::array<int, 4>, std::array<int, 4>> chosen;  // by tetrahedron: for each corner a vertex of the surface
  for (size_t i = 0; i < embedding.vertices.size(); ++i) {
    const int v = int(i);
    const auto [at, fresh] = chosen.try_emplace(embedding.vertices[i], std::array<int, 4>{v, v, v, v});
    for (int corner = 0; !fresh && corner < 4; ++corner)
      if (embedding.weights[i][corner] > embedding.weights[at->second[corner]][corner]) at->second[corner] = v;
  }
  std::vector<CarriedPoint> out;
  for (auto& [tetrahedron, points] : chosen) {
    std::sort(points.begin(), points.end());
    const auto last = std::unique(points.begin(), points.end());
    for (auto point = points.begin(); point != last; ++point) {
      CarriedPoint& carried = out.emplace_back();
      for (int k = 0; k < 4; ++k)
        carried.rows[k] = body.row_of_vertex[tetrahedron[k]], carried.share[k] = embedding.weights[*point][k];
    }
  }
  return out;
}

/// The least width of a solid along a normal of its faces, of up to 64 of these: a plate is as thin askew as level.
double least_width(const Body& body, const Surface& surface) {
  constexpr int most_normals = 64;
  double least = std::numeric_limits<double>::infinity();
  const int every = (surface.solid_faces + most_normals - 1) / most_normals;
  for (int f = 0; f < surface.solid_faces; f += every) {
    const auto& [i, j, k] = surface.faces[f];
    const Vec3 a = body.rest[i].xyz();
    const Vec3 normal = direction(cross(body.rest[j].xyz() - a, body.rest[k].xyz() - a), {});
    double low = 0, high = 0;
    for (const int r : surface.vertices) {
      const double along = dot(normal, body.rest[r].xyz() - a);
      low = std::min(low, along), high = std::max(high, along);
    }
    if (high > low) least = std::min(least, high - low);
  }
  return least;
}

}  // namespace

ContactBody World::contact_body(int b) const {
  const Body& body = model.bodies[b];
  const double factor = scene.contact ? scene.contact->stiffness : ContactSpec{}.stiffness;
  ContactBody c;
  c.surface = &matter.bodies[b].surface, c.first = body.first, c.count = body.count, c.mass = body.mass.data();
  if (c.surface->vertices.empty()) return c;
  // its lengths and its stiffness are those of the whole body, also where this is asked for while some of it has gone
  const Surface whole = body.tearing ? touchable_surface(body, {}) : Surface{};
  const Surface& surface = body.tearing ? whole : *c.surface;
  std::vector<double> mass;
  for (const int r : surface.vertices) mass.push_back(body.mass[r]);
  std::nth_element(mass.begin(), mass.begin() + mass.size() / 2, mass.end());
  c.inertia = factor * mass[mass.size() / 2];
  c.stiffness = c.inertia / (scene.step * scene.step);
  const double thickness = scene.bodies[b].thickness;
  c.thickness = surface.solid_faces > 0 ? thickness : 0.5 * thickness;  // a sheet has its middle where it is drawn
  for (const auto& [i, j] : surface.edges) c.edge += norm((body.rest[i] - body.rest[j]).xyz()) / surface.edges.size();
  if (surface.solid_faces > 0) c.thin = least_width(body, surface);
  c.carried = carried_points(body), c.outside = c.carried.empty() ? 0 : body.embedding.farthest;
  return c;
}

void World::compile_contact() {
  if (!has_contact()) return;
  pair_table_.compile(scene);
  std::vector<ContactBody> bodies;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    Surface& surface = matter.bodies[b].surface;
    if (has_body(int(b)) && surface.vertices.empty())  // nothing could touch it before
      surface = touchable_surface(model.bodies[b], removed_from(int(b)));
    bodies.push_back(contact_body(int(b)));
  }
  std::vector<const Shape*> shapes;
  for (const Collider& c : model.colliders) shapes.push_back(c.shape.get());
  detector_.compile(std::move(bodies), std::move(shapes), pair_table_);
  for (size_t b = 0; b < model.bodies.size(); ++b) forget_neighbours(int(b));
}

/// What is near at rest never touches itself.
void World::forget_neighbours(int b) {
  if (!scene.contact || !scene.contact->self || matter.bodies[b].surface.vertices.empty()) return;
  const Body& body = model.bodies[b];
  Surface& surface = matter.bodies[b].surface;
  surface.never_faces = {}, surface.never_edges = {}, surface.version = new_surface_version();
  never_within_rings(surface, 1);
  std::vector<Vec3> rest(body.count);
  for (int r = 0; r < body.count; ++r) rest[r] = body.rest[r].xyz();
  // the other side of a thin solid is no obstacle: farther than this nothing of itself is looked for (detect_pairs)
  never_near_at_rest(surface, rest, 2 * detector_.body(b).thickness + self_reach * detector_.body(b).edge);
}

void World::restore_contacts(const Island& island) {
  const auto mine = [&](int row) {
    for (const int b : island.bodies())
      if (row >= model.bodies[b].first && row < model.bodies[b].first + model.bodies[b].count) return true;
    return false;
  };
  const auto ours = [&](const FrictionAnchor& anchor) { return mine(anchor.row); };
  const auto touched = [&](const CachedContact& contact) { return mine(contact.key[0]); };
  std::erase_if(state.friction_anchors, ours);
  for (const FrictionAnchor& anchor : before_.friction_anchors)
    if (ours(anchor)) state.friction_anchors.push_back(anchor);
  forget_meetings(island), forget_contacts(island);
  std::erase_if(state.contacts, touched);
  for (const CachedContact& contact : before_.contacts)
    if (touched(contact)) state.contacts.push_back(contact);
  sort_by_key(state.friction_anchors), sort_by_key(state.contacts);
}

/// Where the bodies of an island would be after h if nothing touched them.
MovingBodies World::predict(const Island& island, double h) {
  ahead_.resize(island.rows());
  for (int i = 0; i < island.rows(); ++i)
    ahead_[i] = island.motion.x[i] + (island.motion.v[i] + island.forcing.acceleration[i] * h) * h;
  return {island.bodies(), island.offsets(), island.motion.x, ahead_, island.forcing.mass.data()};
}

ContactDetector::Settings World::detector_settings() const {
  ContactDetector::Settings out;
  if (scene.contact) out.bodies = scene.contact->bodies, out.self = scene.contact->self;
  // planes are weights of single vertices
  out.features = out.carried = !scene.contact || scene.contact->response != ContactResponse::planes;
  out.friction = state.friction;
  return out;
}

bool World::prepare_contacts(Island& island, const SubStep& step, bool all, bool driven) {
  if (!has_contact() || repels()) return false;
  const double from = step.from, to = step.to, h = step.h;
  Stopwatch watch;
  Contacts& c = island.contacts;
  // (what touched a body that has gone, or bodies that have parted since, is in the ledgers alone)
  bool had = island.memory.has_contacts;
  for (const int b : island.bodies()) had |= state.ledger[b].pair_energy != 0 || state.ledger[b].friction_energy != 0;
  const bool lost = island.memory.loses_energy();
  const bool planes = scene.contact && scene.contact->response == ContactResponse::planes;
  const ContactDetector::Found found =
      detector_.detect(predict(island, h), collider_motions(from, to), {&state.contacts, &state.friction_anchors},
                       detector_settings(), all, c);
  c.constraints = settings.own_step;
  // only contact_step knows what a collider that moves brings: for other methods that hold something it is as a hard
  // anchor that moves
  const bool holds = settings.conservation != Conservation::none || settings.projection;
  const bool moving_collider = found.moving_collider && holds && !settings.conserves();
  driven |= moving_collider;
  bool switched = false;
  for (int s = 0; s < int(scene.colliders.size()); ++s) switched |= is_active(s, to) != is_active(s, from);
  if (planes) prepare_planes(island);
  island.add_work({.pairs = found.pairs});
  island.add_work(
      {.vertices = 8.0 * island.rows(), .places = double(c.on_shapes.size() + c.faces.size() + c.on_edges.size())});
  // rates of a motion under contact would lead a free centre of mass astray
  for (const int b : island.bodies()) {
    const Mode before = state.ledger[b].mode;
    if (c.empty() && before != Mode::free && before != Mode::anchored) island.motion.history = false;
  }
  island.memory.has_contacts = !c.empty(), island.memory.restitution = largest_restitution(island);
  if (c.empty()) island.memory.loads.clear();
  watch.book(detection_);
  if (!had && c.empty()) return moving_collider;
  set_rest_penetrations(island, h);
  c.look_again();
  c.look(island.motion.x.data());
  island.evaluate_motion();
  // The same x, seen with other candidates, may touch elsewhere. What this makes of H is not meant: it is owed.
  // Friction that ended with its contact is a loss. (Colliders are those of where the step begins: what they make of W by
  // moving on is for the step to say.)
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    const bool known = !driven && ledger.mode != Mode::driven;
    double gone = known ? ledger.pair_energy - (c.pair_energy(int(k)) - c.pair_lift(int(k))) : 0;
    const double ended = driven ? 0 : ledger.friction_energy - (c.friction_energy(int(k)) - c.friction_lift(int(k)));
    if (switched) ledger.work -= std::exchange(gone, 0.0);  // what comes or goes does it
    const double paid =
        (c.empty() ? lost : island.memory.loses_energy()) && gone > 0 ? std::clamp(-ledger.debt.h, 0.0, gone) : gone;
    ledger.debt.h += paid, ledger.booked_loss += gone - paid;
    (ended > 0 ? ledger.booked_loss : ledger.debt.h) += ended;
    ledger.pair_energy = c.pair_energy(int(k)), ledger.friction_energy = c.friction_energy(int(k));
  }
  return moving_collider;
}

/// Of those that may touch, the greatest.
double World::largest_restitution(const Island& island) const {
  double e = 0;
  for (const Contacts::TouchingPair& m : island.contacts.touching_pairs) {
    const int other = m.other >= 0 ? island.bodies()[m.other] : int(model.bodies.size()) + m.collider;
    e = std::max(e, pair_of(island.bodies()[m.body], other).restitution);
  }
  for (const int b : island.bodies())
    if (scene.contact && scene.contact->self) e = std::max(e, pair_of(b, b).restitution);
  return e;
}

/// What contacts found anew add to W comes from the motion, or is not added: rest_penetration.h.
void World::set_rest_penetrations(Island& island, double h) {
  Contacts& c = island.contacts;
  double edge = std::numeric_limits<double>::infinity(), debt = 0;
  for (const int b : island.bodies()) {
    edge = std::min(edge, detector_.body(b).edge);
    debt += state.ledger[b].debt.h;
  }
  Vec3 momentum{};
  for (int i = 0; i < island.rows(); ++i) momentum += island.motion.v[i].xyz() * island.forcing.mass[i];
  const Vec3 drift = c.grounded() ? Vec3{} : momentum / island.total_mass();
  const double kinetic = island.kinetic(island.motion.v, drift);
  verve::set_rest_penetrations(c, state.contacts, relaxation * edge * h,
                               std::max(0.0, new_energy * kinetic + std::min(0.0, debt)), penetrations_);
  yield_between_colliders(c, seen_points_);
}

bool World::missed_contact(const Island& island, double time) {
  if (repels() || model.colliders.empty()) return false;
  return detector_.missed({island.bodies(), island.offsets(), island.motion.x, {}, island.forcing.mass.data()},
                          collider_motions(time, time), island.contacts);
}

int World::passing_substeps(Island& island, double h) {
  if (!scene.contact || repels()) return 1;
  const ContactDetector::Passing passing = detector_.substeps_between_bodies(predict(island, h), detector_settings());
  if (passing.searched) island.add_work({.vertices = 8.0 * island.rows(), .pairs = passing.pairs});
  return passing.substeps;
}

/// The largest strain in h of an edge of the surfaces of an island, and of the cells that what is about to strike will
/// come to: a body that strikes faster than waves run in it is crushed layer by layer, in steps however slow these are.
double World::crushing(const Island& island, double h) const {
  double out = 0;
  for (const ContactRow& row : island.contacts.near_rows()) {
    const double speed = strike_speed(row, island, h);
    for (int i = 0; speed > 0 && i < row.count; ++i) {
      const auto body = std::upper_bound(island.offsets().begin(), island.offsets().end(), row.rows[i]) - 1;
      const double edge = detector_.body(island.bodies()[body - island.offsets().begin()]).edge;
      if (edge > 0) out = std::max(out, speed * h / edge);
    }
  }
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Vec4 *x = island.motion.x.data() + island.offset(int(k)), *v = island.motion.v.data() + island.offset(int(k));
    for (const auto& [i, j] : matter.bodies[island.bodies()[k]].surface.edges) {
      const Vec4 d = x[j] - x[i];
      const double square = dot(d, d);
      if (square > 0) out = std::max(out, h * std::abs(dot(d, v[j] - v[i])) / square);
    }
  }
  return out;
}

int World::feature_substeps(const Island& island, double h) {
  return detector_.substeps_for_features(predict(island, h),
                                         collider_motions(clock(state.frame), clock(state.frame + 1)));
}

/// Half-spaces of the vertices that are in a collider, or come into one if nothing held them, as projective constraints
/// (PD Sec. 6, A_i = B_i = I): the matrix has their weights until they are out again.
void World::prepare_planes(Island& island) {
  Contacts& c = island.contacts;
  c.planes = true;
  plane_terms_.clear();
  for (const Contacts::OnShape& on : c.on_shapes) {
    const auto depth = [&](const Vec4& x) { return on.thickness - c.touch(on, x.xyz()).distance; };
    const int vertex = on.row.rows[0];
    if (depth(island.motion.x[vertex]) > 0 || depth(ahead_[vertex]) > 0)
      plane_terms_.push_back({vertex, -1, on.stiffness});
  }
  std::stable_sort(plane_terms_.begin(), plane_terms_.end(),
                   [](const LowRankTerm& p, const LowRankTerm& q) { return p.a < q.a; });
  size_t kept = 0;
  for (const LowRankTerm& term : plane_terms_) {
    if (kept > 0 && plane_terms_[kept - 1].a == term.a) {
      plane_terms_[kept - 1].weight += term.weight;
    } else {
      plane_terms_[kept++] = term;
    }
  }
  plane_terms_.resize(kept);
  island.set_planes(plane_terms_);
}

void World::settle_contacts(Island& island) {
  if (!has_contact() || repels()) return;
  Contacts& c = island.contacts;
  note_meetings(island);
  std::erase_if(state.contacts, [&](const CachedContact& p) { return c.row_of_state[p.key[0]] >= 0; });
  const auto cache = [&](const Contacts::Candidate& on) {
    return CachedContact{on.key,
                         std::max(0.0, on.depth),
                         std::clamp(on.rest + std::min(0.0, on.depth), 0.0, on.rest),
                         direction(on.row.direction, {}),
                         {}};
  };
  const auto keep = [&](const Contacts::Candidate& on) {
    if (on.depth + on.rest > 0) state.contacts.push_back(cache(on));
  };
  for (const Contacts::OnFaces& on : c.on_faces) keep(on);
  for (const Contacts::OnEdge& on : c.on_edges) keep(on);
  for (const Contacts::OnShape& on : c.on_shapes) {
    const Vec3 x = on.at(island.motion.x.data());
    const Touch now = c.touch(on, x);
    if (!(now.distance < on.thickness)) continue;
    const Pose& pose = c.shapes[on.shape].pose;
    CachedContact& contact = state.contacts.emplace_back(cache(on));
    contact.normal = pose.direction_to_local(now.normal);
    contact.point = pose.to_local(x - now.normal * now.distance);
  }
  sort_by_key(state.contacts);
  island.apply_slip(losses_);
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    ledger.booked_loss += losses_[k];
    ledger.pair_energy = island.contacts.pair_energy(int(k)),
    ledger.friction_energy = island.contacts.friction_energy(int(k));
  }
  if (island.contacts.friction_anchors.empty() && state.friction_anchors.empty()) return;
  std::erase_if(state.friction_anchors,
                [&](const FrictionAnchor& g) { return island.contacts.row_of_state[g.row] >= 0; });
  for (const FrictionAnchor& g : island.contacts.friction_anchors)
    if (g.row >= 0) state.friction_anchors.push_back(g);
  sort_by_key(state.friction_anchors);
}

}  // namespace verve
