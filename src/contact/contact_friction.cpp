// Friction: springs between the points at which contacts became active, that slip at the Coulomb force.
#include <algorithm>
#include <cmath>

#include "contact/contacts.h"
#include "contact/proximity.h"

namespace verve {

namespace {

/// Of the square of the sine between two edges: below this they have no common point to be anchored at.
constexpr double least_turn = 0.005;

/// Of the stiffness of a spring that holds: with less across it, one that slides does nothing there.
constexpr double least_across = 1e-9;

/// W of a spring of stiffness k that slips at `cap` (Huber).
double huber(double length, double k, double cap) {
  return k * length <= cap ? 0.5 * k * length * length : cap * length - 0.5 * cap * cap / k;
}

}  // namespace

/// From the point of the other side to that of its own, and which vertices it pulls.
Vec3 Contacts::find_stretch(const Vec4* x, const FrictionAnchor& anchor, FrictionPoint& place) const {
  place.count = anchor.count;
  Vec3 own{}, other{};
  for (int i = 0; i < anchor.count; ++i) {
    const int row = row_of_state[anchor.rows[i]];
    place.rows[i] = row, place.share[i] = i < anchor.own ? anchor.weights[i] : -anchor.weights[i];
    (i < anchor.own ? own : other) += x[row].xyz() * anchor.weights[i];
  }
  if (anchor.collider >= 0) other = shapes[anchor.collider].pose.to_world(anchor.point);
  return own - other;
}

Vec3 Contacts::way_of(const FrictionAnchor& anchor) const {
  Vec3 own{};
  for (int i = 0; i < anchor.own; ++i) own += start[row_of_state[anchor.rows[i]]].xyz() * anchor.weights[i];
  return carried(anchor.collider, own) - own;
}

void Contacts::set_rows(FrictionAnchor& anchor, int own, int count, const std::array<int, 4>& rows) const {
  anchor.own = own, anchor.count = count;
  for (int i = 0; i < count; ++i) anchor.rows[i] = state_of_row[rows[i]];
}

/// Moves the points that an anchor joins until it is stretched by `offset`: that of a collider under a vertex; else
/// both, to where they touch now. On a body, that of a vertex goes to the plane of the face that it touches. False
/// where that has none.
bool Contacts::move_anchor(const Vec4* x, FrictionAnchor& anchor, const FrictionPoint& place,
                           const Vec3& offset) const {
  if (anchor.collider >= 0) {
    const Pose& pose = shapes[anchor.collider].pose;
    if (place.touches == 1) {
      anchor.point = pose.to_local(pose.to_world(anchor.point) + place.offset - offset);
      return true;
    }
    set_rows(anchor, place.touches, place.touches, place.at_rows);
    Vec3 own{};
    for (int i = 0; i < place.touches; ++i)
      anchor.weights[i] = place.at[i], own += x[place.at_rows[i]].xyz() * place.at[i];
    anchor.point = pose.to_local(own - offset);
    return true;
  }
  if (anchor.own == 2)
    return anchor_on_edges(x, anchor, place.at_rows, place.at[1], -place.at[3], offset, place.normal);
  return anchor_on_face(x, anchor, {place.at_rows[1], place.at_rows[2], place.at_rows[3]},
                        x[place.at_rows[0]].xyz() - offset, place.normal);
}

/// Where the line through `at` along which the face pushes comes through its plane. Beside the face, where it pushes
/// askew, that is not the nearest point: a spring to that would be stretched by all of the way between the two.
bool Contacts::anchor_on_face(const Vec4* x, FrictionAnchor& anchor, const std::array<int, 3>& face, const Vec3& at,
                              const Vec3& out) const {
  std::array<Vec3, 3> corner;
  for (int i = 0; i < 3; ++i) corner[i] = x[face[i]].xyz();
  const Vec3 e = corner[1] - corner[0], f = corner[2] - corner[0];
  const Vec3 normal = direction(cross(e, f), out);
  const double along = dot(normal, out);
  if (!(std::abs(along) > 0.1)) return false;
  const Vec3 d = at - corner[0] - out * (dot(normal, at - corner[0]) / along);
  const double ee = dot(e, e), ff = dot(f, f), ef = dot(e, f), det = ee * ff - ef * ef;
  if (!(det > 0)) return false;
  const double s = (ff * dot(d, e) - ef * dot(d, f)) / det, t = (ee * dot(d, f) - ef * dot(d, e)) / det;
  anchor.own = 1, anchor.count = 4;
  for (int i = 0; i < 3; ++i) anchor.rows[1 + i] = state_of_row[face[i]];
  anchor.weights = {1, 1 - s - t, s, t};
  return true;
}

/// Points of two edges beside those at s and t, so that they are apart by `offset` more across `out`.
bool Contacts::anchor_on_edges(const Vec4* x, FrictionAnchor& anchor, const std::array<int, 4>& rows, double s,
                               double t, const Vec3& offset, const Vec3& out) const {
  const auto across = [&](const Vec3& v) { return v - out * dot(out, v); };
  const Vec3 p = across(x[rows[1]].xyz() - x[rows[0]].xyz()), q = across(x[rows[3]].xyz() - x[rows[2]].xyz());
  const double pp = dot(p, p), qq = dot(q, q), pq = dot(p, q), det = pp * qq - pq * pq;
  if (!(det > 0)) return false;
  const double po = dot(p, offset), qo = dot(q, offset);
  s += (qq * po - pq * qo) / det, t += (pq * po - pp * qo) / det;
  set_rows(anchor, 2, 4, rows);
  anchor.weights = {1 - s, s, 1 - t, t};
  return true;
}

/// What has just come to touch slides by as much as it has gone since the step began, across the normal that it has
/// now: a spring that is not stretched there at any distance between the two. (Anchored where the normal of the start
/// led, it was stretched by the way on which they came together, and W at x_n rose by all of that when it became
/// active.) At x_n that normal is not turned along yet: a rigid motion stretches no spring.
bool Contacts::activate_from_start(FrictionAnchor& anchor, const FrictionPoint& place) const {
  const std::array<int, 4>& at = place.at_rows;
  const Vec3 normal = transpose(turned_) * place.normal;
  if (anchor.own != 2) return anchor_on_face(start.data(), anchor, {at[1], at[2], at[3]}, start[at[0]].xyz(), normal);
  Vec3 apart{};
  for (int i = 0; i < 4; ++i) apart += start[at[i]].xyz() * place.at[i];
  apart = apart - normal * dot(normal, apart);
  return anchor_on_edges(start.data(), anchor, at, place.at[1], -place.at[3], apart * -1.0, normal);
}

bool Contacts::anchor_edges(const OnEdge& c, const Vec4* x, const Pose& pose, FrictionAnchor& anchor) const {
  const Vec3 p0 = x[c.rows[0]].xyz(), q0 = at(x, c.rows[2]), r = p0 - q0;
  const Vec3 p = x[c.rows[1]].xyz() - p0, q = at(x, c.rows[3]) - q0, n = cross(p, q);
  const double nn = dot(n, n);
  if (!(nn > least_turn * dot(p, p) * dot(q, q))) return false;
  const double s = dot(cross(q, r), n) / nn, t = dot(cross(p, r), n) / nn;
  if (!(std::abs(s - 0.5) < 1.5 && std::abs(t - 0.5) < 1.5)) return false;
  if (c.rows[2] >= 0) return anchor_on_edges(x, anchor, c.rows, s, t, {}, n / std::sqrt(nn));
  set_rows(anchor, 2, 2, c.rows);
  anchor.weights = {1 - s, s, 0, 0};
  anchor.point = pose.to_local(p0 + p * s);
  return true;
}

void Contacts::anchor_point(const ContactRow& row, const Vec4* x, const Pose& pose, FrictionAnchor& anchor) const {
  set_rows(anchor, 3, 3, row.rows);
  Vec3 own{};
  for (int i = 0; i < 3; ++i) anchor.weights[i] = row.share[i], own += x[row.rows[i]].xyz() * row.share[i];
  anchor.point = pose.to_local(own);
}

bool Contacts::anchor_vertex(const ContactRow& row, const Vec4* x, FrictionAnchor& anchor) const {
  return anchor_on_face(x, anchor, {row.rows[1], row.rows[2], row.rows[3]}, x[row.rows[0]].xyz(),
                        direction(row.direction, {0, 1, 0}));
}

/// W of a spring and its gradient, or less of it.
double Contacts::add_spring(FrictionPoint& place, double sign, Vec4* gradient, std::span<double> energies) {
  if (!(place.cap > 0)) return 0;
  const double length = norm(place.offset), k = place.stiffness;
  const Vec3 pull = place.force() * -sign;
  for (int i = 0; i < place.count; ++i) gradient[place.rows[i]] += Vec4(pull * place.share[i]);
  const double energy = sign * huber(length, k, place.cap), share = place.other < 0 ? energy : 0.5 * energy;
  energies[place.body] += share, friction_energy_[place.body] += share;
  if (place.other >= 0) energies[place.other] += share, friction_energy_[place.other] += share;
  return energy;
}

/// Along its stretch and across. Of a spring that slides, W_t has the curvature of its pull across, mu f / d: with that
/// of one that holds, what slides could turn aside in small steps only.
void Contacts::set_friction_rows(FrictionPoint& place) {
  if (place.row < 0) {
    if (!(place.cap > 0)) return;
    place.row = int(rows_.size());
    rows_.resize(rows_.size() + 2);
  }
  const Vec3& normal = place.normal;
  const Vec3 first = direction(
      place.offset, direction(std::abs(normal.x) < 0.7 ? cross(normal, {1, 0, 0}) : cross(normal, {0, 1, 0}), {}));
  ContactRow along;
  along.count = place.count, along.rows = place.rows, along.share = place.share, along.friction = true;
  const double length = norm(place.offset), k = place.stiffness;
  along.direction = first, along.stiffness = k, along.force = -k * length;
  along.low = -place.cap, along.high = place.cap, along.id = place.id;
  rows_[place.row] = along;
  along.direction = cross(normal, first), along.force = 0, ++along.id;
  if (k * length > place.cap) along.stiffness = std::max(place.cap / length, least_across * k);
  rows_[place.row + 1] = along;
}

/// The spring of an anchor, against sliding only: what it pulls along the normal is the business of the push. Neither
/// that normal nor the force at which it gives way changes between two evaluations (follow_pressure), so that W_t is a
/// potential without leaps, and goes on where what it holds comes off on the way. (Lagged, as in Li et al. 2020,
/// "Incremental Potential Contact", Sec. 5.)
double Contacts::add_friction(const Vec4* x, Vec4* gradient, FrictionAnchor& anchor, const ContactRow& row,
                              double pressure, double friction, int body, int other, std::span<double> energies) {
  const size_t g = &anchor - friction_anchors.data();
  FrictionPoint& place = friction_points_[g];
  place = {};
  const bool touches = pressure > 0;
  if (touches) place.touches = row.count, place.at_rows = row.rows, place.at = row.share;
  place.body = body, place.other = other, place.stiffness = row.stiffness, place.coulomb = pressure * friction;
  place.id = row.id + friction_id;
  if (touches && (looks_again_ || !(anchor.cap > 0))) anchor.normal = direction(row.direction, {0, 1, 0});
  const Vec3 normal = place.normal = anchor.normal;
  const auto find_offset = [&] {
    const Vec3 d = find_stretch(x, anchor, place);
    place.offset = d - normal * dot(normal, d);
    return norm(place.offset);
  };
  double length = find_offset();
  const double k = row.stiffness, cap = anchor.cap;
  if (cap < 0) return 0;
  place.cap = cap;
  if (looks_again_) {
    // a collider that moves is looked at where it will be, and has stretched it by its way since
    const bool carries = moves(anchor.collider);
    const auto find_before = [&] {
      const Vec3 way = carries ? way_of(anchor) : Vec3{};
      return place.offset + (way - normal * dot(normal, way));
    };
    Vec3 before = carries ? find_before() : place.offset;
    const double stretched = carries ? norm(before) : length;
    if (stretched > anchor.stretch && (touches || !carries)) {
      const double share = anchor.stretch / stretched;
      const Vec3 wanted = carries ? place.offset - before * (1 - share) : place.offset * share;
      if (move_anchor(x, anchor, place, wanted)) length = find_offset();
      before = carries ? find_before() : place.offset;
      const double held = carries ? norm(before) : length;
      if (cap > 0 && held > anchor.stretch + 1e-9 * (anchor.stretch + cap / k)) {  // it cannot: it ends
        place.count = 0, place.cap = 0, anchor.cap = FrictionAnchor::ended;
        return 0;
      }
    }
    start_stretch_[g] = norm(before);
    if (carries) friction_lift_[body] += huber(length, k, cap) - huber(start_stretch_[g], k, cap);
  }
  set_friction_rows(place);
  return add_spring(place, 1, gradient, energies);
}

/// Of a place that does not touch at x.
double Contacts::add_friction_apart(const Vec4* x, Vec4* gradient, Candidate& c, std::span<double> energies) {
  if (c.anchor < 0 || friction_anchors[c.anchor].row < 0) return 0;
  FrictionAnchor& anchor = friction_anchors[c.anchor];
  if (anchor.cap < 0) return 0;
  // other candidates do not see it any more; a collider that moves is looked at where it will be, and may come back
  if (looks_again_ && !moves(anchor.collider)) {
    anchor.cap = FrictionAnchor::ended;
    return 0;
  }
  c.row.stiffness = c.stiffness;
  return add_friction(x, gradient, anchor, c.row, 0, 0, c.body, c.other, energies);
}

Contacts::FrictionChange Contacts::follow_pressure(Follow follow, const Vec4* x, Vec4* gradient,
                                                   std::span<double> energies) {
  FrictionChange out;
  start_loss_.resize(energies.size()), friction_change_.assign(energies.size(), 0.0);
  for (size_t g = 0; g < friction_anchors.size(); ++g) {
    FrictionPoint& place = friction_points_[g];
    FrictionAnchor& anchor = friction_anchors[g];
    if (anchor.row < 0 || place.count == 0 || anchor.cap == FrictionAnchor::ended) continue;
    const bool fresh = anchor.cap == FrictionAnchor::fresh;
    if (fresh && (follow == Follow::down || !(place.coulomb > 0))) continue;
    const Vec3 before = place.force();
    out.energy += add_spring(place, -1, gradient, energies);
    if (fresh && anchor.collider < 0) {
      if (!activate_from_start(anchor, place)) {
        anchor.cap = FrictionAnchor::ended;
        continue;
      }
      const Vec3 d = find_stretch(x, anchor, place);
      place.offset = d - place.normal * dot(place.normal, d);
    }
    const double k = place.stiffness, start = fresh ? 0 : start_stretch_[g], had = huber(start, k, place.cap);
    place.cap = follow == Follow::down ? std::min(place.cap, place.coulomb)
                : follow == Follow::up ? std::max(place.coulomb, k * start)
                                       : place.coulomb;
    anchor.cap = place.cap;
    const double lost = had - huber(start, k, place.cap), share = place.other < 0 ? lost : 0.5 * lost;
    out.start -= lost, start_loss_[place.body] += share;
    if (place.other >= 0) start_loss_[place.other] += share;
    set_friction_rows(place);
    out.energy += add_spring(place, 1, gradient, energies);
    const double change = norm(place.force() - before);
    out.any |= change > 0, friction_change_[place.body] += change;
    if (place.other >= 0) friction_change_[place.other] += change;
  }
  return out;
}

void Contacts::apply_slip(const Vec4* x, std::span<double> losses) {
  if (constraints) {  // nothing to remember: friction is that of a step
    each([&](const Candidate& c) {
      if (c.anchor < 0 || c.anchor >= int(slip_losses.size())) return;
      const double lost = slip_losses[c.anchor], share = c.other < 0 ? lost : 0.5 * lost;
      losses[c.body] += share;
      if (c.other >= 0) losses[c.other] += share;
    });
    for (FrictionAnchor& anchor : friction_anchors) anchor.row = -1;
    return;
  }
  slip_losses.assign(friction_anchors.size(), 0.0);
  for (size_t g = 0; g < friction_anchors.size(); ++g) {
    const FrictionPoint& place = friction_points_[g];
    FrictionAnchor& anchor = friction_anchors[g];
    if (place.count == 0) {
      anchor.row = -1;  // it has ended
      continue;
    }
    const double length = norm(place.offset), k = place.stiffness;
    anchor.cap = std::min(place.cap, place.coulomb);  // 0 of what does not touch any more
    anchor.stretch = std::min(length, anchor.cap / k);
    const double lost = huber(length, k, place.cap) - 0.5 * k * anchor.stretch * anchor.stretch;
    if (place.touches == 0) {
      anchor.row = -1;  // it came off: all is lost
    } else if (anchor.stretch < length && !move_anchor(x, anchor, place, place.offset * (anchor.stretch / length))) {
      anchor.row = -1;  // the point slides until the spring holds, and cannot
      continue;
    }
    const double share = place.other < 0 ? lost : 0.5 * lost;
    slip_losses[g] = lost;
    losses[place.body] += share, friction_energy_[place.body] -= share;
    if (place.other >= 0) losses[place.other] += share, friction_energy_[place.other] -= share;
  }
}

}  // namespace verve
